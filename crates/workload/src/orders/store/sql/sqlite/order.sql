INSERT INTO orders (orderdate_us, customerid, netamount_cents, tax_cents, totalamount_cents)
VALUES (?1, ?2, ?3, ?4, ?5)
RETURNING orderid
