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
