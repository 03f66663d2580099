//! Kinds of tables by operations: the speed of each kind relative to the reference, and the rows that survive a crash.

use record::{State, TablesSetup, Workload};

use super::figures::{Against, Measure, OPERATIONS, all};
use super::plain::{is_like_reference, rounded};
use super::survival::{Kept, kept};
use super::table::{Named, cell};
use super::{Tables, survival};
use crate::chart::canvas::{Area, Canvas, Ink, Side, svg, titled};
use crate::chart::frame::WIDTH;
use crate::chart::{Chart, Key, legend};
use crate::format;
use crate::report::Report;
use crate::table::{Column, Row as TableRow, Table, dash};
use crate::trial::Trial;

/// Maximum number of rows. More rows would not give an overview.
const ROWS_MOST: usize = 16;

/// Heights of the headings, of a row, and of a line of text.
const HEAD: f64 = 66.0;
const ROW: f64 = 36.0;
const LINE: f64 = 15.0;
/// Widths of a column of rates, of the column of durability, of the names (minimum and maximum), and of a letter of a name.
const RATE: f64 = 50.0;
const DURABLE: f64 = 68.0;
const NAME: (f64, f64) = (58.0, 92.0);
const LETTER: f64 = 7.6;
/// Gap between two cells.
const GAP: f64 = 2.0;

/// Headings of the operations, on one or two lines. Every second heading is higher than its neighbours.
const HEADS: [[&str; 2]; OPERATIONS.len()] = [
    ["", "load"],
    ["", "SELECT"],
    ["", "scan"],
    ["GROUP", "BY"],
    ["UPDATE", "all"],
    ["updates", "by key"],
    ["deletes", "by key"],
    ["DELETE", "all"],
];

const FASTER: Ink = Ink::Series(0);
const SLOWER: Ink = Ink::Series(1);
/// Shades of a cell: the minimum factor, and the opacity.
const SHADES: [(f64, f64); 3] = [(3.0, 0.42), (1.5, 0.26), (1.1, 0.12)];

/// A row of the matrix.
struct Row {
    /// Kind of table, and the other levels.
    name: [String; 2],
    /// Definition of the table, in the words of its engine.
    made: String,
    cells: Vec<Cell>,
    /// Durability of commits, and the outcome of the kill.
    durable: [String; 2],
    /// Durability and outcome in a sentence.
    durability: String,
    /// State of the trial, if it does not count.
    state: Option<State>,
}

/// The result of a kind of table in an operation.
struct Cell {
    /// A factor, or a figure with its unit.
    lines: [String; 2],
    /// Ink and opacity of its background.
    shade: Option<(Ink, f64)>,
    /// The complete text: `volatile, UPDATE all: 470 ms (×1.6)`.
    whole: String,
}

/// The matrix of a report. Returns none without a row, and with too many rows.
pub(super) fn chart(report: &Report) -> Option<Chart> {
    let all = all(report);
    let named = Named::of(report);
    let counted = all.iter().map(|one| counted(report, one, &named));
    let rows: Vec<Row> = counted.chain(uncounted(report, &named)).collect();
    if rows.is_empty() || rows.len() > ROWS_MOST {
        return None;
    }
    let reference = all.iter().find_map(Against::reference_kind);
    let title = match reference {
        Some(reference) => format!("Speed of each kind of table, in times of {reference}"),
        None => "Speed of each kind of table".to_owned(),
    };
    let columns = Columns::of(&rows);
    let height = HEAD + rows.len() as f64 * ROW + 4.0;
    let drawing = svg((WIDTH, height), &title, &described(&rows), |canvas| {
        heads(canvas, &columns);
        for (index, row) in rows.iter().enumerate() {
            draw(canvas, row, &columns, HEAD + index as f64 * ROW);
        }
    });
    Some(Chart {
        heading: title,
        svg: titled(&drawing, &areas(&rows, &columns)),
        legend: keys(&rows, reference),
        caption: caption(&rows, &all, reference),
        table: table(report, &all, &named),
    })
}

