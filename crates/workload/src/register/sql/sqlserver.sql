-- What registers run in SQL Server. Every dialect's file has the same names in the same order.
-- A write locks its key even where there is no row yet, so that no other one comes between the look and the row.

-- name: create
DROP TABLE IF EXISTS registers;
CREATE TABLE registers (
    register_key bigint NOT NULL PRIMARY KEY,
    value bigint NOT NULL,
    replaced bigint NOT NULL
);

-- name: write
SET XACT_ABORT ON;
BEGIN TRANSACTION;
UPDATE registers WITH (UPDLOCK, SERIALIZABLE) SET replaced = value, value = @P2 WHERE register_key = @P1;
IF @@ROWCOUNT = 0 INSERT INTO registers (register_key, value, replaced) VALUES (@P1, @P2, 0);
COMMIT TRANSACTION;

-- name: read
SELECT value, replaced FROM registers WHERE register_key = @P1

-- name: read_all
SELECT register_key, value, replaced FROM registers
