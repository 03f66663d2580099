//! What did not go as planned: errors, trials that failed or were left out, a damaged directory.

use record::State;

use super::{Level, Verdict};
use crate::format;
use crate::lab;
use crate::report::Report;
use crate::trial::Trial;

pub(crate) fn all(report: &Report) -> Vec<Verdict> {
    let mut verdicts: Vec<Verdict> = unfinished(report);
    verdicts.extend(report.trials.iter().filter_map(errors));
    verdicts.extend(report.trials.iter().filter_map(ended_early));
    verdicts.extend(skipped(report));
    verdicts.extend(remarks(report));
    verdicts.extend(quick_look(report));
    verdicts.extend(lab::verdict(report));
    verdicts.extend(report.damage.iter().map(|damage| {
        Verdict::new(Level::Warning, "damage", format!("the results directory is damaged: {damage}"))
    }));
    if report.environment.is_none() {
        let sentence = "the machine was not recorded".to_owned();
        verdicts.push(Verdict::new(Level::Note, "environment", sentence));
    }
    verdicts
}

/// What of the whole was not measured; nothing of a run that came to its end.
pub(crate) fn unfinished(report: &Report) -> Vec<Verdict> {
    study(report).into_iter().chain(not_begun(report)).collect()
}

fn study(report: &Report) -> Option<Verdict> {
    let reason = report.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    let (level, sentence) = match report.state {
        State::Failed => (Level::Failure, format!("the run failed{reason}")),
        State::Aborted => (Level::Warning, format!("the run was stopped before its end{reason}")),
        State::Invalid => (Level::Warning, format!("the run is invalid{reason}")),
        State::Planned | State::Running => {
            (Level::Warning, "not finished: prony ended during the run, or it still runs".to_owned())
        }
        State::Complete | State::Skipped => return None,
    };
    Some(Verdict::new(level, "study", sentence))
}

/// A search says so in its own sentence.
fn quick_look(report: &Report) -> Option<Verdict> {
    let sentence = "times were shortened, so the figures are indicative only";
    (report.quick && report.searches.is_empty()).then(|| {
        let verdict = Verdict::new(Level::Warning, "quick", sentence.to_owned());
        verdict.with_action("run it again without the quick mode")
    })
}

fn not_begun(report: &Report) -> Option<Verdict> {
    let planned = report.trials.len() + report.not_begun.len();
    let trials = report.not_begun.clone();
    (!trials.is_empty()).then(|| {
        let count = trials.len();
        let sentence = format!("{count} of {planned} planned trials did not start");
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

/// Operations that failed. Of a disk they leave no figure to be trusted; those of an outage of a database are told with it,
/// and no row is lost by them.
fn errors(trial: &Trial) -> Option<Verdict> {
    let kinds = errors_by_kind(trial);
    let outage = !trial.shown().outages(trial).is_empty();
    let (level, rule, remedy) = match trial.is_void() {
        true => (Level::Failure, "io_errors", "do not use figures of this trial"),
        false => (Level::Warning, "operation_errors", "see the log of the server"),
    };
    (!kinds.is_empty() && !outage).then(|| {
        let sentence = format!("{} failed", kinds.join(", "));
        let verdict = Verdict::new(level, rule, sentence).about(&trial.name).with_action(remedy);
        verdict.of_trials(vec![trial.number])
    })
}

/// Rule of a trial that is not complete.
pub(crate) const ENDED_EARLY: &str = "ended_early";

fn ended_early(trial: &Trial) -> Option<Verdict> {
    let reason = trial.reason.clone().unwrap_or_else(|| "no reason was recorded".to_owned());
    let name = match trial.search {
        Some(step) => {
            let unit = trial.shown().words().unit;
            format!("{} at {} {}", trial.name, format::plain(unit.of(step.rate_per_s())), unit.short)
        }
        None => trial.name.clone(),
    };
    let kept = if trial.figures.is_empty() { "nothing was measured" } else { "earlier figures are shown" };
    let (level, fact, effect) = match trial.state {
        State::Failed => (Level::Failure, format!("failed: {reason}"), kept.to_owned()),
        State::Aborted => (Level::Warning, format!("stopped after {}", after(trial)), kept.to_owned()),
        State::Invalid => {
            let figures = rate_in_words(trial).map_or_else(
                || "its figures do not count".to_owned(),
                |rate| format!("its figure of {rate} does not count"),
            );
            (Level::Warning, format!("invalid: {reason}"), figures)
        }
        State::Running => {
            (Level::Warning, "not finished: prony ended during the trial".to_owned(), kept.to_owned())
        }
        State::Planned | State::Complete | State::Skipped => return None,
    };
    let remedy = matches!(trial.state, State::Invalid).then(|| "measure it again".to_owned());
    let verdict = Verdict::new(level, ENDED_EARLY, fact).about(name).with_effect(effect);
    Some(Verdict { action: remedy, trials: vec![trial.number], ..verdict })
}

/// What it came to, as a trial is remembered by; none where nothing was measured.
pub(crate) fn rate_in_words(trial: &Trial) -> Option<String> {
    trial.main()?.per_s?;
    trial.shown().rate(trial)
}

fn after(trial: &Trial) -> String {
    format::duration(trial.measured_s)
}

/// Skipped trials, those with the same reason in one sentence. A series that says itself where it stopped is
/// not repeated here.
fn skipped(report: &Report) -> Vec<Verdict> {
    let skipped = report
        .trials
        .iter()
        .filter(|trial| trial.state == State::Skipped && !trial.shown().tells_skipped(report, trial));
    let unexplained = || "no reason was recorded".to_owned();
    let groups = grouped(skipped.map(|trial| (trial.reason.clone().unwrap_or_else(unexplained), trial)));
    groups
        .into_iter()
        .map(|(reason, trials)| {
            let subject = match trials.as_slice() {
                [only] => only.name.clone(),
                several => format!("{} trials", several.len()),
            };
            let numbers: Vec<u32> = trials.iter().map(|trial| trial.number).collect();
            Verdict::new(Level::Note, "skipped", reason).about(subject).of_trials(numbers)
        })
        .collect()
}

fn remarks(report: &Report) -> Vec<Verdict> {
    let remarks =
        report.trials.iter().flat_map(|trial| trial.notes.iter().map(move |note| (note.clone(), trial)));
    notes("engine_note", grouped(remarks))
}

/// One note for each sentence, with the trials that it is about.
pub(crate) fn notes(rule: &str, groups: Vec<(String, Vec<&Trial>)>) -> Vec<Verdict> {
    groups
        .into_iter()
        .map(|(sentence, trials)| Verdict {
            trials: trials.iter().map(|trial| trial.number).collect(),
            ..Verdict::new(Level::Note, rule, sentence)
        })
        .collect()
}

/// Trials by their sentence, in the order in which the sentences first appear.
pub(crate) fn grouped<'a>(
    sentences: impl Iterator<Item = (String, &'a Trial)>,
) -> Vec<(String, Vec<&'a Trial>)> {
    let mut groups: Vec<(String, Vec<&Trial>)> = Vec::new();
    for (sentence, trial) in sentences {
        match groups.iter_mut().find(|(other, _)| *other == sentence) {
            Some((_, trials)) => trials.push(trial),
            None => groups.push((sentence, vec![trial])),
        }
    }
    groups
}
