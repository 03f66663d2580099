SELECT count(*) FROM samples_until_{until_us}
