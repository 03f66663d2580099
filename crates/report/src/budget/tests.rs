//! Budgets of trials whose servers told what is given here.

use super::*;
use crate::fixture::{self, Sold};
use crate::limit::Cause;
use crate::report::Report;
use crate::summary::Summary;
use record::{Blocker, MeasuredTrial, Reading, ServerLoad, ServerTold};

/// A closed loop whose server told each second, over ten looks, how many sessions did what in all.
fn told(sessions: &[(&str, u64)], cores: Option<f64>) -> MeasuredTrial {
    let mut trial = Sold::at("O", &[50.0]).trial(1);
    let reading = |second: usize| {
        let sessions = sessions.iter().map(|(what, count)| ((*what).to_owned(), *count)).collect();
        let told = ServerTold { looks: 10, sessions, ..ServerTold::default() };
        let server = |cpu_cores| ServerLoad { cpu_cores, ..ServerLoad::default() };
        Resources {
            end_s: second as f64 + 1.0,
            length_s: 1.0,
            servers: cores
                .map(|cores| ("store_1 (postgres)".to_owned(), server(cores)))
                .into_iter()
                .collect(),
            told: [("store_1 (postgres)".to_owned(), told)].into(),
            ..Resources::default()
        }
    };
    let seconds = trial.samples.len();
    trial.resources.extend((0..seconds).map(reading));
    trial
}

fn budget(trial: MeasuredTrial) -> Option<Budget> {
    Report::of(&fixture::study("orders", vec![trial])).trials.remove(0).budget
}

fn shares(budget: &Budget) -> Vec<(Class, f64, f64)> {
    budget.parts.iter().map(|part| (part.class, (part.share * 1e3).round() / 1e3, part.sessions)).collect()
}

#[test]
fn looks_become_mean_sessions_and_times_of_an_operation() {
    let found =
        budget(told(&[("IO:WALSync", 20), ("LWLock:WALWrite", 10), ("executing", 10)], None)).unwrap();
    assert_eq!(shares(&found), [(Class::Cpu, 0.25, 1.0), (Class::Log, 0.75, 3.0)]);
    let log = &found.parts[1];
    // 50 orders a second, by Little's law.
    assert!((log.us_per_operation.unwrap() / 60_000.0 - 1.0).abs() < 0.05, "{log:?}");
    assert_eq!(log.names(), "IO:WALSync 67%, LWLock:WALWrite 33%");
}

#[test]
fn work_is_split_by_what_the_processes_of_the_server_used() {
    let split = |cores| shares(&budget(told(&[("executing", 20), ("Lock:tuple", 20)], Some(cores))).unwrap());
    assert_eq!(
        split(3.0),
        [(Class::Cpu, 0.5, 2.0), (Class::Locks, 0.5, 2.0)],
        "others of its processes work too"
    );
    assert_eq!(
        split(0.5),
        [(Class::Cpu, 0.125, 0.5), (Class::Locks, 0.5, 2.0), (Class::Unknown, 0.375, 1.5)]
    );
}

/// InnoDB's server has no state for it, so that who waits for a row is counted as one who works, too.
#[test]
fn a_lock_on_a_row_is_no_work_as_well() {
    let found = budget(told(&[("Updating", 30), ("row lock", 20), ("idle in transaction", 10)], None));
    let mut trial = told(&[("Updating", 30), ("row lock", 20), ("Sending data", 10)], None);
    let classes: Vec<Class> = found.unwrap().parts.iter().map(|part| part.class).collect();
    assert_eq!(
        classes,
        [Class::Client, Class::Locks, Class::Unknown],
        "a state that PostgreSQL does not have"
    );
    if let Some(Setup::Orders(setup)) = &mut trial.trial.setup {
        setup.targets[0].engine = "mysql".to_owned();
    }
    let found = budget(trial).unwrap();
    assert_eq!(shares(&found), [(Class::Cpu, 0.5, 2.0), (Class::Locks, 0.5, 2.0)]);
    assert_eq!(found.parts[0].names(), "Updating 75%, Sending data 25%");
}

#[test]
fn sessions_of_others_are_no_part_and_too_few_looks_no_budget() {
    let found = budget(told(&[("IO:DataFileRead", 10), ("hidden", 50)], None)).unwrap();
    assert_eq!((found.hidden, shares(&found)), (5.0, vec![(Class::Reads, 1.0, 1.0)]));
    let mut few = told(&[("IO:DataFileRead", 10)], None);
    few.resources.iter_mut().flat_map(|read| read.told.values_mut()).for_each(|told| told.looks = 1);
    few.resources.retain(|read| read.told.is_empty() || read.end_s < 3.0);
    assert_eq!(budget(few), None);
    assert_eq!(budget(Sold::at("O", &[50.0]).trial(1)), None, "an old record");
}

