-- Kinds of tables of DuckDB, and what is done to them.

-- name: columnstore
CREATE TABLE prony_rows (id bigint PRIMARY KEY, category integer NOT NULL, value integer NOT NULL, amount bigint NOT NULL, note varchar(40) NOT NULL);

-- name: settle
-- What was loaded is in the log until it is put into the file, by columns and compressed.
ANALYZE;
CHECKPOINT;

-- name: select
SELECT COUNT(*), COALESCE(CAST(SUM(amount) AS bigint), 0) FROM prony_rows WHERE value = {1}

-- name: scan
-- Counts alone would be read from what is stored of them.
SELECT COUNT(*), COALESCE(CAST(SUM(amount) AS bigint), 0), COALESCE(CAST(SUM(value) AS bigint), 0) FROM prony_rows WHERE note <> ''

-- name: group
-- All groups in one row.
SELECT COUNT(*), CAST(SUM(n) AS bigint), CAST(SUM(s) AS bigint), CAST(SUM(n * category) AS bigint), CAST(SUM(s * category) AS bigint) FROM (SELECT category, COUNT(*) AS n, CAST(SUM(amount) AS bigint) AS s FROM prony_rows GROUP BY category) AS g

-- name: update_all
UPDATE prony_rows SET amount = amount + 1 WHERE id BETWEEN {1} AND {2}

-- name: point_update
UPDATE prony_rows SET amount = amount + 1 WHERE id = {1}

-- name: point_delete
DELETE FROM prony_rows WHERE id = {1}

-- name: delete_all
DELETE FROM prony_rows WHERE id BETWEEN {1} AND {2}
