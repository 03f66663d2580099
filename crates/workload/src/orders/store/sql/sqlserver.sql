-- What the order store runs in SQL Server 2016 and later. Every dialect's file has the same names in the same order, but for what it
-- lacks. `{misc}`, `{cust}`, `{orders}` and `{ind}` stand for the filegroup that a table or an index lies on, as DVD Store publishes
-- them; where a server places files itself they are empty.

-- name: create
-- Names and passwords are compared to the letter, as other engines do.
-- What was loaded: one row.
CREATE TABLE store (
    size varchar(20) NOT NULL,
    seed bigint NOT NULL,
    state varchar(10) NOT NULL,
    customers bigint NOT NULL,
    orders bigint NOT NULL,
    orderlines bigint NOT NULL,
    cust_hist bigint NOT NULL,
    products bigint NOT NULL,
    inventory bigint NOT NULL,
    categories bigint NOT NULL,
    customerid_max bigint NOT NULL,
    orderid_max bigint NOT NULL,
    prod_id_max bigint NOT NULL,
    quan_in_stock_sum bigint NOT NULL,
    sales_sum bigint NOT NULL
){misc};
CREATE TABLE customers (
    customerid int IDENTITY NOT NULL,
    firstname varchar(50) NOT NULL,
    lastname varchar(50) NOT NULL,
    address1 varchar(50) NOT NULL,
    address2 varchar(50),
    city varchar(50) NOT NULL,
    state varchar(50),
    zip int NOT NULL,
    country varchar(50) NOT NULL,
    region smallint NOT NULL,
    email varchar(50),
    phone varchar(50),
    creditcardtype smallint NOT NULL,
    creditcard varchar(50) NOT NULL,
    creditcardexpiration varchar(50) NOT NULL,
    username varchar(50) COLLATE Latin1_General_BIN2 NOT NULL,
    password varchar(50) COLLATE Latin1_General_BIN2 NOT NULL,
    age smallint NOT NULL,
    income int NOT NULL,
    gender varchar(1) NOT NULL
){cust};
CREATE TABLE orders (
    orderid int IDENTITY NOT NULL,
    orderdate_us bigint NOT NULL,
    customerid int,
    netamount_cents bigint NOT NULL,
    tax_cents bigint NOT NULL,
    totalamount_cents bigint NOT NULL
){orders};
CREATE TABLE orderlines (
    orderlineid smallint NOT NULL,
    orderid int NOT NULL,
    prod_id int NOT NULL,
    quantity smallint NOT NULL,
    orderdate_us bigint NOT NULL
){orders};
CREATE TABLE cust_hist (customerid int NOT NULL, orderid int NOT NULL, prod_id int NOT NULL){cust};
CREATE TABLE products (
    prod_id int NOT NULL,
    category smallint NOT NULL,
    title varchar(50) NOT NULL,
    actor varchar(50) NOT NULL,
    price_cents bigint NOT NULL,
    special smallint NOT NULL,
    common_prod_id int NOT NULL
){misc};
CREATE TABLE inventory (prod_id int NOT NULL, quan_in_stock int NOT NULL, sales int NOT NULL){misc};
CREATE TABLE categories (category smallint NOT NULL, categoryname varchar(50) NOT NULL){misc};
CREATE TABLE reorder (
    prod_id int NOT NULL,
    date_low_us bigint NOT NULL,
    quan_low int NOT NULL,
    date_reordered_us bigint,
    quan_reordered int,
    date_expected_us bigint
){misc}

