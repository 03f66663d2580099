//! DVD Store's own lines, field for field, for programs that read them.
//!
//! Counts are of what the driver of DVD Store counts: everything is set to zero when the warm-up ends, rollbacks are orders,
//! the time of an order is without its look-up of prices, and times are whole milliseconds, cut off.

use std::fmt::Write as _;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use load::Span;
use record::orders::{BROWSE, LOGIN, NET_LAST_100_MAX, NET_US, NEW_CUSTOMER, ORDER, PURCHASE, ROLLBACKS};
use record::{Event, Interval, OrdersOutcome, Outcome, Phase, TargetOutcome, Window, Workload};

use crate::arguments::orders::CompatOutput;

/// Time between two lines where nothing else is said.
const REPORT_RATE: Span = Span::seconds(10);
/// What stands above the lines of targets.
const INDIVIDUAL: &str = "\nIndividual Stats for each DB / Web Server: \n";

/// Longest pause after a deadlock in the drivers of DVD Store 2.1: `Thread.Sleep(r.Next(1000))`.
pub(crate) const DEADLOCK_PAUSE: Span = Span::seconds(1);

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
    printed_s: f64,
    all: Tally,
    /// Of each target; without any where there is only one.
    by_target: Vec<Tally>,
}

/// What all targets did, or one of them.
struct Tally {
    /// Everything since then, as one window.
    all: Window,
    /// Time of its orders.
    net_us: f64,
    /// Orders and their time when the last line was printed.
    printed: (u64, f64),
    /// Mean response time of those since the line before, of the last line.
    sampled_ms: u64,
    rollbacks: u64,
    last_100_max_ms: f64,
}

impl Compat {
    /// What the arguments ask for; none if they do not.
    pub(crate) fn of(output: &CompatOutput) -> Option<Self> {
        output.compat.then(|| Self {
            report_ns: output.report_rate.unwrap_or(REPORT_RATE).ns,
            detailed: output.detailed_view,
            csv: output.csv_output,
            targets: 0,
            counted: Counted::begin(0.0, 0),
        })
    }

    /// Takes an event, and gives what is to be printed.
    pub(crate) fn hear(&mut self, event: &Event) -> String {
        match event {
            Event::TrialSetUp { setup, .. } => {
                self.targets = setup.orders().map_or(0, |setup| setup.targets.len());
                self.counted = Counted::begin(0.0, self.targets);
                if self.csv { CSV_HEAD.to_owned() } else { String::new() }
            }
            Event::Parts { parts, .. } => {
                let reset = parts.iter().flatten().map(|part| self.enter(part)).collect();
                let tallies = self.counted.by_target.iter_mut().zip(parts);
                tallies.for_each(|(tally, part)| part.iter().for_each(|part| tally.add(part)));
                reset
            }
            Event::Interval { interval, .. } => self.enter(interval) + &self.interval(interval),
            Event::TrialFinished(trial) => {
                let outcome = trial.outcome.as_ref().and_then(Outcome::orders);
                outcome.map_or_else(String::new, |outcome| self.last(outcome))
            }
            _ => String::new(),
        }
    }

    /// Counts from nothing when the warm-up has ended, as the driver of DVD Store does, which says so.
    fn enter(&mut self, interval: &Interval) -> String {
        let before = self.counted.phase.replace(interval.phase);
        if interval.phase != Phase::Measure || before == Some(Phase::Measure) {
            return String::new();
        }
        self.counted = Counted::begin(interval.end_s - interval.length_s, self.targets);
        self.counted.phase = Some(Phase::Measure);
        if before.is_some() && !self.csv { "Stats reset\n".to_owned() } else { String::new() }
    }

    fn interval(&mut self, interval: &Interval) -> String {
        let counted = &mut self.counted;
        if interval.phase == Phase::Drain {
            return String::new();
        }
        counted.end_s = interval.end_s;
        counted.all.add(interval);
        if (counted.end_s - counted.printed_s) * 1e9 + 1.0 < self.report_ns as f64 {
            return String::new();
        }
        counted.printed_s = counted.end_s;
        counted.all.sample();
        counted.by_target.iter_mut().for_each(Tally::sample);
        let et_s = counted.elapsed_s();
        let mut lines = counted.all.line(et_s, self.csv);
        if self.detailed && !self.csv && !counted.by_target.is_empty() {
            lines += INDIVIDUAL;
            lines.extend(counted.by_target.iter().map(|target| target.line(et_s, false)));
        }
        lines
    }

