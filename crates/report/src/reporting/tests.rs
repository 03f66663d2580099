//! What is said of reports, of trials made by hand.

use record::{
    MeasuredTrial, QueryPlan, ReportAnswer, ReportRun, ReportingOutcome, ReportingSetup, ServerLoad,
    ServerStep, Setup, StartedServer, Workload,
};

use super::*;
use crate::fixture::{self, Sold};
use crate::verdict::Level;

const ANSWER: ReportAnswer = ReportAnswer { rows: 95_828, sum: 7 };

fn run(begin_s: f64, took_s: f64) -> ReportRun {
    ReportRun { begin_s, took_s, first_row_s: Some(took_s / 4.0), answer: ANSWER, plan: Some(0) }
}

fn plan(hash: &str) -> QueryPlan {
    QueryPlan { hash: hash.to_owned(), text: format!("Index Scan of {hash}") }
}

fn setup(trial: &MeasuredTrial) -> ReportingSetup {
    ReportingSetup {
        target: "postgres://me@db-1/prony_reports".to_owned(),
        engine: "postgres".to_owned(),
        database: "prony_reports".to_owned(),
        server: trial.trial.setup.as_ref().unwrap().orders().unwrap().targets[0].server.clone(),
        events: 1_000_000,
        data_seed: 42,
        days: 365,
        subject_bytes: 0,
        messages: 95_828,
        department: "%".to_owned(),
        classification: "%".to_owned(),
        result: "rows".to_owned(),
        access: "statement".to_owned(),
        runs: 3,
        arrivals_per_s: None,
        cold: None,
        expected: ANSWER,
        data_bytes: Some(1 << 30),
        seed: 42,
    }
}

/// A trial of four reports: 2 s, and three of 0.4 s, 0.5 s and 0.6 s.
fn trial(number: u32, change: impl FnOnce(&mut ReportingSetup, &mut ReportingOutcome)) -> MeasuredTrial {
    let mut trial = Sold::at("reports", &[100.0]).trial(number);
    let rename =
        |name: &str| if name == "order" { REPORT.to_owned() } else { format!("{FIRST_REPORT}{name}") };
    for sample in &mut trial.samples {
        let of = std::mem::take(&mut sample.operations);
        sample.operations = of
            .into_iter()
            .filter(|(name, _)| name == "order")
            .map(|(name, of)| (rename(&name), of))
            .collect();
    }
    let of = std::mem::take(&mut trial.measured);
    trial.measured =
        of.into_iter().filter(|(name, _)| name == "order").map(|(name, of)| (rename(&name), of)).collect();
    let mut setup = setup(&trial);
    let mut outcome = ReportingOutcome {
        runs: vec![run(0.0, 2.0), run(2.0, 0.4), run(2.4, 0.5), run(2.9, 0.6)],
        plans: vec![plan("aa")],
        ..ReportingOutcome::default()
    };
    change(&mut setup, &mut outcome);
    trial.trial.workload = Workload::Reporting;
    trial.trial.main = Workload::Reporting.main();
    trial.trial.setup = Some(Setup::Reporting(Box::new(setup)));
    trial.trial.outcome = Some(outcome.into());
    trial
}

pub(crate) fn report(change: impl FnOnce(&mut ReportingSetup, &mut ReportingOutcome)) -> Report {
    Report::of(&fixture::study("reporting", vec![trial(1, change)]))
}

