//! Statements of others, by each of the ways of MySQL's protocol.

use mysql_async::prelude::{Protocol as Encoding, Queryable as _};
use mysql_async::{Conn, QueryResult, Row, Statement};

use super::{MysqlSession, fault, values};
use crate::error::{Attempt, Doing};
use crate::{Answer, Error, Protocol, Refusal, Value, Wanted};

/// `ER_UNSUPPORTED_PS`: the server prepares no such statement.
const NOT_PREPARED: u16 = 1295;

/// What came: the number of rows, and the last of them where it was wanted.
#[derive(Default)]
struct Came {
    rows: u64,
    last: Option<Row>,
}

/// What is wanted of what is sent.
#[derive(Clone, Copy)]
struct Asked {
    wanted: Wanted,
    /// A procedure that selects ends with an answer of its own, which has no rows and does not count.
    is_call: bool,
}

impl MysqlSession {
    pub(crate) async fn statement(
        &mut self,
        sql: &str,
        parameters: &[Value],
        (protocol, wanted): (Protocol, Wanted),
    ) -> Result<Answer, Error> {
        let doing = Doing::Run(sql);
        let is_call = sql.trim_start().get(..4).is_some_and(|word| word.eq_ignore_ascii_case("call"));
        let came = self.came(sql, parameters, protocol, Asked { wanted, is_call }).await?;
        let last = came.last.map(|row| {
            let names: Vec<String> =
                row.columns_ref().iter().map(|column| column.name_str().into_owned()).collect();
            values::received_exactly(row).map(|values| names.into_iter().zip(values).collect())
        });
        let last: Result<Option<Vec<(String, Value)>>, String> = last.transpose();
        let unread = |words| Error::Statement(Attempt { doing, target: &self.target }.text(words, ""));
        Ok(Answer { rows: came.rows, last: last.map_err(unread)?.unwrap_or_default(), ..Answer::default() })
    }

    /// Has the server prepare a statement, and forget it again.
    pub(crate) async fn parse(&mut self, sql: &str) -> Result<Option<Refusal>, Error> {
        let doing = Doing::Run(sql);
        self.begin(doing).await?;
        let parsed = match self.conn.prep(sql).await {
            Ok(statement) => self.conn.close(statement).await.map(|()| None),
            Err(mysql_async::Error::Server(wrong)) => Ok(fault::refusal(&wrong)),
            Err(error) => Err(error),
        };
        self.done(parsed, doing)
    }

    async fn came(
        &mut self,
        sql: &str,
        parameters: &[Value],
        protocol: Protocol,
        asked: Asked,
    ) -> Result<Came, Error> {
        let doing = Doing::Run(sql);
        let protocol = if self.unprepared.contains(sql) { Protocol::Simple } else { protocol };
        if protocol == Protocol::Prepared {
            match self.prepare(sql, parameters).await {
                Ok(statement) => {
                    let result = executed(&mut self.conn, statement, parameters, asked).await;
                    return self.done(result, doing);
                }
                Err(_) if self.unprepared.contains(sql) && parameters.is_empty() => {}
                Err(error) => return Err(error),
            }
        }
        self.begin(doing).await?;
        let mut result = match protocol {
            Protocol::Extended => parsed_anew(&mut self.conn, sql, parameters, asked).await,
            Protocol::Simple | Protocol::Prepared => text(&mut self.conn, sql, asked).await,
        };
        if result.as_ref().is_err_and(cannot_be_prepared) && parameters.is_empty() {
            self.unprepared.insert(sql.to_owned());
            result = text(&mut self.conn, sql, asked).await;
        }
        self.done(result, doing)
    }
}

/// Whether a statement failed because it can only be sent as text.
pub(super) fn cannot_be_prepared(error: &mysql_async::Error) -> bool {
    matches!(error, mysql_async::Error::Server(error) if error.code == NOT_PREPARED)
}

async fn executed(
    conn: &mut Conn,
    statement: Statement,
    parameters: &[Value],
    asked: Asked,
) -> mysql_async::Result<Came> {
    let parameters = values::parameters(parameters.iter().map(Value::cell));
    came(conn.exec_iter(statement, parameters).await?, asked).await
}

async fn parsed_anew(
    conn: &mut Conn,
    sql: &str,
    parameters: &[Value],
    asked: Asked,
) -> mysql_async::Result<Came> {
    let statement = conn.prep(sql).await?;
    let answer = executed(conn, statement.clone(), parameters, asked).await;
    conn.close(statement).await?;
    answer
}

async fn text(conn: &mut Conn, sql: &str, asked: Asked) -> mysql_async::Result<Came> {
    came(conn.query_iter(sql).await?, asked).await
}

/// Of several statements in one text the last one's answer is given.
async fn came<P: Encoding>(mut result: QueryResult<'_, '_, P>, asked: Asked) -> mysql_async::Result<Came> {
    let mut came = Came::default();
    let mut had_rows = false;
    loop {
        let has_rows = !result.columns_ref().is_empty();
        let changed = result.affected_rows();
        let (mut count, mut last) = (0, None);
        while let Some(row) = result.next().await? {
            count += 1;
            if asked.wanted == Wanted::Last {
                last = Some(row);
            }
        }
        if has_rows || !(asked.is_call && had_rows) {
            came = Came { rows: if has_rows { count } else { changed }, last };
        }
        had_rows |= has_rows;
        if result.is_empty() {
            // The driver keeps an error that comes after rows, as of a procedure that selects, for whoever asks next.
            result.next().await?;
            return Ok(came);
        }
    }
}