-- name: keys
ALTER TABLE categories ADD CONSTRAINT categories_pk PRIMARY KEY CLUSTERED (category){misc}
GO
ALTER TABLE customers ADD CONSTRAINT customers_pk PRIMARY KEY CLUSTERED (customerid){cust}
GO
CREATE UNIQUE INDEX customers_username ON customers (username){ind}
GO
CREATE UNIQUE INDEX customers_username_password ON customers (username, password){ind}
GO
CREATE INDEX cust_hist_customerid ON cust_hist (customerid){ind}
GO
CREATE INDEX cust_hist_customerid_prod_id ON cust_hist (customerid, prod_id){ind}
GO
ALTER TABLE cust_hist ADD CONSTRAINT cust_hist_customers FOREIGN KEY (customerid)
REFERENCES customers (customerid) ON DELETE CASCADE
GO
ALTER TABLE orders ADD CONSTRAINT orders_pk PRIMARY KEY CLUSTERED (orderid){orders}
GO
CREATE INDEX orders_customerid ON orders (customerid){ind}
GO
-- DVD Store has this key on other engines alone; each engine means the same here.
ALTER TABLE orders ADD CONSTRAINT orders_customers FOREIGN KEY (customerid)
REFERENCES customers (customerid) ON DELETE SET NULL
GO
ALTER TABLE orderlines ADD CONSTRAINT orderlines_pk PRIMARY KEY CLUSTERED (orderid, orderlineid){orders}
GO
ALTER TABLE orderlines ADD CONSTRAINT orderlines_orders FOREIGN KEY (orderid)
REFERENCES orders (orderid) ON DELETE CASCADE
GO
ALTER TABLE inventory ADD CONSTRAINT inventory_pk PRIMARY KEY CLUSTERED (prod_id){misc}
GO
ALTER TABLE products ADD CONSTRAINT products_pk PRIMARY KEY CLUSTERED (prod_id){misc}
GO
CREATE INDEX products_prod_id ON products (prod_id) INCLUDE (title){ind}
GO
CREATE INDEX products_common_prod_id ON products (prod_id, common_prod_id) INCLUDE (title, actor){ind}
GO
CREATE INDEX products_special_category ON products (special, category, prod_id)
INCLUDE (title, actor, price_cents, common_prod_id){ind}
GO
CREATE INDEX products_category ON products (category){ind}
GO
CREATE INDEX products_special ON products (special){ind}
GO
-- Ids go on after those that were loaded, also where a table counts as one without rows until it makes an id itself.
DECLARE @ids nvarchar(max);
SELECT @ids = N'DBCC CHECKIDENT (''customers'', RESEED, ' + CAST(max(customerid) + 1 AS nvarchar(20)) + N')' FROM customers;
IF @ids IS NOT NULL EXEC (@ids);
SELECT @ids = N'DBCC CHECKIDENT (''orders'', RESEED, ' + CAST(max(orderid) + 1 AS nvarchar(20)) + N')' FROM orders;
IF @ids IS NOT NULL EXEC (@ids)
GO
-- Stock that a purchase takes below 3 is bought again at once: the old quantity is put back.
CREATE TRIGGER restock ON inventory AFTER UPDATE AS
BEGIN
    SET NOCOUNT ON;
    IF NOT UPDATE(quan_in_stock) RETURN;
    DECLARE @now_us bigint = DATEDIFF_BIG(microsecond, '1970-01-01', SYSUTCDATETIME());
    INSERT INTO reorder (prod_id, date_low_us, quan_low, date_reordered_us, quan_reordered, date_expected_us)
    SELECT i.prod_id, @now_us, i.quan_in_stock, @now_us, d.quan_in_stock - i.quan_in_stock, @now_us
    FROM inserted i JOIN deleted d ON d.prod_id = i.prod_id
    WHERE i.quan_in_stock < 3 AND i.quan_in_stock < d.quan_in_stock;
    -- What was just put back is more than it was before: the trigger that this fires does nothing.
    IF @@ROWCOUNT > 0
        UPDATE inventory SET quan_in_stock = d.quan_in_stock
        FROM inventory JOIN inserted i ON i.prod_id = inventory.prod_id JOIN deleted d ON d.prod_id = i.prod_id
        WHERE i.quan_in_stock < 3 AND i.quan_in_stock < d.quan_in_stock;
END

-- name: text_catalog
CREATE FULLTEXT CATALOG store_text

-- name: text_index
-- Every word counts, of whatever language; products do not change.
CREATE FULLTEXT INDEX ON products (actor LANGUAGE 0, title LANGUAGE 0) KEY INDEX products_pk ON store_text
WITH (CHANGE_TRACKING = OFF, STOPLIST = OFF)

-- name: text_lost
-- A database that was reverted to a snapshot has lost its catalogs, while what searches by them is still there:
-- https://learn.microsoft.com/en-us/sql/relational-databases/databases/revert-a-database-to-a-database-snapshot
SELECT CASE WHEN OBJECT_DEFINITION(OBJECT_ID('products_by_actor')) LIKE '%CONTAINS%'
    AND NOT EXISTS (SELECT object_id FROM sys.fulltext_indexes WHERE object_id = OBJECT_ID('products')) THEN 1 ELSE 0 END AS lost

