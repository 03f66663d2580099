//! Availability groups of SQL Server: the listener is asked for all replicas, and each replica that is named for itself. What a replica is,
//! itself knows best: a secondary tells nothing of the others.
//!
//! Sources: <https://learn.microsoft.com/sql/relational-databases/system-dynamic-management-views/sys-dm-hadr-availability-replica-states-transact-sql>,
//! <https://learn.microsoft.com/sql/relational-databases/system-catalog-views/sys-availability-replicas-transact-sql> and
//! `sys-availability-groups-transact-sql` beside it. No availability group was there to try this on.

use std::time::Duration;

use super::{Member, Role, SeenCluster, ask_each, text};
use crate::{Error, Session, Url, Value};

/// Of the groups that hold a database, or of all where the database is in none.
const ASKED: &str = "SELECT CAST(g.name AS nvarchar(128)), CAST(r.replica_server_name AS nvarchar(256)), CAST(s.role_desc AS nvarchar(60)), \
     CAST(s.connected_state_desc AS nvarchar(60)), CAST(s.synchronization_health_desc AS nvarchar(60)), \
     CAST(r.availability_mode_desc AS nvarchar(60)), CAST(r.failover_mode_desc AS nvarchar(60)), CAST(r.session_timeout AS int), \
     CAST(COALESCE(s.is_local, 0) AS int), CAST(SERVERPROPERTY('ProductVersion') AS nvarchar(128)), \
     CAST(CASE WHEN EXISTS (SELECT 1 FROM sys.availability_databases_cluster AS d WHERE d.group_id = g.group_id \
     AND d.database_name = DB_NAME()) THEN 1 ELSE 0 END AS int) FROM sys.availability_groups AS g \
     JOIN sys.availability_replicas AS r ON r.group_id = g.group_id \
     LEFT JOIN sys.dm_hadr_availability_replica_states AS s ON s.replica_id = r.replica_id ORDER BY g.name, r.replica_server_name";

/// Since 2017 a commit can wait for a number of replicas.
const SETTINGS: [&str; 2] = [
    "SELECT CAST(name AS nvarchar(128)), CAST(failure_condition_level AS int), CAST(health_check_timeout AS int), \
     CAST(required_synchronized_secondaries_to_commit AS int) FROM sys.availability_groups ORDER BY name",
    "SELECT CAST(name AS nvarchar(128)), CAST(failure_condition_level AS int), CAST(health_check_timeout AS int) \
     FROM sys.availability_groups ORDER BY name",
];
const GRANT: &str = "check that the server is in an availability group, and in master GRANT VIEW SERVER STATE and VIEW ANY DEFINITION to the login";

/// A replica as one of them sees it.
#[derive(Clone, Debug, PartialEq)]
struct Replica {
    group: String,
    name: String,
    role: String,
    connected: String,
    health: String,
    mode: String,
    failover: String,
    session_timeout_s: String,
    is_local: bool,
    version: String,
    /// Whether the group has the database of the session.
    holds: bool,
}

pub(super) async fn look((listener, nodes): (&Url, &[Url]), limit: Duration) -> SeenCluster {
    let all: Vec<Url> = std::iter::once(listener).chain(nodes).cloned().collect();
    let answers = ask_each(&all, limit, ask).await;
    seen(nodes.len(), &answers)
}

async fn ask(session: &mut Session) -> Result<Vec<Replica>, Error> {
    let rows = session.query(ASKED, &[]).await?;
    Ok(rows.iter().filter_map(|row| replica(row)).collect())
}

fn replica(row: &[Value]) -> Option<Replica> {
    let [group, name, role, connected, health, mode, failover, session_timeout_s, is_local, version, holds] =
        row
    else {
        return None;
    };
    Some(Replica {
        group: text(group),
        name: text(name),
        role: text(role),
        connected: text(connected),
        health: text(health),
        mode: text(mode),
        failover: text(failover),
        session_timeout_s: text(session_timeout_s),
        is_local: text(is_local) == "1",
        version: text(version),
        holds: text(holds) == "1",
    })
}

