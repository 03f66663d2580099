//! The head of a page on a historian. Of a search: the highest rate that was sustained, the lowest that was not, and the latency and the
//! backlog at the sustained one. Else the rate, its latency, the backlog, and their course.

use record::Workload;

use super::finding;

use crate::chart::Chart;
use crate::configuration::Configuration;
use crate::format::{self, plain};
use crate::lead::{self, Tail, Tile, Tone};
use crate::report::Report;
use crate::search::Search;
use crate::trial::Trial;

/// The figures of a single search, or of a single rate; of several their rates.
pub(super) fn tiles(report: &Report) -> Vec<Tile> {
    let search = match report.searches.as_slice() {
        [] => return of_rates(report),
        [search] => search,
        _ => return Vec::new(),
    };
    let mut tiles = vec![sustained(search)];
    tiles.extend(search.failed_at.map(|rate| {
        Tile::new("Lowest rate that was not sustained", plain(rate), "records/s")
            .beside(search.failed_because.first().cloned().unwrap_or_default())
    }));
    tiles.extend(search.held_at().and_then(|rate| at_rate(search, rate, report)).into_iter().flatten());
    tiles
}

/// The rate of each configuration; of a single one the latency and the most that was pending too.
fn of_rates(report: &Report) -> Vec<Tile> {
    let tails = [Tail::P99.beside("from event to commit")];
    let mut tiles = lead::judged_rates(report, Workload::Historian, &tails, judged);
    if let Some((only, _)) = lead::only(report, Workload::Historian) {
        let of = only.measured_in(&report.trials).filter_map(|trial| trial.historian()?.pending_max);
        let most = of.reduce(f64::max);
        tiles.extend(most.map(backlog));
    }
    tiles
}

fn judged(configuration: &Configuration, trials: &[Trial]) -> Option<(String, Tone)> {
    let offered = configuration.offered_per_s().map(plain)?;
    Some(match finding::is_sustained(configuration, trials)? {
        true => (format!("sustained at {offered} offered"), Tone::Plain),
        false => (format!("not sustained at {offered} offered"), Tone::Bad),
    })
}

/// The course of the trial with the median rate; none of a search, and of several configurations.
pub(super) fn chart(report: &Report) -> Option<Chart> {
    let (only, trial) = lead::only(report, Workload::Historian).filter(|_| report.searches.is_empty())?;
    Some(lead::chart_of(trial, only.trials.len(), super::chart::course(trial)?))
}

fn backlog(most: f64) -> Tile {
    Tile::new("Backlog at most", format::count(most), "records")
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
    let pending = pending.map(|most| backlog(most).beside("at the sustained rate"));
    Some(p99.into_iter().chain(pending).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::grouped;
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

    /// The rate of a load that was not sustained looked like a success.
    #[test]
    fn a_rate_that_was_not_sustained_is_marked() {
        let report = Report::of(&crate::tests::historian::project());
        let rate = &tiles(&report)[0];
        assert!(rate.beside.starts_with("not sustained at 3,700 offered, "), "{rate:?}");
        assert_eq!(rate.tone, Tone::Bad);
    }

    #[test]
    fn a_single_rate_shows_its_course_and_the_most_that_was_pending() {
        let report = Report::of(&crate::tests::historian::judged());
        let told = tiles(&report);
        assert_eq!(told[1].beside, "from event to commit", "{told:?}");
        let most = report.trials[0].historian().unwrap().pending_max.unwrap();
        assert_eq!(told[2].label, "Backlog at most");
        assert_eq!(told[2].figure, grouped(most as u64));
        let drawn = chart(&report).unwrap();
        for title in [">records per second<", ">pending records<", ">latency (logarithmic)<"] {
            assert!(drawn.svg.contains(title), "{title}");
        }
        assert!(chart(&Report::of(&crate::tests::historian::search())).is_none());
    }
}
