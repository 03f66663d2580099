//! What a disk test found that checks each page it reads: damage first, and how much was looked at.

use record::verify::Late;
use record::{State, Verified};

use crate::chart::Chart;
use crate::disk::{verified, verified_chart};
use crate::format;
use crate::lead::{Tile, Tone};
use crate::report::Report;
use crate::trial::{ALL, Trial};

use super::{latency_tile, uncounted};

/// Damage, pages written, pages read, and the longest I/O: of all trials that checked pages.
pub(super) fn tiles(report: &Report) -> Vec<Tile> {
    let trials: Vec<(&Trial, &Verified)> = verified::trials(report).collect();
    let sum = |of: fn(&Verified) -> u64| trials.iter().map(|(_, verified)| of(verified)).sum::<u64>();
    let written_bytes: f64 =
        trials.iter().map(|(_, verified)| verified.written as f64 * verified.page_bytes as f64).sum();
    let mut tiles = vec![damaged(&trials)];
    tiles.push(
        Tile::new("Pages written", format::grouped(sum(|verified| verified.written)), "")
            .beside(written(&trials, written_bytes)),
    );
    tiles.push(
        Tile::new("Pages read and checked", format::grouped(sum(|verified| verified.read)), "")
            .beside(coverage(&trials)),
    );
    tiles.extend(longest(&trials));
    tiles
}

/// `880 MB; 7.5% of the I/Os`, by the first trial's rates.
fn written(trials: &[(&Trial, &Verified)], bytes: f64) -> String {
    let share = trials.first().and_then(|(trial, _)| {
        let of = |kind| trial.figures.iter().find(|figures| figures.kind == kind)?.per_s;
        Some(of("write")? / trial.main()?.per_s?)
    });
    let share = share.map(|share| format!("; {} of the I/Os", format::per_cent(share)));
    format::decimal_bytes(bytes) + &share.unwrap_or_default()
}

/// Zero is good only if the run counts and all pages were checked.
fn damaged(trials: &[(&Trial, &Verified)]) -> Tile {
    let damaged: u64 = trials.iter().map(|(_, verified)| verified.damaged()).sum();
    let failed: u64 = trials.iter().map(|(_, verified)| verified.failed()).sum();
    let tile = Tile::new("Pages damaged", format::grouped(damaged), "");
    let uncounting = trials.iter().map(|(trial, _)| trial.state).find(|state| *state != State::Complete);
    let unchecked: u64 =
        trials.iter().map(|(_, verified)| verified.pages.saturating_sub(verified.checked)).sum();
    let errors = format::counted(failed as usize, "I/O error", "I/O errors");
    match (damaged, uncounting, unchecked) {
        (1.., ..) => tile.tone(Tone::Bad).beside(classes(trials)),
        (0, Some(state), _) => tile.tone(Tone::Invalid).beside(uncounted(state)),
        (0, None, _) if failed > 0 => tile.tone(Tone::Bad).beside(format!("but {errors}")),
        (0, None, 1..) => tile.beside(format!("{} pages were never checked", format::grouped(unchecked))),
        (0, None, 0) => tile.tone(Tone::Good).beside("every page is as it was written"),
    }
}

/// `2 torn, 1 lost write`.
fn classes(trials: &[(&Trial, &Verified)]) -> String {
    let mut all = std::collections::BTreeMap::new();
    for (damage, count) in trials.iter().flat_map(|(_, verified)| &verified.damage) {
        if damage.is_of_content() {
            *all.entry(*damage).or_insert(0) += count;
        }
    }
    let class = |(damage, count): (record::Damage, u64)| format!("{} {damage}", format::grouped(count));
    all.into_iter().filter(|(_, count)| *count > 0).map(class).collect::<Vec<String>>().join(", ")
}

/// How much of the files was looked at, and how often at least.
fn coverage(trials: &[(&Trial, &Verified)]) -> String {
    let pages: u64 = trials.iter().map(|(_, verified)| verified.pages).sum();
    let checked: u64 = trials.iter().map(|(_, verified)| verified.checked).sum();
    let least = trials.iter().map(|(_, verified)| verified.checks_least).min().unwrap_or(0);
    let of = format::counted(pages as usize, "page", "pages");
    match least {
        _ if checked < pages => format!("{} of {of} checked", format::grouped(checked)),
        0 | 1 => format!("all {of} checked"),
        times => format!("each of {of} at least {times} times"),
    }
}

/// The I/O that took longest, also one that was never answered; none where no latency is known.
fn longest(trials: &[(&Trial, &Verified)]) -> Option<Tile> {
    let stalls: u64 = trials.iter().map(|(_, verified)| verified.stalls).sum();
    let slow: u64 = trials.iter().map(|(_, verified)| verified.slow).sum();
    let stall_s = trials.iter().map(|(_, verified)| verified.stall_s).reduce(f64::min)?;
    let beside = format!(
        "{} over {} s, {} over 1 s",
        format::counted(stalls as usize, "stall", "stalls").replace("0 stalls", "no stall"),
        format::plain(stall_s),
        format::counted(slow as usize, "I/O", "I/Os")
    );
    let late = || trials.iter().flat_map(|(_, verified)| &verified.late);
    if late().any(|late| late.answered_s.is_none()) {
        return Some(Tile::new("Longest I/O", "no answer", "").tone(Tone::Bad).beside(beside));
    }
    let took_us = |late: &Late| Some((late.answered_s? - late.sent_s) * 1e6);
    let kinds = trials.iter().flat_map(|(trial, _)| &trial.figures).filter(|figures| figures.kind != ALL);
    let known = late().filter_map(took_us).chain(kinds.filter_map(|figures| figures.latency.max_us));
    let tile = latency_tile("Longest I/O", known.reduce(f64::max)?).beside(beside);
    Some(if stalls > 0 { tile.tone(Tone::Bad) } else { tile })
}

