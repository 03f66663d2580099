//! Clusters that somebody else runs: who of their members takes writes, who follows, and what decides how another one takes over.
//!
//! Members are asked one by one and at the same time, so that one that hangs holds up nobody. Nothing is changed, and nothing here
//! decides who leads.

mod mysql;
mod patroni;
mod postgres;
mod sqlserver;

use std::fmt;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::timeout;

use crate::url::Address;
use crate::url::hosts::Wanted;
use crate::{Engine, Error, Interface, Session, Url, Value};

/// A cluster that somebody else runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Cluster {
    /// Where sessions go.
    address: Url,
    /// Its members, each by its own address.
    nodes: Vec<Url>,
    /// Where Patroni tells how they stand.
    interfaces: Vec<Interface>,
}

/// What a member is at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It takes writes.
    Primary,
    /// It follows one that does, or could take over.
    Standby,
    /// It did not tell.
    Unknown,
}

/// A member of a cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// As the cluster calls it, or where it listens.
    pub name: String,
    /// What it is.
    pub role: Role,
    /// What else it tells, by name; why it does not, if so.
    pub told: Vec<(String, String)>,
}

/// How the members of a cluster stand.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SeenCluster {
    /// What keeps them together, as far as they tell: `Galera`.
    pub kind: String,
    /// All of them.
    pub members: Vec<Member>,
    /// Whether another one could take over with all that is acknowledged; none where that is not told.
    pub is_redundant: Option<bool>,
    /// In what they and what was said of them differ, if they do.
    pub differs: Option<String>,
    /// Why nobody tells anything, if so.
    pub silent: Option<String>,
}

impl Role {
    /// As it is told.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Primary => "primary",
            Self::Standby => "standby",
            Self::Unknown => "unknown",
        }
    }
}

impl Member {
    fn new(name: &str, role: Role) -> Self {
        Self { name: name.to_owned(), role, told: Vec::new() }
    }

    fn unanswered(name: &str, why: &str) -> Self {
        Self { told: vec![("no answer".to_owned(), why.to_owned())], ..Self::new(name, Role::Unknown) }
    }

    fn tell(&mut self, what: &str, value: impl fmt::Display) {
        self.told.push((what.to_owned(), value.to_string()));
    }
}

impl SeenCluster {
    /// Those that take writes.
    #[must_use]
    pub fn primaries(&self) -> Vec<String> {
        let primaries = self.members.iter().filter(|member| member.role == Role::Primary);
        primaries.map(|member| member.name.clone()).collect()
    }

    /// Why nothing can be measured on it as it stands, and what is to be done, if so.
    #[must_use]
    pub fn wrong(&self) -> Option<String> {
        let primaries = self.primaries();
        let silent = self.silent.as_ref().map(|why| format!("the cluster cannot be reached: {why}"));
        let split = (primaries.len() > 1).then(|| {
            format!(
                "{} accept writes at the same time: find out which node is right, and stop the others before anything is written",
                primaries.join(" and ")
            )
        });
        let headless = primaries.is_empty().then(|| {
            format!("none of its members accepts writes ({self}): make one of them accept writes, or wait until one does")
        });
        silent.or(split).or_else(|| self.differs.clone()).or(headless)
    }
}

impl fmt::Display for SeenCluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, member) in self.members.iter().enumerate() {
            let comma = if number == 0 { "" } else { ", " };
            write!(f, "{comma}{} is {}", member.name, member.role.name())?;
        }
        if self.members.is_empty() { f.write_str("no member is known") } else { Ok(()) }
    }
}

/// The address of all of several nodes of PostgreSQL, whose client takes the one that writes; none of other engines, and of none.
#[must_use]
pub fn address_of_nodes(nodes: &[Url]) -> Option<Url> {
    let mut hosts = Vec::new();
    for node in nodes {
        let Address::Postgres(server) = &node.0 else { return None };
        hosts.extend(server.hosts().cloned());
    }
    let Address::Postgres(first) = &nodes.first()?.0 else { return None };
    let mut all = first.clone();
    all.others = hosts.split_off(1);
    all.wanted = Wanted::ReadWrite;
    Some(Url(Address::Postgres(all)))
}

