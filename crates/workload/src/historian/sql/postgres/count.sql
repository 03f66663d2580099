SELECT count(*) FROM samples
