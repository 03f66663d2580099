//! How a database is asked for a report: by a statement as a person would write it, or by a call of a procedure in it.

use std::time::Instant;

use database::{Cell, Dialect, Error, Session, Value};
use serde::{Deserialize, Serialize};

use super::answer::Answer;
use super::data::MessageData;
use super::query::{Report, ReportResult};
use crate::named_sql::named;

/// How a report is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// One statement with its values in its text.
    #[default]
    Statement,
    /// A call of a procedure in the database.
    Procedure,
}

impl Access {
    /// Its name in study files and records.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Statement => "statement",
            Self::Procedure => "procedure",
        }
    }

    /// Whether databases of this dialect can be asked so.
    #[must_use]
    pub fn is_of(self, dialect: Dialect) -> bool {
        match self {
            Self::Statement => true,
            Self::Procedure => CALLS.of(dialect).is_some(),
        }
    }
}

/// A dialect's statements, with their values' names in braces.
struct Texts {
    rows: &'static str,
    aggregate: &'static str,
}

impl Texts {
    const fn of(file: &'static str) -> Self {
        Self { rows: named(file, "report_rows"), aggregate: named(file, "report_aggregate") }
    }
}

const SQLITE: Texts = Texts::of(include_str!("sql/sqlite.sql"));
const POSTGRES: Texts = Texts::of(include_str!("sql/postgres.sql"));
const MYSQL: Texts = Texts::of(include_str!("sql/mysql.sql"));
const SQL_SERVER: Texts = Texts::of(include_str!("sql/sqlserver.sql"));

const fn texts(dialect: Dialect) -> &'static Texts {
    match dialect {
        Dialect::Sqlite => &SQLITE,
        Dialect::Postgres => &POSTGRES,
        Dialect::Mysql => &MYSQL,
        Dialect::SqlServer => &SQL_SERVER,
        Dialect::ClickHouse | Dialect::DuckDb => crate::named_sql::by_columns(),
    }
}

/// A dialect's procedures.
#[derive(Debug)]
pub(super) struct Calls {
    /// What makes them.
    pub(super) create: [&'static str; 2],
    rows: &'static str,
    aggregate: &'static str,
}

impl Calls {
    /// Names that a file of a dialect without procedures lacks.
    #[cfg(test)]
    pub(super) const NAMES: [&str; 4] =
        ["create_report_rows", "create_report_aggregate", "call_report_rows", "call_report_aggregate"];

    const fn in_file(file: &'static str) -> Self {
        Self {
            create: [named(file, "create_report_rows"), named(file, "create_report_aggregate")],
            rows: named(file, "call_report_rows"),
            aggregate: named(file, "call_report_aggregate"),
        }
    }
}

/// The procedures of all dialects that have such.
#[derive(Debug)]
pub(super) struct AllCalls {
    postgres: Calls,
    mysql: Calls,
    sql_server: Calls,
}

pub(super) static CALLS: AllCalls = AllCalls {
    postgres: Calls::in_file(include_str!("sql/postgres.sql")),
    mysql: Calls::in_file(include_str!("sql/mysql.sql")),
    sql_server: Calls::in_file(include_str!("sql/sqlserver.sql")),
};

impl AllCalls {
    /// Those of a dialect; SQLite has no procedures.
    pub(super) fn of(&self, dialect: Dialect) -> Option<&Calls> {
        match dialect {
            Dialect::Sqlite => None,
            Dialect::Postgres => Some(&self.postgres),
            Dialect::Mysql => Some(&self.mysql),
            Dialect::SqlServer => Some(&self.sql_server),
            Dialect::ClickHouse | Dialect::DuckDb => crate::named_sql::by_columns(),
        }
    }
}

/// A report as one database is asked for it, again and again.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    pub(super) sql: String,
    parameters: Vec<Value>,
    /// The same question as one statement, with its values in its text.
    statement: String,
    /// Those values.
    literals: Vec<String>,
    pub(super) access: Access,
}

