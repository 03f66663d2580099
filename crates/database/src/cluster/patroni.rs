//! Clusters that Patroni keeps, asked over its REST interface: <https://patroni.readthedocs.io/en/latest/rest_api.html>.
//!
//! `GET /cluster` tells the members as they stand in the store that they share, where a leader that was killed stays one until its lock
//! runs out. So each member is asked for itself besides (`GET /patroni`): what it is, and who follows it.

use std::collections::BTreeMap;
use std::net::ToSocketAddrs as _;
use std::time::Duration;

use futures_util::future::join_all;
use serde::Deserialize;
use serde_json::Value as Json;
use tokio::time::timeout;

use super::{Member, Role, SeenCluster, late, place};
use crate::error::{Attempt, Doing, remedy};
use crate::http::{Reply, Wire};
use crate::{Error, Interface, Url};

const NOT_PATRONI: &str = "check whether Patroni's REST interface listens on that port (8008 by default)";
/// What of its configuration decides how another one takes over; the rest may hold what is nobody's business.
const SETTINGS: [&str; 16] = [
    "ttl",
    "loop_wait",
    "retry_timeout",
    "maximum_lag_on_failover",
    "maximum_lag_on_syncnode",
    "max_timelines_history",
    "primary_start_timeout",
    "primary_stop_timeout",
    "master_start_timeout",
    "master_stop_timeout",
    "synchronous_mode",
    "synchronous_mode_strict",
    "synchronous_node_count",
    "failsafe_mode",
    "check_timeline",
    "pause",
];

/// `GET /cluster`.
#[derive(Debug, Default, Deserialize)]
struct Cluster {
    members: Vec<Listed>,
    #[serde(default)]
    scope: String,
}

/// A member in the store.
#[derive(Debug, Deserialize)]
struct Listed {
    name: String,
    #[serde(default)]
    role: String,
    #[serde(default)]
    state: String,
    #[serde(default)]
    api_url: String,
    #[serde(default)]
    host: String,
    #[serde(default)]
    port: u16,
    #[serde(default)]
    timeline: Option<Json>,
    /// Bytes, or `unknown`.
    #[serde(default)]
    lag: Option<Json>,
    #[serde(default)]
    tags: BTreeMap<String, Json>,
}

/// `GET /patroni`.
#[derive(Debug, Default, Deserialize)]
struct Own {
    #[serde(default)]
    state: String,
    #[serde(default)]
    role: String,
    #[serde(default)]
    server_version: Option<Json>,
    #[serde(default)]
    timeline: Option<Json>,
    #[serde(default)]
    replication: Vec<Follower>,
    #[serde(default)]
    patroni: About,
}

#[derive(Debug, Default, Deserialize)]
struct About {
    #[serde(default)]
    version: String,
    #[serde(default)]
    name: String,
}

/// Who follows a member, as its server sees them.
#[derive(Debug, Default, Deserialize)]
struct Follower {
    #[serde(default)]
    application_name: Option<String>,
    #[serde(default)]
    state: Option<String>,
    #[serde(default)]
    sync_state: Option<String>,
}

pub(super) async fn look(interfaces: &[Interface], nodes: &[Url], limit: Duration) -> SeenCluster {
    let kind = "Patroni".to_owned();
    let listed = match first(interfaces, "cluster", limit).await {
        Ok(listed) => listed,
        Err(error) => return SeenCluster { kind, silent: Some(error.to_string()), ..SeenCluster::default() },
    };
    let own = own(interfaces, &listed, limit).await;
    let differs = differs(nodes, &listed);
    SeenCluster { differs, ..seen(&listed, &own) }
}

/// What each member tells of itself, in their order. One whose own interface is not among those that were given, or tells no name, is asked
/// where it says that it is.
async fn own(interfaces: &[Interface], listed: &Cluster, limit: Duration) -> Vec<Result<Own, Error>> {
    let ask = async |interface: Interface| get::<Own>(&interface, "patroni", limit).await;
    let given: Vec<Own> =
        join_all(interfaces.iter().cloned().map(ask)).await.into_iter().filter_map(Result::ok).collect();
    let mut given: BTreeMap<String, Own> =
        given.into_iter().map(|own| (own.patroni.name.clone(), own)).collect();
    let one = |member: &Listed| {
        let known = given.remove(&member.name);
        let elsewhere = interfaces.first().and_then(|first| first.told(&member.api_url));
        let (name, url) = (member.name.clone(), member.api_url.clone());
        async move {
            match (known, elsewhere) {
                (Some(own), _) => Ok(own),
                (None, Some(interface)) => get::<Own>(&interface, "patroni", limit).await,
                (None, None) => {
                    Err(Error::Unreachable(format!("{name} does not report its address (api_url `{url}`)")))
                }
            }
        }
    };
    let asked: Vec<_> = listed.members.iter().map(one).collect();
    join_all(asked).await
}

