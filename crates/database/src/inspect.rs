//! What a server is asked so that advice can be given on its settings. Nothing is judged here, and nothing is changed.
//!
//! What each engine is asked stands beside its session, as data: a question has a name, ways to put it by version, and what lets
//! a login have the answer. Settings are asked for one by one, since some of a server's hold passwords.

use std::collections::BTreeMap;

use record::{FactRow, InspectedServer, Server, Unread};

use crate::url::Address;
use crate::{Error, Session, Url, Value, mysql, postgres, sqlserver};

/// Something that a server is asked.
#[derive(Debug)]
pub(crate) struct Question {
    /// Name of the table of facts that comes of it.
    pub(crate) table: &'static str,
    /// What it is about, in words.
    pub(crate) about: &'static str,
    /// Names of the columns of its rows.
    pub(crate) columns: &'static [&'static str],
    /// Ways to put it, by version; the first that the server takes is kept.
    pub(crate) ways: &'static [&'static str],
    /// What lets a login have the answer, with `{login}` in the place of its name.
    pub(crate) grant: Option<&'static str>,
}

/// All that servers of an engine are asked.
#[derive(Debug)]
pub(crate) struct Questions {
    /// A query that gives the login as a grant takes it.
    pub(crate) login: &'static str,
    /// Tables of which a server has always some: one that tells of none keeps them to itself.
    pub(crate) some: &'static [&'static str],
    pub(crate) questions: &'static [Question],
}

/// A server as it was found, with the directories that it tells.
#[derive(Clone, Debug, PartialEq)]
pub struct Inspected {
    /// Its settings and what else was asked. Which volumes it lies on is left to whoever can see them.
    pub server: InspectedServer,
    /// Where its data lies, where it tells and is on this machine.
    pub data_directory: Option<String>,
    /// Where its log lies.
    pub log_directory: Option<String>,
}

/// Asks a server for all that advice rests on; none of an engine in this process, which has no settings of its own.
///
/// # Errors
/// Those of [`Session::open`], and when the session is lost. What the server does not tell is part of the answer.
pub async fn inspect(url: &Url) -> Result<Option<Inspected>, Error> {
    let asked = match &url.0 {
        // Of ClickHouse there is no advice yet.
        Address::Sqlite(_) | Address::ClickHouse(_) | Address::DuckDb(_) | Address::Fake(_) => {
            return Ok(None);
        }
        Address::Postgres(_) => &postgres::INSPECTED,
        Address::Mysql(_) => &mysql::INSPECTED,
        Address::SqlServer(_) => &sqlserver::INSPECTED,
    };
    let mut session = Session::open(url).await?;
    let Server { version, data_directory, log_directory, .. } = session.server().await?;
    let login = match session.query(asked.login, &[]).await?.first().and_then(|row| row.first()) {
        Some(Value::Text(login)) => login.clone(),
        _ => "the login".to_owned(),
    };
    let mut facts = BTreeMap::new();
    let mut unread = Vec::new();
    for question in asked.questions {
        match answer(&mut session, question).await {
            Ok(rows) if rows.is_empty() && asked.some.contains(&question.table) => unread.push(Unread {
                what: question.about.to_owned(),
                because: "it shows none".to_owned(),
                grant: question.grant.map(|grant| grant.replace("{login}", &login)),
            }),
            Ok(rows) => drop(facts.insert(question.table.to_owned(), rows)),
            Err(error) if error.is_lost() => return Err(error),
            Err(error) => unread.push(Unread {
                what: question.about.to_owned(),
                because: error.to_string(),
                grant: question.grant.map(|grant| grant.replace("{login}", &login)),
            }),
        }
    }
    let server = InspectedServer {
        name: url.to_string(),
        engine: url.engine().name().to_owned(),
        version,
        here: url.is_local(),
        volumes: BTreeMap::new(),
        facts,
        unread,
    };
    Ok(Some(Inspected { server, data_directory, log_directory }))
}

/// The rows of the first way that the server takes, or why it took none: what it said to the first.
async fn answer(session: &mut Session, question: &Question) -> Result<Vec<FactRow>, Error> {
    let mut refused = None;
    for way in question.ways {
        match session.query(way, &[]).await {
            Ok(rows) => return Ok(rows.iter().map(|row| fact_row(question.columns, row)).collect()),
            Err(error) if error.is_lost() => return Err(error),
            Err(error) => _ = refused.get_or_insert(error),
        }
    }
    Err(refused.unwrap_or_else(|| Error::Statement(format!("this server cannot report {}", question.about))))
}

/// Values by their columns, as text; what is null is left out.
fn fact_row(columns: &[&str], row: &[Value]) -> FactRow {
    let text = |value: &Value| match value {
        Value::Null => None,
        Value::I16(number) => Some(number.to_string()),
        Value::I32(number) => Some(number.to_string()),
        Value::I64(number) => Some(number.to_string()),
        Value::F64(number) => Some(number.to_string()),
        Value::Text(text) => Some(text.clone()),
    };
    let named = columns.iter().zip(row);
    named.filter_map(|(column, value)| Some(((*column).to_owned(), text(value)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_texts_by_their_columns_and_what_is_null_is_absent() {
        let row = [Value::Text("fsync".to_owned()), Value::I64(-1), Value::Null];
        let expected = [("name", "fsync"), ("value", "-1")];
        let expected: FactRow = expected.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        assert_eq!(fact_row(&["name", "value", "unit"], &row), expected);
    }

    /// Some settings hold passwords, and what is recorded is handed on.
    #[test]
    fn settings_are_asked_for_by_name_and_none_of_them_is_a_secret() {
        for asked in [&postgres::INSPECTED, &mysql::INSPECTED, &sqlserver::INSPECTED] {
            let settings: Vec<&Question> =
                asked.questions.iter().filter(|question| question.table == "settings").collect();
            assert_eq!(settings.len(), 1);
            for way in settings[0].ways {
                assert!(way.contains(" IN ('"), "{way}");
                for secret in ["conninfo", "passphrase", "password", "_command", "key_file"] {
                    assert!(!way.contains(secret), "{secret} in {way}");
                }
            }
            let changes = ["INSERT", "UPDATE", "DELETE", "ALTER", "SET ", "CREATE", "DROP", "GRANT"];
            for way in asked.questions.iter().flat_map(|question| question.ways) {
                // What is read of the registry comes in a variable.
                let begins =
                    ["SELECT ", "SHOW ", "DECLARE @plan nvarchar(64); EXECUTE master.dbo.xp_regread "];
                assert!(begins.iter().any(|begin| way.starts_with(begin)), "{way}");
                assert!(!changes.iter().any(|change| way.contains(change)), "{way}");
            }
        }
    }
}
