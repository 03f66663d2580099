-- So many rows of each index tell enough; all of them would be read else.
PRAGMA analysis_limit = 1000;
ANALYZE
