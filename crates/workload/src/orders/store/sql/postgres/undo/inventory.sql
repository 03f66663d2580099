-- Neither leaves dead rows.
TRUNCATE reorder, inventory
