//! Searches for the highest rate that is held, and what studies of such rates come to.

use stats::search::{Held, Next, Rules, Search};
use stats::{Written, effect, late_rate, step_autocorrelation, sustained};

use crate::noise::normal;
use crate::page::{Section, Table};
use crate::server::{PEAK_PER_S, Server, Ways, unit};
use crate::sets::{Random, each, percent};

const SEARCHES: u32 = 300;
const HARD_SEARCHES: u32 = 100;
const STUDIES: u32 = 2_000;
const BLOCKS: usize = 7;

const RULES: Rules = Rules::USUAL;

/// Warm-up and window of the two kinds of step, and the cycle that they are judged by, in seconds.
#[derive(Clone, Copy)]
struct Lengths {
    probe: (usize, usize),
    confirm: (usize, usize),
    /// None where the lengths are given: a fifth of a window.
    cycle_s: Option<f64>,
}

/// Where nothing regular is known, and on a server whose checkpoints are five minutes apart.
const ASSUMED: Lengths = Lengths { probe: (40, 80), confirm: (180, 360), cycle_s: Some(60.0) };
const CHECKPOINTS: Lengths = Lengths { probe: (40, 300), confirm: (180, 600), cycle_s: Some(300.0) };

/// The step of an hour: the warm-up of a confirming step, and what is left.
const HOUR: (usize, usize) = (180, 3_420);

pub(crate) fn section() -> Section {
    Section {
        about: "A search reports the highest rate that is sustained. C is the average rate at which the server writes. \
            No higher rate can be sustained. A buffer of 10 s holds the records that the server writes in 10 s at \
            its highest rate. The buffer must absorb the records that wait while the server is slow. With a buffer \
            of 2 s, a server that stalls for 5 s in 60 s sustains at most 0.46 C. With a buffer of 10 s, a server \
            that runs at 60% for one minute in five sustains at most 0.86 C. Unless stalls are random, the time \
            between two stalls is at least half of the average time between stalls. In the rows marked \"turns\", \
            fast and slow times have random lengths. If a rate is not confirmed, the search next tries the smaller \
            of two rates. One is 0.97 times the unconfirmed rate. The other is 0.985 times the rate at which the \
            server wrote in the second half of the failed steps. Credits let a server write at twice C until the \
            credits are used up. Unused capacity refills the credits. If a table grows, each record takes 1 + k ln(1 \
            + rows / 100,000) times as long as in an empty table. C is then the rate of an empty table. In the rows \
            marked \"emptied\", the table is emptied before each step. In the rows marked \"kept\", the table keeps \
            its rows. Some events are rarer than a step is long, and no step sees these. The last column therefore \
            shows how often the server sustains the confirmed rate for another hour.",
        tables: searches().into_iter().chain([quick(), gains()]).collect(),
    }
}

/// A server that is searched.
#[derive(Clone, Copy)]
struct Case {
    name: &'static str,
    ways: Ways,
    buffer_s: f64,
    lengths: Lengths,
}

impl Case {
    const fn new(name: &'static str, ways: Ways, buffer_s: f64, lengths: Lengths) -> Self {
        Self { name, ways, buffer_s, lengths }
    }
}

const fn stalls(length_s: f64, every_s: f64, random: bool) -> Ways {
    Ways::Stalls { length_s, every_s, random }
}

const fn cycle(length_s: f64, every_s: f64, speed: f64) -> Ways {
    Ways::Cycle { length_s, every_s, speed }
}

const fn credits(minutes: f64) -> Ways {
    Ways::Credits { length_s: 60.0 * minutes }
}

const AR9: Ways = Ways::Noise { deviation: 0.1, rho: 0.9 };
const TURNS: Ways = Ways::Turns { fast_s: 60.0, slow_s: 30.0, speed: 0.6 };
const LONG_TURNS: Ways = Ways::Turns { fast_s: 600.0, slow_s: 300.0, speed: 0.6 };

