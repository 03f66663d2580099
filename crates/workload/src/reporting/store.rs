//! The tables in a database: made, filled and asked. Each dialect's statements stand in its file.

use std::ops::Range;

use database::{Dialect, Rows, Session, Table, Value, WriteMethod};

use super::answer::Answer;
use super::data::MessageData;
use super::query::{Report, ReportResult};
use super::tables::{
    CLASSES, CLASSIFICATIONS, DEPARTMENT_NAMES, DEPARTMENTS, DOMAIN_COUNT, DOMAINS, MESSAGES, domain_name,
};
use crate::named_sql::named;

/// Rows of a transaction.
const PIECE_ROWS: usize = 10_000;

/// What a dialect's file has.
struct Statements {
    create: &'static str,
    indexes: &'static str,
    rows: &'static str,
    aggregate: &'static str,
}

impl Statements {
    const fn of(file: &'static str) -> Self {
        Self {
            create: named(file, "create"),
            indexes: named(file, "indexes"),
            rows: named(file, "report_rows"),
            aggregate: named(file, "report_aggregate"),
        }
    }
}

const SQLITE: Statements = Statements::of(include_str!("sql/sqlite.sql"));
const POSTGRES: Statements = Statements::of(include_str!("sql/postgres.sql"));
const MYSQL: Statements = Statements::of(include_str!("sql/mysql.sql"));
const SQL_SERVER: Statements = Statements::of(include_str!("sql/sqlserver.sql"));

const fn statements(dialect: Dialect) -> &'static Statements {
    match dialect {
        Dialect::Sqlite => &SQLITE,
        Dialect::Postgres => &POSTGRES,
        Dialect::Mysql => &MYSQL,
        Dialect::SqlServer => &SQL_SERVER,
    }
}

/// Makes the tables, without indexes, and fills those of names.
///
/// # Errors
/// Those of the database.
pub async fn create(session: &mut Session) -> Result<(), database::Error> {
    session.script(statements(session.dialect()).create).await?;
    let domains = (1..=DOMAIN_COUNT).map(domain_name);
    append_names(session, &DOMAINS, domains).await?;
    append_names(session, &DEPARTMENTS, DEPARTMENT_NAMES.map(str::to_owned)).await?;
    append_names(session, &CLASSIFICATIONS, CLASSES.map(|(name, _)| name.to_owned())).await
}

async fn append_names(
    session: &mut Session,
    table: &'static Table,
    names: impl IntoIterator<Item = String>,
) -> Result<(), database::Error> {
    let mut rows = Rows::with_capacity(2, 0);
    for (key, name) in (1..).zip(names) {
        rows.push([Value::I32(key), Value::Text(name)]);
    }
    session.append(table, &mut rows, WriteMethod::Bulk).await
}

/// Appends messages, then makes indexes and statistics. `on_rows` hears of rows that were committed.
///
/// # Errors
/// Those of the database.
pub async fn fill(
    session: &mut Session,
    data: &MessageData,
    on_rows: &mut dyn FnMut(u64),
) -> Result<(), database::Error> {
    let mut rows = Rows::with_capacity(MESSAGES.columns.len(), PIECE_ROWS);
    for piece in pieces(data.events()) {
        rows.clear();
        data.write(piece, &mut rows);
        session.append(&MESSAGES, &mut rows, WriteMethod::Bulk).await?;
        on_rows(rows.len() as u64);
    }
    session.script(statements(session.dialect()).indexes).await
}

fn pieces(events: u64) -> impl Iterator<Item = Range<u64>> {
    (0..events).step_by(PIECE_ROWS).map(move |first| first..events.min(first + PIECE_ROWS as u64))
}

/// Has the database answer a report by one statement. All rows are read, none is kept.
///
/// # Errors
/// Those of the database.
pub async fn ask(session: &mut Session, report: &Report) -> Result<Answer, database::Error> {
    let statements = statements(session.dialect());
    let sql = match report.result {
        ReportResult::Rows => statements.rows,
        ReportResult::Aggregate => statements.aggregate,
    };
    session.fold(sql, &report.parameters(), Answer::default(), Answer::add).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_all_messages_once() {
        for events in [0, 1, 9_999, 10_000, 10_001, 30_000] {
            let numbers: Vec<u64> = pieces(events).flatten().collect();
            assert_eq!(numbers, (0..events).collect::<Vec<_>>());
        }
    }

    #[test]
    fn every_file_has_the_same_statements() {
        let files = [
            (Dialect::Sqlite, include_str!("sql/sqlite.sql")),
            (Dialect::Postgres, include_str!("sql/postgres.sql")),
            (Dialect::Mysql, include_str!("sql/mysql.sql")),
            (Dialect::SqlServer, include_str!("sql/sqlserver.sql")),
        ];
        crate::named_sql::check_files(&files, |_| Vec::new(), include_str!("store.rs"));
    }
}
