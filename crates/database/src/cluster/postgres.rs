//! PostgreSQL whose members are known by their addresses alone, whoever decides among them: each is asked whether it takes writes, and
//! the one that does who follows it.
//!
//! Source: <https://www.postgresql.org/docs/current/monitoring-stats.html#MONITORING-PG-STAT-REPLICATION-VIEW>. A login that may not see
//! the statistics of others is shown that there are followers, and nothing of them.

use std::time::Duration;

use super::{Member, Role, SeenCluster, ask_each, members_of, text};
use crate::{Error, Session, Url, Value};

/// What decides how fast a failure is noticed, and what a commit waits for.
pub(super) const SETTINGS: &str = "SELECT name, setting || coalesce(' ' || nullif(unit, ''), '') FROM pg_settings WHERE name IN \
     ('hot_standby', 'max_standby_streaming_delay', 'recovery_min_apply_delay', 'synchronous_commit', 'synchronous_standby_names', \
     'tcp_keepalives_idle', 'tcp_user_timeout', 'wal_level', 'wal_receiver_timeout', 'wal_sender_timeout') ORDER BY name";

/// Copies for backups follow and stand by for nobody; subscribers have parts of it.
const ASKED: &str = "SELECT CASE WHEN pg_is_in_recovery() THEN 1 ELSE 0 END, \
     CASE WHEN current_setting('default_transaction_read_only') = 'on' THEN 1 ELSE 0 END, current_setting('server_version'), \
     (SELECT system_identifier::text FROM pg_control_system()), (SELECT timeline_id FROM pg_control_checkpoint()), \
     current_setting('synchronous_standby_names'), count(*) FILTER (WHERE r.state = 'streaming'), \
     count(*) FILTER (WHERE r.state = 'streaming' AND r.sync_state IN ('sync', 'quorum')), \
     count(*) FILTER (WHERE r.pid IS NOT NULL AND r.state IS NULL) \
     FROM pg_stat_replication AS r WHERE coalesce(r.application_name, '') NOT IN ('pg_basebackup', 'pg_receivewal') \
     AND NOT EXISTS (SELECT FROM pg_replication_slots AS s WHERE s.active_pid = r.pid AND s.slot_type = 'logical')";

/// What a member told.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Told {
    takes_writes: bool,
    version: String,
    /// Of the cluster of files that all members have.
    system: String,
    timeline: i64,
    /// Whether a commit waits for somebody.
    is_synchronous: bool,
    followers: i64,
    /// Those that a commit waits for.
    awaited: i64,
    /// Those of which nothing is shown to this login.
    hidden: i64,
}

pub(super) async fn look(nodes: &[Url], limit: Duration) -> SeenCluster {
    seen(nodes, &ask_each(nodes, limit, ask).await)
}

async fn ask(session: &mut Session) -> Result<Told, Error> {
    let rows = session.query(ASKED, &[]).await?;
    told(rows.first().map_or(&[], Vec::as_slice)).ok_or_else(|| {
        Error::Statement("the server's answer about replication is in an unknown format".to_owned())
    })
}

fn told(row: &[Value]) -> Option<Told> {
    let [in_recovery, reads_only, version, system, timeline, waits_for, followers, awaited, hidden] = row
    else {
        return None;
    };
    let number = |value: &Value| text(value).parse::<i64>().ok();
    Some(Told {
        takes_writes: number(in_recovery)? == 0 && number(reads_only)? == 0,
        version: text(version),
        system: text(system),
        timeline: number(timeline)?,
        is_synchronous: !text(waits_for).is_empty(),
        followers: number(followers)?,
        awaited: number(awaited)?,
        hidden: number(hidden)?,
    })
}

