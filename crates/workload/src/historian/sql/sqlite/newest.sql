SELECT max(time_us) FROM samples
