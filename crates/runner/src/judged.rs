//! What is said of how a trial ended, and the rules of it that all workloads share.

use record::{Mark, Outage, Outcome, Window};
use stats::{ClientLimit, Stood, paused};

/// How a workload ended, in the terms of a record.
pub(crate) struct Judged {
    pub(crate) outcome: Outcome,
    pub(crate) notes: Vec<String>,
    /// What was found wrong with what the trial left.
    pub(crate) failed: Option<String>,
    /// Why its figures do not mean what they should.
    pub(crate) invalid: Option<String>,
}

/// That the load generator stood still for too long within a window, if it is known.
pub(crate) fn stood_still(measured: &Window) -> Option<ClientLimit> {
    let pauses = measured.pauses()?;
    paused(Stood { longest_ms: pauses.longest_ms, sum_ms: pauses.sum_ms, window_s: measured.seconds() })
}

/// The reason of a trial that is invalid because of its client; none without a sign.
pub(crate) fn client_limited(signs: &[String]) -> Option<String> {
    (!signs.is_empty()).then(|| format!("client-limited: {}", signs.join("; ")))
}

/// That clients stopped before the end, by what they said.
pub(crate) fn clients_stopped<'a>(stopped: impl Iterator<Item = &'a String>) -> Option<String> {
    let stopped: Vec<&String> = stopped.collect();
    let first = stopped.first()?;
    let clients =
        if stopped.len() == 1 { "a client".to_owned() } else { format!("{} clients", stopped.len()) };
    Some(format!("{clients} stopped before the end: {first}"))
}

/// That a database was away when nobody had planned it.
pub(crate) fn away<'a>(outages: impl Iterator<Item = &'a Outage>, marks: &[Mark]) -> Option<String> {
    let outages: Vec<&Outage> = outages.filter(|outage| !outage.is_planned(marks)).collect();
    let outage = outages.first()?;
    let length = outage
        .end_s
        .map_or_else(|| "to the end".to_owned(), |end_s| format!("for {:.1} s", end_s - outage.start_s));
    let more =
        if outages.len() == 1 { String::new() } else { format!(", and {} more times", outages.len() - 1) };
    let (start_s, error) = (outage.start_s, &outage.error);
    Some(format!("a database was unreachable {length}, starting at {start_s:.1} s{more}: {error}"))
}

/// Why a trial is invalid whose database somebody else may have changed.
pub(crate) const LOCK_LOST: &str = "the lock on the database was lost, and another program used, deleted \
     or replaced the database (see the note)";

/// Windows for tests of the rules.
#[cfg(test)]
pub(crate) mod windows {
    use std::collections::BTreeMap;

    use record::{Interval, Latency, OperationInterval, Pauses, Phase, Window, Workload};

    /// A window of one second with so many operations of a latency; in an open loop also with a lag.
    pub(crate) fn measured(count: u64, latency_us: u64, lag_us: Option<u64>) -> Window {
        let of = |us: u64| {
            let mut latency = Latency::new();
            (0..count).for_each(|_| latency.record_ns(us * 1_000));
            latency
        };
        let operation = OperationInterval {
            count,
            service: of(latency_us),
            response: lag_us.map(|lag_us| of(latency_us + lag_us)),
            lag: lag_us.map(of),
            ..OperationInterval::default()
        };
        let mut window = Window::new(Workload::Disk.main());
        window.add(&Interval {
            end_s: 1.0,
            length_s: 1.0,
            phase: Phase::Measure,
            operations: BTreeMap::from([("read".to_owned(), operation)]),
            gauges: BTreeMap::new(),
            generator_cpu_us: 0,
            generator_busiest_share: 0.1,
            generator_pauses: None,
        });
        window
    }

    /// A second in which nothing was answered.
    pub(crate) fn interval(phase: Phase, generator_pauses: Option<Pauses>) -> Interval {
        Interval {
            end_s: 2.0,
            length_s: 1.0,
            phase,
            operations: BTreeMap::new(),
            gauges: BTreeMap::new(),
            generator_cpu_us: 0,
            generator_busiest_share: 0.1,
            generator_pauses,
        }
    }
}
