//! Engines and the ways to write SQL: what a caller may know of them without a session.
//!
//! Every question about an engine is a match without a rest, here and elsewhere: a new one does not compile before each of
//! them is answered.

use crate::batches::batches;

/// An engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Engine {
    /// SQLite, in this process.
    Sqlite,
    /// PostgreSQL.
    Postgres,
    /// MySQL or MariaDB.
    Mysql,
    /// Microsoft SQL Server, and what speaks its protocol.
    SqlServer,
    /// ClickHouse, which keeps tables by columns.
    ClickHouse,
    /// DuckDB, in this process, which keeps tables by columns.
    DuckDb,
    /// In memory, with a given service time; for tests.
    Fake,
}

/// A way to write SQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// SQLite's, with parameters `?1`.
    Sqlite,
    /// PostgreSQL's, with parameters `$1`.
    Postgres,
    /// MySQL's and MariaDB's, with parameters `?`.
    Mysql,
    /// T-SQL, with parameters `@P1`. A script is of batches that end at a line `GO`.
    SqlServer,
    /// ClickHouse's, whose values stand in the text.
    ClickHouse,
    /// DuckDB's, with parameters `$1`.
    DuckDb,
}

impl Engine {
    /// All of them; the match is there so that a new one is put in.
    pub(crate) const ALL: [Self; 7] = match Self::Sqlite {
        Self::Sqlite
        | Self::Postgres
        | Self::Mysql
        | Self::SqlServer
        | Self::ClickHouse
        | Self::DuckDb
        | Self::Fake => [
            Self::Sqlite,
            Self::Postgres,
            Self::Mysql,
            Self::SqlServer,
            Self::ClickHouse,
            Self::DuckDb,
            Self::Fake,
        ],
    };

    /// Name as results spell it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
            Self::Mysql => "mysql",
            Self::SqlServer => "sqlserver",
            Self::ClickHouse => "clickhouse",
            Self::DuckDb => "duckdb",
            Self::Fake => "fake",
        }
    }

    /// The SQL that it speaks.
    #[must_use]
    pub fn dialect(self) -> Dialect {
        match self {
            Self::Sqlite | Self::Fake => Dialect::Sqlite,
            Self::Postgres => Dialect::Postgres,
            Self::Mysql => Dialect::Mysql,
            Self::SqlServer => Dialect::SqlServer,
            Self::ClickHouse => Dialect::ClickHouse,
            Self::DuckDb => Dialect::DuckDb,
        }
    }

    /// Whether it is a file of this process, which works in this process's memory and on its processors.
    #[must_use]
    pub fn is_file(self) -> bool {
        match self {
            Self::Sqlite | Self::DuckDb => true,
            Self::Postgres | Self::Mysql | Self::SqlServer | Self::ClickHouse | Self::Fake => false,
        }
    }

    /// Whether one of its databases is told where its files lie, how it logs, and how it is brought back.
    #[must_use]
    pub fn takes_layout(self) -> bool {
        match self {
            Self::SqlServer => true,
            Self::Sqlite | Self::Postgres | Self::Mysql | Self::ClickHouse | Self::DuckDb | Self::Fake => {
                false
            }
        }
    }

    /// Whether its time is not that of any clock on a wall.
    #[must_use]
    pub fn is_simulated(self) -> bool {
        match self {
            Self::Fake => true,
            Self::Sqlite
            | Self::Postgres
            | Self::Mysql
            | Self::SqlServer
            | Self::ClickHouse
            | Self::DuckDb => false,
        }
    }

    /// Whether it keeps tables by columns, and is made for what reads or changes many rows at once: few workloads are of any meaning there.
    #[must_use]
    pub fn is_by_columns(self) -> bool {
        match self {
            Self::ClickHouse | Self::DuckDb => true,
            Self::Sqlite | Self::Postgres | Self::Mysql | Self::SqlServer | Self::Fake => false,
        }
    }

    /// Why this program has it not, a sentence without its end; none of one that it has.
    #[must_use]
    pub fn left_out(self) -> Option<&'static str> {
        match self {
            Self::DuckDb => crate::duckdb::LEFT_OUT,
            Self::Sqlite | Self::Postgres | Self::Mysql | Self::SqlServer | Self::ClickHouse | Self::Fake => {
                None
            }
        }
    }
}

impl Dialect {
    /// Those of engines that keep tables by rows, the first of all.
    pub const BY_ROWS: [Self; 4] = [Self::Sqlite, Self::Postgres, Self::Mysql, Self::SqlServer];

    /// All of them; the match is there so that a new one is put in.
    pub const ALL: [Self; 6] = match Self::Sqlite {
        Self::Sqlite | Self::Postgres | Self::Mysql | Self::SqlServer | Self::ClickHouse | Self::DuckDb => {
            [Self::Sqlite, Self::Postgres, Self::Mysql, Self::SqlServer, Self::ClickHouse, Self::DuckDb]
        }
    };