-- name: text_ready
-- The index is filled in the background, and finds nothing before that.
WHILE FULLTEXTCATALOGPROPERTY('store_text', 'PopulateStatus') <> 0 WAITFOR DELAY '00:00:01'

-- name: search_by_text
CREATE FUNCTION products_by_actor (@phrase nvarchar(250)) RETURNS TABLE AS RETURN
    SELECT prod_id, category, title, actor, price_cents, special, common_prod_id
    FROM products WHERE CONTAINS (actor, @phrase)
GO
CREATE FUNCTION products_by_title (@phrase nvarchar(250)) RETURNS TABLE AS RETURN
    SELECT prod_id, category, title, actor, price_cents, special, common_prod_id
    FROM products WHERE CONTAINS (title, @phrase)

-- name: search_by_like
-- Where no full-text search is installed: whole words in their order, and every product is looked at.
CREATE FUNCTION products_by_actor (@phrase nvarchar(250)) RETURNS TABLE AS RETURN
    SELECT prod_id, category, title, actor, price_cents, special, common_prod_id
    FROM products WHERE ' ' + actor + ' ' LIKE '% ' + REPLACE(@phrase, '"', '') + ' %'
GO
CREATE FUNCTION products_by_title (@phrase nvarchar(250)) RETURNS TABLE AS RETURN
    SELECT prod_id, category, title, actor, price_cents, special, common_prod_id
    FROM products WHERE ' ' + title + ' ' LIKE '% ' + REPLACE(@phrase, '"', '') + ' %'

-- name: procedures
CREATE PROCEDURE login @username varchar(50), @password varchar(50) AS
BEGIN
    SET NOCOUNT ON;
    -- A row for each product of the last ones that the customer bought; one row without a product if there is none.
    SELECT TOP (10) c.customerid, p.title, p.actor, r.title AS related_title
    FROM customers c
    LEFT JOIN cust_hist h ON h.customerid = c.customerid
    LEFT JOIN products p ON p.prod_id = h.prod_id
    LEFT JOIN products r ON r.prod_id = p.common_prod_id
    WHERE c.username = @username AND c.password = @password
    ORDER BY h.orderid DESC, h.prod_id;
END
GO
CREATE PROCEDURE new_customer
    @firstname varchar(50), @lastname varchar(50), @address1 varchar(50), @address2 varchar(50), @city varchar(50),
    @state varchar(50), @zip int, @country varchar(50), @region smallint, @email varchar(50), @phone varchar(50),
    @creditcardtype smallint, @creditcard varchar(50), @creditcardexpiration varchar(50), @username varchar(50),
    @password varchar(50), @age smallint, @income int, @gender varchar(1)
AS
BEGIN
    SET NOCOUNT ON;
    -- Who makes a customer of this name at the same time waits for this one.
    INSERT INTO customers (
        firstname, lastname, address1, address2, city, state, zip, country, region, email, phone,
        creditcardtype, creditcard, creditcardexpiration, username, password, age, income, gender
    )
    SELECT @firstname, @lastname, @address1, @address2, @city, @state, @zip, @country, @region, @email, @phone,
        @creditcardtype, @creditcard, @creditcardexpiration, @username, @password, @age, @income, @gender
    WHERE NOT EXISTS (SELECT * FROM customers WITH (UPDLOCK, SERIALIZABLE) WHERE username = @username);
    SELECT CASE WHEN @@ROWCOUNT > 0 THEN CAST(SCOPE_IDENTITY() AS int) END AS customerid;
END
GO
CREATE PROCEDURE browse_by_category @wanted smallint, @batch int AS
BEGIN
    SET NOCOUNT ON;
    SELECT TOP (@batch) prod_id, category, title, actor, price_cents, special, common_prod_id
    FROM products WHERE special = 1 AND category = @wanted ORDER BY prod_id;
END
GO
CREATE PROCEDURE browse_by_actor @phrase nvarchar(250), @batch int AS
BEGIN
    SET NOCOUNT ON;
    SELECT TOP (@batch) prod_id, category, title, actor, price_cents, special, common_prod_id
    FROM products_by_actor(@phrase) ORDER BY prod_id;
