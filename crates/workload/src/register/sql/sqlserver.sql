-- What registers run in SQL Server. Every dialect's file has the same names in the same order.

-- name: create
DROP TABLE IF EXISTS registers;
CREATE TABLE registers (
    register_key bigint NOT NULL PRIMARY KEY,
    value bigint NOT NULL,
    replaced bigint NOT NULL
);

-- name: write
MERGE registers WITH (HOLDLOCK) AS register
USING (SELECT @P1 AS register_key, @P2 AS value) AS new ON register.register_key = new.register_key
WHEN MATCHED THEN UPDATE SET replaced = register.value, value = new.value
WHEN NOT MATCHED THEN INSERT (register_key, value, replaced) VALUES (new.register_key, new.value, 0);

-- name: read
SELECT value, replaced FROM registers WHERE register_key = @P1

-- name: read_all
SELECT register_key, value, replaced FROM registers