fn seen(nodes: &[Url], answers: &[Result<Told, Error>]) -> SeenCluster {
    let read = |name: &str, told: &Told| {
        let mut member = Member::new(name, if told.takes_writes { Role::Primary } else { Role::Standby });
        member.tell("version", &told.version);
        member.tell("timeline at its last checkpoint", told.timeline);
        if told.takes_writes && told.hidden > 0 {
            member.tell(
                "followers",
                format!("{} that this login has no permission to see: GRANT pg_monitor TO this login, otherwise \"redundant\" \
                remains unknown", told.hidden),
            );
        } else if told.takes_writes {
            member.tell("followers", format!("{}, and commits wait for {}", told.followers, told.awaited));
        }
        member
    };
    let (members, silent) = members_of(nodes, answers, read);
    let mut writing = answers.iter().filter_map(|told| told.as_ref().ok()).filter(|told| told.takes_writes);
    let is_redundant = match (writing.next(), writing.next()) {
        (Some(told), None) if nodes.len() > 1 => is_followed(told, nodes.len()),
        _ => Some(false),
    };
    let kind = "PostgreSQL by a list of addresses".to_owned();
    SeenCluster { kind, members, is_redundant, differs: differs(nodes, answers), silent }
}

/// Whether all others follow one that takes writes, as closely as they are to; none where that is not shown.
fn is_followed(told: &Told, nodes: usize) -> Option<bool> {
    let others = nodes as i64 - 1;
    (told.hidden == 0).then_some(told.followers >= others && (told.awaited > 0 || !told.is_synchronous))
}

/// Members that are copies of different clusters.
fn differs(nodes: &[Url], answers: &[Result<Told, Error>]) -> Option<String> {
    let mut known =
        nodes.iter().zip(answers).filter_map(|(url, told)| Some((url, &told.as_ref().ok()?.system)));
    let (first, system) = known.next()?;
    let (other, its) = known.find(|(_, its)| *its != system)?;
    Some(format!(
        "{first} and {other} are not in the same cluster: their system identifiers are {system} and {its}. Give addresses of one cluster"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        text.parse().unwrap()
    }

    fn node(takes_writes: bool, system: &str, followers: i64, hidden: i64) -> Result<Told, Error> {
        let timeline = 3;
        Ok(Told {
            takes_writes,
            version: "15.14".to_owned(),
            system: system.to_owned(),
            timeline,
            followers,
            hidden,
            ..Told::default()
        })
    }

    fn of(answers: &[Result<Told, Error>]) -> SeenCluster {
        seen(&[url("postgres://a@h1/x"), url("postgres://a@h2/x")], answers)
    }

    #[test]
    fn all_others_follow_one_that_writes_or_nobody_knows_whether_they_do() {
        let second = node(false, "7", 0, 0);
        let redundant = |first| of(&[first, second.clone()]).is_redundant;
        assert_eq!(redundant(node(true, "7", 1, 0)), Some(true));
        assert_eq!(redundant(node(true, "7", 0, 0)), Some(false));
        assert_eq!(redundant(node(true, "7", 0, 1)), None, "not shown to everybody");
        assert_eq!(redundant(node(false, "7", 1, 0)), Some(false), "nobody writes");
        let waits = |awaited| Told { is_synchronous: true, awaited, ..node(true, "7", 1, 0).unwrap() };
        assert_eq!([0, 1].map(|awaited| is_followed(&waits(awaited), 2)), [Some(false), Some(true)]);
        let seen = of(&[node(true, "7", 1, 0), second.clone()]);
        assert_eq!((seen.primaries(), seen.wrong()), (vec!["h1:5432".to_owned()], None));
        assert_eq!(of(&[node(true, "7", 0, 0), node(true, "7", 0, 0)]).primaries().len(), 2);
    }

    #[test]
    fn nodes_of_two_clusters_are_told_apart() {
        let told = of(&[node(true, "7", 1, 0), node(false, "8", 0, 0)]).wrong().unwrap();
        assert!(
            told.starts_with("postgres://a@h1/x and postgres://a@h2/x are not in the same cluster"),
            "{told}"
        );
        let lost = Err(Error::Unreachable("no route".to_owned()));
        let seen = of(&[node(true, "7", 0, 0), lost]);
        assert_eq!((seen.wrong(), seen.is_redundant), (None, Some(false)));
        assert_eq!(seen.members[1].told, [("no answer".to_owned(), "no route".to_owned())]);
    }
}
