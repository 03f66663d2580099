//! The figures as CSV (RFC 4180): one line a trial and kind of operation, units in the names of the columns. The columns of
//! the workloads that a study holds follow after those that every study has. How a text is written so that no spreadsheet
//! runs it is said in `record::csv_field`.

use record::{Percentile, ServerUse, Summary, csv_field};

use crate::format;
use crate::report::Report;
use crate::trial::{Figures, Trial};
use crate::workloads;

/// A column of what belongs to a trial as a whole: its name, and its text if that is known.
pub(crate) type Field = (&'static str, fn(&Trial) -> Option<String>);

/// The text of a line in a column, if it is known.
type Text = fn(&Line<'_>) -> Option<String>;

/// One line: a trial, one of its kinds of operation, and whether it is the trial's first line, in which alone stands what
/// belongs to the trial as a whole.
struct Line<'a> {
    trial: &'a Trial,
    figures: Option<&'a Figures>,
    first: bool,
}

/// Columns of every study, in order. Latencies are in microseconds, rates a second, shares of 0–1; an empty field is
/// unknown. `_low` and `_high` are the ends of the 95% interval of this run; a lower one alone has an open upper end.
const COLUMNS: [(&str, Text); 54] = [
    ("trial", |line| Some(line.trial.number.to_string())),
    ("block", |line| Some(line.trial.block.to_string())),
    ("name", |line| Some(line.trial.name.clone())),
    ("levels", |line| Some(levels(line.trial))),
    ("state", |line| Some(format::state(line.trial.state).to_owned())),
    ("kind", |line| Some(line.figures?.kind.clone())),
    ("operations", |line| Some(line.figures?.operations.to_string())),
    ("errors", |line| Some(line.figures?.errors.to_string())),
    ("measured_s", |line| number(line.trial.measured_s)),
    ("per_s", |line| number(line.figures?.per_s?)),
    ("per_s_low", |line| number(line.whole()?.rate_per_s?.low)),
    ("per_s_high", |line| number(line.whole()?.rate_per_s?.high)),
    ("independent_seconds", |line| number(line.whole()?.rate_dependence?.independent)),
    ("interval_holds_less", |line| Some(line.whole()?.rate_dependence?.holds_less.to_string())),
    ("mb_per_s", |line| number(line.figures?.mb_per_s?)),
    ("latency_min_us", |line| number(line.latency()?.min_us?)),
    ("latency_mean_us", |line| number(line.latency()?.mean_us?)),
    ("latency_p50_us", |line| number(line.latency()?.p50_us?)),
    ("latency_p50_us_low", |line| number(line.figures?.intervals.p50_us?.low_us)),
    ("latency_p50_us_high", |line| number(line.figures?.intervals.p50_us?.high_us?)),
    ("latency_p95_us", |line| number(line.latency()?.p95_us?)),
    ("latency_p95_us_low", |line| number(line.figures?.intervals.p95_us?.low_us)),
    ("latency_p95_us_high", |line| number(line.figures?.intervals.p95_us?.high_us?)),
    ("latency_p99_us", |line| number(line.latency()?.p99_us?)),
    ("latency_p99_us_low", |line| number(line.figures?.intervals.p99_us?.low_us)),
    ("latency_p99_us_high", |line| number(line.figures?.intervals.p99_us?.high_us?)),
    ("latency_p999_us", |line| number(line.latency()?.p999_us?)),
    ("latency_p999_us_low", |line| number(line.figures?.intervals.p999_us?.low_us)),
    ("latency_p999_us_high", |line| number(line.figures?.intervals.p999_us?.high_us?)),
    ("latency_max_us", |line| number(line.latency()?.max_us?)),
    ("service_mean_us", |line| number(line.figures?.service?.mean_us?)),
    ("service_p50_us", |line| number(line.figures?.service?.p50_us?)),
    ("service_p99_us", |line| number(line.figures?.service?.p99_us?)),
    ("service_max_us", |line| number(line.figures?.service?.max_us?)),
    ("lag_mean_us", |line| number(line.figures?.lag?.mean_us?)),
    ("lag_p50_us", |line| number(line.figures?.lag?.p50_us?)),
    ("lag_p99_us", |line| number(line.figures?.lag?.p99_us?)),
    ("lag_max_us", |line| number(line.figures?.lag?.max_us?)),
    ("in_flight", |line| number(line.figures?.in_flight?)),
    ("generator_cpu_us_per_operation", |line| number(line.whole()?.generator.cpu_us_per_operation?)),
    ("machine_cpu_us_per_operation", |line| number(line.whole()?.machine.cpu_us_per_operation?)),
    ("generator_busiest_share", |line| number(line.whole()?.generator.busiest_share?)),
    ("coefficient_of_variation", |line| number(line.whole()?.stability.coefficient_of_variation?)),
    ("steady", |line| Some(line.whole()?.stability.fifths?.steady.to_string())),
    ("trend_share", |line| number(line.whole()?.stability.trend?.share)),
    ("longest_gap_s", |line| number(line.whole()?.longest_gap?.length_s)),
    ("longest_gap_at_s", |line| number(line.whole()?.longest_gap?.at_s)),
    ("offered_per_s", |line| number(line.whole()?.offered_per_s?)),
    ("unsent", |line| Some(line.whole()?.unsent.to_string())),
    ("server_cpu_s", |line| number(used(line)?.map(|used| used.cpu_s).sum())),
    ("server_throttled_s", |line| number(counted(line)?.map(|used| used.throttled_s).sum())),
    ("server_memory_most_bytes", |line| {
        let most: Option<u64> = used(line)?.map(|used| used.memory_most_bytes).sum();
        Some(most?.to_string())
    }),
    ("server_oom_kills", |line| Some(counted(line)?.map(|used| used.oom_kills).sum::<u64>().to_string())),
    ("reason", |line| line.whole()?.reason.clone()),
];

/// What the servers used that were started for a trial; none where there are none, or nothing counts it.
fn used<'a>(line: &Line<'a>) -> Option<impl Iterator<Item = &'a ServerUse>> {
    let servers = &line.whole()?.started_servers;
    let all = || servers.iter().filter_map(|server| server.used.as_ref());
    all().next().map(|_| all())
}

