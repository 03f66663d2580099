//! From a study to the parameters of each configuration at each level.

use std::collections::BTreeMap;

use toml::Value;

use crate::axis::{Axis, TARGET};
use crate::bounds;
use crate::mistake::{Place, StudyErrors, in_parameter, one_error};
use crate::settings;
use crate::study::{Configuration, Study};
use crate::target::Target;
use crate::work::{self, Asked, Given, Known, NAMES, Visitor, Work};

/// One configuration at one combination of levels.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Point {
    pub(crate) name: String,
    /// Named configuration; empty if there are none.
    pub(crate) configuration: String,
    pub(crate) levels: BTreeMap<String, String>,
    pub(crate) values: BTreeMap<String, Value>,
    pub(crate) target: Target,
    pub(crate) work: Work,
}

/// All points of a study in the order given; the last axis runs fastest. None where an axis has no levels.
pub(crate) fn points(study: &Study) -> Result<Vec<Point>, StudyErrors> {
    let unnamed = [Configuration::default()];
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
    let target = target(study, configuration, combination)?;
    let wanted = Wanted { study, configuration, combination };
    let workload = workload_of(study, configuration);
    let Some(work) = work::with(workload, wanted) else { unreachable!("{workload} is one of the list") };
    let work = work?;
    let level = |(axis, level): &(&Axis, &Value)| (axis.name().to_owned(), (*level).clone());
    let values: BTreeMap<String, Value> = combination.iter().map(level).collect();
    let text = |(axis, level): &(&Axis, &Value)| (axis.name().to_owned(), axis.text_of(level));
    let levels = combination.iter().map(text).collect();
    let is_named = !configuration.name.is_empty();
    let mut name = match study.search {
        _ if is_named => configuration.name.clone(),
        Some(_) => workload.to_owned(),
        None => work.any().describe(target.wanted(work.any().needs()).len()),
    };
    if work.any().tells_levels(is_named) {
        name = with_levels(&name, &levels);
    }
    Ok(Point { name, configuration: configuration.name.clone(), levels, values, target, work })
}

/// The target at one combination of levels.
fn target(
    study: &Study,
    configuration: &Configuration,
    combination: &[(&Axis, &Value)],
) -> Result<Target, StudyErrors> {
    let mut target = configuration.target.over(&study.target);
    for (axis, level) in combination {
        if let Some(key) = axis.key.strip_prefix(TARGET) {
            let one = Target::with_only(key, level)
                .map_err(|problem| one_error(Place::Axis(axis.key.clone()), problem))?;
            target = one.over(&target);
        }
    }
    match bounds::too_many_databases(&target) {
        Some(error) => Err(StudyErrors(vec![error])),
        None => Ok(target),
    }
}

/// `5100/s, flush rows 40`: a sentence on a historian names no more than this.
fn with_levels(name: &str, levels: &BTreeMap<String, String>) -> String {
    let words = levels.iter().map(|(parameter, level)| format!(", {} {level}", parameter.replace('_', " ")));
    std::iter::once(name.to_owned()).chain(words).collect()
}

/// A configuration is of the workload whose parameters it gives; one that gives none is of the study's, or of that which an axis
/// varies. Where several are given, disks give way.
fn workload_of(study: &Study, configuration: &Configuration) -> &'static str {
    let gives = |workload: &Given, name: &str| workload.names().any(|own| own == name);
    let gives_none = configuration.workload.names().next().is_none();
    let varies = |name: &str| study.axis.iter().any(|axis| axis.workload() == Some(name));
    let is_asked = |name: &str| match gives_none {
        true => gives(&study.workload, name) || varies(name),
        false => gives(&configuration.workload, name),
    };
    NAMES.iter().rev().find(|name| is_asked(name)).unwrap_or(&NAMES[0])
}

/// What is asked of a workload by one configuration at one combination of levels.
struct Wanted<'a> {
    study: &'a Study,
    configuration: &'a Configuration,
    combination: &'a [(&'a Axis, &'a Value)],
}

impl Visitor for Wanted<'_> {
    type Of = Result<Work, StudyErrors>;

    fn of<W: Known>(self) -> Self::Of {
        let mut settings: W = at(self.study, self.configuration, self.combination)?;
        if settings.seed().is_some() && !settings.draws() {
            let problem = "no effect here, because nothing is random. Remove it".to_owned();
            return Err(StudyErrors(vec![in_parameter(W::NAME, "seed", problem)]));
        }
        settings.seed().get_or_insert(self.study.seed);
        if let Some(search) = &self.study.search {
            search.check(&settings)?;
            settings = settings.at_rate(search.start_per_s, None);
        }
        let job = settings.job().map_err(|problems| {
            let errors =
                problems.into_iter().map(|wrong| in_parameter(W::NAME, wrong.parameter, wrong.problem));
            StudyErrors(errors.collect())
        })?;
        // Written out, so that a record tells how long its trial was to be.
        settings.settle(&job);
        Ok(W::work(Asked { settings, job }))
    }
}

/// The parameters at one combination of levels.
fn at<W: Known>(
    study: &Study,
    configuration: &Configuration,
    combination: &[(&Axis, &Value)],
) -> Result<W, StudyErrors> {
    let error = |axis: &Axis, problem: String| one_error(Place::Axis(axis.key.clone()), problem);
    let mut settings =
        settings::overlay(W::given(&configuration.workload).as_ref(), W::given(&study.workload).as_ref())
            .map_err(|problem| one_error(Place::Configuration(configuration.name.clone()), problem))?;
    for (axis, level) in combination.iter().filter(|(axis, _)| !axis.key.starts_with(TARGET)) {
        let parameter = axis.parameter::<W>().ok_or_else(|| {
            let problem = format!(
                "not a parameter that can be varied here. Keys start with workload.{}. or {TARGET}",
                W::NAME
            );
            error(axis, problem)
        })?;
        settings = settings::with(&settings, parameter, level).map_err(|problem| error(axis, problem))?;
    }
    Ok(settings)
}
