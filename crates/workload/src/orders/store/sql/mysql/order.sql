INSERT INTO orders (orderdate_us, customerid, netamount_cents, tax_cents, totalamount_cents)
VALUES (?, ?, ?, ?, ?)
