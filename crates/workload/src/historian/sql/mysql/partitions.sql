SELECT partition_name FROM information_schema.partitions
WHERE table_schema = database() AND table_name = 'samples' AND partition_name <> 'samples_rest'
