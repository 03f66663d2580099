//! What each level of an axis gains over the reference, in sentences.
//!
//! Along each axis the best level has a sentence of its own and the others are grouped by their verdict, so that a study of
//! many combinations stays readable; the table has them all.

use record::Direction;
use stats::{Comparison, NotShown};

use super::held;
use super::sentence::value;
use crate::change::told_or_dash;
use crate::comparison::{
    AxisSeries, CONFIGURATION, ComparedAxis, ComparedMetric, Gain, Point, StudyComparison, axis_words, words,
};
use crate::format::{self, per_cent, points};
use crate::verdict::{Level, Verdict};

/// More blocks than this nobody runs to settle a question.
const BLOCKS_PRACTICAL: u32 = 100;

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

    /// `gains 96 % (+91 to +101 %)`; see [`Change::says`](crate::change::Change::says).
    fn change(&self) -> String {
        self.gain.change().map(|change| change.says()).unwrap_or_default()
    }

    /// The change with its reference and its metric: `gains 96 % (+91 to +101 %) over the single disk in I/Os a second`.
    fn against(&self, metric: &ComparedMetric, reference: &str) -> String {
        let (change, says) = (self.change(), metric.says);
        match change.split(' ').next() {
            Some("gains") => format!("{change} over {reference} in {says}"),
            Some("loses") => format!("{change} against {reference} in {says}"),
            Some("gives") => format!("{change} {} {reference} in {says}", joint(&change)),
            _ => format!("{says} {change} {} with {reference}", joint(&change)),
        }
    }

    /// The change with its sign, for a span of changes: `+72 % (+70 to +74 %)`.
    fn signed(&self) -> String {
        told_or_dash(self.gain.change())
    }

    /// What the figures support, with what it takes to know more.
    fn ending(&self, smallest: f64) -> String {
        let limit = per_cent(smallest).replace(".0 ", " ");
        match self.verdict() {
            Some(Comparison::Better) => ": better".to_owned(),
            Some(Comparison::Worse) => ": worse".to_owned(),
            Some(Comparison::Differs) => ": differs".to_owned(),
            Some(Comparison::Alike) => ": alike in these two runs".to_owned(),
            Some(Comparison::Equivalent) => format!(": equivalent, within ±{limit}"),
            Some(Comparison::Small) => format!(": small, {}", self.at_most()),
            Some(Comparison::WithinNoise) => format!(", within noise{}; {}", self.not_shown(), self.settle()),
            Some(Comparison::NotResolvable) => format!(
                ": not resolvable here{}, {}; {}",
                self.not_shown(),
                self.resolution(&limit),
                self.settle()
            ),
            Some(Comparison::Descriptive) | None => ", descriptive only".to_owned(),
        }
    }

    /// `at most 5 %`: how large a small difference may be.
    fn at_most(&self) -> String {
        let ends = [self.gain.low_pct, self.gain.high_pct].into_iter().flatten();
        format!("at most {} %", points(ends.map(f64::abs).fold(0.0, f64::max)))
    }

    /// What keeps it from being settled: an interval that is wide against what matters, or an effect next to it.
    fn resolution(&self, limit: &str) -> String {
        let half_width = self.gain.effect.map_or(0.0, |effect| effect.half_width());
        let blocks = format::counted(self.gain.blocks, "block", "blocks");
        let reaches = format!("{blocks} tell no less than {} % apart", points(half_width * 100.0));
        match self.gain.judged.and_then(|judged| judged.blocks_needed) {
            None if self.is_narrow(limit) => {
                format!("the effect is too near to {limit}, from which on it matters")
            }
            _ => format!("{reaches}, and {limit} matters"),
        }
    }

    /// Whether what matters is more than the interval's half width.
    fn is_narrow(&self, limit: &str) -> bool {
        let matters = limit.trim_end_matches(" %").parse::<f64>();
        let half_width = self.gain.effect.map(|effect| effect.half_width());
        half_width.zip(matters.ok()).is_some_and(|(half_width, matters)| half_width * 100.0 <= matters)
    }

    /// Why no difference is shown though the interval excludes none.
    fn not_shown(&self) -> String {
        let judged = self.gain.judged.and_then(|judged| Some((judged, judged.not_shown?)));
        match judged {
            Some((_, NotShown::Corrected)) => ", not shown once corrected for all comparisons".to_owned(),
            Some((_, NotShown::Test)) => {
                let p_value = self.gain.effect.map_or(1.0, |effect| effect.p_value);
                format!(", not shown by the t test of these blocks, which scatter unevenly (p {p_value:.2})")
            }
            None => String::new(),
        }
    }

    fn settle(&self) -> String {
        match self.gain.judged.and_then(|judged| judged.blocks_needed) {
            Some(blocks) if blocks > BLOCKS_PRACTICAL => format!(
                "about {blocks} blocks would settle it, so that longer trials or a quieter machine are the better way"
            ),
            Some(blocks) => format!("about {blocks} blocks would settle it"),
            None => "more than 1,000 blocks would be needed to settle it".to_owned(),
        }
    }
}

