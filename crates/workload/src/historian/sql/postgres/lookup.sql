SELECT tag_id, time_us, count(*) FROM samples
WHERE time_us IN ({times}) AND tag_id IN ({tags})
GROUP BY tag_id, time_us
