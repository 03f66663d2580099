//! What a historian trial came to: what was offered, buffered, written, read, purged and found again.

use record::historian::{COMMIT, LATEST, RECORD, TREND};
use record::{
    HistorianOutcome, HistorianSetup, Loop, MaintenanceRun, MeasuredTrial, OFFERED, OperationInterval,
    Outage, Outcome, PENDING, PENDING_MAX, Phase, RowsCompared, Sample, Setup, State, Summary, ingest_step,
};
use serde::Serialize;
use stats::{Estimate, Unstable, Written};

use super::growth::{self, PerRecord};
use crate::faults::Account;
use crate::format;
use crate::trial::gauge_mean;
use crate::workloads::Common;

pub(super) const HOUR_S: f64 = 3600.0;
pub(super) const DAY_S: f64 = 24.0 * HOUR_S;
const YEAR_S: f64 = 365.25 * DAY_S;

/// Figures of a historian trial. Rates, latencies and pending records are of the measured window, counts of events and
/// rows of the whole trial.
#[derive(Clone, Debug, Serialize)]
pub struct Historian {
    /// Events due a second, if they were due at a rate; none of a closed loop.
    pub offered_per_s: Option<f64>,
    /// Rows committed a second.
    pub records_per_s: Option<f64>,
    /// The same with its interval over the seconds; none where there are too few of them.
    pub records_interval: Option<Estimate>,
    /// Transactions a second.
    pub commits_per_s: Option<f64>,
    /// Rows of a transaction on average.
    pub rows_per_commit: Option<f64>,
    /// Length of a flush: one transaction.
    pub flush: Option<Summary>,
    /// From event to commit; none of a closed loop, whose events come when there is room.
    pub record: Option<Summary>,
    /// Mean of the pending records.
    pub pending_mean: Option<f64>,
    /// Most pending records.
    pub pending_max: Option<f64>,
    /// Events that came while the buffer was full.
    pub refused: u64,
    /// Those of them within the measured window, by which a rate is judged; none where they were not counted by the second.
    #[serde(skip)]
    pub(crate) refused_measured: Option<u64>,
    /// Rows whose commit was answered.
    pub acknowledged: u64,
    /// Rows of flushes whose answer was lost and that were there.
    pub found_after_outage: u64,
    /// Rows of flushes whose answer was lost, that were not there and were written again.
    pub written_again: u64,
    /// Accepted events that could not be written before the trial was given up.
    pub abandoned: u64,
    /// Acknowledged rows that no purge may have removed.
    pub rows_expected: u64,
    /// Those of them that were found in the database; none if it could not be asked.
    pub rows_found: Option<u64>,
    /// Acknowledged rows that are not in the database; none if it could not be asked.
    pub rows_lost: Option<u64>,
    /// What reading all rows again came to; none if they were only counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows_compared: Option<RowsCompared>,
    /// What is wrong with the rows, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows_mismatch: Option<String>,
    /// Time from the end of the load until nothing was pending; none if that was not reached.
    pub drain_s: Option<f64>,
    /// Rows in the table after the trial.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows_after: Option<u64>,
    /// Times without a database.
    pub outages: Vec<Outage>,
    /// Times without the source of events.
    pub source_outages: Vec<Outage>,
    /// Most pending records while the database could not be written; none if there was no outage.
    pub waited_in_outages: Option<f64>,
    /// Purges and shrinks.
    pub maintenance: Vec<Maintenance>,
    /// What was stored.
    pub storage: Storage,
    /// Reads of a screen's time window.
    pub trend: Option<Reads>,
    /// Reads of a screen's latest values.
    pub latest: Option<Reads>,
    /// Whether the rate was held; none of a closed loop, and where too little was measured to say so.
    pub stable: Option<bool>,
    /// Why it was not held, or why that is not known.
    pub unstable_because: Vec<String>,
    /// What was written in each interval from the begin on, of a step of a search.
    #[serde(skip)]
    pub(crate) written: Vec<Written>,
    /// How many of these are of the measured window: the last ones.
    #[serde(skip)]
    pub(crate) measured_intervals: usize,
    /// Setup, for the sentences on it.
    #[serde(skip)]
    pub(crate) setup: Option<HistorianSetup>,
}

/// A purge with its shrink.
#[derive(Clone, Debug, Serialize)]
pub struct Maintenance {
    /// What was recorded of it.
    #[serde(flatten)]
    pub run: MaintenanceRun,
    /// Its length over the time from one purge to the next; none if it did not come to its end.
    pub interval_share: Option<f64>,
    /// Whether it took less than the time to the next one.
    pub keeps_up: Option<bool>,
}

/// Sizes, and what they come to if nothing is purged.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Storage {
    /// Size of the database before the trial.
    pub database_bytes_before: Option<u64>,
    /// Size of the database after it.
    pub database_bytes_after: Option<u64>,
    /// Bytes that the server wrote to its log meanwhile.
    pub log_bytes_written: Option<u64>,
    /// Pages that each record takes, indexes included; none where that is unknown or known only within a range.
    pub bytes_per_record: Option<f64>,
    /// The least and the most that it can be, where it is known only within a range.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_per_record_range: Option<[f64; 2]>,
    /// Growth per hour at the achieved rate.
    pub bytes_per_hour: Option<f64>,
    /// Growth per day.
    pub bytes_per_day: Option<f64>,
    /// Growth per week.
    pub bytes_per_week: Option<f64>,
    /// Size of the disk that is to hold it, if it was given.
    pub disk_bytes: Option<u64>,
    /// Years until such a disk is full.
    pub years_until_full: Option<f64>,
}