impl Cluster {
    /// A cluster whose sessions go to an address: of several hosts the one that takes writes, at a listener of several networks whichever
    /// of its addresses answers.
    #[must_use]
    pub fn new(address: &Url, nodes: &[Url], interfaces: &[Interface]) -> Self {
        Self { address: address.clone().of_cluster(), nodes: nodes.to_vec(), interfaces: interfaces.to_vec() }
    }

    /// Where sessions go.
    #[must_use]
    pub fn address(&self) -> &Url {
        &self.address
    }

    /// Looks how its members stand. Who does not answer within `limit` takes no writes.
    pub async fn look(&self, limit: Duration) -> SeenCluster {
        if !self.interfaces.is_empty() {
            return patroni::look(&self.interfaces, &self.nodes, limit).await;
        }
        match self.address.engine() {
            Engine::Postgres => postgres::look(&self.asked(), limit).await,
            Engine::Mysql => mysql::look(&self.asked(), limit).await,
            Engine::SqlServer => sqlserver::look((&self.address, &self.nodes), limit).await,
            Engine::Sqlite | Engine::ClickHouse | Engine::DuckDb | Engine::Fake => SeenCluster {
                silent: Some(format!("{} clusters are not supported", self.address.engine().name())),
                ..SeenCluster::default()
            },
        }
    }

    /// What decides how another member takes over, as it tells it.
    ///
    /// # Errors
    /// Whoever must be asked does not answer.
    pub async fn settings(&self, limit: Duration) -> Result<Vec<(String, String)>, Error> {
        if !self.interfaces.is_empty() {
            return patroni::settings(&self.interfaces, limit).await;
        }
        let asked = async {
            let mut session = Session::open(&self.address).await?;
            match self.address.engine() {
                Engine::Postgres => named(&mut session, postgres::SETTINGS).await,
                Engine::Mysql => named(&mut session, mysql::SETTINGS).await,
                Engine::SqlServer => sqlserver::settings(&mut session).await,
                Engine::Sqlite | Engine::ClickHouse | Engine::DuckDb | Engine::Fake => Ok(Vec::new()),
            }
        };
        timeout(limit, asked).await.unwrap_or_else(|_| Err(late(&self.address.to_string(), limit)))
    }

    /// Members that are asked one by one: those that were named, or the only one that is known.
    fn asked(&self) -> Vec<Url> {
        if self.nodes.is_empty() { vec![self.address.clone()] } else { self.nodes.clone() }
    }
}

impl Url {
    /// The same as sessions of a cluster take it.
    fn of_cluster(mut self) -> Self {
        match &mut self.0 {
            Address::SqlServer(server) => server.multi_subnet_failover = true,
            Address::Postgres(server) if !server.others.is_empty() && server.wanted == Wanted::Any => {
                server.wanted = Wanted::ReadWrite;
            }
            Address::Postgres(_)
            | Address::Mysql(_)
            | Address::Sqlite(_)
            | Address::ClickHouse(_)
            | Address::DuckDb(_)
            | Address::Fake(_) => {}
        }
        self
    }
}

/// Names and values that a query gives.
async fn named(session: &mut Session, query: &str) -> Result<Vec<(String, String)>, Error> {
    let rows = session.query(query, &[]).await?;
    let pair = |row: &Vec<Value>| Some((text(row.first()?), text(row.get(1)?)));
    Ok(rows.iter().filter_map(pair).collect())
}

/// Asks several servers at the same time, each over a session of its own.
async fn ask_each<T>(
    urls: &[Url],
    limit: Duration,
    ask: impl AsyncFn(&mut Session) -> Result<T, Error>,
) -> Vec<Result<T, Error>> {
    let one = async |url: &Url| {
        let asked = async {
            // Of several hosts whichever answers is the one that is meant.
            let mut session = Box::pin(Session::open(&url.clone().with_silence(limit))).await?;
            ask(&mut session).await
        };
        timeout(limit, asked).await.unwrap_or_else(|_| Err(late(&url.to_string(), limit)))
    };
    join_all(urls.iter().map(one)).await
}

fn late(who: &str, limit: Duration) -> Error {
    Error::Unreachable(format!(
        "{who} did not answer within {} s; check that it is running and can be reached from here",
        limit.as_secs_f64()
    ))
}