#[test]
fn a_name_that_nobody_knows_is_told_by_its_name() {
    let found = budget(told(&[("Extension:Extension", 10)], None)).unwrap();
    assert_eq!(found.parts[0].class, Class::Unknown);
    assert_eq!(found.parts[0].names(), "Extension:Extension");
}

fn limit_of(sessions: &[(&str, u64)], cores: Option<f64>) -> Option<String> {
    let report = Report::of(&fixture::study("orders", vec![told(sessions, cores)]));
    crate::limit::told(report.trials.iter())
}

#[test]
fn what_sessions_waited_for_most_is_what_limits_with_its_names() {
    for (sessions, expected) in [
        (
            &[("IO:WALSync", 29), ("executing", 1)][..],
            Some("likely: log flushes, for which sessions waited 97% of their time (IO:WALSync)"),
        ),
        (
            &[("Lock:transactionid", 15), ("Lock:tuple", 10), ("executing", 5)],
            Some(
                "likely: locks, for which sessions waited 83% of their time (Lock:transactionid 60%, Lock:tuple 40%)",
            ),
        ),
        (
            &[("executing", 25), ("IO:WALSync", 5)],
            Some("likely: CPU time of the server, which took 83% of session time (executing)"),
        ),
    ] {
        assert_eq!(limit_of(sessions, None).as_deref(), expected, "{sessions:?}");
    }
    let unknown = limit_of(&[("executing", 30)], Some(0.1));
    assert!(unknown.is_none_or(|told| !told.contains("sessions")), "work on no CPU is not explained");
}

/// A table that somebody had locked: nothing was finished, busy processors were named, and the next step was to measure longer.
#[test]
fn a_locked_table_is_named_with_who_holds_it_though_nothing_was_finished() {
    let mut trial = told(&[("Lock:relation", 10)], None);
    let blocker = Blocker {
        session: Some(4711),
        user: Some("plant".to_owned()),
        application: Some("psql".to_owned()),
        state: Some("idle in transaction".to_owned()),
        statement: Some("BEGIN; LOCK TABLE tank;".to_owned()),
        since: Some("2026-03-01T12:00:01Z".to_owned()),
        waiting: 1,
        ..Blocker::default()
    };
    for read in &mut trial.resources {
        read.told.values_mut().for_each(|told| told.blockers = vec![blocker.clone()]);
        read.machine.iter_mut().for_each(|machine| machine.cpu_busy_share.fill(1.0));
    }
    trial.samples.iter_mut().for_each(|sample| sample.operations.clear());
    trial.trial.state = record::State::Invalid;
    trial.trial.reason = Some("no order was finished in the measured window".to_owned());
    let report = Report::of(&fixture::study("orders", vec![trial]));
    let summary = Summary::of(&report);
    let who = "session 4711 (user plant, psql, idle in transaction, since 2026-03-01T12:00:01Z, `BEGIN LOCK TABLE tank`)";
    let limit =
        format!("likely: locks, for which sessions waited 100% of their time (Lock:relation; held by {who})");
    assert!(summary.bottleneck.starts_with(&limit), "{}", summary.bottleneck);
    let next = "wait until it commits, or end it (SELECT pg_terminate_backend(4711)), and measure again";
    assert_eq!(summary.next.as_deref(), Some(next));
    assert_eq!(report.trials[0].limited_by.as_ref().unwrap().causes, [Cause::Locks]);
    let doubt = report.verdicts.iter().find(|verdict| verdict.rule == crate::limit::BLOCKED).unwrap();
    assert!(
        doubt.sentence().contains(&format!("waited 100% of their time for a lock that {who} held")),
        "{}",
        doubt.sentence()
    );
}

/// One that only read the server's own counter of locks, or one of our own sessions, is no reason to end somebody.
#[test]
fn a_lock_of_the_load_itself_is_nobodys_fault() {
    let mut trial = told(&[("Lock:transactionid", 20), ("executing", 5)], None);
    let blocker = Blocker { session: Some(12), is_ours: true, waiting: 2, ..Blocker::default() };
    for read in &mut trial.resources {
        read.told.values_mut().for_each(|told| told.blockers = vec![blocker.clone()]);
    }
    let report = Report::of(&fixture::study("orders", vec![trial]));
    let summary = Summary::of(&report);
    assert!(report.verdicts.iter().all(|verdict| verdict.rule != crate::limit::BLOCKED));
    assert!(
        summary.bottleneck.starts_with("likely: locks, for which sessions waited 80%"),
        "{}",
        summary.bottleneck
    );
}

