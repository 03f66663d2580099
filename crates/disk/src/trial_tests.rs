//! Tests of whole trials: on simulated devices in virtual time, and on real files.

use std::sync::atomic::Ordering;
use std::time::Instant;

use record::{DiskEngine, Interval, Phase};

use super::*;
use crate::settings::Settings;

struct Ran {
    result: Result<DiskOutcome, TrialError>,
    intervals: Vec<Interval>,
    setup: Option<record::DiskSetup>,
}

impl Ran {
    fn measured(&self, kind: &str) -> record::OperationInterval {
        let mut all = record::OperationInterval::default();
        for interval in self.intervals.iter().filter(|interval| interval.phase == Phase::Measure) {
            all.merge(&interval.operations[kind]);
        }
        all
    }

    fn rate_per_s(&self, kind: &str) -> f64 {
        let measured = self.intervals.iter().filter(|interval| interval.phase == Phase::Measure);
        self.measured(kind).count as f64 / measured.map(|interval| interval.length_s).sum::<f64>()
    }
}

fn job(text: &str) -> Job {
    let settings: Settings = serde_json::from_str(text).unwrap();
    Job::of(&settings).unwrap()
}

fn ran(job: &Job, target: &Target, stop: &AtomicBool) -> Ran {
    let mut intervals = Vec::new();
    let mut setup = None;
    let result = run(job, target, stop, |progress| {
        match progress {
            Progress::Preparing(_) | Progress::Mark(_) | Progress::Parts(_) => {}
            Progress::SetUp(described) => setup = described.disk().cloned(),
            Progress::Interval(interval) => intervals.push(interval),
        }
        Go::On
    });
    Ran { result, intervals, setup }
}

