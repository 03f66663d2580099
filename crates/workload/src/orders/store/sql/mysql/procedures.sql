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