/// What the listener and then the nodes told.
fn seen(nodes: usize, answers: &[Result<Vec<Replica>, Error>]) -> SeenCluster {
    let kind = "availability group".to_owned();
    let silent = answers.iter().find_map(|answer| answer.as_ref().err().map(ToString::to_string));
    let silent = silent.filter(|_| answers.iter().all(Result::is_err));
    let all: Vec<&Replica> = answers.iter().flatten().flatten().collect();
    let holding = all.iter().any(|replica| replica.holds);
    let all: Vec<&Replica> = all.into_iter().filter(|replica| replica.holds || !holding).collect();
    let mut groups: Vec<&str> = all.iter().map(|replica| replica.group.as_str()).collect();
    groups.sort_unstable();
    groups.dedup();
    let differs = match groups.as_slice() {
        [] if silent.is_none() => Some(format!("the server shows no availability group: {GRANT}")),
        [] | [_] => other_number(nodes, &all, answers),
        several => Some(format!(
            "the server has several availability groups ({}): in `address`, name a database of the group to measure",
            several.join(", ")
        )),
    };
    let mut members: Vec<Member> = Vec::new();
    for replica in &all {
        if !members.iter().any(|member| member.name == replica.name) {
            members.push(member(&all, &replica.name));
        }
    }
    let is_well = |replica: &&&Replica| replica.health == "HEALTHY" && replica.connected == "CONNECTED";
    // The primary alone sees all of them.
    let seen_by_primary = all.iter().filter(|replica| !replica.is_local && !replica.role.is_empty());
    let well = seen_by_primary.clone().filter(is_well).count();
    let leads = all.iter().any(|replica| replica.is_local && replica.role == "PRIMARY");
    let is_redundant =
        Some(leads && well > 0 && well == seen_by_primary.count() && well + 1 >= members.len());
    SeenCluster { kind, members, is_redundant, differs, silent }
}

/// A replica by all that is told of it: what it says itself stands over what others say.
fn member(all: &[&Replica], name: &str) -> Member {
    let of_it = || all.iter().filter(|replica| replica.name == name);
    let known = of_it().find(|replica| replica.is_local).or_else(|| of_it().find(|one| !one.role.is_empty()));
    let known = known.or_else(|| of_it().next());
    let role = match known.map(|replica| replica.role.as_str()) {
        Some("PRIMARY") => Role::Primary,
        Some("SECONDARY") => Role::Standby,
        _ => Role::Unknown,
    };
    let mut member = Member::new(name, role);
    if let Some(replica) = known {
        let told = [
            ("version", if replica.is_local { &replica.version } else { "" }),
            ("connected_state", &replica.connected),
            ("synchronization_health", &replica.health),
            ("availability_mode", &replica.mode),
            ("failover_mode", &replica.failover),
            ("session_timeout", &replica.session_timeout_s),
        ];
        told.into_iter()
            .filter(|(_, value)| !value.is_empty())
            .for_each(|(what, value)| member.tell(what, value));
    }
    member
}

