SELECT tag_id, time_us, value, quality FROM samples WHERE time_us >= ?1