END
GO
CREATE PROCEDURE browse_by_title @phrase nvarchar(250), @batch int AS
BEGIN
    SET NOCOUNT ON;
    SELECT TOP (@batch) prod_id, category, title, actor, price_cents, special, common_prod_id
    FROM products_by_title(@phrase) ORDER BY prod_id;
END
GO
CREATE PROCEDURE prices
    @product_1 int, @product_2 int, @product_3 int, @product_4 int, @product_5 int, @product_6 int, @product_7 int,
    @product_8 int, @product_9 int, @product_10 int
AS
BEGIN
    SET NOCOUNT ON;
    SELECT prod_id, price_cents FROM products WHERE prod_id IN (
        @product_1, @product_2, @product_3, @product_4, @product_5, @product_6, @product_7, @product_8, @product_9,
        @product_10
    );
END
GO
-- The cart is a text, each product with its quantity: 12:1,7:3
CREATE PROCEDURE purchase
    @customer int, @net_cents bigint, @tax_cents bigint, @total_cents bigint, @now_us bigint, @cart varchar(8000)
AS
BEGIN
    SET NOCOUNT ON;
    -- An error in the middle undoes all of it.
    SET XACT_ABORT ON;
    DECLARE @orderid int, @line smallint = 0, @item varchar(30), @colon int, @product int, @pieces smallint;
    SET @cart = @cart + ',';
    BEGIN TRANSACTION;
    INSERT INTO orders (orderdate_us, customerid, netamount_cents, tax_cents, totalamount_cents)
    VALUES (@now_us, @customer, @net_cents, @tax_cents, @total_cents);
    SET @orderid = CAST(SCOPE_IDENTITY() AS int);
    WHILE @orderid IS NOT NULL AND CHARINDEX(':', @cart) > 0
    BEGIN
        SET @line = @line + 1;
        SET @item = LEFT(@cart, CHARINDEX(',', @cart) - 1);
        SET @cart = SUBSTRING(@cart, LEN(@item) + 2, 8000);
        SET @colon = CHARINDEX(':', @item);
        SET @product = CAST(LEFT(@item, @colon - 1) AS int);
        SET @pieces = CAST(SUBSTRING(@item, @colon + 1, 30) AS smallint);
        -- It reads the stock and takes from it in one: between a read and a write of its own, another purchase could take
        -- the same.
        UPDATE inventory SET quan_in_stock = quan_in_stock - @pieces, sales = sales + @pieces
        WHERE prod_id = @product AND quan_in_stock >= @pieces;
        IF @@ROWCOUNT = 0
        BEGIN
            ROLLBACK TRANSACTION;
            SET @orderid = NULL;
        END
        ELSE
        BEGIN
            INSERT INTO orderlines (orderlineid, orderid, prod_id, quantity, orderdate_us)
            VALUES (@line, @orderid, @product, @pieces, @now_us);
            INSERT INTO cust_hist (customerid, orderid, prod_id) VALUES (@customer, @orderid, @product);
        END;
    END;
    IF @orderid IS NOT NULL COMMIT TRANSACTION;
    SELECT @orderid AS orderid;
END

-- name: drop
DROP PROCEDURE IF EXISTS login;
DROP PROCEDURE IF EXISTS new_customer;
DROP PROCEDURE IF EXISTS browse_by_category;
DROP PROCEDURE IF EXISTS browse_by_actor;
DROP PROCEDURE IF EXISTS browse_by_title;
DROP PROCEDURE IF EXISTS prices;
DROP PROCEDURE IF EXISTS purchase;
DROP FUNCTION IF EXISTS products_by_actor;
DROP FUNCTION IF EXISTS products_by_title;
DROP TABLE IF EXISTS store;
DROP TABLE IF EXISTS orderlines;
DROP TABLE IF EXISTS cust_hist;
DROP TABLE IF EXISTS orders;
DROP TABLE IF EXISTS customers;
DROP TABLE IF EXISTS products;
DROP TABLE IF EXISTS inventory;
DROP TABLE IF EXISTS categories;
DROP TABLE IF EXISTS reorder

