-- A purge has no index by time to go by and reads all rows when it looks for the last ones. In this isolation it locks only
-- those that it deletes: in the default one an insert waited for as long as the purge's statement took.
SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED
