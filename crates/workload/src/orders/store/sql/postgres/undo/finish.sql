-- With the indexes, which VACUUM leaves alone below 2 % of the pages: the tables end where they ended after the load.
VACUUM (ANALYZE, INDEX_CLEANUP ON) customers, orders, orderlines, cust_hist, inventory, reorder
