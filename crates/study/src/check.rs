//! What is wrong with a study as a whole: designs that compare nothing, targets that are missing, parameters without effect.
//!
//! Mistakes within one parameter are found where it is read. All that is found here is told at once.

use std::collections::HashSet;
use std::hash::Hash;

use record::{GAIN, METRICS, Metric, Threshold, holds_password};
use toml::Value;

use crate::axis::{Axis, TARGET, text_of};
use crate::effect;
use crate::expand::Point;

use crate::mistake::{Place, StudyError, in_parameter, mistake};
use crate::plan::LOOKS;
use crate::read::{self, Unfit};
use crate::study::{Order, Study};
use crate::target::Target;
use crate::target_check;
use crate::work::{Given, NAMES, Work};

/// Most times that a study measures every combination.
const BLOCKS_MAX: u32 = 1000;

/// Mistakes of the design, which need no parameter to be read.
pub(crate) fn design(study: &Study) -> Vec<StudyError> {
    let mut errors = Vec::new();
    if !(1..=BLOCKS_MAX).contains(&study.blocks) {
        errors.push(mistake("blocks", format!("invalid value {}: must be 1 to {BLOCKS_MAX}", study.blocks)));
    }
    for (number, axis) in study.axis.iter().enumerate() {
        errors.extend(check_axis(axis, &levels_anywhere(study, axis)));
        if study.axis[..number].iter().any(|other| other.name() == axis.name()) {
            errors.push(mistake(
                Place::Axis(axis.key.clone()),
                format!("second axis named {}. Give each axis once", axis.name()),
            ));
        }
    }
    errors.extend(check_configurations(study));
    errors.extend(check_order(study));
    errors.extend(check_stop(study));
    errors.extend(check_compared(study));
    errors.extend(check_number(study));
    errors.extend(check_thresholds(study));
    errors
}

/// All levels of an axis as trials tell them, those that only one configuration has too.
pub(crate) fn levels_anywhere(study: &Study, axis: &Axis) -> Vec<String> {
    let own = study.configuration.iter().flat_map(|configuration| &configuration.axis);
    let all = std::iter::once(axis).chain(own.filter(|own| own.key == axis.key));
    let mut seen = HashSet::new();
    let texts = all.flat_map(|axis| axis.levels.iter().map(|level| axis.text_of(level)));
    texts.filter(|text| seen.insert(text.clone())).collect()
}

/// The first item that is there twice.
fn repeated<T: Eq + Hash>(items: impl Iterator<Item = T>) -> Option<usize> {
    let mut seen = HashSet::new();
    items.enumerate().find_map(|(position, item)| (!seen.insert(item)).then_some(position))
}

fn check_axis(axis: &Axis, levels: &[String]) -> Vec<StudyError> {
    let mut errors = Vec::new();
    if axis.levels.is_empty() {
        errors.push(mistake(Place::Axis(axis.key.clone()), "the axis has no levels. Give at least one"));
    }
    let text = |level: &Value| {
        text_of(level).parse::<f64>().map_or_else(|_| text_of(level), |number| number.to_string())
    };
    if let Some(position) = repeated(axis.levels.iter().map(text)) {
        errors.push(mistake(
            Place::Axis(axis.key.clone()),
            format!("the level {} is given twice", text_of(&axis.levels[position])),
        ));
    }
    if !axis.names.is_empty() && axis.names.len() != axis.levels.len() {
        let (names, levels) = (axis.names.len(), axis.levels.len());
        errors.push(mistake(
            Place::Axis(axis.key.clone()),
            format!(
                "{names} {} for {levels} {}. Give one name for each level",
                if names == 1 { "name" } else { "names" },
                if levels == 1 { "level" } else { "levels" }
            ),
        ));
    }
    if let Some(position) = repeated(axis.names.iter()) {
        errors.push(mistake(
            Place::Axis(axis.key.clone()),
            format!("the name {} is given twice", axis.names[position]),
        ));
    }
    if let Some(reference) =
        axis.reference().filter(|reference| !axis.levels.is_empty() && !levels.contains(reference))
    {
        let all = levels.join(", ");
        errors.push(mistake(
            Place::Axis(axis.key.clone()),
            format!("the reference {reference} is not one of its levels: {all}"),
        ));
    }
    errors.extend(check_levels(axis));
    if axis.levels.iter().any(has_password) || axis.names.iter().any(|name| holds_password(name)) {
        errors.push(mistake(
            Place::Axis(axis.key.clone()),
            "levels are stored and shown, so an address must not contain a password. Give it in PGPASSWORD \
             or MYSQL_PWD",
        ));
    }
    errors
}

