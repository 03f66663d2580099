//! From a study to the parameters of each configuration at each level.

use std::collections::BTreeMap;

use disk::Pattern;
use load::{Pacing, Size, Span};
use toml::Value;
use workload::{historian, orders};

use crate::mistake::{StudyError, StudyErrors, one_error};
use crate::plan::Work;
use crate::settings;
use crate::study::{Axis, Configuration, Study, Varied, Workload};
use crate::target::Target;

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

/// Prefix of the keys of a target's parameters.
pub(crate) const TARGET: &str = "target.";

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
    let work = match kind(study, configuration) {
        Kind::Disk => disk(at::<disk::Settings>(study, configuration, combination)?, study)?,
        Kind::Historian => historian(at::<historian::Settings>(study, configuration, combination)?, study)?,
        Kind::Orders => order(at::<orders::Settings>(study, configuration, combination)?, study)?,
    };
    let level = |(axis, level): &(&Axis, &Value)| (axis.name().to_owned(), (*level).clone());
    let values: BTreeMap<String, Value> = combination.iter().map(level).collect();
    let text = |(axis, level): &(&Axis, &Value)| (axis.name().to_owned(), axis.text_of(level));
    let levels = combination.iter().map(text).collect();
    let name = match (&*configuration.name, &work) {
        ("", Work::Disk { job, .. }) => describe(job),
        ("", Work::Historian { job, .. }) => describe_historian(job, study.search.is_some()),
        ("", Work::Orders { job, .. }) => with_levels(&describe_orders(job, target.store.len()), &levels),
        (name, Work::Historian { .. } | Work::Orders { .. }) => with_levels(name, &levels),
        (name, Work::Disk { .. }) => name.to_owned(),
    };
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
            let one = Target::with_only(key, level).map_err(|problem| one_error(&axis.key, problem))?;
            target = one.over(&target);
        }
    }
    Ok(target)
}

/// `5100/s, flush rows 40`: a sentence on a historian names no more than this.
fn with_levels(name: &str, levels: &BTreeMap<String, String>) -> String {
    let words = levels.iter().map(|(parameter, level)| format!(", {} {level}", parameter.replace('_', " ")));
    std::iter::once(name.to_owned()).chain(words).collect()
}

/// Workloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Disk,
    Historian,
    Orders,
}

/// A configuration is of the workload whose parameters it gives; one that gives none is of the study's.
fn kind(study: &Study, configuration: &Configuration) -> Kind {
    let own = &configuration.workload;
    let gives_none = own.disk == disk::Settings::default();
    let of = |workload: &Workload| match workload {
        Workload { historian: Some(_), .. } => Some(Kind::Historian),
        Workload { orders: Some(_), .. } => Some(Kind::Orders),
        _ => None,
    };
    let varied = |axis: &Axis| match axis.key.split('.').nth(1) {
        Some("historian") => Some(Kind::Historian),
        Some("orders") => Some(Kind::Orders),
        _ => None,
    };
    of(own)
        .or_else(|| of(&study.workload).filter(|_| gives_none))
        .or_else(|| study.axis.iter().find_map(varied).filter(|_| gives_none))
        .unwrap_or(Kind::Disk)
}

/// The parameters at one combination of levels.
fn at<S: Varied>(
    study: &Study,
    configuration: &Configuration,
    combination: &[(&Axis, &Value)],
) -> Result<S, StudyErrors> {
    let error = |place: &str, problem: String| one_error(place, problem);
    let mut settings = settings::overlay(&S::of(&configuration.workload), &S::of(&study.workload))
        .map_err(|problem| error(&configuration.name, problem))?;
    for (axis, level) in combination.iter().filter(|(axis, _)| !axis.key.starts_with(TARGET)) {
        let parameter = axis.parameter::<S>().ok_or_else(|| {
            let problem =
                format!("is no parameter that can be varied here; keys begin with {} or {TARGET}", S::PREFIX);
            error(&axis.key, problem)
        })?;
        settings =
            settings::with(&settings, parameter, level).map_err(|problem| error(&axis.key, problem))?;
    }
    Ok(settings)
}

fn disk(mut settings: disk::Settings, study: &Study) -> Result<Work, StudyErrors> {
    settings.seed.get_or_insert(study.seed);
    let job = disk::Job::of(&settings).map_err(|problems| {
        errors(problems.into_iter().map(|problem| (problem.parameter, problem.problem)))
    })?;
    Ok(Work::Disk { settings: Box::new(settings), job: Box::new(job) })
}

