-- Kinds of tables of SQL Server, and what is done to them.

-- name: row
-- A heap.
CREATE TABLE prony_rows (id bigint NOT NULL PRIMARY KEY NONCLUSTERED, category integer NOT NULL, value integer NOT NULL, amount bigint NOT NULL, note varchar(40) NOT NULL);

-- name: volatile
CREATE TABLE dbo.prony_rows (id bigint NOT NULL PRIMARY KEY NONCLUSTERED, category integer NOT NULL, value integer NOT NULL, amount bigint NOT NULL, note varchar(40) NOT NULL) WITH (MEMORY_OPTIMIZED = ON, DURABILITY = SCHEMA_ONLY);

-- name: memory_durable
CREATE TABLE dbo.prony_rows (id bigint NOT NULL PRIMARY KEY NONCLUSTERED, category integer NOT NULL, value integer NOT NULL, amount bigint NOT NULL, note varchar(40) NOT NULL) WITH (MEMORY_OPTIMIZED = ON, DURABILITY = SCHEMA_AND_DATA);

-- name: clustered
CREATE TABLE prony_rows (id bigint NOT NULL PRIMARY KEY CLUSTERED, category integer NOT NULL, value integer NOT NULL, amount bigint NOT NULL, note varchar(40) NOT NULL);

-- name: covering
CREATE TABLE prony_rows (id bigint NOT NULL PRIMARY KEY NONCLUSTERED, category integer NOT NULL, value integer NOT NULL, amount bigint NOT NULL, note varchar(40) NOT NULL);
CREATE INDEX prony_rows_by_value ON prony_rows (value) INCLUDE (amount);

-- name: columnstore_index
-- Rows in the order of their key, and the same once more by columns.
CREATE TABLE prony_rows (id bigint NOT NULL PRIMARY KEY CLUSTERED, category integer NOT NULL, value integer NOT NULL, amount bigint NOT NULL, note varchar(40) NOT NULL);
CREATE NONCLUSTERED COLUMNSTORE INDEX prony_rows_by_column ON prony_rows (id, category, value, amount, note);

-- name: columnstore
CREATE TABLE prony_rows (id bigint NOT NULL PRIMARY KEY NONCLUSTERED, category integer NOT NULL, value integer NOT NULL, amount bigint NOT NULL, note varchar(40) NOT NULL, INDEX prony_rows_by_column CLUSTERED COLUMNSTORE);

-- name: archive
CREATE TABLE prony_rows (id bigint NOT NULL PRIMARY KEY NONCLUSTERED, category integer NOT NULL, value integer NOT NULL, amount bigint NOT NULL, note varchar(40) NOT NULL, INDEX prony_rows_by_column CLUSTERED COLUMNSTORE WITH (DATA_COMPRESSION = COLUMNSTORE_ARCHIVE));

-- name: memory_filegroup
-- A database has one at most, which stays as long as it does.
IF NOT EXISTS (SELECT 1 FROM sys.filegroups WHERE type = 'FX')
BEGIN
    ALTER DATABASE CURRENT ADD FILEGROUP prony_memory CONTAINS MEMORY_OPTIMIZED_DATA;
    DECLARE @file nvarchar(600) = CAST(SERVERPROPERTY('InstanceDefaultDataPath') AS nvarchar(400)) + DB_NAME() + N'_memory';
    DECLARE @add nvarchar(2000) = N'ALTER DATABASE CURRENT ADD FILE (NAME = ''prony_memory'', FILENAME = '''
        + REPLACE(@file, '''', '''''') + N''') TO FILEGROUP prony_memory';
    EXEC (@add);
END
GO
ALTER DATABASE CURRENT SET MEMORY_OPTIMIZED_ELEVATE_TO_SNAPSHOT = ON;

-- name: settle
-- Other servers that speak T-SQL keep them by themselves, and have no such statement.
IF OBJECT_ID('sys.dm_db_stats_properties') IS NOT NULL EXEC (N'UPDATE STATISTICS prony_rows')

-- name: select
SELECT COUNT_BIG(*), COALESCE(CAST(SUM(amount) AS bigint), 0) FROM prony_rows WHERE value = {1}

-- name: scan
-- No index has the note.
SELECT COUNT_BIG(*), COALESCE(CAST(SUM(amount) AS bigint), 0), COALESCE(CAST(SUM(CAST(value AS bigint)) AS bigint), 0) FROM prony_rows WHERE note <> ''

-- name: group
-- All groups in one row.
SELECT COUNT_BIG(*), CAST(SUM(n) AS bigint), CAST(SUM(s) AS bigint), CAST(SUM(n * category) AS bigint), CAST(SUM(s * category) AS bigint) FROM (SELECT category, COUNT_BIG(*) AS n, CAST(SUM(amount) AS bigint) AS s FROM prony_rows GROUP BY category) AS g

-- name: update_all
UPDATE prony_rows SET amount = amount + 1 WHERE id BETWEEN {1} AND {2}

-- name: point_update
UPDATE prony_rows SET amount = amount + 1 WHERE id = {1}

-- name: point_delete
DELETE FROM prony_rows WHERE id = {1}

-- name: delete_all
DELETE FROM prony_rows WHERE id BETWEEN {1} AND {2}
