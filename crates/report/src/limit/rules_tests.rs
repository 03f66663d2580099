//! What limited trials in which one thing was made to limit: figures of real runs, one file for each case. A rule that breaks a
//! diagnosis fails here, without a server.

use super::*;

/// The figures of a run of each case, as `cargo xtask bench diagnosis --keep` stores them, and what they have to come to.
macro_rules! cases {
    ($($file:literal: $cause:ident,)*) => { [$(($file, include_str!(concat!("cases/", $file, ".json")), Cause::$cause)),*] };
}

#[test]
fn each_bottleneck_that_was_made_is_named() {
    let cases = cases![
        "server-cpu-postgresql": ServerCpu,
        "server-cpu-mariadb": ServerCpu,
        "read-iops-postgresql": Reads,
        "log-flushes-postgresql": LogFlushes,
        "log-flushes-mariadb": LogFlushes,
        "hot-row-mariadb": Locks,
        "hot-row-sqlite": Locks,
        "memory-mariadb": Memory,
        "checkpoints-mariadb": Checkpoints,
        "read-iops-mariadb": Reads,
        "vacuum-or-purge-mariadb": Maintenance,
        "neighbour-on-disk-mariadb": NeighbourDisk,
        "client-postgresql": Generator,
        "client-mariadb": Generator,
        "connections-postgresql": Connections,
        "vacuum-or-purge-sqlite": Maintenance,
        "vacuum-or-purge-a-little-of-all-sqlite": Maintenance,
        "neighbour-on-cpu-postgresql": NeighbourCpu,
        "neighbour-on-cpu-mariadb": NeighbourCpu,
    ];
    for (file, json, cause) in cases {
        let seen: Observed = serde_json::from_str(json).unwrap();
        assert_eq!(causes(&seen).first().map(|(cause, _)| *cause), Some(cause), "{file}");
    }
}

fn spent(of: &[(Class, f64)]) -> Observed {
    Observed { spent: of.iter().copied().collect(), ..Observed::default() }
}

fn check(seen: &Observed, expected: &[Cause]) {
    let found: Vec<Cause> = causes(seen).into_iter().map(|(cause, _)| cause).collect();
    assert_eq!(found, expected, "{seen:?}");
}

#[test]
fn waits_are_named_from_three_tenths_of_the_time_on_and_work_from_half_of_it() {
    check(&spent(&[(Class::Log, 0.31), (Class::Cpu, 0.4)]), &[Cause::LogFlushes]);
    check(&spent(&[(Class::Log, 0.29), (Class::Cpu, 0.49), (Class::Locks, 0.22)]), &[]);
    check(&spent(&[(Class::Log, 0.31), (Class::Cpu, 0.4), (Class::CpuWait, 0.2)]), &[Cause::LogFlushes]);
    check(&spent(&[(Class::Log, 0.29), (Class::Cpu, 0.4), (Class::CpuWait, 0.2)]), &[Cause::ServerCpu]);
    check(&spent(&[(Class::Cpu, 0.51), (Class::Log, 0.4)]), &[Cause::ServerCpu]);
    check(&spent(&[(Class::Client, 0.6)]), &[Cause::Clients]);
    check(&spent(&[(Class::Unknown, 0.9)]), &[]);
    check(&Observed::default(), &[]);
}

#[test]
fn what_limits_hold_back_counts_with_what_it_would_have_been() {
    let mut seen = spent(&[(Class::Throttled, 0.5), (Class::Log, 0.1), (Class::Cpu, 0.4)]);
    seen.held_back = [(Held::Log, 0.5)].into();
    check(&seen, &[Cause::LogFlushes]);
    seen.held_back = [(Held::Processors, 0.5)].into();
    check(&seen, &[Cause::ServerCpu]);
    seen.held_back = [(Held::Reads, 0.5)].into();
    check(&seen, &[Cause::Reads]);
}

#[test]
fn reads_of_a_fast_device_are_want_of_memory_unless_a_limit_holds_them_back() {
    let reads = |us| Observed { read_latency_us: us, ..spent(&[(Class::Reads, 0.8)]) };
    check(&reads(Some(150.0)), &[Cause::Memory]);
    check(&reads(Some(4_000.0)), &[Cause::Reads]);
    check(&reads(None), &[Cause::Reads]);
    let limited = Observed { held_back: [(Held::Reads, 0.4)].into(), ..reads(Some(150.0)) };
    check(&limited, &[Cause::Reads]);
}

#[test]
fn a_server_that_works_because_it_reads_wants_memory() {
    let works = |reads| Observed {
        read_latency_us: Some(80.0),
        ..spent(&[(Class::Cpu, 0.52), (Class::CpuWait, 0.17), (Class::Reads, reads)])
    };
    check(&works(0.22), &[Cause::Memory, Cause::ServerCpu]);
    let less = Observed {
        spent: [(Class::Cpu, 0.47), (Class::CpuWait, 0.17), (Class::Reads, 0.22)].into(),
        ..works(0.0)
    };
    check(&less, &[Cause::Memory]);
    check(&works(0.1), &[Cause::ServerCpu]);
    check(&Observed { read_latency_us: None, ..works(0.22) }, &[Cause::ServerCpu]);
    check(&Observed { held_back: [(Held::Processors, 0.5)].into(), ..works(0.22) }, &[Cause::ServerCpu]);
}

