-- Kinds of tables of PostgreSQL, and what is done to them.

-- name: row
CREATE TABLE prony_rows (id bigint PRIMARY KEY, category integer NOT NULL, value integer NOT NULL, amount bigint NOT NULL, note varchar(40) NOT NULL);

-- name: volatile
CREATE UNLOGGED TABLE prony_rows (id bigint PRIMARY KEY, category integer NOT NULL, value integer NOT NULL, amount bigint NOT NULL, note varchar(40) NOT NULL);

-- name: covering
CREATE TABLE prony_rows (id bigint PRIMARY KEY, category integer NOT NULL, value integer NOT NULL, amount bigint NOT NULL, note varchar(40) NOT NULL);
CREATE INDEX prony_rows_by_value ON prony_rows (value) INCLUDE (amount);

-- name: settle
-- An index alone answers only where pages are known to be visible to all.
VACUUM (ANALYZE) prony_rows;

-- name: select
SELECT COUNT(*), COALESCE(CAST(SUM(amount) AS bigint), 0) FROM prony_rows WHERE value = {1}

-- name: scan
-- No index has the note.
SELECT COUNT(*), COALESCE(CAST(SUM(amount) AS bigint), 0), COALESCE(CAST(SUM(CAST(value AS bigint)) AS bigint), 0) FROM prony_rows WHERE note <> ''

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
