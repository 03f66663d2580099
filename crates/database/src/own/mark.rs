//! The mark in a database that says whose it is: a table of one row.

use ownership::{Mark, RunId};

use super::administration::filled;
use super::file;
use crate::{Dialect, Error, Session, Value, mysql, postgres, sqlserver};

/// Makes the `{table}` of a mark, `{made_by}`, `{held_by}` and `{is_transient}`, with the type of a `{moment}`.
const MAKE: &str = "CREATE TABLE {table} (tool varchar(40) NOT NULL, \
    created_at {moment} NOT NULL DEFAULT CURRENT_TIMESTAMP, made_by varchar(32) NOT NULL, held_by varchar(32) NOT NULL, \
    is_transient smallint NOT NULL); INSERT INTO {table} (tool, made_by, held_by, is_transient) \
    VALUES ('prony', '{made_by}', '{held_by}', {is_transient})";

/// The same on ClickHouse, where the last row counts: rows are changed by nothing that is done when it is answered.
const MAKE_ON_CLICKHOUSE: &str = "CREATE TABLE {table} (number UInt64, tool String, created_at DateTime DEFAULT now(), \
    made_by String, held_by String, is_transient UInt8) ENGINE = MergeTree ORDER BY number;\n\
    INSERT INTO {table} (number, tool, made_by, held_by, is_transient) \
    VALUES (0, 'prony', '{made_by}', '{held_by}', {is_transient})";

/// The statements that make a mark, as a table of this name.
pub(super) fn made(dialect: Dialect, table: &str, mark: &Mark) -> String {
    let (make, moment) = match dialect {
        Dialect::Sqlite | Dialect::Postgres | Dialect::Mysql => (MAKE, "timestamp"),
        // There a timestamp is none of a time.
        Dialect::SqlServer => (MAKE, "datetime2"),
        // The time is one with a zone, and another type would want an extension to take it.
        Dialect::DuckDb => (MAKE, "timestamptz"),
        Dialect::ClickHouse => (MAKE_ON_CLICKHOUSE, ""),
    };
    let is_transient = if mark.is_transient { "1" } else { "0" };
    filled(
        make,
        &[
            ("table", table),
            ("moment", moment),
            ("made_by", text(&mark.made_by)),
            ("held_by", text(&mark.held_by)),
            ("is_transient", is_transient),
        ],
    )
}

fn count_marks(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Sqlite => file::COUNT_MARKS,
        Dialect::DuckDb => file::COUNT_MARKS_OF_DUCKDB,
        Dialect::Postgres => postgres::ADMINISTRATION.count_marks,
        Dialect::Mysql => mysql::ADMINISTRATION.count_marks,
        Dialect::SqlServer => sqlserver::ADMINISTRATION.count_marks,
        Dialect::ClickHouse => {
            "SELECT count() FROM system.tables WHERE database = currentDatabase() AND name = 'prony_mark'"
        }
    }
}

/// The table of a mark.
pub(super) const TABLE: &str = "prony_mark";

/// What a true mark says.
const READ: &str = "SELECT made_by, held_by, is_transient FROM prony_mark WHERE tool = 'prony'";
/// The same where the last row counts.
const READ_LAST: &str =
    "SELECT made_by, held_by, is_transient FROM prony_mark WHERE tool = 'prony' ORDER BY number DESC LIMIT 1";
/// Rows of a mark as older versions made it, which names no run.
const COUNT_OLD: &str = "SELECT count(*) FROM prony_mark WHERE tool = 'prony'";

/// A run as a mark has it.
pub(super) fn text(run: &Option<RunId>) -> &str {
    run.as_ref().map_or("", RunId::as_str)
}

/// The mark of the database of a session; none if it has none.
pub(super) async fn read(session: &mut Session) -> Result<Option<Mark>, Error> {
    let one = [[Value::I64(1)]];
    if session.query(count_marks(session.dialect()), &[]).await? != one {
        return Ok(None);
    }
    let read = if session.dialect() == Dialect::ClickHouse { READ_LAST } else { READ };
    match session.query(read, &[]).await {
        Ok(rows) => Ok(mark(&rows)),
        Err(Error::Statement(_) | Error::Denied(_)) => {
            let is_old = session.query(COUNT_OLD, &[]).await? == one;
            Ok(is_old.then_some(Mark { made_by: None, held_by: None, is_transient: false }))
        }
        Err(error) => Err(error),
    }
}

