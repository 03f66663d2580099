//! What a study that compares came to: what each level gains over the reference, where the curve bends, whether the
//! thresholds held, and what the reader must know of the order and of the noise.
//!
//! Along each axis the best level has a sentence of its own and the others are grouped by their verdict, so that a study of
//! many combinations stays readable; the table has them all.

use record::{Direction, Order};
use stats::{Comparison, Effect};

use super::{Level, Verdict};
use crate::format::{self, counted, figure, per_cent, points};
use crate::model::{
    AxisSeries, CONFIGURATION, ComparedAxis, ComparedMetric, Gain, Outcome, Point, Quantity, Report,
    StudyComparison, Trial, axis_words,
};

pub(super) fn all(report: &Report) -> Vec<Verdict> {
    let Some(comparison) = &report.comparison else { return Vec::new() };
    let mut verdicts: Vec<Verdict> = best_combination(comparison).into_iter().collect();
    for axis in &comparison.axes {
        verdicts.extend(along(comparison, axis));
        verdicts.extend(elsewhere(comparison, axis));
        verdicts.extend(shape(comparison, axis));
    }
    verdicts.extend(thresholds(comparison));
    verdicts.extend(caveats(report, comparison));
    verdicts
}

/// The verdicts on single configurations that a comparison replaces: its table has their figures, and a study of many
/// combinations would drown its reader in them.
pub(super) fn replaces(report: &Report, verdict: &Verdict) -> bool {
    const REPLACED: [&str; 7] =
        ["rate", "record_rate", "search", "order_rate", "flush_rows", "growth", "knee"];
    report.comparison.is_some() && REPLACED.contains(&verdict.rule.as_str())
}

fn thresholds(comparison: &StudyComparison) -> Vec<Verdict> {
    let of = |outcome: Outcome| comparison.thresholds.iter().filter(move |t| t.outcome == outcome);
    let failed = of(Outcome::Failed).map(|threshold| {
        let sentence = format!("The threshold {} failed: {}", threshold.text, threshold.why);
        Verdict::new(Level::Failure, "threshold", sentence)
    });
    let inconclusive = of(Outcome::Inconclusive).map(|threshold| {
        let sentence =
            format!("Whether the threshold {} holds is not decided: {}", threshold.text, threshold.why);
        Verdict::new(Level::Warning, "threshold", sentence)
    });
    let held: Vec<&str> = of(Outcome::Held).map(|threshold| threshold.text.as_str()).collect();
    let held = (!held.is_empty()).then(|| {
        let what = if held.len() == 1 { "The threshold held" } else { "These thresholds held" };
        Verdict::new(Level::Finding, "threshold", format!("{what}: {}", held.join("; ")))
    });
    failed.chain(inconclusive).chain(held).collect()
}

/// Of several axes, the combination with the best mean; of a single one, its own sentence says so.
fn best_combination(comparison: &StudyComparison) -> Option<Verdict> {
    let scenarios =
        comparison.axes.iter().flat_map(|axis| &axis.series).any(|series| !series.scenario.is_empty());
    if comparison.axes.len() < 2 || comparison.not_compared.is_some() || scenarios {
        return None;
    }
    let best = best_of(comparison, comparison.points.iter())?;
    let value = value(&comparison.metric, best)?;
    let sentence =
        format!("The best of {} combinations is {} with {value}", comparison.points.len(), best.label,);
    let figure = Some(value);
    Some(Verdict { figure, trials: best.trials.clone(), ..Verdict::new(Level::Finding, "best", sentence) })
}

fn best_of<'a>(comparison: &StudyComparison, points: impl Iterator<Item = &'a Point>) -> Option<&'a Point> {
    let measured = points.filter_map(|point| Some((point, point.values.mean?)));
    let best = match comparison.metric.better {
        Direction::Higher => measured.max_by(|a, b| a.1.total_cmp(&b.1)),
        Direction::Lower => measured.min_by(|a, b| a.1.total_cmp(&b.1)),
    };
    best.map(|(point, _)| point)
}

/// `2,310 records/s (2,280–2,340)`; of a metric whose unit does not tell what it is, with its name. Of several blocks a
/// percentile is the mean of theirs.
fn value(metric: &ComparedMetric, point: &Point) -> Option<String> {
    let several = point.values.by_block.iter().flatten().count() > 1;
    let name = match (metric.better, metric.percentile()) {
        (Direction::Higher, _) => String::new(),
        (Direction::Lower, Some(_)) if several => format!("mean {} ", metric.name),
        (Direction::Lower, _) => format!("{} ", metric.name),
    };
    let mean = format!("{name}{} {}", figure(point.values.mean?), metric.unit);
    Some(match point.values.interval {
        Some(interval) => format!("{mean} ({})", format::range(interval.low, interval.high)),
        None => mean,
    })
}

