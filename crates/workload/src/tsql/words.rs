//! The words of T-SQL that our texts use, each group with the page of the reference that spells them, and what the server's own views
//! have.
//!
//! A word that is in none of these, and is no name of ours, is a mistake: of spelling, or of another dialect.

/// Reserved words, which no name of ours may be.
/// Source: <https://learn.microsoft.com/en-us/sql/t-sql/language-elements/reserved-keywords-transact-sql>.
pub(super) const RESERVED: &[&str] = &[
    "ADD",
    "ALL",
    "ALTER",
    "AND",
    "AS",
    "ASC",
    "BEGIN",
    "BETWEEN",
    "BY",
    "CASCADE",
    "CASE",
    "CLUSTERED",
    "COALESCE",
    "COLLATE",
    "COMMIT",
    "CONSTRAINT",
    "CONTAINS",
    "CREATE",
    "CROSS",
    "CURRENT",
    "DATABASE",
    "DBCC",
    "DECLARE",
    "DELETE",
    "DESC",
    "DISTINCT",
    "DROP",
    "ELSE",
    "END",
    "EXEC",
    "EXISTS",
    "FILE",
    "FOR",
    "FOREIGN",
    "FROM",
    "FULL",
    "FUNCTION",
    "GROUP",
    "HAVING",
    "IDENTITY",
    "IDENTITY_INSERT",
    "IF",
    "IN",
    "INDEX",
    "INNER",
    "INSERT",
    "INTO",
    "IS",
    "JOIN",
    "KEY",
    "KILL",
    "LEFT",
    "LIKE",
    "NOT",
    "NULL",
    "OFF",
    "ON",
    "OR",
    "ORDER",
    "OUTER",
    "PERCENT",
    "PRIMARY",
    "PROCEDURE",
    "REFERENCES",
    "RESTORE",
    "BACKUP",
    "RETURN",
    "ROLLBACK",
    "SELECT",
    "SET",
    "STATISTICS",
    "TABLE",
    "THEN",
    "TO",
    "TOP",
    "TRANSACTION",
    "TRIGGER",
    "TRUNCATE",
    "UNION",
    "UNIQUE",
    "UPDATE",
    "USE",
    "VALUES",
    "WAITFOR",
    "WHEN",
    "WHERE",
    "WHILE",
    "WITH",
];

