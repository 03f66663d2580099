//! The head of a page on searches of a historian: the highest rate that was sustained, the lowest that was not, and the latency and the
//! backlog at the sustained one.

use crate::format::{self, figure, plain};
use crate::lead::{Tile, Tone};
use crate::report::Report;
use crate::search::Search;
use crate::trial::Trial;

/// The figures of a single search; none of several, which are compared, and of none.
pub(super) fn tiles(report: &Report) -> Vec<Tile> {
    let [search] = report.searches.as_slice() else { return Vec::new() };
    let mut tiles = vec![sustained(search)];
    tiles.extend(search.failed_at.map(|rate| {
        Tile::new("Lowest rate that was not sustained", plain(rate), "records/s")
            .beside(search.failed_because.first().cloned().unwrap_or_default())
    }));
    tiles.extend(search.held_at().and_then(|rate| at_rate(search, rate, report)).into_iter().flatten());
    tiles
}

fn sustained(search: &Search) -> Tile {
    let what = "Highest sustained rate";
    match (search.stable_at, search.unconfirmed_at) {
        (Some(rate), _) => {
            let how = search.held.map(|held| match (held.held, held.steps) {
                (1, 1) => "confirmed once".to_owned(),
                (held, steps) => format!("{held} of {steps} confirmations"),
            });
            Tile::new(what, plain(rate), "records/s").beside(how.unwrap_or_default())
        }
        (None, Some(rate)) => {
            Tile::new(what, plain(rate), "records/s").beside("not confirmed").tone(Tone::Bad)
        }
        (None, None) => Tile::new(what, "none", "").beside("no rate was sustained").tone(Tone::Bad),
    }
}

/// Latency and backlog of the longest step at the sustained rate.
fn at_rate(search: &Search, rate: f64, report: &Report) -> Option<Vec<Tile>> {
    let held = search.steps.iter().filter(|step| step.rate_per_s == rate && step.stable == Some(true));
    let longest = held.max_by(|one, other| one.measured_s.total_cmp(&other.measured_s))?;
    let trial: &Trial = report.trials.iter().find(|trial| trial.number == longest.trial)?;
    let p99 = trial.main().and_then(|main| main.latency.p99_us).map(|us| {
        let text = format::latency(us);
        let (figure, unit) = text.split_once(' ').unwrap_or((&text, ""));
        Tile::new("p99 from event to commit", figure, unit).beside("at the sustained rate")
    });
    let pending = trial.historian().and_then(|historian| historian.pending_max);
    let pending = pending
        .map(|most| Tile::new("Backlog at most", figure(most), "records").beside("at the sustained rate"));
    Some(p99.into_iter().chain(pending).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::historian::all;

    #[test]
    fn a_search_shows_the_rate_that_was_sustained_and_the_one_that_was_not() {
        let reports: Vec<Report> = all().iter().map(Report::of).collect();
        let sought = reports
            .iter()
            .find(|report| report.searches.len() == 1 && report.searches[0].stable_at.is_some());
        let report = sought.expect("a search among the fixtures");
        let search = &report.searches[0];
        let told = tiles(report);
        assert_eq!(told[0].figure, plain(search.stable_at.unwrap()));
        assert_eq!(told[0].tone, Tone::Plain);
        assert!(told.iter().all(|tile| !tile.figure.is_empty()), "{told:?}");
        assert_eq!(
            told.iter().any(|tile| tile.label.starts_with("Lowest rate")),
            search.failed_at.is_some(),
            "what was not found has no tile"
        );
        let backlog =
            told.iter().find(|tile| tile.label == "Backlog at most").map(|tile| tile.figure.clone());
        let held = search.steps.iter().rfind(|step| Some(step.rate_per_s) == search.stable_at).unwrap();
        let trial = report.trials.iter().find(|trial| trial.number == held.trial).unwrap();
        assert_eq!(backlog.is_some(), trial.historian().unwrap().pending_max.is_some());
    }

    #[test]
    fn a_rate_that_was_not_confirmed_is_marked() {
        let mut report = Report::of(&all()[0]);
        if report.searches.is_empty() {
            report = all().iter().map(Report::of).find(|report| report.searches.len() == 1).unwrap();
        }
        let search = &mut report.searches[0];
        (search.stable_at, search.unconfirmed_at) = (None, Some(1_234.0));
        let first = sustained(search);
        assert_eq!((first.figure.as_str(), first.tone), ("1,234", Tone::Bad));
        search.unconfirmed_at = None;
        assert_eq!(sustained(search).figure, "none");
    }
}
