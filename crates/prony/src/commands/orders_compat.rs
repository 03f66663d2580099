//! DVD Store's own lines, field for field, for programs that read them.
//!
//! Counts are of what the driver of DVD Store counts: everything is set to zero when the warm-up ends, rollbacks are orders,
//! and times are whole milliseconds.

use std::fmt::Write as _;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use load::Span;
use record::orders::{BROWSE, LAST_100_MAX, LOGIN, NEW_CUSTOMER, ORDER, PURCHASE, ROLLBACKS, target_orders};
use record::{Event, Interval, OrdersOutcome, Outcome, Phase, Window, Workload};

use crate::arguments::CompatOutput;

/// Time between two lines where nothing else is said.
const REPORT_RATE: Span = Span::seconds(10);

/// Prints lines as a trial goes on.
pub(crate) struct Compat {
    report_ns: u64,
    detailed: bool,
    csv: bool,
    targets: usize,
    counted: Counted,
}

/// What was counted since the load began, or since its warm-up ended.
struct Counted {
    phase: Option<Phase>,
    /// End of the warm-up, in seconds since the load began.
    since_s: f64,
    end_s: f64,
    /// Everything since then, as one window.
    all: Window,
    /// Orders since the last line.
    sampled: Window,
    /// Mean response time of those that the last line told.
    sampled_ms: u64,
    rollbacks: u64,
    by_target: Vec<f64>,
    last_100_max_ms: f64,
    printed_s: f64,
}

impl Default for Counted {
    fn default() -> Self {
        let window = Window::new(Workload::Orders.main());
        Self {
            phase: None,
            since_s: 0.0,
            end_s: 0.0,
            all: window.clone(),
            sampled: window,
            sampled_ms: 0,
            rollbacks: 0,
            by_target: Vec::new(),
            last_100_max_ms: 0.0,
            printed_s: 0.0,
        }
    }
}

impl Compat {
    /// What the arguments ask for; none if they do not.
    pub(crate) fn of(output: &CompatOutput) -> Option<Self> {
        output.compat.then(|| Self {
            report_ns: output.report_rate.unwrap_or(REPORT_RATE).ns,
            detailed: output.detailed_view,
            csv: output.csv_output,
            targets: 0,
            counted: Counted::default(),
        })
    }

    /// Takes an event, and gives what is to be printed.
    pub(crate) fn hear(&mut self, event: &Event) -> String {
        match event {
            Event::TrialSetUp { setup, .. } => {
                self.targets = setup.orders().map_or(0, |setup| setup.targets.len());
                self.counted = Counted { by_target: vec![0.0; self.targets], ..Counted::default() };
                if self.csv { CSV_HEAD.to_owned() } else { String::new() }
            }
            Event::Interval { interval, .. } => self.interval(interval),
            Event::TrialFinished(trial) => {
                let outcome = trial.outcome.as_ref().and_then(Outcome::orders);
                outcome.map_or_else(String::new, |outcome| self.last(outcome))
            }
            _ => String::new(),
        }
    }

    fn interval(&mut self, interval: &Interval) -> String {
        let counted = &mut self.counted;
        if interval.phase == Phase::Drain {
            return String::new();
        }
        if interval.phase == Phase::Measure && counted.phase != Some(Phase::Measure) {
            // What the driver of DVD Store does when its warm-up ends.
            let since_s = interval.end_s - interval.length_s;
            *counted = Counted {
                since_s,
                printed_s: since_s,
                by_target: vec![0.0; self.targets],
                ..Counted::default()
            };
        }
        counted.add(interval);
        if (counted.end_s - counted.printed_s) * 1e9 + 1.0 < self.report_ns as f64 {
            return String::new();
        }
        counted.sampled_ms = mean_ms(&counted.sampled, ORDER);
        let mut lines = counted.line(self.csv);
        if self.detailed && !self.csv {
            counted.add_targets(&mut lines);
        }
        counted.printed_s = counted.end_s;
        counted.sampled = Window::new(Workload::Orders.main());
        lines
    }

