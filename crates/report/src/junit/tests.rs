//! JUnit XML: what stands in it, that nothing passes that did not hold, and that a reader finds each text again.

use proptest::prelude::*;
use record::{State, StudyRecord, shown};
use roxmltree::{Document, Node};

use super::{Case, End, Suite, document};
use crate::fixture::{self, Collected, Designed, Made};
use crate::report::Report;
use crate::tests::comparison::placements;

/// Class, name and what became of it, of each case.
fn ends(xml: &str) -> Vec<(String, String, &'static str)> {
    let document = Document::parse(xml).unwrap();
    let cases = document.descendants().filter(|node| node.has_tag_name("testcase"));
    let end = |case: Node<'_, '_>| {
        let of = |name: &'static str| case.children().any(|child| child.has_tag_name(name)).then_some(name);
        ["failure", "error", "skipped"].into_iter().find_map(of).unwrap_or("passed")
    };
    let text = |case: &Node<'_, '_>, name: &str| case.attribute(name).unwrap().to_owned();
    cases.map(|case| (text(&case, "classname"), text(&case, "name"), end(case))).collect()
}

/// Two configurations, the second a quarter faster.
fn two(thresholds: &[&str]) -> StudyRecord {
    let design = Designed::blocks(7).configurations(&["SSD", "RAID10"]);
    let design = thresholds.iter().fold(design, |design, threshold| design.threshold(threshold));
    design.study(|at| {
        let rate = if at.configuration == "SSD" { 800.0 } else { 1_000.0 };
        Some(at.reads(rate * at.noise(0.01), 900.0))
    })
}

#[test]
fn junit_of_a_study_with_thresholds() {
    let report = Report::of(&placements()).stored_in(std::path::Path::new("/srv/prony/1"));
    insta::assert_snapshot!(report.junit());
}

/// A threshold that is not judged once would have been green.
#[test]
fn a_threshold_passes_only_where_it_held() {
    let study = two(&["iops > 700", "iops > 5000", "iops > 800"]);
    let found = ends(&Report::of(&study).junit());
    let of = |class: &str| {
        found.iter().filter(|(of, _, _)| of == class).map(|(_, _, end)| *end).collect::<Vec<&str>>()
    };
    assert_eq!(of("thresholds"), ["passed", "failure", "error"]);
    assert!(of("gains").is_empty(), "what was asked for decides: {found:?}");
}

#[test]
fn gains_that_nobody_asked_for_neither_pass_nor_fail() {
    let found = ends(&Report::of(&two(&[])).junit());
    let gains: Vec<_> = found.iter().filter(|(class, _, _)| class == "gains").collect();
    assert!(!gains.is_empty() && gains.iter().all(|(_, _, end)| *end == "skipped"), "{found:?}");
    assert!(found.iter().filter(|(class, _, _)| class == "trials").all(|(_, _, end)| *end == "passed"));
}

#[test]
fn a_trial_that_went_wrong_passes_in_no_way() {
    let end = |change: fn(&mut record::MeasuredTrial)| {
        let mut trial = Made::read("R").noise(0.0).trial(1);
        change(&mut trial);
        let found = ends(&Report::of(&fixture::study("quick", vec![trial])).junit());
        found.iter().find(|(class, _, _)| class == "trials").unwrap().2
    };
    assert_eq!(end(|_| ()), "passed");
    assert_eq!(end(|trial| trial.trial.state = State::Invalid), "error");
    assert_eq!(end(|trial| trial.trial.state = State::Failed), "error");
    assert_eq!(end(|trial| trial.trial.state = State::Aborted), "error");
    assert_eq!(end(|trial| trial.trial.state = State::Running), "error");
    assert_eq!(end(|trial| trial.trial.state = State::Skipped), "skipped");
    assert_eq!(end(|trial| trial.measured.get_mut("read").unwrap().errors = 3), "error", "void");
}

#[test]
fn a_run_that_did_not_come_to_its_end_does_not_pass() {
    for state in [State::Aborted, State::Failed, State::Running] {
        let mut study = fixture::study("quick", vec![Made::read("R").trial(1)]);
        study.manifest.state = state;
        let found = ends(&Report::of(&study).junit());
        assert_eq!((found[0].0.as_str(), found[0].2), ("run", "error"), "{state:?}");
    }
}

