//! What the sessions of a server do at a moment, and its own counters, asked over a session that is no part of the load.
//!
//! Nothing is judged here: what a session waits for is told as its server spells it. An engine in this process tells nothing,
//! and what a login may not see is told as hidden, with the remedy.

use std::collections::BTreeMap;

use record::{Blocker, ReplicaState, beside, doing};

use crate::url::Address;
use crate::{Dialect, Error, Session, Url, Value, mysql, ours, postgres, sqlserver};

/// What an engine is sent to be looked at.
#[derive(Debug)]
pub(crate) struct Looking {
    pub(crate) dialect: Dialect,
    /// What is set for the session first; a server that does not know it is asked all the same.
    pub(crate) begin: Option<&'static str>,
    /// Ways to look, by version; the first that the server takes is kept. Of each `{databases}` is a list of
    /// names, and the rows are what sessions do, one of [`record::doing`] or a wait, how many do it, and their numbers, with commas
    /// between them. A session that has been idle for a tenth of a second is none of them. What goes on beside the load begins with
    /// [`BESIDE`] and has no numbers.
    pub(crate) ways: &'static [&'static str],
    /// Whether what a session does is to wait for a lock that another session holds.
    pub(crate) is_lock: fn(&str) -> bool,
    /// Whether such a lock is one on a table, for which nobody waits for long but behind somebody else's, and whose holder not every
    /// server names.
    pub(crate) is_table_lock: fn(&str) -> bool,
    /// Statements that name who holds locks which sessions wait for: number, user, program, state, statement, the seconds for which its
    /// transaction is open, and the numbers of those that wait. Each that the server takes is kept: kinds of locks have views of their own.
    pub(crate) blockers: &'static [&'static str],
    /// What lets a login see who holds locks; none where everybody sees that.
    pub(crate) blockers_grant: Option<&'static str>,
    /// Statements that give counters: names and values. Those that a server does not take are left out.
    pub(crate) counters: &'static [&'static str],
    /// What a server tells in rows of other forms. Where it does not, that is said.
    pub(crate) tells: &'static [Telling],
    /// What lets a login see what sessions of others do, where they are hidden from it.
    pub(crate) remedy: Option<&'static str>,
}

/// Something that a server tells of itself.
#[derive(Debug)]
pub(crate) struct Telling {
    /// What it is, in words.
    pub(crate) about: &'static str,
    /// Ways to ask for it, by version, with `{databases}` as in [`Looking::ways`].
    pub(crate) ways: &'static [&'static str],
    pub(crate) read: fn(&[Vec<Value>]) -> Told,
    /// Whether an error says that a login may not ask for it.
    pub(crate) is_denied: fn(&Error) -> bool,
    /// What lets a login ask for it.
    pub(crate) grant: &'static str,
}

/// What a server told of itself at a moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Told {
    /// Counters as they stand, which rise from its begin on.
    pub counters: BTreeMap<String, f64>,
    /// Copies of its databases on other servers.
    pub replicas: Vec<ReplicaState>,
    /// Beginnings of the names of counters that are told from their first rise on.
    pub(crate) from_zero: &'static [&'static str],
    /// What this login may not see of it, and what grants that.
    pub(crate) untold: Option<(&'static str, &'static str)>,
}

impl Told {
    /// How much each counter rose a second since an earlier moment. One that was set back, as after a restart, counts as one
    /// that stood still.
    #[must_use]
    pub fn rises(&self, before: &Self, seconds: f64) -> BTreeMap<String, f64> {
        let from_zero = |name: &str| {
            let begins = before.from_zero.iter().any(|begin| name.starts_with(begin));
            begins.then_some(0.0)
        };
        let rise = |(name, now): (&String, &f64)| {
            let rise = now - before.counters.get(name).copied().or_else(|| from_zero(name))?;
            (rise > 0.0).then(|| (name.clone(), rise / seconds))
        };
        self.counters.iter().filter_map(rise).collect()
    }

    fn add(&mut self, more: Self) {
        self.counters.extend(more.counters);
        self.replicas.extend(more.replicas);
        if !more.from_zero.is_empty() {
            self.from_zero = more.from_zero;
        }
    }
}

/// What a row begins with that is of no session of the load.
const BESIDE: &str = "beside ";

