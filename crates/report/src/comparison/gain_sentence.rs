//! What each level of an axis gains over the reference, in sentences.
//!
//! Along each axis the best level has a sentence of its own and the others are grouped by their verdict, so that a study of
//! many combinations stays readable; the table has them all.

use stats::{Comparison, NotShown};

use super::held;
use super::sentence::value;
use crate::change::Parts;
use crate::comparison::{
    AxisSeries, CONFIGURATION, ComparedAxis, ComparedMetric, Gain, Point, StudyComparison, axis_words, words,
};
use crate::format::{self, points};
use crate::verdict::{Fact, Level, Verdict};

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

    /// The change in its parts; none where there is no ratio.
    fn parts(&self) -> Option<Parts> {
        self.gain.change().map(|change| change.parts())
    }

    /// `+72%, 95% CI +70 to +74%`, for a list.
    fn listed(&self) -> String {
        self.parts().map(|parts| parts.listed()).unwrap_or_default()
    }

    /// `+72% (95% CI +70 to +74%; memory 8GiB, cpus 4)`.
    fn with_label(&self) -> String {
        let parts = self.parts();
        let interval = parts.as_ref().and_then(|parts| parts.interval.clone());
        let label: Vec<String> = interval.into_iter().chain([self.point.label.clone()]).collect();
        format!("{} ({})", parts.map(|parts| parts.short()).unwrap_or_default(), label.join("; "))
    }

    /// `at most 5%`: how large a small difference may be.
    fn at_most(&self) -> String {
        let ends = [self.gain.low_pct, self.gain.high_pct].into_iter().flatten();
        format!("at most {}%", points(ends.map(f64::abs).fold(0.0, f64::max)))
    }

    /// Whether the figures leave open what holds.
    fn is_open(&self) -> bool {
        matches!(self.verdict(), Some(Comparison::WithinNoise | Comparison::NotResolvable))
    }

    fn blocks_needed(&self) -> Option<u32> {
        self.gain.judged.and_then(|judged| judged.blocks_needed)
    }

    fn not_shown(&self) -> Option<NotShown> {
        self.gain.judged.and_then(|judged| judged.not_shown)
    }

    /// Why no difference is shown though the interval excludes none.
    fn not_significant(&self) -> Option<String> {
        Some(match self.not_shown()? {
            NotShown::Corrected => "not significant after correction for all comparisons".to_owned(),
            NotShown::Test => {
                let p_value = self.gain.effect.map_or(1.0, |effect| effect.p_value);
                format!("not significant in the t test, p = {p_value:.2}")
            }
        })
    }

    /// What would decide it.
    fn settle(&self, smallest: f64) -> String {
        let is_narrow = self.gain.effect.is_some_and(|effect| effect.half_width() <= smallest);
        match self.blocks_needed() {
            Some(blocks) if blocks > BLOCKS_PRACTICAL => format!(
                "a decision would need about {blocks} blocks, so longer trials or a quieter machine are better"
            ),
            Some(blocks) => format!("about {blocks} blocks would decide it"),
            None if is_narrow => {
                "the effect is so close to the relevant difference that even 1,000 blocks would not decide it"
                    .to_owned()
            }
            None => "even 1,000 blocks would not decide it".to_owned(),
        }
    }
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

    /// The start of a list of levels: `flush rows: levels better than 40`. Named configurations have no axis in front.
    fn lead(&self, head: &str) -> String {
        match self.group() {
            group if group.is_empty() => head.to_owned(),
            group => format!("{group}: {head}"),
        }
    }

    /// What several levels are of: the setting and the axis, of named configurations the setting alone.
    fn group(&self) -> String {
        if self.name == CONFIGURATION { self.setting.to_owned() } else { self.words() }
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
        let fact = format!("{} against {}: {}", format::listed(&levels), axis.reference, first.gain.words);
        verdicts.push(Verdict::new(Level::Warning, "not_compared", fact).about(axis.words()));
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

/// `RAID10 is better than single disk: +96% throughput (95% CI +91 to +101%)`, or `Inconclusive: RAID1 −1.8% throughput against
/// single disk (95% CI −4.4 to +1.7%; relevant from 3%)`.
fn single(comparison: &StudyComparison, axis: &Axis<'_>, one: Compared<'_>) -> Verdict {
    let verb = match one.verdict() {
        Some(Comparison::Better) => "is better than",
        Some(Comparison::Worse) => "is worse than",
        Some(Comparison::Differs) => "differs from",
        _ => return headed(comparison, axis, one),
    };
    claimed(&comparison.metric, axis, one, &format!("{} {verb} {}: ", axis.named(one.level), axis.reference))
}

/// A difference that is shown, behind the words that say so.
fn claimed(metric: &ComparedMetric, axis: &Axis<'_>, one: Compared<'_>, before: &str) -> Verdict {
    let Some(parts) = one.parts() else { return finding(before.to_owned(), axis.setting, &[one]) };
    let fact = Fact::around(before, parts.figure(), parts.of(metric.says));
    let verdict = finding(fact, axis.setting, &[one]);
    match parts.interval {
        Some(interval) => verdict.with_limit(interval),
        None => verdict,
    }
}

/// A difference that is not shown, or does not matter: the verdict comes first.
fn headed(comparison: &StudyComparison, axis: &Axis<'_>, one: Compared<'_>) -> Verdict {
    let smallest = comparison.noise.smallest_effect;
    let (head, effect) = match one.verdict() {
        Some(Comparison::Equivalent) => ("equivalent", None),
        Some(Comparison::Small) => {
            ("too small to matter", Some(format!("the difference is {}", one.at_most())))
        }
        Some(Comparison::WithinNoise) => ("inconclusive, within noise", Some(one.settle(smallest))),
        Some(Comparison::NotResolvable) => ("inconclusive", Some(one.settle(smallest))),
        Some(Comparison::Alike) => ("no difference between these two runs", None),
        _ => ("descriptive only", None),
    };
    let is_judged = !matches!(one.verdict(), None | Some(Comparison::Descriptive | Comparison::Alike));
    let Some(parts) = one.parts() else { return finding(axis.named(one.level), axis.setting, &[one]) };
    // Two numbers beside each other need a comma.
    let joint = if axis.name == CONFIGURATION { " " } else { ", " };
    let fact = Fact::around(
        format!("{}{joint}", axis.named(one.level)),
        parts.figure(),
        parts.against(comparison.metric.says, axis.reference),
    );
    let limits = [
        parts.interval,
        one.not_significant(),
        is_judged.then(|| format!("relevant from {}", relevant(smallest))),
    ];
    let limits: Vec<String> = limits.into_iter().flatten().collect();
    let mut verdict = finding(fact, &with_setting(axis.setting, head), &[one]);
    verdict.limit = (!limits.is_empty()).then(|| limits.join("; "));
    Verdict { effect, ..verdict }
}

fn finding(fact: impl Into<Fact>, subject: &str, all: &[Compared<'_>]) -> Verdict {
    let trials: Vec<u32> = all.iter().flat_map(|one| one.point.trials.iter().copied()).collect();
    let verdict = Verdict::new(Level::Finding, "gain", fact).of_trials(trials);
    if subject.is_empty() { verdict } else { verdict.about(subject) }
}

/// `3%`: from which difference on a reader cares.
fn relevant(smallest: f64) -> String {
    format!("{}%", points(smallest * 100.0))
}

/// What begins a sentence, behind the setting where there is one.
fn with_setting(setting: &str, head: &str) -> String {
    if setting.is_empty() { format::capital(head) } else { format!("{setting}, {head}") }
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
    let (reference, says) = (axis.reference, metric.says);
    let levels = if axis.name == CONFIGURATION { "configurations" } else { "levels" };
    let mut verdicts = Vec::new();
    if let Some((best, others)) = better.split_first() {
        verdicts.push(best_level(metric, axis, *best));
        let head = format!("{levels} also better than {reference} in {says}");
        verdicts.extend(listed(&axis.lead(&head), others));
    } else if all.iter().any(|one| one.verdict().is_some_and(|v| v != Comparison::Descriptive)) {
        let point = &comparison.points[all[0].gain.reference];
        let of_value = value(metric, point).unwrap_or_default();
        let fact = format!("no level is better than the reference {reference}, with {of_value}");
        let is_plain = axis.name == CONFIGURATION && axis.setting.is_empty();
        let fact = if is_plain { format::capital(&fact) } else { fact };
        verdicts.push(finding(fact, &axis.group(), &[]));
    }
    let from = relevant(comparison.noise.smallest_effect);
    let others = [
        (Some(Comparison::Worse), format!("{levels} worse than {reference} in {says}")),
        (Some(Comparison::Equivalent), format!("equivalent to {reference} in {says}, within ±{from}")),
        (Some(Comparison::Small), format!("too small to matter against {reference} in {says}, below {from}")),
        (
            Some(Comparison::WithinNoise),
            format!("inconclusive, within noise, against {reference} in {says} (relevant from {from})"),
        ),
        (
            Some(Comparison::NotResolvable),
            format!("inconclusive against {reference} in {says} (relevant from {from})"),
        ),
        (Some(Comparison::Descriptive), format!("descriptive only, against {reference} in {says}")),
        (None, format!("descriptive only, against {reference} in {says}")),
    ];
    verdicts.extend(others.iter().filter_map(|(wanted, head)| match of(*wanted).as_slice() {
        [only] => Some(single(comparison, axis, *only)),
        several => listed(&axis.lead(head), several),
    }));
    verdicts
}

/// `flush rows 5000, with 4,062 records/s (3,960–4,164), is better than 40: 2.42 times the reference in records per second (95% CI
/// 2.36 to 2.50)`.
fn best_level(metric: &ComparedMetric, axis: &Axis<'_>, best: Compared<'_>) -> Verdict {
    let of_value = value(metric, best.point).map(|value| format!(", with {value},")).unwrap_or_default();
    let before = format!("{}{of_value} is better than {}: ", axis.named(best.level), axis.reference);
    claimed(metric, axis, best, &before)
}

/// `flush rows, worse than 40 in records per second: 10 (−55%, 95% CI −57 to −53%), 20 (…)`, with the blocks that would settle what is
/// within noise.
fn listed(head: &str, group: &[Compared<'_>]) -> Option<Verdict> {
    if group.is_empty() {
        return None;
    }
    let one = |one: &Compared<'_>| {
        let most = match one.verdict() {
            Some(Comparison::Small) => format!(", {}", one.at_most()),
            _ => String::new(),
        };
        format!("{} ({}{most})", one.level, one.listed())
    };
    let levels: Vec<String> = group.iter().map(one).collect();
    let has = |why: NotShown| group.iter().any(|one| one.not_shown() == Some(why));
    let corrected = has(NotShown::Corrected).then(|| {
        "some intervals exclude 0, but are not significant after correction for all comparisons".to_owned()
    });
    let tested = has(NotShown::Test)
        .then(|| "some intervals exclude 0, but are not significant in the t test".to_owned());
    let effects: Vec<String> =
        [corrected, tested, deciding(group)].into_iter().flatten().map(|one| format::capital(&one)).collect();
    let verdict = finding(format::listed(&levels), head, group);
    Some(if effects.is_empty() { verdict } else { verdict.with_effect(effects.join(". ")) })
}

/// How many blocks would decide what is open in a group.
fn deciding(group: &[Compared<'_>]) -> Option<String> {
    let open = || group.iter().filter(|one| one.is_open());
    open().next()?;
    Some(match open().filter_map(Compared::blocks_needed).max() {
        Some(blocks) if open().all(|one| one.blocks_needed().is_some()) => {
            format!("about {blocks} blocks would decide each with 80% power")
        }
        Some(blocks) => format!("about {blocks} blocks would decide some of them"),
        None => "even 1,000 blocks would not decide them".to_owned(),
    })
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
    let fact = format!(
        "{} comparisons with {reference} in {} over all {} settings of the other axes: {}",
        all.len(),
        comparison.metric.says,
        axis.series.len(),
        counts.join(", "),
    );
    let range = format!("the changes range from {} to {}", least.with_label(), most.with_label());
    Some(finding(fact, &axis_words(&axis.name), &[]).with_effect(range))
}
