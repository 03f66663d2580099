//! What the sessions of a server do at a moment, and its own counters, asked over a session that is no part of the load.
//!
//! Nothing is judged here: what a session waits for is told as its server spells it. An engine in this process tells nothing,
//! and what a login may not see is told as hidden, with the remedy.

use std::collections::BTreeMap;

use crate::url::Address;
use crate::{Dialect, Error, Session, Url, Value, mysql, postgres, sqlserver};

/// What an engine is sent to be looked at.
#[derive(Debug)]
pub(crate) struct Looking {
    pub(crate) dialect: Dialect,
    /// What is set for the session first; a server that does not know it is asked all the same.
    pub(crate) begin: Option<&'static str>,
    /// Ways to look, by version; the first that the server takes is kept. Of each `{databases}` is a list of
    /// names, and the rows are what sessions do, one of [`record::doing`] or a wait, and how many do it. A session that has been
    /// idle for a tenth of a second is none of them. What goes on beside the load begins with [`BESIDE`].
    pub(crate) ways: &'static [&'static str],
    /// Statements that give counters: names and values. Those that a server does not take are left out.
    pub(crate) counters: &'static [&'static str],
    /// What lets a login see what sessions of others do, where they are hidden from it.
    pub(crate) remedy: Option<&'static str>,
}

/// What a row begins with that is of no session of the load.
const BESIDE: &str = "beside ";

/// What was seen at a moment: how many did what.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Sessions of the load, by one of [`record::doing`] or a wait.
    pub sessions: BTreeMap<String, u64>,
    /// The server itself and sessions of others, by one of [`record::beside`] and what each waited for.
    pub beside: BTreeMap<String, u64>,
}

/// A session that looks at a server.
#[derive(Debug)]
pub struct Activity {
    session: Session,
    remedy: Option<&'static str>,
    look: String,
    counters: Vec<String>,
}

impl Activity {
    /// Connects to look at sessions in these databases of a server; none of an engine in this process.
    ///
    /// # Errors
    /// Those of [`Session::open`], and that the server lets this login look in no way.
    pub async fn open(url: &Url, databases: &[String]) -> Result<Option<Self>, Error> {
        let looking = match &url.0 {
            Address::Sqlite(_) | Address::Fake(_) => return Ok(None),
            Address::Postgres(_) => &postgres::LOOKING,
            Address::Mysql(_) => &mysql::LOOKING,
            Address::SqlServer(_) => &sqlserver::LOOKING,
        };
        let mut session = Session::open(url).await?;
        if let Some(begin) = looking.begin {
            match session.script(begin).await {
                Err(error) if error.is_lost() => return Err(error),
                _ => {}
            }
        }
        let names: Vec<String> = databases.iter().map(|name| looking.dialect.text(name)).collect();
        let filled = |sql: &str| sql.replace("{databases}", &names.join(", "));
        let mut refused = None;
        for way in looking.ways {
            let look = filled(way);
            match session.query(&look, &[]).await {
                Ok(_) => {
                    let counters = looking.counters.iter().map(|sql| filled(sql)).collect();
                    return Ok(Some(Self { session, remedy: looking.remedy, look, counters }));
                }
                Err(error) if error.is_lost() => return Err(error),
                Err(error) => refused = Some(error),
            }
        }
        Err(refused.unwrap_or_else(|| Error::Statement(format!("there is no way to look at {url}"))))
    }

    /// What the server knows this session by.
    #[must_use]
    pub fn session(&self) -> Option<u64> {
        self.session.connection().id
    }

    /// What lets this login see what sessions do that are [`record::doing::HIDDEN`] from it: a statement.
    #[must_use]
    pub fn remedy(&self) -> Option<&'static str> {
        self.remedy
    }

    /// How many sessions do what now, and what goes on beside them.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn look(&mut self) -> Result<Seen, Error> {
        let rows = self.session.query(&self.look, &[]).await?;
        let mut seen = Seen::default();
        for row in &rows {
            if let [Value::Text(doing), Value::I64(sessions)] = row.as_slice() {
                let (of, doing) = match doing.strip_prefix(BESIDE) {
                    Some(doing) => (&mut seen.beside, doing),
                    None => (&mut seen.sessions, doing.as_str()),
                };
                *of.entry(doing.to_owned()).or_default() += u64::try_from(*sessions).unwrap_or(0);
            }
        }
        Ok(seen)
    }

    /// The server's counters as they stand. Those that it does not have, or does not show, are left out from then on.
    ///
    /// # Errors
    /// Only if the session is lost.
    pub async fn counters(&mut self) -> Result<BTreeMap<String, f64>, Error> {
        let mut found = BTreeMap::new();
        let mut known = Vec::new();
        for sql in std::mem::take(&mut self.counters) {
            match self.session.query(&sql, &[]).await {
                Ok(rows) => {
                    found.extend(rows.iter().filter_map(|row| counter(row)));
                    known.push(sql);
                }
                Err(error) if error.is_lost() => return Err(error),
                Err(_) => {}
            }
        }
        self.counters = known;
        Ok(found)
    }
}

/// Some servers tell numbers as text.
fn counter(row: &[Value]) -> Option<(String, f64)> {
    let [Value::Text(name), value] = row else { return None };
    let value = match value {
        Value::I64(value) => *value as f64,
        Value::F64(value) => *value,
        Value::Text(text) => text.parse().ok()?,
        Value::Null | Value::I16(_) | Value::I32(_) => return None,
    };
    Some((name.clone(), value))
}
