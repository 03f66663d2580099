-- A row for each product of the last ones that the customer bought; one row without a product if there is none.
SELECT c.customerid, p.title, p.actor, r.title
FROM customers c
LEFT JOIN cust_hist h ON h.customerid = c.customerid
LEFT JOIN products p ON p.prod_id = h.prod_id
LEFT JOIN products r ON r.prod_id = p.common_prod_id
WHERE c.username = $1 AND c.password = $2
ORDER BY h.orderid DESC, h.prod_id
LIMIT 10
