CREATE TABLE layout (layout TEXT NOT NULL);
CREATE TABLE tags (tag_id INTEGER PRIMARY KEY, name TEXT NOT NULL);
-- No key: two samples of a tag may have the same time, and both are kept.
CREATE TABLE samples (tag_id INTEGER NOT NULL, time_us INTEGER NOT NULL, value REAL, quality INTEGER NOT NULL)
