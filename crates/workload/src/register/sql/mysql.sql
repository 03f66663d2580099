-- What registers run in MySQL and MariaDB. Every dialect's file has the same names in the same order.
-- Where a row is there, its columns are set in the order in which they are named: the old value is kept before it is gone.

-- name: create
DROP TABLE IF EXISTS registers;
CREATE TABLE registers (
    register_key bigint NOT NULL PRIMARY KEY,
    value bigint NOT NULL,
    replaced bigint NOT NULL
) ENGINE = InnoDB;

-- name: write
INSERT INTO registers (register_key, value, replaced) VALUES (?, ?, 0)
ON DUPLICATE KEY UPDATE replaced = registers.value, value = VALUES(value)

-- name: read
SELECT value, replaced FROM registers WHERE register_key = ?

-- name: read_all
SELECT register_key, value, replaced FROM registers
