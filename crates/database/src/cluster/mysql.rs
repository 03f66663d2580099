//! MariaDB and MySQL whose members are known by their addresses: of Galera each tells whether it is part of the cluster, of replication
//! each whether it takes writes or follows.
//!
//! Sources: <https://galeracluster.com/library/documentation/galera-status-variables.html>,
//! <https://mariadb.com/kb/en/show-replica-status/>. All members of Galera take writes: the first of those named that is part of it counts as
//! the one that does, since one writer is what is measured.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{Member, Role, SeenCluster, ask_each, members_of, named, text};
use crate::{Error, Protocol, Session, Url, Value, Wanted};

/// What decides how a failure is noticed; options of the provider hold addresses, and no password.
pub(super) const SETTINGS: &str = "SHOW GLOBAL VARIABLES WHERE variable_name IN ('binlog_format', 'gtid_strict_mode', \
     'innodb_flush_log_at_trx_commit', 'rpl_semi_sync_master_enabled', 'rpl_semi_sync_master_timeout', \
     'rpl_semi_sync_source_enabled', 'rpl_semi_sync_source_timeout', 'slave_net_timeout', 'sync_binlog', 'version', \
     'wsrep_cluster_name', 'wsrep_on', 'wsrep_provider_options', 'wsrep_slave_threads', 'wsrep_sync_wait')";

const STATUS: &str = "SHOW GLOBAL STATUS WHERE variable_name IN ('wsrep_cluster_conf_id', 'wsrep_cluster_size', \
     'wsrep_cluster_state_uuid', 'wsrep_cluster_status', 'wsrep_flow_control_paused', 'wsrep_incoming_addresses', \
     'wsrep_local_state_comment', 'wsrep_provider_name', 'wsrep_provider_version', 'wsrep_ready')";

/// What a member told.
#[derive(Clone, Debug, Default, PartialEq)]
struct Told {
    version: String,
    reads_only: bool,
    /// Counters of Galera, by their names.
    wsrep: BTreeMap<String, String>,
    /// How it follows another one, by the names of the columns; empty where it follows nobody, or may not tell.
    follows: BTreeMap<String, String>,
}

pub(super) async fn look(nodes: &[Url], limit: Duration) -> SeenCluster {
    let answers = ask_each(nodes, limit, ask).await;
    let is_galera = answers.iter().flatten().any(Told::has_provider);
    if is_galera { galera(nodes, &answers) } else { replicas(nodes, &answers) }
}

async fn ask(session: &mut Session) -> Result<Told, Error> {
    let status = named(session, STATUS).await?;
    let lower = |(name, value): (String, String)| (name.to_ascii_lowercase(), value);
    let mut told = Told { wsrep: status.into_iter().map(lower).collect(), ..Told::default() };
    let rows = session.query("SELECT CAST(@@GLOBAL.read_only AS SIGNED), VERSION()", &[]).await?;
    if let Some([reads_only, version]) = rows.first().map(Vec::as_slice) {
        (told.reads_only, told.version) = (text(reads_only) == "1", text(version));
    }
    if !told.has_provider() {
        // MySQL from 8.4 on knows the second alone. Who may not see it is told by `read_only` alone.
        for way in ["SHOW SLAVE STATUS", "SHOW REPLICA STATUS"] {
            match session.statement(way, &[], (Protocol::Simple, Wanted::Last)).await {
                Ok(answer) => {
                    let column =
                        |(name, value): &(String, Value)| (name.replace("Source", "Master"), text(value));
                    told.follows = answer.last.iter().map(column).collect();
                    break;
                }
                Err(error) if error.is_lost() => return Err(error),
                Err(_) => {}
            }
        }
    }
    Ok(told)
}

impl Told {
    fn of_galera(&self, name: &str) -> &str {
        self.wsrep.get(name).map_or("", String::as_str)
    }

    /// Whether it has what makes it a member of Galera; MariaDB without has the counters, too.
    fn has_provider(&self) -> bool {
        !matches!(self.of_galera("wsrep_provider_name"), "" | "none")
    }

