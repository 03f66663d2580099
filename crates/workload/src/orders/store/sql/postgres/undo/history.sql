-- No index has orderid: the rows are found through the customers of the orders.
DELETE FROM cust_hist h USING orders o
WHERE o.orderid > {after} AND o.orderid <= {last} AND h.customerid = o.customerid AND h.orderid = o.orderid
