-- Columns beside max() are those of the row that has it: https://sqlite.org/lang_select.html#bareagg
SELECT tag_id, max(time_us), value, quality FROM samples WHERE tag_id IN ({tags}) GROUP BY tag_id
