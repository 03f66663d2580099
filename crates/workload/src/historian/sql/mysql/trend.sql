SELECT tag_id, time_us, value, quality FROM samples
WHERE time_us >= ? AND tag_id IN ({tags})
ORDER BY tag_id, time_us