/// Where damage was found, if any was; else how long the slowest I/O of each second took.
pub(super) fn chart(report: &Report) -> Option<Chart> {
    let worst = verified::trials(report).max_by_key(|(trial, verified)| {
        (verified.damaged(), verified.stalls, std::cmp::Reverse(trial.number))
    });
    let (trial, verified) = worst?;
    let map = || verified_chart::map(trial, verified);
    let longest = || verified_chart::longest(trial, verified);
    if verified.damaged() > 0 { map().or_else(longest) } else { longest().or_else(map) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, Made};
    use record::verify::FileMap;
    use record::{Damage, StudyRecord};

    fn verified() -> Verified {
        let map = FileMap {
            path: "/data/verify.dat".to_owned(),
            pages: 1_000,
            checked: 1_000,
            damaged: vec![0; 4],
            checks: vec![3.0; 4],
            ..FileMap::default()
        };
        Verified {
            page_bytes: 8192,
            written: 4_000,
            read: 8_000,
            pages: 1_000,
            checked: 1_000,
            checks_least: 2,
            stall_s: 15.0,
            map: vec![map],
            ..Verified::default()
        }
    }

    fn study(verified: Verified) -> StudyRecord {
        let made = Made::mixed("verify").outcome(|outcome| outcome.verified = Some(Box::new(verified)));
        fixture::study("verify", vec![made.trial(1)])
    }

    fn of(verified: Verified) -> Vec<Tile> {
        tiles(&Report::of(&study(verified)))
    }

    fn heading(verified: Verified) -> String {
        chart(&Report::of(&study(verified))).unwrap().heading
    }

    #[test]
    fn no_damage_is_good_and_stands_first() {
        let tiles = of(verified());
        let told: Vec<(&str, &str, &str)> =
            tiles.iter().map(|tile| (&*tile.label, &*tile.figure, &*tile.beside)).collect();
        assert_eq!(
            told[..3],
            [
                ("Pages damaged", "0", "every page is as it was written"),
                ("Pages written", "4,000", "32.8 MB; 30% of the I/Os"),
                ("Pages read and checked", "8,000", "each of 1,000 pages at least 2 times"),
            ]
        );
        assert_eq!((tiles[0].tone, tiles[3].tone), (Tone::Good, Tone::Plain));
        assert_eq!((told[3].0, told[3].2), ("Longest I/O", "no stall over 15 s, 0 I/Os over 1 s"));
    }

    #[test]
    fn damage_is_bad_and_its_place_is_the_chart() {
        let mut damaged = verified();
        damaged.damage = [(Damage::Torn, 2), (Damage::LostWrite, 1), (Damage::Stalled, 4)].into();
        damaged.map[0].damaged[2] = 3;
        let tile = &of(damaged.clone())[0];
        assert_eq!((tile.tone, &*tile.figure, &*tile.beside), (Tone::Bad, "3", "2 torn, 1 lost write"));
        assert_eq!(heading(damaged), "Map of the files: checked pages and damage");
        assert_eq!(heading(verified()), "Stalls and longest I/O over time");
    }

    /// Zero damaged pages among those read does not mean zero among all.
    #[test]
    fn zero_is_not_good_where_pages_were_not_checked_or_the_trial_does_not_count() {
        let partly = Verified { checked: 600, ..verified() };
        let tiles = of(partly);
        assert_eq!((tiles[0].tone, &*tiles[0].beside), (Tone::Plain, "400 pages were never checked"));
        assert_eq!(tiles[2].beside, "600 of 1,000 pages checked");
        let mut invalid = study(verified());
        invalid.trials[0].trial.state = State::Invalid;
        assert_eq!(super::tiles(&Report::of(&invalid))[0].tone, Tone::Invalid);
        let failed = Verified { damage: [(Damage::Failed, 1)].into(), ..verified() };
        let tile = &of(failed)[0];
        assert_eq!((tile.tone, &*tile.beside), (Tone::Bad, "but one I/O error"));
    }

    #[test]
    fn the_longest_io_is_also_one_that_took_seconds_or_never_ended() {
        let late = |answered_s| Late { sent_s: 2.0, answered_s, is_stalled: true };
        let stalled = Verified { stalls: 1, slow: 1, late: vec![late(Some(19.5))], ..verified() };
        let tile = &of(stalled)[3];
        assert_eq!((&*tile.figure, &*tile.unit, tile.tone), ("17.5", "s", Tone::Bad));
        assert_eq!(tile.beside, "one stall over 15 s, one I/O over 1 s");
        let open = Verified { stalls: 1, slow: 1, late: vec![late(None)], ..verified() };
        assert_eq!(of(open)[3].figure, "no answer");
    }
}