    fn last(&self, outcome: &OrdersOutcome) -> String {
        let now = Timestamp::now().to_zoned(TimeZone::system()).strftime("%m/%d/%Y %H:%M:%S").to_string();
        let (et_s, targets) = (self.counted.elapsed_s(), &self.counted.by_target);
        let mut text = format!("\n{}", self.counted.all.last_line(&format!("Final ({now})"), et_s));
        if !targets.is_empty() {
            text += INDIVIDUAL;
            text.extend(targets.iter().map(|target| target.last_line("Final", et_s)));
        }
        text += &from_start(&outcome.targets);
        if !targets.is_empty() {
            text += INDIVIDUAL;
            text.extend(outcome.targets.iter().map(|target| from_start(std::slice::from_ref(target))));
        }
        text + "Run over\n"
    }
}

/// Names of the values of [`Tally::line`].
const CSV_HEAD: &str =
    "et,n_overall,opm,rt_tot_lastn_max_msec,rt_tot_avg_msec,rt_tot_sampled,n_rollbacks,rollback_rate\n";

fn from_start(targets: &[TargetOutcome]) -> String {
    let purchases: u64 = targets.iter().map(|target| target.purchases_from_start).sum();
    let rollbacks: u64 = targets.iter().map(|target| target.rollbacks_from_start).sum();
    format!("n_purchase_from_start= {purchases} n_rollbacks_from_start= {rollbacks}\n")
}

impl Counted {
    fn begin(since_s: f64, targets: usize) -> Self {
        let targets = if targets > 1 { targets } else { 0 };
        Self {
            phase: None,
            since_s,
            end_s: since_s,
            printed_s: since_s,
            all: Tally::nothing(),
            by_target: (0..targets).map(|_| Tally::nothing()).collect(),
        }
    }

    fn elapsed_s(&self) -> f64 {
        self.end_s - self.since_s
    }
}

impl Tally {
    fn nothing() -> Self {
        Self {
            all: Window::new(Workload::Orders.main()),
            net_us: 0.0,
            printed: (0, 0.0),
            sampled_ms: 0,
            rollbacks: 0,
            last_100_max_ms: 0.0,
        }
    }

    fn add(&mut self, interval: &Interval) {
        if interval.phase == Phase::Drain {
            return;
        }
        // A window takes the warm-up for nothing; here it counts until it ends.
        self.all.add(&Interval { phase: Phase::Measure, ..interval.clone() });
        let gauge = |name: &str| interval.gauges.get(name).copied().unwrap_or(0.0);
        self.net_us += gauge(NET_US);
        self.rollbacks += gauge(ROLLBACKS) as u64;
        self.last_100_max_ms = gauge(NET_LAST_100_MAX);
    }

    /// What a line tells of the time since the one before.
    fn sample(&mut self) {
        let (orders, net_us) = self.printed;
        self.printed = (self.count(ORDER), self.net_us);
        self.sampled_ms = whole_ms(self.net_us - net_us, self.printed.0 - orders);
    }

    fn count(&self, kind: &str) -> u64 {
        self.all.kind(kind).map_or(0, |operation| operation.count)
    }

    fn opm(&self, et_s: f64) -> u64 {
        if et_s > 0.0 { (60.0 * self.count(ORDER) as f64 / et_s).floor() as u64 } else { 0 }
    }

    fn rollback_rate(&self) -> f64 {
        100.0 * self.rollbacks as f64 / self.count(ORDER).max(1) as f64
    }

    /// A line of DVD Store's, or its values.
    fn line(&self, et: f64, csv: bool) -> String {
        let (n_overall, rollbacks) = (self.count(ORDER), self.rollbacks);
        let (opm, lastn_max) = (self.opm(et), self.last_100_max_ms as u64);
        let (avg, sampled, rate) = (whole_ms(self.net_us, n_overall), self.sampled_ms, self.rollback_rate());
        if csv {
            return format!("{et:.1},{n_overall},{opm},{lastn_max},{avg},{sampled},{rollbacks},{rate:.1}\n");
        }
        format!(
            "et={et:7.1} n_overall={n_overall} opm={opm} rt_tot_lastn_max_msec={lastn_max} rt_tot_avg_msec={avg} \
             rt_tot_sampled={sampled} rollbacks: n={rollbacks} %={rate:5.1}\n"
        )
    }

