PRAGMA incremental_vacuum;
-- The file itself gets shorter when the log is copied into it.
PRAGMA wal_checkpoint(PASSIVE)