/// A level with what it gains.
#[derive(Clone, Copy)]
struct Compared<'a> {
    level: &'a str,
    point: &'a Point,
    gain: &'a Gain,
}

impl Compared<'_> {
    fn verdict(&self) -> Option<Comparison> {
        self.gain.judged.map(|judged| judged.comparison)
    }

    /// `gains 96 % (91–101 %)`; of a metric whose less is better, `12 % lower (10–14 %)`.
    fn change(&self, metric: &ComparedMetric) -> String {
        let gain = self.gain.gain_pct.unwrap_or(0.0);
        let ends = self.gain.low_pct.zip(self.gain.high_pct);
        let (size, ends) =
            if gain < 0.0 { (-gain, ends.map(|(low, high)| (-high, -low))) } else { (gain, ends) };
        let ends =
            ends.map(|(low, high)| format!(" ({}–{} %)", points(low), points(high))).unwrap_or_default();
        let size = format!("{} %", points(size));
        match (metric.better, gain < 0.0) {
            (Direction::Higher, false) => format!("gains {size}{ends}"),
            (Direction::Higher, true) => format!("loses {size}{ends}"),
            (Direction::Lower, false) => format!("{size} lower{ends}"),
            (Direction::Lower, true) => format!("{size} higher{ends}"),
        }
    }

    /// The change with its reference: `gains 96 % (91–101 %) over the single disk`.
    fn against(&self, metric: &ComparedMetric, reference: &str) -> String {
        let change = self.change(metric);
        match (metric.better, self.gain.gain_pct.is_some_and(|gain| gain < 0.0)) {
            (Direction::Higher, false) => format!("{change} over {reference}"),
            (Direction::Higher, true) => format!("{change} against {reference}"),
            (Direction::Lower, _) => format!("{} is {change} than with {reference}", metric.says),
        }
    }

    /// The change with its sign, for a span of changes: `+72 % (70–74 %)`, or `12 % lower (10–14 %)`.
    fn signed(&self, metric: &ComparedMetric) -> String {
        self.change(metric).replacen("gains ", "+", 1).replacen("loses ", "−", 1)
    }

    /// What the figures support, with what it takes to know more.
    fn ending(&self, smallest: f64) -> String {
        let limit = per_cent(smallest).replace(".0 ", " ");
        match self.verdict() {
            Some(Comparison::Better) => ": better".to_owned(),
            Some(Comparison::Worse) => ": worse".to_owned(),
            Some(Comparison::Equivalent) => format!(": equivalent, within ±{limit}"),
            Some(Comparison::Negligible) => format!(": negligible, less than {limit}"),
            Some(Comparison::WithinNoise) => format!(", within noise{}; {}", self.corrected(), self.settle()),
            Some(Comparison::Descriptive) | None => ", descriptive only".to_owned(),
        }
    }

    /// Why it is within noise though its interval excludes no difference.
    fn corrected(&self) -> &'static str {
        let excludes = self.gain.low_pct.is_some_and(|low| low > 0.0)
            || self.gain.high_pct.is_some_and(|high| high < 0.0);
        match excludes && self.verdict() == Some(Comparison::WithinNoise) {
            true => ", not shown once corrected for all comparisons",
            false => "",
        }
    }

    fn settle(&self) -> String {
        match self.gain.judged.and_then(|judged| judged.blocks_needed) {
            Some(blocks) => format!("about {blocks} blocks would settle it"),
            None => "more than 1,000 blocks would be needed to settle it".to_owned(),
        }
    }
}

/// An axis as sentences speak of it.
struct Axis<'a> {
    name: &'a str,
    /// The scenario that they are about; empty if there are none.
    scenario: &'a str,
    reference: &'a str,
}

impl Axis<'_> {
    /// `flush rows`, or `as fast as it goes, flush rows`.
    fn words(&self) -> String {
        let words = axis_words(self.name);
        if self.scenario.is_empty() { words } else { format!("{}, {words}", self.scenario) }
    }

    /// A level with the name of its axis, a configuration alone.
    fn named(&self, level: &str) -> String {
        if self.name == CONFIGURATION {
            level.to_owned()
        } else {
            format!("{} {level}", axis_words(self.name))
        }
    }
}