fn seen(listed: &Cluster, own: &[Result<Own, Error>]) -> SeenCluster {
    let members: Vec<Member> =
        listed.members.iter().zip(own).map(|(listed, own)| member(listed, own.as_ref())).collect();
    let mut writing = own.iter().flatten().filter(|own| own.takes_writes());
    let is_redundant = match (writing.next(), writing.next()) {
        (Some(own), None) => Some(is_followed(own, &listed.members)),
        _ => Some(false),
    };
    let kind = match listed.scope.as_str() {
        "" => "Patroni".to_owned(),
        scope => format!("Patroni ({scope})"),
    };
    SeenCluster { kind, members, is_redundant, differs: None, silent: None }
}

fn member(listed: &Listed, own: Result<&Own, &Error>) -> Member {
    let role = match own {
        Ok(own) if own.takes_writes() => Role::Primary,
        Ok(own) if own.state == "running" => Role::Standby,
        Ok(_) | Err(_) => Role::Unknown,
    };
    let mut member = Member::new(&listed.name, role);
    member.tell("listed as", format!("{}, {}", listed.role, listed.state));
    member.tell("address", format!("{}:{}", listed.host, listed.port));
    let timeline = own.ok().and_then(|own| own.timeline.as_ref()).or(listed.timeline.as_ref());
    let tags: Vec<String> =
        listed.tags.iter().map(|(name, value)| format!("{name} = {}", plain(value))).collect();
    let told = [
        ("timeline", timeline.map(plain)),
        ("lag in bytes", listed.lag.as_ref().map(plain)),
        ("tags", (!tags.is_empty()).then(|| tags.join(", "))),
    ];
    told.into_iter()
        .filter_map(|(what, value)| Some((what, value?)))
        .for_each(|(what, value)| member.tell(what, value));
    match own {
        Ok(own) => {
            if let Some(version) = &own.server_version {
                member.tell("server_version", plain(version));
            }
            if !own.patroni.version.is_empty() {
                member.tell("version of Patroni", &own.patroni.version);
            }
        }
        Err(why) => member.tell("no answer", why),
    }
    member
}

impl Own {
    /// Before version 4 a primary was called master. The leader of a standby cluster takes no writes.
    fn takes_writes(&self) -> bool {
        matches!(self.role.as_str(), "primary" | "master") && self.state == "running"
    }
}

/// Whether all others stream from the one that takes writes, and one is synchronous if any is to be.
fn is_followed(own: &Own, listed: &[Listed]) -> bool {
    let streams = |name: &str| {
        own.replication.iter().any(|follower| {
            follower.application_name.as_deref() == Some(name)
                && follower.state.as_deref() == Some("streaming")
        })
    };
    let others = || listed.iter().filter(|member| member.name != own.patroni.name && !is_leader(member));
    let is_synchronous =
        listed.iter().any(|member| matches!(member.role.as_str(), "sync_standby" | "quorum_standby"));
    let is_awaited =
        own.replication.iter().any(|one| matches!(one.sync_state.as_deref(), Some("sync" | "quorum")));
    others().next().is_some()
        && others().all(|member| streams(&member.name))
        && (is_awaited || !is_synchronous)
}

/// Whether the store has it as the one that leads; of those of older versions, which tell no name of their own.
fn is_leader(member: &Listed) -> bool {
    matches!(member.role.as_str(), "leader" | "master")
}

/// Nodes that were named and are no members, by where they listen; and members that were not named.
fn differs(nodes: &[Url], listed: &Cluster) -> Option<String> {
    if nodes.is_empty() {
        return None;
    }
    let listens: Vec<String> =
        listed.members.iter().map(|member| format!("{}:{}", member.host, member.port)).collect();
    let missing =
        nodes.iter().map(place).find(|node| !listens.iter().any(|member| is_same_place(node, member)));
    if let Some(node) = missing {
        return Some(format!(
            "node {node} is not a member in Patroni. Patroni's members are {}: use these under `nodes`, or use `address` instead",
            listens.join(", ")
        ));
    }
    (nodes.len() != listens.len()).then(|| {
        format!(
            "Patroni has {} members ({}), but the study names {}: name all of them",
            listens.len(),
            listens.join(", "),
            nodes.len()
        )
    })
}