/// More or fewer nodes than replicas, or a node that is none.
fn other_number(nodes: usize, all: &[&Replica], answers: &[Result<Vec<Replica>, Error>]) -> Option<String> {
    if nodes == 0 {
        return None;
    }
    let mut names: Vec<&str> = all.iter().map(|replica| replica.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    if answers.iter().skip(1).any(|answer| answer.as_ref().is_ok_and(Vec::is_empty)) {
        return Some(format!("one of the nodes shows no availability group: {GRANT}"));
    }
    (names.len() != nodes).then(|| {
        format!(
            "the availability group has {} replicas ({}), but the study names {nodes}: name exactly these replicas",
            names.len(),
            names.join(", ")
        )
    })
}

pub(super) async fn settings(session: &mut Session) -> Result<Vec<(String, String)>, Error> {
    let mut refused = None;
    for way in SETTINGS {
        match session.query(way, &[]).await {
            Ok(rows) => return Ok(rows.iter().flat_map(|row| of_group(row)).collect()),
            Err(error) if error.is_lost() => return Err(error),
            Err(error) => refused = refused.or(Some(error)),
        }
    }
    refused.map_or(Ok(Vec::new()), Err)
}

fn of_group(row: &[Value]) -> Vec<(String, String)> {
    let Some((group, values)) = row.split_first() else { return Vec::new() };
    let names =
        ["failure_condition_level", "health_check_timeout", "required_synchronized_secondaries_to_commit"];
    let told = names.iter().zip(values);
    told.map(|(name, value)| (format!("{name} of {}", text(group)), text(value))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows in the form of the documentation: what a primary sees, and a secondary of itself alone.
    fn rows(asked_of: &str, roles: &[(&str, &str, &str)]) -> Result<Vec<Replica>, Error> {
        let row = |(name, role, health): &(&str, &str, &str)| {
            let is_seen = !role.is_empty();
            let or_null = |text: &str| if is_seen { Value::Text(text.to_owned()) } else { Value::Null };
            vec![
                Value::Text("shop".to_owned()),
                Value::Text((*name).to_owned()),
                or_null(role),
                or_null("CONNECTED"),
                or_null(health),
                Value::Text("SYNCHRONOUS_COMMIT".to_owned()),
                Value::Text("AUTOMATIC".to_owned()),
                Value::I64(10),
                Value::I64(i64::from(*name == asked_of)),
                Value::Text("16.0.4085.2".to_owned()),
                Value::I64(1),
            ]
        };
        Ok(roles.iter().filter_map(|one| replica(&row(one))).collect())
    }

    #[test]
    fn the_primary_sees_all_replicas_and_a_secondary_itself() {
        let primary = rows("SQL1", &[("SQL1", "PRIMARY", "HEALTHY"), ("SQL2", "SECONDARY", "HEALTHY")]);
        let secondary = rows("SQL2", &[("SQL1", "", ""), ("SQL2", "SECONDARY", "HEALTHY")]);
        let whole = seen(2, &[primary.clone(), primary.clone(), secondary.clone()]);
        assert_eq!((whole.primaries(), whole.wrong()), (vec!["SQL1".to_owned()], None));
        assert_eq!(whole.is_redundant, Some(true));
        assert!(
            whole.members[1]
                .told
                .contains(&("availability_mode".to_owned(), "SYNCHRONOUS_COMMIT".to_owned()))
        );
        let behind = rows("SQL1", &[("SQL1", "PRIMARY", "HEALTHY"), ("SQL2", "SECONDARY", "NOT_HEALTHY")]);
        assert_eq!(seen(0, &[behind]).is_redundant, Some(false));
        let headless = seen(2, &[secondary.clone(), Err(Error::Lost("gone".to_owned())), secondary]);
        assert!(headless.wrong().unwrap().contains("none of its members accepts writes"), "{headless:?}");
        assert_eq!(headless.is_redundant, Some(false));
        let second = rows("SQL2", &[("SQL1", "", ""), ("SQL2", "PRIMARY", "HEALTHY")]);
        let both = seen(2, &[primary.clone(), primary, second]);
        assert!(both.wrong().unwrap().starts_with("SQL1 and SQL2 accept writes at the same time"));
    }

    #[test]
    fn nodes_are_the_replicas_and_no_others() {
        let primary = rows("SQL1", &[("SQL1", "PRIMARY", "HEALTHY"), ("SQL2", "SECONDARY", "HEALTHY")]);
        let third = seen(3, &[primary.clone(), primary.clone(), primary.clone(), primary.clone()]);
        assert!(
            third
                .wrong()
                .unwrap()
                .contains("the availability group has 2 replicas (SQL1, SQL2), but the study names 3")
        );
        let none = seen(0, &[Ok(Vec::new())]).wrong().unwrap();
        assert!(none.contains("no availability group") && none.contains("VIEW SERVER STATE"), "{none}");
        let alone = seen(2, &[primary.clone(), primary, Ok(Vec::new())]).wrong().unwrap();
        assert!(alone.starts_with("one of the nodes shows no availability group"), "{alone}");
    }

    #[test]
    fn settings_are_named_with_their_group_in_every_version() {
        let row = [Value::Text("shop".to_owned()), Value::I64(3), Value::I64(30000)];
        let expected = [("failure_condition_level of shop", "3"), ("health_check_timeout of shop", "30000")];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(of_group(&row), expected);
    }
}