/// What the levels of an axis gain where the other axes are at their references, in each scenario.
fn along(comparison: &StudyComparison, axis: &ComparedAxis) -> Vec<Verdict> {
    let series = axis.series.iter().filter(|series| series.at_reference);
    series.flat_map(|series| along_series(comparison, axis, series)).collect()
}

fn along_series(comparison: &StudyComparison, axis: &ComparedAxis, series: &AxisSeries) -> Vec<Verdict> {
    let compared = compared(comparison, axis, series);
    let axis = &Axis { name: &axis.name, scenario: &series.scenario, reference: &series.reference };
    let with_figure: Vec<Compared<'_>> =
        compared.iter().filter(|one| one.gain.gain_pct.is_some()).copied().collect();
    let mut verdicts = match with_figure.as_slice() {
        [] => Vec::new(),
        [only] => vec![single(comparison, axis, *only)],
        several => grouped(comparison, axis, several),
    };
    let without: Vec<Compared<'_>> =
        compared.iter().filter(|one| one.gain.gain_pct.is_none()).copied().collect();
    if let Some(first) = without.first() {
        let levels: Vec<&str> = without.iter().map(|one| one.level).collect();
        let sentence = format!(
            "{}: {} could not be compared with {}: {}",
            axis.words(),
            format::listed(&levels),
            axis.reference,
            first.gain.words
        );
        verdicts.push(Verdict::new(Level::Warning, "not_compared", sentence));
    }
    verdicts
}

fn compared<'a>(
    comparison: &'a StudyComparison,
    axis: &'a ComparedAxis,
    series: &AxisSeries,
) -> Vec<Compared<'a>> {
    let level = |(level, index): (&'a String, &Option<usize>)| {
        let point = &comparison.points[(*index)?];
        let gain = point.values.gains.iter().find(|gain| gain.axis == axis.name)?;
        Some(Compared { level, point, gain })
    };
    axis.levels.iter().zip(&series.points).filter_map(level).collect()
}

/// `RAID10 with cache gains 96 % (91–101 %) over the single disk: better`.
fn single(comparison: &StudyComparison, axis: &Axis<'_>, one: Compared<'_>) -> Verdict {
    let scenario = if axis.scenario.is_empty() { String::new() } else { format!("{}, ", axis.scenario) };
    let name = format!("{scenario}{}", axis.named(one.level));
    let reference = axis.named(axis.reference);
    let joint = if comparison.metric.better == Direction::Lower { ":" } else { "" };
    let sentence = format!(
        "{name}{joint} {}{}",
        one.against(&comparison.metric, &reference),
        one.ending(comparison.noise.smallest_effect)
    );
    verdict(sentence, one)
}

fn verdict(sentence: String, one: Compared<'_>) -> Verdict {
    let figure = one.gain.gain_pct.map(|gain| format!("{} %", points(gain.abs())));
    Verdict { figure, trials: one.point.trials.clone(), ..Verdict::new(Level::Finding, "gain", sentence) }
}

/// The best level, then the others by their verdicts.
fn grouped(comparison: &StudyComparison, axis: &Axis<'_>, all: &[Compared<'_>]) -> Vec<Verdict> {
    let metric = &comparison.metric;
    let gain = |one: &Compared<'_>| one.gain.gain_pct.unwrap_or(0.0);
    let of = |wanted: Option<Comparison>| -> Vec<Compared<'_>> {
        all.iter().filter(|one| one.verdict() == wanted).copied().collect()
    };
    let mut better = of(Some(Comparison::Better));
    better.sort_by(|a, b| gain(b).total_cmp(&gain(a)));
    let mut verdicts = Vec::new();
    if let Some((best, others)) = better.split_first() {
        verdicts.push(verdict(best_level(metric, axis, *best), *best));
        let lead = lead(axis, &format!("also better than {}", axis.reference));
        verdicts.extend(group(comparison, &lead, others));
    } else if all.iter().any(|one| one.verdict().is_some_and(|v| v != Comparison::Descriptive)) {
        let reference = &comparison.points[all[0].gain.reference];
        let of_value = value(metric, reference).unwrap_or_default();
        let says =
            format!("no level is shown to be better than the reference {} with {of_value}", axis.reference);
        let sentence = lead(axis, &says);
        verdicts.push(Verdict::new(Level::Finding, "gain", sentence));
    }
    let limit = per_cent(comparison.noise.smallest_effect).replace(".0 ", " ");
    let reference = axis.reference;
    let others = [
        (Some(Comparison::Worse), format!("worse than {reference}")),
        (Some(Comparison::Equivalent), format!("equivalent to {reference}, within ±{limit}")),
        (Some(Comparison::Negligible), format!("negligible, less than {limit} from {reference}")),
        (Some(Comparison::WithinNoise), format!("within noise of {reference}")),
        (Some(Comparison::Descriptive), format!("against {reference}, descriptive only")),
        (None, format!("against {reference}, descriptive only")),
    ];
    let others = others.iter().map(|(wanted, says)| group(comparison, &lead(axis, says), &of(*wanted)));
    verdicts.extend(others.flatten());
    verdicts
}

