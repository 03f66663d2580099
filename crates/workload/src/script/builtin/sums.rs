//! Whether the four tables agree: each transaction changes them by the same amount.

use database::{Dialect, Error, Session, Value};

use super::Builtin;

/// Sums of balances, and of the history's changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::script) struct Sums {
    pub(in crate::script) accounts: i64,
    pub(in crate::script) tellers: i64,
    pub(in crate::script) branches: i64,
    pub(in crate::script) history: i64,
}

impl Sums {
    /// Reads them, in one statement.
    pub(in crate::script) async fn read(session: &mut Session) -> Result<Self, Error> {
        let sum = |column: &str, table: &str| match session.dialect() {
            Dialect::Postgres | Dialect::Sqlite => {
                format!("(SELECT CAST(coalesce(sum({column}), 0) AS bigint) FROM pgbench_{table})")
            }
            Dialect::Mysql => {
                format!("(SELECT CAST(coalesce(sum({column}), 0) AS signed) FROM pgbench_{table})")
            }
            Dialect::ClickHouse | Dialect::DuckDb => crate::named_sql::by_columns(),
            // A sum of its int is one too, and may be too large for it.
            Dialect::SqlServer => {
                format!("(SELECT coalesce(sum(CAST({column} AS bigint)), 0) FROM pgbench_{table})")
            }
        };
        let parts = [
            ("abalance", "accounts"),
            ("tbalance", "tellers"),
            ("bbalance", "branches"),
            ("delta", "history"),
        ]
        .map(|(column, table)| sum(column, table));
        let rows = session.query(&format!("SELECT {}", parts.join(", ")), &[]).await?;
        let numbers: Option<Vec<i64>> = rows.first().and_then(|row| row.iter().map(Value::integer).collect());
        match numbers.as_deref() {
            Some(&[accounts, tellers, branches, history]) => {
                Ok(Self { accounts, tellers, branches, history })
            }
            _ => Err(Error::Statement("the sums of pgbench's tables are not four whole numbers".to_owned())),
        }
    }

    /// What came to them since.
    pub(in crate::script) fn since(self, before: Self) -> Self {
        Self {
            accounts: self.accounts - before.accounts,
            tellers: self.tellers - before.tellers,
            branches: self.branches - before.branches,
            history: self.history - before.history,
        }
    }
}

/// Whether changes are those that these scripts can make, or what is wrong with them.
pub(in crate::script) fn agree(changed: Sums, scripts: &[Builtin]) -> Result<(), String> {
    let Sums { accounts, tellers, branches, history } = changed;
    let is_right = accounts == history
        && tellers == branches
        && (scripts.contains(&Builtin::SimpleUpdate) || accounts == tellers)
        && (scripts.contains(&Builtin::TpcbLike) || tellers == 0)
        && (scripts.iter().any(|script| *script != Builtin::SelectOnly) || accounts == 0);
    if is_right {
        return Ok(());
    }
    Err(format!(
        "balances differ: accounts changed by {accounts}, tellers by {tellers}, branches by {branches}, but the history shows \
        {history}. A transaction was only partly applied, or something else changed the tables"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use Builtin::{SelectOnly, SimpleUpdate, TpcbLike};

    #[test]
    fn changes_are_those_that_the_scripts_make() {
        let sums = |accounts, tellers, branches, history| Sums { accounts, tellers, branches, history };
        for (changed, scripts, is_right) in [
            (sums(5, 5, 5, 5), &[TpcbLike][..], true),
            (sums(5, 5, 5, 5), &[TpcbLike, SelectOnly], true),
            (sums(5, 0, 0, 5), &[SimpleUpdate], true),
            (sums(7, 2, 2, 7), &[SimpleUpdate, TpcbLike], true),
            (sums(0, 0, 0, 0), &[SelectOnly], true),
            (sums(5, 5, 4, 5), &[TpcbLike], false),
            (sums(5, 5, 5, 6), &[TpcbLike], false),
            (sums(7, 2, 2, 7), &[TpcbLike], false),
            (sums(7, 2, 2, 7), &[SimpleUpdate], false),
            (sums(1, 0, 0, 1), &[SelectOnly], false),
        ] {
            assert_eq!(agree(changed, scripts).is_ok(), is_right, "{changed:?} of {scripts:?}");
        }
        let told = agree(sums(5, 5, 4, 5), &[TpcbLike]).unwrap_err();
        assert!(told.contains("branches by 4"), "{told}");
        assert_eq!(sums(5, 4, 3, 2).since(sums(1, 1, 1, 1)), sums(4, 3, 2, 1));
    }
}
