//! What faults came to: a sentence for each that a configuration has, over all of its repeats; and what is wrong with how they were done.

use serde::Serialize;
use stats::{MedianInterval, chance_at_most, median_interval};

use super::Fault;
use crate::format;
use crate::report::Report;
use crate::trial::Trial;
use crate::verdict::{Fact, Level, Verdict};

/// Rule of what faults came to.
const FAULTS: &str = "faults";
/// A fault that is begun so much later than it was due was done to another load than the study asks for.
const LATE_S: f64 = 1.0;

/// What a fault of a configuration came to, over its repeats.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Availability {
    /// The configuration.
    pub name: String,
    /// The fault, as the study asks for it, and its number among those of a trial.
    pub fault: String,
    /// Trials in which it was done.
    pub trials: Vec<u32>,
    /// How long nobody was answered in each of them; nothing where nobody waited for half a second.
    pub away_s: Vec<f64>,
    /// The median of these.
    pub away_s_median: f64,
    /// Its 95% interval; none of fewer than six repeats.
    pub away_s_interval: Option<(f64, f64)>,
    /// The longest.
    pub away_s_max: f64,
    /// How long a single server that was ended took to start again, its crash recovery included: the median; none of other faults.
    pub started_within_s_median: Option<f64>,
    /// Repeats in which something acknowledged was lost, of those in which that is known.
    pub lost_in: Option<u32>,
    /// Repeats in which it is known what was lost.
    pub lost_known_in: u32,
    /// The chance to lose something that so many repeats leave open, at 95%.
    pub lost_chance_at_most: Option<f64>,
    /// What was acknowledged and lost, all repeats together.
    pub lost: Option<u64>,
}

/// All faults of all configurations.
pub(crate) fn availability(trials: &[Trial]) -> Vec<Availability> {
    let is_alike = |a: &Trial, b: &Trial| {
        (&a.name, &a.levels, &a.configuration) == (&b.name, &b.levels, &b.configuration)
    };
    let mut groups: Vec<Vec<&Trial>> = Vec::new();
    for trial in trials.iter().filter(|trial| !trial.beside.faults.is_empty()) {
        match groups.iter_mut().find(|group| is_alike(group[0], trial)) {
            Some(group) => group.push(trial),
            None => groups.push(vec![trial]),
        }
    }
    groups.iter().flat_map(|group| of_group(group)).collect()
}

fn of_group(trials: &[&Trial]) -> Vec<Availability> {
    let count = trials.iter().map(|trial| trial.beside.faults.len()).max().unwrap_or(0);
    (0..count).filter_map(|number| of_fault(trials, number)).collect()
}

/// One of them over the repeats in which it was done.
fn of_fault(trials: &[&Trial], number: usize) -> Option<Availability> {
    let is_done = |fault: &&Fault| fault.done.failed.is_none() && fault.done.mended_s.is_some();
    let done: Vec<(&Trial, &Fault)> = trials
        .iter()
        .filter_map(|trial| Some((*trial, trial.beside.faults.get(number).filter(is_done)?)))
        .collect();
    let away_s: Vec<f64> =
        done.iter().map(|(_, fault)| fault.silence.map_or(0.0, |silence| silence.length_s)).collect();
    let MedianInterval { median, interval } = median_interval(&away_s)?;
    let started_within_s: Vec<f64> =
        done.iter().filter_map(|(_, fault)| fault.done.started_within_s).collect();
    let lost: Vec<u64> = done.iter().filter_map(|(trial, _)| trial.shown().lost(trial)).collect();
    let lost_in = lost.iter().filter(|&&lost| lost > 0).count() as u32;
    Some(Availability {
        name: done[0].0.name.clone(),
        fault: done[0].1.done.asked.clone(),
        trials: done.iter().map(|(trial, _)| trial.number).collect(),
        away_s_median: median,
        away_s_interval: interval,
        away_s_max: away_s.iter().copied().fold(0.0, f64::max),
        away_s,
        started_within_s_median: stats::median(&started_within_s),
        lost_in: (!lost.is_empty()).then_some(lost_in),
        lost_known_in: lost.len() as u32,
        lost_chance_at_most: chance_at_most(lost_in, lost.len() as u32),
        lost: (!lost.is_empty()).then(|| lost.iter().sum()),
    })
}

/// Findings, and what is wrong.
pub(crate) fn all(report: &Report) -> Vec<Verdict> {
    let findings = report.availability.iter().map(finding);
    findings
        .chain(report.trials.iter().filter_map(late))
        .chain(report.trials.iter().filter_map(split))
        .collect()
}

