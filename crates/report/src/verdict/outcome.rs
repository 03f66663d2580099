//! What did not go as planned: errors, trials that failed or were left out, a damaged directory.

use record::State;

use super::{Level, Verdict};
use crate::format;
use crate::report::Report;
use crate::trial::Trial;

pub(crate) fn all(report: &Report) -> Vec<Verdict> {
    let mut verdicts: Vec<Verdict> = study(report).into_iter().chain(not_begun(report)).collect();
    verdicts.extend(report.disks().filter_map(io_errors));
    verdicts.extend(report.historians().chain(report.order_stores()).filter_map(operation_errors));
    verdicts.extend(report.trials.iter().filter_map(ended_early));
    verdicts.extend(skipped(report));
    verdicts.extend(fallbacks(report));
    verdicts.extend(remarks(report));
    verdicts.extend(quick_look(report));
    verdicts.extend(report.damage.iter().map(|damage| {
        Verdict::new(Level::Warning, "damage", format!("The results directory is damaged: {damage}"))
    }));
    if report.environment.is_none() {
        let sentence = "The machine that this was measured on was not recorded".to_owned();
        verdicts.push(Verdict::new(Level::Note, "environment", sentence));
    }
    verdicts
}

fn study(report: &Report) -> Option<Verdict> {
    let reason = report.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    let (level, sentence) = match report.state {
        State::Failed => (Level::Failure, format!("The study failed{reason}")),
        State::Aborted => (Level::Warning, format!("The study was stopped before its end{reason}")),
        State::Invalid => (Level::Warning, format!("The study is invalid{reason}")),
        State::Planned | State::Running => (
            Level::Warning,
            "The study was not finished: the program ended while it ran, or it still runs".to_owned(),
        ),
        State::Complete | State::Skipped => return None,
    };
    Some(Verdict::new(level, "study", sentence))
}

/// A search says so in its own sentence.
fn quick_look(report: &Report) -> Option<Verdict> {
    let sentence = "A quick look: times were shortened, so these figures are no measurement to rely on; leave out --quick";
    (report.quick && report.searches.is_empty())
        .then(|| Verdict::new(Level::Warning, "quick", sentence.to_owned()))
}

fn not_begun(report: &Report) -> Option<Verdict> {
    let planned = report.trials.len() + report.not_begun.len();
    let trials = report.not_begun.clone();
    (!trials.is_empty()).then(|| {
        let count = trials.len();
        let sentence = format!("{count} of {planned} planned trials were not begun");
        Verdict { trials, ..Verdict::new(Level::Warning, "not_begun", sentence) }
    })
}

/// `3 of 199,000 operations (read)`.
fn errors_by_kind(trial: &Trial) -> Vec<String> {
    trial
        .figures
        .iter()
        .filter(|figures| figures.errors > 0 && figures.kind != crate::trial::ALL)
        .map(|figures| {
            let done = figures.operations + figures.errors;
            format!(
                "{} of {} operations ({})",
                format::grouped(figures.errors),
                format::grouped(done),
                figures.kind
            )
        })
        .collect()
}

fn io_errors(trial: &Trial) -> Option<Verdict> {
    let kinds = errors_by_kind(trial);
    trial.has_io_errors().then(|| Verdict {
        trials: vec![trial.number],
        ..Verdict::new(
            Level::Failure,
            "io_errors",
            format!(
                "{}: {} ended with an error; trust no figure of this trial",
                trial.name,
                kinds.join(", ")
            ),
        )
    })
}

/// Errors of a database. Those of an outage are told with it, and no row is lost by them.
fn operation_errors(trial: &Trial) -> Option<Verdict> {
    let targets = trial.orders.iter().flat_map(|orders| &orders.targets);
    let outages = trial.historian.as_ref().is_some_and(|historian| !historian.outages.is_empty())
        || targets.into_iter().any(|target| !target.outages.is_empty());
    let kinds = errors_by_kind(trial);
    (!outages && !kinds.is_empty()).then(|| {
        let sentence =
            format!("{}: {} ended with an error; see the log of the server", trial.name, kinds.join(", "));
        Verdict { trials: vec![trial.number], ..Verdict::new(Level::Warning, "operation_errors", sentence) }
    })
}