const SERVERS: [Case; 15] = [
    Case::new("constant", Ways::Constant, 10.0, ASSUMED),
    Case::new("seconds scatter by 5%", Ways::Noise { deviation: 0.05, rho: 0.0 }, 10.0, ASSUMED),
    Case::new("seconds scatter by 10%, rho 0.9", AR9, 10.0, ASSUMED),
    Case::new("1-s stall about every 30 s", stalls(1.0, 30.0, false), 10.0, ASSUMED),
    Case::new("5-s stall about every 60 s", stalls(5.0, 60.0, false), 10.0, ASSUMED),
    Case::new("5-s stall every 60 s at random", stalls(5.0, 60.0, true), 10.0, ASSUMED),
    Case::new("5-s stall about every 60 s", stalls(5.0, 60.0, false), 2.0, ASSUMED),
    Case::new("5-s stall about every 300 s", stalls(5.0, 300.0, false), 10.0, ASSUMED),
    Case::new("5-s stall every 300 s at random", stalls(5.0, 300.0, true), 10.0, ASSUMED),
    Case::new("10 s of each minute at half speed", cycle(10.0, 60.0, 0.5), 10.0, ASSUMED),
    Case::new("20 s of each minute at half speed", cycle(20.0, 60.0, 0.5), 10.0, ASSUMED),
    Case::new("30 s of each 5 min at 60%, cycle known", cycle(30.0, 300.0, 0.6), 10.0, CHECKPOINTS),
    Case::new("60 s of each 5 min at 60%, cycle known", cycle(60.0, 300.0, 0.6), 30.0, CHECKPOINTS),
    Case::new("60 s of each 5 min at 60%, cycle known", cycle(60.0, 300.0, 0.6), 10.0, CHECKPOINTS),
    Case::new("60 s of each 5 min at 60%, cycle unknown", cycle(60.0, 300.0, 0.6), 30.0, ASSUMED),
];

/// Those that are not the same for ever, or whose events are rarer than a step is long.
const HARD: [Case; 18] = [
    Case::new("20-s stall every 15 min at random", stalls(20.0, 900.0, true), 10.0, ASSUMED),
    Case::new("2-s stall every 200 s at random", stalls(2.0, 200.0, true), 10.0, ASSUMED),
    Case::new("2-s stall every 200 s at random", stalls(2.0, 200.0, true), 1.0, ASSUMED),
    Case::new("60 s of each 30 min at 60%, cycle unknown", cycle(60.0, 1_800.0, 0.6), 10.0, ASSUMED),
    Case::new("turns: 60 s fast, 30 s at 60%", TURNS, 10.0, ASSUMED),
    Case::new("turns: 10 min fast, 5 min at 60%", LONG_TURNS, 10.0, ASSUMED),
    Case::new("10% of steps at 60%", Ways::SlowSteps { share: 0.1, speed: 0.6 }, 10.0, ASSUMED),
    Case::new("30% of steps at 60%", Ways::SlowSteps { share: 0.3, speed: 0.6 }, 10.0, ASSUMED),
    Case::new("50% of steps at 60%", Ways::SlowSteps { share: 0.5, speed: 0.6 }, 10.0, ASSUMED),
    Case::new("in the course of 24 h, 30% slower", Ways::Day { depth: 0.3 }, 10.0, ASSUMED),
    Case::new("20 min of each hour at 70%", cycle(1_200.0, 3_600.0, 0.7), 10.0, ASSUMED),
    Case::new("credits for 1 min at twice the rate", credits(1.0), 10.0, ASSUMED),
    Case::new("credits for 10 min", credits(10.0), 10.0, ASSUMED),
    Case::new("credits for 30 min", credits(30.0), 10.0, ASSUMED),
    Case::new("credits for 2 h", credits(120.0), 10.0, ASSUMED),
    Case::new("table grows, k 0.05, emptied", Ways::Growth { slower: 0.05, kept: false }, 10.0, ASSUMED),
    Case::new("table grows, k 0.2, emptied", Ways::Growth { slower: 0.2, kept: false }, 10.0, ASSUMED),
    Case::new("table grows, k 0.2, kept", Ways::Growth { slower: 0.2, kept: true }, 10.0, ASSUMED),
];

/// Those that pass the usual search and do not hold an hour.
const FOR_AN_HOUR: [Case; 8] =
    [SERVERS[0], SERVERS[2], SERVERS[5], SERVERS[8], HARD[0], HARD[13], HARD[14], HARD[17]];

fn searches() -> [Table; 3] {
    let usual = |case: Case| row(case, RULES, SEARCHES);
    let hard = |case: Case| row(case, RULES, HARD_SEARCHES);
    let long = |case: Case| row(case, Rules { long: true, ..RULES }, HARD_SEARCHES);
    let table = |caption, rows| Table { caption, head: SEARCH_HEAD.map(str::to_owned).to_vec(), rows };
    [
        table(
            format!(
                "{SEARCHES} whole searches per server. The mean of \"found / C\" and its standard deviation (sd) include only \
                 searches that confirmed a rate. \"Minutes\" is the mean time of a search. \"95% within\" is the time in minutes \
                 within which 95% of searches end. \"Lasts 1 h\" is the percentage of confirmed rates that the server \
                 sustains for another hour."
            ),
            SERVERS.map(usual).to_vec(),
        ),
        table(
            format!(
                "{HARD_SEARCHES} searches per server, for servers that change or have rare events. The columns are the same as \
                 in the first table."
            ),
            HARD.map(hard).to_vec(),
        ),
        table(
            format!(
                "{HARD_SEARCHES} searches per server, each with a last confirming step of one hour. The columns are the same as \
                 in the first table."
            ),
            FOR_AN_HOUR.map(long).to_vec(),
        ),
    ]
}

