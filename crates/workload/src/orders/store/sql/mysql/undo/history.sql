-- No index has orderid: the rows are found through the customers of the orders, in this order whatever the optimizer thinks.
DELETE h FROM orders o STRAIGHT_JOIN cust_hist h ON h.customerid = o.customerid AND h.orderid = o.orderid
WHERE o.orderid > {after} AND o.orderid <= {last}
