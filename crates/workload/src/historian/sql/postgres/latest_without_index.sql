SELECT DISTINCT ON (tag_id) tag_id, time_us, value, quality FROM samples
WHERE tag_id IN ({tags})
ORDER BY tag_id, time_us DESC
