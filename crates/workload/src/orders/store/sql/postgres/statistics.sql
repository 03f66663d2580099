-- With VACUUM, so that what a load leaves to do is not done in the middle of a measurement.
VACUUM (ANALYZE) customers, orders, orderlines, cust_hist, products, inventory, categories, reorder
