//! The rows of CrystalDiskMark: what each came to in reads and in writes, as its users know it.

use record::{DiskSetup, State, Workload};

use crate::configuration::Configuration;
use crate::format::{self, figure, figure_or_dash};
use crate::lead::Tile;
use crate::report::Report;
use crate::summary::Answer;
use crate::table::{Column, INTERVAL, Row, Table};
use crate::trial::Trial;
use crate::verdict::rate::interval;

use super::{bare, invalid_tile};

/// Profiles that measure these rows.
const PROFILES: &str = "cdm";
/// From this block size on, nobody asks for I/Os a second.
const LARGE_BYTES: u64 = 128 << 10;
/// Directions, in their order.
pub(super) const DIRECTIONS: [&str; 2] = ["read", "write"];

/// All rows.
pub(crate) struct Grid {
    pub(super) rows: Vec<GridRow>,
}

/// A row: the same load as reads and as writes.
pub(super) struct GridRow {
    /// `RND4K Q32T1`.
    pub(super) name: String,
    /// Block, pattern and depth of its first test that was set up.
    load: Option<Load>,
    /// Reads and writes.
    pub(super) cells: [Cell; 2],
}

#[derive(Clone, Copy, PartialEq)]
struct Load {
    block_bytes: u64,
    outstanding: u64,
    is_sequential: bool,
}

/// What a row came to in one direction.
pub(super) enum Cell {
    Counts(Figures),
    /// Trials ran, and none of them counts.
    Invalid {
        mb_per_s: Option<f64>,
        state: State,
    },
    /// No trial of it ran.
    Missing,
}

/// Rates of a cell that counts.
pub(super) struct Figures {
    pub(super) mb_per_s: f64,
    /// 95% interval, over the repeats or of the only trial.
    pub(super) interval: Option<(f64, f64)>,
    interval_in_words: String,
    /// I/Os a second.
    pub(super) per_s: f64,
    best_mb_per_s: Option<f64>,
}

impl Load {
    fn of(setup: &DiskSetup) -> Self {
        Self {
            block_bytes: setup.block_bytes,
            outstanding: setup.outstanding_total(),
            is_sequential: setup.pattern.starts_with("sequential"),
        }
    }
}

impl Figures {
    fn of(configuration: &Configuration) -> Option<Self> {
        let main = configuration.main().filter(|_| !configuration.is_failed())?;
        let (mb_per_s, per_s) = (main.mb_per_s?, main.per_s.filter(|per_s| *per_s > 0.0)?);
        let scale = mb_per_s / per_s;
        Some(Self {
            mb_per_s,
            interval: configuration.rate_per_s.map(|rate| ((rate.low * scale).max(0.0), rate.high * scale)),
            interval_in_words: bare(&interval(configuration, scale)),
            per_s,
            best_mb_per_s: configuration.best_mb_per_s.filter(|_| configuration.trials.len() > 1),
        })
    }
}

impl Figures {
    /// Whether a best trial is told apart from the mean.
    pub(super) fn is_repeated(&self) -> bool {
        self.best_mb_per_s.is_some()
    }
}

impl Cell {
    fn of(report: &Report, name: &str) -> Self {
        let is_it = |configuration: &&Configuration| configuration.name == name;
        let counted = report.configurations_of(Workload::Disk).find(is_it).and_then(Figures::of);
        let ran = || report.disks().find(|trial| trial.name == name && trial.has_run());
        match (counted, ran()) {
            (Some(figures), _) => Self::Counts(figures),
            (None, Some(trial)) => {
                Self::Invalid { mb_per_s: trial.main().and_then(|main| main.mb_per_s), state: trial.state }
            }
            (None, None) => Self::Missing,
        }
    }

    pub(super) fn figures(&self) -> Option<&Figures> {
        match self {
            Self::Counts(figures) => Some(figures),
            Self::Invalid { .. } | Self::Missing => None,
        }
    }
}

impl GridRow {
    fn of(report: &Report, name: &str) -> Self {
        let of = |direction: &str| format!("{name} {direction}");
        let is_here = |trial: &&Trial| DIRECTIONS.iter().any(|direction| trial.name == of(direction));
        Self {
            name: name.to_owned(),
            load: report.disks().filter(is_here).find_map(|trial| trial.disk().map(Load::of)),
            cells: DIRECTIONS.map(|direction| Cell::of(report, &of(direction))),
        }
    }

    /// Whether its I/Os are so small that I/Os a second are asked for.
    pub(super) fn is_small(&self) -> bool {
        self.load.is_some_and(|load| load.block_bytes < LARGE_BYTES)
    }
}

impl Grid {
    /// None of other profiles, and of what is compared.
    pub(crate) fn of(report: &Report) -> Option<Self> {
        let profile = report.profile.as_deref().filter(|profile| profile.starts_with(PROFILES));
        let mut names: Vec<&str> = Vec::new();
        for trial in report.disks().filter(|_| profile.is_some() && report.comparison.is_none()) {
            let row =
                DIRECTIONS.iter().find_map(|direction| trial.name.strip_suffix(direction)?.strip_suffix(' '));
            names.extend(row.filter(|name| !names.contains(name)));
        }
        let rows: Vec<GridRow> = names.iter().map(|name| GridRow::of(report, name)).collect();
        let has_run = |row: &GridRow| row.cells.iter().any(|cell| !matches!(cell, Cell::Missing));
        rows.iter().any(has_run).then_some(Self { rows })
    }