/// The beginning of a sentence on the levels of an axis; named configurations need no name before them.
fn lead(axis: &Axis<'_>, says: &str) -> String {
    if axis.name != CONFIGURATION {
        return format!("{}: {says}", axis.words());
    }
    let mut letters = says.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// `flush rows: 5000 with 4,062 records/s (3,960–4,164) gains 142 % (136–150 %) over 40: better`.
fn best_level(metric: &ComparedMetric, axis: &Axis<'_>, best: Compared<'_>) -> String {
    let of_value = value(metric, best.point).unwrap_or_default();
    let what = best.against(metric, axis.reference);
    let sentence = match metric.better {
        Direction::Higher => format!("{} with {of_value} {what}: better", best.level),
        Direction::Lower => format!("{} with {of_value}: {what}: better", best.level),
    };
    if axis.name == CONFIGURATION { sentence } else { lead(axis, &sentence) }
}

/// `flush rows: worse than 40: 10 (loses 55 %, 53–57 %), 20 (…)`, with the blocks that would settle what is within noise.
fn group(comparison: &StudyComparison, lead: &str, group: &[Compared<'_>]) -> Option<Verdict> {
    if group.is_empty() {
        return None;
    }
    let one = |one: &Compared<'_>| {
        let change = one.change(&comparison.metric).replacen(" (", ", ", 1);
        format!("{} ({})", one.level, change.trim_end_matches(')'))
    };
    let levels: Vec<String> = group.iter().map(one).collect();
    let within = || group.iter().filter(|one| one.verdict() == Some(Comparison::WithinNoise));
    let needed = within().filter_map(|one| one.gain.judged?.blocks_needed).max();
    let settled = match (within().next(), needed) {
        (None, _) => String::new(),
        (Some(only), _) if group.len() == 1 => format!("; {}", only.settle()),
        (Some(_), Some(blocks))
            if within().all(|one| one.gain.judged.is_some_and(|j| j.blocks_needed.is_some())) =>
        {
            format!("; about {blocks} blocks would settle all of it")
        }
        (Some(_), Some(blocks)) => format!("; about {blocks} blocks would settle part of it"),
        (Some(_), None) => "; more than 1,000 blocks would be needed to settle it".to_owned(),
    };
    let trials = group.iter().flat_map(|one| one.point.trials.iter().copied()).collect();
    let open = group.iter().any(|one| !one.corrected().is_empty());
    let open =
        if open { "; an interval without 0 is not enough once corrected for all comparisons" } else { "" };
    let sentence = format!("{lead}: {}{open}{settled}", format::listed(&levels));
    Some(Verdict { trials, ..Verdict::new(Level::Finding, "gain", sentence) })
}

/// The same axis at the other settings of the others, in one sentence.
fn elsewhere(comparison: &StudyComparison, axis: &ComparedAxis) -> Option<Verdict> {
    if axis.series.iter().all(|series| series.at_reference) {
        return None;
    }
    let all: Vec<Compared<'_>> = axis
        .series
        .iter()
        .flat_map(|series| compared(comparison, axis, series))
        .filter(|one| one.gain.gain_pct.is_some())
        .collect();
    let gain = |one: &&Compared<'_>| one.gain.gain_pct.unwrap_or(0.0);
    let least = all.iter().min_by(|a, b| gain(a).total_cmp(&gain(b)))?;
    let most = all.iter().max_by(|a, b| gain(a).total_cmp(&gain(b)))?;
    let counts = [
        Comparison::Better,
        Comparison::Worse,
        Comparison::Equivalent,
        Comparison::Negligible,
        Comparison::WithinNoise,
        Comparison::Descriptive,
    ]
    .map(|verdict| (verdict, all.iter().filter(|one| one.verdict() == Some(verdict)).count()));
    let counts: Vec<String> = counts
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(verdict, count)| format!("{count} {}", crate::model::words(*verdict)))
        .collect();
    let one_reference = axis.series.iter().all(|series| series.reference == axis.reference);
    let reference = if one_reference { axis.reference.as_str() } else { "the reference" };
    let sentence = format!(
        "{}: over all {} settings of the others, {} comparisons with {}: {}; from {} at {} to {} at {}",
        axis_words(&axis.name),
        axis.series.len(),
        all.len(),
        reference,
        counts.join(", "),
        least.signed(&comparison.metric),
        least.point.label,
        most.signed(&comparison.metric),
        most.point.label,
    );
    Some(Verdict::new(Level::Finding, "gain", sentence))
}

