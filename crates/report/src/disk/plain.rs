//! What a disk gives a database, for people who do not think in queue depths: commits, pages, scans.

use record::{CacheMode, DiskSetup, Workload};

use crate::configuration::Configuration;
use crate::format;
use crate::report::Report;
use crate::trial::Figures;

/// So many different tests ask what a disk is good for; fewer are told by their names.
const TESTS_LEAST: usize = 4;
/// Half a turn of a disk of 15,000 turns a minute, in microseconds: what a commit waits for where nothing buffers it.
const HALF_TURN_US: f64 = 2_000.0;

/// What a test tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Writes one after the other, each of which is on stable storage when it is answered.
    Commit,
    /// Pages read one after the other.
    Page,
    /// Pages read many at once.
    Pages,
    Scan,
    Other,
}

/// Sentences of several disk tests together; none where they belong to one series, or are few.
pub(super) fn answers(report: &Report) -> Vec<String> {
    let together = report.comparison.is_some()
        || !report.disk.sweeps.is_empty()
        || report.disk.steady_state.is_some()
        || report.disk.expectation.is_some();
    let disks: Vec<&Configuration> =
        report.configurations_of(Workload::Disk).filter(|disk| !disk.is_failed()).collect();
    if together || disks.len() < TESTS_LEAST {
        return Vec::new();
    }
    let first = |kind: Kind| {
        let mut of = disks.iter().filter(|disk| disk.disk().is_some_and(|setup| kind_of(setup) == kind));
        of.find_map(|disk| Some((disk.disk()?, disk.main()?)))
    };
    let mut answers = Vec::new();
    answers.extend(first(Kind::Commit).and_then(|(_, figures)| commit(figures)));
    answers.extend(pages(first(Kind::Page), first(Kind::Pages)));
    let scan = first(Kind::Scan).and_then(|(_, figures)| figures.mb_per_s);
    answers.extend(scan.map(|mb_per_s| format!("Scans read {} MB/s", format::figure(mb_per_s))));
    answers
}

fn kind_of(setup: &DiskSetup) -> Kind {
    let is_durable = matches!(setup.cache, CacheMode::DirectWriteThrough | CacheMode::BufferedWriteThrough)
        || setup.flush_every_writes == Some(1);
    match (setup.read_per_cent, setup.pattern.as_str(), setup.outstanding_total()) {
        (0.0, _, 1) if is_durable => Kind::Commit,
        (100.0, "random", 1) => Kind::Page,
        (100.0, "random", _) => Kind::Pages,
        (100.0, "sequential" | "sequential:shared", _) => Kind::Scan,
        _ => Kind::Other,
    }
}

/// `A commit takes 2.67 ms (p99 12.0 ms): 374 a second one after the other`.
fn commit(figures: &Figures) -> Option<String> {
    let mean_us = figures.latency.mean_us?;
    let slow = if mean_us >= HALF_TURN_US { " (as slow as a disk that turns)" } else { "" };
    let (time, per_s) = (time(figures, mean_us), format::figure(figures.per_s?));
    Some(format!("A commit takes {time}: {per_s} a second one after the other{slow}"))
}

/// `A page that is not in memory takes 132 µs (p99 1.91 ms) to read; with 32 at once 31,000 a second are read`.
fn pages(one: Option<(&DiskSetup, &Figures)>, many: Option<(&DiskSetup, &Figures)>) -> Option<String> {
    let one = one.and_then(|(_, figures)| Some(time(figures, figures.latency.mean_us?)));
    let many = many.and_then(|(setup, figures)| {
        let (outstanding, bytes) = (setup.outstanding_total(), format::bytes(setup.block_bytes));
        Some(format!(
            "with {outstanding} at once {} of {bytes} a second are read",
            format::figure(figures.per_s?)
        ))
    });
    match (one, many) {
        (Some(one), Some(many)) => Some(format!("A page that is not in memory takes {one} to read; {many}")),
        (Some(one), None) => Some(format!("A page that is not in memory takes {one} to read")),
        (None, Some(many)) => Some(format!("Pages that are not in memory: {many}")),
        (None, None) => None,
    }
}

/// `132 µs (p99 1.91 ms)`.
fn time(figures: &Figures, mean_us: f64) -> String {
    let p99 = figures.latency.p99_us.map(|us| format!(" (p99 {})", format::latency(us))).unwrap_or_default();
    format!("{}{p99}", format::latency(mean_us))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn tests_are_known_by_what_they_do_and_not_by_their_names() {
        let setup = |read_per_cent, pattern: &str, outstanding, cache| DiskSetup {
            read_per_cent,
            pattern: pattern.to_owned(),
            outstanding,
            cache,
            threads: 1,
            flush_every_writes: None,
            ..fixture::disk_setup()
        };
        let direct = CacheMode::Direct;
        for (expected, setup) in [
            (Kind::Commit, setup(0.0, "sequential", 1, CacheMode::DirectWriteThrough)),
            (Kind::Commit, DiskSetup { flush_every_writes: Some(1), ..setup(0.0, "random", 1, direct) }),
            (Kind::Page, setup(100.0, "random", 1, direct)),
            (Kind::Pages, setup(100.0, "random", 32, direct)),
            (Kind::Scan, setup(100.0, "sequential", 8, direct)),
            (Kind::Scan, setup(100.0, "sequential:shared", 8, direct)),
            (Kind::Other, setup(0.0, "random", 32, direct)),
            (Kind::Other, setup(0.0, "random", 32, CacheMode::DirectWriteThrough)),
            (Kind::Other, setup(70.0, "random", 32, direct)),
            (Kind::Other, setup(100.0, "zipf:0.99", 1, direct)),
        ] {
            assert_eq!(kind_of(&setup), expected, "{setup:?}");
        }
    }
}
