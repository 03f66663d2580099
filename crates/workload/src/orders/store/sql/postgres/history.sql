INSERT INTO cust_hist (customerid, orderid, prod_id) VALUES {rows}
