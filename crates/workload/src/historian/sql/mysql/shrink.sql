-- For InnoDB this writes the table anew.
OPTIMIZE TABLE samples