/// Whether both are one place, by their numbers where names differ.
fn is_same_place(one: &str, other: &str) -> bool {
    let numbers =
        |place: &str| place.to_socket_addrs().map(|found| found.collect::<Vec<_>>()).unwrap_or_default();
    one.eq_ignore_ascii_case(other) || {
        let known = numbers(one);
        numbers(other).iter().any(|place| known.contains(place))
    }
}

pub(super) async fn settings(
    interfaces: &[Interface],
    limit: Duration,
) -> Result<Vec<(String, String)>, Error> {
    let told: BTreeMap<String, Json> = first(interfaces, "config", limit).await?;
    Ok(chosen(&told))
}

fn chosen(told: &BTreeMap<String, Json>) -> Vec<(String, String)> {
    let value = |name: &&str| told.get(*name).map(|value| ((*name).to_owned(), plain(value)));
    SETTINGS.iter().filter_map(value).collect()
}

fn plain(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The first answer that one of the interfaces gives; all are asked at once.
async fn first<T: serde::de::DeserializeOwned>(
    interfaces: &[Interface],
    path: &str,
    limit: Duration,
) -> Result<T, Error> {
    let answers = join_all(interfaces.iter().map(|interface| get::<T>(interface, path, limit))).await;
    let mut why = None;
    for answer in answers {
        match answer {
            Ok(told) => return Ok(told),
            Err(error) => why = why.or(Some(error)),
        }
    }
    Err(why.unwrap_or_else(|| Error::Unreachable("no interface of Patroni is given".to_owned())))
}

/// Asks an interface; a status that stands for trouble of a member comes with its document.
async fn get<T: serde::de::DeserializeOwned>(
    interface: &Interface,
    path: &str,
    limit: Duration,
) -> Result<T, Error> {
    let target = format!("{interface}/{path}");
    let attempt = Attempt { doing: Doing::Connect, target: &target };
    let asked = async {
        let mut wire = Wire::open((&interface.host, &interface.encryption), attempt).await?;
        let host = &interface.host;
        let head =
            format!("GET /{path} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: prony\r\nConnection: close\r\n\r\n");
        let (Reply { status, body }, _) = wire.exchange(&head, &[]).await.map_err(|error| {
            let remedy = if error.kind() == std::io::ErrorKind::InvalidData {
                NOT_PATRONI
            } else {
                remedy::UNREACHABLE
            };
            Error::Unreachable(attempt.text(error, remedy))
        })?;
        serde_json::from_slice(&body).map_err(|error| {
            Error::Unreachable(attempt.text(format!("status {status}, {error}"), NOT_PATRONI))
        })
    };
    timeout(limit, asked).await.unwrap_or_else(|_| Err(late(&target, limit)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of its documentation, shortened.
    const CLUSTER: &str = r#"{"members": [
        {"name": "patroni1", "role": "leader", "state": "running", "api_url": "http://10.89.0.4:8008/patroni",
         "host": "10.89.0.4", "port": 5432, "timeline": 5, "tags": {"clonefrom": true}},
        {"name": "patroni2", "role": "replica", "state": "streaming", "api_url": "http://10.89.0.6:8008/patroni",
         "host": "10.89.0.6", "port": 5433, "timeline": 5, "tags": {"clonefrom": true}, "receive_lag": 0, "lag": 0}],
        "scope": "demo", "scheduled_switchover": {"at": "2023-09-24T10:36:00+02:00", "from": "patroni1"}}"#;
    const PRIMARY: &str = r#"{"state": "running", "postmaster_start_time": "2024-08-28 19:39:26.352526+00:00", "role": "primary",
        "server_version": 160004, "xlog": {"location": 67395656}, "timeline": 1, "replication": [
        {"usename": "replicator", "application_name": "patroni2", "client_addr": "10.89.0.6", "state": "streaming",
         "sync_state": "async", "sync_priority": 0}], "dcs_last_seen": 1692356718,
        "patroni": {"version": "4.0.0", "scope": "demo", "name": "patroni1"}}"#;
    const REPLICA: &str = r#"{"state": "running", "role": "replica", "server_version": 160004, "timeline": 1,
        "patroni": {"version": "4.0.0", "scope": "demo", "name": "patroni2"}}"#;

    fn read<T: serde::de::DeserializeOwned>(text: &str) -> T {
        serde_json::from_str(text).unwrap()
    }

    fn of(cluster: &str, own: &[Option<&str>]) -> SeenCluster {
        let lost = || Err(Error::Lost("gone".to_owned()));
        let own: Vec<Result<Own, Error>> =
            own.iter().map(|own| own.map_or_else(lost, |own| Ok(read(own)))).collect();
        seen(&read(cluster), &own)
    }

    #[test]
    fn a_member_is_what_it_says_itself_whatever_the_store_has() {
        let whole = of(CLUSTER, &[Some(PRIMARY), Some(REPLICA)]);
        assert_eq!((whole.kind.as_str(), whole.primaries()), ("Patroni (demo)", vec!["patroni1".to_owned()]));
        assert_eq!((whole.is_redundant, whole.wrong()), (Some(true), None));
        let told: Vec<&str> = whole.members[1].told.iter().map(|(what, _)| what.as_str()).collect();
        let expected = [
            "listed as",
            "address",
            "timeline",
            "lag in bytes",
            "tags",
            "server_version",
            "version of Patroni",
        ];
        assert_eq!(told, expected);
        // Killed, and leader still in the store until its lock runs out.
        let killed = of(CLUSTER, &[None, Some(REPLICA)]);
        assert_eq!((killed.primaries(), killed.is_redundant), (Vec::new(), Some(false)));
        let second = REPLICA.replace("\"replica\"", "\"master\"");
        assert_eq!(of(CLUSTER, &[Some(PRIMARY), Some(&second)]).primaries().len(), 2);
        let stopped = PRIMARY.replace("\"running\"", "\"stopped\"");
        assert!(
            of(CLUSTER, &[Some(&stopped), Some(REPLICA)]).wrong().unwrap().contains("patroni1 is unknown")
        );
    }

    #[test]
    fn a_synchronous_cluster_is_redundant_once_a_commit_waits_for_one_that_streams() {
        let listed = CLUSTER.replace("\"replica\"", "\"sync_standby\"");
        assert_eq!(of(&listed, &[Some(PRIMARY), Some(REPLICA)]).is_redundant, Some(false));
        let awaited = PRIMARY.replace("async", "sync");
        assert_eq!(of(&listed, &[Some(&awaited), Some(REPLICA)]).is_redundant, Some(true));
        let behind = PRIMARY.replace("streaming", "catchup");
        assert_eq!(of(CLUSTER, &[Some(&behind), Some(REPLICA)]).is_redundant, Some(false));
    }

    #[test]
    fn nodes_that_were_named_are_its_members_and_no_others() {
        let cluster: Cluster = read(CLUSTER);
        let told = |nodes: &[&str]| {
            let nodes: Vec<Url> = nodes.iter().map(|text| text.parse().unwrap()).collect();
            differs(&nodes, &cluster).unwrap_or_default()
        };
        assert_eq!(told(&[]), "");
        assert_eq!(told(&["postgres://a@10.89.0.4/x", "postgres://a@10.89.0.6:5433/x"]), "");
        let fewer = told(&["postgres://a@10.89.0.4/x"]);
        assert!(
            fewer.starts_with("Patroni has 2 members (10.89.0.") && fewer.contains("the study names 1: "),
            "{fewer}"
        );
        let other = told(&["postgres://a@10.89.0.4/x", "postgres://a@10.89.0.9/x"]);
        assert!(other.contains("node 10.89.0.9:5432 is not a member in Patroni"), "{other}");
    }

    #[test]
    fn of_its_configuration_only_what_decides_is_kept() {
        let config = r#"{"ttl": 30, "loop_wait": 10, "maximum_lag_on_failover": 1048576, "synchronous_mode": "quorum",
            "postgresql": {"parameters": {"primary_conninfo": "password=secret"}}}"#;
        let expected = [
            ("ttl", "30"),
            ("loop_wait", "10"),
            ("maximum_lag_on_failover", "1048576"),
            ("synchronous_mode", "quorum"),
        ];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(chosen(&read(config)), expected);
    }
}