fn said(report: &Report, level: Level) -> String {
    let of = |verdict: &&Verdict| verdict.level == level;
    report.verdicts.iter().filter(of).map(|verdict| verdict.sentence().clone()).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_first_report_is_told_apart_from_the_mean_of_the_others() {
    let report = report(|_, _| {});
    let reporting = report.trials[0].reporting().unwrap();
    assert_eq!((reporting.first_s, reporting.reports), (Some(2.0), 3));
    assert!((reporting.mean_s.unwrap() - 0.5).abs() < 1e-12);
    assert!((reporting.rows_per_s.unwrap() - 191_656.0).abs() < 1e-6);
    // 0.5 ± 4.303 · 0.1 / √3.
    let [low, high] = reporting.interval_s.unwrap();
    assert!((low - 0.2516).abs() < 1e-3 && (high - 0.7484).abs() < 1e-3, "{low} {high}");
    let found = said(&report, Level::Finding);
    for part in ["first report 2.00 s", "then 500 ms (", "191,700 rows/s"] {
        assert!(found.contains(part), "{part} in {found}");
    }
    let answers = answers(&report);
    assert!(
        answers[0].text.contains("500 ms for a report of 95,828 rows, 2.00 s for the first one"),
        "{answers:?}"
    );
}

/// The answer was that of the first repeat alone.
#[test]
fn an_answer_is_of_all_repeats() {
    let twice = |_: &mut ReportingSetup, outcome: &mut ReportingOutcome| {
        outcome.runs.iter_mut().for_each(|run| run.took_s *= 2.0);
    };
    let report = Report::of(&fixture::study("reporting", vec![trial(1, |_, _| {}), trial(2, twice)]));
    let answers = answers(&report);
    assert!(
        answers[0].text.contains("750 ms for a report of 95,828 rows, 3.00 s for the first one"),
        "{answers:?}"
    );
    // As many rows as the mean has, and no mean of rates.
    assert!(said(&report, Level::Finding).contains("127,800 rows/s"), "{}", said(&report, Level::Finding));
}

#[test]
fn a_plan_that_changed_is_told_with_both_and_where() {
    let report = report(|_, outcome| {
        outcome.plans.push(plan("bb"));
        outcome.runs[2].plan = Some(1);
    });
    let warned = said(&report, Level::Warning);
    assert!(warned.contains("changed its plan at report 3 (aa, bb)"), "{warned}");
    let table = table::plans(&report).unwrap();
    let cells: Vec<&[String]> = table.rows.iter().map(|row| row.cells.as_slice()).collect();
    assert_eq!(cells, [["aa", "Index Scan of aa"], ["bb", "Index Scan of bb"]]);
}

#[test]
fn trials_with_different_plans_are_told() {
    let other = trial(2, |_, outcome| outcome.plans = vec![plan("bb")]);
    let report = Report::of(&fixture::study("reporting", vec![trial(1, |_, _| {}), other]));
    let warned = said(&report, Level::Warning);
    assert!(warned.contains("ran with different plans: reports by aa, reports by bb"), "{warned}");
    let aggregate = trial(2, |setup, outcome| {
        setup.result = "aggregate".to_owned();
        outcome.plans = vec![plan("bb")];
    });
    let report = Report::of(&fixture::study("reporting", vec![trial(1, |_, _| {}), aggregate]));
    assert!(!said(&report, Level::Warning).contains("different plans"), "another report has another plan");
}

#[test]
fn events_that_could_not_be_committed_are_told() {
    let report = report(|setup, outcome| {
        setup.arrivals_per_s = Some(82.5);
        (outcome.events_committed, outcome.events_pending) = (200, 84);
    });
    let warned = said(&report, Level::Warning);
    assert!(warned.contains("84 planned events were not committed, 200 were committed"), "{warned}");
    let on_its_way = self::report(|setup, outcome| {
        setup.arrivals_per_s = Some(82.5);
        (outcome.events_committed, outcome.events_pending) = (10_000, 82);
    });
    assert!(!said(&on_its_way, Level::Warning).contains("were not committed"));
}

#[test]
fn it_is_said_how_memory_was_made_cold_or_that_it_was_not() {
    assert!(said(&report(|_, _| {}), Level::Note).contains("used the caches as they were"));
    let forgotten = report(|setup, _| setup.cold = Some("the kernel dropped the file".to_owned()));
    assert!(!said(&forgotten, Level::Note).contains("used the caches as they were"));
    assert!(OfReporting.remarks(&forgotten.trials[0])[0].contains("the kernel dropped the file"));
    let mut started = trial(1, |_, _| {});
    let step = |what: &str| ServerStep::new(what, std::time::Duration::from_secs(1));
    let steps = vec![step("stopped"), step("caches dropped"), step("started")];
    started.trial.servers = vec![StartedServer { steps, ..StartedServer::default() }];
    let report = Report::of(&fixture::study("reporting", vec![started]));
    let cold = report.trials[0].reporting().unwrap().cold.clone().unwrap();
    assert!(cold.contains("restarted, and the kernel dropped its files from the page cache"), "{cold}");
}

/// Readings of each measured second, while the reports after the first took all of that time.
fn read_in(of: impl Fn(usize) -> record::Resources) -> (Report, usize) {
    let mut trial = trial(1, |_, _| {});
    let window = trial.samples.iter().filter(|sample| sample.phase == record::Phase::Measure);
    let ends: Vec<f64> = window.map(|sample| sample.end_s).collect();
    let read =
        |(index, end_s): (usize, &f64)| record::Resources { end_s: *end_s, length_s: 1.0, ..of(index) };
    trial.resources = ends.iter().enumerate().map(read).collect();
    let Some(record::Outcome::Reporting(outcome)) = &mut trial.trial.outcome else { unreachable!() };
    outcome.runs[1].begin_s = ends[0] - 1.0;
    outcome.runs[3].begin_s = ends[ends.len() - 1] - outcome.runs[3].took_s;
    (Report::of(&fixture::study("reporting", vec![trial])), ends.len())
}

/// A second in which a device read much for all programs.
fn of_device() -> record::Resources {
    let (reads_per_s, read_bytes_per_s) = (4_761.0, 172.0 * MIB);
    let load = record::DeviceLoad { reads_per_s, read_bytes_per_s, ..record::DeviceLoad::default() };
    record::Resources { devices: [("sda".to_owned(), load)].into(), ..record::Resources::default() }
}

fn with_server(read_bytes_per_s: Option<f64>, memory_bytes: u64) -> record::Resources {
    let server = ServerLoad { cpu_cores: 0.5, memory_bytes, read_bytes_per_s, ..ServerLoad::default() };
    record::Resources { servers: [("prony_reports".to_owned(), server)].into(), ..of_device() }
}

fn metric(report: &Report, name: &str) -> Option<f64> {
    let (_, value) = OfReporting.metrics().iter().find(|(metric, _)| *metric == name).unwrap();
    value(&report.trials[0])
}

#[test]
fn what_the_server_used_is_told_for_a_report() {
    let group = || record::GroupLoad {
        reads_per_s: Some(6.0),
        read_bytes_per_s: Some(3.0 * MIB),
        ..record::GroupLoad::default()
    };
    let read = |index| record::Resources {
        groups: [("pg".to_owned(), group())].into(),
        ..with_server(None, if index == 1 { 3 << 20 } else { 1 << 20 })
    };
    let (report, seconds) = read_in(read);
    assert_eq!(metric(&report, "server_memory_mib"), Some(3.0));
    // So many seconds of 3 MiB each, for three reports.
    assert!((metric(&report, "read_mib_per_report").unwrap() - seconds as f64).abs() < 1e-9);
    assert!((metric(&report, "report_read_iops").unwrap() - 6.0).abs() < 1e-9);
    let answer = answers(&report)[0].text.clone();
    let used = format!(
        "; the reports after it used 3 MiB of memory, 0.500 CPUs and 6.00 reads per second ({seconds} MiB per report)"
    );
    assert!(answer.ends_with(&used), "{answer}\n{used}");
    let table = table::used(&report).unwrap();
    assert_eq!(table.rows.len(), 2);
    assert!(table.rows[1].cells.contains(&"3 MiB".to_owned()), "{:?}", table.rows[1].cells);
}

/// 4,761 reads a second of another program were told as those of a server that read nothing.
#[test]
fn what_other_programs_read_is_never_the_servers() {
    let idle = record::GroupLoad {
        reads_per_s: Some(0.0),
        read_bytes_per_s: Some(0.0),
        ..record::GroupLoad::default()
    };
    let (in_group, _) =
        read_in(|_| record::Resources { groups: [("pg".to_owned(), idle)].into(), ..of_device() });
    let (in_processes, _) = read_in(|_| with_server(Some(0.0), 1 << 20));
    for report in [in_group, in_processes] {
        assert_eq!(metric(&report, "read_mib_per_report"), Some(0.0));
        assert_eq!(metric(&report, "report_read_iops"), Some(0.0));
        let answer = answers(&report)[0].text.clone();
        assert!(
            answer.contains("0 reads per second (0 B per report)") && !answer.contains("device"),
            "{answer}"
        );
    }
}

#[test]
fn of_processes_bytes_are_known_and_reads_are_the_devices() {
    let (report, seconds) = read_in(|_| with_server(Some(3.0 * MIB), 1 << 20));
    assert!((metric(&report, "read_mib_per_report").unwrap() - seconds as f64).abs() < 1e-9);
    assert_eq!(metric(&report, "report_read_iops"), None);
    let answer = answers(&report)[0].text.clone();
    let used = format!("and {seconds} MiB read per report; device, all programs: 4,761 reads/s");
    assert!(answer.ends_with(&used), "{answer}\n{used}");
}

#[test]
fn where_only_the_device_is_known_it_is_said_to_be_that_of_all_programs() {
    let (report, seconds) = read_in(|_| with_server(None, 1 << 20));
    assert_eq!((metric(&report, "read_mib_per_report"), metric(&report, "report_read_iops")), (None, None));
    let answer = answers(&report)[0].text.clone();
    let bytes = crate::format::bytes((172.0 * MIB * seconds as f64 / 3.0).round() as u64);
    let told = format!(
        "used 1 MiB of memory and 0.500 CPUs; device, all programs: 4,761 reads/s, {bytes} per report"
    );
    assert!(answer.ends_with(&told), "{answer}\n{told}");
    let table = table::used(&report).unwrap();
    let heads: Vec<&str> = table.columns.iter().map(|column| column.head.as_ref()).collect();
    assert!(heads.contains(&"device reads/s") && !heads.contains(&"reads/s"), "{heads:?}");
}

/// SQLite reads in this program.
#[test]
fn what_an_engine_in_this_program_reads_is_what_the_program_reads() {
    let own = record::OwnLoad { read_bytes_per_s: Some(3.0 * MIB), ..record::OwnLoad::default() };
    let mut trial_of = trial(1, |setup, _| setup.engine = "sqlite".to_owned());
    let read = |sample: &record::Sample| record::Resources {
        end_s: sample.end_s,
        length_s: 1.0,
        own: Some(own),
        ..record::Resources::default()
    };
    trial_of.resources = trial_of.samples.iter().map(read).collect();
    let first_s = trial_of.samples[0].end_s;
    let Some(record::Outcome::Reporting(outcome)) = &mut trial_of.trial.outcome else { unreachable!() };
    outcome.runs[1].begin_s = first_s - 1.0;
    outcome.runs[3].begin_s = first_s + 1.0 - outcome.runs[3].took_s;
    let report = Report::of(&fixture::study("reporting", vec![trial_of]));
    let bytes = report.trials[0].reporting().unwrap().during_others.read_bytes.unwrap();
    assert!((bytes - 2.0 * MIB).abs() < 1.0, "two seconds for three reports: {bytes}");
}

/// A reading of 0.75 s had the first report in it, which read the file, and ended behind the last one, whose session was gone: the bytes of the
/// first were told as those of the reports after it, and the memory of a server that nobody asked anything as theirs.
#[test]
fn what_other_reports_used_and_what_is_left_behind_the_last_is_no_reports_own() {
    let read = |end_s: f64, length_s: f64, memory_bytes: u64, read_bytes_per_s: f64| {
        let read_bytes_per_s = Some(read_bytes_per_s);
        let server = ServerLoad { cpu_cores: 0.5, memory_bytes, read_bytes_per_s, ..ServerLoad::default() };
        let servers = [("prony_reports".to_owned(), server)].into();
        record::Resources { end_s, length_s, servers, ..record::Resources::default() }
    };
    let used = |of_first: [f64; 2], of_others: [f64; 2], readings: Vec<record::Resources>| {
        let mut trial = trial(1, |_, outcome| {
            outcome.runs.truncate(2);
            for (run, [begin_s, end_s]) in outcome.runs.iter_mut().zip([of_first, of_others]) {
                (run.begin_s, run.took_s) = (begin_s, end_s - begin_s);
            }
        });
        trial.resources = readings;
        let report = Report::of(&fixture::study("reporting", vec![trial]));
        let notes = said(&report, Level::Note);
        let reporting = report.trials[0].reporting().unwrap();
        (reporting.during_first, reporting.during_others, notes)
    };
    let unknown = super::model::Used::default();
    let (first, others, _) = used([0.0, 0.33], [0.34, 0.64], vec![read(0.75, 0.75, 53 << 20, 184e6)]);
    assert_eq!((first, others), (unknown, unknown));
    // The second reading has both in it: at its end the server had what the later report used, and no more is known of that.
    let readings = vec![read(1.0, 1.0, 127 << 20, 97e6), read(2.0, 1.0, 173 << 20, 42e6)];
    let (first, others, notes) = used([0.0, 1.7], [1.7, 2.9], readings);
    assert_eq!((first.memory_bytes, first.cpu_cores, first.read_bytes), (Some(127 << 20), Some(0.5), None));
    assert_eq!((others.memory_bytes, others.cpu_cores, others.read_bytes), (Some(173 << 20), None, None));
    assert!(notes.contains("the resources of the reports after it are unknown, except memory"), "{notes}");
    let readings = (1..=4).map(|second| read(f64::from(second), 1.0, 1 << 20, 50e6)).collect();
    let (first, ..) = used([0.0, 4.4], [4.4, 4.6], readings);
    assert!((first.read_bytes.unwrap() - 220e6).abs() < 1.0, "as fast in the tenth that no reading is of");
}

#[test]
fn a_trial_that_failed_has_no_finding() {
    let mut failed = trial(1, |_, outcome| {
        outcome.runs.truncate(1);
        outcome.failure = Some("connection reset".to_owned());
    });
    failed.trial.state = State::Failed;
    let report = Report::of(&fixture::study("reporting", vec![failed]));
    assert!(!said(&report, Level::Finding).contains("first report"), "{}", said(&report, Level::Finding));
}

/// The plan was asked for between two reports, which counted as a slower report in the rate and in the live line.
#[test]
fn the_time_in_which_a_plan_is_asked_for_is_no_reports() {
    let mut window = record::Window::new(Workload::Reporting.main());
    // Three reports of a quarter of a second each, in a window of a second and a half.
    let mut operation = OperationInterval { count: 3, ..OperationInterval::default() };
    (0..3).for_each(|_| operation.service.record_ns(250_000_000));
    let arrived = OperationInterval { count: 90, ..OperationInterval::default() };
    let interval = record::Interval {
        end_s: 1.5,
        length_s: 1.5,
        phase: record::Phase::Measure,
        operations: [(REPORT.to_owned(), operation.clone()), (EVENT.to_owned(), arrived.clone())].into(),
        gauges: Default::default(),
        generator_cpu_us: 0,
        generator_busiest_share: 0.5,
        generator_pauses: None,
    };
    window.add(&interval);
    assert_eq!(crate::rate_text(Workload::Reporting, &window), "250 ms per report");
    let per_s = OfReporting.per_s(REPORT, &operation, 1.5).unwrap();
    assert!((per_s - 4.0).abs() < 0.01, "{per_s}");
    assert_eq!(OfReporting.per_s(EVENT, &arrived, 1.5), Some(60.0), "events arrive all the time");
    assert_eq!(OfReporting.per_s(REPORT, &OperationInterval::default(), 1.5), Some(0.0));
}

/// Reports of milliseconds lay on the floor of an axis that ended at a second.
#[test]
fn reports_of_milliseconds_are_drawn_in_milliseconds() {
    let heading = |report: &Report| {
        let charts = OfReporting.course(&report.trials[0]);
        let chart = charts.iter().find(|chart| chart.heading == "Time of each report").unwrap();
        (chart.svg.contains("milliseconds per report"), chart.svg.contains(">seconds per report"))
    };
    assert_eq!(heading(&report(|_, _| {})), (false, true));
    let fast = report(|_, outcome| outcome.runs.iter_mut().for_each(|run| run.took_s /= 100.0));
    assert_eq!(heading(&fast), (true, false));
}

/// The table had dashes for reports of milliseconds, and nothing said why.
#[test]
fn what_was_used_by_reports_that_were_over_at_once_is_said_not_to_be_known() {
    let fast = report(|_, outcome| outcome.runs.iter_mut().for_each(|run| run.took_s /= 100.0));
    let notes = said(&fast, Level::Note);
    assert!(
        notes.contains("the resources of the first report and the reports after it are unknown"),
        "{notes}"
    );
    assert!(
        !said(&report(|_, _| {}), Level::Note).contains("sampled once per second"),
        "a server elsewhere is not looked at"
    );
    assert!(
        !said(&report(|_, outcome| outcome.runs.clear()), Level::Note).contains("sampled once per second")
    );
}

/// Of 78 trials as many notes said the same, six of them in full.
#[test]
fn trials_of_which_the_same_was_not_read_are_told_together() {
    let fast =
        |number| trial(number, |_, outcome| outcome.runs.iter_mut().for_each(|run| run.took_s /= 100.0));
    let report = Report::of(&fixture::study("reporting", vec![fast(1), trial(2, |_, _| {}), fast(3)]));
    let notes: Vec<&crate::verdict::Verdict> =
        report.verdicts().iter().filter(|verdict| verdict.rule == "usage_not_read").collect();
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert_eq!(notes[0].trials, [1, 3]);
    assert!(
        notes[0].sentence().contains("(2 of 3 trials): the resources of the first report and"),
        "{notes:?}"
    );
}

#[test]
fn the_head_of_the_page_has_the_first_report_and_the_next_ones() {
    let report = report(|_, _| {});
    let run = report.trials.iter().find_map(Trial::reporting).unwrap();
    let told: Vec<String> = OfReporting
        .tiles(&report)
        .iter()
        .map(|tile| format!("{}: {} {}", tile.label, tile.figure, tile.unit))
        .collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].starts_with("First report, "), "{told:?}");
    assert!(told[0].ends_with(&super::words::time(run.first_s.unwrap())), "{told:?}");
    assert!(told[1].ends_with(&super::words::time(run.mean_s.unwrap())), "{told:?}");
    let chart = OfReporting.lead(&report).unwrap();
    assert_eq!(chart.svg.matches("<rect").count(), 2, "a bar for each");
    assert!(chart.legend.len() == 2 && chart.table.rows.len() == 2);
}