/// The row of a configuration: factors if it has a reference, otherwise figures.
fn counted(report: &Report, one: &Against<'_>, named: &Named) -> Row {
    let configuration = one.configuration;
    let name = name(&named.cells(one.setup, &configuration.levels), "");
    let kept = kept(one.tables(report));
    Row {
        cells: OPERATIONS.iter().map(|measure| of_measure(report, one, measure, &name[0])).collect(),
        made: one.setup.made.clone(),
        durable: [promised(one.setup).to_owned(), short(kept.as_ref())],
        durability: format!("{}; {}", one.setup.server.durability, survival::in_words(kept.as_ref())),
        state: configuration.is_failed().then_some(State::Failed),
        name,
    }
}

fn of_measure(report: &Report, one: &Against<'_>, measure: &Measure, name: &str) -> Cell {
    let times = measure.times_better(one, report).filter(|times| times.is_finite());
    let whole = format!("{name}, {}: {}", measure.head, cell(report, one, measure));
    match times {
        Some(times) => Cell {
            lines: [rounded(times), String::new()],
            shade: shade(times)
                .filter(|_| !is_like_reference(report, &one.configuration.trials, measure.metric)),
            whole,
        },
        None => Cell { lines: figure(measure, one.mean(report, measure.of)), shade: None, whole },
    }
}

/// A figure, with its unit on the line below.
fn figure(measure: &Measure, value: Option<f64>) -> [String; 2] {
    let text = dash(value.map(measure.print));
    match text.split_once(' ') {
        Some((number, unit)) => [number.to_owned(), unit.to_owned()],
        None if value.is_some() => [text, "per s".to_owned()],
        None => [text, String::new()],
    }
}

fn shade(times: f64) -> Option<(Ink, f64)> {
    let (ink, factor) = if times >= 1.0 { (FASTER, times) } else { (SLOWER, 1.0 / times) };
    let (_, opacity) = SHADES.into_iter().find(|(from, _)| factor >= *from)?;
    Some((ink, opacity))
}

/// The rows of invalid trials, for configurations without a trial that counts.
fn uncounted(report: &Report, named: &Named) -> Vec<Row> {
    let counts = |trial: &Trial| report.configurations_of(Workload::Tables).any(|of| of.name == trial.name);
    let invalid = |trial: &&Trial| trial.state == State::Invalid && !counts(trial);
    let row = |trial: &Trial| Some(row_of_trial(trial, trial.tables()?, named));
    report.trials_of(Workload::Tables).filter(invalid).filter_map(row).collect()
}

fn row_of_trial(trial: &Trial, tables: &Tables, named: &Named) -> Row {
    let name = name(&named.cells(&tables.setup, &trial.levels), format::state(trial.state));
    let cell = |measure: &Measure| {
        let value = (measure.of)(tables);
        let whole =
            format!("{}, {}: {} (does not count)", name[0], measure.head, dash(value.map(measure.print)));
        Cell { lines: figure(measure, value), shade: None, whole }
    };
    let kept = kept(std::iter::once(tables));
    Row {
        cells: OPERATIONS.iter().map(cell).collect(),
        made: tables.setup.made.clone(),
        durable: [promised(&tables.setup).to_owned(), short(kept.as_ref())],
        durability: format!("{}; {}", tables.setup.server.durability, survival::in_words(kept.as_ref())),
        state: Some(trial.state),
        name,
    }
}

/// The kind of table, and below it the other levels, or otherwise the text `what`.
fn name(cells: &[String], what: &str) -> [String; 2] {
    let (kind, rest) =
        cells.split_first().map_or((String::new(), &[][..]), |(kind, rest)| (kind.clone(), rest));
    let rest: Vec<&str> = rest.iter().map(String::as_str).filter(|cell| !cell.is_empty()).collect();
    let below = if rest.is_empty() { what.to_owned() } else { rest.join(", ") };
    // A long name is split at its hyphen.
    match kind.split_once('-') {
        Some((first, second)) if below.is_empty() => [format!("{first}-"), second.to_owned()],
        _ => [kind, below],
    }
}

