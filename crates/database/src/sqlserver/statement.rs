//! Statements of others: with values by `sp_executesql`, whose plan the server keeps by the text; without, as a batch, in which a
//! transaction can begin or end.

use futures_util::TryStreamExt as _;
use tiberius::error::Error as Driver;
use tiberius::{QueryItem, QueryStream, Row};

use super::{SqlServerSession, fault, statement, values};
use crate::error::{Attempt, Doing};
use crate::{Answer, Error, Protocol, Refusal, Value, Wanted};

/// Has the server tell how many rows the statement before it gave or changed.
const COUNTED: &str = "SELECT @@ROWCOUNT";

/// The last row, and the one before it.
#[derive(Default)]
struct Rows {
    last: Option<Row>,
    before: Option<Row>,
}

impl SqlServerSession {
    pub(crate) async fn statement(
        &mut self,
        sql: &str,
        parameters: &[Value],
        (protocol, wanted): (Protocol, Wanted),
    ) -> Result<Answer, Error> {
        let doing = Doing::Run(sql);
        self.begin(doing).await?;
        // MERGE has to end with a semicolon, and a remark may stand at the end of the line.
        let counted = if wanted == Wanted::Nothing { "" } else { COUNTED };
        let sent = format!("{sql}\n;{counted}");
        let sent = sent.as_str();
        let is_batch = parameters.is_empty() || protocol == Protocol::Simple;
        let run = async {
            match is_batch {
                true => received(self.client.simple_query(sent).await?).await,
                false => received(statement(sent, parameters).query(&mut self.client).await?).await,
            }
        };
        let result = run.await;
        let rows = self.done(result, doing)?;
        if wanted == Wanted::Nothing {
            return Ok(Answer::default());
        }
        told(rows, wanted)
            .map_err(|words| Error::Statement(Attempt { doing, target: &self.target }.text(words, "")))
    }
}

impl SqlServerSession {
    /// Has the server prepare a statement with parameters of the types of these values, and forget it again.
    pub(crate) async fn parse(&mut self, sql: &str, examples: &[Value]) -> Result<Option<Refusal>, Error> {
        let doing = Doing::Run(sql);
        self.begin(doing).await?;
        let parameters: Vec<String> = examples
            .iter()
            .enumerate()
            .map(|(number, value)| format!("@P{} {}", number + 1, type_of(value)))
            .collect();
        let [parameters, text] = [parameters.join(", ").as_str(), sql].map(|text| text.replace('\'', "''"));
        let batch = format!(
            "DECLARE @prony_handle int; EXEC sp_prepare @prony_handle OUTPUT, N'{parameters}', N'{text}'; \
             IF @prony_handle IS NOT NULL EXEC sp_unprepare @prony_handle"
        );
        let result = async { received(self.client.simple_query(batch).await?).await }.await;
        let result = match result {
            Ok(_) => Ok(None),
            Err(Driver::Server(wrong)) if wrong.class() < fault::FATAL => Ok(fault::of_parse(&wrong)),
            Err(error) => Err(error),
        };
        self.done(result, doing)
    }
}

/// The type that a value is sent as.
fn type_of(value: &Value) -> &'static str {
    match value {
        Value::I16(_) | Value::I32(_) | Value::I64(_) => "bigint",
        Value::F64(_) => "float",
        Value::Text(_) | Value::Null => "nvarchar(4000)",
    }
}

async fn received(mut answer: QueryStream<'_>) -> Result<Rows, Driver> {
    let mut rows = Rows::default();
    while let Some(item) = answer.try_next().await? {
        if let QueryItem::Row(row) = item {
            rows.before = rows.last.replace(row);
        }
    }
    Ok(rows)
}

/// The last row is the number of rows.
fn told(rows: Rows, wanted: Wanted) -> Result<Answer, String> {
    let mut found = Answer::default();
    let count = rows.last.and_then(|row| row.into_iter().next()).map(values::received).transpose()?;
    found.rows =
        count.as_ref().and_then(Value::integer).and_then(|rows| u64::try_from(rows).ok()).unwrap_or(0);
    if let (Wanted::Last, Some(row)) = (wanted, rows.before) {
        let names: Vec<String> = row.columns().iter().map(|column| column.name().to_owned()).collect();
        let values: Result<Vec<Value>, String> = row.into_iter().map(values::received_exactly).collect();
        found.last = names.into_iter().zip(values?).collect();
    }
    Ok(found)
}