/// Words that are reserved nowhere, by the page that has them.
pub(super) const OTHERS: &[(&str, &[&str])] = &[
    (
        "https://learn.microsoft.com/en-us/sql/t-sql/data-types/data-types-transact-sql",
        &["bigint", "float", "int", "nvarchar", "max", "smallint", "varchar", "uniqueidentifier", "decimal"],
    ),
    (
        "https://learn.microsoft.com/en-us/sql/t-sql/functions/aggregate-functions-transact-sql",
        &["count", "count_big", "max", "sum"],
    ),
    ("https://learn.microsoft.com/en-us/sql/t-sql/functions/cast-and-convert-transact-sql", &["CAST"]),
    (
        "https://learn.microsoft.com/en-us/sql/t-sql/functions/string-functions-transact-sql",
        &["CHARINDEX", "LEN", "QUOTENAME", "REPLACE", "SUBSTRING"],
    ),
    (
        "https://learn.microsoft.com/en-us/sql/t-sql/functions/datediff-big-transact-sql",
        &["DATEDIFF_BIG", "microsecond", "millisecond"],
    ),
    (
        "https://learn.microsoft.com/en-us/sql/t-sql/functions/sysutcdatetime-transact-sql",
        &["SYSUTCDATETIME", "GETDATE"],
    ),
    (
        "https://learn.microsoft.com/en-us/sql/t-sql/functions/scope-identity-transact-sql",
        &["SCOPE_IDENTITY"],
    ),
    (
        "https://learn.microsoft.com/en-us/sql/t-sql/functions/serverproperty-transact-sql",
        &["SERVERPROPERTY"],
    ),
    (
        "https://learn.microsoft.com/en-us/sql/t-sql/functions/object-definition-transact-sql",
        &["OBJECT_DEFINITION"],
    ),
    ("https://learn.microsoft.com/en-us/sql/t-sql/functions/object-id-transact-sql", &["OBJECT_ID"]),
    ("https://learn.microsoft.com/en-us/sql/t-sql/functions/schema-id-transact-sql", &["SCHEMA_ID"]),
    ("https://learn.microsoft.com/en-us/sql/t-sql/functions/db-id-transact-sql", &["DB_ID", "DB_NAME"]),
    (
        "https://learn.microsoft.com/en-us/sql/t-sql/functions/has-perms-by-name-transact-sql",
        &["HAS_PERMS_BY_NAME"],
    ),
    (
        "https://learn.microsoft.com/en-us/sql/t-sql/functions/fulltextserviceproperty-transact-sql",
        &["FULLTEXTSERVICEPROPERTY"],
    ),
    (
        "https://learn.microsoft.com/en-us/sql/t-sql/functions/fulltextcatalogproperty-transact-sql",
        &["FULLTEXTCATALOGPROPERTY"],
    ),
    ("https://learn.microsoft.com/en-us/sql/t-sql/functions/partition-transact-sql", &["$PARTITION"]),
    ("https://learn.microsoft.com/en-us/sql/t-sql/queries/from-transact-sql", &["APPLY"]),
    (
        "https://learn.microsoft.com/en-us/sql/t-sql/queries/hints-transact-sql-table",
        &["SERIALIZABLE", "UPDLOCK"],
    ),
    (
        "https://learn.microsoft.com/en-us/sql/t-sql/queries/output-clause-transact-sql",
        &["OUTPUT", "inserted", "deleted"],
    ),
    ("https://learn.microsoft.com/en-us/sql/t-sql/statements/create-index-transact-sql", &["INCLUDE"]),
    (
        "https://learn.microsoft.com/en-us/sql/t-sql/statements/create-type-transact-sql",
        &["TYPE", "READONLY"],
    ),
    ("https://learn.microsoft.com/en-us/sql/t-sql/statements/create-trigger-transact-sql", &["AFTER"]),
    ("https://learn.microsoft.com/en-us/sql/t-sql/statements/create-function-transact-sql", &["RETURNS"]),
    (
        "https://learn.microsoft.com/en-us/sql/t-sql/statements/create-partition-function-transact-sql",
        &["PARTITION", "RANGE", "RIGHT"],
    ),
    (
        "https://learn.microsoft.com/en-us/sql/t-sql/statements/create-partition-scheme-transact-sql",
        &["SCHEME"],
    ),
    (
        "https://learn.microsoft.com/en-us/sql/t-sql/statements/alter-partition-scheme-transact-sql",
        &["NEXT", "USED"],
    ),
    (
        "https://learn.microsoft.com/en-us/sql/t-sql/statements/alter-partition-function-transact-sql",
        &["SPLIT", "MERGE"],
    ),
    ("https://learn.microsoft.com/en-us/sql/t-sql/statements/truncate-table-transact-sql", &["PARTITIONS"]),
    (
        "https://learn.microsoft.com/en-us/sql/t-sql/statements/create-fulltext-catalog-transact-sql",
        &["FULLTEXT", "CATALOG"],
    ),
    (
        "https://learn.microsoft.com/en-us/sql/t-sql/statements/create-fulltext-index-transact-sql",
        &["LANGUAGE", "CHANGE_TRACKING", "STOPLIST"],
    ),
    ("https://learn.microsoft.com/en-us/sql/t-sql/language-elements/waitfor-transact-sql", &["DELAY"]),
    ("https://learn.microsoft.com/en-us/sql/t-sql/language-elements/throw-transact-sql", &["THROW"]),
    ("https://learn.microsoft.com/en-us/sql/t-sql/statements/update-statistics-transact-sql", &["SAMPLE"]),
    ("https://learn.microsoft.com/en-us/sql/t-sql/statements/set-nocount-transact-sql", &["NOCOUNT"]),
    ("https://learn.microsoft.com/en-us/sql/t-sql/statements/set-xact-abort-transact-sql", &["XACT_ABORT"]),
    (
        "https://learn.microsoft.com/en-us/sql/t-sql/statements/set-lock-timeout-transact-sql",
        &["LOCK_TIMEOUT"],
    ),
    (
        "https://learn.microsoft.com/en-us/sql/t-sql/statements/alter-database-transact-sql-file-and-filegroup-options",
        &["FILEGROUP", "NAME", "FILENAME", "SIZE", "FILEGROWTH", "MODIFY", "LOG"],
    ),
    (
        "https://learn.microsoft.com/en-us/sql/t-sql/statements/alter-database-transact-sql-set-options",
        &["RECOVERY", "SIMPLE", "BULK_LOGGED", "DELAYED_DURABILITY", "DISABLED", "ALLOWED", "FORCED"],
    ),
    (
        "https://learn.microsoft.com/en-us/sql/t-sql/database-console-commands/dbcc-shrinkfile-transact-sql",
        &["SHRINKFILE", "NO_INFOMSGS"],
    ),
    (
        "https://learn.microsoft.com/en-us/sql/t-sql/database-console-commands/dbcc-checkident-transact-sql",
        &["CHECKIDENT", "RESEED"],
    ),
    ("https://learn.microsoft.com/en-us/sql/t-sql/statements/collations", &["Latin1_General_BIN2"]),
];

