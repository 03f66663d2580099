ALTER TABLE customers AUTO_INCREMENT = {customerid_next};
ALTER TABLE orders AUTO_INCREMENT = {orderid_next}
