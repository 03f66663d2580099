//! From a study to the parameters of each configuration at each level.

use std::collections::BTreeMap;

use disk::{Job, Pattern, Settings};
use load::Size;
use toml::Value;

use crate::settings;
use crate::study::{Axis, Configuration, Study, StudyError, StudyErrors, Workload};

/// One configuration at one combination of levels.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Point {
    pub(crate) name: String,
    pub(crate) levels: BTreeMap<String, String>,
    pub(crate) values: BTreeMap<String, Value>,
    pub(crate) settings: Settings,
    pub(crate) job: Job,
}

/// All points of a study in the order given; the last axis runs fastest.
pub(crate) fn points(study: &Study) -> Result<Vec<Point>, StudyErrors> {
    let unnamed = [Configuration { name: String::new(), workload: Workload::default(), axis: Vec::new() }];
    let configurations = if study.configuration.is_empty() { &unnamed[..] } else { &study.configuration };
    let mut points = Vec::new();
    let mut errors = Vec::new();
    for configuration in configurations {
        for levels in combinations(&axes_of(study, configuration)) {
            match point(study, configuration, &levels) {
                Ok(point) => points.push(point),
                Err(StudyErrors(more)) => errors.extend(more),
            }
        }
    }
    errors.dedup();
    if errors.is_empty() && points.is_empty() {
        errors.push(StudyError {
            place: "axis".to_owned(),
            problem: "an axis has no levels; give at least one".to_owned(),
        });
    }
    if errors.is_empty() { Ok(points) } else { Err(StudyErrors(errors)) }
}

/// The study's axes, with levels of the configuration's own where it has some.
fn axes_of<'a>(study: &'a Study, configuration: &'a Configuration) -> Vec<&'a Axis> {
    let own = |axis: &'a Axis| configuration.axis.iter().find(|own| own.key == axis.key).unwrap_or(axis);
    study.axis.iter().map(own).collect()
}

fn combinations<'a>(axes: &[&'a Axis]) -> Vec<Vec<(&'a Axis, &'a Value)>> {
    let Some((first, rest)) = axes.split_first() else { return vec![Vec::new()] };
    let rest = combinations(rest);
    let mut all = Vec::with_capacity(first.levels.len() * rest.len());
    for level in &first.levels {
        for others in &rest {
            let mut combination = vec![(*first, level)];
            combination.extend_from_slice(others);
            all.push(combination);
        }
    }
    all
}

fn point(
    study: &Study,
    configuration: &Configuration,
    combination: &[(&Axis, &Value)],
) -> Result<Point, StudyErrors> {
    let error =
        |place: &str, problem: String| StudyErrors(vec![StudyError { place: place.to_owned(), problem }]);
    let mut settings = settings::overlay(&configuration.workload.disk, &study.workload.disk)
        .map_err(|problem| error(&configuration.name, problem))?;
    let mut levels = BTreeMap::new();
    let mut values = BTreeMap::new();
    for (axis, level) in combination {
        let parameter = axis.parameter().ok_or_else(|| {
            error(&axis.key, "is no parameter that can be varied; keys begin with workload.disk.".to_owned())
        })?;
        settings =
            settings::with(&settings, parameter, level).map_err(|problem| error(&axis.key, problem))?;
        levels.insert(parameter.to_owned(), text_of(level));
        values.insert(parameter.to_owned(), (*level).clone());
    }
    settings.seed.get_or_insert(study.seed);
    let job = Job::of(&settings).map_err(|problems| {
        let errors = problems
            .into_iter()
            .map(|problem| StudyError { place: problem.parameter.to_owned(), problem: problem.problem });
        StudyErrors(errors.collect())
    })?;
    let name = if configuration.name.is_empty() { describe(&job) } else { configuration.name.clone() };
    Ok(Point { name, levels, values, settings, job })
}

fn text_of(level: &Value) -> String {
    level.as_str().map_or_else(|| level.to_string(), str::to_owned)
}

/// What a test does, in the words of the field: `8KiB random read Q32T1`.
fn describe(job: &Job) -> String {
    let direction = match job.read_share {
        1.0 => "read".to_owned(),
        0.0 => "write".to_owned(),
        share => format!("{:.0}/{:.0} read/write", share * 100.0, (1.0 - share) * 100.0),
    };
    let pattern = match job.pattern {
        Pattern::Sequential => "sequential".to_owned(),
        Pattern::Random => "random".to_owned(),
        other => other.to_string(),
    };
    let rate = job.pacing.rate_per_s().map_or_else(String::new, |rate| format!(" at {rate}/s"));
    format!("{} {pattern} {direction} Q{}T{}{rate}", Size(job.block_bytes), job.outstanding, job.threads)
}