    fn last(&self, outcome: &OrdersOutcome) -> String {
        let purchases: u64 = outcome.targets.iter().map(|target| target.purchases_from_start).sum();
        let rollbacks: u64 = outcome.targets.iter().map(|target| target.rollbacks_from_start).sum();
        let now = Timestamp::now().to_zoned(TimeZone::system()).strftime("%m/%d/%Y %H:%M:%S").to_string();
        let mut text = self.counted.last_line(&now);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "n_purchase_from_start= {purchases} n_rollbacks_from_start= {rollbacks}");
        text
    }
}

/// Names of the values of [`Counted::line`].
const CSV_HEAD: &str =
    "et,n_overall,opm,rt_tot_lastn_max_msec,rt_tot_avg_msec,rt_tot_sampled,n_rollbacks,rollback_rate\n";

impl Counted {
    fn add(&mut self, interval: &Interval) {
        // A window takes the warm-up for nothing; here it counts until it ends.
        let counts = Interval { phase: Phase::Measure, ..interval.clone() };
        self.phase = Some(interval.phase);
        self.end_s = interval.end_s;
        self.all.add(&counts);
        self.sampled.add(&counts);
        let gauge = |name: &str| interval.gauges.get(name).copied().unwrap_or(0.0);
        self.rollbacks += gauge(ROLLBACKS) as u64;
        self.last_100_max_ms = gauge(LAST_100_MAX);
        for (number, orders) in self.by_target.iter_mut().enumerate() {
            *orders += gauge(&target_orders(number + 1));
        }
    }

    fn elapsed_s(&self) -> f64 {
        self.end_s - self.since_s
    }

    fn count(&self, kind: &str) -> u64 {
        self.all.kind(kind).map_or(0, |operation| operation.count)
    }

    fn opm(&self, orders: f64) -> u64 {
        let elapsed_s = self.elapsed_s();
        if elapsed_s > 0.0 { (60.0 * orders / elapsed_s).floor() as u64 } else { 0 }
    }

    fn rollback_rate(&self) -> f64 {
        100.0 * self.rollbacks as f64 / self.count(ORDER).max(1) as f64
    }

    /// A line of DVD Store's, or its values.
    fn line(&self, csv: bool) -> String {
        let (et, n_overall, rollbacks) = (self.elapsed_s(), self.count(ORDER), self.rollbacks);
        let (opm, lastn_max) = (self.opm(n_overall as f64), self.last_100_max_ms as u64);
        let (avg, sampled, rate) = (mean_ms(&self.all, ORDER), self.sampled_ms, self.rollback_rate());
        if csv {
            return format!("{et:.1},{n_overall},{opm},{lastn_max},{avg},{sampled},{rollbacks},{rate:.1}\n");
        }
        format!(
            "et={et:7.1} n_overall={n_overall} opm={opm} rt_tot_lastn_max_msec={lastn_max} rt_tot_avg_msec={avg} \
             rt_tot_sampled={sampled} rollbacks: n={rollbacks} %={rate:5.1}\n"
        )
    }

    fn add_targets(&self, lines: &mut String) {
        for (number, orders) in self.by_target.iter().enumerate() {
            // Writing to a string cannot fail.
            let _ =
                writeln!(lines, "  target {}: n={} opm={}", number + 1, *orders as u64, self.opm(*orders));
        }
    }

    fn last_line(&self, now: &str) -> String {
        let orders = self.count(ORDER);
        let mean = |kind| mean_ms(&self.all, kind);
        format!(
            "Final ({now}): et={:7.1} n_overall={} opm={} rt_tot_lastn_max={} rt_tot_avg={} n_login_overall={} \
             n_newcust_overall={} n_browse_overall={} n_purchase_overall={} rt_login_avg_msec={} rt_newcust_avg_msec={} \
             rt_browse_avg_msec={} rt_purchase_avg_msec={} rt_tot_sampled={} n_rollbacks_overall={} rollback_rate = {:5.1}%\n",
            self.elapsed_s(),
            orders,
            self.opm(orders as f64),
            self.last_100_max_ms as u64,
            mean(ORDER),
            self.count(LOGIN),
            self.count(NEW_CUSTOMER),
            self.count(BROWSE),
            self.count(PURCHASE),
            mean(LOGIN),
            mean(NEW_CUSTOMER),
            mean(BROWSE),
            mean(PURCHASE),
            self.sampled_ms,
            self.rollbacks,
            self.rollback_rate()
        )
    }
}

