//! pgbench's built-in scripts and its tables, as its documentation gives them, on every engine:
//! <https://www.postgresql.org/docs/current/pgbench.html>.

mod sums;
mod tables;

use std::fmt;
use std::str::FromStr;

use database::Dialect;

pub(super) use sums::{Sums, agree};
pub use tables::{Tables, make, rows_of, standing, system_schema};

/// A script of pgbench's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Builtin {
    /// Reads an account.
    SelectOnly,
    /// Changes an account and tells it in the history.
    SimpleUpdate,
    /// The same, and changes a teller and a branch, where clients wait for each other.
    TpcbLike,
}

impl Builtin {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::SelectOnly, Self::SimpleUpdate, Self::TpcbLike];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::SelectOnly => "select-only",
            Self::SimpleUpdate => "simple-update",
            Self::TpcbLike => "tpcb-like",
        }
    }

    /// Its text, in pgbench's language and the words of a dialect.
    pub(super) fn text(self, dialect: Dialect) -> String {
        let begin = match dialect {
            Dialect::Postgres => "BEGIN",
            Dialect::Mysql => "START TRANSACTION",
            // One that would begin to write later may find another in its way.
            Dialect::Sqlite => "BEGIN IMMEDIATE",
            Dialect::SqlServer => "BEGIN TRANSACTION",
            Dialect::ClickHouse | Dialect::DuckDb => crate::named_sql::by_columns(),
        };
        let account = "\\set aid random(1, 100000 * :scale)\n";
        let read = "SELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n";
        let drawn = "\\set bid random(1, 1 * :scale)\n\\set tid random(1, 10 * :scale)\n\\set delta random(-5000, 5000)\n";
        let add = |table: &str, balance: &str, key: &str| {
            format!("UPDATE pgbench_{table} SET {balance} = {balance} + :delta WHERE {key} = :{key};\n")
        };
        let others = match self {
            Self::SelectOnly => return format!("{account}{read}"),
            Self::SimpleUpdate => String::new(),
            Self::TpcbLike => add("tellers", "tbalance", "tid") + &add("branches", "bbalance", "bid"),
        };
        let change = add("accounts", "abalance", "aid");
        format!(
            "{account}{drawn}{begin};\n{change}{read}{others}\
             INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);\n\
             COMMIT;\n"
        )
    }
}

/// A built-in script and how often it is drawn, as a part of the sum of all weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuiltinScript {
    /// The script.
    pub builtin: Builtin,
    /// Weight, 1 where none is given; 0 leaves it out.
    pub weight: u32,
}

/// A text that is no built-in script.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown built-in script `{0}`: use select-only, simple-update or tpcb-like, with @WEIGHT to choose it more often"
)]
pub struct BuiltinError(String);

impl FromStr for BuiltinScript {
    type Err = BuiltinError;

    fn from_str(text: &str) -> Result<Self, BuiltinError> {
        let refused = || BuiltinError(text.to_owned());
        let (name, weight) =
            text.trim().split_once('@').map_or((text.trim(), "1"), |(name, weight)| (name, weight));
        let weight: u32 = weight.parse().map_err(|_| refused())?;
        // As pgbench takes them, `-b si` too: what a name begins with, as long as that is of one alone.
        let mut begun =
            Builtin::ALL.into_iter().filter(|builtin| !name.is_empty() && builtin.name().starts_with(name));
        let (Some(builtin), None) = (begun.next(), begun.next()) else { return Err(refused()) };
        if weight > super::settings::WEIGHT_MAX {
            return Err(refused());
        }
        Ok(Self { builtin, weight })
    }
}

impl fmt::Display for BuiltinScript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.weight {
            1 => f.write_str(self.builtin.name()),
            weight => write!(f, "{}@{weight}", self.builtin.name()),
        }
    }
}

load::serde_as_text!(BuiltinScript);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_built_in_script_is_one_of_three_with_a_weight() {
        for text in ["select-only", "simple-update@3", "tpcb-like@0"] {
            assert_eq!(text.parse::<BuiltinScript>().unwrap().to_string(), text);
        }
        for (begun, name) in [("se", "select-only"), ("si@2", "simple-update@2"), ("tpcb", "tpcb-like")] {
            assert_eq!(begun.parse::<BuiltinScript>().unwrap().to_string(), name);
        }
        for wrong in ["", "s", "selects", "list", "tpcb-like@", "tpcb-like@x", "tpcb-like@1000001"] {
            assert!(
                wrong.parse::<BuiltinScript>().unwrap_err().to_string().contains("select-only"),
                "{wrong}"
            );
        }
    }

    #[test]
    fn texts_are_scripts_of_as_many_statements_as_pgbench_has() {
        for (builtin, statements) in
            [(Builtin::SelectOnly, 1), (Builtin::SimpleUpdate, 5), (Builtin::TpcbLike, 7)]
        {
            let text = builtin.text(Dialect::Postgres);
            assert_eq!(text.lines().filter(|line| line.ends_with(';')).count(), statements, "{text}");
        }
    }
}
