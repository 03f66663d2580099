//! A disk test, or several that are no series: throughput and tails of each, and the course of the only one.

use record::{Setup, State, Workload};

use crate::chart::{Chart, histogram, over_time};
use crate::configuration::Configuration;
use crate::disk::{SteadyState, finding};
use crate::format;
use crate::lead::Tile;
use crate::percentile::PercentileInterval;
use crate::report::Report;
use crate::trial::{Figures, Trial};
use crate::verdict::rate::{Held, held, interval};

use super::{bare, invalid_tile, latency_tile, uncounted};

/// So many tests have a tile each; of more the best are shown.
const TESTS_MOST: usize = 4;

/// The rate of the watched configuration, and whether it became steady.
pub(super) fn rounds(state: &SteadyState) -> Vec<Tile> {
    let rounds = format::counted(state.rounds_per_s.len(), "round", "rounds");
    let mean = state.window_mean_per_s.zip(state.window).map(|(mean, window)| {
        let beside = format!("{}; {}", spread(state, window).unwrap_or_default(), state.watched);
        Tile::new("Throughput", format::figure(mean), "IOPS").beside(beside.trim_start_matches("; "))
    });
    let reached = match (state.reached_in_round, state.window) {
        (Some(round), Some((first, last))) => {
            Tile::new("Steady state", format!("rounds {first} to {last}"), "")
                .beside(format!("reached in round {round} of {}", state.rounds_per_s.len()))
        }
        (Some(round), None) => {
            Tile::new("Steady state", format!("round {round}"), "").beside(format!("of {rounds}"))
        }
        (None, _) => Tile::new("Steady state", "not reached", "").beside(format!("in {rounds}")),
    };
    mean.into_iter().chain([reached]).collect()
}

/// The lowest and the highest rate of the rounds of a window: `9,180–10,150 in rounds 4 to 8`.
fn spread(state: &SteadyState, (first, last): (u32, u32)) -> Option<String> {
    let of = (first as usize).checked_sub(1)?..last as usize;
    let rates = || state.rounds_per_s.get(of.clone()).into_iter().flatten().copied();
    let (low, high) = (rates().reduce(f64::min)?, rates().reduce(f64::max)?);
    Some(format!("{} in rounds {first} to {last}", format::range(low, high)))
}

/// Of one test its throughput and latencies, of several the throughput of each, of many the best of them.
pub(super) fn tiles(report: &Report) -> Vec<Tile> {
    let counted: Vec<&Configuration> =
        report.configurations_of(Workload::Disk).filter(|disk| !disk.is_failed()).collect();
    let invalid = invalid(report);
    match (counted.as_slice(), invalid.as_slice()) {
        ([only], []) => of_one(report, only),
        (counted, invalid) if counted.len() + invalid.len() <= TESTS_MOST => {
            let tiles = counted.iter().filter_map(|disk| of_several(report, disk));
            tiles.chain(invalid.iter().filter_map(|trial| uncounted_tile(trial))).collect()
        }
        (counted, _) => best(report, counted),
    }
}

/// Trials that do not count and ran under a name that no other trial counts for, each name once.
fn invalid(report: &Report) -> Vec<&Trial> {
    let mut invalid: Vec<&Trial> = Vec::new();
    let is_counted = |name: &str| report.configurations_of(Workload::Disk).any(|disk| disk.name == name);
    for trial in report.disks().filter(|trial| trial.state == State::Invalid && !is_counted(&trial.name)) {
        if !invalid.iter().any(|known| known.name == trial.name) {
            invalid.push(trial);
        }
    }
    invalid
}

fn uncounted_tile(trial: &Trial) -> Option<Tile> {
    let (value, unit) = finding::headline(trial.disk(), trial.main()?)?;
    Some(invalid_tile(&trial.name, Some(value), unit, trial.state))
}

