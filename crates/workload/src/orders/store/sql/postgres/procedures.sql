CREATE FUNCTION login(given_username text, given_password text)
RETURNS TABLE (customerid integer, title varchar, actor varchar, related_title varchar) LANGUAGE plpgsql STABLE AS $$
BEGIN
    -- A row for each product of the last ones that the customer bought; one row without a product if there is none.
    RETURN QUERY
    SELECT c.customerid, p.title, p.actor, r.title
    FROM customers c
    LEFT JOIN cust_hist h ON h.customerid = c.customerid
    LEFT JOIN products p ON p.prod_id = h.prod_id
    LEFT JOIN products r ON r.prod_id = p.common_prod_id
    WHERE c.username = given_username AND c.password = given_password
    ORDER BY h.orderid DESC, h.prod_id
    LIMIT 10;
END
$$;
CREATE FUNCTION new_customer(
    new_firstname text, new_lastname text, new_address1 text, new_address2 text, new_city text,
    new_state text, new_zip integer, new_country text, new_region smallint, new_email text,
    new_phone text, new_creditcardtype smallint, new_creditcard text, new_creditcardexpiration text,
    new_username text, new_password text, new_age smallint, new_income integer, new_gender text
) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    new_customerid integer;
BEGIN
    INSERT INTO customers (
        firstname, lastname, address1, address2, city, state, zip, country, region, email, phone,
        creditcardtype, creditcard, creditcardexpiration, username, password, age, income, gender
    ) VALUES (
        new_firstname, new_lastname, new_address1, new_address2, new_city, new_state, new_zip,
        new_country, new_region, new_email, new_phone, new_creditcardtype, new_creditcard,
        new_creditcardexpiration, new_username, new_password, new_age, new_income, new_gender
    )
    ON CONFLICT (username) DO NOTHING RETURNING customerid INTO new_customerid;
    RETURN new_customerid;
END
$$;
CREATE FUNCTION browse_by_category(wanted integer, batch integer)
RETURNS SETOF products LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN QUERY SELECT * FROM products WHERE special = 1 AND category = wanted::smallint ORDER BY prod_id LIMIT batch;
END
$$;
CREATE FUNCTION browse_by_actor(phrase text, batch integer)
RETURNS SETOF products LANGUAGE plpgsql STABLE AS $$
BEGIN
    -- By an expression: in the order of the primary key the planner might look at product after product.
    RETURN QUERY SELECT * FROM products
    WHERE to_tsvector('simple', actor) @@ phraseto_tsquery('simple', phrase) ORDER BY prod_id + 0 LIMIT batch;
END
$$;
CREATE FUNCTION browse_by_title(phrase text, batch integer)
RETURNS SETOF products LANGUAGE plpgsql STABLE AS $$
BEGIN
    -- By an expression: in the order of the primary key the planner might look at product after product.
    RETURN QUERY SELECT * FROM products
    WHERE to_tsvector('simple', title) @@ phraseto_tsquery('simple', phrase) ORDER BY prod_id + 0 LIMIT batch;
END
$$;
CREATE FUNCTION prices(wanted integer[])
RETURNS TABLE (prod_id integer, price_cents bigint) LANGUAGE plpgsql STABLE
-- It would be planned anew for each array, which takes as long as all the rest.
SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    RETURN QUERY SELECT p.prod_id, p.price_cents FROM products p WHERE p.prod_id = ANY (wanted);
END
$$;
-- The cart is an array of products, each with its quantity. A procedure and no function, because it undoes its transaction.
CREATE PROCEDURE purchase(
    INOUT new_orderid integer, customer integer, net_cents bigint, tax bigint, total_cents bigint, now_us bigint,
    cart integer[]
) LANGUAGE plpgsql AS $$
DECLARE
    product integer;
    pieces integer;
BEGIN
    INSERT INTO orders (orderdate_us, customerid, netamount_cents, tax_cents, totalamount_cents)
    VALUES (now_us, customer, net_cents, tax, total_cents)
    RETURNING orderid INTO new_orderid;
    FOR line IN 1 .. coalesce(array_length(cart, 1), 0) LOOP
        product := cart[line][1];
        pieces := cart[line][2];
        -- It reads the stock and takes from it in one: between a read and a write of its own, another purchase could take
        -- the same.
        UPDATE inventory SET quan_in_stock = quan_in_stock - pieces, sales = sales + pieces
        WHERE prod_id = product AND quan_in_stock >= pieces;
        IF NOT FOUND THEN
            ROLLBACK;
            new_orderid := NULL;
            RETURN;
        END IF;
        INSERT INTO orderlines (orderlineid, orderid, prod_id, quantity, orderdate_us)
        VALUES (line, new_orderid, product, pieces, now_us);
        INSERT INTO cust_hist (customerid, orderid, prod_id) VALUES (customer, new_orderid, product);
    END LOOP;
END
$$