    fn last_line(&self, title: &str, et: f64) -> String {
        let orders = self.count(ORDER);
        let mut line = format!(
            "{title}: et={et:7.1} n_overall={orders} opm={} rt_tot_lastn_max={} rt_tot_avg={}",
            self.opm(et),
            self.last_100_max_ms as u64,
            whole_ms(self.net_us, orders)
        );
        let kinds = [("login", LOGIN), ("newcust", NEW_CUSTOMER), ("browse", BROWSE), ("purchase", PURCHASE)];
        // Writing to a string cannot fail.
        for (name, kind) in kinds {
            let _ = write!(line, " n_{name}_overall={}", self.count(kind));
        }
        for (name, kind) in kinds {
            let _ = write!(line, " rt_{name}_avg_msec={}", self.mean_ms(kind));
        }
        let (sampled, rollbacks, rate) = (self.sampled_ms, self.rollbacks, self.rollback_rate());
        line + &format!(
            " rt_tot_sampled={sampled} n_rollbacks_overall={rollbacks} rollback_rate = {rate:5.1}%\n"
        )
    }

    /// Mean of a kind, as its histogram has it: within 0.05 %.
    fn mean_ms(&self, kind: &str) -> u64 {
        let mean_us = self.all.kind(kind).and_then(|operation| operation.latency().mean_us());
        whole_ms(mean_us.unwrap_or(0.0), 1)
    }
}

