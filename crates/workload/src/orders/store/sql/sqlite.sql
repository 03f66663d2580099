-- What the order store runs in SQLite. Every dialect's file has the same names in the same order, but for what it lacks.

-- name: create
-- Primary keys and foreign keys cannot be added later: they are made with the tables.
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
);
CREATE TABLE customers (
    customerid INTEGER PRIMARY KEY,
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
    username varchar(50) NOT NULL,
    password varchar(50) NOT NULL,
    age smallint NOT NULL,
    income integer NOT NULL,
    gender varchar(1) NOT NULL
);
CREATE TABLE orders (
    orderid INTEGER PRIMARY KEY,
    orderdate_us bigint NOT NULL,
    customerid integer REFERENCES customers ON DELETE SET NULL,
    netamount_cents bigint NOT NULL,
    tax_cents bigint NOT NULL,
    totalamount_cents bigint NOT NULL
);
CREATE TABLE orderlines (
    orderlineid smallint NOT NULL,
    orderid integer NOT NULL REFERENCES orders ON DELETE CASCADE,
    prod_id integer NOT NULL,
    quantity smallint NOT NULL,
    orderdate_us bigint NOT NULL,
    PRIMARY KEY (orderid, orderlineid)
) WITHOUT ROWID;
CREATE TABLE cust_hist (
    customerid integer NOT NULL REFERENCES customers ON DELETE CASCADE,
    orderid integer NOT NULL,
    prod_id integer NOT NULL
);
CREATE TABLE products (
    prod_id INTEGER PRIMARY KEY,
    category smallint NOT NULL,
    title varchar(50) NOT NULL,
    actor varchar(50) NOT NULL,
    price_cents bigint NOT NULL,
    special smallint NOT NULL,
    common_prod_id integer NOT NULL
);
CREATE TABLE inventory (prod_id INTEGER PRIMARY KEY, quan_in_stock integer NOT NULL, sales integer NOT NULL);
CREATE TABLE categories (category INTEGER PRIMARY KEY, categoryname varchar(50) NOT NULL);
CREATE TABLE reorder (
    prod_id integer NOT NULL,
    date_low_us bigint NOT NULL,
    quan_low integer NOT NULL,
    date_reordered_us bigint,
    quan_reordered integer,
    date_expected_us bigint
)

-- name: load_session
-- Else each row that is loaded would look for its parent; parents and children come from one generator.
PRAGMA foreign_keys = OFF

-- name: keys
CREATE UNIQUE INDEX customers_username ON customers (username);
CREATE UNIQUE INDEX customers_username_password ON customers (username, password);
CREATE INDEX orders_customerid ON orders (customerid);
CREATE INDEX cust_hist_customerid ON cust_hist (customerid);
CREATE INDEX cust_hist_customerid_prod_id ON cust_hist (customerid, prod_id);
CREATE INDEX products_special_category ON products (special, category, prod_id);
CREATE INDEX products_common_prod_id ON products (common_prod_id);
-- The texts themselves stay in products, which nobody changes.
CREATE VIRTUAL TABLE products_text
USING fts5(actor, title, content = 'products', content_rowid = 'prod_id', tokenize = 'ascii');
INSERT INTO products_text (products_text) VALUES ('rebuild');
-- Stock that a purchase takes below 3 is bought again at once: the old quantity is put back.
CREATE TRIGGER restock AFTER UPDATE OF quan_in_stock ON inventory
WHEN NEW.quan_in_stock < 3 AND NEW.quan_in_stock < OLD.quan_in_stock
BEGIN
    INSERT INTO reorder (prod_id, date_low_us, quan_low, date_reordered_us, quan_reordered, date_expected_us)
    SELECT NEW.prod_id, now_us, NEW.quan_in_stock, now_us, OLD.quan_in_stock - NEW.quan_in_stock, now_us
    FROM (SELECT CAST(unixepoch('subsec') * 1000000 AS INTEGER) AS now_us);
    UPDATE inventory SET quan_in_stock = OLD.quan_in_stock WHERE prod_id = NEW.prod_id;
END

-- name: drop
DROP TABLE IF EXISTS products_text;
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
-- So many rows of each index tell enough; all of them would be read else.
PRAGMA analysis_limit = 1000;
ANALYZE

-- name: login
-- A row for each product of the last ones that the customer bought; one row without a product if there is none.
SELECT c.customerid, p.title, p.actor, r.title
FROM customers c
LEFT JOIN cust_hist h ON h.customerid = c.customerid
LEFT JOIN products p ON p.prod_id = h.prod_id
LEFT JOIN products r ON r.prod_id = p.common_prod_id
WHERE c.username = ?1 AND c.password = ?2
ORDER BY h.orderid DESC, h.prod_id
LIMIT 10

-- name: new_customer
INSERT INTO customers (
    firstname, lastname, address1, address2, city, state, zip, country, region, email, phone,
    creditcardtype, creditcard, creditcardexpiration, username, password, age, income, gender
) VALUES (
    ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19
)
ON CONFLICT (username) DO NOTHING RETURNING customerid

-- name: browse_by_category
SELECT prod_id, category, title, actor, price_cents, special, common_prod_id
FROM products
WHERE special = 1 AND category = ?1
ORDER BY prod_id
LIMIT ?2

-- name: browse_by_actor
SELECT p.prod_id, p.category, p.title, p.actor, p.price_cents, p.special, p.common_prod_id
FROM products_text t JOIN products p ON p.prod_id = t.rowid
WHERE t.products_text MATCH 'actor : ' || ?1
ORDER BY t.rowid
LIMIT ?2

-- name: browse_by_title
SELECT p.prod_id, p.category, p.title, p.actor, p.price_cents, p.special, p.common_prod_id
FROM products_text t JOIN products p ON p.prod_id = t.rowid
WHERE t.products_text MATCH 'title : ' || ?1
ORDER BY t.rowid
LIMIT ?2

-- name: prices
SELECT prod_id, price_cents FROM products WHERE prod_id IN ({products})

-- name: order
INSERT INTO orders (orderdate_us, customerid, netamount_cents, tax_cents, totalamount_cents)
VALUES (?1, ?2, ?3, ?4, ?5)
RETURNING orderid

-- name: take
-- It reads the stock and takes from it in one: between a read and a write of its own, another purchase could take the same.
UPDATE inventory SET quan_in_stock = quan_in_stock - ?1, sales = sales + ?2
WHERE prod_id = ?3 AND quan_in_stock >= ?4

-- name: lines
INSERT INTO orderlines (orderlineid, orderid, prod_id, quantity, orderdate_us) VALUES {rows}

-- name: history
INSERT INTO cust_hist (customerid, orderid, prod_id) VALUES {rows}

-- name: orders_after
SELECT orderid FROM orders WHERE orderid > {after} ORDER BY orderid LIMIT {most}

-- name: undo_last
SELECT max(id) FROM (SELECT {id} AS id FROM {table} WHERE {id} > {after} ORDER BY {id} LIMIT {most}) AS first_ids

-- name: undo_history
-- No index has orderid: the rows are found through the customers of the orders.
DELETE FROM cust_hist
WHERE orderid > {after} AND orderid <= {last}
    AND customerid IN (SELECT customerid FROM orders WHERE orderid > {after} AND orderid <= {last})

-- name: undo_inventory
DELETE FROM reorder;
DELETE FROM inventory
