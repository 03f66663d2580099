//! One page of each kind. `cargo xtask pages` lets this test write the pages, takes pictures of them and checks their layout.
//!
//! The names of the pages are also the names of their files and of their reference pictures.

use std::path::{Path, PathBuf};

use record::verify::{FileMap, Verified};
use record::{CacheMode, DiskSetup, HistorianSetup, OrdersSetup, StudyRecord};

use crate::fixture::{self, Collected, Made, Sold};
use crate::report::Report;
use crate::tests;
use crate::{compare, history, register, reporting, script, tables};

/// Variable with the directory for the pages. The directory must exist.
const DIRECTORY: &str = "PRONY_PAGES";

/// Pages of all kinds of studies that have their own page, each with its name.
fn pages() -> Vec<(&'static str, String)> {
    let of_studies = [
        ("check", check()),
        ("cdm8", cdm8()),
        ("cdm3", tests::cdm()),
        ("sweep", tests::sweep()),
        ("steady", tests::steady()),
        ("verify", verify()),
        ("search", tests::historian::search()),
        ("historian", tests::historian::project()),
        ("orders", tests::orders::priced()),
        ("one-axis", titled(tests::comparison::flush_rows(), "What larger batches gain")),
        ("two-axes", titled(tests::comparison::memory_and_cpus(), "What memory and CPUs gain")),
    ];
    let of_reports = [
        ("script", named(script::tests::report(|_, _| {}), "Script", "script a.sql")),
        ("reporting", named(reporting::tests::report(|_, _| {}), "Reporting", "reporting")),
        ("failover", register::tests::interrupted()),
        ("tables", tables::tests::pictured()),
    ];
    let studies = of_studies.iter().map(|(name, study)| (*name, Report::of(study).html()));
    let reports = of_reports.iter().map(|(name, report)| (*name, report.html()));
    let others = [
        ("sheet", Report::of(&check()).sheet()),
        ("compare", compare::tests::improved().html()),
        ("history", history::tests::regressed().html()),
    ];
    studies.chain(reports).chain(others).map(|(name, page)| (name, spelled(&page))).collect()
}

/// The study with a title of its own, run from its file.
fn titled(mut study: StudyRecord, title: &str) -> StudyRecord {
    study.manifest.title = title.to_owned();
    study.manifest.command = ["prony", "study", "run", "study.toml"].map(str::to_owned).into();
    study
}

/// The report with the title and the command of its workload, on PostgreSQL.
fn named(mut report: Report, title: &str, command: &str) -> Report {
    let command = format!("prony {command} --target postgres://db-1/plant");
    report.title = title.to_owned();
    report.command = command.split(' ').map(str::to_owned).collect();
    report
}

/// The page with its commands as the program spells them.
fn spelled(page: &str) -> String {
    let spellings = [
        ("‹prony compare›", "prony compare"),
        ("‹prony disk, profile sweep›", "prony disk --profile sweep"),
        ("‹prony historian, search›", "prony historian --find-max"),
    ];
    spellings.iter().fold(page.to_owned(), |page, (mention, command)| page.replace(mention, command))
}

#[test]
fn pages_have_no_mention_that_is_not_spelled() {
    for (name, page) in pages() {
        assert!(!page.contains("‹prony"), "{name}");
    }
}

/// The disk tests of a check, each with its rate and its latency.
const CHECKED: [(&str, f64, f64); 8] = [
    ("page read 8KiB Q1", 5_100.0, 190.0),
    ("page read 8KiB Q32", 61_200.0, 520.0),
    ("4KiB read Q32", 74_120.0, 430.0),
    ("scan 512KiB Q8", 4_650.0, 1_700.0),
    ("log write 8KiB Q1", 820.0, 1_210.0),
    ("page 70/30 8KiB Q32", 38_400.0, 830.0),
    ("page write 8KiB Q32", 17_900.0, 1_780.0),
    ("checkpoint 256KiB Q8", 2_350.0, 3_400.0),
];

/// A check: eight disk tests, and two tests of databases on the disk. One test is noisy.
fn check() -> StudyRecord {
    let on_disk = (1..).zip(CHECKED).map(|(number, (name, per_s, latency_us))| {
        let made = if name.contains("write") || name.starts_with("checkpoint") {
            Made::write(name)
        } else if name.contains("70/30") {
            Made::mixed(name)
        } else {
            Made::read(name)
        };
        let noise = if name.starts_with("log") { 0.16 } else { 0.02 };
        let set = |setup: &mut DiskSetup| placed(name, setup);
        made.with(set).rate(per_s, latency_us).noise(noise).seconds(8).trial(number)
    });
    let historian = Collected::closed("historian on SQLite", 61_000.0).seconds(8).with(embedded);
    let orders = Sold::at("orders on SQLite", &[410.0]).seconds(8).with(embedded_store);
    let trials = on_disk.chain([historian.trial(9), orders.trial(10)]).collect();
    let mut study = fixture::study("quick", trials);
    (study.manifest.title, study.manifest.slug) = ("Check".to_owned(), "check".to_owned());
    study.manifest.command = ["prony", "check", "/data"].map(str::to_owned).into();
    study
}

