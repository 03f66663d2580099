SELECT count(*) FROM samples PARTITION (samples_until_{until_us})