/// Whether the database of a session is the one that a run holds.
pub(super) async fn is_held_by(session: &mut Session, run: &RunId) -> Result<bool, Error> {
    let last = match session.dialect() {
        Dialect::ClickHouse => " AND number = (SELECT max(number) FROM prony_mark)",
        Dialect::Sqlite | Dialect::Postgres | Dialect::Mysql | Dialect::SqlServer | Dialect::DuckDb => "",
    };
    let sql = format!("SELECT count(*) FROM prony_mark WHERE held_by = '{run}'{last}");
    match session.query(&sql, &[]).await {
        Err(Error::Statement(_) | Error::Denied(_)) => Ok(false),
        other => Ok(other? == [[Value::I64(1)]]),
    }
}

/// What the one row of a mark says. Somebody else's table of this name has none, or others.
fn mark(rows: &[Vec<Value>]) -> Option<Mark> {
    let [row] = rows else { return None };
    let [Value::Text(made_by), Value::Text(held_by), Value::I64(is_transient)] = &row[..] else {
        return None;
    };
    Some(Mark {
        made_by: made_by.parse().ok(),
        held_by: held_by.parse().ok(),
        is_transient: *is_transient != 0,
    })
}

/// Writes into the mark that a run has taken the database up. What another run made is kept from then on. A mark `is_old`
/// that was made before marks told runs.
pub(super) async fn hold(session: &mut Session, run: &RunId, is_old: bool) -> Result<(), Error> {
    let columns: &[&str] = if is_old {
        &[
            "made_by varchar(32) NOT NULL DEFAULT ''",
            "held_by varchar(32) NOT NULL DEFAULT ''",
            "is_transient smallint NOT NULL DEFAULT 0",
        ]
    } else {
        &[]
    };
    let add_column = match session.dialect() {
        Dialect::Sqlite | Dialect::Postgres | Dialect::Mysql | Dialect::DuckDb => {
            "ALTER TABLE prony_mark ADD COLUMN {column}"
        }
        Dialect::SqlServer => "ALTER TABLE prony_mark ADD {column}",
        Dialect::ClickHouse => {
            let sql = format!(
                "INSERT INTO prony_mark (number, tool, made_by, held_by, is_transient) \
                 SELECT number + 1, tool, made_by, '{run}', if(made_by = '{run}', is_transient, 0) \
                 FROM prony_mark ORDER BY number DESC LIMIT 1"
            );
            return session.script(&sql).await;
        }
    };
    for column in columns {
        // It may be there from a run that was killed between two of them; if it is not, the next statement says so.
        if let Err(error) = session.script(&filled(add_column, &[("column", column)])).await
            && error.is_lost()
        {
            return Err(error);
        }
    }
    let sql = format!(
        "UPDATE prony_mark SET is_transient = CASE WHEN made_by = '{run}' THEN is_transient ELSE 0 END, held_by = '{run}'"
    );
    session.script(&sql).await?;
    make_durable(session).await
}

/// A server with `innodb_flush_log_at_trx_commit = 0` would lose the mark with its last second, and the run could then not count what
/// else was lost. `FLUSH ENGINE LOGS` flushes nothing there, but a change of a table is always flushed.
async fn make_durable(session: &mut Session) -> Result<(), Error> {
    if session.dialect() != Dialect::Mysql {
        return Ok(());
    }
    match session.query("SELECT @@GLOBAL.innodb_flush_log_at_trx_commit", &[]).await {
        Ok(flushes) if flushes != [[Value::I64(1)]] => session.script("ALTER TABLE prony_mark FORCE").await,
        Err(error) if error.is_lost() => Err(error),
        // A server without InnoDB has no such variable.
        Ok(_) | Err(_) => Ok(()),
    }
}