#[test]
fn a_rate_that_is_asked_for_is_a_case_and_one_of_a_profile_is_none() {
    let ends = |profile: Option<&str>, growing: f64| {
        let trial = Collected::at("historian", 500.0).growing(growing).seconds(120).trial(1);
        let mut study = fixture::study("historian", vec![trial]);
        study.manifest.profile = profile.map(str::to_owned);
        let found = ends(&Report::of(&study).junit());
        found.iter().filter(|(class, _, _)| class == "rates").map(|(_, _, end)| *end).collect::<Vec<&str>>()
    };
    assert_eq!(ends(None, 0.0), ["passed"]);
    assert_eq!(ends(None, 100.0), ["failure"]);
    assert!(ends(Some("flush-rows"), 100.0).is_empty());
}

/// For a step of a search its search speaks, which finds a rate or not.
#[test]
fn a_search_is_a_case_and_its_steps_are_none() {
    let of = |confirmed: bool| {
        let mut study = Designed::blocks(1).axis("writers", &["1"], "1").study(|at| Some(at.records(1.0)));
        study.manifest.search = Some(fixture::search_rules());
        let step = |made: Collected, number: u32| {
            let mut trial = made.seconds(30).trial(number);
            trial.trial.levels.insert("writers".to_owned(), "1".to_owned());
            trial
        };
        let growing = |rate: f64| Collected::at("historian", rate).growing(rate * 0.1).probe();
        study.trials = match confirmed {
            true => vec![
                step(Collected::at("historian", 500.0).probe(), 1),
                step(growing(510.0), 2),
                step(Collected::at("historian", 500.0).confirm(), 3),
                step(Collected::at("historian", 500.0).confirm(), 4),
                step(Collected::at("historian", 500.0).confirm(), 5),
            ],
            false => vec![step(growing(510.0), 1)],
        };
        let found = ends(&Report::of(&study).junit());
        let is =
            |class: &str| found.iter().filter(|(of, _, _)| of == class).map(|(_, _, end)| *end).collect();
        let (searches, trials): (Vec<&str>, Vec<&str>) = (is("searches"), is("trials"));
        assert!(trials.is_empty(), "{found:?}");
        searches
    };
    assert_eq!((of(true), of(false)), (vec!["passed"], vec!["error"]));
}

#[test]
fn names_of_cases_are_told_apart() {
    for study in [two(&[]), crate::tests::quick(), crate::tests::cdm(), crate::tests::sweep()] {
        let mut names: Vec<_> =
            ends(&Report::of(&study).junit()).into_iter().map(|(of, name, _)| (of, name)).collect();
        let all = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}

proptest! {
    /// Whatever others wrote, the document is one, and each text is found again as it is shown elsewhere.
    #[test]
    fn each_text_is_found_again(
        text in prop_oneof![".{0,30}", "[\\x00-\\x1f\\x7f-\\x9f<>&\"'\\]\u{fffe}\u{ffff}\u{202e}]{0,20}"],
        which in 0usize..4,
    ) {
        let end = [End::Passed, End::Failed, End::Error, End::Skipped][which];
        let case = Case { class: "thresholds", name: text.clone(), measured_s: 1.5, end, why: text.clone() };
        let xml = document(&[Suite {
            name: text.clone(),
            started: "2026-11-21T07:30:00.123Z".to_owned(),
            host: Some(text.clone()),
            properties: vec![("name", text.clone())],
            cases: vec![case],
            told: vec![text.clone()],
        }]);
        let document = Document::parse(&xml).unwrap();
        let node = |name: &str| document.descendants().find(|node| node.has_tag_name(name)).unwrap();
        let expected = shown(&text).replace('\u{fffe}', "\\u{fffe}").replace('\u{ffff}', "\\u{ffff}");
        let (suite, found) = (node("testsuite"), node("testcase"));
        prop_assert_eq!(suite.attribute("name"), Some(expected.as_str()));
        prop_assert_eq!(suite.attribute("hostname"), Some(expected.as_str()));
        prop_assert_eq!(node("property").attribute("value"), Some(expected.as_str()));
        prop_assert_eq!(found.attribute("name"), Some(expected.as_str()));
        let told = suite.children().rfind(|child| child.has_tag_name("system-out")).unwrap();
        prop_assert_eq!(told.text().unwrap_or_default(), expected.as_str());
        if end != End::Passed {
            let inside = found.children().find(Node::is_element).unwrap();
            prop_assert_eq!(inside.attribute("message"), Some(expected.as_str()));
        }
        prop_assert_eq!(document.descendants().filter(Node::is_element).count(), 6 + usize::from(end != End::Passed || !text.is_empty()));
    }
}
