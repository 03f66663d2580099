//! Many data sets of one cell, on all processors.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

/// The random numbers of a data set.
pub(crate) type Random = Xoshiro256PlusPlus;

/// What `one` gives for each of `sets` data sets of the cell of this name, in their order.
pub(crate) fn each<T: Send>(cell: &str, sets: u32, one: impl Fn(&mut Random) -> T + Sync) -> Vec<T> {
    let threads = std::thread::available_parallelism().map_or(1, |count| count.get() as u32);
    let part = |thread: u32| {
        let mine = (thread * sets / threads)..((thread + 1) * sets / threads);
        mine.map(|set| one(&mut Random::seed_from_u64(seed(cell, set)))).collect::<Vec<T>>()
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

/// FNV-1a of the cell's name and the number of the set (Fowler, Noll and Vo; draft-eastlake-fnv).
fn seed(cell: &str, set: u32) -> u64 {
    cell.bytes()
        .chain(set.to_le_bytes())
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