/// Reads of screens.
#[derive(Clone, Debug, Serialize)]
pub struct Reads {
    /// How many.
    pub reads: u64,
    /// How many ended with an error.
    pub errors: u64,
    /// Rows of a read on average.
    pub rows_per_read: Option<f64>,
    /// From asking to the last row.
    pub latency: Summary,
}

/// Events of these seconds that came while the buffer was full; none where they were not counted by the second.
fn refused_in(window: &[&Sample]) -> Option<u64> {
    let refused = window.iter().filter_map(|sample| sample.gauges.get(record::REFUSED).copied());
    refused.reduce(|sum, events| sum + events).map(|events| events.round() as u64)
}

/// Acknowledged rows that are not there, at least; none if the database could not be asked.
fn rows_lost(outcome: &HistorianOutcome) -> Option<u64> {
    let by_count = outcome.rows_expected.saturating_sub(outcome.rows_found?);
    Some(outcome.rows_compared.as_ref().map_or(by_count, |rows| rows.missing.max(by_count)))
}

impl Historian {
    /// What was written in each interval of the measured window, of a step of a search.
    pub(crate) fn written_measured(&self) -> &[Written] {
        &self.written[self.written.len().saturating_sub(self.measured_intervals)..]
    }

    /// What became of the rows.
    pub(crate) fn account(&self) -> Account {
        let lost = self.rows_lost;
        let beyond = || Some(self.rows_found?.saturating_sub(self.rows_expected));
        Account {
            acknowledged: self.rows_expected,
            there: lost.map(|lost| self.rows_expected.saturating_sub(lost)),
            lost,
            unanswered: self.found_after_outage + self.written_again,
            unanswered_there: Some(self.found_after_outage),
            beyond: self.rows_compared.as_ref().map(|rows| rows.doubled + rows.unknown).or_else(beyond),
            refused: None,
        }
    }

    /// Why the rows in the database are not those that were acknowledged, or that nobody knows.
    pub(crate) fn unaccounted(&self) -> Option<String> {
        let is_counted = self.rows_found == Some(self.rows_expected);
        let is_lost = self.rows_lost.is_some_and(|rows| rows > 0);
        if !is_lost && (is_counted || self.acknowledged == 0 || self.stable == Some(false)) {
            return None;
        }
        let counted = match self.rows_found {
            Some(found) => format!(
                "found {} of {} acknowledged rows",
                format::grouped(found),
                format::grouped(self.rows_expected)
            ),
            None => "could not count the acknowledged rows".to_owned(),
        };
        Some(self.rows_mismatch.clone().unwrap_or(counted))
    }

    /// The figures of a trial; none if it is no historian or left nothing.
    pub(crate) fn of(
        measured: &MeasuredTrial,
        Common { kinds, per_s: main_per_s, rate_per_s: records_interval, disk_bytes, .. }: &Common<'_>,
    ) -> Option<Self> {
        let setup = measured.trial.setup.as_ref().and_then(Setup::historian)?;
        let unknown = HistorianOutcome::default();
        let outcome = measured.trial.outcome.as_ref().and_then(Outcome::historian).unwrap_or(&unknown);
        let window: Vec<&Sample> = measured.samples.iter().filter(|s| s.phase == Phase::Measure).collect();
        let seconds: f64 = window.iter().map(|sample| sample.length_s).sum();
        let per_s = |kind: &str| {
            let count = kinds.get(kind).map_or(0, |operation| operation.count);
            (seconds > 0.0).then(|| count as f64 / seconds)
        };
        let (records_per_s, commits_per_s) = (*main_per_s, per_s(COMMIT));
        let latency = |kind: &str| kinds.get(kind).map(|operation| Summary::of(operation.latency()));
        let reasons = unstable(measured, setup);
        let open = matches!(setup.pacing, Loop::Open { .. });
        let is_step = measured.trial.search.is_some();
        Some(Self {
            offered_per_s: offered_per_s(&window, seconds).filter(|_| open),
            records_per_s,
            records_interval: *records_interval,
            commits_per_s,
            rows_per_commit: per_s(RECORD).zip(commits_per_s.filter(|&rate| rate > 0.0)).map(|(r, c)| r / c),
            flush: latency(COMMIT),
            record: latency(RECORD).filter(|_| open),
            pending_mean: gauge_mean(&window, PENDING),
            pending_max: window.iter().filter_map(|s| s.gauges.get(PENDING_MAX).copied()).reduce(f64::max),
            refused: outcome.refused,
            refused_measured: refused_in(&window),
            written: if is_step { record::written(&measured.samples, false) } else { Vec::new() },
            measured_intervals: window.len(),
            acknowledged: outcome.acknowledged,
            found_after_outage: outcome.found_after_outage,
            written_again: outcome.written_again,
            abandoned: outcome.abandoned,
            rows_expected: outcome.rows_expected,
            rows_found: outcome.rows_found,
            rows_lost: rows_lost(outcome),
            rows_compared: outcome.rows_compared.clone(),
            rows_mismatch: outcome.mismatch(),
            drain_s: outcome.drain_s,
            rows_after: outcome.rows_after,
            waited_in_outages: waited(&measured.samples, &outcome.outages),
            outages: outcome.outages.clone(),
            source_outages: outcome.source_outages.clone(),
            maintenance: outcome.maintenance.iter().map(|run| maintenance(run, setup)).collect(),
            storage: storage(measured, setup, outcome, records_per_s, *disk_bytes),
            trend: kinds.get(TREND).map(reads),
            latest: kinds.get(LATEST).map(reads),
            stable: reasons.as_ref().filter(|reasons| !is_too_short(reasons)).map(Vec::is_empty),
            unstable_because: reasons.unwrap_or_default().iter().map(ToString::to_string).collect(),
            setup: Some(setup.clone()),
        })
    }

