//! Looks at the nodes of a pair of PostgreSQL while others break it: each node is asked on its own, so that one that hangs holds up nobody.

use std::time::Duration;

use super::PairKind;
use super::ask::Psql;

/// What is looked at again and again is asked anew soon.
const LOOK_WITHIN: Duration = Duration::from_secs(1);

/// Looks at the nodes of a pair.
#[derive(Clone, Debug)]
pub struct Watch {
    psql: Psql,
    /// Names and ports.
    nodes: Vec<(&'static str, u16)>,
    /// Whether a commit waits for one that stands by.
    is_synchronous: bool,
}

/// How the nodes of a pair stand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Those that take writes, by their names.
    pub primaries: Vec<String>,
    /// Whether all others follow the one that takes writes, as closely as they are to.
    pub is_redundant: bool,
}

impl Watch {
    pub(super) fn new(psql: Psql, nodes: Vec<(&'static str, u16)>, kind: PairKind) -> Self {
        Self { psql, nodes, is_synchronous: kind != PairKind::Async }
    }

    /// Looks. Who does not answer within a second takes no writes.
    #[must_use]
    pub fn look(&self) -> Seen {
        let answers: Vec<Option<String>> = std::thread::scope(|scope| {
            let asked = self.nodes.iter().map(|node| {
                std::thread::Builder::new()
                    .name("watch".to_owned())
                    .spawn_scoped(scope, || self.ask(*node))
                    .ok()
            });
            let asked: Vec<_> = asked.collect();
            asked.into_iter().map(|thread| thread?.join().ok().flatten()).collect()
        });
        let followers: Vec<(&str, &str)> = self
            .nodes
            .iter()
            .zip(&answers)
            .filter_map(|((name, _), answer)| Some((*name, answer.as_deref()?.strip_prefix("t|")?)))
            .collect();
        let is_redundant = followers.first().is_some_and(|(_, followers)| self.is_followed(followers));
        Seen { primaries: followers.iter().map(|(name, _)| (*name).to_owned()).collect(), is_redundant }
    }

    /// `t|1|1` of one that takes writes: how many follow it, and how many of these it waits for.
    fn ask(&self, node: (&str, u16)) -> Option<String> {
        const ASKED: &str = "SELECT NOT pg_is_in_recovery() AND current_setting('default_transaction_read_only') = 'off', count(*), \
                             count(*) FILTER (WHERE sync_state IN ('sync', 'quorum')) FROM pg_stat_replication \
                             WHERE state = 'streaming' AND application_name <> 'pg_basebackup'";
        self.psql.ask(node, "postgres", ASKED, LOOK_WITHIN).ok()
    }

    fn is_followed(&self, followers: &str) -> bool {
        let counts = followers
            .split_once('|')
            .and_then(|(all, awaited)| Some((all.parse().ok()?, awaited.parse().ok()?)));
        let Some((all, awaited)): Option<(usize, usize)> = counts else { return false };
        all + 1 >= self.nodes.len() && (awaited > 0 || !self.is_synchronous)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_primary_is_followed_if_all_others_stream_and_a_commit_waits_where_it_is_to() {
        let watch = |kind, nodes: usize| {
            let psql = Psql { program: "psql".into(), sockets: "/".into() };
            Watch::new(psql, vec![("node", 1); nodes], kind)
        };
        let sync = watch(PairKind::Sync, 2);
        assert_eq!(
            ["1|1", "1|0", "0|0", "soon"].map(|told| sync.is_followed(told)),
            [true, false, false, false]
        );
        assert!(watch(PairKind::Async, 2).is_followed("1|0"));
        assert!(
            watch(PairKind::Quorum, 3).is_followed("2|2") && !watch(PairKind::Quorum, 3).is_followed("1|1")
        );
    }
}