/// What was seen at a moment: how many did what.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Sessions of this program, by one of [`record::doing`] or a wait.
    pub sessions: BTreeMap<String, u64>,
    /// How many of them wait for locks that other sessions hold.
    pub lock_waits: u64,
    /// How many of these wait for a table whose holder may be unknown to the server.
    pub table_lock_waits: u64,
    /// The server itself and sessions of others, by one of [`record::beside`] and what each waited for.
    pub beside: BTreeMap<String, u64>,
}

/// A session that looks at a server.
#[derive(Debug)]
pub struct Activity {
    session: Session,
    looking: &'static Looking,
    /// The hosts of the server.
    place: String,
    look: String,
    /// Whether a session of ours was ever seen by its number: a proxy may give sessions other ones.
    knows_ours: bool,
    counters: Vec<String>,
    tells: Vec<Asked>,
    blockers: Vec<String>,
    untold: Untold,
}

/// What some sessions do, and their numbers if they are told.
struct Group {
    doing: String,
    sessions: u64,
    ids: Option<Vec<u64>>,
}

/// What is asked for, each way to do so with the databases in it; the first is kept that the server takes.
#[derive(Debug)]
struct Asked {
    of: &'static Telling,
    ways: Vec<String>,
}

impl Activity {
    /// Connects to look at sessions in these databases of a server; none of an engine in this process.
    ///
    /// # Errors
    /// Those of [`Session::open`], and that the server lets this login look in no way.
    pub async fn open(url: &Url, databases: &[String]) -> Result<Option<Self>, Error> {
        let looking = match &url.0 {
            // ClickHouse has no sessions that wait.
            Address::Sqlite(_) | Address::ClickHouse(_) | Address::DuckDb(_) | Address::Fake(_) => {
                return Ok(None);
            }
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
                    let asked = |of: &'static Telling| Asked {
                        of,
                        ways: of.ways.iter().map(|sql| filled(sql)).collect(),
                    };
                    let tells = looking.tells.iter().map(asked).collect();
                    return Ok(Some(Self {
                        session,
                        looking,
                        place: url.host().unwrap_or_default(),
                        look,
                        knows_ours: false,
                        counters,
                        tells,
                        blockers: looking.blockers.iter().map(|sql| filled(sql)).collect(),
                        untold: Untold::default(),
                    }));
                }
                Err(error) if error.is_lost() => return Err(error),
                Err(error) => refused = Some(error),
            }
        }
        Err(refused.unwrap_or_else(|| Error::Statement(format!("{url} does not list its sessions"))))
    }

    /// What the server knows this session by.
    #[must_use]
    pub fn session(&self) -> Option<u64> {
        self.session.connection().id
    }

    /// What lets this login see what sessions do that are [`record::doing::HIDDEN`] from it: a statement.
    #[must_use]
    pub fn remedy(&self) -> Option<&'static str> {
        self.looking.remedy
    }

    /// How many sessions do what now, and what goes on beside them. Sessions of others in the same databases are beside them.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn look(&mut self) -> Result<Seen, Error> {
        let rows = self.session.query(&self.look, &[]).await?;
        let (mut seen, mut works) = (Seen::default(), 0);
        for group in rows.iter().filter_map(|row| group(row)) {
            let Group { doing, sessions, ids } = group;
            if let Some(doing) = doing.strip_prefix(BESIDE) {
                add(&mut seen.beside, doing, sessions);
                continue;
            }
            let ours = match ids {
                Some(ids) => {
                    let ours = ours::count(&self.place, ids.into_iter());
                    self.knows_ours |= ours > 0;
                    if self.knows_ours { ours } else { sessions }
                }
                None => sessions,
            };
            if (self.looking.is_lock)(&doing) {
                seen.lock_waits += ours;
            }
            if (self.looking.is_table_lock)(&doing) {
                seen.table_lock_waits += ours;
            }
            let others = sessions.saturating_sub(ours);
            add(&mut seen.sessions, &doing, ours);
            if ![doing::IDLE, doing::IN_TRANSACTION, doing::HIDDEN, doing::ROW_LOCK].contains(&doing.as_str())
            {
                works += ours;
            }
            match doing.as_str() {
                // They are hidden from whoever looks, and not from the load.
                doing::HIDDEN => add(&mut seen.sessions, &doing, others),
                // These do nothing.
                doing::IDLE | doing::IN_TRANSACTION | doing::UNTRACKED => {}
                _ => add(&mut seen.beside, &format!("{} {doing}", beside::OTHERS), others),
            }
        }
        // InnoDB counts those that wait for rows in all databases and of all programs, and who waits is at work too.
        if let Some(locks) = seen.sessions.get_mut(doing::ROW_LOCK) {
            let ours = (*locks).min(works);
            seen.lock_waits -= *locks - ours;
            *locks = ours;
        }
        seen.sessions.retain(|_, sessions| *sessions > 0);
        Ok(seen)
    }

    /// Who holds locks for which sessions wait and waits for none itself, with the most of our sessions behind them first. A server that
    /// does not tell says so in [`Self::untold`].
    ///
    /// # Errors
    /// Only if the session is lost.
    pub async fn blockers(&mut self) -> Result<Vec<Blocker>, Error> {
        let mut found: Vec<Blocker> = Vec::new();
        let mut known = Vec::new();
        for sql in std::mem::take(&mut self.blockers) {
            match self.session.query(&sql, &[]).await {
                Ok(rows) => {
                    for blocker in rows.iter().filter_map(|row| blocker(&self.place, row)) {
                        match found.iter_mut().find(|other| other.session == blocker.session) {
                            Some(other) => other.waiting += blocker.waiting,
                            None => found.push(blocker),
                        }
                    }
                    known.push(sql);
                }
                Err(error) if error.is_lost() => return Err(error),
                Err(Error::Denied(_)) => self.miss_blockers(),
                // It has no such view.
                Err(_) => {}
            }
        }
        self.blockers = known;
        found.sort_by(|a, b| b.waiting.cmp(&a.waiting).then(a.session.cmp(&b.session)));
        Ok(found)
    }

    /// Notes that our sessions wait and nobody was named, with what would help.
    pub fn miss_blockers(&mut self) {
        if let Some(grant) = self.looking.blockers_grant {
            self.untold.denied(WHO_BLOCKS, grant);
        }
    }

    /// What the server tells of itself: its counters as they stand, and copies of its databases. What it does not have, or does not
    /// show, is left out from then on.
    ///
    /// # Errors
    /// Only if the session is lost.
    pub async fn told(&mut self) -> Result<Told, Error> {
        let mut told = Told::default();
        let mut known = Vec::new();
        for sql in std::mem::take(&mut self.counters) {
            match self.session.query(&sql, &[]).await {
                Ok(rows) => {
                    told.counters.extend(rows.iter().filter_map(|row| counter(row)));
                    known.push(sql);
                }
                Err(error) if error.is_lost() => return Err(error),
                Err(_) => {}
            }
        }
        self.counters = known;
        for asked in std::mem::take(&mut self.tells) {
            let of = asked.of;
            match asked.answered(&mut self.session).await? {
                Ok((rows, asked)) => {
                    let mut more = (of.read)(&rows);
                    if let Some((about, grant)) = more.untold.take() {
                        self.untold.denied(about, grant);
                    }
                    told.add(more);
                    self.tells.push(asked);
                }
                Err(error) if (of.is_denied)(&error) => self.untold.denied(of.about, of.grant),
                Err(error) => self.untold.unknown(of.about, &error),
            }
        }
        Ok(told)
    }

    /// What the server did not tell, with what it said to the first, and with what would help.
    #[must_use]
    pub fn untold(&self) -> Option<String> {
        self.untold.words()
    }
}