/// What leads from a change to what it is compared with.
fn joint(change: &str) -> &'static str {
    if change.contains("as much") { "as" } else { "than" }
}

/// An axis as sentences speak of it.
pub(crate) struct Axis<'a> {
    pub(crate) name: &'a str,
    /// Where the other axes stay, the scenario included; empty if there are none.
    pub(crate) setting: &'a str,
    pub(crate) reference: &'a str,
}

impl Axis<'_> {
    /// `flush rows`, or `as fast as it goes, flush rows`.
    pub(crate) fn words(&self) -> String {
        let words = axis_words(self.name);
        if self.setting.is_empty() { words } else { format!("{}, {words}", self.setting) }
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
pub(crate) fn along(comparison: &StudyComparison, axis: &ComparedAxis) -> Vec<Verdict> {
    let series = axis.series.iter().filter(|series| series.at_reference);
    series.flat_map(|series| along_series(comparison, axis, series)).collect()
}

fn along_series(comparison: &StudyComparison, axis: &ComparedAxis, series: &AxisSeries) -> Vec<Verdict> {
    let told = held::along(comparison, axis, series);
    let compared = compared(comparison, axis, series);
    let axis = &Axis { name: &axis.name, setting: &series.setting, reference: &series.reference };
    let with_figure: Vec<Compared<'_>> =
        compared.iter().filter(|one| one.gain.gain_pct.is_some()).copied().collect();
    let mut verdicts = match with_figure.as_slice() {
        [] => Vec::new(),
        [only] => vec![single(comparison, axis, *only)],
        several => grouped(comparison, axis, several),
    };
    verdicts.splice(..0, told);
    let without: Vec<Compared<'_>> = compared
        .iter()
        .filter(|one| one.gain.gain_pct.is_none() && !one.point.is_left_out)
        .copied()
        .collect();
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
        let of_axis = |gain: &&Gain| gain.axis == axis.name && !gain.is_of_held_rate;
        let gain = point.values.gains.iter().find(of_axis)?;
        Some(Compared { level, point, gain })
    };
    axis.levels.iter().zip(&series.points).filter_map(level).collect()
}

/// `RAID10 with cache gains 96 % (91–101 %) over the single disk: better`.
fn single(comparison: &StudyComparison, axis: &Axis<'_>, one: Compared<'_>) -> Verdict {
    let setting = if axis.setting.is_empty() { String::new() } else { format!("{}: ", axis.setting) };
    let name = format!("{setting}{}", axis.named(one.level));
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
    let figure = one.gain.change().and_then(|change| change.figure());
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
        let lead = lead(axis, &format!("also better than {} in {}", axis.reference, metric.says));
        verdicts.extend(group(&lead, others));
    } else if all.iter().any(|one| one.verdict().is_some_and(|v| v != Comparison::Descriptive)) {
        let reference = &comparison.points[all[0].gain.reference];
        let of_value = value(metric, reference).unwrap_or_default();
        let says =
            format!("no level is shown to be better than the reference {} with {of_value}", axis.reference);
        let sentence = lead(axis, &says);
        verdicts.push(Verdict::new(Level::Finding, "gain", sentence));
    }
    let limit = per_cent(comparison.noise.smallest_effect).replace(".0 ", " ");
    let (reference, says) = (axis.reference, metric.says);
    let others = [
        (Some(Comparison::Worse), format!("worse than {reference} in {says}")),
        (Some(Comparison::Equivalent), format!("equivalent to {reference} in {says}, within ±{limit}")),
        (
            Some(Comparison::Small),
            format!("small against {reference} in {says}, less than {limit} as estimated"),
        ),
        (Some(Comparison::WithinNoise), format!("within noise of {reference} in {says}")),
        (
            Some(Comparison::NotResolvable),
            format!("not resolvable here against {reference} in {says}, where {limit} matters"),
        ),
        (Some(Comparison::Descriptive), format!("{says} against {reference}, descriptive only")),
        (None, format!("{says} against {reference}, descriptive only")),
    ];
    let others = others.iter().map(|(wanted, says)| group(&lead(axis, says), &of(*wanted)));
    verdicts.extend(others.flatten());
    verdicts
}

