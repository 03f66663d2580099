-- What the historian runs in MySQL and MariaDB. Every dialect's file has the same names in the same order, but for what it lacks.

-- name: drop
DROP TABLE IF EXISTS samples;
DROP TABLE IF EXISTS tags;
DROP TABLE IF EXISTS layout

-- name: create
CREATE TABLE layout (layout varchar(200) NOT NULL) ENGINE = InnoDB;
CREATE TABLE tags (tag_id int PRIMARY KEY, name varchar(200) NOT NULL) ENGINE = InnoDB;
-- No key: two samples of a tag may have the same time, and both are kept.
CREATE TABLE samples (tag_id int NOT NULL, time_us bigint NOT NULL, value double, quality smallint NOT NULL) ENGINE = InnoDB

-- name: create_partitioned
CREATE TABLE layout (layout varchar(200) NOT NULL) ENGINE = InnoDB;
CREATE TABLE tags (tag_id int PRIMARY KEY, name varchar(200) NOT NULL) ENGINE = InnoDB;
-- No key: two samples of a tag may have the same time, and both are kept.
CREATE TABLE samples (tag_id int NOT NULL, time_us bigint NOT NULL, value double, quality smallint NOT NULL) ENGINE = InnoDB
PARTITION BY RANGE (time_us) (PARTITION samples_rest VALUES LESS THAN MAXVALUE)

-- name: index
CREATE INDEX samples_by_tag ON samples (tag_id, time_us)

-- name: exists
SELECT count(*) FROM information_schema.tables
WHERE table_schema = database() AND table_name IN ('samples', 'tags', 'layout')

-- name: layout
SELECT layout FROM layout

-- name: count
SELECT count(*) FROM samples

-- name: count_since
SELECT count(*) FROM samples WHERE time_us >= ?

-- name: read_since
SELECT tag_id, time_us, value, quality FROM samples WHERE time_us >= ?

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
WHERE time_us >= ? AND tag_id IN ({tags})
ORDER BY tag_id, time_us

-- name: latest
-- MariaDB has no LATERAL, and looks at all rows of a tag for max() where the tag is not a constant.
SELECT s.tag_id, s.time_us, s.value, s.quality FROM tags t JOIN samples s
ON s.tag_id = t.tag_id
AND s.time_us = (SELECT n.time_us FROM samples n WHERE n.tag_id = t.tag_id ORDER BY n.time_us DESC LIMIT 1)
WHERE t.tag_id IN ({tags})

-- name: latest_without_index
SELECT s.tag_id, s.time_us, s.value, s.quality FROM samples s
JOIN (SELECT tag_id, max(time_us) AS time_us FROM samples WHERE tag_id IN ({tags}) GROUP BY tag_id) n
ON s.tag_id = n.tag_id AND s.time_us = n.time_us

-- name: purge_session
-- A purge has no index by time to go by and reads all rows when it looks for the last ones. In this isolation it locks only
-- those that it deletes: in the default one an insert waited for as long as the purge's statement took.
SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED

-- name: purge
-- Rows lie in the order in which they were written, so that the oldest come first. With an index by time a million rows in
-- blocks of 30,000 took 15 s instead of 9 s (MariaDB 10.11, 2 million rows), and each insert pays for it.
DELETE FROM samples WHERE time_us < ? LIMIT ?

-- name: shrink
-- For InnoDB this writes the table anew.
OPTIMIZE TABLE samples

-- name: partitions
SELECT partition_name FROM information_schema.partitions
WHERE table_schema = database() AND table_name = 'samples' AND partition_name <> 'samples_rest'

-- name: partition_add
ALTER TABLE samples REORGANIZE PARTITION samples_rest INTO (
    PARTITION samples_until_{until_us} VALUES LESS THAN ({until_us}),
    PARTITION samples_rest VALUES LESS THAN MAXVALUE)

-- name: partition_drop
ALTER TABLE samples DROP PARTITION samples_until_{until_us}

-- name: partition_count
SELECT count(*) FROM samples PARTITION (samples_until_{until_us})
