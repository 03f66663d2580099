//! Statements of others, by each of the ways of MySQL's protocol.

use mysql_async::prelude::{Protocol as Encoding, Queryable as _};
use mysql_async::{Conn, QueryResult, Row};

use super::{MysqlSession, values};
use crate::error::Doing;
use crate::{Answer, Error, Protocol, Value, Wanted};

/// `ER_UNSUPPORTED_PS`: the server prepares no such statement.
const NOT_PREPARED: u16 = 1295;

impl MysqlSession {
    pub(crate) async fn statement(
        &mut self,
        sql: &str,
        parameters: &[Value],
        (protocol, wanted): (Protocol, Wanted),
    ) -> Result<Answer, Error> {
        let doing = Doing::Run(sql);
        let protocol = if self.unprepared.contains(sql) { Protocol::Simple } else { protocol };
        if protocol == Protocol::Prepared {
            match self.prepare(sql, parameters).await {
                Ok(statement) => {
                    let result = executed(&mut self.conn, statement, parameters, wanted).await;
                    return self.done(result, doing);
                }
                Err(_) if self.unprepared.contains(sql) && parameters.is_empty() => {}
                Err(error) => return Err(error),
            }
        }
        self.begin(doing).await?;
        let result = match protocol {
            Protocol::Extended => parsed_anew(&mut self.conn, sql, parameters, wanted).await,
            Protocol::Simple | Protocol::Prepared => text(&mut self.conn, sql, wanted).await,
        };
        let is_not_prepared = result.as_ref().is_err_and(cannot_be_prepared) && parameters.is_empty();
        if is_not_prepared && protocol == Protocol::Extended {
            self.unprepared.insert(sql.to_owned());
            let result = text(&mut self.conn, sql, wanted).await;
            return self.done(result, doing);
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
    statement: mysql_async::Statement,
    parameters: &[Value],
    wanted: Wanted,
) -> mysql_async::Result<Answer> {
    let parameters = values::parameters(parameters.iter().map(Value::cell));
    answer(conn.exec_iter(statement, parameters).await?, wanted).await
}

async fn parsed_anew(
    conn: &mut Conn,
    sql: &str,
    parameters: &[Value],
    wanted: Wanted,
) -> mysql_async::Result<Answer> {
    let statement = conn.prep(sql).await?;
    let answer = executed(conn, statement.clone(), parameters, wanted).await;
    conn.close(statement).await?;
    answer
}

async fn text(conn: &mut Conn, sql: &str, wanted: Wanted) -> mysql_async::Result<Answer> {
    answer(conn.query_iter(sql).await?, wanted).await
}

/// Of several statements in one text the last one's answer is given.
async fn answer<P: Encoding>(
    mut result: QueryResult<'_, '_, P>,
    wanted: Wanted,
) -> mysql_async::Result<Answer> {
    let mut found = Answer::default();
    let mut last: Option<Row> = None;
    loop {
        let has_rows = !result.columns_ref().is_empty();
        let changed = result.affected_rows();
        let mut count = 0;
        while let Some(row) = result.next().await? {
            count += 1;
            if wanted == Wanted::Last {
                last = Some(row);
            }
        }
        found.rows = if has_rows { count } else { changed };
        if result.is_empty() {
            break;
        }
    }
    if let Some(row) = last {
        let names: Vec<String> =
            row.columns_ref().iter().map(|column| column.name_str().into_owned()).collect();
        found.last = names.into_iter().zip(values::received(row)).collect();
    }
    Ok(found)
}
