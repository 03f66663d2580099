//! Searches for the highest rate that is held, and what studies of such rates come to.

use stats::search::{Held, Next, Rules, Search};
use stats::{effect, sustained};

use crate::noise::normal;
use crate::page::{Section, Table};
use crate::server::{PEAK_PER_S, Server, Ways, unit};
use crate::sets::{Random, each, percent};

const SEARCHES: u32 = 300;
const STUDIES: u32 = 2_000;
const BLOCKS: usize = 7;

const RULES: Rules = Rules::USUAL;

/// Warm-up and window of the two kinds of step, and the cycle that they are judged by, in seconds.
#[derive(Clone, Copy)]
struct Lengths {
    probe: (usize, usize),
    confirm: (usize, usize),
    cycle_s: f64,
}

/// Where nothing regular is known, and on a server whose checkpoints are five minutes apart.
const ASSUMED: Lengths = Lengths { probe: (40, 80), confirm: (180, 360), cycle_s: 60.0 };
const CHECKPOINTS: Lengths = Lengths { probe: (40, 300), confirm: (180, 600), cycle_s: 300.0 };

pub(crate) fn section() -> Section {
    Section {
        about: "A search says that a rate is held. C is what the server writes on average; nobody can hold more, and the buffer, which \
                is in seconds of what the server writes at most, has to bridge what is slower: 2 s of it let 0.46 C through where the \
                server stalls for 5 s of 60, and 10 s let 0.86 C through where it is at 60 % for a minute of five. Stalls are at least \
                half their distance apart unless they are at random.",
        tables: vec![searches(), gains()],
    }
}

fn searches() -> Table {
    let stalls = |length_s, every_s, random| Ways::Stalls { length_s, every_s, random };
    let cycle = |length_s, every_s, speed| Ways::Cycle { length_s, every_s, speed };
    let servers = [
        ("constant", Ways::Constant, 10.0, ASSUMED),
        ("seconds scatter by 5 %", Ways::Noise { deviation: 0.05, rho: 0.0 }, 10.0, ASSUMED),
        ("seconds scatter by 10 %, rho 0.9", Ways::Noise { deviation: 0.1, rho: 0.9 }, 10.0, ASSUMED),
        ("1-s stall about every 30 s", stalls(1.0, 30.0, false), 10.0, ASSUMED),
        ("5-s stall about every 60 s", stalls(5.0, 60.0, false), 10.0, ASSUMED),
        ("5-s stall every 60 s at random", stalls(5.0, 60.0, true), 10.0, ASSUMED),
        ("5-s stall about every 60 s", stalls(5.0, 60.0, false), 2.0, ASSUMED),
        ("5-s stall about every 300 s", stalls(5.0, 300.0, false), 10.0, ASSUMED),
        ("5-s stall every 300 s at random", stalls(5.0, 300.0, true), 10.0, ASSUMED),
        ("each minute 10 s at half speed", cycle(10.0, 60.0, 0.5), 10.0, ASSUMED),
        ("each minute 20 s at half speed", cycle(20.0, 60.0, 0.5), 10.0, ASSUMED),
        ("each 5 min 30 s at 60 %, known", cycle(30.0, 300.0, 0.6), 10.0, CHECKPOINTS),
        ("each 5 min 60 s at 60 %, known", cycle(60.0, 300.0, 0.6), 30.0, CHECKPOINTS),
        ("each 5 min 60 s at 60 %, known", cycle(60.0, 300.0, 0.6), 10.0, CHECKPOINTS),
        ("each 5 min 60 s at 60 %, not known", cycle(60.0, 300.0, 0.6), 30.0, ASSUMED),
    ];
    let head = [
        "server",
        "buffer",
        "found / C",
        "sd",
        "not confirmed, %",
        "above 1.005 C, %",
        "minutes",
        "95 % within",
    ];
    Table {
        caption: format!(
            "Whole searches, {SEARCHES} of each server; the mean and sd are of those that confirmed a rate."
        ),
        head: head.map(str::to_owned).to_vec(),
        rows: servers
            .into_iter()
            .map(|(name, ways, buffer_s, lengths)| row(name, ways, buffer_s, lengths))
            .collect(),
    }
}

fn row(name: &str, ways: Ways, buffer_s: f64, lengths: Lengths) -> Vec<String> {
    let cell = format!("search, {name}, {buffer_s} s, cycle {} s", lengths.cycle_s);
    let all = each(&cell, SEARCHES, |random| search(ways, buffer_s, lengths, random));
    let found: Vec<f64> = all.iter().filter_map(|(found, _)| *found).collect();
    let mut minutes: Vec<f64> = all.iter().map(|(_, seconds)| seconds / 60.0).collect();
    minutes.sort_by(f64::total_cmp);
    let mean = stats::mean(&found).unwrap_or(f64::NAN);
    let deviation = stats::coefficient_of_variation(&found).map_or(f64::NAN, |share| share * mean);
    let share = |count: usize| format!("{:.1}", 100.0 * count as f64 / all.len() as f64);
    vec![
        name.to_owned(),
        format!("{buffer_s} s"),
        format!("{mean:.3}"),
        format!("{deviation:.3}"),
        share(all.len() - found.len()),
        share(found.iter().filter(|&&share| share > 1.005).count()),
        format!("{:.0}", stats::mean(&minutes).unwrap_or(f64::NAN)),
        format!("{:.0}", minutes[minutes.len() * 95 / 100]),
    ]
}

/// A search from a begin of its own: the confirmed rate over what the server writes on average, and how long it took.
fn search(ways: Ways, buffer_s: f64, lengths: Lengths, random: &mut Random) -> (Option<f64>, f64) {
    let start_per_s = RULES.start_per_s * 2f64.powf(unit(random));
    let mut server = Server::new(ways, random);
    let mut search = Search::new(Rules { start_per_s, ..RULES });
    let (mut held, mut seconds) = (None, 0.0);
    loop {
        let (rate_per_s, length) = match search.next() {
            Next::Probe(rate) => (rate, lengths.probe),
            Next::Confirm(rate) => (rate, lengths.confirm),
            Next::Done => break,
        };
        let (mut step, took_s) = server.step(rate_per_s, length, buffer_s * PEAK_PER_S);
        step.cycle_s = lengths.cycle_s;
        seconds += took_s;
        let is_held = sustained(&step).is_empty();
        held = is_held.then_some(rate_per_s / ways.capacity_per_s());
        search.take(if is_held { Held::Yes } else { Held::No });
    }
    // A search ends with a confirming step that was held, or with none.
    (held, seconds)
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
        std::iter::once(format!("{:.1} %", noise * 100.0)).chain(GAINS.map(cell)).collect()
    };
    Table {
        caption: format!(
            "Per cent of {STUDIES} studies of {BLOCKS} blocks whose interval holds the true gain of one constant server over another, \
             by how much blocks scatter. Each search begins up to a fifth above the rate that it is told."
        ),
        head: std::iter::once("noise of blocks".to_owned())
            .chain(GAINS.map(|gain| format!("gain {:.0} %", gain * 100.0)))
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
            search.take(if is_held { Held::Yes } else { Held::No });
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