/// Mean of a kind in whole milliseconds, 0 where there is none, as DVD Store has it.
fn mean_ms(window: &Window, kind: &str) -> u64 {
    let mean_us = window.kind(kind).and_then(|operation| operation.latency().mean_us());
    mean_us.map_or(0, |us| (us / 1e3).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::{OperationInterval, TargetOutcome};
    use std::collections::BTreeMap;

    fn operation(count: u64, ms: u64) -> OperationInterval {
        let mut operation = OperationInterval { count, ..OperationInterval::default() };
        (0..count).for_each(|_| operation.service.record_ns(ms * 1_000_000));
        operation
    }

    fn interval(end_s: f64, phase: Phase, orders: u64) -> Event {
        let operations = [
            (ORDER, operation(orders, 180)),
            (LOGIN, operation(orders * 8 / 10, 20)),
            (NEW_CUSTOMER, operation(orders * 2 / 10, 10)),
            (BROWSE, operation(orders * 3, 30)),
            (PURCHASE, operation(orders, 60)),
        ];
        let gauges = [
            (ROLLBACKS.to_owned(), (orders / 10) as f64),
            (LAST_100_MAX.to_owned(), 867.4),
            (target_orders(1), orders as f64),
        ];
        Event::Interval {
            number: 1,
            interval: Interval {
                end_s,
                length_s: 1.0,
                phase,
                operations: operations.map(|(kind, operation)| (kind.to_owned(), operation)).into(),
                gauges: BTreeMap::from(gauges),
                generator_cpu_us: 0,
                generator_busiest_share: 0.0,
                generator_pauses: None,
            },
        }
    }

    fn compat(detailed: bool, csv: bool) -> Compat {
        Compat {
            report_ns: Span::seconds(2).ns,
            detailed,
            csv,
            targets: 1,
            counted: Counted { by_target: vec![0.0], ..Counted::default() },
        }
    }

    fn outcome() -> OrdersOutcome {
        let target =
            TargetOutcome { purchases_from_start: 299, rollbacks_from_start: 6, ..TargetOutcome::default() };
        OrdersOutcome { targets: vec![target], ..OrdersOutcome::default() }
    }

    #[test]
    fn lines_have_dvd_stores_fields_at_their_places() {
        let mut compat = compat(false, false);
        assert_eq!(compat.hear(&interval(1.0, Phase::WarmUp, 10)), "");
        assert_eq!(
            compat.hear(&interval(2.0, Phase::WarmUp, 10)),
            "et=    2.0 n_overall=20 opm=600 rt_tot_lastn_max_msec=867 rt_tot_avg_msec=180 rt_tot_sampled=180 \
             rollbacks: n=2 %= 10.0\n"
        );
        assert_eq!(compat.hear(&interval(3.0, Phase::Measure, 5)), "", "the warm-up is forgotten");
        let line = compat.hear(&interval(4.0, Phase::Measure, 5));
        assert!(line.starts_with("et=    2.0 n_overall=10 opm=300 "), "{line}");
        let last = compat.last(&outcome());
        let (first, second) = last.split_once('\n').unwrap();
        let values: Vec<&str> =
            first.split('=').skip(1).filter_map(|part| part.split_whitespace().next()).collect();
        assert_eq!(
            values,
            [
                "2.0", "10", "300", "867", "180", "8", "2", "30", "10", "20", "10", "30", "60", "180", "0",
                "0.0%"
            ]
        );
        assert_eq!(second, "n_purchase_from_start= 299 n_rollbacks_from_start= 6\n");
    }

    #[test]
    fn each_target_has_a_line_in_the_detailed_view() {
        let mut compat = compat(true, false);
        compat.hear(&interval(1.0, Phase::Measure, 10));
        let lines = compat.hear(&interval(2.0, Phase::Measure, 20));
        assert_eq!(lines.lines().nth(1), Some("  target 1: n=30 opm=900"));
    }

    #[test]
    fn csv_has_a_field_for_each_name() {
        let mut compat = compat(false, true);
        compat.hear(&interval(1.0, Phase::Measure, 10));
        let line = compat.hear(&interval(2.0, Phase::Measure, 20));
        assert_eq!(line, "2.0,30,900,867,180,180,3,10.0\n");
        assert_eq!(line.split(',').count(), CSV_HEAD.split(',').count());
    }
}