/// An answer, and when its first row was there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answered {
    /// The answer.
    pub answer: Answer,
    /// When its first row had come; none of an answer without rows.
    pub first_row: Option<Instant>,
}

impl Question {
    /// Of a report, by an access; none where a dialect has no such.
    #[must_use]
    pub fn of(report: &Report, data: &MessageData, dialect: Dialect, access: Access) -> Option<Self> {
        let texts = texts(dialect);
        let text = match report.result {
            ReportResult::Rows => texts.rows,
            ReportResult::Aggregate => texts.aggregate,
        };
        let literals = literals(report, data).to_vec();
        let statement = filled(text, &literals);
        let (sql, parameters) = match access {
            Access::Statement => (statement.clone(), Vec::new()),
            Access::Procedure => {
                let calls = CALLS.of(dialect)?;
                let sql = match report.result {
                    ReportResult::Rows => calls.rows,
                    ReportResult::Aggregate => calls.aggregate,
                };
                (sql.to_owned(), report.parameters(data).to_vec())
            }
        };
        Some(Self { sql, parameters, statement, literals, access })
    }

    /// As one statement with its values in its text, however it is asked.
    pub(super) fn statement(&self) -> &str {
        &self.statement
    }

    /// What stands in that text of the report's values, so that plans of others can be told alike.
    pub(super) fn literals(&self) -> &[String] {
        &self.literals
    }

    /// What is sent.
    #[must_use]
    pub fn sql(&self) -> &str {
        &self.sql
    }

    /// Has the database answer. All rows are read, none is kept.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn ask(&self, session: &mut Session) -> Result<Answered, Error> {
        let add = |answered: &mut Answered, row: &[Cell<'_>]| {
            if answered.first_row.is_none() {
                answered.first_row = Some(Instant::now());
            }
            answered.answer.add(row);
        };
        session.fold(&self.sql, &self.parameters, Answered::default(), add).await
    }
}

/// A report's values as they stand in a text. Patterns have no character that would end a literal, see [`super::Pattern`].
fn literals(report: &Report, data: &MessageData) -> [String; 4] {
    [
        data.time_us(report.messages.start).to_string(),
        data.time_us(report.messages.end).to_string(),
        format!("'{}'", report.department),
        format!("'{}'", report.classification),
    ]
}

/// A text with its values in it.
fn filled(text: &str, literals: &[String]) -> String {
    let names = ["{from_us}", "{to_us}", "{department}", "{classification}"];
    names.iter().zip(literals).fold(text.to_owned(), |text, (name, literal)| text.replace(name, literal))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reporting::Standing;

    #[test]
    fn a_statement_has_all_of_its_values_and_a_call_has_them_beside_it() {
        let data = MessageData::new(Standing { events: 1_000, days: 30, subject_bytes: 0, seed: 1 });
        let report = Report {
            department: "sales-%".parse().unwrap(),
            ..Report::of_share(&data, 0.1, ReportResult::Rows)
        };
        for dialect in [Dialect::Sqlite, Dialect::Postgres, Dialect::Mysql, Dialect::SqlServer] {
            let question = Question::of(&report, &data, dialect, Access::Statement).unwrap();
            for part in
                [data.time_us(450).to_string(), data.time_us(550).to_string(), "LIKE 'sales-%'".to_owned()]
            {
                assert!(question.sql.contains(&part), "{dialect:?}: {}", question.sql);
            }
            assert!(!question.sql.contains(['{', '$', '?', '@']), "{dialect:?}: {}", question.sql);
            let call = Question::of(&report, &data, dialect, Access::Procedure);
            assert_eq!(call.is_some(), Access::Procedure.is_of(dialect), "{dialect:?}");
            assert!(call.is_none_or(|call| call.parameters.len() == 4), "{dialect:?}");
        }
    }
}
