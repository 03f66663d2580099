CREATE INDEX samples_by_tag ON samples (tag_id, time_us)