/// A view of the server's own, with the columns that we read of it and the page that lists them.
#[derive(Debug)]
pub(super) struct View {
    pub(super) name: &'static str,
    pub(super) columns: &'static [&'static str],
    pub(super) source: &'static str,
}

/// In the schema `sys`.
pub(super) const VIEWS: &[View] = &[
    View {
        name: "tables",
        columns: &["name", "schema_id"],
        source: "https://learn.microsoft.com/en-us/sql/relational-databases/system-catalog-views/sys-tables-transact-sql",
    },
    View {
        name: "indexes",
        columns: &["object_id", "name"],
        source: "https://learn.microsoft.com/en-us/sql/relational-databases/system-catalog-views/sys-indexes-transact-sql",
    },
    View {
        name: "partition_functions",
        columns: &["name", "function_id"],
        source: "https://learn.microsoft.com/en-us/sql/relational-databases/system-catalog-views/sys-partition-functions-transact-sql",
    },
    View {
        name: "partition_schemes",
        columns: &["name"],
        source: "https://learn.microsoft.com/en-us/sql/relational-databases/system-catalog-views/sys-partition-schemes-transact-sql",
    },
    View {
        name: "partition_range_values",
        columns: &["function_id", "boundary_id", "value"],
        source: "https://learn.microsoft.com/en-us/sql/relational-databases/system-catalog-views/sys-partition-range-values-transact-sql",
    },
    View {
        name: "database_files",
        columns: &["file_id", "type", "name", "physical_name", "size", "growth"],
        source: "https://learn.microsoft.com/en-us/sql/relational-databases/system-catalog-views/sys-database-files-transact-sql",
    },
    View {
        name: "filegroups",
        columns: &["name"],
        source: "https://learn.microsoft.com/en-us/sql/relational-databases/system-catalog-views/sys-filegroups-transact-sql",
    },
    View {
        name: "fulltext_indexes",
        columns: &["object_id"],
        source: "https://learn.microsoft.com/en-us/sql/relational-databases/system-catalog-views/sys-fulltext-indexes-transact-sql",
    },
];

/// Words of other dialects that T-SQL has not, or has for something else, and what is written in their place.
pub(super) const FOREIGN: &[(&str, &str)] = &[
    ("LIMIT", "TOP (n)"),
    ("RETURNING", "OUTPUT inserted.…"),
    ("CONFLICT", "WHERE NOT EXISTS"),
    ("DUPLICATE", "WHERE NOT EXISTS"),
    ("AUTO_INCREMENT", "IDENTITY"),
    ("ENGINE", "nothing"),
    ("ILIKE", "LIKE"),
    ("LATERAL", "CROSS APPLY"),
    ("CALL", "EXEC"),
    ("BOOLEAN", "bit"),
    ("TRUE", "1"),
    ("FALSE", "0"),
    ("NOW", "SYSUTCDATETIME()"),
    ("USING", "a join"),
    ("INTERVAL", "DATEADD"),
    ("VACUUM", "DBCC SHRINKFILE"),
    ("ANALYZE", "UPDATE STATISTICS"),
    ("PRAGMA", "nothing"),
    ("SERIAL", "IDENTITY"),
    ("DOUBLE", "float"),
    ("TEXT", "nvarchar(max)"),
    ("OPTIMIZE", "DBCC SHRINKFILE"),
];