fn simulated(text: &str) -> Ran {
    let job = job(&format!(r#"{{"engine": "simulated", {text}}}"#));
    ran(&job, &Target::imaginary(1, 1 << 30), &AtomicBool::new(false))
}

/// A real file in a temporary directory, through the file cache so that it works on every file system.
fn on_file(text: &str) -> Ran {
    let directory = tempfile::tempdir().unwrap();
    let job = job(&format!(
        r#"{{"file_size": "4MiB", "cache": "buffered", "duration": "200ms", "warm_up": "0s", {text}}}"#
    ));
    let never = AtomicBool::new(false);
    let target =
        Target::prepare(&[directory.path().to_owned()], std::slice::from_ref(&job), &never, |_, _| {})
            .unwrap();
    ran(&job, &target, &never)
}

#[test]
fn a_closed_loop_gets_what_the_device_gives() {
    let one = simulated(r#""duration": "60s", "simulated": {"service": "100us"}"#);
    assert_eq!(one.rate_per_s("read"), 10_000.0);
    let eight =
        simulated(r#""duration": "60s", "outstanding": 8, "simulated": {"service": "100us", "parallel": 4}"#);
    assert_eq!(eight.rate_per_s("read"), 40_000.0);
    let mean_us = eight.measured("read").service.mean_us().unwrap();
    assert!(
        (mean_us / 200.0 - 1.0).abs() < 1e-3,
        "eight I/Os at four servers wait as long as they are served: {mean_us}"
    );
}

#[test]
fn phases_and_intervals_are_those_that_were_asked_for() {
    let ran = simulated(r#""duration": "2500ms", "warm_up": "1500ms""#);
    let found: Vec<_> = ran.intervals.iter().map(|i| (i.phase, i.length_s)).collect();
    use Phase::{Drain, Measure, WarmUp};
    assert_eq!(found[..5], [(WarmUp, 1.0), (WarmUp, 0.5), (Measure, 1.0), (Measure, 1.0), (Measure, 0.5)]);
    assert!(found[5..].iter().all(|(phase, _)| *phase == Drain));
}

#[test]
fn think_time_slows_a_closed_loop() {
    let ran = simulated(
        r#""duration": "10s", "think_time": "900us", "outstanding": 2, "simulated": {"parallel": 2}"#,
    );
    assert!((ran.rate_per_s("read") - 2_000.0).abs() < 1.0, "{}", ran.rate_per_s("read"));
}

#[test]
fn an_open_loop_holds_its_rate_and_charges_the_queue_to_the_response() {
    let held = simulated(r#""duration": "20s", "rate": 5000, "outstanding": 4"#);
    assert!((held.rate_per_s("read") / 5_000.0 - 1.0).abs() < 1e-3);
    let outcome = held.result.as_ref().unwrap();
    assert_eq!((outcome.unsent, outcome.offered.unwrap().waited), (0, Some(0)));

    // Twice what the device can do: half is never sent, none of it is dropped in silence.
    let over = simulated(r#""duration": "20s", "warm_up": "0s", "rate": 20000, "outstanding": 4"#);
    let outcome = over.result.as_ref().unwrap();
    let sent = over.intervals.iter().map(|i| i.operations["read"].count).sum::<u64>();
    assert!(outcome.offered.unwrap().waited_share().unwrap() > 0.9, "nearly all of them waited for a slot");
    assert_eq!(sent + outcome.unsent, 400_000);
    let operation = over.measured("read");
    let worst_s = operation.response.as_ref().unwrap().max_us().unwrap() / 1e6;
    assert!((worst_s - 10.0).abs() < 0.1, "the last one sent was due ten seconds before: {worst_s}");
    assert!(operation.service.max_us().unwrap() < 1e3, "the device itself took no longer than ever");
}

#[test]
fn flushes_come_after_every_so_many_writes() {
    let ran = simulated(r#""duration": "10s", "read_share": 0, "flush_every": 9"#);
    let (writes, flushes) = (ran.measured("write").count, ran.measured("flush").count);
    assert!((writes as f64 / flushes as f64 - 9.0).abs() < 0.01, "{writes} / {flushes}");
    assert!(!ran.intervals[0].operations.contains_key("read"), "kinds that are not used are not recorded");
}

#[test]
fn the_read_share_is_kept() {
    let ran = simulated(r#""duration": "60s", "read_share": 70"#);
    let (reads, writes) = (ran.measured("read").count as f64, ran.measured("write").count as f64);
    assert!((reads / (reads + writes) - 0.7).abs() < 0.005);
}

#[test]
fn an_io_error_ends_the_trial_and_keeps_what_was_measured() {
    let ran = simulated(r#""duration": "60s", "simulated": {"fails_at": 55000}"#);
    let message = ran.result.unwrap_err().to_string();
    assert!(message.contains("read of 4096 bytes at offset") && message.contains("os error 5"), "{message}");
    let measured: u64 = ran.intervals.iter().map(|i| i.operations["read"].count).sum();
    assert_eq!(measured, 54_999);
    assert_eq!(ran.intervals.iter().map(|i| i.operations["read"].errors).sum::<u64>(), 1);
}

#[test]
fn the_same_seed_gives_the_same_trial() {
    let text = r#""duration": "3s", "read_share": 50, "rate": 3000, "arrivals": "poisson", "threads": 3"#;
    assert_eq!(simulated(text).intervals, simulated(text).intervals);
}

#[test]
fn memory_does_not_grow_with_the_length_of_a_run() {
    let resident_pages = || {
        let text = std::fs::read_to_string("/proc/self/statm").unwrap();
        text.split(' ').nth(1).unwrap().parse::<u64>().unwrap()
    };
    let job = job(r#"{"engine": "simulated", "duration": "1h", "simulated": {"service": "10ms"}}"#);
    let mut after_a_minute = 0;
    let mut intervals = 0;
    let result = run(&job, &Target::imaginary(1, 1 << 30), &AtomicBool::new(false), |progress| {
        intervals += u64::from(matches!(progress, Progress::Interval(_)));
        if intervals == 60 {
            after_a_minute = resident_pages();
        }
        Go::On
    });
    assert!(result.is_ok() && intervals > 3_600);
    // Other tests of this process come and go; a leak of one histogram an interval would be a gigabyte.
    let grown_pages = resident_pages().saturating_sub(after_a_minute);
    assert!(grown_pages < 64 << 8, "{grown_pages} pages");
}

#[test]
fn every_engine_reads_and_writes_real_files() {
    for engine in
        [r#""engine": "psync", "threads": 3"#, r#""engine": "auto", "outstanding": 7, "threads": 2"#]
    {
        let ran = on_file(&format!(r#"{engine}, "read_share": 50, "flush_every": 5, "files": 2"#));
        ran.result.unwrap();
        let total = |kind: &str| ran.intervals.iter().map(|i| i.operations[kind].count).sum::<u64>();
        assert!(total("read") > 0 && total("write") > 0 && total("flush") > 0, "{engine}");
    }
}

#[test]
fn the_setup_says_what_was_got() {
    let setup = on_file(r#""outstanding": 4"#).setup.unwrap();
    match setup.engine {
        DiskEngine::Uring => assert!(setup.engine_features.contains(&"registered files".to_owned())),
        engine => {
            assert!(engine == DiskEngine::Psync && setup.engine_fallback.is_some() && setup.threads == 4)
        }
    }
    let calibrated = setup.calibration.unwrap().generator_ns_per_operation;
    assert!(calibrated > 0.0, "{calibrated}");
    assert_eq!(setup.written, record::Written::ByUs);
}

#[test]
fn a_truncated_file_is_a_short_read_and_not_a_result() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("shrinking");
    std::fs::write(&path, vec![1; 1 << 20]).unwrap();
    let job = job(r#"{"cache": "buffered", "duration": "200ms", "engine": "psync"}"#);
    let never = AtomicBool::new(false);
    let target =
        Target::prepare(std::slice::from_ref(&path), std::slice::from_ref(&job), &never, |_, _| {}).unwrap();
    std::fs::File::options().write(true).open(&path).unwrap().set_len(0).unwrap();
    let message = ran(&job, &target, &never).result.unwrap_err().to_string();
    assert!(message.contains("moved 0 of 4096 bytes") && message.contains("shrinking"), "{message}");
}

#[test]
fn a_stop_drains_and_keeps_what_was_measured() {
    let stop = AtomicBool::new(false);
    let job = job(r#"{"engine": "null", "duration": "1h", "warm_up": "0s"}"#);
    let begin = Instant::now();
    let mut intervals = 0;
    let result = run(&job, &Target::imaginary(1, 1 << 30), &stop, |progress| {
        if let Progress::Interval(_) = progress {
            intervals += 1;
            stop.store(true, Ordering::Relaxed);
        }
        Go::On
    });
    assert!(result.is_ok() && intervals >= 1);
    assert!(begin.elapsed().as_secs() < 30, "an hour was not waited for");
}

#[test]
fn a_kernel_that_forbids_io_uring_gets_threads_instead_and_says_so() {
    let job = job(r#"{"outstanding": 8, "threads": 2}"#);
    let refused = std::io::Error::from_raw_os_error(libc::EPERM);
    let resolved = crate::choice::without_ring(&job, &refused).unwrap();
    assert_eq!((resolved.job.threads, resolved.job.outstanding), (16, 1));
    assert_eq!(resolved.job.engine, crate::settings::EngineChoice::Psync);
    assert!(resolved.fallback.unwrap().contains("16 threads"));
}

#[test]
fn a_stop_is_heard_by_threads_that_wait() {
    for text in [
        r#"{"engine": "null", "duration": "1h", "warm_up": "0s", "think_time": "50m"}"#,
        r#"{"engine": "null", "duration": "1h", "warm_up": "0s", "rate": 0.01}"#,
    ] {
        let stop = AtomicBool::new(false);
        let begin = Instant::now();
        run(&job(text), &Target::imaginary(1, 1 << 30), &stop, |_| {
            stop.store(true, Ordering::Relaxed);
            Go::On
        })
        .unwrap();
        assert!(begin.elapsed().as_secs() < 30, "{text}");
    }
}