/// Whether a commit survives: `later` if it is acknowledged before it is on disk.
fn promised(setup: &TablesSetup) -> &'static str {
    match (setup.server.is_durable, setup.kind.as_str()) {
        (true, _) => "yes",
        (false, RELAXED) => "later",
        (false, _) => "no",
    }
}

/// The outcome of kills, in two words.
fn short(kept: Option<&Kept>) -> String {
    kept.map_or_else(|| "untested".to_owned(), Kept::short)
}

/// The kind of table whose commits are acknowledged before they are on disk.
const RELAXED: &str = "relaxed";

/// Widths of the columns: names, and times of operations.
struct Columns {
    name: f64,
    time: f64,
}

impl Columns {
    /// Columns with room for the longest name.
    fn of(rows: &[Row]) -> Self {
        let letters = rows.iter().flat_map(|row| &row.name).map(|line| line.chars().count()).max();
        let name = (letters.unwrap_or(0) as f64 * LETTER + 2.0 * GAP).clamp(NAME.0, NAME.1);
        let rates = OPERATIONS.iter().filter(|measure| measure.is_rate).count();
        let times = (OPERATIONS.len() - rates) as f64;
        Self { name, time: (WIDTH - name - rates as f64 * RATE - DURABLE) / times }
    }

    /// Left and right edge of the column of an operation. The index after the last operation is the column of durability.
    fn of_operation(&self, index: usize) -> (f64, f64) {
        let width = |measure: &Measure| if measure.is_rate { RATE } else { self.time };
        let left = self.name + OPERATIONS[..index].iter().map(width).sum::<f64>();
        (left, left + OPERATIONS.get(index).map_or(DURABLE, width))
    }
}

fn middle((left, right): (f64, f64)) -> f64 {
    f64::midpoint(left, right)
}

fn heads(canvas: &mut Canvas<'_>, columns: &Columns) {
    for (index, [above, below]) in HEADS.iter().enumerate() {
        let at = middle(columns.of_operation(index));
        let is_high = index % 2 == 1;
        let bottom = if is_high { HEAD - 12.0 - 2.0 * LINE } else { HEAD - 10.0 };
        if is_high {
            canvas.line(Ink::Grid, 1.0, (at, bottom + LINE * 0.6), (at, HEAD - 2.0));
        }
        canvas.text(Ink::Text, Side::Middle, (at, bottom - LINE), above);
        canvas.text(Ink::Text, Side::Middle, (at, bottom), below);
    }
    canvas.text(Ink::Text, Side::Left, (WIDTH, HEAD - 10.0 - LINE), "durable,");
    canvas.text(Ink::Text, Side::Left, (WIDTH, HEAD - 10.0), "kill -9");
}

fn draw(canvas: &mut Canvas<'_>, row: &Row, columns: &Columns, top: f64) {
    canvas.line(Ink::Grid, 1.0, (0.0, top), (WIDTH, top));
    two_lines(canvas, Side::Right, (0.0, top), &row.name);
    for (index, cell) in row.cells.iter().enumerate() {
        let (left, right) = columns.of_operation(index);
        if let Some((ink, opacity)) = cell.shade {
            let (upper_left, lower_right) =
                ((left + GAP / 2.0, top + GAP), (right - GAP / 2.0, top + ROW - GAP));
            canvas.rectangle(ink, opacity, upper_left, lower_right);
        }
        two_lines(canvas, Side::Middle, (middle((left, right)), top), &cell.lines);
        if row.state.is_some() {
            let height = top + ROW / 2.0;
            canvas.line(Ink::Strong, 1.5, (left + 4.0, height), (right - 4.0, height));
        }
    }
    two_lines(canvas, Side::Left, (WIDTH, top), &row.durable);
}

/// Writes two lines in a row, or one line in the middle of the row.
fn two_lines(canvas: &mut Canvas<'_>, side: Side, (x, top): (f64, f64), [first, second]: &[String; 2]) {
    let middle = top + ROW / 2.0;
    if second.is_empty() {
        canvas.text(Ink::Strong, side, (x, middle), first);
    } else {
        canvas.text(Ink::Strong, side, (x, middle - LINE / 2.0), first);
        canvas.text(Ink::Text, side, (x, middle + LINE / 2.0), second);
    }
}

