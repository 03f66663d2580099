//! Recordings and PLCs as sources.

use std::net::SocketAddr;
use std::sync::Arc;

use super::*;
use crate::historian::SourceChoice;
use crate::plc::{self, Plc};

/// Replays a recording of these lines.
fn replayed(lines: &str, edit: impl FnOnce(&mut Settings)) -> (Ran, Vec<Vec<Value>>) {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), lines).unwrap();
    let source = Some(SourceChoice::Csv(file.path().to_owned()));
    let mut settings = Settings { source, tags: None, rate: None, ..settings(1.0, 30) };
    edit(&mut settings);
    let own = own("fake:?append=2ms");
    let ran = run_on(&settings, &own).adds_up();
    let sql = "SELECT s.time_us, t.name, s.value, s.quality FROM samples s JOIN tags t USING (tag_id) ORDER BY s.rowid";
    (ran, rows(&own, sql))
}

fn row(offset_us: i64, name: &str, value: f64) -> Vec<Value> {
    vec![Value::I64(NOW_US + offset_us), Value::Text(name.to_owned()), Value::F64(value), Value::I64(192)]
}

#[test]
fn a_recording_is_replayed_at_its_pace_with_all_its_duplicates() {
    let lines =
        "1700000000,FT1,1\n1700000000,FT1,1\n1700000000,FT1,1\n1700000004,TT2,7.5\n1700000012,FT1,2\n";
    let (ran, rows) = replayed(lines, |_| {});
    let expected = [
        row(0, "FT1", 1.0),
        row(0, "FT1", 1.0),
        row(0, "FT1", 1.0),
        row(4_000_000, "TT2", 7.5),
        row(12_000_000, "FT1", 2.0),
    ];
    assert_eq!(rows, expected);
    assert_eq!((ran.setup.tags, ran.outcome.acknowledged), (2, 5));
    let measured = ran.gauge(Phase::Measure, "offered_records");
    assert_eq!(measured.iter().sum::<f64>(), 1.0, "after 5 s of warm-up: {measured:?}");
    assert!(
        ran.outcome.notes[0].contains("ends after 12.0 s: only 7.0 s are measured"),
        "{:?}",
        ran.outcome.notes
    );
}

#[test]
fn a_recording_is_replayed_faster() {
    let (ran, rows) = replayed("1700000000,A,1\n1700000060,A,2\n", |settings| settings.speed = Some(10.0));
    assert_eq!(rows, [row(0, "A", 1.0), row(6_000_000, "A", 2.0)]);
    assert!(ran.intervals.last().unwrap().end_s < 8.0);
}

#[test]
fn a_recording_that_is_longer_than_the_trial_is_broken_off() {
    let (ran, rows) = replayed("1700000000,A,1\n1700000029,A,2\n1700000031,A,3\n", |_| {});
    assert_eq!(rows, [row(0, "A", 1.0), row(29_000_000, "A", 2.0)]);
    assert_eq!(ran.outcome.offered, 2);
}

/// All of its events were offered at once when the latest of them was due, and its rate was not held.
#[test]
fn a_recording_out_of_order_is_replayed_in_order() {
    let (ran, rows) = replayed("1700000003,A,3\n1700000000,A,1\n1700000008,A,2\n", |_| {});
    assert_eq!(rows, [row(0, "A", 1.0), row(3_000_000, "A", 3.0), row(8_000_000, "A", 2.0)]);
    assert!(
        ran.outcome.notes.iter().any(|note| note.contains("1 of its 3 events")),
        "{:?}",
        ran.outcome.notes
    );
}

#[test]
fn a_recording_with_mistakes_is_refused() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "1700000000,A,1\nyesterday,A,2\n").unwrap();
    let source = Some(SourceChoice::Csv(file.path().to_owned()));
    let settings = Settings { source, tags: None, rate: None, ..settings(1.0, 30) };
    let error = run_until(&settings, &own("fake:"), false, NOW_US, |_| Go::On).err().unwrap();
    assert!(matches!(&error, TrialError::Source(text) if text.contains("yesterday")), "{error}");
}

/// A PLC of 200 registers that answers as long as this lives.
struct Serving {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Serving {
    fn on(listen: SocketAddr) -> Self {
        let settings = plc::Settings { listen, registers: 200, ..plc::Settings::default() };
        let plc = Plc::bind(&settings).unwrap();
        let (address, stop) = (plc.address(), Arc::new(AtomicBool::new(false)));
        let stopped = Arc::clone(&stop);
        let thread = Some(std::thread::spawn(move || plc.serve(&stopped).unwrap()));
        Self { address, stop, thread }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap();
    }
}

fn polled(address: SocketAddr, duration_ms: u64) -> Settings {
    let source = Some(SourceChoice::Modbus { address: address.to_string() });
    Settings {
        source,
        tags: Some(200),
        rate: None,
        warm_up: Some(Span::ZERO),
        duration: Some(Span { ns: duration_ms * 1_000_000 }),
        poll_interval: Some(Span { ns: 100_000_000 }),
        ..settings(1.0, 30)
    }
}

#[test]
fn changes_of_a_plc_are_written() {
    let plc = Serving::on(SocketAddr::from(([127, 0, 0, 1], 0)));
    let own = own("fake:");
    let ran = run_on(&polled(plc.address, 1_500), &own).adds_up();
    let outcome = &ran.outcome;
    // All registers at first, and then those that change: each once a second.
    assert!((300..=600).contains(&outcome.offered), "{outcome:?}");
    assert!(outcome.source_outages.is_empty() && outcome.abandoned == 0, "{outcome:?}");
    let first = rows(&own, "SELECT count(DISTINCT tag_id) FROM samples");
    assert_eq!(first, [[Value::I64(200)]]);
    let lag = ran.intervals[0].operations["record"].lag.as_ref().unwrap();
    assert!(lag.count() >= 200 && lag.max_us().unwrap() < 1_000_000.0);
}

#[test]
fn a_plc_that_goes_away_is_tried_until_it_is_back() {
    let plc = std::cell::RefCell::new(Some(Serving::on(SocketAddr::from(([127, 0, 0, 1], 0)))));
    let address = plc.borrow().as_ref().unwrap().address;
    let ran = run_until(&polled(address, 4_000), &own("fake:"), false, NOW_US, |interval| {
        if interval.end_s == 1.0 {
            plc.borrow_mut().take();
        } else if interval.end_s == 2.0 {
            *plc.borrow_mut() = Some(Serving::on(address));
        }
        Go::On
    });
    let ran = ran.unwrap().adds_up();
    let [outage] = ran.outcome.source_outages.as_slice() else { panic!("{:?}", ran.outcome) };
    assert!(
        (0.9..2.0).contains(&outage.start_s) && outage.end_s.is_some_and(|end_s| end_s > 1.9),
        "{outage:?}"
    );
    assert!(outage.attempts >= 1 && !outage.error.is_empty(), "{outage:?}");
    assert!(ran.outcome.outages.is_empty());
}

#[test]
fn a_plc_that_is_not_there_is_an_error_before_anything_is_loaded() {
    let nowhere = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap()
    };
    let error = run_until(&polled(nowhere, 500), &own("fake:"), false, NOW_US, |_| Go::On).err().unwrap();
    assert!(matches!(&error, TrialError::Source(text) if text.contains(&nowhere.to_string())), "{error}");
}
