ALTER TABLE samples DROP PARTITION samples_until_{until_us}
