-- What the historian runs in PostgreSQL. Every dialect's file has the same names in the same order, but for what it lacks.

-- name: drop
DROP TABLE IF EXISTS samples;
DROP TABLE IF EXISTS tags;
DROP TABLE IF EXISTS layout

-- name: create
CREATE TABLE layout (layout text NOT NULL);
CREATE TABLE tags (tag_id integer PRIMARY KEY, name text NOT NULL);
-- No key: two samples of a tag may have the same time, and both are kept.
CREATE TABLE samples (tag_id integer NOT NULL, time_us bigint NOT NULL, value double precision, quality smallint NOT NULL)

-- name: create_partitioned
CREATE TABLE layout (layout text NOT NULL);
CREATE TABLE tags (tag_id integer PRIMARY KEY, name text NOT NULL);
-- No key: two samples of a tag may have the same time, and both are kept.
CREATE TABLE samples (tag_id integer NOT NULL, time_us bigint NOT NULL, value double precision, quality smallint NOT NULL)
PARTITION BY RANGE (time_us);
CREATE TABLE samples_rest PARTITION OF samples DEFAULT

-- name: index
CREATE INDEX samples_by_tag ON samples (tag_id, time_us)

-- name: exists
SELECT count(*) FROM pg_tables WHERE schemaname = current_schema() AND tablename IN ('samples', 'tags', 'layout')

-- name: layout
SELECT layout FROM layout

-- name: count
SELECT count(*) FROM samples

-- name: count_since
SELECT count(*) FROM samples WHERE time_us >= $1

-- name: read_since
SELECT tag_id, time_us, value, quality FROM samples WHERE time_us >= $1

-- name: count_tags
SELECT count(*) FROM tags

-- name: newest
SELECT max(time_us) FROM samples

-- name: lookup
SELECT tag_id, time_us, count(*) FROM samples
WHERE time_us IN ({times}) AND tag_id IN ({tags})
GROUP BY tag_id, time_us

-- name: trend
SELECT tag_id, time_us, value, quality FROM samples
WHERE time_us >= $1 AND tag_id IN ({tags})
ORDER BY tag_id, time_us

-- name: latest
SELECT s.tag_id, s.time_us, s.value, s.quality FROM tags t
CROSS JOIN LATERAL (SELECT * FROM samples n WHERE n.tag_id = t.tag_id ORDER BY n.time_us DESC LIMIT 1) s
WHERE t.tag_id IN ({tags})

-- name: latest_without_index
SELECT DISTINCT ON (tag_id) tag_id, time_us, value, quality FROM samples
WHERE tag_id IN ({tags})
ORDER BY tag_id, time_us DESC

-- name: purge
-- A ctid is of one partition only, so that the outer condition is what keeps young rows of another one.
-- Rows lie in the order in which they were written, so that the oldest come first: blocks of 30,000 took 30 to 60 ms, and
-- the last one, which reads all that stays, 0.4 s (PostgreSQL 15, 3 million rows). A BRIN index by time is not used for it.
DELETE FROM samples WHERE ctid = ANY (ARRAY(SELECT ctid FROM samples WHERE time_us < $1 LIMIT $2))
    AND time_us < $1

-- name: shrink
-- Writes the table anew. Nobody can read or write it meanwhile.
VACUUM (FULL) samples

-- name: partitions
SELECT c.relname::text FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
WHERE i.inhparent = 'samples'::regclass AND c.relname <> 'samples_rest'

-- name: partition_add
CREATE TABLE samples_until_{until_us} PARTITION OF samples FOR VALUES FROM ({from_us}) TO ({until_us})

-- name: partition_drop
DROP TABLE samples_until_{until_us}

-- name: partition_count
SELECT count(*) FROM samples_until_{until_us}
