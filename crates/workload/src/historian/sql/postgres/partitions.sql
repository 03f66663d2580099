SELECT c.relname::text FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
WHERE i.inhparent = 'samples'::regclass AND c.relname <> 'samples_rest'
