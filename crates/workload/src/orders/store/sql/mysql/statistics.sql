ANALYZE TABLE customers, orders, orderlines, cust_hist, products, inventory, categories, reorder
