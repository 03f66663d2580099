-- Kinds of tables of MySQL and MariaDB, and what is done to them.

-- name: row
CREATE TABLE prony_rows (id bigint PRIMARY KEY, category integer NOT NULL, value integer NOT NULL, amount bigint NOT NULL, note varchar(40) NOT NULL) ENGINE=InnoDB;

-- name: volatile
-- A hash would find no range of keys.
CREATE TABLE prony_rows (id bigint, category integer NOT NULL, value integer NOT NULL, amount bigint NOT NULL, note varchar(40) NOT NULL, PRIMARY KEY USING BTREE (id)) ENGINE=MEMORY;

-- name: covering
CREATE TABLE prony_rows (id bigint PRIMARY KEY, category integer NOT NULL, value integer NOT NULL, amount bigint NOT NULL, note varchar(40) NOT NULL, INDEX prony_rows_by_value (value, amount)) ENGINE=InnoDB;

-- name: rocks
CREATE TABLE prony_rows (id bigint PRIMARY KEY, category integer NOT NULL, value integer NOT NULL, amount bigint NOT NULL, note varchar(40) NOT NULL) ENGINE=ROCKSDB;

-- name: aria
CREATE TABLE prony_rows (id bigint PRIMARY KEY, category integer NOT NULL, value integer NOT NULL, amount bigint NOT NULL, note varchar(40) NOT NULL) ENGINE=Aria TRANSACTIONAL=1;

-- name: settle
ANALYZE TABLE prony_rows;

-- name: select
SELECT COUNT(*), COALESCE(CAST(SUM(amount) AS SIGNED), 0) FROM prony_rows WHERE value = {1}

-- name: scan
-- No index has the note.
SELECT COUNT(*), COALESCE(CAST(SUM(amount) AS SIGNED), 0), COALESCE(CAST(SUM(CAST(value AS SIGNED)) AS SIGNED), 0) FROM prony_rows WHERE note <> ''

-- name: group
-- All groups in one row.
SELECT COUNT(*), CAST(SUM(n) AS SIGNED), CAST(SUM(s) AS SIGNED), CAST(SUM(n * category) AS SIGNED), CAST(SUM(s * category) AS SIGNED) FROM (SELECT category, COUNT(*) AS n, CAST(SUM(amount) AS SIGNED) AS s FROM prony_rows GROUP BY category) AS g

-- name: update_all
UPDATE prony_rows SET amount = amount + 1 WHERE id BETWEEN {1} AND {2}

-- name: point_update
UPDATE prony_rows SET amount = amount + 1 WHERE id = {1}

-- name: point_delete
DELETE FROM prony_rows WHERE id = {1}

-- name: delete_all
DELETE FROM prony_rows WHERE id BETWEEN {1} AND {2}
