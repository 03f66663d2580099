//! A comparison of studies as JUnit XML: a suite for each side that is compared with the first, a case for all that must not be.

use super::markdown::verdict;
use super::text::{not_used, refused, within};
use super::{Against, Combination, Compare, ComparedStudy, label};
use crate::junit::{Case, End, Suite, document};

/// Classes of the cases, by which readers group them.
const LIMITS: &str = "changes";
const COMBINATIONS: &str = "combinations";

impl Compare {
    /// What became of all that must not be, as JUnit XML. Where nothing was asked, each combination is a case: its verdict is told as
    /// skipped, since it neither passes nor fails, and that there is none is an error.
    #[must_use]
    pub fn junit(&self) -> String {
        let suites: Vec<Suite> = self.against.iter().map(|against| self.suite(against)).collect();
        document(&suites)
    }

    fn suite(&self, against: &Against) -> Suite {
        let sides = [("first", &self.first), ("this", &against.runs)];
        let studies = |names: &Vec<String>| {
            self.studies.iter().filter(|study| names.contains(&study.name)).collect::<Vec<_>>()
        };
        let this = studies(&against.runs);
        let all = || sides.iter().flat_map(|(_, names)| studies(names));
        let told = all().flat_map(not_used).chain(within(against)).chain([self.caution.clone()]);
        Suite {
            name: format!("{} against {}", against.name, label(&self.first)),
            started: this.first().map(|study| study.started.clone()).unwrap_or_default(),
            host: this.first().and_then(|study| study.host.clone()),
            properties: sides
                .iter()
                .flat_map(|(side, names)| {
                    studies(names).into_iter().flat_map(|study| properties(side, study))
                })
                .collect(),
            cases: cases(against),
            told: told.collect(),
        }
    }
}

/// What tells a run of a side from others.
fn properties(side: &str, study: &ComparedStudy) -> Vec<(&'static str, String)> {
    let of = if side == "first" {
        ["first.path", "first.name", "first.title", "first.started", "first.machine"]
    } else {
        ["this.path", "this.name", "this.title", "this.started", "this.machine"]
    };
    let values = [
        Some(study.name.clone()),
        study.called.clone(),
        Some(study.title.clone()),
        Some(study.started.clone()),
        Some(study.machine.clone()),
    ];
    of.into_iter().zip(values).filter_map(|(name, value)| Some((name, value?))).collect()
}

fn cases(against: &Against) -> Vec<Case> {
    if !against.gates.is_empty() {
        return against.gates.iter().map(|gate| Case::judged(LIMITS, gate)).collect();
    }
    let nothing = against.not_compared.iter().map(|why| Case {
        class: COMBINATIONS,
        name: "the two can be compared".to_owned(),
        measured_s: 0.0,
        end: End::Error,
        why: why.clone(),
    });
    nothing.chain(against.combinations.iter().map(combination)).collect()
}

/// The verdict on a combination, by what its workload is judged by.
fn combination(of: &Combination) -> Case {
    let judged = of.main().and_then(|metric| metric.judged);
    let is_descriptive = judged.is_none_or(|judged| judged.comparison == stats::Comparison::Descriptive);
    let (end, why) = match verdict(of) {
        _ if of.is_refused() => (End::Error, refused(of).join(" ")),
        None => (End::Error, "the figure for the verdict was not measured".to_owned()),
        Some(verdict) if is_descriptive => (End::Error, format!("not judged: {verdict}")),
        Some(verdict) => (End::Skipped, format!("{verdict}. No limit was set")),
    };
    Case { class: COMBINATIONS, name: of.label.clone(), measured_s: 0.0, end, why }
}