/// Levels that the parameter of an axis cannot have. Where there is no such parameter, that is told once.
fn check_levels(axis: &Axis) -> Vec<StudyError> {
    let mut errors: Vec<StudyError> = Vec::new();
    let none = [Value::from(0)];
    let levels = if axis.levels.is_empty() { &none[..] } else { &axis.levels };
    for level in levels {
        let wrong = match axis.key.split_once('.') {
            Some(("workload", key)) => read::wrong_in::<Given>(key, level),
            Some(("target", key)) => read::wrong_in::<Target>(key, level),
            _ => Some(Unfit::Key(no_parameter())),
        };
        match wrong {
            Some(Unfit::Key(problem)) => return vec![mistake(Place::Axis(axis.key.clone()), problem)],
            Some(Unfit::Value(problem)) if !axis.levels.is_empty() => {
                errors.push(mistake(
                    Place::Axis(axis.key.clone()),
                    format!("level {}: {problem}", text_of(level)),
                ));
            }
            Some(Unfit::Value(_)) | None => {}
        }
    }
    errors
}

fn no_parameter() -> String {
    let workloads: Vec<String> = NAMES.iter().map(|name| format!("workload.{name}.")).collect();
    format!("not a parameter that can be varied. Keys start with {} or {TARGET}", workloads.join(", "))
}

/// Levels of one configuration's own.
fn check_own_axis(study: &Study, own: &Axis) -> Vec<StudyError> {
    let whole = study.axis.iter().find(|axis| axis.key == own.key).unwrap_or(own);
    let mut errors = check_axis(own, &levels_anywhere(study, whole));
    if own.reference.is_some() {
        let problem = "`reference` is not allowed here. Set it next to `levels` in [[axis]]. If a configuration does not have the \
        reference level, its first level is the reference";
        errors.push(mistake(Place::Axis(own.key.clone()), problem));
    }
    errors
}

/// Whether an address in it holds a password, `postgres://user:password@host/database`.
fn has_password(level: &Value) -> bool {
    match level {
        Value::String(text) => holds_password(text),
        Value::Array(values) => values.iter().any(has_password),
        Value::Table(table) => table.values().any(has_password),
        _ => false,
    }
}

fn check_configurations(study: &Study) -> Vec<StudyError> {
    let mut errors = Vec::new();
    let mut names = HashSet::new();
    for configuration in &study.configuration {
        let name = &configuration.name;
        if name.trim().is_empty() {
            errors.push(mistake("configuration.name", "empty. Give each configuration a name"));
        } else if !names.insert(name) {
            errors.push(mistake(
                Place::Configuration(name.clone()),
                "two configurations have this name. Give each its own name",
            ));
        }
        for own in &configuration.axis {
            errors.extend(check_own_axis(study, own));
            if !study.axis.iter().any(|axis| axis.key == own.key) {
                let problem = format!(
                    "it has levels of {}, but the study has no such axis. Add the axis as [[axis]]",
                    own.key
                );
                errors.push(mistake(Place::Configuration(name.clone()), problem));
            }
        }
    }
    if let Some(reference) = &study.reference
        && !study.configuration.iter().any(|configuration| configuration.name == *reference)
    {
        let names: Vec<&str> = study.configuration.iter().map(|configuration| &*configuration.name).collect();
        let problem = if names.is_empty() {
            "needs a configuration, but the study has none. Set the reference of an axis next to its levels"
                .to_owned()
        } else {
            format!("unknown configuration `{reference}`. Configurations: {}", names.join(", "))
        };
        errors.push(mistake("reference", problem));
    }
    errors
}

