//! Looks at the nodes of a pair while others break it: each node is asked on its own, so that one that hangs holds up nobody.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use super::ask::{MariaDbClient, Psql};
use super::{autoctl, galera, replicas};

/// What is looked at again and again is asked anew soon.
const LOOK_WITHIN: Duration = Duration::from_secs(1);

/// Looks at the nodes of a pair.
#[derive(Clone, Debug)]
pub struct Watch {
    by: Asked,
    nodes: Vec<Watched>,
    /// Who decides who takes over, if it is none of the nodes and can be asked.
    witness: Option<Watched>,
}

/// Who is asked, and what.
#[derive(Clone, Debug)]
pub(super) enum Asked {
    /// PostgreSQL, of which a commit may wait for one that stands by.
    Postgres { psql: Psql, is_synchronous: bool },
    /// Nodes of Galera, with the number of the one that was written to last.
    Galera { client: MariaDbClient, writer: Arc<AtomicUsize> },
    /// MariaDB that replicates.
    Replicas(MariaDbClient),
}

/// Where a node is asked.
#[derive(Clone, Debug)]
pub(super) struct Watched {
    pub(super) name: &'static str,
    pub(super) port: u16,
    /// Of MariaDB.
    pub(super) socket: PathBuf,
}

/// How the nodes of a pair stand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Those that take writes, by their names; of Galera, all of whose nodes take them, the one that is written to.
    pub primaries: Vec<String>,
    /// Whether all others follow the one that takes writes, as closely as they are to.
    pub is_redundant: bool,
    /// Whether whoever decides who takes over holds a node for gone; never where nobody decides.
    pub is_noticed: bool,
}

impl Watch {
    pub(super) fn new(by: Asked, nodes: Vec<Watched>, witness: Option<Watched>) -> Self {
        Self { by, nodes, witness }
    }

    /// Looks. Who does not answer within a second takes no writes.
    #[must_use]
    pub fn look(&self) -> Seen {
        match &self.by {
            Asked::Postgres { psql, is_synchronous } => self.look_at_postgres(psql, *is_synchronous),
            Asked::Galera { client, writer } => {
                let members =
                    self.of_each(|node| galera::Member::ask(client, node.place(), LOOK_WITHIN).ok());
                let primary = galera::writer_of(&members, writer);
                let primaries =
                    primary.map(|number| self.nodes[number].name.to_owned()).into_iter().collect();
                let is_noticed = galera::has_lost_one(&members);
                Seen { primaries, is_redundant: galera::is_whole(&members), is_noticed }
            }
            Asked::Replicas(client) => self.look_at_replicas(client),
        }
    }

    fn look_at_postgres(&self, psql: &Psql, is_synchronous: bool) -> Seen {
        let (answers, is_noticed) = std::thread::scope(|scope| {
            let monitor = self.witness.as_ref().and_then(|monitor| {
                let ask = move || is_noticed(psql, (monitor.name, monitor.port));
                std::thread::Builder::new().name("watch".to_owned()).spawn_scoped(scope, ask).ok()
            });
            let answers = self.of_each(|node| ask_postgres(psql, (node.name, node.port)));
            (answers, monitor.is_some_and(|monitor| monitor.join().unwrap_or(false)))
        });
        let followers: Vec<(&str, &str)> = self
            .nodes
            .iter()
            .zip(&answers)
            .filter_map(|(node, answer)| Some((node.name, answer.as_deref()?.strip_prefix("t|")?)))
            .collect();
        let is_redundant = followers
            .first()
            .is_some_and(|(_, followers)| is_followed(followers, self.nodes.len(), is_synchronous));
        let primaries = followers.iter().map(|(name, _)| (*name).to_owned()).collect();
        Seen { primaries, is_redundant, is_noticed }
    }

    /// Who leads is asked first, so that what follows has had the time to receive what was written then.
    fn look_at_replicas(&self, client: &MariaDbClient) -> Seen {
        let positions = self.of_each(|node| replicas::leads_at(client, node.place(), LOOK_WITHIN));
        let leading: Vec<(&Watched, &String)> = self
            .nodes
            .iter()
            .zip(&positions)
            .filter_map(|(node, position)| Some((node, position.as_ref()?)))
            .collect();
        let primaries = leading.iter().map(|(node, _)| node.name.to_owned()).collect();
        let [(leader, written)] = leading.as_slice() else { return Seen { primaries, ..Seen::default() } };
        let follows = |node: &Watched| {
            let following = replicas::Following::ask(client, node.place(), LOOK_WITHIN);
            following.is_ok_and(|following| following.has_received(written))
        };
        let is_redundant = self.nodes.iter().all(|node| node.name == leader.name || follows(node));
        Seen { primaries, is_redundant, is_noticed: false }
    }

    /// What each node says, all of them at once.
    fn of_each<T: Send>(&self, ask: impl Fn(&Watched) -> Option<T> + Sync) -> Vec<Option<T>> {
        std::thread::scope(|scope| {
            let ask = &ask;
            let asked = self.nodes.iter().map(|node| {
                std::thread::Builder::new()
                    .name("watch".to_owned())
                    .spawn_scoped(scope, move || ask(node))
                    .ok()
            });
            let asked: Vec<_> = asked.collect();
            asked.into_iter().map(|thread| thread?.join().ok().flatten()).collect()
        })
    }
}

impl Watched {
    fn place(&self) -> (&str, &std::path::Path) {
        (self.name, &self.socket)
    }
}

/// `t|1|1` of one that takes writes: how many follow it, and how many of these it waits for.
fn ask_postgres(psql: &Psql, node: (&str, u16)) -> Option<String> {
    const ASKED: &str = "SELECT NOT pg_is_in_recovery() AND current_setting('default_transaction_read_only') = 'off', count(*), \
                         count(*) FILTER (WHERE sync_state IN ('sync', 'quorum')) FROM pg_stat_replication \
                         WHERE state = 'streaming' AND application_name <> 'pg_basebackup'";
    psql.ask(node, "postgres", ASKED, LOOK_WITHIN).ok()
}

/// Whether a monitor wants a node out of its place: one that it demotes, or that is to catch up before it counts again.
fn is_noticed(psql: &Psql, monitor: (&str, u16)) -> bool {
    const ASKED: &str = "SELECT count(*) FROM pgautofailover.node \
                         WHERE goalstate::text IN ('draining', 'demote_timeout', 'demoted', 'catchingup')";
    let told = psql.ask(monitor, autoctl::DATABASE, ASKED, LOOK_WITHIN);
    told.is_ok_and(|count| count.trim() != "0")
}

fn is_followed(followers: &str, nodes: usize, is_synchronous: bool) -> bool {
    let counts =
        followers.split_once('|').and_then(|(all, awaited)| Some((all.parse().ok()?, awaited.parse().ok()?)));
    let Some((all, awaited)): Option<(usize, usize)> = counts else { return false };
    all + 1 >= nodes && (awaited > 0 || !is_synchronous)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_primary_is_followed_if_all_others_stream_and_a_commit_waits_where_it_is_to() {
        assert_eq!(
            ["1|1", "1|0", "0|0", "soon"].map(|told| is_followed(told, 2, true)),
            [true, false, false, false]
        );
        assert!(is_followed("1|0", 2, false));
        assert!(is_followed("2|2", 3, true) && !is_followed("1|1", 3, true));
    }
}