#[test]
fn waiting_for_a_processor_is_the_fault_of_others_only_where_they_took_much() {
    let waits = |others| Observed { others, ..spent(&[(Class::CpuWait, 0.7)]) };
    check(&waits(Some(0.6)), &[Cause::NeighbourCpu]);
    check(&waits(Some(0.1)), &[Cause::ServerCpu]);
    check(&waits(None), &[Cause::ServerCpu]);
    let idle = Observed { others: Some(0.9), ..spent(&[(Class::Log, 0.8)]) };
    check(&idle, &[Cause::LogFlushes]);
}

#[test]
fn a_client_without_a_processor_is_the_load_generator() {
    let client = spent(&[(Class::Client, 0.8)]);
    check(&Observed { own_throttled: Some(0.7), ..client.clone() }, &[Cause::Generator]);
    check(&Observed { own_paused: Some(0.6), ..client.clone() }, &[Cause::Generator]);
    let crowded = Observed { own_waiting: Some(2.0), others: Some(0.8), ..client.clone() };
    check(&crowded, &[Cause::NeighbourCpu]);
    check(&Observed { own_throttled: Some(0.7), ..crowded }, &[Cause::Generator]);
    check(&Observed { own_waiting: Some(0.05), ..client }, &[Cause::Clients]);
    let between = spent(&[(Class::Client, 0.47), (Class::Log, 0.35)]);
    check(&Observed { own_throttled: Some(0.57), ..between.clone() }, &[Cause::Generator]);
    check(&Observed { own_throttled: Some(0.29), ..between }, &[Cause::LogFlushes]);
}

/// A table that somebody had locked was told as busy processors: its holder slept, which nobody knew the class of.
#[test]
fn a_lock_of_somebody_else_is_named_before_all_that_is_busy() {
    let held =
        |is_ours| record::Blocker { session: Some(12), is_ours, waiting: 3, ..record::Blocker::default() };
    let seen = |is_ours| Observed {
        blockers: vec![held(is_ours)],
        ..spent(&[(Class::Locks, 0.35), (Class::Unknown, 0.36), (Class::Cpu, 0.6), (Class::CpuWait, 0.5)])
    };
    check(&seen(false), &[Cause::Locks]);
    check(&seen(true), &[Cause::ServerCpu]);
    check(
        &Observed { blockers: vec![held(false)], ..spent(&[(Class::Locks, 0.2), (Class::Cpu, 0.6)]) },
        &[Cause::ServerCpu],
    );
    let vacuum = Observed { beside: [("vacuum".to_owned(), 0.9)].into(), ..seen(false) };
    check(&vacuum, &[Cause::Locks]);
}

#[test]
fn what_goes_on_beside_the_load_is_behind_what_sessions_wait_for() {
    let reads = Observed { read_latency_us: Some(150.0), ..spent(&[(Class::Reads, 0.8)]) };
    let with = |what: &str, share| Observed { beside: [(what.to_owned(), share)].into(), ..reads.clone() };
    check(&with("vacuum", 0.9), &[Cause::Maintenance, Cause::Memory]);
    check(&with("vacuum", 0.4), &[Cause::Memory]);
    check(&with("checkpoint", 0.9), &[Cause::Memory]);
    let flushes =
        |beside: &str| Observed { beside: [(beside.to_owned(), 0.9)].into(), ..spent(&[(Class::Log, 0.8)]) };
    check(&flushes("checkpoint"), &[Cause::Checkpoints, Cause::LogFlushes]);
    check(
        &Observed { marked: Some(0.8), ..spent(&[(Class::Log, 0.8)]) },
        &[Cause::Maintenance, Cause::LogFlushes],
    );
    check(&Observed { marked: Some(0.8), ..spent(&[(Class::Client, 0.8)]) }, &[Cause::Clients]);
}

#[test]
fn upkeep_that_takes_a_little_of_everything_is_named() {
    let seen = spent(&[(Class::Locks, 0.29), (Class::Log, 0.16), (Class::Writes, 0.14), (Class::Cpu, 0.26)]);
    check(&seen, &[]);
    check(&Observed { marked: Some(0.86), ..seen.clone() }, &[Cause::Maintenance]);
    check(&Observed { marked: Some(0.4), ..seen }, &[]);
    let works = spent(&[(Class::Client, 0.49), (Class::Cpu, 0.4)]);
    check(&Observed { marked: Some(0.86), ..works }, &[]);
}

#[test]
fn others_on_the_device_are_behind_waits_for_storage_unless_a_limit_of_its_own_holds() {
    let flushes = Observed { device_others: Some(0.9), ..spent(&[(Class::Log, 0.8)]) };
    check(&flushes, &[Cause::NeighbourDisk, Cause::LogFlushes]);
    check(&Observed { held_back: [(Held::Log, 0.1)].into(), ..flushes.clone() }, &[Cause::LogFlushes]);
    check(&Observed { spent: [(Class::Locks, 0.8)].into(), ..flushes }, &[Cause::Locks]);
}

#[test]
fn a_log_that_is_full_is_behind_what_innodb_does_not_name() {
    let gauges = |age| {
        [("innodb_checkpoint_age".to_owned(), age), ("innodb_checkpoint_max_age".to_owned(), 100.0)].into()
    };
    let full = Observed { gauges: gauges(90.0), ..spent(&[(Class::Unknown, 0.8)]) };
    check(&full, &[Cause::Checkpoints]);
    check(&Observed { gauges: gauges(50.0), ..full.clone() }, &[]);
    check(&Observed { spent: [(Class::Log, 0.8)].into(), ..full }, &[Cause::Checkpoints, Cause::LogFlushes]);
}

#[test]
fn a_connection_that_was_refused_is_what_limits() {
    check(&Observed { refused: true, ..Observed::default() }, &[Cause::Connections]);
}