/// The areas of the drawing, each with the text that a reader sees when pointing at it.
fn areas(rows: &[Row], columns: &Columns) -> Vec<Area> {
    let of_row = |(index, row): (usize, &Row)| {
        let top = HEAD + index as f64 * ROW;
        let area = move |(left, right): (f64, f64), text: &str| Area {
            upper_left: (left, top),
            lower_right: (right, top + ROW),
            text: text.to_owned(),
        };
        let cells =
            row.cells.iter().enumerate().map(|(index, cell)| area(columns.of_operation(index), &cell.whole));
        let mut areas = vec![
            area((0.0, columns.name), &row.made),
            area(columns.of_operation(OPERATIONS.len()), &row.durability),
        ];
        areas.extend(cells);
        areas
    };
    rows.iter().enumerate().flat_map(of_row).collect()
}

fn described(rows: &[Row]) -> String {
    let row = |row: &Row| {
        let cells: Vec<&str> = row.cells.iter().map(|cell| cell.whole.as_str()).collect();
        format!("{}; durable: {}, {}", cells.join("; "), row.durable[0], row.durable[1])
    };
    rows.iter().map(row).collect::<Vec<String>>().join(". ")
}

fn keys(rows: &[Row], reference: Option<&str>) -> Vec<Key> {
    let Some(reference) = reference else { return Vec::new() };
    let has = |ink: Ink| {
        rows.iter().flat_map(|row| &row.cells).any(|cell| cell.shade.is_some_and(|(shade, _)| shade == ink))
    };
    let keys = [(FASTER, "faster"), (SLOWER, "slower")].into_iter().filter(|(ink, _)| has(*ink));
    legend(keys.map(|(ink, word)| Key::new(ink, format!("{word} than {reference}"))))
}

/// Meanings of the kinds of tables whose names do not explain them.
const MEANINGS: [(&str, &str); 5] = [
    ("volatile", "not durable"),
    (RELAXED, "durable some time after the commit"),
    ("clustered", "in the order of the key"),
    ("covering", "with an index that holds all that SELECT reads"),
    ("archive", "compressed columns"),
];

fn caption(rows: &[Row], all: &[Against<'_>], reference: Option<&str>) -> String {
    let is_shown = |kind: &str| all.iter().any(|one| one.setup.kind == kind);
    let meanings = MEANINGS.iter().filter(|(kind, _)| is_shown(kind));
    let meanings: Vec<String> = meanings.map(|(kind, meaning)| format!("{kind}: {meaning}")).collect();
    let meanings = if meanings.is_empty() {
        String::new()
    } else {
        format!("{}. ", format::capital(&meanings.join("; ")))
    };
    let factors = format!(
        "2 is twice as fast. Darker from {} and {} on. No shade: within 10%, or no relevant difference. ",
        SHADES[1].0, SHADES[0].0
    );
    let invalid = rows.iter().any(|row| row.state.is_some());
    let invalid = if invalid { " Struck-out figures do not count." } else { "" };
    format!(
        "{meanings}{}Right: whether commits are durable, and what kill -9 left. Point at a kind for its DDL.{invalid}",
        reference.map(|_| factors).unwrap_or_default()
    )
}

/// The figures, and the definition of each kind of table.
fn table(report: &Report, all: &[Against<'_>], named: &Named) -> Table {
    let mut columns = named.columns();
    columns.extend(OPERATIONS.iter().map(|measure| Column::number(measure.head)));
    columns.extend(["durable", "after kill -9", "definition"].map(Column::words));
    let row = |one: &Against<'_>| {
        let mut cells = named.cells(one.setup, &one.configuration.levels);
        cells.extend(OPERATIONS.iter().map(|measure| cell(report, one, measure)));
        let kept = kept(one.tables(report));
        cells.extend([
            format!("{}: {}", promised(one.setup), one.setup.server.durability),
            survival::in_words(kept.as_ref()),
            one.setup.made.clone(),
        ]);
        TableRow::of(cells)
    };
    let rows = all.iter().map(row).collect();
    Table { title: "Kinds of tables, with definitions".to_owned(), columns, rows }
}
