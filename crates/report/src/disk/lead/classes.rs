//! What a storage gives a database: commits, page reads and scans, each with the classes of storage that it is compared with.

use record::{State, Workload};

use crate::configuration::Configuration;
use crate::disk::class::{self, Band};
use crate::disk::published::{self, Library};
use crate::disk::sign;
use crate::disk::storage::{Kind, Storage, Test, first_trial};
use crate::format;
use crate::lead::Tile;
use crate::report::Report;
use crate::trial::Figures;
use crate::verdict::rate::interval;

use super::{bare, invalid_tile};

/// One ability of a storage.
pub(super) struct Ability {
    /// `Uncached 8 KiB reads at Q32`.
    pub(super) name: String,
    /// `reads/s`.
    pub(super) unit: &'static str,
    /// Classes, the slowest first.
    pub(super) bands: Vec<Band>,
    pub(super) found: Found,
}

/// What was measured of an ability.
pub(super) enum Found {
    Counts {
        value: f64,
        /// Its 95% interval; none of a trial that is too short for one.
        interval: Option<(f64, f64)>,
        /// The interval in words, and latencies.
        beside: String,
    },
    /// The test left no figure that counts.
    Not { value: Option<f64>, state: State },
}

impl Ability {
    pub(super) fn tile(&self) -> Tile {
        match &self.found {
            Found::Counts { value, beside, .. } => {
                Tile::new(&self.name, format::figure(*value), self.unit).beside(beside)
            }
            Found::Not { value, state } => invalid_tile(&self.name, *value, self.unit, *state),
        }
    }
}

/// Rows that were measured.
pub(super) fn abilities(report: &Report, storage: &Storage) -> Vec<Ability> {
    let Some(library) = published::library() else { return Vec::new() };
    [Kind::Commit, Kind::Pages, Kind::Scan]
        .into_iter()
        .filter_map(|kind| ability(report, storage, library, kind))
        .collect()
}

fn ability(report: &Report, storage: &Storage, library: &Library, kind: Kind) -> Option<Ability> {
    let (test, unit, bands) = match kind {
        Kind::Commit => (&storage.commit, "commits/s", class::commit_bands()),
        Kind::Pages => (&storage.pages, "reads/s", class::read_bands(library)?),
        Kind::Scan => (&storage.scan, "MB/s", class::scan_bands(library)?),
        Kind::Page | Kind::Writes | Kind::Other => return None,
    };
    let found = match test {
        Some(test) => counts(report, storage, test, value_of(kind))?,
        None if storage.unknown.contains(&kind) => {
            let trial = first_trial(report, kind)?;
            Found::Not { value: trial.main().and_then(value_of(kind)), state: trial.state }
        }
        None => return None,
    };
    Some(Ability { name: name(report, kind)?, unit, bands, found })
}

fn value_of(kind: Kind) -> fn(&Figures) -> Option<f64> {
    if kind == Kind::Scan { |figures| figures.mb_per_s } else { |figures| figures.per_s }
}

/// An invalid test is called as a valid one.
fn name(report: &Report, kind: Kind) -> Option<String> {
    let disk = first_trial(report, kind)?.disk()?;
    Some(match kind {
        Kind::Commit => "Durable commits".to_owned(),
        Kind::Pages => {
            format!("Uncached {} reads at Q{}", format::bytes(disk.block_bytes), disk.outstanding_total())
        }
        _ => "Scans".to_owned(),
    })
}

fn counts(
    report: &Report,
    storage: &Storage,
    test: &Test,
    value: fn(&Figures) -> Option<f64>,
) -> Option<Found> {
    let is_it = |configuration: &&Configuration| configuration.name == test.name;
    let configuration = report.configurations_of(Workload::Disk).find(is_it)?;
    let figures = configuration.main()?;
    let (value, per_s) = (value(figures)?, figures.per_s.filter(|per_s| *per_s > 0.0)?);
    let scale = value / per_s;
    let doubt = (test.kind == Kind::Commit && sign::cache(storage).is_some()).then(|| sign::CACHE.to_owned());
    let parts = [doubt, Some(bare(&interval(configuration, scale))), latencies(storage, test)];
    Some(Found::Counts {
        value,
        interval: configuration.rate_per_s.map(|rate| ((rate.low * scale).max(0.0), rate.high * scale)),
        beside: parts.into_iter().flatten().collect::<Vec<_>>().join("; "),
    })
}

/// Of commits how long one takes, of reads how long one takes alone.
fn latencies(storage: &Storage, test: &Test) -> Option<String> {
    match test.kind {
        Kind::Commit => {
            let p99 = test.p99_us.map(|us| format!(", p99 {}", format::latency(us))).unwrap_or_default();
            Some(format!("{} each{p99}", format::latency(test.mean_us)))
        }
        Kind::Pages => storage.page.as_ref().map(|page| format!("{} at Q1", format::latency(page.mean_us))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{samples, tiles};
    use crate::lead::{Tile, Tone};
    use crate::report::Report;
    use record::{State, StudyRecord};

    fn of(study: &StudyRecord) -> Vec<Tile> {
        tiles(&Report::of(study))
    }

    #[test]
    fn commits_page_reads_and_scans_come_first_with_intervals_and_latencies() {
        let tiles = of(&samples::check());
        let told: Vec<(&str, &str, &str)> =
            tiles.iter().map(|tile| (&*tile.label, &*tile.figure, &*tile.unit)).collect();
        assert_eq!(
            told,
            [
                ("Durable commits", "376", "commits/s"),
                ("Uncached 8 KiB reads at Q32", "31,040", "reads/s"),
                ("Scans", "1,732", "MB/s"),
            ]
        );
        assert!(tiles[0].beside.contains(" in this trial; 2.68 ms each, p99 "), "{:?}", tiles[0]);
        assert!(tiles[1].beside.ends_with(" in this trial; 132 µs at Q1"), "{:?}", tiles[1]);
        assert!(tiles[2].beside.ends_with(" in this trial"), "{:?}", tiles[2]);
    }

    /// An invalid test was left out of the page, as if it had not been made.
    #[test]
    fn an_invalid_test_is_struck_out_and_one_without_a_figure_is_unknown() {
        let mut study = samples::check();
        study.trials[3].trial.state = State::Invalid;
        let invalid = &of(&study)[0];
        assert_eq!((invalid.tone, &*invalid.figure, &*invalid.unit), (Tone::Invalid, "376", "commits/s"));
        assert_eq!(invalid.beside, "invalid, does not count");
        study.trials[3].measured.clear();
        study.trials[3].samples.clear();
        let unknown = &of(&study)[0];
        assert_eq!((unknown.tone, &*unknown.figure, &*unknown.unit), (Tone::Invalid, "unknown", ""));
    }
}