/// Throughput with its interval. For an offered rate, also the verdict: sustained or not.
fn throughput(report: &Report, disk: &Configuration, label: &str) -> Option<(Tile, String)> {
    let figures = disk.main()?;
    let (value, unit) = finding::headline(disk.disk(), figures)?;
    let scale = figures.per_s.filter(|per_s| *per_s > 0.0).map_or(1.0, |per_s| value / per_s);
    let offered = disk.offered_per_s().map(|rate| match held(disk, &report.trials) {
        Some(Held::No(_)) => format!("{} offered, not sustained", format::figure(rate)),
        Some(Held::Yes(_)) => format!("{} offered, sustained", format::figure(rate)),
        None => format!("{} offered", format::figure(rate)),
    });
    let parts = [Some(bare(&interval(disk, scale))), offered].into_iter().flatten();
    let beside = parts.collect::<Vec<_>>().join("; ");
    Some((Tile::new(label, format::figure(value), unit), beside))
}

fn of_one(report: &Report, disk: &Configuration) -> Vec<Tile> {
    let Some(figures) = disk.main() else { return Vec::new() };
    let rate = throughput(report, disk, "Throughput").map(|(tile, beside)| tile.beside(beside));
    let latency = &figures.latency;
    let tail = [("p99", latency.p99_us), ("p95", latency.p95_us)];
    let tail = tail.into_iter().find_map(|(name, us)| Some((name, us?)));
    let tail = tail.map(|(name, us)| {
        let interval = if name == "p99" { figures.intervals.p99_us } else { figures.intervals.p95_us };
        latency_tile(format!("{name} latency"), us).beside(interval.map(in_words).unwrap_or_default())
    });
    let mean = latency.mean_us.map(|us| latency_tile("Mean latency", us));
    let max = latency.max_us.map(|us| latency_tile("Longest latency", us));
    let bytes = bytes(disk, figures);
    rate.into_iter().chain(tail).chain(mean).chain(bytes.or(max)).collect()
}

/// The throughput in the unit that the first tile does not have.
fn bytes(disk: &Configuration, figures: &Figures) -> Option<Tile> {
    let (_, unit) = finding::headline(disk.disk(), figures)?;
    let (value, unit) = if unit == "IOPS" { (figures.mb_per_s?, "MB/s") } else { (figures.per_s?, "IOPS") };
    Some(
        Tile::new(
            if unit == "MB/s" { "Throughput in bytes" } else { "Throughput in I/Os" },
            format::figure(value),
            unit,
        )
        .beside(load(disk)),
    )
}

/// `4 KiB blocks, 32 outstanding`.
fn load(disk: &Configuration) -> String {
    let Some(Setup::Disk(setup)) = &disk.setup else { return String::new() };
    format!("{} blocks, {} outstanding", format::bytes(setup.block_bytes), setup.outstanding_total())
}

fn in_words(interval: PercentileInterval) -> String {
    match interval.high_us {
        Some(high_us) => {
            format!("{} to {} in this trial", format::latency(interval.low_us), format::latency(high_us))
        }
        None => format!("from {} on in this trial", format::latency(interval.low_us)),
    }
}

fn tail(figures: &Figures) -> String {
    figures.latency.p99_us.map(|us| format!("; p99 {}", format::latency(us))).unwrap_or_default()
}

fn of_several(report: &Report, disk: &Configuration) -> Option<Tile> {
    let (tile, beside) = throughput(report, disk, &disk.name)?;
    Some(tile.beside(format!("{beside}{}", tail(disk.main()?))))
}

