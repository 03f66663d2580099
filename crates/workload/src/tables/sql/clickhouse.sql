-- Kinds of tables of ClickHouse, and what is done to them. A change of rows is a mutation; of a server that answers before it is done,
-- `{mutation}` is what it is known by.

-- name: columnstore
CREATE TABLE prony_rows (id Int64, category Int32, value Int32, amount Int64, note String) ENGINE = MergeTree ORDER BY id;

-- name: archive
CREATE TABLE prony_rows (id Int64 CODEC(ZSTD({level})), category Int32 CODEC(ZSTD({level})), value Int32 CODEC(ZSTD({level})), amount Int64 CODEC(ZSTD({level})), note String CODEC(ZSTD({level}))) ENGINE = MergeTree ORDER BY id;

-- name: settle
-- One part, as it is after merges: each piece that was loaded is one of its own before.
OPTIMIZE TABLE prony_rows FINAL;

-- name: select
SELECT toInt64(count()), toInt64(sum(amount)) FROM prony_rows WHERE value = {1}

-- name: scan
-- Counts alone would be read from what is stored of them.
SELECT toInt64(count()), toInt64(sum(amount)), toInt64(sum(toInt64(value))) FROM prony_rows WHERE note <> ''

-- name: group
-- All groups in one row.
SELECT toInt64(count()), toInt64(sum(n)), toInt64(sum(s)), toInt64(sum(n * category)), toInt64(sum(s * category)) FROM (SELECT category, toInt64(count()) AS n, toInt64(sum(amount)) AS s FROM prony_rows GROUP BY category)

-- name: update_all
ALTER TABLE prony_rows UPDATE amount = amount + 1 WHERE id BETWEEN {1} AND {2} AND '{mutation}' <> ''

-- name: point_update
ALTER TABLE prony_rows UPDATE amount = amount + 1 WHERE id = {1} AND '{mutation}' <> ''

-- name: point_delete
ALTER TABLE prony_rows DELETE WHERE id = {1} AND '{mutation}' <> ''

-- name: delete_all
ALTER TABLE prony_rows DELETE WHERE id BETWEEN {1} AND {2} AND '{mutation}' <> ''
