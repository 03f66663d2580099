DROP TABLE samples_until_{until_us}
