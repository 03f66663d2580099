DELETE FROM reorder;
DELETE FROM inventory
