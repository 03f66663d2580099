-- Only a vacuum makes a file that has tables already keep track of its free pages.
PRAGMA auto_vacuum = INCREMENTAL;
VACUUM
