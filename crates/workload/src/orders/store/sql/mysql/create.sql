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
