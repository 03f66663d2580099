//! How a server goes about a report, so that one that changes its mind is told.

use database::{Dialect, Error, Session, Value};
use record::QueryPlan;

use super::answer::RowMix;
use super::ask::{Access, Question};

/// Most of a plan's text that is kept.
const TEXT_MAX: usize = 16_384;

/// SQL Server keeps the plans of what was run, procedures' too. The newest one of a report's statement is that of the last report.
const SQL_SERVER: &str = "SELECT TOP (1) CONVERT(varchar(34), stats.query_plan_hash, 1), CAST(shown.query_plan AS nvarchar(max))
FROM sys.dm_exec_query_stats stats
CROSS APPLY sys.dm_exec_sql_text(stats.sql_handle) ran
CROSS APPLY sys.dm_exec_text_query_plan(stats.plan_handle, stats.statement_start_offset, stats.statement_end_offset) shown
WHERE ran.text LIKE '%FROM messages message%' AND ran.text NOT LIKE '%dm_exec_query_stats%'
ORDER BY stats.last_execution_time DESC";

/// The plan of the report that was asked for last; none where the server keeps none. See [`proviso`].
pub(super) async fn plan(session: &mut Session, question: &Question) -> Result<Option<QueryPlan>, Error> {
    let (explain, line): (&str, fn(&[Value]) -> String) = match session.dialect() {
        Dialect::SqlServer => return of_sql_server(session).await,
        Dialect::Postgres => ("EXPLAIN (COSTS OFF) ", of_postgres),
        Dialect::Sqlite => ("EXPLAIN QUERY PLAN ", of_sqlite),
        Dialect::Mysql => ("EXPLAIN ", of_mysql),
        Dialect::ClickHouse | Dialect::DuckDb => crate::named_sql::by_columns(),
    };
    let rows = session.query(&format!("{explain}{}", question.statement()), &[]).await?;
    let lines: Vec<String> = rows.iter().map(|row| line(row)).collect();
    Ok(Some(shown(&lines.join("\n"), question.literals())))
}

/// What is to be said of plans that are not those of what was asked: of what a procedure runs most servers tell none.
pub(super) fn proviso(dialect: Dialect, access: Access) -> Option<&'static str> {
    match (dialect, access) {
        (_, Access::Statement) | (Dialect::Sqlite | Dialect::SqlServer, Access::Procedure) => None,
        // <https://www.postgresql.org/docs/current/plpgsql-implementation.html#PLPGSQL-PLAN-CACHING>
        (Dialect::Postgres, Access::Procedure) => Some(
            "The plans are those of the report as one statement with the same values, because the server shows no plans of \
            procedures. After five calls in a session, the server may plan the procedure without regard to the values.",
        ),
        (Dialect::Mysql, Access::Procedure) => Some(
            "The plans are those of the report as one statement with the same values, because the server shows no plans of procedures.",
        ),
        (Dialect::ClickHouse | Dialect::DuckDb, Access::Procedure) => crate::named_sql::by_columns(),
    }
}

async fn of_sql_server(session: &mut Session) -> Result<Option<QueryPlan>, Error> {
    let rows = session.query(SQL_SERVER, &[]).await?;
    let mut row = rows.into_iter().next().unwrap_or_default().into_iter();
    let (hash, text) = (row.next(), row.next());
    let (Some(Value::Text(hash)), Some(Value::Text(text))) = (hash, text) else { return Ok(None) };
    Ok(Some(QueryPlan { hash, text: cut(&text) }))
}

/// A plan that is known by its text, whatever the values in it.
fn shown(text: &str, literals: &[String]) -> QueryPlan {
    let mut mix = RowMix::default();
    let without = literals.iter().fold(text.to_owned(), |text, literal| text.replace(literal.as_str(), "?"));
    mix.text(&without);
    QueryPlan { hash: format!("{:016x}", mix.sum()), text: cut(text) }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(TEXT_MAX) {
        None => text.to_owned(),
        Some((end, _)) => format!("{} …", &text[..end]),
    }
}

fn text(value: Option<&Value>) -> String {
    match value {
        Some(Value::Text(text)) => text.clone(),
        Some(Value::Null) | None => String::new(),
        Some(value) => value.integer().map(|number| number.to_string()).unwrap_or_default(),
    }
}

fn of_postgres(row: &[Value]) -> String {
    text(row.first())
}

/// Of id, parent, a number without meaning, and the words.
fn of_sqlite(row: &[Value]) -> String {
    text(row.get(3))
}

/// MariaDB has ten columns (id, select_type, table, type, possible_keys, key, key_len, ref, rows, Extra), MySQL also `partitions` after
/// the table and `filtered` after the rows. Estimates of rows are left out.
fn of_mysql(row: &[Value]) -> String {
    let of_type = if row.len() > 10 { 4 } else { 3 };
    let [table, kind, key, referred] = [2, of_type, of_type + 2, of_type + 4].map(|at| text(row.get(at)));
    let words = [("", kind), ("key ", key), ("by ", referred), ("", text(row.last()))];
    let words = words.into_iter().filter(|(_, word)| !word.is_empty());
    let words: Vec<String> = words.map(|(what, word)| format!("{what}{word}")).collect();
    format!("{table}: {}", words.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cells: &[&str]) -> Vec<Value> {
        cells
            .iter()
            .map(|&cell| if cell.is_empty() { Value::Null } else { Value::Text(cell.to_owned()) })
            .collect()
    }

    #[test]
    fn mysql_and_mariadb_show_the_same_plan_alike() {
        let mariadb = row(&[
            "1",
            "SIMPLE",
            "message",
            "range",
            "a,b",
            "messages_sent",
            "8",
            "",
            "95828",
            "Using where",
        ]);
        let mysql = row(&[
            "1",
            "SIMPLE",
            "message",
            "",
            "range",
            "a,b",
            "messages_sent",
            "8",
            "",
            "91000",
            "100.00",
            "Using where",
        ]);
        assert_eq!(of_mysql(&mariadb), "message: range, key messages_sent, Using where");
        assert_eq!(of_mysql(&mysql), of_mysql(&mariadb));
    }

    #[test]
    fn plans_are_told_apart_by_their_texts() {
        let shown = |text: &str| shown(text, &["1592".to_owned()]);
        let (seek, scan) =
            (shown("Index Scan using messages_sent, from 1592"), shown("Seq Scan on messages"));
        assert_ne!(seek.hash, scan.hash);
        assert_eq!(seek, shown("Index Scan using messages_sent, from 1592"));
        assert_eq!(
            seek.hash,
            shown("Index Scan using messages_sent, from ?").hash,
            "another value is no other plan"
        );
        let long = shown(&"é".repeat(TEXT_MAX + 1));
        assert!(
            long.text.ends_with("é …") && long.text.chars().count() == TEXT_MAX + 2,
            "{}",
            long.text.len()
        );
    }
}
