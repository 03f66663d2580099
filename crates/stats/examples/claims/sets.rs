//! Many data sets of one cell, on all processors.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

/// The random numbers of a data set.
pub(crate) type Random = Xoshiro256PlusPlus;

/// What `one` gives for each of `sets` data sets of the cell of this name, in their order.
pub(crate) fn each<T: Send>(cell: &str, sets: u32, one: impl Fn(&mut Random) -> T + Sync) -> Vec<T> {
    let threads = std::thread::available_parallelism().map_or(1, |count| count.get() as u32);
    let cell = first_name(cell);
    let part = |thread: u32| {
        let mine = (thread * sets / threads)..((thread + 1) * sets / threads);
        mine.map(|set| one(&mut Random::seed_from_u64(seed(&cell, set)))).collect::<Vec<T>>()
    };
    std::thread::scope(|scope| {
        let part = &part;
        let parts: Vec<_> = (0..threads).map(|thread| scope.spawn(move || part(thread))).collect();
        parts.into_iter().flat_map(|part| part.join().unwrap_or_default()).collect()
    })
}

/// Per cent of `sets` data sets of which `one` is true.
pub(crate) fn percent(cell: &str, sets: u32, one: impl Fn(&mut Random) -> bool + Sync) -> f64 {
    let all = each(cell, sets, one);
    100.0 * all.iter().filter(|&&holds| holds).count() as f64 / all.len() as f64
}

/// Labels that were reworded, each with its first form. Seeds are made of the first forms, so that the figures stay.
const REWORDED: [(&str, &str); 16] = [
    ("10 s of each minute", "each minute 10 s"),
    ("20 s of each minute", "each minute 20 s"),
    ("30 s of each 5 min", "each 5 min 30 s"),
    ("60 s of each 5 min", "each 5 min 60 s"),
    ("60 s of each 30 min", "each 30 min 60 s"),
    ("20 min of each hour", "each hour 20 min"),
    ("60 s of each 300 s", "each 300 s 60 s"),
    ("30 s of each 300 s", "each 300 s 30 s"),
    ("10 s of each 60 s", "each 60 s 10 s"),
    ("cycle known", "known"),
    ("cycle unknown", "not known"),
    ("24 h, 30%", "a day 30%"),
    ("apart, at random", "apart, as a coin falls"),
    ("per side, spread given", "a side, the spread given"),
    ("per side", "a side"),
    ("events/s", "events per second"),
];

/// The first form of a cell's name.
fn first_name(cell: &str) -> String {
    REWORDED.iter().fold(cell.to_owned(), |name, (now, first)| name.replace(now, first)).replace('%', " %")
}

/// FNV-1a of the cell's name and the number of the set (Fowler, Noll and Vo; draft-eastlake-fnv).
fn seed(cell: &str, set: u32) -> u64 {
    cell.bytes()
        .chain(set.to_le_bytes())
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
