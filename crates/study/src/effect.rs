//! Axes that vary nothing, and keys of the command line that something else wins over: they would be ignored in silence.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::axis::{Axis, TARGET};
use crate::expand::{self, Point};
use crate::mistake::{Place, StudyError, mistake};
use crate::study::Study;
use crate::target::key_now;

/// Axes with levels that come to the same trials, whatever the levels of the others.
pub(crate) fn same_levels(study: &Study, points: &[Point]) -> Vec<StudyError> {
    let prints: Vec<u64> = points.iter().map(print).collect();
    study.axis.iter().filter_map(|axis| of_axis(study, axis, points, &prints)).collect()
}

/// Axes of one level that come to the same trials as none would. A study that was narrowed has such axes, a file has no use for
/// one; `is_narrowed` tells them by their keys.
pub(crate) fn single_levels(study: &Study, is_narrowed: &dyn Fn(&str) -> bool) -> Vec<StudyError> {
    let own = |key: &str| study.configuration.iter().any(|of| of.axis.iter().any(|axis| axis.key == key));
    let single = |axis: &Axis| axis.levels.len() == 1 && !is_narrowed(&axis.key) && !own(&axis.key);
    let all = study.axis.iter().enumerate().filter(|(_, axis)| single(axis));
    all.filter_map(|(position, axis)| {
        let mut without = study.clone();
        without.axis.remove(position);
        let problem = format!(
            "its only level {} is the same as without the axis{}. Add levels, or remove the axis",
            axis.text_of(&axis.levels[0]),
            since(study, axis)
        );
        is_same(study, &without).then(|| mistake(Place::Axis(axis.key.clone()), problem))
    })
    .collect()
}

/// Whether two studies come to the same combinations.
fn is_same(one: &Study, other: &Study) -> bool {
    let prints =
        |study| expand::points(study).ok().map(|points| points.iter().map(print).collect::<Vec<_>>());
    prints(one).is_some_and(|own| Some(own) == prints(other))
}

/// What a trial is, without its name and however its parameters were given.
fn print(point: &Point) -> u64 {
    let mut hasher = DefaultHasher::new();
    format!("{:?} {}", point.target, point.work.any().comes_to()).hash(&mut hasher);
    hasher.finish()
}

fn of_axis(study: &Study, axis: &Axis, points: &[Point], prints: &[u64]) -> Option<StudyError> {
    // Points are listed in the same order at each level: what a level comes to is the list of its trials.
    let mut trials: HashMap<&str, Vec<(&str, u64)>> = HashMap::new();
    for (point, print) in points.iter().zip(prints) {
        let level = point.levels.get(axis.name())?;
        trials.entry(level).or_default().push((&point.configuration, *print));
    }
    let mut first: HashMap<&[(&str, u64)], &str> = HashMap::new();
    let levels = axis.levels.iter().map(|level| axis.text_of(level));
    let known = levels.filter_map(|level| trials.get_key_value(level.as_str()));
    let (earlier, level) =
        known.into_iter().find_map(|(level, trials)| Some((first.insert(trials, level)?, *level)))?;
    let since = since(study, axis);
    let problem = format!("levels {earlier} and {level} give the same trials{since}. Remove one of them");
    Some(mistake(Place::Axis(axis.key.clone()), problem))
}

/// `, since …`: the axis that gives the same or a part of it, if there is one.
fn since(study: &Study, axis: &Axis) -> String {
    let other = study.axis.iter().find(|other| other.key != axis.key && is_within(&other.key, &axis.key));
    other.map_or_else(String::new, |other| {
        format!(", because the axis {} sets the same parameter, or a part of this one", other.key)
    })
}

/// Whether one of two keys is a part of the other, in whichever spelling.
fn is_within(one: &str, other: &str) -> bool {
    let now = |key: &str| {
        let newer = key.strip_prefix(TARGET).and_then(key_now);
        newer.map_or_else(|| format!("{key}."), |now| format!("{TARGET}{now}."))
    };
    let (one, other) = (now(one), now(other));
    one.starts_with(&other) || other.starts_with(&one)
}

