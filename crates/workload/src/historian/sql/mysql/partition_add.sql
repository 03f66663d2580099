ALTER TABLE samples REORGANIZE PARTITION samples_rest INTO (
    PARTITION samples_until_{until_us} VALUES LESS THAN ({until_us}),
    PARTITION samples_rest VALUES LESS THAN MAXVALUE)