-- name: statistics
-- Of a sample of 18 %, as published with the server's maintenance plan.
UPDATE STATISTICS customers WITH SAMPLE 18 PERCENT;
UPDATE STATISTICS orders WITH SAMPLE 18 PERCENT;
UPDATE STATISTICS orderlines WITH SAMPLE 18 PERCENT;
UPDATE STATISTICS cust_hist WITH SAMPLE 18 PERCENT;
UPDATE STATISTICS products WITH SAMPLE 18 PERCENT;
UPDATE STATISTICS inventory WITH SAMPLE 18 PERCENT;
UPDATE STATISTICS categories WITH SAMPLE 18 PERCENT;
UPDATE STATISTICS reorder WITH SAMPLE 18 PERCENT

-- name: login
-- A row for each product of the last ones that the customer bought; one row without a product if there is none. A text that is sent
-- has two bytes a letter: compared as it comes, it would have every name converted and no index used.
SELECT TOP (10) c.customerid, p.title, p.actor, r.title AS related_title
FROM customers c
LEFT JOIN cust_hist h ON h.customerid = c.customerid
LEFT JOIN products p ON p.prod_id = h.prod_id
LEFT JOIN products r ON r.prod_id = p.common_prod_id
WHERE c.username = CAST(@P1 AS varchar(50)) AND c.password = CAST(@P2 AS varchar(50))
ORDER BY h.orderid DESC, h.prod_id

-- name: new_customer
-- Who makes a customer of this name at the same time waits for this one.
INSERT INTO customers (
    firstname, lastname, address1, address2, city, state, zip, country, region, email, phone,
    creditcardtype, creditcard, creditcardexpiration, username, password, age, income, gender
)
OUTPUT inserted.customerid
SELECT @P1, @P2, @P3, @P4, @P5, @P6, @P7, @P8, @P9, @P10, @P11, @P12, @P13, @P14, @P15, @P16, @P17, @P18, @P19
WHERE NOT EXISTS (
    SELECT * FROM customers WITH (UPDLOCK, SERIALIZABLE) WHERE username = CAST(@P15 AS varchar(50)))

-- name: browse_by_category
SELECT TOP (@P2) prod_id, category, title, actor, price_cents, special, common_prod_id
FROM products
WHERE special = 1 AND category = @P1
ORDER BY prod_id

-- name: browse_by_actor
SELECT TOP (@P2) prod_id, category, title, actor, price_cents, special, common_prod_id
FROM products_by_actor(@P1)
ORDER BY prod_id

-- name: browse_by_title
SELECT TOP (@P2) prod_id, category, title, actor, price_cents, special, common_prod_id
FROM products_by_title(@P1)
ORDER BY prod_id

-- name: prices
SELECT prod_id, price_cents FROM products WHERE prod_id IN ({products})

-- name: order
INSERT INTO orders (orderdate_us, customerid, netamount_cents, tax_cents, totalamount_cents)
OUTPUT inserted.orderid
VALUES (@P1, @P2, @P3, @P4, @P5)

-- name: take
-- It reads the stock and takes from it in one: between a read and a write of its own, another purchase could take the same.
UPDATE inventory SET quan_in_stock = quan_in_stock - @P1, sales = sales + @P2
WHERE prod_id = @P3 AND quan_in_stock >= @P4

-- name: lines
INSERT INTO orderlines (orderlineid, orderid, prod_id, quantity, orderdate_us) VALUES {rows}

-- name: history
INSERT INTO cust_hist (customerid, orderid, prod_id) VALUES {rows}

-- name: call_login
EXEC login @P1, @P2

-- name: call_new_customer
EXEC new_customer @P1, @P2, @P3, @P4, @P5, @P6, @P7, @P8, @P9, @P10, @P11, @P12, @P13, @P14, @P15, @P16, @P17, @P18, @P19

-- name: call_browse_by_category
EXEC browse_by_category @P1, @P2

-- name: call_browse_by_actor
EXEC browse_by_actor @P1, @P2

-- name: call_browse_by_title
EXEC browse_by_title @P1, @P2

-- name: call_prices
EXEC prices {products}

-- name: call_purchase
EXEC purchase @P1, @P2, @P3, @P4, @P5, @P6

-- name: undo_session
-- A forgotten transaction would be waited for for ever.
SET LOCK_TIMEOUT 60000

