SELECT count(*) FROM samples WHERE time_us >= ?1