/// Why a value of the command line changes nothing, where the study is the same without it.
pub(crate) fn without_effect(study: &Study, without: &Study, key: &str) -> Option<String> {
    if study.workload == without.workload && study.target == without.target {
        // It has the value that the file gives it.
        return None;
    }
    let points = |study: &Study| expand::points(study).ok();
    let (with, without) = (points(study)?, points(without)?);
    if with != without {
        return None;
    }
    let axis = study.axis.iter().find(|axis| is_within(&axis.key, key));
    Some(match axis {
        Some(axis) => format!(
            "no effect: the axis {} sets this parameter at each level. Set the axis instead, or change the file",
            axis.key
        ),
        None => "no effect: each configuration sets its own value. Change the values in the file".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use crate::{Plan, Study, StudyFile};

    fn told(text: &str) -> String {
        let text = format!("blocks = 1\n{text}");
        Plan::of(&Study::from_toml(&text).unwrap())
            .map_or_else(|errors| errors.to_string(), |_| String::new())
    }

    fn of_file(text: &str, set: &[(&str, toml::Value)]) -> Vec<String> {
        let set = set.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
        let file = StudyFile { name: "x", text, set, ..StudyFile::default() };
        file.study()
            .map_or_else(|mistakes| mistakes.iter().map(ToString::to_string).collect(), |_| Vec::new())
    }

    /// Each combination was measured twice, and set against itself.
    #[test]
    fn levels_that_another_axis_wins_over_are_told() {
        let axes = |first: &str, second: &str| {
            told(&format!("workload.historian.rate = 1\naxis = [{{ {first} }}, {{ {second} }}]"))
        };
        let (files, other) = ("levels = [\"sqlite:/a\", \"sqlite:/b\"]", "levels = [\"sqlite:/c\"]");
        assert_eq!(
            axes(
                &format!("key = \"target.database\", {files}"),
                &format!("key = \"target.database.at\", {other}")
            ),
            "target.database: levels sqlite:/a and sqlite:/b give the same trials, because the axis \
             target.database.at sets the same parameter, or a part of this one. Remove one of them"
        );
        let older = axes(
            &format!("key = \"target.url\", {files}"),
            &format!("key = \"target.database.at\", {other}"),
        );
        assert!(older.contains("because the axis target.database.at"), "{older}");
        let names = "levels = [\"a\", \"b\"]";
        let servers = "levels = [\"postgres://me@h1/x\", \"postgres://me@h2/x\"]";
        let both = axes(
            &format!("key = \"target.database\", {servers}"),
            &format!("key = \"target.database.name\", {names}"),
        );
        assert_eq!(both, "", "a name on each of two servers");
    }

    #[test]
    fn two_spellings_of_a_level_are_told() {
        let sizes =
            "axis = [{ key = \"workload.disk.block_size\", levels = [\"4KiB\", \"8KiB\", \"4096B\"] }]";
        assert_eq!(
            told(&format!("{sizes}\ntarget.paths = [\"/\"]")),
            "workload.disk.block_size: levels 4KiB and 4096B give the same trials. Remove one of them"
        );
    }

    #[test]
    fn an_axis_of_the_one_value_that_holds_anyway_is_told_where_a_file_has_it() {
        let file = |level: u32| {
            format!(
                "blocks = 1\ntarget.paths = [\"/\"]\nworkload.disk.threads = 1\n[[axis]]\nkey = \
                 \"workload.disk.outstanding\"\nlevels = [{level}]\n"
            )
        };
        assert_eq!(
            of_file(&file(1), &[]),
            [
                "line 5: workload.disk.outstanding: its only level 1 is the same as without the axis. Add levels, or remove the axis"
            ]
        );
        assert!(of_file(&file(2), &[]).is_empty());
        assert!(of_file(&file(2), &[("workload.disk.outstanding", 1.into())]).is_empty(), "it was narrowed");
    }

    #[test]
    fn what_is_set_and_not_heeded_is_told() {
        let file = "blocks = 1\nworkload.historian.rate = 1\ntarget.database = \"sqlite:/a\"\nquick_look.blocks = 1\n\
                    [[axis]]\nkey = \"target.database\"\nlevels = [\"sqlite:/b\", \"sqlite:/c\"]\n";
        let told = of_file(file, &[("target.database.at", "sqlite:/x".into())]);
        assert_eq!(
            told,
            [
                "--set target.database.at: no effect: the axis target.database sets this parameter at each level. Set the axis instead, or change \
              the file"
            ]
        );
        // It would be said of a database that no trial uses.
        let told = of_file(file, &[("target.database.keep", true.into())]);
        assert!(told[0].starts_with("--set target.database.keep: no effect: the axis"), "{told:?}");
        let look = of_file(file, &[("quick_look.blocks", 3.into())]);
        assert!(look[0].starts_with("--set quick_look.blocks: no effect: --set overrides"), "{look:?}");
        for (key, value) in [
            ("target.database", toml::Value::from("sqlite:/c")),
            ("workload.historian.rate", 1.into()),
            ("workload.historian.writers", 1.into()),
            ("blocks", 1.into()),
        ] {
            assert_eq!(of_file(file, &[(key, value)]), [""; 0], "{key}");
        }
        let each = "blocks = 1\ntarget.database = \"sqlite:/a\"\nworkload.historian.rate = 1\n[[configuration]]\nname = \"a\"\n\
                    target.database = \"sqlite:/b\"\n[[configuration]]\nname = \"b\"\ntarget.database = \"sqlite:/c\"\n";
        let told = of_file(each, &[("target.database.at", "sqlite:/x".into())]);
        assert!(told[0].contains("each configuration sets its own value"), "{told:?}");
    }
}
