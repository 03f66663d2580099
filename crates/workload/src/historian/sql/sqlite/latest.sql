SELECT s.tag_id, s.time_us, s.value, s.quality FROM tags t JOIN samples s
ON s.tag_id = t.tag_id
AND s.time_us = (SELECT n.time_us FROM samples n WHERE n.tag_id = t.tag_id ORDER BY n.time_us DESC LIMIT 1)
WHERE t.tag_id IN ({tags})
