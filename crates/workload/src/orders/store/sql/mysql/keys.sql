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