/// Applies the settings in the name of a test of a check.
fn placed(name: &str, setup: &mut DiskSetup) {
    let words = || name.split_whitespace();
    let number = |word: &str| word.trim_matches(char::is_alphabetic).parse::<u32>().ok();
    let block = words().find(|word| word.ends_with("KiB")).and_then(number).unwrap();
    setup.block_bytes = u64::from(block) << 10;
    setup.outstanding = words().find(|word| word.starts_with('Q')).and_then(number).unwrap();
    if name.starts_with("scan") || name.starts_with("log") {
        setup.pattern = "sequential".to_owned();
    }
}

fn embedded(setup: &mut HistorianSetup) {
    (setup.engine, setup.target) = ("sqlite".to_owned(), "sqlite:/data/prony-check.sqlite".to_owned());
    setup.server.version = "SQLite 3.50.2".to_owned();
    setup.server.settings.clear();
    setup.calibration = None;
}

fn embedded_store(setup: &mut OrdersSetup) {
    for target in &mut setup.targets {
        (target.engine, target.target) = ("sqlite".to_owned(), "sqlite:/data/prony-check.sqlite".to_owned());
        target.server.version = "SQLite 3.50.2".to_owned();
        target.server.settings.clear();
    }
}

/// The rows of CrystalDiskMark 8: name, block size, sequential or not, I/Os in flight, read rate and write rate.
const ROWS: [(&str, u64, bool, u32, [f64; 2]); 4] = [
    ("SEQ1M Q8T1", 1 << 20, true, 8, [3_300.0, 2_100.0]),
    ("SEQ1M Q1T1", 1 << 20, true, 1, [1_900.0, 1_650.0]),
    ("RND4K Q32T1", 4096, false, 32, [74_000.0, 58_000.0]),
    ("RND4K Q1T1", 4096, false, 1, [9_800.0, 21_000.0]),
];

/// Five runs of each row. Reads come before writes.
fn cdm8() -> StudyRecord {
    let rows = ["read", "write"].into_iter().zip(0..).flat_map(|(kind, of)| ROWS.map(|row| (kind, of, row)));
    let runs = rows.flat_map(|row| (1..=5).map(move |run| (row, run)));
    let trials =
        (1..).zip(runs).map(|(number, ((kind, of, (name, block, sequential, depth, rates)), run))| {
            let name = format!("{name} {kind}");
            let made = if kind == "read" { Made::read(&name) } else { Made::write(&name) };
            let rate = rates[of] * (0.99 + 0.005 * f64::from(run));
            let set = |setup: &mut DiskSetup| {
                (setup.block_bytes, setup.outstanding) = (block, depth);
                setup.cache = CacheMode::Direct;
                if sequential {
                    setup.pattern = "sequential".to_owned();
                }
            };
            made.with(set).rate(rate, f64::from(depth) * 1e6 / rate).seconds(5).block(run).trial(number)
        });
    fixture::study("cdm8", trials.collect())
}

/// A verification in which all pages of two files were checked, and none is damaged.
fn verify() -> StudyRecord {
    let map = |path: &str| FileMap {
        path: path.to_owned(),
        first: 0,
        pages: 65_536,
        checked: 65_536,
        damaged: vec![0; 64],
        checks: (0..64).map(|part| 9.0 + f64::from(part % 5)).collect(),
    };
    let verified = Verified {
        page_bytes: 8192,
        written: 107_366,
        read: 1_296_412,
        pages: 131_072,
        checked: 131_072,
        checks_least: 5,
        audits: 1,
        is_audited: true,
        stall_s: 15.0,
        map: vec![map("/data/verify-0.dat"), map("/data/verify-1.dat")],
        ..Verified::default()
    };
    let made = Made::mixed("8KiB pages verified, sqliosim Q32T1")
        .with(|setup| (setup.block_bytes, setup.read_per_cent) = (8192, 60.0))
        .outcome(|outcome| outcome.verified = Some(Box::new(verified)));
    let mut study = fixture::study("verify", vec![made.seconds(30).trial(1)]);
    study.manifest.title = "Verify".to_owned();
    study
}

fn write(directory: &Path, name: &str, page: &str) {
    let path = directory.join(format!("{name}.html"));
    std::fs::write(&path, page).unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
}

#[test]
fn a_page_of_each_kind_can_be_made_and_holds_something() {
    let directory = std::env::var_os(DIRECTORY).map(PathBuf::from);
    let pages = pages();
    let names: std::collections::BTreeSet<&str> = pages.iter().map(|(name, _)| *name).collect();
    assert_eq!(names.len(), pages.len(), "each page has a file of its own");
    for (name, page) in &pages {
        let (_, main) = page.split_once("<main>").unwrap_or_else(|| panic!("{name} has no main part"));
        assert!(main.contains("<table") && main.contains("<svg"), "{name} has neither tables nor charts");
        if let Some(directory) = &directory {
            write(directory, name, page);
        }
    }
}
