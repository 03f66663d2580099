-- What the historian runs in SQL Server 2016 and later. Every dialect's file has the same names in the same order, but for what it lacks.

-- name: drop
-- The partitions go with the tables, in this order: a scheme is in use as long as a table lies on it.
DROP TABLE IF EXISTS samples;
DROP TABLE IF EXISTS tags;
DROP TABLE IF EXISTS layout;
DROP PROCEDURE IF EXISTS append_samples;
DROP TYPE IF EXISTS samples_rows
GO
IF EXISTS (SELECT * FROM sys.partition_schemes WHERE name = 'samples_by_time')
    EXEC ('DROP PARTITION SCHEME samples_by_time; DROP PARTITION FUNCTION samples_by_time')

-- name: create
CREATE TABLE layout (layout nvarchar(200) NOT NULL);
CREATE TABLE tags (tag_id int NOT NULL PRIMARY KEY, name nvarchar(200) NOT NULL);
-- No key: two samples of a tag may have the same time, and both are kept. Rows lie by time: the oldest are found without
-- reading what stays, and a heap keeps the pages that DELETE emptied unless it locks the whole table.
CREATE TABLE samples (tag_id int NOT NULL, time_us bigint NOT NULL, value float, quality smallint NOT NULL);
CREATE CLUSTERED INDEX samples_by_time ON samples (time_us)

-- name: create_partitioned
-- Without a boundary all rows are in one partition. Each that is added begins and ends at one.
CREATE PARTITION FUNCTION samples_by_time (bigint) AS RANGE RIGHT FOR VALUES ();
CREATE PARTITION SCHEME samples_by_time AS PARTITION samples_by_time ALL TO ([PRIMARY]);
CREATE TABLE layout (layout nvarchar(200) NOT NULL);
CREATE TABLE tags (tag_id int NOT NULL PRIMARY KEY, name nvarchar(200) NOT NULL)
GO
-- No key: two samples of a tag may have the same time, and both are kept.
CREATE TABLE samples (tag_id int NOT NULL, time_us bigint NOT NULL, value float, quality smallint NOT NULL)
ON samples_by_time (time_us);
CREATE CLUSTERED INDEX samples_by_time ON samples (time_us) ON samples_by_time (time_us)

-- name: index
-- It is partitioned as its table is.
CREATE INDEX samples_by_tag ON samples (tag_id, time_us)

-- name: rows_procedure
-- What rows are handed to as a table-valued parameter.
CREATE TYPE samples_rows AS TABLE (
    tag_id int NOT NULL, time_us bigint NOT NULL, value float, quality smallint NOT NULL
)
GO
CREATE PROCEDURE append_samples @rows samples_rows READONLY AS
INSERT INTO samples (tag_id, time_us, value, quality) SELECT tag_id, time_us, value, quality FROM @rows

-- name: exists
SELECT count(*) FROM sys.tables WHERE schema_id = SCHEMA_ID() AND name IN ('samples', 'tags', 'layout')

-- name: layout
SELECT layout FROM layout

-- name: count
SELECT count_big(*) FROM samples

-- name: count_since
SELECT count_big(*) FROM samples WHERE time_us >= @P1

-- name: read_since
SELECT tag_id, time_us, value, quality FROM samples WHERE time_us >= @P1

-- name: count_tags
SELECT count(*) FROM tags

-- name: newest
SELECT max(time_us) FROM samples

-- name: lookup
SELECT tag_id, time_us, count_big(*) FROM samples
WHERE time_us IN ({times}) AND tag_id IN ({tags})
GROUP BY tag_id, time_us

-- name: trend
SELECT tag_id, time_us, value, quality FROM samples
WHERE time_us >= @P1 AND tag_id IN ({tags})
ORDER BY tag_id, time_us

-- name: latest
SELECT s.tag_id, s.time_us, s.value, s.quality FROM tags t
CROSS APPLY (
    SELECT TOP (1) n.tag_id, n.time_us, n.value, n.quality FROM samples n WHERE n.tag_id = t.tag_id ORDER BY n.time_us DESC
) s
WHERE t.tag_id IN ({tags})

-- name: latest_without_index
SELECT s.tag_id, s.time_us, s.value, s.quality FROM samples s
JOIN (SELECT tag_id, max(time_us) AS time_us FROM samples WHERE tag_id IN ({tags}) GROUP BY tag_id) n
ON s.tag_id = n.tag_id AND s.time_us = n.time_us

-- name: purge
-- From 5,000 locks of one statement on, the server locks the whole table in their place, and writers wait for the purge.
-- https://learn.microsoft.com/en-us/sql/relational-databases/sql-server-transaction-locking-and-row-versioning-guide
DELETE TOP (@P2) FROM samples WHERE time_us < @P1

-- name: shrink
-- Each file to the size that it was made with.
DECLARE @shrink nvarchar(max) = N'';
SELECT @shrink = @shrink + N'DBCC SHRINKFILE (' + CAST(file_id AS nvarchar(10)) + N') WITH NO_INFOMSGS; '
FROM sys.database_files WHERE type IN (0, 1);
IF @shrink = N'' THROW 50000, N'this server tells of no files that could be shrunk', 1;
EXEC (@shrink)

-- name: partitions
-- The lowest boundary is where the first of them begins.
SELECT 'samples_until_' + CAST(CAST(v.value AS bigint) AS varchar(20))
FROM sys.partition_functions f JOIN sys.partition_range_values v ON v.function_id = f.function_id
WHERE f.name = 'samples_by_time' AND v.boundary_id > 1

-- name: partition_add
IF NOT EXISTS (
    SELECT * FROM sys.partition_functions f JOIN sys.partition_range_values v ON v.function_id = f.function_id
    WHERE f.name = 'samples_by_time' AND CAST(v.value AS bigint) = {from_us}
)
BEGIN
    ALTER PARTITION SCHEME samples_by_time NEXT USED [PRIMARY];
    ALTER PARTITION FUNCTION samples_by_time () SPLIT RANGE ({from_us});
END;
ALTER PARTITION SCHEME samples_by_time NEXT USED [PRIMARY];
ALTER PARTITION FUNCTION samples_by_time () SPLIT RANGE ({until_us})

-- name: partition_drop
-- Emptied as a whole, and then joined with the empty one before it.
DECLARE @begin bigint, @empty nvarchar(200);
SELECT @begin = max(CAST(v.value AS bigint))
FROM sys.partition_functions f JOIN sys.partition_range_values v ON v.function_id = f.function_id
WHERE f.name = 'samples_by_time' AND CAST(v.value AS bigint) < {until_us};
SET @empty = N'TRUNCATE TABLE samples WITH (PARTITIONS ('
    + CAST($PARTITION.samples_by_time({until_us} - 1) AS nvarchar(10)) + N'))';
EXEC (@empty);
ALTER PARTITION FUNCTION samples_by_time () MERGE RANGE (@begin)

-- name: partition_count
SELECT count_big(*) FROM samples WHERE time_us < {until_us} AND time_us >= (
    SELECT max(CAST(v.value AS bigint))
    FROM sys.partition_functions f JOIN sys.partition_range_values v ON v.function_id = f.function_id
    WHERE f.name = 'samples_by_time' AND CAST(v.value AS bigint) < {until_us})

-- name: can_partition
-- A partition is emptied by TRUNCATE TABLE … WITH (PARTITIONS …) from 2016 on, and partitions are in every edition from its first
-- service pack on.
SELECT CASE WHEN CAST(SERVERPROPERTY('ProductMajorVersion') AS int) >= 13 THEN 1 ELSE 0 END