    /// The rows that are asked for first: the first sequential one, and the smallest blocks one at a time.
    fn foremost(&self) -> impl Iterator<Item = &GridRow> {
        let loads = || self.rows.iter().filter_map(|row| Some((row, row.load?)));
        let sequential = loads().find(|(_, load)| load.is_sequential);
        let scattered = loads().filter(|(_, load)| !load.is_sequential);
        let small = scattered.min_by_key(|(_, load)| (load.block_bytes, load.outstanding));
        sequential.into_iter().chain(small).map(|(row, _)| row)
    }

    /// Reads and writes of the foremost rows.
    pub(super) fn tiles(&self) -> Vec<Tile> {
        self.foremost().flat_map(|row| (0..2).filter_map(|place| tile(row, place))).collect()
    }

    /// The foremost rows in a sentence, and all of them as a table.
    pub(crate) fn answer(&self) -> Answer {
        let sentence = self.foremost().map(|row| format!("{} {}", row.name, in_words(row)));
        let text = sentence.collect::<Vec<String>>().join("; ");
        Answer { table: Some(self.screen()), ..Answer::labelled("Result", text) }
    }

    /// For a screen of few columns.
    fn screen(&self) -> Table {
        let spare = |head: &'static str, spare: u8| Column { spare, ..Column::number(head) };
        let direction = |head: &'static str| [Column::number(head), spare(INTERVAL, 2), spare("IOPS", 3)];
        let columns = [Column::words("MB/s")].into_iter().chain(direction("Read")).chain(direction("Write"));
        let row = |row: &GridRow| {
            let cells = row.cells.iter().flat_map(|cell| screen_cells(row, cell));
            Row::of([row.name.clone()].into_iter().chain(cells).collect())
        };
        Table {
            title: "Throughput".to_owned(),
            columns: columns.collect(),
            rows: self.rows.iter().map(row).collect(),
        }
    }

    /// All figures, a row a test.
    pub(super) fn table(&self) -> Table {
        let columns = vec![
            Column::words("test"),
            Column::number("MB/s"),
            Column::number(INTERVAL),
            Column::number("best MB/s"),
            Column::number("IOPS"),
        ];
        let tests =
            self.rows.iter().flat_map(|row| row.cells.iter().zip(DIRECTIONS).map(move |test| (row, test)));
        let cells = |(row, (cell, direction)): (&GridRow, (&Cell, &str))| {
            let figures = cell.figures();
            Row::of(vec![
                format!("{} {direction}", row.name),
                mb_per_s(cell),
                figures.map_or_else(|| format::UNKNOWN.to_owned(), interval_of),
                figure_or_dash(figures.and_then(|figures| figures.best_mb_per_s)),
                figure_or_dash(figures.map(|figures| figures.per_s)),
            ])
        };
        Table { title: "Throughput of each test".to_owned(), columns, rows: tests.map(cells).collect() }
    }
}

fn tile(row: &GridRow, place: usize) -> Option<Tile> {
    let label = format!("{} {}", row.name, DIRECTIONS[place]);
    match &row.cells[place] {
        Cell::Counts(figures) => {
            let iops = format!("; {} IOPS", figure(figures.per_s));
            let iops = if row.is_small() { iops } else { String::new() };
            let beside = format!("{}{iops}", figures.interval_in_words);
            Some(Tile::new(label, figure(figures.mb_per_s), "MB/s").beside(beside))
        }
        Cell::Invalid { mb_per_s, state } => Some(invalid_tile(label, *mb_per_s, "MB/s", *state)),
        Cell::Missing => None,
    }
}

/// `2,119 MB/s read, 3,059 MB/s write`.
fn in_words(row: &GridRow) -> String {
    let cells = row.cells.iter().zip(DIRECTIONS).filter_map(|(cell, direction)| match cell {
        Cell::Counts(figures) => Some(format!("{} MB/s {direction}", figure(figures.mb_per_s))),
        Cell::Invalid { state, .. } => Some(format!("{direction} unknown ({})", format::state(*state))),
        Cell::Missing => None,
    });
    cells.collect::<Vec<String>>().join(", ")
}

/// A figure, or why there is none.
fn mb_per_s(cell: &Cell) -> String {
    match cell {
        Cell::Counts(figures) => figure(figures.mb_per_s),
        Cell::Invalid { state, .. } => format::state(*state).to_owned(),
        Cell::Missing => format::UNKNOWN.to_owned(),
    }
}

pub(super) fn interval_of(figures: &Figures) -> String {
    figures.interval.map_or_else(|| format::UNKNOWN.to_owned(), |(low, high)| format::range(low, high))
}