/// Knee, sweet spot and scalability along an axis of numbers, where the others are at their references, in each scenario.
fn shape(comparison: &StudyComparison, axis: &ComparedAxis) -> Vec<Verdict> {
    let Some(quantity) = axis.quantity else { return Vec::new() };
    let series = axis.series.iter().filter(|series| series.at_reference);
    series.flat_map(|series| shape_of(comparison, axis, series, quantity)).collect()
}

fn shape_of(
    comparison: &StudyComparison,
    axis: &ComparedAxis,
    series: &AxisSeries,
    quantity: Quantity,
) -> Vec<Verdict> {
    let words = Axis { name: &axis.name, scenario: &series.scenario, reference: &series.reference }.words();
    let mut verdicts = Vec::new();
    match (&series.knee, &series.no_knee) {
        (Some(knee), _) => verdicts.push(bend(&comparison.metric, &words, quantity, knee)),
        (None, Some(reason)) => {
            verdicts.push(Verdict::new(Level::Note, "no_knee", format!("{words}: {reason}")));
        }
        (None, None) => {}
    }
    match (series.sweet_spot, &series.no_sweet_spot) {
        (Some(place), _) => {
            let level = &axis.levels[place];
            let sentence = format!("{words}: the sweet spot is {level}; more gains less than 5 %");
            let figure = Some(level.clone());
            verdicts.push(Verdict { figure, ..Verdict::new(Level::Finding, "sweet_spot", sentence) });
        }
        (None, Some(reason)) => {
            verdicts.push(Verdict::new(Level::Note, "sweet_spot", format!("{words}: {reason}")));
        }
        (None, None) => {}
    }
    verdicts.extend(scalability(&words, series));
    verdicts
}

/// `p99_ms rises sharply below about 3,200–3,700`, or where more begins to gain less.
fn bend(metric: &ComparedMetric, words: &str, quantity: Quantity, knee: &stats::Knee) -> Verdict {
    let print = |value: f64| quantity.print(value);
    let (low, high) = (print(knee.low), print(knee.high));
    let range = if low == high { low } else { format!("{low}–{high}") };
    let (below, above) = (knee.slope_below, knee.slope_above);
    let name = metric.name;
    let how = match metric.better {
        Direction::Higher if below > 0.0 && above <= 0.0 => {
            format!("past about {range}, {name} grows no more")
        }
        Direction::Higher if below > above && above > 0.0 => {
            format!("past about {range}, {name} grows at a lower rate")
        }
        _ if below.abs() > above.abs() => {
            // Below the knee a curve is followed downwards: what falls with the level rises there.
            let turns = if below < 0.0 { "rises" } else { "falls" };
            format!("{name} {turns} sharply below about {range}")
        }
        _ => format!("{name} {} sharply above about {range}", if above > 0.0 { "rises" } else { "falls" }),
    };
    let [one, other] = knee.further_levels().map(print);
    let sentence =
        format!("{words}: {how} (knee at {}); levels at {one} and {other} would narrow it", print(knee.at));
    Verdict { figure: Some(range), ..Verdict::new(Level::Finding, "axis_knee", sentence) }
}

fn scalability(words: &str, series: &AxisSeries) -> Option<Verdict> {
    match (&series.scalability, &series.no_scalability) {
        (Some(found), _) => {
            let peak = match found.peak {
                Some(peak) => format!("the peak is at about {}", figure(peak)),
                None => "no peak can be told from these levels".to_owned(),
            };
            let sentence = format!(
                "{words}: scales with contention σ {} ({}) and coherence κ {} ({}); {peak}",
                small(found.sigma.value),
                small_range(&found.sigma),
                small(found.kappa.value),
                small_range(&found.kappa)
            );
            Some(Verdict::new(Level::Finding, "scalability", sentence))
        }
        (None, Some(reason)) => Some(Verdict::new(Level::Note, "scalability", format!("{words}: {reason}"))),
        (None, None) => None,
    }
}

