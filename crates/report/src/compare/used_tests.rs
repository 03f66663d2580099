//! What was used is compared, and not what was typed; what is new at each start of a server is no difference; answers come first.

use record::{MeasuredTrial, Reading, Setup, StartedServer, StudyRecord, Volume};

use super::tests::{compare, runs, study};
use super::{Center, Compare, CompareOutcome, CompareRows};
use crate::fixture::{self, Sold};

/// A study of one order store's trial: the size that was typed, if one was, and the size of the store that was there.
fn orders(typed: Option<&str>, size: &str) -> StudyRecord {
    let mut trial =
        Sold::at("1 client", &[50.0]).with(|setup| setup.targets[0].size = size.to_owned()).trial(1);
    match typed {
        Some(size) => trial.trial.parameters["size"] = size.into(),
        None => drop(trial.trial.parameters.as_object_mut().unwrap().remove("size")),
    }
    fixture::study("orders", vec![trial])
}

/// A store that `orders load` had made was said to differ in size, "not set and 10MB", from one of 10MB.
#[test]
fn a_store_that_was_there_has_the_size_that_it_has() {
    let refused = |first: &StudyRecord, this: &StudyRecord| {
        let found = compare(first, this);
        let workload = found.against[0].combinations[0].workload.clone();
        (
            found.outcome() == CompareOutcome::Refused,
            workload.into_iter().map(|it| (it.what, it.first, it.this)).next(),
        )
    };
    let size =
        |first: &str, this: &str| Some(("size".to_owned(), Some(first.to_owned()), Some(this.to_owned())));
    assert_eq!(refused(&orders(None, "10MB"), &orders(Some("10MB"), "10MB")), (false, None));
    assert_eq!(refused(&orders(None, "10MB"), &orders(Some("50MB"), "50MB")), (true, size("10MB", "50MB")));
    assert_eq!(
        refused(&orders(None, "10MB"), &orders(None, "50MB")),
        (true, size("10MB", "50MB")),
        "nobody typed one"
    );
    assert_eq!(refused(&orders(None, "10MB"), &orders(None, "10MB")), (false, None));
}

/// A trial on a server that was started for it, with this port and this name of its directories, in a directory of the user.
fn on_started(port: u16, made: &str, parent: &str) -> MeasuredTrial {
    let data = format!("{parent}/prony-{made}/data");
    let mut trial = Sold::at("1 client", &[50.0]).trial(1);
    let known = |text: &str| Reading::Known(text.to_owned());
    let place = Volume {
        path: data.clone(),
        mount: known("/"),
        device: known("vda"),
        file_system: None,
        beneath: record::Beneath::default(),
    };
    trial.trial.servers = vec![StartedServer {
        name: "managed".to_owned(),
        address: format!("127.0.0.1:{port}"),
        places: [("data".to_owned(), place)].into(),
        ..StartedServer::default()
    }];
    if let Some(Setup::Orders(setup)) = &mut trial.trial.setup {
        setup.targets[0].target = format!("postgres://prony@127.0.0.1:{port}/prony_orders");
        setup.targets[0].server.data_directory = Some(data);
    }
    trial
}

#[test]
fn ports_and_directories_that_are_new_at_each_start_of_a_server_are_no_difference() {
    let study = |port, made: &str, parent: &str| {
        let mut study = fixture::study("orders", vec![on_started(port, made, parent)]);
        let process =
            record::ServerProcesses { pid: 7, told_by: format!("{parent}/prony-{made}/data/postmaster.pid") };
        study.environment.as_mut().unwrap().servers =
            [("prony_orders".to_owned(), Reading::Known(process))].into();
        study
    };
    let first = study(20_046, "0af8b4a59037", "/data");
    let same = compare(&first, &study(20_170, "e9b7e4bc324d", "/data"));
    let against = &same.against[0];
    assert_eq!((against.target.len(), against.environment.len()), (0, 0), "{against:?}");
    let moved = compare(&first, &study(20_170, "e9b7e4bc324d", "/other"));
    let told: Vec<&str> = moved.against[0].target.iter().filter_map(|found| found.this.as_deref()).collect();
    assert_eq!(told, ["/other/prony-…/data"], "where it lies is one");
}

/// One trial of eight that took ten times as long made a mean of it that no gain followed from.
#[test]
fn figures_are_those_that_the_gain_follows_from() {
    let mut this = study(7, 1.0, 100);
    for sample in
        this.trials.iter_mut().filter(|trial| trial.trial.block == 3).flat_map(|trial| &mut trial.samples)
    {
        sample.length_s *= 10.0;
    }
    let found = compare(&study(7, 1.0, 0), &this);
    let iops =
        found.against[0].combinations[0].metrics.iter().find(|metric| metric.metric.name == "iops").unwrap();
    let ratio = iops.this_value.unwrap() / iops.first_value.unwrap();
    assert!(iops.center == Center::Median && (ratio - 1.0).abs() < 0.03, "{iops:?}");
    assert!(iops.gain_pct.unwrap().abs() < 3.0, "{iops:?}");
    assert!(stats::mean(&iops.this).unwrap() < 0.95 * stats::mean(&iops.first).unwrap(), "{iops:?}");
    let sides = [runs("A", 1.0, &[0.02, -0.3, 0.0]), runs("B", 1.25, &[0.01, -0.03, 0.5])];
    let [first, this] =
        sides.each_ref().map(|runs| runs.iter().map(|(name, run)| (name.clone(), run)).collect::<Vec<_>>());
    let found = Compare::of_runs(&first, &this, None);
    for metric in found.against[0].combinations.iter().flat_map(|combination| &combination.metrics) {
        let Some(effect) = metric.effect else { continue };
        let ratio = metric.this_value.unwrap() / metric.first_value.unwrap();
        assert!((ratio / effect.ratio.value - 1.0).abs() < 1e-9, "{metric:?}");
    }
}

/// The verdict stood under tables of full paths, off the screen.
#[test]
fn the_answer_stands_first_and_runs_are_called_by_their_names() {
    let (first, this) = (study(7, 1.0, 0), study(7, 1.25, 100));
    let path = |name: &str| format!("/data/somebody/results/20261123T002333Z-disk-{name}");
    let found = Compare::of(&[(path("a"), &first), (path("b"), &this)], None, None);
    let text = found.text(Some(80), CompareRows::All).to_string();
    let mut lines = text.lines();
    assert!(
        lines.next().is_some_and(|line| line.starts_with("20261123T002333Z-disk-b (started 2026-")),
        "{text}"
    );
    let at = |said: &str| text.find(said).unwrap_or_else(|| panic!("{said}: {text}"));
    assert!(at("RAID10: I/Os per second from 1,199 to 1,5") < at("The recorded machines"), "{text}");
    assert!(at("The recorded machines") < at("combination  metric"), "{text}");
    assert!(!text.contains("/data/somebody"), "{text}");
    assert!(found.json().contains("/data/somebody/results"), "they are in the document");
}