const SEARCH_HEAD: [&str; 9] = [
    "server",
    "buffer",
    "found / C",
    "sd",
    "not confirmed, %",
    "above 1.005 C, %",
    "minutes",
    "95% within",
    "lasts 1 h, %",
];

/// What a search came to.
struct Searched {
    /// The confirmed rate over what the server writes on average.
    found: Option<f64>,
    /// Whether it held this rate for an hour more.
    hour: bool,
    seconds: f64,
    /// Seconds of steps that were not held.
    not_held: Vec<Vec<Written>>,
}

fn row(case: Case, rules: Rules, sets: u32) -> Vec<String> {
    let Case { name, buffer_s, lengths, .. } = case;
    let long = if rules.long { ", long" } else { "" };
    let cell = format!("search, {name}, {buffer_s} s, cycle {} s{long}", lengths.cycle_s.unwrap_or(0.0));
    let all = each(&cell, sets, |random| search(case, rules, random));
    let found: Vec<f64> = all.iter().filter_map(|one| one.found).collect();
    let mut minutes: Vec<f64> = all.iter().map(|one| one.seconds / 60.0).collect();
    minutes.sort_by(f64::total_cmp);
    let mean = stats::mean(&found).unwrap_or(f64::NAN);
    let deviation = stats::coefficient_of_variation(&found).map_or(f64::NAN, |share| share * mean);
    let share = |count: usize, of: usize| 100.0 * count as f64 / of as f64;
    let hours = all.iter().filter(|one| one.hour).count();
    vec![
        name.to_owned(),
        format!("{buffer_s} s"),
        format!("{mean:.3}"),
        format!("{deviation:.3}"),
        format!("{:.1}", share(all.len() - found.len(), all.len())),
        format!("{:.1}", share(found.iter().filter(|&&share| share > 1.005).count(), all.len())),
        format!("{:.0}", stats::mean(&minutes).unwrap_or(f64::NAN)),
        format!("{:.0}", minutes[minutes.len() * 95 / 100]),
        format!("{:.0}", share(hours, found.len().max(1))),
    ]
}

/// A search from a begin of its own, and an hour at what it found.
fn search(case: Case, rules: Rules, random: &mut Random) -> Searched {
    let Case { ways, buffer_s, lengths, .. } = case;
    let start_per_s = rules.start_per_s * 2f64.powf(unit(random));
    let mut server = Server::new(ways, random);
    let mut search = Search::new(Rules { start_per_s, ..rules });
    let mut run = |rate_per_s: f64, length: (usize, usize)| {
        let mut ran = server.step(rate_per_s, length, buffer_s * PEAK_PER_S);
        ran.step.cycle_s = lengths.cycle_s.unwrap_or(length.1 as f64 / 5.0);
        (sustained(&ran.step).is_empty(), ran)
    };
    let (mut held, mut seconds, mut not_held) = (None, 0.0, Vec::new());
    loop {
        let (rate_per_s, length) = match search.next() {
            Next::Probe(rate) => (rate, lengths.probe),
            Next::Confirm(rate) => (rate, lengths.confirm),
            Next::Long(rate) => (rate, HOUR),
            Next::Done => break,
        };
        let (is_held, ran) = run(rate_per_s, length);
        seconds += ran.took_s;
        held = is_held.then_some(rate_per_s);
        search.take(if is_held { Held::Yes } else { Held::No }, late_rate(&ran.written));
        if !is_held {
            not_held.push(ran.written);
        }
    }
    // A search ends with a confirming step that was held, or with none.
    let hour = held.is_some_and(|rate| run(rate, HOUR).0);
    Searched { found: held.map(|rate| rate / ways.capacity_per_s()), hour, seconds, not_held }
}

