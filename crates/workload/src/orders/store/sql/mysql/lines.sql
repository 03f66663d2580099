INSERT INTO orderlines (orderlineid, orderid, prod_id, quantity, orderdate_us) VALUES {rows}
