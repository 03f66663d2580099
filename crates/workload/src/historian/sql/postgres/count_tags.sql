SELECT count(*) FROM tags
