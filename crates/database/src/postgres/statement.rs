//! Statements of others, by each of PostgreSQL's ways of sending one.

use std::error::Error as StdError;
use std::fmt::Write as _;
use std::pin::pin;

use bytes::BytesMut;
use futures_util::StreamExt as _;
use tokio_postgres::types::{Format, IsNull, ToSql, Type, to_sql_checked};
use tokio_postgres::{Row, RowStream, SimpleQueryMessage};

use super::PostgresSession;
use super::values::Exact;
use crate::error::Doing;
use crate::{Answer, Error, Protocol, Value, Wanted};

/// A value as the text that people write: the server makes of it what the statement needs there, as it does for libpq.
#[derive(Debug)]
struct AsText<'a>(&'a Value);

impl ToSql for AsText<'_> {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn StdError + Sync + Send>> {
        match self.0 {
            Value::Null => return Ok(IsNull::Yes),
            Value::I16(number) => write!(out, "{number}")?,
            Value::I32(number) => write!(out, "{number}")?,
            Value::I64(number) => write!(out, "{number}")?,
            Value::F64(number) => write!(out, "{number}")?,
            Value::Text(text) => out.extend_from_slice(text.as_bytes()),
        }
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    fn encode_format(&self, _: &Type) -> Format {
        Format::Text
    }

    to_sql_checked!();
}

impl PostgresSession {
    pub(crate) async fn statement(
        &mut self,
        sql: &str,
        parameters: &[Value],
        (protocol, wanted): (Protocol, Wanted),
    ) -> Result<Answer, Error> {
        self.settle().await?;
        match protocol {
            Protocol::Simple => self.as_text(sql, wanted).await,
            Protocol::Extended => {
                let typed = parameters.iter().map(|value| (AsText(value), Type::UNKNOWN));
                let run = async { answer(self.client.query_typed_raw(sql, typed).await?, wanted).await };
                let result = run.await;
                result.map_err(|error| self.failed(&error, Doing::Run(sql)))
            }
            Protocol::Prepared => {
                let statement = self.prepare(sql, parameters).await?;
                let run = async {
                    answer(self.client.query_raw(&statement, parameters.iter().map(AsText)).await?, wanted)
                        .await
                };
                let result = run.await;
                result.map_err(|error| self.forget(sql, &error))
            }
        }
    }

    /// Of several statements in one text the last one's answer is given.
    async fn as_text(&mut self, sql: &str, wanted: Wanted) -> Result<Answer, Error> {
        let run = async {
            let mut messages = pin!(self.client.simple_query_raw(sql).await?);
            let (mut last, mut of_rows, mut found) = (None, false, Answer::default());
            while let Some(message) = messages.next().await {
                match message? {
                    SimpleQueryMessage::Row(row) if wanted == Wanted::Last => last = Some(row),
                    SimpleQueryMessage::RowDescription(_) => of_rows = true,
                    SimpleQueryMessage::CommandComplete(rows) => {
                        found.rows = rows;
                        // A row is that of the statement which ends here.
                        if !std::mem::take(&mut of_rows) || rows == 0 {
                            last = None;
                        }
                    }
                    SimpleQueryMessage::Row(_) | _ => {}
                }
            }
            if let Some(row) = last {
                let value = |(index, column): (usize, &tokio_postgres::SimpleColumn)| {
                    let value = row.get(index).map_or(Value::Null, |text| Value::Text(text.to_owned()));
                    (column.name().to_owned(), value)
                };
                found.last = row.columns().iter().enumerate().map(value).collect();
            }
            Ok(found)
        };
        let result: Result<Answer, tokio_postgres::Error> = run.await;
        result.map_err(|error| self.failed(&error, Doing::Run(sql)))
    }
}

async fn answer(rows: RowStream, wanted: Wanted) -> Result<Answer, tokio_postgres::Error> {
    let mut rows = pin!(rows);
    let (mut count, mut last): (u64, Option<Row>) = (0, None);
    while let Some(row) = rows.next().await {
        let row = row?;
        count += 1;
        if wanted == Wanted::Last {
            last = Some(row);
        }
    }
    let mut found = Answer { rows: rows.rows_affected().unwrap_or(count), last: Vec::new() };
    if let Some(row) = last {
        for (index, column) in row.columns().iter().enumerate() {
            found.last.push((column.name().to_owned(), row.try_get::<_, Exact>(index)?.0));
        }
    }
    Ok(found)
}
