//! The head of a disk's page: its large figures, and the one chart that is its answer, by the kind of run.

mod classes;
mod classes_chart;
pub(super) mod grid;
mod grid_chart;
mod pages;
mod single;
mod sweeps;
mod sweeps_chart;

use record::{State, Workload};

use crate::chart::{Chart, strip};
use crate::disk::storage::Storage;
use crate::disk::{chart, verified};
use crate::format;
use crate::lead::{Tile, Tone};
use crate::report::Report;
use crate::table::Table;

use self::classes::Ability;
use self::grid::Grid;

/// What a run asks, which decides what answers it.
enum Run {
    /// As CrystalDiskMark: rows of reads and writes.
    Grid(Grid),
    /// Throughput over the outstanding I/Os.
    Sweep,
    /// Rounds until the rate is steady.
    Rounds,
    /// What the storage gives a database.
    Storage(Vec<Ability>),
    /// The figures for pages that prony wrote and read.
    Pages,
    /// One test or several, each by itself.
    Tests,
}

impl Run {
    fn of(report: &Report) -> Self {
        if let Some(grid) = Grid::of(report) {
            return Self::Grid(grid);
        }
        if !report.disk.sweeps.is_empty() {
            return Self::Sweep;
        }
        if report.disk.steady_state.is_some() {
            return Self::Rounds;
        }
        let abilities = Storage::of(report).map(|storage| classes::abilities(report, &storage));
        match abilities.filter(|abilities| abilities.len() >= ABILITIES_LEAST) {
            Some(abilities) => Self::Storage(abilities),
            None if verified::trials(report).next().is_some() => Self::Pages,
            None => Self::Tests,
        }
    }
}

/// Fewer abilities than these tell little of a storage.
const ABILITIES_LEAST: usize = 2;

/// The large figures, the first of them first.
pub(super) fn tiles(report: &Report) -> Vec<Tile> {
    match Run::of(report) {
        Run::Grid(grid) => grid.tiles(),
        Run::Sweep => sweeps::tiles(&report.disk.sweeps),
        Run::Rounds => report.disk.steady_state.as_ref().map(single::rounds).unwrap_or_default(),
        Run::Storage(abilities) => abilities.iter().map(Ability::tile).collect(),
        Run::Pages => pages::tiles(report),
        Run::Tests => single::tiles(report),
    }
}

/// The chart that is the answer.
pub(super) fn chart(report: &Report) -> Option<Chart> {
    match Run::of(report) {
        Run::Grid(grid) => grid_chart::chart(&grid),
        Run::Sweep => sweeps_chart::chart(&report.disk.sweeps),
        Run::Rounds => report.disk.steady_state.as_ref().and_then(chart::rounds),
        Run::Storage(abilities) => classes_chart::chart(&abilities),
        Run::Pages => pages::chart(report),
        Run::Tests => latencies(report).or_else(|| single::chart(report)),
    }
}

/// All latencies on one scale, where several tests stand by themselves.
fn latencies(report: &Report) -> Option<Chart> {
    strip::strip(report, Workload::Disk, "Latency of each configuration")
}

/// The latencies of all configurations, where they are not the answer.
pub(super) fn other_latencies(report: &Report) -> Option<Chart> {
    latencies(report).filter(|_| !matches!(Run::of(report), Run::Tests))
}

/// Each series of sweeps at each depth.
pub(super) fn depths(report: &Report) -> Option<Table> {
    sweeps::table(&report.disk.sweeps)
}

/// A tile of a latency in microseconds.
fn latency_tile(label: impl Into<String>, us: f64) -> Tile {
    let text = format::latency(us);
    let (figure, unit) = text.split_once(' ').unwrap_or((&text, ""));
    Tile::new(label, figure, unit)
}

/// A tile of an invalid test, with its figure if there is one.
fn invalid_tile(label: impl Into<String>, figure: Option<f64>, unit: &str, state: State) -> Tile {
    let tile = match figure {
        Some(figure) => Tile::new(label, format::figure(figure), unit),
        None => Tile::new(label, "unknown", ""),
    };
    tile.tone(Tone::Invalid).beside(uncounted(state))
}

/// `invalid, does not count`.
fn uncounted(state: State) -> String {
    format!("{}, does not count", format::state(state))
}

/// An interval in words, without the brackets that it has in a sentence.
fn bare(interval: &str) -> String {
    interval.trim_start_matches('(').trim_end_matches(')').to_owned()
}

