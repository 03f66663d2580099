CREATE TABLE samples_until_{until_us} PARTITION OF samples FOR VALUES FROM ({from_us}) TO ({until_us})
