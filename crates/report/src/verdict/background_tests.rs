//! What is said of programs that used the device, of trials made by hand.

use record::{DeviceLoad, MeasuredTrial, OwnLoad, Resources, ServerLoad, StartedServer};

use super::*;
use crate::fixture::{self, Made, Sold};
use crate::summary::{Reliability, Summary};

/// Adds readings of a device, with 64 KiB a read of others, to a trial that reads 4 KiB.
fn beside(mut trial: MeasuredTrial, ours_per_s: f64, others_per_s: f64) -> MeasuredTrial {
    let (own_bytes, other_bytes) = (ours_per_s * 4096.0, others_per_s * 65_536.0);
    let load = DeviceLoad {
        reads_per_s: ours_per_s + others_per_s,
        read_bytes_per_s: own_bytes + other_bytes,
        read_latency_us: Some(5_890.0),
        queue_depth: (ours_per_s + others_per_s) * 5_890.0 / 1e6,
        busy_share: Some(1.0),
        ..DeviceLoad::default()
    };
    let own =
        OwnLoad { read_bytes_per_s: Some(own_bytes), write_bytes_per_s: Some(0.0), ..OwnLoad::default() };
    for read in &mut trial.resources {
        (read.devices, read.own) = ([("vda".to_owned(), load)].into(), Some(own));
    }
    trial
}

fn disk(number: u32, others_per_s: f64) -> MeasuredTrial {
    beside(Made::read("page read").rate(289.0, 3_400.0).others(0.9).trial(number), 289.0, others_per_s)
}

fn told(trials: Vec<MeasuredTrial>) -> (Report, Option<Verdict>) {
    let report = Report::of(&fixture::study("disk", trials));
    let found = report.verdicts().iter().find(|verdict| verdict.rule == "background_io").cloned();
    (report, found)
}

/// Reliability was poor for the processors alone, and no word was said of the device.
#[test]
fn a_program_that_reads_the_same_disk_lowers_trust_is_the_limit_and_is_to_be_stopped() {
    let (report, found) = told(vec![disk(1, 4_683.0)]);
    let found = found.unwrap();
    assert_eq!(found.level, Level::Warning);
    for part in [
        "requests or bytes on vda were from other programs: ",
        "4,68",
        " reads/s at 307 MB/s",
        "about 27.",
        " of 29.",
        "in flight",
    ] {
        assert!(found.sentence().contains(part), "{part:?} is not in {:?}", found.sentence());
    }
    assert!(
        found.sentence().ends_with(" Stop the program that reads from vda, and repeat."),
        "{}",
        found.sentence()
    );
    let summary = Summary::of(&report);
    assert_eq!(summary.reliability, Reliability::Low);
    assert!(
        summary.because.as_ref().unwrap().contains("on vda were from other programs"),
        "{:?}",
        summary.because
    );
    assert!(summary.bottleneck.starts_with("likely: background I/O on vda: "), "{}", summary.bottleneck);
    assert_eq!(summary.next.as_deref(), Some("stop the program that reads from vda, and repeat"));
}

#[test]
fn a_disk_of_our_own_raises_nothing() {
    let (report, found) = told(vec![disk(1, 0.0)]);
    assert!(found.is_none(), "{found:?}");
    assert!(
        !Summary::of(&report).bottleneck.contains("background I/O"),
        "{}",
        Summary::of(&report).bottleneck
    );
}

#[test]
fn several_trials_are_told_together_with_their_ranges() {
    let (report, found) = told(vec![disk(1, 4_683.0), disk(2, 1_000.0), disk(3, 0.0)]);
    let found = found.unwrap();
    assert_eq!(found.trials, [1, 2]);
    assert!(found.sentence().contains(" to 4,68"), "{}", found.sentence());
    assert!(report.trials[2].beside.background_io.as_ref().is_some_and(|io| io.share < 0.05));
}

/// An open loop that fell behind was said to be limited by its target alone.
#[test]
fn a_rate_that_was_not_held_beside_others_is_limited_by_them() {
    let open = Made::read("page read").rate(289.0, 3_400.0).open(1_000.0, 50_000.0);
    let trial = beside(open.outcome(|outcome| outcome.offered = None).trial(1), 289.0, 4_683.0);
    let (report, _) = told(vec![trial]);
    let limit = Summary::of(&report).bottleneck;
    assert!(limit.starts_with("likely: background I/O on vda"), "{limit}");
}

fn server(read_bytes_per_s: Option<f64>) -> MeasuredTrial {
    let mut trial = beside(Sold::at("O", &[50.0]).trial(1), 0.0, 4_683.0);
    let load = ServerLoad { read_bytes_per_s, write_bytes_per_s: read_bytes_per_s, ..ServerLoad::default() };
    for read in &mut trial.resources {
        read.servers = [("store_1".to_owned(), load)].into();
    }
    trial
}

#[test]
fn what_the_server_reads_itself_is_no_background_load() {
    let bytes = 4_683.0 * 65_536.0;
    assert!(told(vec![server(Some(bytes))]).1.is_none());
    let found = told(vec![server(Some(1e6))]).1.unwrap();
    assert!(found.sentence().contains("on vda were from other programs"), "{}", found.sentence());
}

#[test]
fn what_cannot_be_told_apart_is_said_and_never_taken_for_others() {
    let unknown = |trial: MeasuredTrial| {
        let (report, found) = told(vec![trial]);
        assert!(found.is_none(), "{found:?}");
        let note = report.verdicts().iter().find(|verdict| verdict.rule == "background_io_unknown").cloned();
        note.map(|note| (note.level, note.sentence())).unwrap()
    };
    let (level, sentence) = unknown(server(None));
    assert_eq!(level, Level::Note);
    assert!(sentence.contains("Run prony as root or as the server's user"), "{sentence}");
    let mut pair = server(Some(1e6));
    pair.trial.servers =
        vec![StartedServer { pair: Some("two servers".to_owned()), ..StartedServer::default() }];
    assert!(unknown(pair).1.contains("prony reads only one of the nodes"));
    // Killed and started again, it was not read for half of the window.
    let mut killed = server(Some(1e6));
    let half = killed.resources.len() / 2;
    killed.resources.iter_mut().take(half + 1).for_each(|read| read.servers.clear());
    unknown(killed);
    let no_device = |trial: &mut MeasuredTrial| {
        trial.resources.iter_mut().for_each(|read: &mut Resources| read.devices.clear());
    };
    let mut elsewhere = server(None);
    no_device(&mut elsewhere);
    let (report, _) = told(vec![elsewhere]);
    assert!(!report.verdicts().iter().any(|verdict| verdict.rule.starts_with("background_io")));
}

#[test]
fn a_load_of_the_null_engine_is_on_no_device() {
    let trial =
        beside(Made::read("R").with(|setup| setup.engine = record::DiskEngine::Null).trial(1), 0.0, 4_683.0);
    assert!(told(vec![trial]).1.is_none());
}