/// Most trials of a study.
const TRIALS_MAX: u128 = 100_000;

fn check_number(study: &Study) -> Option<StudyError> {
    let trials = trials(study);
    let problem = format!(
        "{trials} trials exceed the limit of {TRIALS_MAX}. Use fewer levels, axes or blocks, or list \
         configurations"
    );
    (trials > TRIALS_MAX).then(|| mistake("axis", problem))
}

/// Whether a study has so many trials that they are not even listed.
pub(crate) fn is_too_large(study: &Study) -> bool {
    trials(study) > TRIALS_MAX
}

fn trials(study: &Study) -> u128 {
    let levels = |axis: &Axis| axis.levels.len().max(1) as u128;
    let combinations = study.axis.iter().map(levels).fold(1, u128::saturating_mul);
    let blocks = u128::from(study.blocks.clamp(1, BLOCKS_MAX));
    combinations.saturating_mul(study.configuration.len().max(1) as u128).saturating_mul(blocks)
}

/// What only a comparison heeds.
fn check_compared(study: &Study) -> Vec<StudyError> {
    let given = [
        ("reference", study.reference.is_some()),
        ("metric", study.metric.is_some()),
        ("smallest", study.smallest.is_some()),
        ("noise", study.noise.is_some()),
        ("stop", !study.stop.is_never()),
    ];
    let ignored = given.into_iter().filter(|&(_, is_given)| is_given && !study.compare);
    ignored.map(|(key, _)| mistake(key, "no effect with compare = false. Remove one of them")).collect()
}

/// Metrics that nothing here measures: of the study, of its thresholds, and of published figures.
fn check_metrics(study: &Study, points: &[Point]) -> Vec<StudyError> {
    if points.is_empty() {
        return Vec::new();
    }
    let published = study.published.iter().flat_map(|published| &published.figures);
    let thresholds = study.thresholds.iter().map(|threshold| ("thresholds", threshold.metric.as_str()));
    let named = study.metric.iter().map(|metric| ("metric", metric.as_str()));
    let figures = published.filter_map(|figure| Some(("published", figure.metric.as_deref()?)));
    let all = named.chain(thresholds.filter(|(_, metric)| *metric != GAIN)).chain(figures);
    all.filter_map(|(place, metric)| Some(mistake(place, not_measured(metric, study, points)?))).collect()
}

/// Why a metric is measured by no trial, if so.
pub(crate) fn not_measured(name: &str, study: &Study, points: &[Point]) -> Option<String> {
    let is_measured = |metric: &Metric| {
        points.iter().any(|point| metric.is_of(point.work.any().workload()))
            && (metric.name != "sustained_per_s" || study.search.is_some())
    };
    if Metric::named(name).is_some_and(is_measured) {
        return None;
    }
    let measured: Vec<&str> =
        METRICS.iter().filter(|metric| is_measured(metric)).map(|metric| metric.name).collect();
    Some(format!(
        "this study does not measure `{name}`. It measures {}, and any percentile, for example p99.99_ms",
        measured.join(", ")
    ))
}

/// Published figures of levels and configurations that the study does not have.
fn check_published(study: &Study, points: &[Point]) -> Vec<StudyError> {
    let figures = study.published.iter().flat_map(|published| &published.figures);
    // A study that was narrowed has fewer levels than were published.
    let is_known = |figure: &&record::PublishedFigure| {
        let axes = figure.at.keys().all(|name| study.axis.iter().any(|axis| axis.name() == name));
        let configuration = figure.configuration.as_ref();
        axes && configuration.is_none_or(|name| study.configuration.iter().any(|own| own.name == *name))
    };
    let unknown = figures.filter(|figure| !points.is_empty() && !is_known(figure));
    unknown
        .map(|figure| {
            let of =
                figure.configuration.iter().chain(figure.at.keys()).cloned().collect::<Vec<_>>().join(", ");
            mistake(
                "published",
                format!("a figure is assigned to {of}, but the study has no such configuration or axis"),
            )
        })
        .collect()
}

