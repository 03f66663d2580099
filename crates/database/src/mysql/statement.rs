//! Statements of others, by each of the ways of MySQL's protocol.

use super::values::NamedValues;
use super::wire::{AnswerKind, Conn, DriverError, DriverResult, Parameters};
use super::{MysqlSession, fault, values};
use crate::error::{Attempt, Doing};
use crate::{Answer, Error, Protocol, Refusal, Value, Wanted};

/// `ER_UNSUPPORTED_PS`: the server prepares no such statement.
const NOT_PREPARED: u16 = 1295;

/// What came: the number of rows, and the last of them where it was wanted.
#[derive(Default)]
struct Came {
    rows: u64,
    last: Option<NamedValues>,
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
        let last = came.last.transpose();
        let unread = |words| Error::Statement(Attempt { doing, target: &self.target }.text(words, ""));
        Ok(Answer { rows: came.rows, last: last.map_err(unread)?.unwrap_or_default(), ..Answer::default() })
    }

    /// Has the server prepare a statement, and forget it again.
    pub(crate) async fn parse(&mut self, sql: &str) -> Result<Option<Refusal>, Error> {
        let doing = Doing::Run(sql);
        self.begin(doing).await?;
        let parsed = match self.conn.prepare(sql).await {
            Ok(statement) => {
                self.conn.close(statement);
                Ok(None)
            }
            Err(DriverError::Server(wrong)) => Ok(fault::refusal(&wrong)),
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
                Ok(()) => {
                    let result = match self.started(sql, parameters).await {
                        Ok(first) => came(&mut self.conn, first, asked).await,
                        Err(error) => Err(error),
                    };
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
pub(super) fn cannot_be_prepared(error: &DriverError) -> bool {
    matches!(error, DriverError::Server(error) if error.code == NOT_PREPARED)
}

async fn parsed_anew(conn: &mut Conn, sql: &str, parameters: &[Value], asked: Asked) -> DriverResult<Came> {
    let mut statement = conn.prepare(sql).await?;
    let put = |put: &mut Parameters<'_>| parameters.iter().for_each(|value| put.put(value.cell()));
    let answer = match conn.execute(&mut statement, put).await {
        Ok(first) => came(conn, first, asked).await,
        Err(error) => Err(error),
    };
    conn.close(statement);
    answer
}

async fn text(conn: &mut Conn, sql: &str, asked: Asked) -> DriverResult<Came> {
    let first = conn.query(sql).await?;
    came(conn, first, asked).await
}

/// Of several statements in one text the last one's answer is given.
async fn came(conn: &mut Conn, first: AnswerKind, asked: Asked) -> DriverResult<Came> {
    let mut came = Came::default();
    let mut had_rows = false;
    let mut next = Some(first);
    while let Some(kind) = next {
        let has_rows = kind == AnswerKind::Rows;
        let (mut count, mut kept) = (0, Vec::new());
        while conn.next_row().await? {
            count += 1;
            if asked.wanted == Wanted::Last {
                conn.row().keep_in(&mut kept);
            }
        }
        let last = (!kept.is_empty()).then(|| values::named_exactly(conn.kept_row(&kept))).transpose()?;
        if has_rows || !(asked.is_call && had_rows) {
            came = Came { rows: if has_rows { count } else { conn.affected_rows() }, last };
        }
        had_rows |= has_rows;
        next = conn.next_answer().await?;
    }
    Ok(came)
}