fn ended_early(trial: &Trial) -> Option<Verdict> {
    let reason = trial.reason.clone().unwrap_or_else(|| "no reason was recorded".to_owned());
    let name = match trial.search {
        Some(step) => format!("{} at {} records/s", trial.name, format::plain(step.rate_per_s())),
        None => trial.name.clone(),
    };
    let kept =
        if trial.figures.is_empty() { "nothing was measured" } else { "what was measured before is shown" };
    let (level, sentence) = match trial.state {
        State::Failed => (Level::Failure, format!("{name} failed: {reason}; {kept}")),
        State::Aborted => (Level::Warning, format!("{name} was stopped after {}; {kept}", after(trial))),
        State::Invalid => (Level::Warning, format!("{name} is invalid: {reason}; its figures do not count")),
        State::Running => {
            (Level::Warning, format!("{name} was not finished: the program ended while it ran; {kept}"))
        }
        State::Planned | State::Complete | State::Skipped => return None,
    };
    Some(Verdict { trials: vec![trial.number], ..Verdict::new(level, "ended_early", sentence) })
}

fn after(trial: &Trial) -> String {
    format!("{} of measuring", format::duration(trial.measured_s))
}

/// Skipped trials, those with the same reason in one sentence. A series that says itself where it stopped is
/// not repeated here.
fn skipped(report: &Report) -> Vec<Verdict> {
    let told = |trial: &Trial| {
        report.sweeps.iter().any(|sweep| sweep.passed_at.is_some() && sweep.trials.contains(&trial.number))
    };
    let skipped = report.trials.iter().filter(|trial| trial.state == State::Skipped && !told(trial));
    let unexplained = || "no reason was recorded".to_owned();
    let groups = grouped(skipped.map(|trial| (trial.reason.clone().unwrap_or_else(unexplained), trial)));
    groups
        .into_iter()
        .map(|(reason, trials)| {
            let what = match trials.as_slice() {
                [only] => format!("{} was left out", only.name),
                several => format!("{} trials were left out", several.len()),
            };
            Verdict {
                trials: trials.iter().map(|trial| trial.number).collect(),
                ..Verdict::new(Level::Note, "skipped", format!("{what}: {reason}"))
            }
        })
        .collect()
}

fn fallbacks(report: &Report) -> Vec<Verdict> {
    let reasons = report.trials.iter().filter_map(|trial| {
        let disk = trial.disk()?;
        let reason = disk.engine_fallback.as_ref()?;
        Some((format!("The engine {} ran instead of the one asked for: {reason}", disk.engine), trial))
    });
    notes("engine", grouped(reasons))
}

fn remarks(report: &Report) -> Vec<Verdict> {
    let remarks =
        report.trials.iter().flat_map(|trial| trial.notes.iter().map(move |note| (note.clone(), trial)));
    notes("engine_note", grouped(remarks))
}

fn notes(rule: &str, groups: Vec<(String, Vec<&Trial>)>) -> Vec<Verdict> {
    groups
        .into_iter()
        .map(|(sentence, trials)| Verdict {
            trials: trials.iter().map(|trial| trial.number).collect(),
            ..Verdict::new(Level::Note, rule, sentence)
        })
        .collect()
}

/// Trials by their sentence, in the order in which the sentences first appear.
fn grouped<'a>(sentences: impl Iterator<Item = (String, &'a Trial)>) -> Vec<(String, Vec<&'a Trial>)> {
    let mut groups: Vec<(String, Vec<&Trial>)> = Vec::new();
    for (sentence, trial) in sentences {
        match groups.iter_mut().find(|(other, _)| *other == sentence) {
            Some((_, trials)) => trials.push(trial),
            None => groups.push((sentence, vec![trial])),
        }
    }
    groups
}