    /// Whether events were due at a rate.
    pub(crate) fn is_open(&self) -> bool {
        self.setup.as_ref().is_some_and(|setup| matches!(setup.pacing, Loop::Open { .. }))
    }
}

/// Events due a second, as they were counted.
fn offered_per_s(window: &[&Sample], seconds: f64) -> Option<f64> {
    let offered = window.iter().filter_map(|sample| sample.gauges.get(OFFERED)).copied();
    let offered = offered.reduce(|sum, events| sum + events)?;
    (seconds > 0.0).then(|| offered / seconds)
}

/// Whether nothing speaks against a rate but that too little was measured of it.
fn is_too_short(reasons: &[Unstable]) -> bool {
    !reasons.is_empty()
        && reasons
            .iter()
            .all(|reason| matches!(reason, Unstable::TooShort { .. } | Unstable::FewFlushes { .. }))
}

/// The conditions of a stable step that were not met; none where there is no rate to hold or no end was measured.
fn unstable(measured: &MeasuredTrial, setup: &HistorianSetup) -> Option<Vec<Unstable>> {
    let record = &measured.trial;
    let outcome = record.outcome.as_ref().filter(|_| record.state == State::Complete)?.historian()?;
    let step = ingest_step(setup, outcome, &measured.samples, measured.measured.get(RECORD))?;
    Some(stats::sustained(&step))
}

/// Most pending records in the seconds that an outage touches.
fn waited(samples: &[Sample], outages: &[Outage]) -> Option<f64> {
    let during = |sample: &&Sample| {
        outages.iter().any(|outage| {
            sample.end_s > outage.start_s
                && sample.end_s - sample.length_s < outage.end_s.unwrap_or(f64::INFINITY)
        })
    };
    samples.iter().filter(during).filter_map(|s| s.gauges.get(PENDING_MAX).copied()).reduce(f64::max)
}

fn maintenance(run: &MaintenanceRun, setup: &HistorianSetup) -> Maintenance {
    let ended = run.error.is_none();
    let interval_s = setup.maintenance.map(|m| m.interval_s).filter(|&interval_s| ended && interval_s > 0.0);
    let interval_share = interval_s.map(|interval_s| (run.end_s() - run.start_s) / interval_s);
    Maintenance { run: run.clone(), interval_share, keeps_up: interval_share.map(|share| share < 1.0) }
}

fn storage(
    measured: &MeasuredTrial,
    setup: &HistorianSetup,
    outcome: &HistorianOutcome,
    records_per_s: Option<f64>,
    disk_bytes: Option<u64>,
) -> Storage {
    let (bytes_per_record, bytes_per_record_range) = match growth::per_record(measured, setup, outcome) {
        Some(PerRecord::Known(bytes)) => (Some(bytes), None),
        Some(PerRecord::Within(range)) => (None, Some(range)),
        None => (None, None),
    };
    let growth = bytes_per_record.zip(records_per_s).map(|(bytes, rate)| bytes * rate);
    let over = |seconds: f64| growth.map(|bytes_per_s| bytes_per_s * seconds);
    let yearly = over(YEAR_S).filter(|&bytes| bytes > 0.0);
    Storage {
        database_bytes_before: outcome.database_bytes_before,
        database_bytes_after: outcome.database_bytes_after,
        log_bytes_written: outcome.log_bytes_written,
        bytes_per_record,
        bytes_per_record_range,
        bytes_per_hour: over(HOUR_S),
        bytes_per_day: over(DAY_S),
        bytes_per_week: over(7.0 * DAY_S),
        disk_bytes,
        years_until_full: disk_bytes.zip(yearly).map(|(disk, yearly)| disk as f64 / yearly),
    }
}

fn reads(operation: &OperationInterval) -> Reads {
    Reads {
        reads: operation.count,
        errors: operation.errors,
        rows_per_read: (operation.count > 0).then(|| operation.rows as f64 / operation.count as f64),
        latency: Summary::of(operation.latency()),
    }
}