fn quick() -> Table {
    const QUICK: Lengths = Lengths { probe: (4, 10), confirm: (8, 16), cycle_s: None };
    let rules = Rules { confirmations: 1, confirmations_of: 1, ..RULES };
    let row = |(name, ways): (&'static str, Ways)| {
        let case = Case::new(name, ways, 10.0, QUICK);
        let all = each(&format!("quick search, {name}"), SEARCHES, |random| search(case, rules, random));
        let mut found: Vec<f64> = all.iter().filter_map(|one| one.found).collect();
        found.sort_by(f64::total_cmp);
        let warned = |one: &&Searched| {
            let windows: Vec<&[Written]> = one.not_held.iter().map(Vec::as_slice).collect();
            step_autocorrelation(&windows).is_some_and(|seconds| seconds.matters())
        };
        let share = |count: usize| format!("{:.0}", 100.0 * count as f64 / all.len() as f64);
        vec![
            name.to_owned(),
            format!("{:.3}", stats::mean(&found).unwrap_or(f64::NAN)),
            format!("{:.3}", found[found.len() * 95 / 100]),
            share(found.iter().filter(|&&share| share > 1.005).count()),
            share(all.iter().filter(warned).count()),
        ]
    };
    let noise = |deviation: f64, rho: f64| Ways::Noise { deviation, rho };
    let servers = [
        ("constant", Ways::Constant),
        ("seconds scatter by 10%", noise(0.1, 0.0)),
        ("by 10%, rho 0.3", noise(0.1, 0.3)),
        ("by 10%, rho 0.6", noise(0.1, 0.6)),
        ("by 5%, rho 0.9", noise(0.05, 0.9)),
        ("by 10%, rho 0.9", noise(0.1, 0.9)),
        ("by 20%, rho 0.9", noise(0.2, 0.9)),
        ("5-s stall every 60 s at random", stalls(5.0, 60.0, true)),
    ];
    Table {
        caption: format!(
            "{SEARCHES} quick searches per server, with a buffer of 10 s. \"95% below\" is the value of \"found / C\" \
                that 95% of searches stay below. \"Warned\" is the percentage of searches that report that each second \
                resembles the previous second."
        ),
        head: ["server", "found / C", "95% below", "above 1.005 C, %", "warned, %"]
            .map(str::to_owned)
            .to_vec(),
        rows: servers.map(row).to_vec(),
    }
}

fn gains() -> Table {
    const NOISES: [f64; 5] = [0.0, 0.001, 0.002, 0.005, 0.01];
    const GAINS: [f64; 5] = [0.0, 0.01, 0.02, 0.03, 0.05];
    let row = |noise: f64| {
        let cell = |gain: f64| {
            let name = format!("gain of a search, noise {noise}, gain {gain}");
            let covered = percent(&name, STUDIES, |random| {
                let pairs = study(noise, gain, random);
                effect(&pairs)
                    .is_some_and(|effect| effect.ratio.low <= 1.0 + gain && 1.0 + gain <= effect.ratio.high)
            });
            format!("{covered:.0}")
        };
        std::iter::once(format!("{:.1}%", noise * 100.0)).chain(GAINS.map(cell)).collect()
    };
    Table {
        caption: format!(
            "Percentage of {STUDIES} studies with an interval that contains the true gain of one constant server over \
                another. Each study has {BLOCKS} blocks. The rows give the scatter of the blocks. Each search starts at \
                the given start rate or up to 20% above it."
        ),
        head: std::iter::once("noise of blocks".to_owned())
            .chain(GAINS.map(|gain| format!("gain {:.0}%", gain * 100.0)))
            .collect(),
        rows: NOISES.into_iter().map(row).collect(),
    }
}

/// Pairs of the rates that were found, one a block: what holds a rate does so always.
fn study(noise: f64, gain: f64, random: &mut Random) -> Vec<(f64, f64)> {
    let found = |capacity: f64, random: &mut Random| {
        let start_per_s = RULES.start_per_s * 1.2f64.powf(unit(random));
        let mut search = Search::new(Rules { start_per_s, ..RULES });
        let mut held = 0.0;
        while let Next::Probe(rate) | Next::Confirm(rate) = search.next() {
            let is_held = rate <= capacity;
            held = if is_held { rate } else { held };
            search.take(if is_held { Held::Yes } else { Held::No }, None);
        }
        held
    };
    let capacity = 5_000.0 * 2f64.powf(unit(random));
    let pair = |_| {
        let (first, second) = (normal(random), normal(random));
        let reference = found(capacity * (noise * first).exp(), random);
        (reference, found(capacity * (1.0 + gain) * (noise * second).exp(), random))
    };
    (0..BLOCKS).map(pair).collect()
}