fn historian(mut settings: historian::Settings, study: &Study) -> Result<Work, StudyErrors> {
    settings.seed.get_or_insert(study.seed);
    if let Some(search) = &study.search {
        search.check(&settings)?;
        settings.rate = Some(historian::Rate::PerSecond(search.start_per_s));
    }
    let job = historian::Job::of(&settings).map_err(|problems| {
        errors(problems.into_iter().map(|problem| (problem.parameter, problem.problem)))
    })?;
    check_maintenance(&settings, &job, study.search.is_some())?;
    // Written out, so that a record tells how long its trial was to be.
    settings.warm_up = Some(job.phases.warm_up);
    settings.duration = Some(job.phases.measure);
    Ok(Work::Historian { settings: Box::new(settings), job: Box::new(job) })
}

fn order(mut settings: orders::Settings, study: &Study) -> Result<Work, StudyErrors> {
    settings.seed.get_or_insert(study.seed);
    let job = orders::Job::of(&settings).map_err(|problems| {
        errors(problems.into_iter().map(|problem| (problem.parameter, problem.problem)))
    })?;
    // Written out, so that a record tells how long its trial was to be.
    settings.warmup_time = Some(job.phases.warm_up);
    settings.run_time = Some(job.phases.measure);
    Ok(Work::Orders { settings: Box::new(settings), job: Box::new(job) })
}

/// Refuses what only a purge can heed where none is run: it would be ignored in silence.
fn check_maintenance(
    settings: &historian::Settings,
    job: &historian::Job,
    is_search: bool,
) -> Result<(), StudyErrors> {
    // The steps that confirm are as long as five intervals.
    let runs = job.maintenance.is_some() || (is_search && settings.maintenance_interval.is_some());
    let given = [
        ("maintenance_interval", settings.maintenance_interval.is_some()),
        ("retention", settings.retention.is_some()),
        ("purge_rows", settings.purge_rows.is_some()),
        ("purge", settings.purge.is_some()),
        ("shrink", settings.shrink == Some(true)),
    ];
    let ignored = given.into_iter().filter(|&(_, is_given)| is_given && !runs);
    let problem = "has no effect in a trial that is shorter than the time between two purges: measure longer, or give a \
                   shorter maintenance_interval";
    let errors = errors(ignored.map(|(place, _)| (place, problem.to_owned())));
    if errors.0.is_empty() { Ok(()) } else { Err(errors) }
}

fn errors<'a>(problems: impl Iterator<Item = (&'a str, String)>) -> StudyErrors {
    let error = |(place, problem): (&str, String)| StudyError { place: place.to_owned(), problem };
    StudyErrors(problems.map(error).collect())
}

pub(crate) fn text_of(level: &Value) -> String {
    match level {
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(text_of).collect::<Vec<_>>().join(" + "),
        other => other.to_string(),
    }
}

/// What a test does, in the words of the field: `8KiB random read Q32T1`.
fn describe(job: &disk::Job) -> String {
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

/// What a historian does: `random 5100/s`, `counters of 5000 tags`.
fn describe_historian(job: &historian::Job, is_search: bool) -> String {
    match (&job.source, job.rate_per_s()) {
        _ if is_search => "historian".to_owned(),
        (historian::Source::Counters, _) => format!("counters of {} tags", job.tags),
        (historian::Source::Random(_), Some(rate)) => format!("random {rate}/s"),
        (historian::Source::Random(_), None) => "as fast as the buffer takes them".to_owned(),
        (other, _) => other.name(),
    }
}

/// What a load of orders does: `32 clients, 20ms to think`, `6000 orders/min due`.
fn describe_orders(job: &orders::Job, stores: usize) -> String {
    let stores = if stores > 1 { format!("{stores} x ") } else { String::new() };
    let clients =
        if job.n_threads == 1 { "1 client".to_owned() } else { format!("{} clients", job.n_threads) };
    match (job.cpu_target, job.pacing) {
        (Some(share), _) => format!("{stores}clients for {} of the CPU", orders::CpuTarget(share)),
        (None, Pacing::Closed { think_time }) if think_time == Span::ZERO => format!("{stores}{clients}"),
        (None, Pacing::Closed { think_time }) => format!("{stores}{clients}, {think_time} to think"),
        (None, Pacing::Fixed { rate_per_s } | Pacing::Poisson { rate_per_s }) => {
            format!("{} orders/min due", rate_per_s * 60.0)
        }
    }
}
