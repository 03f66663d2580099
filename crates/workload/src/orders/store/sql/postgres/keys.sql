ALTER TABLE customers ADD PRIMARY KEY (customerid);
CREATE UNIQUE INDEX customers_username ON customers (username);
CREATE UNIQUE INDEX customers_username_password ON customers (username, password);
ALTER TABLE orders ADD PRIMARY KEY (orderid);
CREATE INDEX orders_customerid ON orders (customerid);
ALTER TABLE orderlines ADD PRIMARY KEY (orderid, orderlineid);
CREATE INDEX cust_hist_customerid ON cust_hist (customerid);
CREATE INDEX cust_hist_customerid_prod_id ON cust_hist (customerid, prod_id);
ALTER TABLE products ADD PRIMARY KEY (prod_id);
CREATE INDEX products_special_category ON products (special, category, prod_id);
CREATE INDEX products_common_prod_id ON products (common_prod_id);
CREATE INDEX products_actor ON products USING gin (to_tsvector('simple', actor));
CREATE INDEX products_title ON products USING gin (to_tsvector('simple', title));
ALTER TABLE inventory ADD PRIMARY KEY (prod_id);
ALTER TABLE categories ADD PRIMARY KEY (category);
ALTER TABLE orders ADD FOREIGN KEY (customerid) REFERENCES customers ON DELETE SET NULL;
ALTER TABLE orderlines ADD FOREIGN KEY (orderid) REFERENCES orders ON DELETE CASCADE;
ALTER TABLE cust_hist ADD FOREIGN KEY (customerid) REFERENCES customers ON DELETE CASCADE;
-- Ids go on after those that were loaded.
SELECT setval(pg_get_serial_sequence('customers', 'customerid'), coalesce(max(customerid), 0) + 1, false) FROM customers;
SELECT setval(pg_get_serial_sequence('orders', 'orderid'), coalesce(max(orderid), 0) + 1, false) FROM orders;
-- Stock that a purchase takes below 3 is bought again at once: the old quantity is put back.
CREATE FUNCTION restock() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    now_us CONSTANT bigint := extract(epoch FROM clock_timestamp()) * 1000000;
BEGIN
    INSERT INTO reorder (prod_id, date_low_us, quan_low, date_reordered_us, quan_reordered, date_expected_us)
    VALUES (NEW.prod_id, now_us, NEW.quan_in_stock, now_us, OLD.quan_in_stock - NEW.quan_in_stock, now_us);
    NEW.quan_in_stock := OLD.quan_in_stock;
    RETURN NEW;
END
$$;
CREATE TRIGGER restock BEFORE UPDATE ON inventory FOR EACH ROW
WHEN (NEW.quan_in_stock < 3 AND NEW.quan_in_stock < OLD.quan_in_stock) EXECUTE FUNCTION restock()
