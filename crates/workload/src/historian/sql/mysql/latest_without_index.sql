SELECT s.tag_id, s.time_us, s.value, s.quality FROM samples s
JOIN (SELECT tag_id, max(time_us) AS time_us FROM samples WHERE tag_id IN ({tags}) GROUP BY tag_id) n
ON s.tag_id = n.tag_id AND s.time_us = n.time_us
