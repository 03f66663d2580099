CREATE TABLE layout (layout varchar(200) NOT NULL) ENGINE = InnoDB;
CREATE TABLE tags (tag_id int PRIMARY KEY, name varchar(200) NOT NULL) ENGINE = InnoDB;
-- No key: two samples of a tag may have the same time, and both are kept.
CREATE TABLE samples (tag_id int NOT NULL, time_us bigint NOT NULL, value double, quality smallint NOT NULL) ENGINE = InnoDB
PARTITION BY RANGE (time_us) (PARTITION samples_rest VALUES LESS THAN MAXVALUE)
