//! Which kinds of tables there are, by what they are, and how statements come to their server.

use std::fmt;
use std::str::FromStr;

use database::Dialect;

/// A kind of table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Rows on disk, as every engine has them where nothing else is said: the reference.
    #[default]
    Row,
    /// Not durable: in memory, or without a log.
    Volatile,
    /// Durable late: a commit is answered before it is on disk.
    Relaxed,
    /// In memory, and durable.
    MemoryDurable,
    /// Rows in the order of their key.
    Clustered,
    /// Rows with an index that has all that a query asks for.
    Covering,
    /// Rows with an index that has all columns, by columns.
    ColumnstoreIndex,
    /// By columns.
    Columnstore,
    /// By columns, compressed once more.
    Archive,
    /// A log-structured tree: MyRocks.
    Rocks,
    /// Aria, MariaDB's engine without transactions.
    Aria,
}

impl Kind {
    /// All, the reference first.
    pub const ALL: [Self; 11] = [
        Self::Row,
        Self::Volatile,
        Self::Relaxed,
        Self::MemoryDurable,
        Self::Clustered,
        Self::Covering,
        Self::ColumnstoreIndex,
        Self::Columnstore,
        Self::Archive,
        Self::Rocks,
        Self::Aria,
    ];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Row => "row",
            Self::Volatile => "volatile",
            Self::Relaxed => "relaxed",
            Self::MemoryDurable => "memory-durable",
            Self::Clustered => "clustered",
            Self::Covering => "covering",
            Self::ColumnstoreIndex => "columnstore-index",
            Self::Columnstore => "columnstore",
            Self::Archive => "archive",
            Self::Rocks => "rocks",
            Self::Aria => "aria",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A text that is no kind of table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown kind of table `{text}`: use one of {}", names())]
pub struct KindError {
    text: String,
}

fn names() -> String {
    Kind::ALL.map(Kind::name).join(", ")
}

impl FromStr for Kind {
    type Err = KindError;

    fn from_str(text: &str) -> Result<Self, KindError> {
        let found = Self::ALL.into_iter().find(|kind| kind.name() == text.trim());
        found.ok_or_else(|| KindError { text: text.to_owned() })
    }
}

load::serde_as_text!(Kind);

/// How statements come to their server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Access {
    /// As one text with its values in it, parsed and planned each time.
    AdHoc,
    /// Prepared once on each connection, with its values beside it.
    #[default]
    Prepared,
    /// As a call of a procedure of the server, compiled where the engine compiles it.
    Procedure,
}

impl Access {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::AdHoc => "ad-hoc",
            Self::Prepared => "prepared",
            Self::Procedure => "procedure",
        }
    }

    /// The one where nothing else is said: prepared, where a dialect has that.
    #[must_use]
    pub const fn usual(dialect: Dialect) -> Self {
        match dialect {
            Dialect::ClickHouse => Self::AdHoc,
            Dialect::Sqlite | Dialect::Postgres | Dialect::Mysql | Dialect::SqlServer | Dialect::DuckDb => {
                Self::Prepared
            }
        }
    }

    /// Why a dialect does not have it, if so.
    #[must_use]
    pub const fn lacks(self, dialect: Dialect) -> Option<&'static str> {
        match (self, dialect) {
            (Self::Procedure, Dialect::Sqlite) => Some("SQLite has no procedures: give prepared or ad-hoc"),
            (Self::Procedure, Dialect::DuckDb) => Some("DuckDB has no procedures: give prepared or ad-hoc"),
            (Self::Procedure, Dialect::ClickHouse) => Some("ClickHouse has no procedures: give ad-hoc"),
            (Self::Prepared, Dialect::ClickHouse) => {
                Some("ClickHouse does not prepare statements: use ad-hoc")
            }
            (Self::Procedure, Dialect::Postgres | Dialect::Mysql | Dialect::SqlServer)
            | (
                Self::Prepared,
                Dialect::Sqlite | Dialect::Postgres | Dialect::Mysql | Dialect::SqlServer | Dialect::DuckDb,
            )
            | (Self::AdHoc, _) => None,
        }
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A text that is no way to send statements.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown way to send statements `{0}`: use ad-hoc, prepared or procedure")]
pub struct AccessError(String);

impl FromStr for Access {
    type Err = AccessError;

    fn from_str(text: &str) -> Result<Self, AccessError> {
        match text.trim() {
            "ad-hoc" => Ok(Self::AdHoc),
            "prepared" => Ok(Self::Prepared),
            "procedure" => Ok(Self::Procedure),
            _ => Err(AccessError(text.to_owned())),
        }
    }
}

load::serde_as_text!(Access);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_back_and_others_are_refused_with_all_names() {
        for kind in Kind::ALL {
            assert_eq!(kind.to_string().parse(), Ok(kind));
        }
        let told = "heap".parse::<Kind>().unwrap_err().to_string();
        assert!(told.contains("`heap`") && told.contains("memory-durable"), "{told}");
        for access in [Access::AdHoc, Access::Prepared, Access::Procedure] {
            assert_eq!(access.to_string().parse(), Ok(access));
        }
        assert!(
            "native".parse::<Access>().unwrap_err().to_string().contains("ad-hoc, prepared or procedure")
        );
    }
}
