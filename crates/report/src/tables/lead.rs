//! The head of a page on kinds of tables: the fastest durable kind, a faster one that is not, and how many kinds kept all rows after a crash.

use std::collections::BTreeMap;

use super::UNIT;
use super::figures::{Against, Measure, OPERATIONS, UPDATES_PER_S, all};
use super::plain::rounded;
use super::survival::{Kept, kept};
use crate::format::{self, figure, grouped};
use crate::lead::{Tile, Tone};
use crate::report::Report;
use crate::verdict::rate::interval;

/// A kind of table with its rate.
type Rated<'a> = (&'a Against<'a>, f64);

/// The figures of all configurations that count; none where nothing counts.
pub(super) fn tiles(report: &Report) -> Vec<Tile> {
    let all = all(report);
    let Some(updates) = OPERATIONS.iter().find(|measure| measure.metric == UPDATES_PER_S) else {
        return Vec::new();
    };
    let counted = all.iter().filter(|one| !one.configuration.is_failed());
    let rated: Vec<Rated<'_>> =
        counted.filter_map(|one| Some((one, one.mean(report, updates.of)?))).collect();
    let durable: Vec<Rated<'_>> =
        rated.iter().copied().filter(|(one, _)| one.setup.server.is_durable).collect();
    // The durable kind comes first. A faster kind that loses rows stands beside it.
    let mut tiles = Vec::new();
    let (first, safe) = (fastest(&rated), fastest(&durable));
    tiles.extend(safe.map(|rated| tile("Fastest durable kind, updates by key", rated, updates, report)));
    let loses = first.filter(|(one, _)| !one.setup.server.is_durable);
    tiles.extend(loses.map(|rated| tile("Fastest kind, not durable", rated, updates, report)));
    tiles.extend(survived(&all, report));
    tiles
}

fn fastest<'a>(of: &[Rated<'a>]) -> Option<Rated<'a>> {
    of.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1))
}

/// `Fastest kind, not durable: volatile`, `31,820 updates/s`, `×1.9 of row`.
fn tile(what: &str, (one, per_s): Rated<'_>, updates: &Measure, report: &Report) -> Tile {
    let times = updates.times_better(one, report).zip(one.reference_kind());
    let times = times.map(|(times, reference)| format!("×{} of {reference}", rounded(times)));
    let interval = interval(one.configuration, UNIT.of(1.0)).trim_matches(['(', ')']).to_owned();
    let beside: Vec<String> = times.into_iter().chain([interval]).collect();
    Tile::new(format!("{what}: {}", one.setup.kind), figure(per_s), UNIT.short).beside(beside.join("; "))
}

/// `2 of 4` kinds, and what the others lost; none where nothing was killed.
fn survived(all: &[Against<'_>], report: &Report) -> Option<Tile> {
    let mut kinds: BTreeMap<&str, Vec<Kept>> = BTreeMap::new();
    for one in all {
        if let Some(kept) = kept(one.tables(report)) {
            kinds.entry(&one.setup.kind).or_default().push(kept);
        }
    }
    let is_whole = |of: &[Kept]| of.iter().all(Kept::is_whole);
    let whole = kinds.values().filter(|of| is_whole(of)).count();
    let lost: Vec<String> =
        kinds.iter().filter(|(_, of)| !is_whole(of)).map(|(kind, of)| lacks(kind, of)).collect();
    let is_broken = kinds.values().flatten().any(Kept::is_broken);
    let tone = match (lost.is_empty(), is_broken) {
        (true, _) => Tone::Good,
        (false, true) => Tone::Bad,
        (false, false) => Tone::Plain,
    };
    let tile =
        Tile::new("Kinds that kept all rows after kill -9", whole.to_string(), format!("of {}", kinds.len()));
    let beside = if lost.is_empty() { "no acknowledged change was lost".to_owned() } else { lost.join(", ") };
    (!kinds.is_empty()).then(|| tile.beside(beside).tone(tone))
}

/// `relaxed lost 7 of 26,018 changes`.
fn lacks(kind: &str, of: &[Kept]) -> String {
    let sum = |of_one: fn(&Kept) -> u64| of.iter().map(of_one).sum::<u64>();
    let (lost, acknowledged) = (sum(|kept| kept.lost), sum(|kept| kept.acknowledged));
    match lost {
        0 => format!("{kind} lost {}", format::counted(sum(|kept| kept.rows_gone) as usize, "row", "rows")),
        lost if lost == acknowledged => format!("{kind} lost all"),
        lost => format!("{kind} lost {} of {} changes", grouped(lost), grouped(acknowledged)),
    }
}