/// The most I/Os and bytes a second, and the shortest tail, each with its test.
fn best(report: &Report, disks: &[&Configuration]) -> Vec<Tile> {
    let most = |of: fn(&Figures) -> Option<f64>| {
        let valued = disks.iter().filter_map(|disk| Some((*disk, of(disk.main()?)?)));
        valued.max_by(|one, other| one.1.total_cmp(&other.1))
    };
    let rate = |label: &str, unit: &str, (disk, value): (&Configuration, f64)| {
        let per_s = disk.main().and_then(|main| main.per_s).filter(|per_s| *per_s > 0.0);
        let interval = bare(&interval(disk, per_s.map_or(1.0, |per_s| value / per_s)));
        Tile::new(label, format::figure(value), unit).beside(format!("{}; {interval}", disk.name))
    };
    let iops = most(|figures| figures.per_s).map(|most| rate("Highest IOPS", "IOPS", most));
    let bytes = most(|figures| figures.mb_per_s).map(|most| rate("Highest throughput", "MB/s", most));
    let tails = disks.iter().filter_map(|disk| Some((disk, disk.main()?.latency.p99_us?)));
    let shortest = tails.min_by(|one, other| one.1.total_cmp(&other.1));
    let shortest = shortest.map(|(disk, us)| latency_tile("Shortest p99", us).beside(&disk.name));
    let uncounted = invalid(report).first().and_then(|trial| uncounted_tile(trial));
    iops.into_iter().chain(bytes).chain(shortest).chain(uncounted).collect()
}