/// The same of those with limits: of the others nothing but time of processors is counted.
fn counted<'a>(line: &Line<'a>) -> Option<impl Iterator<Item = &'a ServerUse>> {
    let servers = &line.whole()?.started_servers;
    let all =
        || servers.iter().filter(|server| server.limits.is_some()).filter_map(|server| server.used.as_ref());
    all().next().map(|_| all())
}

impl<'a> Line<'a> {
    /// The trial in its first line.
    fn whole(&self) -> Option<&'a Trial> {
        self.first.then_some(self.trial)
    }

    fn latency(&self) -> Option<&Summary> {
        self.figures.map(|figures| &figures.latency)
    }
}

impl Report {
    /// The figures of all trials as CSV, with a header line. Digits are not rounded.
    #[must_use]
    pub fn csv(&self) -> String {
        let there = workloads::all().filter(|(workload, _)| self.trials_of(*workload).next().is_some());
        let own: Vec<&Field> = there.flat_map(|(_, shown)| shown.columns()).collect();
        let mut percentiles = Vec::new();
        for asked in self.trials.iter().flat_map(|trial| &trial.figures).flat_map(|of| &of.own_percentiles) {
            if !percentiles.contains(&asked.percentile) {
                percentiles.push(asked.percentile);
            }
        }
        let names = COLUMNS.iter().map(|(name, _)| *name).chain(own.iter().map(|(name, _)| *name));
        let names =
            names.map(str::to_owned).chain(percentiles.iter().flat_map(|asked| {
                ["", "_low", "_high"].map(|end| format!("latency_{}_us{end}", asked.name()))
            }));
        let mut text = names.collect::<Vec<String>>().join(",") + "\r\n";
        for line in self.trials.iter().flat_map(lines) {
            let common = COLUMNS.iter().map(|(_, value)| value(&line));
            let fields = common.chain(own.iter().map(|(_, value)| value(line.whole()?)));
            let fields = fields.chain(percentiles.iter().flat_map(|&asked| percentile(&line, asked)));
            let fields: Vec<String> = fields.map(|field| csv_field(&field.unwrap_or_default())).collect();
            text.push_str(&fields.join(","));
            text.push_str("\r\n");
        }
        text
    }
}

/// A percentile that was asked for, and the ends of its interval.
fn percentile(line: &Line<'_>, asked: Percentile) -> [Option<String>; 3] {
    let (us, interval) = line.figures.map_or((None, None), |figures| figures.percentile(asked));
    let low = interval.map(|interval| interval.low_us);
    [us, low, interval.and_then(|interval| interval.high_us)].map(|us| number(us?))
}

/// A line a kind of operation; of a trial without figures, one.
fn lines(trial: &Trial) -> Vec<Line<'_>> {
    if trial.figures.is_empty() {
        return vec![Line { trial, figures: None, first: true }];
    }
    let of_kind = |(index, figures)| Line { trial, figures: Some(figures), first: index == 0 };
    trial.figures.iter().enumerate().map(of_kind).collect()
}

fn levels(trial: &Trial) -> String {
    let levels = trial.levels.iter().map(|(key, level)| format!("{key}={level}"));
    levels.collect::<Vec<String>>().join(" ")
}

/// A number with all its digits.
pub(crate) fn number(value: f64) -> Option<String> {
    value.is_finite().then(|| value.to_string())
}