/// Megabytes a second, the interval, and I/Os a second where they are asked for.
fn screen_cells(row: &GridRow, cell: &Cell) -> [String; 3] {
    let figures = cell.figures();
    let iops = figures.filter(|_| row.is_small()).map(|figures| figure(figures.per_s));
    [mb_per_s(cell), figures.map(interval_of).unwrap_or_default(), iops.unwrap_or_default()]
}

#[cfg(test)]
mod tests {
    use super::super::{samples, tiles};
    use super::*;
    use crate::lead::Tone;
    use record::StudyRecord;

    fn grid(study: &StudyRecord) -> Grid {
        Grid::of(&Report::of(study)).unwrap()
    }

    /// The study with all trials of a test in this state.
    fn with(state: State, name: &str) -> StudyRecord {
        let mut study = samples::cdm();
        study
            .trials
            .iter_mut()
            .filter(|trial| trial.trial.name == name)
            .for_each(|trial| trial.trial.state = state);
        study
    }

    #[test]
    fn the_first_figures_are_those_of_sequential_and_of_single_small_io() {
        let tiles = tiles(&Report::of(&samples::cdm()));
        let told: Vec<(&str, &str, &str)> =
            tiles.iter().map(|tile| (&*tile.label, &*tile.figure, &*tile.unit)).collect();
        assert_eq!(
            told,
            [
                ("SEQ1M Q8T1 read", "2,139", "MB/s"),
                ("SEQ1M Q8T1 write", "1,070", "MB/s"),
                ("RND4K Q1T1 read", "121", "MB/s"),
                ("RND4K Q1T1 write", "60.6", "MB/s"),
            ]
        );
        assert!(
            tiles[0].beside.starts_with("95% CI ") && tiles[0].beside.ends_with(", 3 trials"),
            "{:?}",
            tiles[0]
        );
        assert!(tiles[2].beside.ends_with("; 29,580 IOPS"), "{:?}", tiles[2]);
    }

    /// The terminal had no row of it, but the reads of a flash array of 2014.
    #[test]
    fn the_first_screen_of_a_terminal_has_every_row_in_both_directions() {
        let screen = Report::of(&samples::cdm()).brief(Some(80)).to_string();
        let lines: Vec<&str> = screen.lines().collect();
        assert!(lines.iter().all(|line| line.chars().count() <= 80) && lines.len() <= 11, "{screen}");
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<String>>();
        assert_eq!(words(lines[1]).join(" "), "MB/s Read 95% CI IOPS Write 95% CI IOPS");
        for (line, name, read, write) in
            [(2, "SEQ1M Q8T1", "2,139", "1,070"), (4, "RND4K Q1T1", "121", "60.6")]
        {
            let cells = words(lines[line]);
            assert_eq!(cells[..3].join(" "), format!("{name} {read}"), "{screen}");
            assert!(cells.contains(&write.to_owned()), "{screen}");
        }
        assert!(lines[4].contains("29,580") && !lines[2].contains("2,040"), "IOPS of small blocks: {screen}");
        assert!(!screen.contains("uncached"), "{screen}");
    }

    #[test]
    fn a_narrow_terminal_keeps_the_figures() {
        let screen = Report::of(&samples::cdm()).brief(Some(40)).to_string();
        let row = screen.lines().find(|line| line.contains("SEQ1M Q8T1")).unwrap();
        assert!(row.contains("2,139") && row.contains("1,070") && row.chars().count() <= 40, "{screen}");
    }

    #[test]
    fn a_test_that_does_not_count_is_invalid_in_its_cell_and_in_words() {
        let study = with(State::Invalid, "SEQ1M Q8T1 write");
        let grid = grid(&study);
        assert!(matches!(grid.rows[0].cells[1], Cell::Invalid { mb_per_s: Some(_), state: State::Invalid }));
        assert_eq!(grid.table().rows[1].cells[1..], ["invalid", "–", "–", "–"]);
        assert!(
            grid.answer().text.starts_with("SEQ1M Q8T1 2,139 MB/s read, write unknown (invalid); "),
            "{:?}",
            grid.answer()
        );
        let tile = &grid.tiles()[1];
        assert_eq!((tile.tone, &*tile.label), (Tone::Invalid, "SEQ1M Q8T1 write"));
        assert!(Report::of(&study).brief(Some(80)).to_string().contains("invalid"));
    }

    #[test]
    fn a_test_that_did_not_run_has_a_dash_and_no_tile() {
        let grid = grid(&with(State::Skipped, "SEQ1M Q8T1 write"));
        assert!(matches!(grid.rows[0].cells[1], Cell::Missing));
        assert_eq!(grid.table().rows[1].cells[1], "–");
        assert_eq!(grid.tiles().len(), 3);
    }

    #[test]
    fn other_profiles_have_no_grid() {
        let mut study = samples::cdm();
        study.manifest.profile = Some("quick".to_owned());
        assert!(Grid::of(&Report::of(&study)).is_none());
        let mut study = samples::cdm();
        study.trials.iter_mut().for_each(|trial| trial.trial.state = State::Skipped);
        assert!(Grid::of(&Report::of(&study)).is_none(), "nothing was measured");
    }
}
