ANALYZE TABLE customers, orders, orderlines, cust_hist, inventory, reorder
