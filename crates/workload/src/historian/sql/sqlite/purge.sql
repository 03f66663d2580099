-- Rows lie in the order in which they were written, which is that of time but for a few. Looking at twice as many rows as
-- are to be deleted finds them all and never reads the rows that stay.
DELETE FROM samples WHERE rowid IN (
    SELECT rowid FROM samples
    WHERE time_us < ?1 AND rowid < (SELECT min(rowid) FROM samples) + 2 * ?2
    ORDER BY rowid LIMIT ?2)