/// What is not told where nobody is named.
const WHO_BLOCKS: &str = "which session holds the locks that its sessions wait for";
/// Longest statement that is told, in characters.
const STATEMENT_MOST: usize = 200;
/// Words of a statement behind which a password may stand.
const SECRETS: [&str; 4] = ["password", "identified", "secret", "pwd"];

fn add(to: &mut BTreeMap<String, u64>, what: &str, sessions: u64) {
    if sessions > 0 {
        *to.entry(what.to_owned()).or_default() += sessions;
    }
}

fn group(row: &[Value]) -> Option<Group> {
    let [Value::Text(doing), Value::I64(sessions), rest @ ..] = row else { return None };
    let ids = match rest {
        [Value::Text(ids)] => Some(numbers(ids)),
        [Value::I64(id)] => u64::try_from(*id).ok().map(|id| vec![id]),
        _ => None,
    };
    Some(Group { doing: doing.clone(), sessions: u64::try_from(*sessions).unwrap_or(0), ids })
}

fn numbers(listed: &str) -> Vec<u64> {
    listed.split(',').filter_map(|number| number.trim().parse().ok()).collect()
}

fn blocker(place: &str, row: &[Value]) -> Option<Blocker> {
    let [session, user, application, state, statement, open_s, waiting] = row else { return None };
    let text = |value: &Value| value.text().filter(|text| !text.is_empty()).map(str::to_owned);
    // A transaction that was prepared is of no session.
    let session = session.integer().and_then(|id| u64::try_from(id).ok()).filter(|id| *id > 0);
    let is_ours = session.is_some_and(|id| ours::count(place, std::iter::once(id)) > 0);
    Some(Blocker {
        session,
        is_ours,
        user: text(user),
        application: text(application),
        state: text(state),
        statement: text(statement).map(|sql| told(&sql)),
        open_s: counter(&[Value::Text(String::new()), open_s.clone()]).map(|(_, open_s)| open_s.max(0.0)),
        since: None,
        waiting: text(waiting).map_or(0, |ids| ours::count(place, numbers(&ids).into_iter())),
    })
}

