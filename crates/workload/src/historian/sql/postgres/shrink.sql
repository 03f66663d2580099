-- Writes the table anew. Nobody can read or write it meanwhile.
VACUUM (FULL) samples