/// Studies for the tests of this folder.
#[cfg(test)]
mod samples {
    use record::{CacheMode, DiskSetup, MeasuredTrial, StudyRecord};

    use crate::fixture::{self, Made};

    fn page(outstanding: u32, cache: CacheMode) -> impl FnOnce(&mut DiskSetup) {
        move |setup| (setup.block_bytes, setup.outstanding, setup.cache) = (8192, outstanding, cache)
    }

    /// What a check measures of a disk.
    pub(super) fn check() -> StudyRecord {
        let scan = |setup: &mut DiskSetup| {
            (setup.pattern, setup.block_bytes, setup.outstanding) = ("sequential".to_owned(), 1 << 19, 8);
        };
        let trials = vec![
            Made::read("page read Q1").with(page(1, CacheMode::Direct)).rate(7_541.0, 132.0).trial(1),
            Made::read("page read Q32").with(page(32, CacheMode::Direct)).rate(31_000.0, 986.0).trial(2),
            Made::read("scan").with(scan).rate(3_308.0, 2_410.0).trial(3),
            Made::write("log write")
                .with(page(1, CacheMode::DirectWriteThrough))
                .rate(374.0, 2_670.0)
                .trial(4),
            Made::write("page write").with(page(32, CacheMode::Direct)).rate(21_990.0, 1_410.0).trial(5),
        ];
        fixture::study("check", trials)
    }

    /// Reads and writes of CrystalDiskMark 8, each several times.
    pub(super) fn cdm() -> StudyRecord {
        let rows = [
            ("SEQ1M Q8T1", "sequential", 1 << 20, 8, 2_000.0),
            ("RND4K Q32T1", "random", 4096, 32, 100_000.0),
            ("RND4K Q1T1", "random", 4096, 1, 29_000.0),
        ];
        let mut trials: Vec<MeasuredTrial> = Vec::new();
        for (direction, share) in [("read", 100.0), ("write", 0.0)] {
            for (name, pattern, block_bytes, outstanding, per_s) in rows {
                for block in 1..=3 {
                    let load = |setup: &mut DiskSetup| {
                        (setup.pattern, setup.block_bytes) = (pattern.to_owned(), block_bytes);
                        (setup.outstanding, setup.read_per_cent) = (outstanding, share);
                    };
                    let made = if share > 0.0 { Made::read } else { Made::write };
                    let per_s = per_s * (1.0 + 0.01 * f64::from(block)) * (0.5 + share / 200.0);
                    let made = made(&format!("{name} {direction}")).with(load).rate(per_s, 100.0).noise(0.0);
                    trials.push(made.block(block).trial(trials.len() as u32 + 1));
                }
            }
        }
        fixture::study("cdm8", trials)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, Made};

    fn headings(study: &record::StudyRecord) -> (Option<String>, Vec<String>) {
        let report = Report::of(study);
        let overview = crate::workloads::of(Workload::Disk).overview(&report);
        (chart(&report).map(|chart| chart.heading), overview.into_iter().map(|chart| chart.heading).collect())
    }

    #[test]
    fn each_run_leads_with_its_answer_and_does_not_draw_it_twice() {
        let latency = "Latency of each configuration";
        let steadiness = "Steadiness of each configuration";
        let cases = [
            (
                samples::check(),
                "This storage among classes of storage (logarithmic scales)",
                vec![latency, steadiness],
            ),
            (samples::cdm(), "Throughput of reads and writes", vec![latency, steadiness]),
            (crate::tests::steady(), "Rate of each round: 4 KiB, 0% read", vec![]),
            (crate::tests::quick(), latency, vec![steadiness]),
        ];
        for (study, lead, overview) in cases {
            let found = headings(&study);
            assert_eq!(
                (found.0.as_deref(), found.1),
                (Some(lead), overview.iter().map(|&one| one.to_owned()).collect())
            );
        }
        let (lead, overview) = headings(&crate::tests::sweep());
        assert_eq!(lead.as_deref(), Some("Latency over throughput: random read"));
        assert!(
            !overview.is_empty() && overview.iter().all(|heading| heading.contains("by outstanding I/Os")),
            "{overview:?}"
        );
    }

    #[test]
    fn one_ability_is_no_storage() {
        let page = |number| Made::read(&format!("read {number}")).trial(number);
        let report = Report::of(&fixture::study("disk", (1..=5).map(page).collect()));
        assert!(matches!(Run::of(&report), Run::Tests));
        assert!(matches!(Run::of(&Report::of(&samples::check())), Run::Storage(_)));
    }
}