/// The begin of a statement, on one line, up to a word that may stand before a password.
fn told(sql: &str) -> String {
    let words = sql.split_whitespace().collect::<Vec<_>>().join(" ");
    let small = words.to_ascii_lowercase();
    let secret = SECRETS.iter().filter_map(|word| small.find(word).map(|at| at + word.len())).min();
    let long = words.char_indices().nth(STATEMENT_MOST).map(|(end, _)| end);
    match secret.into_iter().chain(long).min() {
        Some(end) => format!("{}…", &words[..end]),
        None => words,
    }
}

/// What a server did not tell.
#[derive(Debug, Default)]
struct Untold {
    /// What it has not, or does not know how to tell, and what it said to the first.
    unknown: Vec<&'static str>,
    said: String,
    /// What it told nobody with these rights, and what grants them.
    denied: Vec<(&'static str, &'static str)>,
}

impl Untold {
    fn denied(&mut self, about: &'static str, grant: &'static str) {
        if !self.denied.contains(&(about, grant)) {
            self.denied.push((about, grant));
        }
    }

    fn unknown(&mut self, about: &'static str, error: &Error) {
        if self.unknown.is_empty() {
            self.said = error.to_string();
        }
        self.unknown.push(about);
    }

    fn words(&self) -> Option<String> {
        let mut parts = Vec::new();
        if !self.unknown.is_empty() {
            parts.push(format!("{} ({})", listed(&self.unknown), self.said));
        }
        let mut grants: Vec<&str> = Vec::new();
        for (_, grant) in &self.denied {
            if !grants.contains(grant) {
                grants.push(grant);
            }
        }
        for grant in grants {
            let of = self.denied.iter().filter(|(_, with)| *with == grant).map(|(about, _)| *about);
            let of = listed(&of.collect::<Vec<_>>());
            parts
                .push(format!("{of}, because this login lacks the permission; as an administrator: {grant}"));
        }
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

/// `a, b and c`.
fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

impl Asked {
    /// The rows, with the way that the server took alone; or why it took none: what it said to the first.
    async fn answered(
        mut self,
        session: &mut Session,
    ) -> Result<Result<(Vec<Vec<Value>>, Self), Error>, Error> {
        let mut refused = None;
        for way in std::mem::take(&mut self.ways) {
            match session.query(&way, &[]).await {
                Ok(rows) => return Ok(Ok((rows, Self { of: self.of, ways: vec![way] }))),
                Err(error) if error.is_lost() => return Err(error),
                Err(error) => _ = refused.get_or_insert(error),
            }
        }
        Ok(Err(refused.unwrap_or_else(|| Error::Statement("this server cannot report it".to_owned()))))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn told(counters: &[(&str, f64)]) -> Told {
        let counters = counters.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        Told { counters, from_zero: &["wait_ms."], ..Told::default() }
    }

    /// What never waited has no row, so that its first wait is all of it; what the server has not told of before is not.
    #[test]
    fn counters_rise_from_what_they_were() {
        let before = told(&[("wait_ms.LCK_M_X", 10.0), ("reads", 100.0), ("set back", 9.0)]);
        let now = told(&[
            ("wait_ms.LCK_M_X", 30.0),
            ("wait_ms.WRITELOG", 50.0),
            ("reads", 100.0),
            ("writes", 7.0),
            ("set back", 1.0),
        ]);
        let expected = [("wait_ms.LCK_M_X".to_owned(), 10.0), ("wait_ms.WRITELOG".to_owned(), 25.0)];
        assert_eq!(now.rises(&before, 2.0), expected.into());
        assert_eq!(now.rises(&Told::default(), 2.0), BTreeMap::new(), "nothing was told before");
    }

    /// The numbers of sessions tell whose they are; without them all are the load's.
    #[test]
    fn a_row_of_sessions_is_read_with_numbers_and_without() {
        let row = |rest: &[Value]| {
            let head = [Value::Text("Lock:relation".to_owned()), Value::I64(3)];
            group(&[&head, rest].concat()).map(|group| (group.sessions, group.ids))
        };
        assert_eq!(row(&[Value::Text("7,8, 9".to_owned())]), Some((3, Some(vec![7, 8, 9]))));
        assert_eq!(row(&[Value::I64(7)]), Some((3, Some(vec![7]))));
        assert_eq!(row(&[Value::Null]), Some((3, None)));
        assert_eq!(row(&[]), Some((3, None)));
        assert!(group(&[Value::Null, Value::I64(3)]).is_none());
    }

    #[test]
    fn a_blocker_is_told_with_its_statement_and_without_its_password() {
        let text = |text: &str| Value::Text(text.to_owned());
        let _ours = ours::Registered::new("blocked:1".to_owned(), 5);
        let row = |statement: &str| {
            let head = [Value::I64(12), text("plant"), text("psql"), text("idle in transaction")];
            let row = [&head[..], &[text(statement), Value::F64(41.5), text("5,6")]].concat();
            blocker("blocked:1", &row).unwrap()
        };
        let found = row("LOCK TABLE\n  tank");
        assert_eq!(found.statement.as_deref(), Some("LOCK TABLE tank"));
        assert_eq!(
            (found.session, found.is_ours, found.waiting, found.open_s),
            (Some(12), false, 1, Some(41.5))
        );
        let secret = row("ALTER ROLE plant PASSWORD 'hidden77'").statement.unwrap();
        assert_eq!(secret, "ALTER ROLE plant PASSWORD…");
        let secret = row("CREATE USER x IDENTIFIED BY 'hidden77'").statement.unwrap();
        assert_eq!(secret, "CREATE USER x IDENTIFIED…");
        let long = row(&"é".repeat(900)).statement.unwrap();
        assert_eq!(long.chars().count(), STATEMENT_MOST + 1);
        let prepared =
            [Value::I64(0), Value::Null, Value::Null, Value::Null, Value::Null, Value::Null, text("5")];
        let prepared = blocker("blocked:1", &prepared).unwrap();
        assert_eq!((prepared.session, prepared.open_s, prepared.waiting), (None, None, 1));
    }

    #[test]
    fn what_is_not_told_is_named_with_what_the_server_said_or_with_the_grant() {
        let mut untold = Untold::default();
        assert_eq!(untold.words(), None);
        let error = |words: &str| Error::Statement(words.to_owned());
        untold.unknown("its waits", &error("no such view"));
        untold.unknown("its files", &error("no such function"));
        untold.denied("its copies", "GRANT X");
        untold.denied("its copies", "GRANT X");
        untold.denied("who copies it", "GRANT Y");
        untold.denied("its memory", "GRANT X");
        let words = untold.words().unwrap();
        assert_eq!(
            words,
            "its waits and its files (no such view); its copies and its memory, because this login lacks the permission; as an administrator: \
             GRANT X; who copies it, because this login lacks the permission; as an administrator: GRANT Y"
        );
    }
}
