-- What the order store runs in MySQL and MariaDB. Every dialect's file has the same names in the same order, but for what it lacks.

-- name: create
-- InnoDB keeps rows in the order of their primary key: it is made with the table, because a later one would write all rows
-- again. Names and passwords are compared to the letter, as other engines do.
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
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci;
CREATE TABLE customers (
    customerid integer NOT NULL AUTO_INCREMENT PRIMARY KEY,
    firstname varchar(50) NOT NULL,
    lastname varchar(50) NOT NULL,
    address1 varchar(50) NOT NULL,
    address2 varchar(50),
    city varchar(50) NOT NULL,
    state varchar(50),
    zip integer NOT NULL,
    country varchar(50) NOT NULL,
    region smallint NOT NULL,
    email varchar(50),
    phone varchar(50),
    creditcardtype smallint NOT NULL,
    creditcard varchar(50) NOT NULL,
    creditcardexpiration varchar(50) NOT NULL,
    username varchar(50) COLLATE utf8mb4_bin NOT NULL,
    password varchar(50) COLLATE utf8mb4_bin NOT NULL,
    age smallint NOT NULL,
    income integer NOT NULL,
    gender varchar(1) NOT NULL
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci;
CREATE TABLE orders (
    orderid integer NOT NULL AUTO_INCREMENT PRIMARY KEY,
    orderdate_us bigint NOT NULL,
    customerid integer,
    netamount_cents bigint NOT NULL,
    tax_cents bigint NOT NULL,
    totalamount_cents bigint NOT NULL
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci;
CREATE TABLE orderlines (
    orderlineid smallint NOT NULL,
    orderid integer NOT NULL,
    prod_id integer NOT NULL,
    quantity smallint NOT NULL,
    orderdate_us bigint NOT NULL,
    PRIMARY KEY (orderid, orderlineid)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci;
CREATE TABLE cust_hist (
    customerid integer NOT NULL,
    orderid integer NOT NULL,
    prod_id integer NOT NULL
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci;
CREATE TABLE products (
    prod_id integer NOT NULL PRIMARY KEY,
    category smallint NOT NULL,
    title varchar(50) NOT NULL,
    actor varchar(50) NOT NULL,
    price_cents bigint NOT NULL,
    special smallint NOT NULL,
    common_prod_id integer NOT NULL,
    -- What full-text search finds. It leaves out words of under three letters and those that it thinks mean nothing, which
    -- only the server's own settings can change; a word that begins with two underscores is neither.
    title_words varchar(150) GENERATED ALWAYS AS (concat('__', replace(title, ' ', ' __'))) STORED,
    actor_words varchar(150) GENERATED ALWAYS AS (concat('__', replace(actor, ' ', ' __'))) STORED
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci;
CREATE TABLE inventory (
    prod_id integer NOT NULL PRIMARY KEY,
    quan_in_stock integer NOT NULL,
    sales integer NOT NULL
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci;
CREATE TABLE categories (
    category smallint NOT NULL PRIMARY KEY,
    categoryname varchar(50) NOT NULL
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci;
CREATE TABLE reorder (
    prod_id integer NOT NULL,
    date_low_us bigint NOT NULL,
    quan_low integer NOT NULL,
    date_reordered_us bigint,
    quan_reordered integer,
    date_expected_us bigint
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci

-- name: keys
-- With checks a foreign key would copy its table; what was loaded is known to be whole.
SET SESSION foreign_key_checks = 0;
ALTER TABLE customers ADD UNIQUE (username), ADD UNIQUE (username, password);
ALTER TABLE orders ADD INDEX (customerid),
    ADD FOREIGN KEY (customerid) REFERENCES customers (customerid) ON DELETE SET NULL;
ALTER TABLE orderlines ADD FOREIGN KEY (orderid) REFERENCES orders (orderid) ON DELETE CASCADE;
ALTER TABLE cust_hist ADD INDEX (customerid), ADD INDEX (customerid, prod_id),
    ADD FOREIGN KEY (customerid) REFERENCES customers (customerid) ON DELETE CASCADE;
SET SESSION foreign_key_checks = 1;
ALTER TABLE products ADD INDEX (special, category, prod_id), ADD INDEX (common_prod_id);
-- InnoDB makes one full-text index at a time.
ALTER TABLE products ADD FULLTEXT (actor_words);
ALTER TABLE products ADD FULLTEXT (title_words);
-- Stock that a purchase takes below 3 is bought again at once: the old quantity is put back.
CREATE TRIGGER restock BEFORE UPDATE ON inventory FOR EACH ROW
BEGIN
    DECLARE now_us bigint;
    IF NEW.quan_in_stock < 3 AND NEW.quan_in_stock < OLD.quan_in_stock THEN
        SET now_us = unix_timestamp(sysdate(6)) * 1000000;
        INSERT INTO reorder (prod_id, date_low_us, quan_low, date_reordered_us, quan_reordered, date_expected_us)
        VALUES (NEW.prod_id, now_us, NEW.quan_in_stock, now_us, OLD.quan_in_stock - NEW.quan_in_stock, now_us);
        SET NEW.quan_in_stock = OLD.quan_in_stock;
    END IF;
END

-- name: procedures
CREATE PROCEDURE login(given_username varchar(50), given_password varchar(50))
BEGIN
    -- A row for each product of the last ones that the customer bought; one row without a product if there is none.
    SELECT c.customerid, p.title, p.actor, r.title
    FROM customers c
    LEFT JOIN cust_hist h ON h.customerid = c.customerid
    LEFT JOIN products p ON p.prod_id = h.prod_id
    LEFT JOIN products r ON r.prod_id = p.common_prod_id
    WHERE c.username = given_username AND c.password = given_password
    ORDER BY h.orderid DESC, h.prod_id
    LIMIT 10;
END;
CREATE PROCEDURE new_customer(
    new_firstname varchar(50), new_lastname varchar(50), new_address1 varchar(50),
    new_address2 varchar(50), new_city varchar(50), new_state varchar(50), new_zip integer,
    new_country varchar(50), new_region smallint, new_email varchar(50), new_phone varchar(50),
    new_creditcardtype smallint, new_creditcard varchar(50), new_creditcardexpiration varchar(50),
    new_username varchar(50), new_password varchar(50), new_age smallint, new_income integer,
    new_gender varchar(1)
)
BEGIN
    INSERT INTO customers (
        firstname, lastname, address1, address2, city, state, zip, country, region, email, phone,
        creditcardtype, creditcard, creditcardexpiration, username, password, age, income, gender
    ) VALUES (
        new_firstname, new_lastname, new_address1, new_address2, new_city, new_state, new_zip,
        new_country, new_region, new_email, new_phone, new_creditcardtype, new_creditcard,
        new_creditcardexpiration, new_username, new_password, new_age, new_income, new_gender
    )
    ON DUPLICATE KEY UPDATE customerid = customerid;
    SELECT if(row_count() > 0, last_insert_id(), NULL);
END;
CREATE PROCEDURE browse_by_category(wanted integer, batch integer)
BEGIN
    SELECT prod_id, category, title, actor, price_cents, special, common_prod_id
    FROM products WHERE special = 1 AND category = wanted ORDER BY prod_id LIMIT batch;
END;
CREATE PROCEDURE browse_by_actor(phrase varchar(250), batch integer)
BEGIN
    SELECT prod_id, category, title, actor, price_cents, special, common_prod_id
    FROM products WHERE match (actor_words) against (phrase IN BOOLEAN MODE) ORDER BY prod_id LIMIT batch;
END;
CREATE PROCEDURE browse_by_title(phrase varchar(250), batch integer)
BEGIN
    SELECT prod_id, category, title, actor, price_cents, special, common_prod_id
    FROM products WHERE match (title_words) against (phrase IN BOOLEAN MODE) ORDER BY prod_id LIMIT batch;
END;
CREATE PROCEDURE prices(
    product_1 integer, product_2 integer, product_3 integer, product_4 integer, product_5 integer,
    product_6 integer, product_7 integer, product_8 integer, product_9 integer, product_10 integer
)
BEGIN
    SELECT prod_id, price_cents FROM products WHERE prod_id IN (
        product_1, product_2, product_3, product_4, product_5, product_6, product_7, product_8,
        product_9, product_10
    );
END;
-- The cart is a text, each product with its quantity: 12:1,7:3
CREATE PROCEDURE purchase(
    customer integer, net_cents bigint, tax bigint, total_cents bigint, now_us bigint, cart text
)
BEGIN
    DECLARE new_orderid integer;
    DECLARE line smallint DEFAULT 0;
    DECLARE item varchar(30);
    DECLARE product integer;
    DECLARE pieces smallint;
    DECLARE EXIT HANDLER FOR SQLEXCEPTION
    BEGIN
        ROLLBACK;
        RESIGNAL;
    END;
    START TRANSACTION;
    INSERT INTO orders (orderdate_us, customerid, netamount_cents, tax_cents, totalamount_cents)
    VALUES (now_us, customer, net_cents, tax, total_cents);
    SET new_orderid = last_insert_id();
    WHILE new_orderid IS NOT NULL AND cart <> '' DO
        SET line = line + 1;
        SET item = substring_index(cart, ',', 1);
        SET cart = substring(cart, length(item) + 2);
        SET product = substring_index(item, ':', 1);
        SET pieces = substring_index(item, ':', -1);
        -- It reads the stock and takes from it in one: between a read and a write of its own, another purchase could take
        -- the same.
        UPDATE inventory SET quan_in_stock = quan_in_stock - pieces, sales = sales + pieces
        WHERE prod_id = product AND quan_in_stock >= pieces;
        IF row_count() = 0 THEN
            ROLLBACK;
            SET new_orderid = NULL;
        ELSE
            INSERT INTO orderlines (orderlineid, orderid, prod_id, quantity, orderdate_us)
            VALUES (line, new_orderid, product, pieces, now_us);
            INSERT INTO cust_hist (customerid, orderid, prod_id) VALUES (customer, new_orderid, product);
        END IF;
    END WHILE;
    COMMIT;
    SELECT new_orderid;
END

-- name: drop
DROP PROCEDURE IF EXISTS login;
DROP PROCEDURE IF EXISTS new_customer;
DROP PROCEDURE IF EXISTS browse_by_category;
DROP PROCEDURE IF EXISTS browse_by_actor;
DROP PROCEDURE IF EXISTS browse_by_title;
DROP PROCEDURE IF EXISTS prices;
DROP PROCEDURE IF EXISTS purchase;
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
ANALYZE TABLE customers, orders, orderlines, cust_hist, products, inventory, categories, reorder

-- name: login
-- A row for each product of the last ones that the customer bought; one row without a product if there is none.
SELECT c.customerid, p.title, p.actor, r.title
FROM customers c
LEFT JOIN cust_hist h ON h.customerid = c.customerid
LEFT JOIN products p ON p.prod_id = h.prod_id
LEFT JOIN products r ON r.prod_id = p.common_prod_id
WHERE c.username = ? AND c.password = ?
ORDER BY h.orderid DESC, h.prod_id
LIMIT 10

-- name: new_customer
INSERT INTO customers (
    firstname, lastname, address1, address2, city, state, zip, country, region, email, phone,
    creditcardtype, creditcard, creditcardexpiration, username, password, age, income, gender
) VALUES (
    ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?
)
ON DUPLICATE KEY UPDATE customerid = customerid

-- name: browse_by_category
SELECT prod_id, category, title, actor, price_cents, special, common_prod_id
FROM products
WHERE special = 1 AND category = ?
ORDER BY prod_id
LIMIT ?

-- name: browse_by_actor
SELECT prod_id, category, title, actor, price_cents, special, common_prod_id
FROM products
WHERE match (actor_words) against (? IN BOOLEAN MODE)
ORDER BY prod_id
LIMIT ?

-- name: browse_by_title
SELECT prod_id, category, title, actor, price_cents, special, common_prod_id
FROM products
WHERE match (title_words) against (? IN BOOLEAN MODE)
ORDER BY prod_id
LIMIT ?

-- name: prices
SELECT prod_id, price_cents FROM products WHERE prod_id IN ({products})

-- name: order
INSERT INTO orders (orderdate_us, customerid, netamount_cents, tax_cents, totalamount_cents)
VALUES (?, ?, ?, ?, ?)

-- name: take
-- It reads the stock and takes from it in one: between a read and a write of its own, another purchase could take the same.
UPDATE inventory SET quan_in_stock = quan_in_stock - ?, sales = sales + ?
WHERE prod_id = ? AND quan_in_stock >= ?

-- name: lines
INSERT INTO orderlines (orderlineid, orderid, prod_id, quantity, orderdate_us) VALUES {rows}

-- name: history
INSERT INTO cust_hist (customerid, orderid, prod_id) VALUES {rows}

-- name: call_login
CALL login(?, ?)

-- name: call_new_customer
CALL new_customer(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: call_browse_by_category
CALL browse_by_category(?, ?)

-- name: call_browse_by_actor
CALL browse_by_actor(?, ?)

-- name: call_browse_by_title
CALL browse_by_title(?, ?)

-- name: call_prices
CALL prices({products})

-- name: call_purchase
CALL purchase(?, ?, ?, ?, ?, ?)

-- name: undo_session
-- A forgotten transaction would be waited for for a day.
SET SESSION lock_wait_timeout = 60

-- name: orders_after
SELECT orderid FROM orders WHERE orderid > {after} ORDER BY orderid LIMIT {most}

-- name: undo_last
SELECT max(id) FROM (SELECT {id} AS id FROM {table} WHERE {id} > {after} ORDER BY {id} LIMIT {most}) AS first_ids

-- name: undo_history
-- No index has orderid: the rows are found through the customers of the orders, in this order whatever the optimizer thinks.
DELETE h FROM orders o STRAIGHT_JOIN cust_hist h ON h.customerid = o.customerid AND h.orderid = o.orderid
WHERE o.orderid > {after} AND o.orderid <= {last}

-- name: undo_inventory
TRUNCATE TABLE reorder;
TRUNCATE TABLE inventory

-- name: undo_ids
ALTER TABLE customers AUTO_INCREMENT = {customerid_next};
ALTER TABLE orders AUTO_INCREMENT = {orderid_next}

-- name: undo_finish
ANALYZE TABLE customers, orders, orderlines, cust_hist, inventory, reorder