/// The course of the only test: of its first trial that counts, else of one that does not.
pub(super) fn chart(report: &Report) -> Option<Chart> {
    let ran: Vec<&Trial> = report.disks().filter(|trial| trial.has_run()).collect();
    let first = ran.first()?;
    if ran.iter().any(|trial| trial.name != first.name || trial.levels != first.levels) {
        return None;
    }
    let trial = ran.iter().find(|trial| trial.is_complete()).unwrap_or(first);
    let chart = over_time::throughput(trial).or_else(|| histogram(trial))?;
    let of = if ran.len() > 1 { format!(", trial {}", trial.number) } else { String::new() };
    let uncounted =
        if trial.is_complete() { String::new() } else { format!(" ({})", uncounted(trial.state)) };
    Some(Chart { heading: format!("{}{of}{uncounted}", chart.heading), ..chart })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, Made};
    use crate::lead::Tone;
    use record::{MeasuredTrial, StudyRecord};

    fn study(trials: Vec<MeasuredTrial>) -> StudyRecord {
        fixture::study("disk", trials)
    }

    fn labels(study: &StudyRecord) -> Vec<(String, String)> {
        let tiles = tiles(&Report::of(study)).into_iter();
        tiles.map(|tile| (tile.label, format!("{} {}", tile.figure, tile.unit))).collect()
    }

    fn pairs(told: &[(&str, &str)]) -> Vec<(String, String)> {
        told.iter().map(|(label, figure)| ((*label).to_owned(), (*figure).to_owned())).collect()
    }

    #[test]
    fn one_test_has_its_throughput_and_tail_with_their_intervals_and_its_course() {
        let study = study(vec![Made::read("R").rate(20_000.0, 50.0).noise(0.02).trial(1)]);
        let tiles = tiles(&Report::of(&study));
        let labels: Vec<&str> = tiles.iter().map(|tile| &*tile.label).collect();
        assert_eq!(labels, ["Throughput", "p99 latency", "Mean latency", "Throughput in bytes"]);
        assert!(tiles[0].beside.ends_with(" in this trial"), "{:?}", tiles[0]);
        assert!(
            tiles[1].beside.contains(" to ") && tiles[1].beside.ends_with(" in this trial"),
            "{:?}",
            tiles[1]
        );
        assert_eq!(tiles[3].beside, "4 KiB blocks, 32 outstanding");
        assert_eq!(chart(&Report::of(&study)).unwrap().heading, "Throughput over time");
    }

    #[test]
    fn large_blocks_are_told_in_bytes_first() {
        let large = |setup: &mut record::DiskSetup| setup.block_bytes = 1 << 20;
        let study = study(vec![Made::read("R").with(large).rate(2_000.0, 500.0).noise(0.0).trial(1)]);
        let told = labels(&study);
        assert_eq!([&told[0], &told[3]].map(|tile| tile.1.as_str()), ["2,097 MB/s", "2,000 IOPS"]);
        assert_eq!(told[3].0, "Throughput in I/Os");
    }

    /// A trial of one second has no course, but latencies.
    #[test]
    fn a_short_test_shows_its_latencies() {
        let mut short = Made::read("R").seconds(1).trial(1);
        short.samples.retain(|sample| sample.phase == record::Phase::Measure);
        assert_eq!(chart(&Report::of(&study(vec![short]))).unwrap().heading, "Latency");
    }

    #[test]
    fn the_only_test_is_shown_though_it_does_not_count() {
        let mut study = study(vec![Made::read("R").rate(20_000.0, 50.0).noise(0.0).trial(1)]);
        study.trials[0].trial.state = State::Invalid;
        let report = Report::of(&study);
        let tile = &tiles(&report)[0];
        assert_eq!((tile.tone, &*tile.figure, &*tile.unit), (Tone::Invalid, "20,000", "IOPS"));
        let heading = chart(&report).unwrap().heading;
        assert_eq!(heading, "Throughput over time (invalid, does not count)");
    }

    #[test]
    fn a_rate_that_was_offered_says_whether_it_was_sustained() {
        let offered =
            |waited| Some(record::Offered { due: 5_000, slots: 64, waited: Some(waited), sent: Some(3_064) });
        let beside = |per_s: f64, unsent: u64, waited: u64| {
            let made = Made::read("R").seconds(10).noise(0.0).rate(per_s, 2e6).open(500.0, 2e6);
            let made = made.outcome(|outcome| (outcome.unsent, outcome.offered) = (unsent, offered(waited)));
            tiles(&Report::of(&study(vec![made.trial(1)])))[0].beside.clone()
        };
        assert_eq!(beside(500.0, 0, 0), "all offered; 500 offered, sustained");
        let behind = beside(300.0, 1_936, 2_900);
        assert!(behind.ends_with("; 500 offered, not sustained"), "{behind}");
    }

    #[test]
    fn few_tests_have_a_tile_each_and_of_many_the_best_are_named() {
        let read = |number: u32| {
            Made::read(&format!("R{number}"))
                .rate(1e4 * f64::from(number), 50.0 * f64::from(number))
                .noise(0.0)
                .trial(number)
        };
        let few = study(vec![read(1), read(2), read(3)]);
        assert_eq!(
            labels(&few),
            pairs(&[("R1", "10,000 IOPS"), ("R2", "20,000 IOPS"), ("R3", "30,000 IOPS")])
        );
        let mut many = study((1..=6).map(read).collect());
        many.trials[5].trial.state = State::Invalid;
        let told = labels(&many);
        assert_eq!(told[0], ("Highest IOPS".to_owned(), "50,000 IOPS".to_owned()), "R6 does not count");
        assert_eq!((&*told[1].0, &*told[2].0, &*told[3].0), ("Highest throughput", "Shortest p99", "R6"));
        let tiles = tiles(&Report::of(&many));
        assert!(tiles[0].beside.starts_with("R5; ") && tiles[2].beside == "R1", "{tiles:?}");
        assert_eq!(tiles[3].tone, Tone::Invalid);
    }

    #[test]
    fn rounds_say_whether_they_became_steady() {
        let told = |study: &StudyRecord| {
            let report = Report::of(study);
            let tiles = rounds(report.disk.steady_state.as_ref().unwrap());
            tiles
                .iter()
                .map(|tile| format!("{} {}, {}", tile.label, tile.figure, tile.beside))
                .collect::<Vec<_>>()
        };
        let mut study = crate::tests::steady();
        let steady = told(&study);
        assert!(
            steady[0].starts_with("Throughput ") && steady[0].contains("–10,170 in rounds 4 to 8; "),
            "{steady:?}"
        );
        assert_eq!(steady[1], "Steady state rounds 4 to 8, reached in round 8 of 8");
        study.trials.truncate(12);
        assert_eq!(told(&study)[1], "Steady state not reached, in 6 rounds");
    }
}
