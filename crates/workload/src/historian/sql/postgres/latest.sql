SELECT s.tag_id, s.time_us, s.value, s.quality FROM tags t
CROSS JOIN LATERAL (SELECT * FROM samples n WHERE n.tag_id = t.tag_id ORDER BY n.time_us DESC LIMIT 1) s
WHERE t.tag_id IN ({tags})
