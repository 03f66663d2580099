-- No index has orderid: the rows are found through the customers of the orders.
DELETE FROM cust_hist
WHERE orderid > {after} AND orderid <= {last}
    AND customerid IN (SELECT customerid FROM orders WHERE orderid > {after} AND orderid <= {last})