/// The beginning of a sentence on the levels of an axis; named configurations need no name before them.
fn lead(axis: &Axis<'_>, says: &str) -> String {
    if axis.name != CONFIGURATION {
        return format!("{}: {says}", axis.words());
    }
    if !axis.setting.is_empty() {
        return format!("{}: {says}", axis.setting);
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
    if axis.name == CONFIGURATION && axis.setting.is_empty() { sentence } else { lead(axis, &sentence) }
}

/// `flush rows: worse than 40: 10 (loses 55 %, 53–57 %), 20 (…)`, with the blocks that would settle what is within noise.
fn group(lead: &str, group: &[Compared<'_>]) -> Option<Verdict> {
    if group.is_empty() {
        return None;
    }
    let one = |one: &Compared<'_>| {
        let change = one.change().replacen(" (", ", ", 1);
        let most = if one.verdict() == Some(Comparison::Small) {
            format!(", {}", one.at_most())
        } else {
            String::new()
        };
        format!("{} ({}{most})", one.level, change.trim_end_matches(')'))
    };
    let levels: Vec<String> = group.iter().map(one).collect();
    let is_open = |one: &&Compared<'_>| {
        matches!(one.verdict(), Some(Comparison::WithinNoise | Comparison::NotResolvable))
    };
    let within = || group.iter().filter(|one| is_open(one));
    let needed = within().filter_map(|one| one.gain.judged?.blocks_needed).max();
    let settled = match (within().next(), needed) {
        (None, _) => String::new(),
        (Some(only), _) if group.len() == 1 => format!("; {}", only.settle()),
        (Some(_), Some(blocks))
            if within().all(|one| one.gain.judged.is_some_and(|j| j.blocks_needed.is_some())) =>
        {
            format!(
                "; about {blocks} blocks would settle each of them in four of five studies, and all of them together less often"
            )
        }
        (Some(_), Some(blocks)) => format!("; about {blocks} blocks would settle some of them"),
        (Some(_), None) => "; more than 1,000 blocks would be needed to settle it".to_owned(),
    };
    let trials = group.iter().flat_map(|one| one.point.trials.iter().copied()).collect();
    let not_shown =
        |why: NotShown| group.iter().any(|one| one.gain.judged.and_then(|j| j.not_shown) == Some(why));
    let mut open = String::new();
    if not_shown(NotShown::Corrected) {
        open += "; an interval without 0 is not enough once corrected for all comparisons";
    }
    if not_shown(NotShown::Test) {
        open += "; an interval without 0 is not enough where the t test of the same blocks shows nothing";
    }
    let sentence = format!("{lead}: {}{open}{settled}", format::listed(&levels));
    Some(Verdict { trials, ..Verdict::new(Level::Finding, "gain", sentence) })
}

/// The same axis at the other settings of the others, in one sentence.
pub(crate) fn elsewhere(comparison: &StudyComparison, axis: &ComparedAxis) -> Option<Verdict> {
    let known =
        |series| compared(comparison, axis, series).into_iter().filter(|one| one.gain.gain_pct.is_some());
    let elsewhere = axis.series.iter().filter(|series| !series.at_reference);
    elsewhere.flat_map(known).next()?;
    let all: Vec<Compared<'_>> = axis.series.iter().flat_map(known).collect();
    let gain = |one: &&Compared<'_>| one.gain.gain_pct.unwrap_or(0.0);
    let least = all.iter().min_by(|a, b| gain(a).total_cmp(&gain(b)))?;
    let most = all.iter().max_by(|a, b| gain(a).total_cmp(&gain(b)))?;
    let counts = [
        Comparison::Better,
        Comparison::Worse,
        Comparison::Equivalent,
        Comparison::Small,
        Comparison::WithinNoise,
        Comparison::NotResolvable,
        Comparison::Descriptive,
    ]
    .map(|verdict| (verdict, all.iter().filter(|one| one.verdict() == Some(verdict)).count()));
    let counts: Vec<String> = counts
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(verdict, count)| format!("{count} {}", words(*verdict)))
        .collect();
    let counts = if counts.is_empty() { vec!["descriptive only".to_owned()] } else { counts };
    let one_reference = axis.series.iter().all(|series| series.reference == axis.reference);
    let reference = if one_reference { axis.reference.as_str() } else { "the reference" };
    let sentence = format!(
        "{}: over all {} settings of the others, {} comparisons with {} in {}: {}; from {} at {} to {} at {}",
        axis_words(&axis.name),
        axis.series.len(),
        all.len(),
        reference,
        comparison.metric.says,
        counts.join(", "),
        least.signed(),
        least.point.label,
        most.signed(),
        most.point.label,
    );
    Some(Verdict::new(Level::Finding, "gain", sentence))
}
