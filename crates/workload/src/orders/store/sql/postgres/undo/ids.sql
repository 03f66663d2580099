SELECT setval(pg_get_serial_sequence('customers', 'customerid'), {customerid_max});
SELECT setval(pg_get_serial_sequence('orders', 'orderid'), {orderid_max})
