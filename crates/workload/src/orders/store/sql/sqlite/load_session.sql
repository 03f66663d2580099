-- Else each row that is loaded would look for its parent; parents and children come from one generator.
PRAGMA foreign_keys = OFF
