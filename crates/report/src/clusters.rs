//! Clusters that somebody else runs: for a plan what is loaded and broken of them, for a report how they were found.

use record::{AttachedCluster, ServerSetting, Workload};

use crate::report::Report;
use crate::section::Block;
use crate::started;

/// Clusters that are told one by one.
const LISTED_MOST: usize = 6;

/// What a plan loads, a few lines for each cluster.
#[must_use]
pub fn lines(clusters: &[AttachedCluster]) -> Vec<String> {
    let more = clusters.len().saturating_sub(LISTED_MOST);
    let rest = format!(
        "and {} with other faults or addresses",
        crate::format::counted(more, "more cluster", "more clusters")
    );
    clusters.iter().take(LISTED_MOST).flat_map(of_one).chain((more > 0).then_some(rest)).collect()
}

fn of_one(cluster: &AttachedCluster) -> Vec<String> {
    let looked_at = match (cluster.patroni.as_slice(), cluster.nodes.as_slice()) {
        ([], []) => "at its address".to_owned(),
        ([], nodes) => format!("at its nodes {}", nodes.join(", ")),
        (interfaces, _) => format!("through Patroni, at {}", interfaces.join(", ")),
    };
    let first = format!("loads the existing cluster {}: sessions go to {}", cluster.name, cluster.address);
    let breaks = (!cluster.faults.is_empty()).then(|| format!("  breaks it: {}", cluster.faults.join(", ")));
    let commands = cluster.commands.iter().map(|it| format!("  for {} a shell runs: {}", it.name, it.value));
    [first, format!("  observes it {looked_at}")].into_iter().chain(breaks).chain(commands).collect()
}

/// How the clusters of a workload's trials were found.
pub(crate) fn blocks(report: &Report, workload: Workload) -> Vec<Block> {
    let clusters = report
        .trials_of(workload)
        .flat_map(|trial| trial.clusters.iter().map(move |cluster| (trial, cluster)));
    let known = clusters.map(|(trial, cluster)| (trial.number, cluster.name.as_str(), facts(cluster)));
    let table = started::facts("Existing clusters that were loaded", "cluster", known);
    table.map(|table| Block::Folded { summary: table.title.clone(), table }).into_iter().collect()
}

fn facts(cluster: &AttachedCluster) -> Vec<(String, String)> {
    let told = |settings: &[ServerSetting]| {
        let all: Vec<String> = settings.iter().map(|it| format!("{} {}", it.name, it.value)).collect();
        all.join("; ")
    };
    let mut facts = vec![
        ("kept by".to_owned(), cluster.kind.clone()),
        ("sessions go to".to_owned(), cluster.address.clone()),
    ];
    for member in &cluster.members {
        let more = if member.told.is_empty() { String::new() } else { format!(": {}", told(&member.told)) };
        facts.push((format!("member {}", member.name), format!("{}{more}", member.role)));
    }
    let redundant = match cluster.is_redundant {
        Some(true) => "yes",
        Some(false) => "no",
        None => "not told",
    };
    facts.push(("another node could take over".to_owned(), redundant.to_owned()));
    facts.extend(cluster.settings.iter().map(|it| (it.name.clone(), it.value.clone())));
    facts.extend(cluster.commands.iter().map(|it| (format!("command for {}", it.name), it.value.clone())));
    facts
}

#[cfg(test)]
mod tests {
    use record::ClusterMember;

    use super::*;

    fn setting(name: &str, value: &str) -> ServerSetting {
        ServerSetting { name: name.to_owned(), value: value.to_owned() }
    }

    fn cluster() -> AttachedCluster {
        AttachedCluster {
            name: "prod".to_owned(),
            address: "postgres://app@pg1,pg2/shop?target_session_attrs=read-write".to_owned(),
            patroni: vec!["http://pg1:8008".to_owned()],
            faults: vec!["switchover at 20s".to_owned()],
            commands: vec![setting("switchover", "patronictl switchover --force")],
            kind: "Patroni (demo)".to_owned(),
            members: vec![ClusterMember {
                name: "pg1".to_owned(),
                role: "primary".to_owned(),
                told: vec![setting("timeline", "5")],
            }],
            is_redundant: Some(true),
            settings: vec![setting("ttl", "30")],
            ..AttachedCluster::default()
        }
    }

    #[test]
    fn a_plan_says_what_is_loaded_and_broken_by_which_command() {
        insta::assert_snapshot!(lines(&[cluster()]).join("\n"), @r"
        loads the existing cluster prod: sessions go to postgres://app@pg1,pg2/shop?target_session_attrs=read-write
          observes it through Patroni, at http://pg1:8008
          breaks it: switchover at 20s
          for switchover a shell runs: patronictl switchover --force
        ");
    }

    #[test]
    fn a_report_says_how_it_was_found() {
        let told: Vec<String> =
            facts(&cluster()).into_iter().map(|(what, is)| format!("{what}: {is}")).collect();
        insta::assert_snapshot!(told.join("\n"), @r"
        kept by: Patroni (demo)
        sessions go to: postgres://app@pg1,pg2/shop?target_session_attrs=read-write
        member pg1: primary: timeline 5
        another node could take over: yes
        ttl: 30
        command for switchover: patronictl switchover --force
        ");
    }
}