    /// Whether it is part of a cluster that takes writes.
    fn is_member(&self) -> bool {
        self.of_galera("wsrep_cluster_status") == "Primary" && self.of_galera("wsrep_ready") == "ON"
    }

    fn is_synced(&self) -> bool {
        self.is_member() && self.of_galera("wsrep_local_state_comment") == "Synced"
    }

    /// How many members it sees that take sessions: an arbitrator listens nowhere.
    fn incoming(&self) -> usize {
        self.of_galera("wsrep_incoming_addresses").split(',').filter(|place| !place.trim().is_empty()).count()
    }

    /// A column of how it follows, whichever word the version has for it.
    fn follow(&self, name: &str) -> Option<&str> {
        let newer = name.replace("Slave", "Replica");
        self.follows.get(name).or_else(|| self.follows.get(&newer)).map(String::as_str)
    }

    fn receives(&self) -> bool {
        self.follow("Slave_IO_Running") == Some("Yes")
    }

    /// Whether it has all that it received, and receives.
    fn follows_closely(&self) -> bool {
        let behind = self.follow("Seconds_Behind_Master").and_then(|behind| behind.parse::<u64>().ok());
        self.receives() && self.follow("Slave_SQL_Running") == Some("Yes") && behind == Some(0)
    }

    fn takes_writes(&self) -> bool {
        !self.reads_only && matches!(self.follow("Slave_IO_Running"), None | Some("No"))
    }
}

/// Members of Galera. Two clusters of one name that both take writes are two of which each has a first.
fn galera(nodes: &[Url], answers: &[Result<Told, Error>]) -> SeenCluster {
    let mut firsts: Vec<(&str, &Url)> = Vec::new();
    for (url, told) in nodes.iter().zip(answers) {
        let Some(told) = told.as_ref().ok().filter(|told| told.is_member()) else { continue };
        let cluster = told.of_galera("wsrep_cluster_state_uuid");
        if !firsts.iter().any(|(known, _)| *known == cluster) {
            firsts.push((cluster, url));
        }
    }
    let read = |name: &str, told: &Told| {
        let is_first = firsts.iter().any(|(_, url)| super::place(url) == name);
        let role = match (is_first, told.is_member()) {
            (true, _) => Role::Primary,
            (false, true) => Role::Standby,
            (false, false) => Role::Unknown,
        };
        let mut member = Member::new(name, role);
        member.tell("version", &told.version);
        for (what, value) in told.wsrep.iter().filter(|(_, value)| !value.is_empty()) {
            member.tell(what, value);
        }
        member
    };
    let (members, silent) = members_of(nodes, answers, read);
    let told: Vec<&Told> = answers.iter().flatten().filter(|told| told.is_member()).collect();
    let all_synced = told.len() == nodes.len() && told.iter().all(|told| told.is_synced());
    SeenCluster {
        kind: "Galera".to_owned(),
        members,
        is_redundant: Some(all_synced && told.len() > 1),
        differs: told.first().and_then(|told| other_number(told.incoming(), nodes.len())),
        silent,
    }
}

fn other_number(incoming: usize, nodes: usize) -> Option<String> {
    (incoming > nodes || (incoming < nodes && incoming > 0)).then(|| {
        format!(
            "the address names {nodes}, but wsrep_incoming_addresses lists {incoming}: name exactly the nodes of the cluster, and \
            start those that are down"
        )
    })
}

