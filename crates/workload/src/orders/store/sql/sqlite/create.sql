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