/// What only one workload heeds, where it is not run.
fn check_of_workload(study: &Study, points: &[Point]) -> Vec<StudyError> {
    let runs =
        |workload| points.is_empty() || points.iter().any(|point| point.work.any().workload() == workload);
    let given = [
        ("latency_tolerance", study.latency_tolerance.is_some(), record::Workload::Disk),
        ("expect", study.expect.is_some(), record::Workload::Disk),
        ("steady", study.steady.is_some(), record::Workload::Disk),
        ("disk_size", study.disk_size.is_some(), record::Workload::Historian),
    ];
    let ignored = given.into_iter().filter(|&(_, is_given, workload)| is_given && !runs(workload));
    ignored
        .map(|(key, _, workload)| mistake(key, format!("no effect without a trial of workload.{workload}")))
        .collect()
}

/// Rules that leave out what comes later in a series need trials in the order of the series.
fn check_order(study: &Study) -> Vec<StudyError> {
    if matches!(study.order, Order::Given | Order::Repeats) {
        return Vec::new();
    }
    let place = match (study.latency_tolerance, &study.steady) {
        (Some(_), _) => "latency_tolerance",
        (None, Some(_)) => "steady",
        (None, None) => return Vec::new(),
    };
    vec![mistake(
        place,
        "this rule skips later trials, so the trials of each block must run in the given order. Set order = \"given\"",
    )]
}

/// Looks that could end nothing.
fn check_stop(study: &Study) -> Vec<StudyError> {
    // Without a comparison at all, that is told.
    if study.stop.is_never() || !study.compare {
        return Vec::new();
    }
    let levels = study.axis.iter().any(|axis| levels_anywhere(study, axis).len() > 1);
    let configurations = study.reference.is_some() && study.configuration.len() > 1;
    let blocks = study.blocks;
    let (first, most) = (*LOOKS.start(), *LOOKS.end());
    let problems = [
        (!levels && !configurations).then(|| {
            "no comparison to decide: no axis has two levels, and no configurations have a reference. \
             Remove it".to_owned()
        }),
        (study.order == Order::Repeats)
            .then(|| "needs another order: \"repeats\" compares nothing".to_owned()),
        (blocks <= first).then(|| {
            format!("this rule can end a study after {first} blocks at the earliest, so with {blocks} it saves nothing. Use {} or \
            more blocks, or remove this rule", first + 1)
        }),
        (blocks > most).then(|| {
            format!("it supports at most {most} blocks, but the study has {blocks}. Give fewer, or remove it")
        }),
        study.steady.is_some().then(|| "stop and steady both end the study. Remove one of them".to_owned()),
        study.latency_tolerance.is_some().then(|| {
            "no effect with latency_tolerance, because skipped trials are never decided. Remove one of them".to_owned()
        }),
    ];
    problems.into_iter().flatten().map(|problem| mistake("stop", problem)).collect()
}

fn check_thresholds(study: &Study) -> Vec<StudyError> {
    let mut errors = Vec::new();
    for (number, threshold) in study.thresholds.iter().enumerate() {
        errors.extend(unknown_level(study, threshold));
        errors.extend(gain_of_reference(study, threshold));
        if threshold.metric == GAIN && !study.compare {
            let problem = format!(
                "`{threshold}` needs a reference, but this study compares nothing. Use a metric instead"
            );
            errors.push(mistake("thresholds", problem));
        } else if threshold.metric == GAIN && study.order == Order::Repeats {
            let problem = format!("`{threshold}` needs another order: \"repeats\" compares nothing");
            errors.push(mistake("thresholds", problem));
        }
        let earlier = study.thresholds[..number].iter();
        errors.extend(earlier.filter(|other| other.contradicts(threshold)).map(|other| {
            mistake(
                "thresholds",
                format!("`{other}` and `{threshold}` contradict each other. No value satisfies both"),
            )
        }));
    }
    errors
}