#[test]
fn layers_of_a_trial_are_its_sessions_by_the_second() {
    let mut trial = told(&[("IO:WALSync", 20), ("executing", 10)], None);
    let later = trial.resources.iter_mut().filter(|read| read.end_s > 30.0);
    later.flat_map(|read| read.told.values_mut()).for_each(|told| {
        told.sessions = [("Lock:tuple".to_owned(), 80)].into();
    });
    let report = Report::of(&fixture::study("orders", vec![trial]));
    let course = seconds(&report.trials[0]);
    assert_eq!(course.len(), report.trials[0].samples.len());
    assert_eq!(course[0].1, BTreeMap::from([(Class::Cpu, 1.0), (Class::Log, 2.0)]));
    assert_eq!(course.last().unwrap().1, BTreeMap::from([(Class::Locks, 8.0)]));
    let chart = crate::chart::stack::sessions(&report.trials[0]).unwrap();
    assert!(chart.svg.contains("log flushes: "), "{}", &chart.svg[..400]);
    assert!(chart.svg.contains(
        "data-name=\"locks\" data-ink=\"series-3\" data-unit=\"sessions\" data-values=\"0*30 8.00*"
    ));
    assert_eq!(
        chart.legend.iter().map(|key| key.text.as_str()).collect::<Vec<_>>(),
        ["server's CPU", "log flushes", "locks"]
    );
    assert!(
        crate::chart::stack::sessions(
            &Report::of(&fixture::study("orders", vec![Sold::at("O", &[50.0]).trial(1)])).trials[0]
        )
        .is_none()
    );
}

#[test]
fn rate_latency_and_sessions_of_a_trial_share_one_axis_of_time() {
    let report = Report::of(&fixture::study("orders", vec![told(&[("IO:WALSync", 20)], None)]));
    let trial = &report.trials[0];
    let courses = trial.shown().course(trial);
    let course = &courses[0];
    assert_eq!(course.heading, "Orders per minute, latency and sessions over time");
    for title in [">orders per minute<", ">latency (logarithmic)<", ">sessions by what they did<"] {
        assert!(course.svg.contains(title), "{title}");
    }
    assert_eq!(course.svg.matches(">since the start of the load<").count(), 1, "one axis of time");
    assert_eq!(course.legend.len(), 1, "{:?}", course.legend);
    let heads: Vec<&str> = course.table.columns.iter().map(|column| &*column.head).collect();
    assert_eq!(heads, ["second", "finished orders/min", "p50", "max", "log flushes"]);
    let first = &course.table.rows[0].cells;
    assert_eq!(first.last().map(String::as_str), Some("2.00"), "{first:?}");
    let page = report.html();
    assert!(!page.contains("Sessions over time by activity"), "they are not drawn a second time");
    // Without session readings, there are two panels.
    let plain = Report::of(&fixture::study("orders", vec![Sold::at("O", &[50.0]).trial(1)]));
    let course = &plain.trials[0].shown().course(&plain.trials[0])[0];
    assert!(course.svg.contains("latency (logarithmic)") && !course.svg.contains("sessions by"));
}

#[test]
fn what_rises_with_the_load_over_three_levels_is_said_to() {
    let word = |log: [(u64, u64); 3]| {
        let trial = |(number, (waits, works)): (usize, (u64, u64))| {
            let mut trial = told(&[("IO:WALSync", waits), ("executing", works)], None);
            trial.trial.number = number as u32 + 1;
            trial
        };
        let trials = log.into_iter().enumerate().map(trial).collect();
        let report = Report::of(&fixture::study("orders", trials));
        crate::limit::told(report.trials.iter()).unwrap()
    };
    let likely = word([(10, 10), (30, 10), (70, 10)]);
    assert_eq!(
        likely,
        "likely: log flushes, for which sessions waited 50% to 88% of their time in all 3 trials, growing with the load"
    );
    assert!(word([(10, 10), (30, 10), (50, 30)]).ends_with("in all 3 trials"), "it does not rise at the end");
    assert!(word([(10, 10), (11, 9), (12, 8)]).ends_with("in all 3 trials"), "that is one level");
}

#[test]
fn what_others_took_does_not_hide_what_sessions_waited_for() {
    let mut trial = told(&[("IO:WALSync", 30)], None);
    let steal = |read: &mut Resources| read.machine.iter_mut().for_each(|load| load.cpu_steal_share = 0.2);
    trial.resources.iter_mut().for_each(steal);
    let report = Report::of(&fixture::study("orders", vec![trial]));
    assert_eq!(
        crate::limit::told(report.trials.iter()).as_deref(),
        Some(
            "possible: the hypervisor, which gave 20% of the CPU time to other guests; log flushes, for which sessions waited 100% of their time (IO:WALSync)"
        )
    );
}