/// Mean in whole milliseconds, cut off as DVD Store does it everywhere; 0 of nothing.
fn whole_ms(total_us: f64, count: u64) -> u64 {
    if count == 0 { 0 } else { (total_us / count as f64 / 1e3).floor() as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::OperationInterval;
    use std::collections::BTreeMap;

    fn operation(count: u64, us: u64) -> OperationInterval {
        let mut operation = OperationInterval { count, ..OperationInterval::default() };
        (0..count).for_each(|_| operation.service.record_ns(us * 1_000));
        operation
    }

    /// Orders take 190 ms, 10 of them for their prices.
    fn counts(end_s: f64, phase: Phase, orders: u64) -> Interval {
        let operations = [
            (ORDER, operation(orders, 190_000)),
            (LOGIN, operation(orders * 8 / 10, 555)),
            (NEW_CUSTOMER, operation(orders * 2 / 10, 3_583)),
            (BROWSE, operation(orders * 3, 30_500)),
            (PURCHASE, operation(orders, 60_900)),
        ];
        let gauges = [
            (ROLLBACKS.to_owned(), (orders / 10) as f64),
            (NET_LAST_100_MAX.to_owned(), 867.4),
            (NET_US.to_owned(), orders as f64 * 180_700.0),
        ];
        Interval {
            end_s,
            length_s: 1.0,
            phase,
            operations: operations.map(|(kind, operation)| (kind.to_owned(), operation)).into(),
            gauges: BTreeMap::from(gauges),
            generator_cpu_us: 0,
            generator_busiest_share: 0.0,
            generator_pauses: None,
        }
    }

    fn interval(end_s: f64, phase: Phase, orders: u64) -> Event {
        Event::Interval { number: 1, interval: counts(end_s, phase, orders) }
    }

    fn compat(detailed: bool, csv: bool, targets: usize) -> Compat {
        Compat {
            report_ns: Span::seconds(2).ns,
            detailed,
            csv,
            targets,
            counted: Counted::begin(0.0, targets),
        }
    }

    fn outcome(targets: u64) -> OrdersOutcome {
        let target = |number: u64| TargetOutcome {
            purchases_from_start: 298 + number,
            rollbacks_from_start: 5 + number,
            ..TargetOutcome::default()
        };
        OrdersOutcome { targets: (1..=targets).map(target).collect(), ..OrdersOutcome::default() }
    }

    /// Averages were rounded (555 µs printed as 1) and an order's had the look-up of its prices in it, which the clock of
    /// DVD Store leaves out.
    #[test]
    fn lines_have_dvd_stores_fields_at_their_places() {
        let mut compat = compat(true, false, 1);
        assert_eq!(compat.hear(&interval(1.0, Phase::WarmUp, 10)), "");
        assert_eq!(
            compat.hear(&interval(2.0, Phase::WarmUp, 10)),
            "et=    2.0 n_overall=20 opm=600 rt_tot_lastn_max_msec=867 rt_tot_avg_msec=180 rt_tot_sampled=180 \
             rollbacks: n=2 %= 10.0\n",
            "one target has no lines of its own"
        );
        assert_eq!(compat.hear(&interval(3.0, Phase::Measure, 5)), "Stats reset\n");
        let line = compat.hear(&interval(4.0, Phase::Measure, 5));
        assert!(line.starts_with("et=    2.0 n_overall=10 opm=300 "), "{line}");
        assert_eq!(compat.hear(&interval(5.0, Phase::Drain, 5)), "");
        let last = compat.last(&outcome(1));
        let lines: Vec<&str> = last.lines().collect();
        let values: Vec<&str> =
            lines[1].split('=').skip(1).filter_map(|part| part.split_whitespace().next()).collect();
        assert_eq!(
            values,
            [
                "2.0", "10", "300", "867", "180", "8", "2", "30", "10", "0", "3", "30", "60", "180", "0",
                "0.0%"
            ]
        );
        assert!(lines[0].is_empty() && lines[1].starts_with("Final ("), "{last}");
        assert_eq!(lines[2..], ["n_purchase_from_start= 299 n_rollbacks_from_start= 6", "Run over"]);
    }

    #[test]
    fn several_targets_have_whole_lines_of_their_own() {
        let mut compat = compat(true, false, 2);
        let parts = |end_s, phase, orders: [u64; 2]| Event::Parts {
            number: 1,
            parts: orders.map(|orders| Some(counts(end_s, phase, orders))).into(),
        };
        assert_eq!(compat.hear(&parts(1.0, Phase::WarmUp, [4, 6])), "");
        assert_eq!(compat.hear(&interval(1.0, Phase::WarmUp, 10)), "");
        assert_eq!(compat.hear(&parts(2.0, Phase::Measure, [10, 20])), "Stats reset\n");
        assert_eq!(compat.hear(&interval(2.0, Phase::Measure, 30)), "");
        assert_eq!(compat.hear(&parts(3.0, Phase::Measure, [10, 40])), "");
        let line = |orders: u64, rollbacks: u64| {
            format!(
                "et=    2.0 n_overall={orders} opm={} rt_tot_lastn_max_msec=867 rt_tot_avg_msec=180 rt_tot_sampled=180 \
                 rollbacks: n={rollbacks} %= 10.0\n",
                30 * orders
            )
        };
        assert_eq!(
            compat.hear(&interval(3.0, Phase::Measure, 50)),
            format!(
                "{}\nIndividual Stats for each DB / Web Server: \n{}{}",
                line(80, 8),
                line(20, 2),
                line(60, 6)
            )
        );
        let last = compat.last(&outcome(2));
        let lines: Vec<&str> = last.lines().collect();
        let begins = [
            "",
            "Final (",
            "",
            "Individual Stats for each DB / Web Server: ",
            "Final: et=    2.0 n_overall=20 opm=600 ",
            "Final: et=    2.0 n_overall=60 opm=1800 ",
            "n_purchase_from_start= 599 n_rollbacks_from_start= 13",
            "",
            "Individual Stats for each DB / Web Server: ",
            "n_purchase_from_start= 299 n_rollbacks_from_start= 6",
            "n_purchase_from_start= 300 n_rollbacks_from_start= 7",
            "Run over",
        ];
        assert_eq!(lines.len(), begins.len(), "{last}");
        assert!(lines.iter().zip(begins).all(|(line, begin)| line.starts_with(begin)), "{last}");
    }

    #[test]
    fn csv_has_a_field_for_each_name() {
        let mut compat = compat(false, true, 1);
        compat.hear(&interval(1.0, Phase::Measure, 10));
        let line = compat.hear(&interval(2.0, Phase::Measure, 20));
        assert_eq!(line, "2.0,30,900,867,180,180,3,10.0\n");
        assert_eq!(line.split(',').count(), CSV_HEAD.split(',').count());
    }
}