/// Coefficients are often far below one.
fn small(value: f64) -> String {
    match value.abs() {
        size if size < 1e-9 => "0".to_owned(),
        size if size < 0.01 => format!("{value:.1e}").replace('-', "−"),
        _ => format::signed(value),
    }
}

fn small_range(estimate: &stats::Estimate) -> String {
    format!("{}–{}", small(estimate.low), small(estimate.high))
}

/// What the reader must know of the comparison as a whole.
fn caveats(report: &Report, comparison: &StudyComparison) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    if let Some(reason) = &comparison.not_compared {
        let sentence = format!("Nothing is compared: {reason}");
        verdicts.push(Verdict::new(Level::Warning, "not_compared", sentence));
        return verdicts;
    }
    let blocks = comparison.blocks.len();
    if blocks < stats::BLOCKS_MIN {
        let sentence = format!(
            "Descriptive only: {} of each combination; a verdict takes at least {} blocks",
            counted(blocks, "block", "blocks"),
            stats::BLOCKS_MIN
        );
        verdicts.push(Verdict::new(Level::Warning, "descriptive", sentence));
    }
    verdicts.extend(order(comparison.order));
    verdicts.extend(not_used(report, &comparison.not_used));
    verdicts.push(noise_floor(comparison));
    verdicts
}

/// `3 trials count in no comparison (2 not complete, one with I/O errors)`.
fn not_used(report: &Report, trials: &[u32]) -> Option<Verdict> {
    const REASONS: [&str; 3] =
        ["not complete", "with I/O errors", "the last step of a search that confirmed no rate"];
    let of = |number: &u32| report.trials.iter().find(|trial| trial.number == *number);
    let reason = |trial: &Trial| match trial.search {
        Some(_) => 2,
        None if trial.is_complete() && trial.has_io_errors() => 1,
        None => 0,
    };
    let reasons: Vec<usize> = trials.iter().filter_map(of).map(reason).collect();
    let told = |(place, words): (usize, &&str)| {
        let count = reasons.iter().filter(|reason| **reason == place).count();
        let number = if count == 1 { "one".to_owned() } else { format::grouped(count as u64) };
        (count > 0).then(|| format!("{number} {words}"))
    };
    let told: Vec<String> = REASONS.iter().enumerate().filter_map(told).collect();
    let counts = if trials.len() == 1 { "counts" } else { "count" };
    let mut subject = counted(trials.len(), "trial", "trials");
    if let Some(first) = subject.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    let sentence = format!(
        "{subject} {counts} in no comparison ({}); a block counts only where both of its trials do",
        told.join(", ")
    );
    let trials = trials.to_vec();
    (!trials.is_empty()).then(|| Verdict { trials, ..Verdict::new(Level::Warning, "not_used", sentence) })
}

fn order(order: Order) -> Option<Verdict> {
    let (level, sentence) = match order {
        Order::Blocks | Order::Repeats => return None,
        Order::Abba => (
            Level::Note,
            "The order was ABBA: as given, and the other way round in every second block; a steady drift cancels out over \
             pairs of blocks, other drift does not",
        ),
        Order::Given => (
            Level::Warning,
            "The trials of each block ran in the order given: a steady drift is not cancelled, and what a trial leaves \
             behind always meets the same next one; order = \"blocks\" randomises it",
        ),
    };
    Some(Verdict::new(level, "order", sentence.to_owned()))
}

fn noise_floor(comparison: &StudyComparison) -> Verdict {
    let limit = per_cent(comparison.noise.smallest_effect).replace(".0 ", " ");
    let sentence = match (&comparison.noise.noise_floor, &comparison.noise.no_noise_floor) {
        (Some(Effect { ratio, blocks, .. }), _) => format!(
            "Noise floor: the reference measured twice in {} differs from itself by {} % ({}–{} %); effects from {limit} on \
             matter",
            counted(*blocks, "block", "blocks"),
            points((ratio.value - 1.0) * 100.0),
            points((ratio.low - 1.0) * 100.0),
            points((ratio.high - 1.0) * 100.0)
        ),
        (None, reason) => format!(
            "The noise floor is not known: {}; effects from {limit} on are taken to matter",
            reason.as_deref().unwrap_or("no reason was recorded")
        ),
    };
    Verdict::new(Level::Note, "noise_floor", sentence)
}