    /// Whose it is.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "SQLite",
            Self::Postgres => "PostgreSQL",
            Self::Mysql => "MySQL",
            Self::SqlServer => "SQL Server",
            Self::ClickHouse => "ClickHouse",
            Self::DuckDb => "DuckDB",
        }
    }

    /// A parameter by its number, from 1.
    #[must_use]
    pub fn placeholder(self, number: usize) -> String {
        match self {
            Self::Sqlite => format!("?{number}"),
            Self::Postgres | Self::DuckDb => format!("${number}"),
            // Of ClickHouse the session refuses values that do not stand in the text.
            Self::Mysql | Self::ClickHouse => "?".to_owned(),
            Self::SqlServer => format!("@P{number}"),
        }
    }

    /// So many parameters from one number on, with commas between them.
    #[must_use]
    pub fn placeholders(self, first: usize, count: usize) -> String {
        (first..first + count).map(|number| self.placeholder(number)).collect::<Vec<_>>().join(", ")
    }

    /// A name as a statement takes it, with capitals as they are.
    #[must_use]
    pub fn quoted(self, name: &str) -> String {
        match self {
            Self::Sqlite | Self::Postgres | Self::DuckDb => format!("\"{}\"", name.replace('"', "\"\"")),
            Self::Mysql | Self::ClickHouse => format!("`{}`", name.replace('`', "``")),
            Self::SqlServer => format!("[{}]", name.replace(']', "]]")),
        }
    }

    /// A text as a statement takes it.
    #[must_use]
    pub fn text(self, text: &str) -> String {
        match self {
            Self::Sqlite | Self::Postgres | Self::DuckDb => format!("'{}'", text.replace('\'', "''")),
            Self::Mysql | Self::ClickHouse => format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''")),
            Self::SqlServer => format!("N'{}'", text.replace('\'', "''")),
        }
    }

    /// The statements of a script, for whoever runs them one by one, each with what ends it. From the first on that has
    /// statements in itself, such as a trigger, they are one. No text or comment may hold what ends a statement and a line. Of T-SQL
    /// these are its batches: what one declares is gone after it.
    #[must_use]
    pub fn statements(self, script: &str) -> Vec<&str> {
        match self {
            Self::Sqlite | Self::Postgres | Self::Mysql | Self::ClickHouse | Self::DuckDb => {
                let bodies = ["\nCREATE TRIGGER", "\nCREATE FUNCTION", "\nCREATE PROCEDURE"];
                let body = bodies.into_iter().filter_map(|begin| script.find(begin)).min();
                // With the comment above it.
                let body =
                    body.map_or(script.len(), |body| script[..body].rfind(";\n").map_or(0, |end| end + 2));
                let (plain, body) = script.split_at(body);
                plain
                    .split_inclusive(";\n")
                    .chain([body])
                    .filter(|statement| !statement.trim().is_empty())
                    .collect()
            }
            Self::SqlServer => batches(script),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dialect_has_its_own_spelling() {
        let spelled = Dialect::ALL.map(|dialect| {
            (dialect.placeholder(2), dialect.placeholders(3, 2), dialect.quoted("Mixed \"`name"))
        });
        let expected = [
            ("?2", "?3, ?4", "\"Mixed \"\"`name\""),
            ("$2", "$3, $4", "\"Mixed \"\"`name\""),
            ("?", "?, ?", "`Mixed \"``name`"),
            ("@P2", "@P3, @P4", "[Mixed \"`name]"),
            ("?", "?, ?", "`Mixed \"``name`"),
            ("$2", "$3, $4", "\"Mixed \"\"`name\""),
        ];
        assert_eq!(spelled, expected.map(|(a, b, c)| (a.to_owned(), b.to_owned(), c.to_owned())));
    }

    #[test]
    fn dialects_by_rows_are_the_first_and_all_whose_engines_keep_rows() {
        assert_eq!(Dialect::ALL[..4], Dialect::BY_ROWS);
        for engine in Engine::ALL {
            assert_eq!(engine.is_by_columns(), !Dialect::BY_ROWS.contains(&engine.dialect()), "{engine:?}");
        }
    }

    #[test]
    fn a_script_is_its_statements_up_to_one_that_has_some_itself() {
        let trigger =
            "-- Why; how.\nCREATE TRIGGER t\nBEGIN\n  DELETE FROM a;\n  DELETE FROM b;\nEND;\nSELECT 1";
        for dialect in [Dialect::Sqlite, Dialect::Postgres, Dialect::Mysql] {
            assert_eq!(dialect.statements("VACUUM;\n\nPRAGMA x(1)"), ["VACUUM;\n", "\nPRAGMA x(1)"]);
            assert_eq!(dialect.statements(" \n"), [""; 0]);
            let script = format!("CREATE INDEX i;\n{trigger}");
            assert_eq!(dialect.statements(&script), ["CREATE INDEX i;\n", trigger]);
        }
        let batched = "DECLARE @a int = 1;\nSELECT @a;\nGO\nSELECT 2";
        assert_eq!(Dialect::SqlServer.statements(batched), ["DECLARE @a int = 1;\nSELECT @a;", "SELECT 2"]);
    }
}