#[test]
fn what_waits_for_storage_is_told_with_the_device_below_it() {
    let volume = |device: &str| {
        let (path, mount) = ("/srv".to_owned(), Reading::Known("/".to_owned()));
        Reading::Known(Volume {
            path,
            mount,
            device: Reading::Known(device.to_owned()),
            file_system: None,
            beneath: record::Beneath::default(),
        })
    };
    let on_devices = |what: &str| {
        let mut trial = told(&[(what, 30)], None);
        trial.trial.placed = vec![Placed::Database {
            database: "store_1".to_owned(),
            address: "postgres://db-1/store_1".to_owned(),
            engine: "postgres".to_owned(),
            version: "PostgreSQL 15.18".to_owned(),
            data: volume("vdb"),
            log: volume("vda"),
        }];
        let load = |queue_depth| DeviceLoad {
            queue_depth,
            read_latency_us: Some(120.0),
            write_latency_us: Some(980.0),
            ..DeviceLoad::default()
        };
        let devices = || [("vda".to_owned(), load(1.0)), ("vdb".to_owned(), load(7.5))].into();
        trial.resources.iter_mut().for_each(|read| read.devices = devices());
        let report = Report::of(&fixture::study("orders", vec![trial]));
        crate::limit::told(report.trials.iter()).unwrap()
    };
    let log = on_devices("IO:WALSync");
    assert!(
        log.ends_with("(IO:WALSync; the log's device vda had 1.00 requests in flight, at 980 µs each)"),
        "{log}"
    );
    let reads = on_devices("IO:DataFileRead");
    assert!(
        reads.ends_with(
            "(IO:DataFileRead; the data's device vdb had 7.50 requests in flight, at 120 µs each)"
        ),
        "{reads}"
    );
}

/// A server whose processors are held back tells what its sessions last did: that they wait for the log, or are idle.
#[test]
fn who_could_run_and_has_no_processor_is_taken_out_of_whatever_was_told() {
    let waiting = |throttled_cores: f64, cpu_wait_threads| {
        let mut trial = told(&[("idle", 40), ("IO:WALSync", 30), ("executing", 10)], Some(0.25));
        for read in &mut trial.resources {
            read.servers.values_mut().for_each(|server| server.cpu_wait_threads = Some(cpu_wait_threads));
            let group =
                record::GroupLoad { throttled_cores, cpu_cores: 0.25, ..record::GroupLoad::default() };
            read.groups = [("pg".to_owned(), group)].into();
        }
        let limits = record::ServerLimits { cpus: Some(0.25), ..record::ServerLimits::default() };
        trial.trial.servers = vec![record::StartedServer { limits: Some(limits), ..Default::default() }];
        let evidence = crate::budget::limit::evidence(&budget(trial.clone()).unwrap(), Cause::NeighbourCpu);
        assert_eq!(evidence.and_then(|evidence| evidence.names), None, "that they had none says it all");
        let found = budget(trial).unwrap();
        (
            found.share(Class::Throttled),
            found.share(Class::CpuWait),
            found.share(Class::Log),
            found.held_back(),
        )
    };
    let (throttled, waits, log, held) = waiting(1.5, 4.25);
    // Of 8 sessions one worked, and 0.25 of it on a processor; half of the 7 others could run.
    assert_eq!((throttled, waits, log), (4.25 / 8.0, 0.0, 1.5 / 8.0));
    assert_eq!(held, [(Held::Processors, 4.25 / 8.0)].into());
    let (throttled, waits, log, held) = waiting(0.0, 4.25);
    assert_eq!((throttled, waits, log), (0.0, 4.25 / 8.0, 1.5 / 8.0), "others had the processors");
    assert!(held.is_empty());
    assert_eq!(waiting(0.0, 0.0).1, 0.0, "however busy the machine is");
}

#[test]
fn what_a_limit_of_writes_holds_back_is_apart_from_what_the_device_took() {
    let log = |writes_per_s| {
        let mut trial = told(&[("IO:WALSync", 80)], None);
        let group = record::GroupLoad { writes_per_s: Some(writes_per_s), ..record::GroupLoad::default() };
        trial.resources.iter_mut().for_each(|read| read.groups = [("pg".to_owned(), group)].into());
        let device = record::DeviceLimits { writes_per_s: Some(60), ..record::DeviceLimits::default() };
        let limits = record::ServerLimits {
            devices: [("254:0".to_owned(), device)].into(),
            ..record::ServerLimits::default()
        };
        trial.trial.servers = vec![record::StartedServer { limits: Some(limits), ..Default::default() }];
        let report = Report::of(&fixture::study("orders", vec![trial]));
        let found = report.trials[0].budget.clone().unwrap();
        (found.share(Class::Throttled), found.share(Class::Log), report.trials[0].limited_by.clone().unwrap())
    };
    let (held, by_device, limited) = log(58.0);
    assert_eq!((held, by_device), (1.0, 0.0));
    assert_eq!(limited.causes, [crate::limit::Cause::LogFlushes]);
    assert!(limited.says.unwrap().ends_with("(log flushes within their limit)"));
    assert_eq!((log(40.0).0, log(40.0).1), (0.0, 1.0), "the limit was not reached");
}