/// Where a server listens, as its name among others.
fn place(url: &Url) -> String {
    url.host().unwrap_or_else(|| url.to_string())
}

/// The members whose answers were read, and why nobody tells anything if none did.
fn members_of<T>(
    urls: &[Url],
    answers: &[Result<T, Error>],
    read: impl Fn(&str, &T) -> Member,
) -> (Vec<Member>, Option<String>) {
    let member = |(url, answer): (&Url, &Result<T, Error>)| match answer {
        Ok(answer) => read(&place(url), answer),
        Err(error) => Member::unanswered(&place(url), &error.to_string()),
    };
    let members = urls.iter().zip(answers).map(member).collect();
    let why = answers.iter().find_map(|answer| answer.as_ref().err().map(ToString::to_string));
    (members, why.filter(|_| answers.iter().all(Result::is_err)))
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::I16(number) => number.to_string(),
        Value::I32(number) => number.to_string(),
        Value::I64(number) => number.to_string(),
        Value::F64(number) => number.to_string(),
        Value::Text(text) => text.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        text.parse().unwrap()
    }

    #[test]
    fn sessions_go_to_whoever_takes_writes() {
        let all = |nodes: &[&str]| {
            let nodes: Vec<Url> = nodes.iter().map(|text| url(text)).collect();
            address_of_nodes(&nodes).map(|address| address.to_string())
        };
        let expected = "postgres://app@pg1,pg2:5433/shop?target_session_attrs=read-write";
        assert_eq!(all(&["postgres://app@pg1/shop", "postgres://pg2:5433/x"]).as_deref(), Some(expected));
        assert_eq!(all(&["mysql://app@my1", "mysql://app@my2"]), None);
        let address = |text: &str| Cluster::new(&url(text), &[], &[]).address().to_string();
        assert_eq!(address("postgres://a@h1,h2/x"), "postgres://a@h1,h2/x?target_session_attrs=read-write");
        assert_eq!(address("postgres://a@proxy/x"), "postgres://a@proxy/x");
        assert!(address("sqlserver://sa@listener/x").contains("multi_subnet_failover=true"));
    }

    fn seen(roles: &[(&str, Role)]) -> SeenCluster {
        let members = roles.iter().map(|(name, role)| Member::new(name, *role)).collect();
        SeenCluster { members, ..SeenCluster::default() }
    }

    #[test]
    fn what_is_wrong_is_told_with_the_remedy() {
        use Role::{Primary, Standby, Unknown};
        let wrong = |roles: &[(&str, Role)]| seen(roles).wrong().unwrap_or_default();
        assert_eq!(wrong(&[("a", Primary), ("b", Standby)]), "");
        assert_eq!(wrong(&[("a", Primary), ("b", Unknown)]), "");
        assert!(
            wrong(&[("a", Primary), ("b", Primary)]).starts_with("a and b accept writes at the same time")
        );
        let headless = wrong(&[("a", Standby), ("b", Unknown)]);
        assert!(
            headless.contains("none of its members accepts writes (a is standby, b is unknown)"),
            "{headless}"
        );
        let silent = SeenCluster { silent: Some("no route".to_owned()), ..seen(&[("a", Unknown)]) };
        assert_eq!(silent.wrong().as_deref(), Some("the cluster cannot be reached: no route"));
        let differs = SeenCluster { differs: Some("two of three".to_owned()), ..seen(&[("a", Primary)]) };
        assert_eq!(differs.wrong().as_deref(), Some("two of three"));
    }

    #[tokio::test]
    async fn a_cluster_that_nobody_answers_for_is_told_as_that() {
        let nodes = [url("postgres://a@127.0.0.1:1/x"), url("postgres://a@127.0.0.1:2/x")];
        let cluster = Cluster::new(&address_of_nodes(&nodes).unwrap(), &nodes, &[]);
        let seen = cluster.look(Duration::from_secs(20)).await;
        let wrong = seen.wrong().unwrap();
        assert!(
            wrong.starts_with("the cluster cannot be reached: cannot connect to postgres://a@127.0.0.1:1/x"),
            "{wrong}"
        );
        assert_eq!(seen.members.len(), 2);
    }
}