fn finding(of: &Availability) -> Verdict {
    let start = of.started_within_s_median.map(format::duration);
    let start = start.map_or_else(String::new, |start| {
        let median = if of.trials.len() > 1 { " (median)" } else { "" };
        format!(". The start took {start}{median}, including recovery")
    });
    let subject = format!("{}, `{}`{}", of.name, of.fault, repeats(of));
    let verdict = Verdict::new(Level::Finding, FAULTS, away(of)).about(subject);
    verdict.with_effect(format!("{}{start}", lost(of))).of_trials(of.trials.clone())
}

fn repeats(of: &Availability) -> String {
    match of.trials.len() {
        1 => String::new(),
        repeats => format!(", {repeats} times"),
    }
}

/// `no answers for 3.21 s (median, 95% CI 3.05–3.60 s, longest 5.02 s)`.
fn away(of: &Availability) -> Fact {
    if of.away_s_max == 0.0 {
        return Fact::around("", "no client waited for half a second", "");
    }
    let length = format::duration(of.away_s_median);
    if of.trials.len() == 1 {
        return Fact::around("no answers for ", length, "");
    }
    let interval = match of.away_s_interval {
        Some((low, high)) => format!("95% CI {}–{}", format::duration(low), format::duration(high)),
        None => "no interval below six repeats".to_owned(),
    };
    let longest = format::duration(of.away_s_max);
    Fact::around("no answers for ", length, format!(" (median, {interval}, longest {longest})"))
}

/// `acknowledged data was lost in 0 of 20 trials (at most 14%, 95% CI)`.
fn lost(of: &Availability) -> String {
    let (Some(lost_in), Some(chance), Some(lost)) = (of.lost_in, of.lost_chance_at_most, of.lost) else {
        return "loss of data: unknown".to_owned();
    };
    let known = of.lost_known_in;
    let at_most = format::per_cent(chance);
    match (lost_in, known) {
        (0, 1) => "no acknowledged data was lost".to_owned(),
        (0, known) => {
            format!("acknowledged data was lost in 0 of {known} trials (at most {at_most}, 95% CI)")
        }
        (_, 1) => format!("{} acknowledged operations were lost", format::grouped(lost)),
        (lost_in, known) => {
            format!(
                "acknowledged data was lost in {lost_in} of {known} trials ({} in total; at most {at_most}, 95% CI)",
                format::grouped(lost)
            )
        }
    }
}

/// That something was broken much later than it was to be: what came before took so long.
fn late(trial: &Trial) -> Option<Verdict> {
    let lateness_s = |fault: &Fault| fault.done.begun_s.map_or(0.0, |begun_s| begun_s - fault.done.due_s);
    let late = trial.beside.faults.iter().find(|fault| lateness_s(fault) > LATE_S)?;
    let fact = format!(
        "`{}` started {} late, because the repair of the fault before it took longer",
        late.done.asked,
        format::duration(lateness_s(late))
    );
    let verdict = Verdict::new(Level::Warning, "fault_late", fact).about(&trial.name);
    Some(verdict.with_action("leave more time between faults").of_trials(vec![trial.number]))
}

/// That nodes which did not see each other both took writes: who is connected to the wrong one reads what is old.
fn split(trial: &Trial) -> Option<Verdict> {
    let split_of = |fault: &Fault| fault.done.split.clone().map(|split| (fault.done.asked.clone(), split));
    let (asked, split) = trial.beside.faults.iter().find_map(split_of)?;
    let length = match split.to_s - split.from_s {
        0.0 => "in one sample".to_owned(),
        length_s => format!("for at least {}", format::duration(length_s)),
    };
    let fact = format!("after `{asked}`, {} both accepted writes, {length}", split.nodes);
    let effect = "a client on the wrong node reads old data, and may lose its writes";
    let verdict = Verdict::new(Level::Warning, "split", fact).about(&trial.name).with_effect(effect);
    Some(verdict.of_trials(vec![trial.number]))
}

#[cfg(test)]
mod tests {
    use record::{FaultDone, Mark, Split};

    use super::*;
    use crate::fixture::{self, Sold};

    /// What repeats came to in which nobody was answered for so long, and so much was lost, where that is known.
    fn said(away_s: &[f64], lost: &[u64]) -> String {
        let MedianInterval { median, interval } = median_interval(away_s).unwrap();
        let lost_in = lost.iter().filter(|&&lost| lost > 0).count() as u32;
        let of = Availability {
            name: "sync".to_owned(),
            fault: "kill-node at 20s".to_owned(),
            trials: (1..=away_s.len() as u32).collect(),
            away_s: away_s.to_vec(),
            away_s_median: median,
            away_s_interval: interval,
            away_s_max: away_s.iter().copied().fold(0.0, f64::max),
            started_within_s_median: None,
            lost_in: (!lost.is_empty()).then_some(lost_in),
            lost_known_in: lost.len() as u32,
            lost_chance_at_most: chance_at_most(lost_in, lost.len() as u32),
            lost: (!lost.is_empty()).then(|| lost.iter().sum()),
        };
        finding(&of).sentence()
    }

