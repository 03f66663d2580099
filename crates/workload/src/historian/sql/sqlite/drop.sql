-- The pages of what was dropped are given back: new rows would fill them, and the database would not seem to grow.
DROP TABLE IF EXISTS samples;
DROP TABLE IF EXISTS tags;
DROP TABLE IF EXISTS layout;
VACUUM