-- name: orders_after
SELECT TOP ({most}) orderid FROM orders WHERE orderid > {after} ORDER BY orderid

-- name: undo_last
SELECT max(id) FROM (SELECT TOP ({most}) {id} AS id FROM {table} WHERE {id} > {after} ORDER BY {id}) AS first_ids

-- name: undo_history
-- No index has orderid: the rows are found through the customers of the orders.
DELETE h FROM cust_hist h JOIN orders o ON h.customerid = o.customerid AND h.orderid = o.orderid
WHERE o.orderid > {after} AND o.orderid <= {last}

-- name: undo_inventory
TRUNCATE TABLE reorder;
TRUNCATE TABLE inventory

-- name: undo_ids
DBCC CHECKIDENT ('customers', RESEED, {customerid_max});
DBCC CHECKIDENT ('orders', RESEED, {orderid_max})

-- name: undo_finish
UPDATE STATISTICS customers WITH SAMPLE 18 PERCENT;
UPDATE STATISTICS orders WITH SAMPLE 18 PERCENT;
UPDATE STATISTICS orderlines WITH SAMPLE 18 PERCENT;
UPDATE STATISTICS cust_hist WITH SAMPLE 18 PERCENT;
UPDATE STATISTICS inventory WITH SAMPLE 18 PERCENT;
UPDATE STATISTICS reorder WITH SAMPLE 18 PERCENT

-- name: abilities
-- What a server can, each 1 or 0: files where we say (not where a service places them itself: Azure SQL Database, Managed Instance,
-- Synapse), full-text search, statistics of a sample. https://learn.microsoft.com/en-us/sql/t-sql/functions/serverproperty-transact-sql
SELECT CASE WHEN CAST(SERVERPROPERTY('EngineEdition') AS int) IN (5, 6, 8, 11)
        OR coalesce(CAST(SERVERPROPERTY('InstanceDefaultDataPath') AS nvarchar(400)), N'') = N'' THEN 0 ELSE 1 END AS files,
    coalesce(CAST(FULLTEXTSERVICEPROPERTY('IsFullTextInstalled') AS int), 0) AS text_search,
    CASE WHEN OBJECT_ID('sys.dm_db_stats_properties') IS NULL THEN 0 ELSE 1 END AS samples

-- name: told
-- How this store was made, as far as servers differ: names and values.
SELECT 'product search' AS name, CASE WHEN count(*) > 0 THEN 'full-text'
    ELSE 'LIKE: no full-text search is installed, and every product is looked at' END AS value
FROM sys.fulltext_indexes WHERE object_id = OBJECT_ID('products')
UNION ALL
SELECT 'filegroups', CASE WHEN count(*) = 4 THEN 'misc, cust, orders and ind, as published'
    ELSE 'the default one alone: the server takes no files where we say' END
FROM sys.filegroups WHERE name IN ('DS_MISC_FG', 'DS_CUST_FG', 'DS_ORDERS_FG', 'DS_IND_FG')
UNION ALL
SELECT 'statistics', CASE WHEN OBJECT_ID('sys.dm_db_stats_properties') IS NULL THEN 'as the server keeps them'
    ELSE 'of a sample of 18 %, as published' END

-- name: files_path
-- The files that the database was made with, in whose directories the others are made, and whose they are.
SELECT CAST(physical_name AS nvarchar(400)), DB_NAME() FROM sys.database_files WHERE type = 0 ORDER BY file_id

-- name: add_filegroup
ALTER DATABASE CURRENT ADD FILEGROUP {group}

-- name: add_file
ALTER DATABASE CURRENT ADD FILE (NAME = {name}, FILENAME = {path}, SIZE = {size_mb}MB, FILEGROWTH = 64MB) TO FILEGROUP {group}

-- name: size_log
-- One that is larger already stays so. Sizes of files are told in pages of 8 KiB.
DECLARE @size nvarchar(max) = N'';
SELECT @size = N'ALTER DATABASE CURRENT MODIFY FILE (NAME = ' + QUOTENAME(name) + N', SIZE = {size_mb}MB, FILEGROWTH = 64MB)'
FROM sys.database_files WHERE type = 1 AND size < {size_mb} * 128;
EXEC (@size)
