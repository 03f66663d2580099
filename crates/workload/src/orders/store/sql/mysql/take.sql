-- It reads the stock and takes from it in one: between a read and a write of its own, another purchase could take the same.
UPDATE inventory SET quan_in_stock = quan_in_stock - ?, sales = sales + ?
WHERE prod_id = ? AND quan_in_stock >= ?
