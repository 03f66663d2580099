CREATE TABLE layout (layout text NOT NULL);
CREATE TABLE tags (tag_id integer PRIMARY KEY, name text NOT NULL);
-- No key: two samples of a tag may have the same time, and both are kept.
CREATE TABLE samples (tag_id integer NOT NULL, time_us bigint NOT NULL, value double precision, quality smallint NOT NULL)
PARTITION BY RANGE (time_us);
CREATE TABLE samples_rest PARTITION OF samples DEFAULT
