//! The top of a page on kinds of tables.

use super::*;
use crate::lead::{Lead, Tone};

/// A study in which the rows on disk take this many times as long as the other kind of table.
fn times_faster(times: f64) -> Report {
    compared(1, |at| if at.level("kind") == "row" { times } else { 1.0 }, |_| None)
}

fn tiles(report: &Report) -> Vec<(String, String, String, Tone)> {
    let tiles = OfTables.tiles(report).into_iter();
    tiles.map(|tile| (tile.label, format!("{} {}", tile.figure, tile.unit), tile.beside, tile.tone)).collect()
}

/// Number of cells with each background: `--series-1` is faster, `--series-2` slower.
fn grounds(chart: &Chart) -> [usize; 2] {
    ["--series-1", "--series-2"].map(|ink| chart.svg.matches(&format!("fill=\"var({ink})\"")).count())
}

#[test]
fn each_kind_is_set_against_rows_on_disk_in_the_first_screen() {
    let survival =
        |kind: &str| Some(if kind == "row" { crash(true, 0, 1_500) } else { crash(false, 1_000, 0) });
    let report = compared(1, |at| if at.level("kind") == "row" { 2.0 } else { 0.1 }, survival);
    let chart = Lead::of(&report).chart.unwrap();
    assert_eq!(chart.heading, "Speed of each kind of table, in times of row");
    assert_eq!(chart.svg.matches(">20</text>").count(), 8, "a factor for each operation");
    assert_eq!(grounds(&chart), [8, 0]);
    for part in [
        ">yes</text>",
        ">kept all</text>",
        ">no</text>",
        ">lost all</text>",
        "<title>CREATE a volatile TABLE</title>",
        "<title>volatile, UPDATE all: 100 ms (×20)</title>",
    ] {
        assert!(chart.svg.contains(part), "{part} in {}", chart.svg);
    }
    let row = &chart.table.rows[1].cells;
    assert_eq!(
        row[row.len() - 2..],
        ["0 of 1,000 acknowledged changes and 0 of 1,500 rows were there", "CREATE a volatile TABLE"]
    );
}

#[test]
fn a_ground_says_faster_or_slower_and_none_that_it_is_about_the_same() {
    let of = |times: f64| grounds(&matrix::chart(&times_faster(times)).unwrap());
    assert_eq!([of(4.0), of(0.25), of(1.05), of(0.95)], [[8, 0], [0, 8], [0, 0], [0, 0]]);
}

/// The sentence next to the matrix reports no relevant difference.
#[test]
fn a_difference_of_chance_has_no_ground() {
    let of_block = [3.0, 0.4, 2.5, 0.5, 2.0, 1.0];
    let seconds = |at: &At| if at.level("kind") == "row" { of_block[at.block as usize - 1] } else { 1.0 };
    let noisy = compared(6, seconds, |_| None);
    let all = figures::all(&noisy);
    let times = figures::OPERATIONS[0].times_better(&all[1], &noisy).unwrap();
    assert!(!(1.0 / 1.1..1.1).contains(&times), "{times} has a ground if it is not of chance");
    assert_eq!(grounds(&matrix::chart(&noisy).unwrap()), [0, 0]);
}

#[test]
fn an_invalid_kind_is_struck_out_and_sets_no_tile() {
    let mut invalid = trial(2, "volatile", 0.01, |_| {});
    invalid.trial.state = State::Invalid;
    let report = Report::of(&fixture::study("tables", vec![trial(1, "row", 2.0, |_| {}), invalid]));
    let chart = matrix::chart(&report).unwrap();
    assert!(
        chart.svg.contains(">invalid</text>") && chart.caption.contains("Struck-out figures do not count")
    );
    assert_eq!(chart.svg.matches("stroke=\"var(--ink)\" stroke-width=\"6\"").count(), 8);
    assert_eq!(tiles(&report)[0].0, "Fastest durable kind, updates by key: row");
    assert!(!matrix::chart(&super::report(|_| {})).unwrap().caption.contains("Struck-out"));
}

#[test]
fn the_fastest_kind_the_fastest_durable_one_and_what_kept_its_rows_are_large() {
    let survival =
        |kind: &str| Some(if kind == "row" { crash(true, 0, 1_500) } else { crash(false, 7, 1_493) });
    let report = compared(1, |at| if at.level("kind") == "row" { 2.0 } else { 0.5 }, survival);
    let told = tiles(&report);
    let [durable, fastest, survived] = told.as_slice() else { panic!("{told:?}") };
    assert_eq!(
        (fastest.0.as_str(), fastest.1.as_str()),
        ("Fastest kind, not durable: volatile", "10.0 updates/s")
    );
    assert!(fastest.2.starts_with("×4.0 of row; "), "{fastest:?}");
    assert_eq!(
        (durable.0.as_str(), durable.1.as_str()),
        ("Fastest durable kind, updates by key: row", "2.50 updates/s")
    );
    assert_eq!(
        survived,
        &(
            "Kinds that kept all rows after kill -9".to_owned(),
            "1 of 2".to_owned(),
            "volatile lost 7 of 1,000 changes".to_owned(),
            Tone::Plain
        )
    );
}

#[test]
fn a_durable_kind_that_lost_changes_is_bad_and_kinds_that_lost_none_are_good() {
    let tone = |survival: fn(&str) -> Option<Survival>| {
        tiles(&compared(1, |_| 1.0, survival))
            .into_iter()
            .find(|tile| tile.0.contains("kill -9"))
            .map(|tile| tile.3)
    };
    assert_eq!(tone(|_| Some(crash(true, 0, 1_500))), Some(Tone::Good));
    assert_eq!(tone(|_| Some(crash(true, 1, 1_499))), Some(Tone::Bad));
    assert_eq!(tone(|_| None), None, "nothing was killed");
}

#[test]
fn a_study_of_one_kind_has_the_head_of_any_study() {
    let sync = Designed::blocks(1).axis("sync", &["on", "off"], "on").metric("point_updates_per_s");
    let report = Report::of(&sync.study(|at| Some(at.placed(trial(at.number, "row", 1.0, |_| {})))));
    assert!(report.comparison.is_some() && !OfTables.leads_study(&report));
    let headed = |report: &Report| {
        Lead::of(report).chart.is_some_and(|chart| chart.heading.starts_with("Speed of each kind of table"))
    };
    assert!(!headed(&report) && headed(&times_faster(2.0)));
}

#[test]
fn commits_are_durable_at_once_later_or_not_and_what_was_not_killed_is_untested() {
    let last = |kind: &str, is_durable: bool, survival: Option<Survival>| {
        let mut trial = trial(1, kind, 1.0, |of| of.survival = survival);
        let Some(Setup::Tables(setup)) = &mut trial.trial.setup else { panic!("a table") };
        setup.server.is_durable = is_durable;
        let svg = matrix::chart(&Report::of(&fixture::study("tables", vec![trial]))).unwrap().svg;
        let texts: Vec<&str> = svg.split("</text>").filter_map(|text| text.rsplit('>').next()).collect();
        texts[texts.len() - 3..texts.len() - 1].join(", ")
    };
    assert_eq!(last("row", true, Some(crash(true, 0, 1_500))), "yes, kept all");
    assert_eq!(last("relaxed", false, Some(crash(false, 7, 1_493))), "later, lost 7");
    assert_eq!(last("volatile", false, Some(crash(false, 0, 0))), "no, lost rows");
    assert_eq!(last("row", true, None), "yes, untested");
}