/// Members of replication.
fn replicas(nodes: &[Url], answers: &[Result<Told, Error>]) -> SeenCluster {
    let read = |name: &str, told: &Told| {
        let mut member = Member::new(name, if told.takes_writes() { Role::Primary } else { Role::Standby });
        member.tell("version", &told.version);
        for what in
            ["Slave_IO_Running", "Slave_SQL_Running", "Seconds_Behind_Master", "Master_Host", "Master_Port"]
        {
            if let Some(value) = told.follow(what) {
                member.tell(what, value);
            }
        }
        member
    };
    let (members, silent) = members_of(nodes, answers, read);
    let writing = answers.iter().flatten().filter(|told| told.takes_writes()).count();
    let standing: Vec<&Told> = answers.iter().flatten().filter(|told| !told.takes_writes()).collect();
    let is_told = standing.iter().all(|told| !told.follows.is_empty());
    let follow = standing.len() + 1 == nodes.len() && standing.iter().all(|told| told.follows_closely());
    SeenCluster {
        kind: "MariaDB or MySQL by a list of addresses".to_owned(),
        members,
        is_redundant: is_told.then_some(writing == 1 && nodes.len() > 1 && follow),
        differs: None,
        silent,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes() -> Vec<Url> {
        ["mysql://a@h1", "mysql://a@h2"].map(|text| text.parse().unwrap()).to_vec()
    }

    fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    fn member(status: &str, state: &str, cluster: &str, incoming: &str) -> Result<Told, Error> {
        let wsrep = map(&[
            ("wsrep_cluster_state_uuid", cluster),
            ("wsrep_cluster_status", status),
            ("wsrep_incoming_addresses", incoming),
            ("wsrep_local_state_comment", state),
            ("wsrep_provider_name", "Galera"),
            ("wsrep_ready", if status == "Primary" { "ON" } else { "OFF" }),
        ]);
        Ok(Told { wsrep, ..Told::default() })
    }

    #[test]
    fn the_first_member_of_galera_counts_as_the_one_that_writes_and_an_arbitrator_as_none() {
        let both = ",h1:3306,h2:3306";
        let seen = |first, second| galera(&nodes(), &[first, second]);
        let synced = || member("Primary", "Synced", "u1", both);
        let whole = seen(synced(), synced());
        assert_eq!((whole.primaries(), whole.is_redundant), (vec!["h1:3306".to_owned()], Some(true)));
        assert_eq!(whole.wrong(), None);
        let out = || member("non-Primary", "Initialized", "u1", "h1:3306");
        let left = seen(out(), member("Primary", "Synced", "u1", ",h2:3306"));
        assert_eq!((left.primaries(), left.is_redundant), (vec!["h2:3306".to_owned()], Some(false)));
        assert!(
            left.wrong().unwrap().contains("the address names 2, but wsrep_incoming_addresses lists 1"),
            "{left:?}"
        );
        let joins = seen(synced(), member("Primary", "Joined", "u1", both));
        assert_eq!(joins.is_redundant, Some(false));
        let split = seen(synced(), member("Primary", "Synced", "u2", "h2:3306"));
        assert!(split.wrong().unwrap().contains("h1:3306 and h2:3306 accept writes at the same time"));
    }

    #[test]
    fn a_replica_follows_in_the_words_of_either_version() {
        let told = |reads_only, follows: &[(&str, &str)]| {
            Ok(Told { reads_only, follows: map(follows), ..Told::default() })
        };
        let older =
            [("Slave_IO_Running", "Yes"), ("Slave_SQL_Running", "Yes"), ("Seconds_Behind_Master", "0")];
        let newer =
            [("Replica_IO_Running", "Yes"), ("Replica_SQL_Running", "Yes"), ("Seconds_Behind_Master", "0")];
        for follows in [&older[..], &newer[..]] {
            let seen = replicas(&nodes(), &[told(false, &[]), told(false, follows)]);
            assert_eq!((seen.primaries(), seen.is_redundant), (vec!["h1:3306".to_owned()], Some(true)));
        }
        let behind =
            [("Slave_IO_Running", "Yes"), ("Slave_SQL_Running", "Yes"), ("Seconds_Behind_Master", "7")];
        assert_eq!(replicas(&nodes(), &[told(false, &[]), told(true, &behind)]).is_redundant, Some(false));
        let untold = replicas(&nodes(), &[told(false, &[]), told(true, &[])]);
        assert_eq!((untold.is_redundant, untold.wrong()), (None, None));
        assert_eq!(replicas(&nodes(), &[told(true, &[]), told(true, &behind)]).primaries(), [""; 0]);
    }
}