/// A gain of the reference over itself.
fn gain_of_reference(study: &Study, threshold: &Threshold) -> Option<StudyError> {
    let reference = |name: &str| {
        // A study that was narrowed to one level has nothing to gain and says so at its end.
        let varied = study.axis.iter().filter(|axis| levels_anywhere(study, axis).len() > 1);
        let of_axis = varied.into_iter().find(|axis| axis.name() == name).and_then(Axis::reference);
        of_axis.or_else(|| study.reference.clone().filter(|_| name == "configuration"))
    };
    let all = |(name, level): (&String, &String)| reference(name).as_ref() == Some(level);
    let of_reference = threshold.metric == GAIN && !threshold.at.is_empty() && threshold.at.iter().all(all);
    of_reference.then(|| {
        let problem = format!("`{threshold}` compares the reference with itself. Give another level");
        mistake("thresholds", problem)
    })
}

/// A level that a threshold is of and the study has not.
fn unknown_level(study: &Study, threshold: &Threshold) -> Option<StudyError> {
    threshold.at.iter().find_map(|(name, level)| {
        let levels: Vec<String> = if name == "configuration" {
            study.configuration.iter().map(|configuration| configuration.name.clone()).collect()
        } else {
            let axis = study.axis.iter().find(|axis| axis.name() == name);
            axis.map(|axis| levels_anywhere(study, axis)).unwrap_or_default()
        };
        let problem = match levels.as_slice() {
            [] => format!("`{threshold}`: the study has no axis {name}"),
            levels if !levels.contains(level) => {
                format!("`{threshold}`: {level} is not a level of {name}. Levels: {}", levels.join(", "))
            }
            _ => return None,
        };
        Some(mistake("thresholds", problem))
    })
}

/// Mistakes of the combinations and of what they are run against.
pub(crate) fn points(study: &Study, points: &[Point]) -> Vec<StudyError> {
    let mut errors = target_check::points(study, points);
    errors.extend(check_search(study, points));
    errors.extend(check_prices(study, points));
    errors.extend(check_effect(study, points));
    errors.extend(effect::same_levels(study, points));
    errors.extend(check_metrics(study, points));
    errors.extend(check_published(study, points));
    errors.extend(check_of_workload(study, points));
    // Without points it is not known what is run.
    errors.extend(check_workloads(study, points).into_iter().filter(|_| !points.is_empty()));
    let mut told: Vec<StudyError> = Vec::new();
    for error in errors {
        if !told.contains(&error) {
            told.push(error);
        }
    }
    told
}

/// A search of what has no rate to hold.
fn check_search(study: &Study, points: &[Point]) -> Option<StudyError> {
    let is_other = |point: &Point| point.work.any().searched().is_none();
    let problem = "a search works only with historian trials, but this study also has others. Remove the search or the other trials";
    (study.search.is_some() && points.iter().any(is_other)).then(|| mistake("search", problem))
}

/// Refuses prices that come to nothing, or that nothing is set against.
fn check_prices(study: &Study, points: &[Point]) -> Vec<StudyError> {
    let Some(prices) = &study.prices else { return Vec::new() };
    if !points.is_empty()
        && points.iter().all(|point| point.work.any().workload() != record::Workload::Orders)
    {
        return vec![mistake("prices", "no effect without orders. Remove them")];
    }
    prices.check().into_iter().map(|wrong| mistake("prices", wrong.to_string())).collect()
}

/// Refuses what no trial heeds: it would be ignored in silence.
fn check_effect(study: &Study, points: &[Point]) -> Vec<StudyError> {
    let all: Vec<&Work> = points.iter().map(|point| &point.work).collect();
    let mut told = HashSet::new();
    let firsts = all.iter().filter(|work| told.insert(work.any().workload()));
    let without_effect = firsts.flat_map(|work| {
        let errors = work.any().without_effect(&all, study.search.is_some()).into_iter();
        errors.map(|error| in_parameter(work.any().workload().name(), error.parameter, error.problem))
    });
    without_effect.collect()
}

/// Parameters of a workload that no combination is of.
fn check_workloads(study: &Study, points: &[Point]) -> Vec<StudyError> {
    let is_run = |name: &&str| points.iter().any(|point| point.work.any().workload().name() == *name);
    let problem = "no trial uses this workload. Remove it, or add a configuration with it";
    let ignored = study.workload.names().filter(|name| !is_run(name));
    ignored.map(|name| mistake(format!("workload.{name}"), problem)).collect()
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
