-- What registers run in SQLite. Every dialect's file has the same names in the same order.

-- name: create
DROP TABLE IF EXISTS registers;
CREATE TABLE registers (
    register_key bigint NOT NULL PRIMARY KEY,
    value bigint NOT NULL,
    replaced bigint NOT NULL
);

-- name: write
INSERT INTO registers (register_key, value, replaced) VALUES (?1, ?2, 0)
ON CONFLICT (register_key) DO UPDATE SET replaced = registers.value, value = excluded.value

-- name: read
SELECT value, replaced FROM registers WHERE register_key = ?1

-- name: read_all
SELECT register_key, value, replaced FROM registers
