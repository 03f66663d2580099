//! Studies that compare: their verdicts, tables and pages.

use record::{Order, Published, PublishedFigure, Resumption, State, StudyRecord};

use crate::fixture::{At, Designed};
use crate::model::Report;

const PLACEMENTS: [(&str, f64); 5] = [
    ("single disk", 2_400.0),
    ("two disks", 2_450.0),
    ("RAID1", 2_380.0),
    ("RAID10", 4_700.0),
    ("RAID5", 1_900.0),
];

/// Named configurations with an A/A pair, published figures, and a trial that failed.
pub(crate) fn placements() -> StudyRecord {
    let figure = |name: &str, value: f64| PublishedFigure {
        configuration: Some(name.to_owned()),
        metric: Some("records_per_s".to_owned()),
        value: Some(value),
        gain_pct: Some((value / 2_400.0 - 1.0) * 100.0),
        ..PublishedFigure::default()
    };
    let published = Published {
        source: "An author: A storage paper, 2011 (a server with 24 disks)".to_owned(),
        differs: Some("its disks were SAS disks of 10,000 turns a minute".to_owned()),
        figures: vec![figure("single disk", 2_400.0), figure("RAID10", 4_700.0)],
    };
    let mut study = Designed::blocks(7)
        .configurations(&PLACEMENTS.map(|(name, _)| name))
        .published(published)
        .threshold("gain > 50 % at configuration = RAID10")
        .threshold("gain > -10 %")
        .threshold("records_per_s > 2400 at configuration = two disks")
        .aa()
        .study(|at| {
            let (_, rate) = PLACEMENTS.into_iter().find(|(name, _)| *name == at.configuration)?;
            if at.block == 3 && at.configuration == "RAID1" {
                return Some(at.ended(State::Failed, "no space left on /mnt/raid1"));
            }
            Some(at.records(rate * at.noise(0.015)))
        });
    study.manifest.resumed.push(Resumption {
        at: "2026-11-21T09:12:00Z".to_owned(),
        from_trial: 13,
        set_aside: vec![13, 14],
    });
    study
}

/// A rising axis with a knee and a sweet spot.
pub(crate) fn flush_rows() -> StudyRecord {
    Designed::blocks(7)
        .axis("flush_rows", &["5", "10", "20", "40", "100", "200", "500", "1000", "2000", "5000"], "40")
        .study(|at| {
            let rows = at.number_of("flush_rows");
            Some(at.records(
                60.0 * rows.min(100.0).powf(0.9) * (rows / 100.0).max(1.0).powf(0.02) * at.noise(0.01),
            ))
        })
}

/// A latency that rises where there are too few I/Os.
pub(crate) fn read_iops() -> StudyRecord {
    let levels = ["1000", "1500", "2000", "2500", "3000", "3500", "4000", "5000", "6000", "8000"];
    Designed::blocks(7)
        .axis("read_iops", &levels, "8000")
        .metric("p99_ms")
        .threshold("p99_ms < 5 at read_iops = 8000")
        .study(|at| {
            let iops = at.number_of("read_iops");
            let latency = 900.0 * (3_500.0 / iops.min(3_500.0)).powf(2.5) * at.noise(0.01);
            Some(at.reads(700.0, latency))
        })
}

/// Two axes.
pub(crate) fn memory_and_cpus() -> StudyRecord {
    Designed::blocks(7)
        .axis("memory", &["8GiB", "16GiB", "32GiB", "64GiB"], "8GiB")
        .axis("cpus", &["2", "4", "8"], "2")
        .metric("iops")
        .study(|at| {
            let (memory, cpus) = (at.number_of("memory"), at.number_of("cpus"));
            let rate = 500.0 * memory.min(32.0).powf(0.4) * (cpus / (1.0 + 0.1 * cpus));
            Some(at.reads(rate * at.noise(0.01), 700.0))
        })
}

fn verdicts(study: &StudyRecord) -> String {
    let report = Report::of(study);
    let lines: Vec<String> =
        report.verdicts().iter().map(|v| format!("{} {}: {}", v.level.word(), v.rule, v.sentence)).collect();
    lines.join("\n")
}

#[test]
fn verdicts_of_placements() {
    insta::assert_snapshot!(verdicts(&placements()));
}

#[test]
fn verdicts_along_an_axis() {
    insta::assert_snapshot!(verdicts(&flush_rows()));
}

#[test]
fn verdicts_of_a_latency() {
    insta::assert_snapshot!(verdicts(&read_iops()));
}

#[test]
fn verdicts_of_two_axes() {
    insta::assert_snapshot!(verdicts(&memory_and_cpus()));
}

/// Every study of these tests, for what must hold of all pages.
pub(crate) fn all() -> Vec<StudyRecord> {
    vec![placements(), flush_rows(), read_iops(), memory_and_cpus()]
}

#[test]
fn write_pages() {
    for (name, study) in ["placements", "flush", "iops", "memory"].iter().zip(all()) {
        std::fs::write(format!("/tmp/wt-report-{name}.html"), Report::of(&study).html()).unwrap();
        std::fs::write(format!("/tmp/wt-report-{name}.txt"), Report::of(&study).text(Some(120))).unwrap();
    }
}