    #[test]
    fn repeats_say_how_long_it_takes_and_what_they_leave_open() {
        let twenty: Vec<f64> = (0..20).map(|number| 3.0 + f64::from(number) / 10.0).collect();
        assert_eq!(
            said(&twenty, &[0; 20]),
            "sync, `kill-node at 20s`, 20 times: no answers for 3.95 s (median, 95% CI 3.50 s–4.40 s, longest 4.90 s). Acknowledged data was lost in 0 of 20 trials (at most 14%, 95% CI)."
        );
        let lost = said(&twenty[..2], &[0, 3]);
        assert!(lost.contains("no interval below six repeats"), "{lost}");
        assert!(lost.contains("lost in 1 of 2 trials (3 in total; at most 97%, 95% CI)"), "{lost}");
    }

    #[test]
    fn one_fault_says_what_it_came_to() {
        assert_eq!(
            said(&[2.01], &[0]),
            "sync, `kill-node at 20s`: no answers for 2.01 s. No acknowledged data was lost."
        );
        assert!(said(&[2.01], &[1_200]).ends_with(". 1,200 acknowledged operations were lost."));
        assert!(said(&[0.0], &[]).ends_with(": no client waited for half a second. Loss of data: unknown."));
    }

    fn fault(begun_s: f64) -> FaultDone {
        FaultDone {
            asked: "freeze for 2s at 20s".to_owned(),
            of: "pg".to_owned(),
            due_s: 20.0,
            begun_s: Some(begun_s),
            broken_s: Some(begun_s),
            mended_s: Some(begun_s + 2.0),
            ..FaultDone::default()
        }
    }

    #[test]
    fn nodes_that_both_took_writes_are_warned_of() {
        let warned = |split: Option<Split>| {
            let mut trial = Sold::at("32 clients", &[100.0]).trial(1);
            trial.trial.faults = vec![FaultDone { split, ..fault(20.0) }];
            let report = Report::of(&fixture::study("orders", vec![trial]));
            report
                .verdicts
                .into_iter()
                .find(|verdict| verdict.rule == "split")
                .map(|verdict| verdict.sentence())
        };
        assert_eq!(warned(None), None);
        let split = |to_s| Some(Split { nodes: "node1 and node2".to_owned(), from_s: 22.0, to_s });
        let sentence = warned(split(24.5)).unwrap();
        assert!(sentence.contains("node1 and node2 both accepted writes, for at least 2.50 s"), "{sentence}");
        assert!(warned(split(22.0)).unwrap().contains("in one sample"));
    }

    #[test]
    fn a_fault_of_a_trial_has_its_silence_and_one_that_came_late_is_warned_of() {
        let report = |begun_s: f64| {
            let mut trial = Sold::at("32 clients", &[100.0]).trial(1);
            trial.trial.faults = vec![fault(begun_s)];
            trial.trial.marks.push(Mark::silence(20_000_000_000, Some(22_500_000_000)));
            Report::of(&fixture::study("orders", vec![trial]))
        };
        let (in_time, late) = (report(20.01), report(21.5));
        let [availability] = in_time.availability.as_slice() else { panic!("{:?}", in_time.availability) };
        assert_eq!((availability.away_s.as_slice(), availability.trials.as_slice()), (&[2.5][..], &[1][..]));
        let said = |report: &Report, rule: &str| {
            report.verdicts.iter().filter(|verdict| verdict.rule == rule).count()
        };
        assert_eq!((said(&in_time, FAULTS), said(&in_time, "fault_late")), (1, 0));
        assert_eq!((said(&late, FAULTS), said(&late, "fault_late")), (1, 1));
        let text = super::super::blocks(&in_time, record::Workload::Orders);
        assert_eq!(text.len(), 3, "a table, what it means, and what became of the orders");
    }

    #[test]
    fn how_long_a_server_took_to_start_again_is_told_beside_how_long_nobody_was_answered() {
        let mut trial = Sold::at("32 clients", &[100.0]).trial(1);
        trial.trial.faults = vec![FaultDone { started_within_s: Some(0.42), ..fault(20.0) }];
        trial.trial.marks.push(Mark::silence(20_000_000_000, Some(22_500_000_000)));
        let report = Report::of(&fixture::study("orders", vec![trial]));
        let told = &finding(&report.availability[0]).sentence();
        assert!(
            told.contains("no answers for 2.50 s. No acknowledged data was lost. The start took 420 ms, including recovery"),
            "{told}"
        );
        let shown = report.text(Some(200)).to_string();
        assert!(shown.contains("started within"), "{shown}");
    }
}
