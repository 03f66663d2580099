-- What the historian runs in SQLite. Every dialect's file has the same names in the same order, but for what it lacks.

-- name: drop
-- The pages of what was dropped are given back: new rows would fill them, and the database would not seem to grow.
DROP TABLE IF EXISTS samples;
DROP TABLE IF EXISTS tags;
DROP TABLE IF EXISTS layout;
VACUUM

-- name: shrinkable
-- Only a vacuum makes a file that has tables already keep track of its free pages.
PRAGMA auto_vacuum = INCREMENTAL;
VACUUM

-- name: create
CREATE TABLE layout (layout TEXT NOT NULL);
CREATE TABLE tags (tag_id INTEGER PRIMARY KEY, name TEXT NOT NULL);
-- No key: two samples of a tag may have the same time, and both are kept.
CREATE TABLE samples (tag_id INTEGER NOT NULL, time_us INTEGER NOT NULL, value REAL, quality INTEGER NOT NULL)

-- name: index
CREATE INDEX samples_by_tag ON samples (tag_id, time_us)

-- name: exists
SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name IN ('samples', 'tags', 'layout')

-- name: layout
SELECT layout FROM layout

-- name: count
SELECT count(*) FROM samples

-- name: count_since
SELECT count(*) FROM samples WHERE time_us >= ?1

-- name: read_since
SELECT tag_id, time_us, value, quality FROM samples WHERE time_us >= ?1

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
WHERE time_us >= ?1 AND tag_id IN ({tags})
ORDER BY tag_id, time_us

-- name: latest
SELECT s.tag_id, s.time_us, s.value, s.quality FROM tags t JOIN samples s
ON s.tag_id = t.tag_id
AND s.time_us = (SELECT n.time_us FROM samples n WHERE n.tag_id = t.tag_id ORDER BY n.time_us DESC LIMIT 1)
WHERE t.tag_id IN ({tags})

-- name: latest_without_index
-- Columns beside max() are those of the row that has it: https://sqlite.org/lang_select.html#bareagg
SELECT tag_id, max(time_us), value, quality FROM samples WHERE tag_id IN ({tags}) GROUP BY tag_id

-- name: purge
-- Rows lie in the order in which they were written, which is that of time but for a few. Looking at twice as many rows as
-- are to be deleted finds them all and never reads the rows that stay.
DELETE FROM samples WHERE rowid IN (
    SELECT rowid FROM samples
    WHERE time_us < ?1 AND rowid < (SELECT min(rowid) FROM samples) + 2 * ?2
    ORDER BY rowid LIMIT ?2)

-- name: shrink
PRAGMA incremental_vacuum;
-- The file itself gets shorter when the log is copied into it.
PRAGMA wal_checkpoint(PASSIVE)
