//! Signs that figures are not those of a medium: of a write cache that a loss of power may empty, and of throttling. A sign is
//! evidence and never a proof: what answers a write cannot be seen from where it is sent.

use crate::disk::class::{FLASH_SOURCE, FLASH_WRITE_US, HALF_TURN_15000_US};
use crate::disk::storage::{Storage, Test};
use crate::format;

/// So much of each other are rates that one limit set.
const SAME_RATE: f64 = 1.03;
/// Tests that must agree before a limit is claimed.
const SAME_LEAST: usize = 3;
/// Larger blocks meet limits of bytes first.
const SMALL_BLOCK_BYTES: u64 = 16 * 1024;
/// Fewer outstanding I/Os may not reach a limit.
const OUTSTANDING_LEAST: u64 = 8;
/// A load thread that uses so much of a core may be the limit itself.
const BUSIEST_MOST: f64 = 0.8;
/// Waiting for a limit is so many times as long as an I/O alone.
const QUEUED_TIMES: f64 = 3.0;
/// Percentiles of which the highest is so much of the median: I/Os that are all held back to the same time.
const EVEN: f64 = 1.15;
/// A burst is so much faster than what follows.
const BURST_TIMES: f64 = 1.25;
/// What follows a burst varies by so much of its mean at most.
const PLATEAU_SPREAD: f64 = 0.05;
/// Seconds that make a plateau.
const PLATEAU_SECONDS: usize = 4;

/// A limit that several tests end at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cap {
    /// I/Os a second.
    pub(super) per_s: f64,
    /// The time that nearly all I/Os take there, in microseconds; none where they differ.
    pub(super) held_back_us: Option<f64>,
}

/// A rate that fell and stayed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Plateau {
    pub(super) burst_per_s: f64,
    pub(super) after_s: usize,
    pub(super) per_s: f64,
}

/// A limit of I/Os a second, whatever they are: tests of several sizes or directions, whose media would differ, end at one rate. None
/// where a load thread may have set it, or nothing waits.
pub(super) fn cap(storage: &Storage) -> Option<Cap> {
    let alone_us = storage.page.as_ref()?.mean_us;
    let is_free = |test: &&Test| test.busiest_share.is_none_or(|share| share < BUSIEST_MOST);
    let small: Vec<&Test> = (storage.tests.iter())
        .filter(|test| test.block_bytes <= SMALL_BLOCK_BYTES && test.outstanding >= OUTSTANDING_LEAST)
        .filter(is_free)
        .collect();
    let kinds = |of: fn(&Test) -> u64| {
        let mut kinds: Vec<u64> = small.iter().map(|test| of(test)).collect();
        kinds.sort_unstable();
        kinds.dedup();
        kinds.len()
    };
    let rates: Vec<f64> = small.iter().map(|test| test.per_s).collect();
    let (low, high) = (rates.iter().copied().reduce(f64::min)?, rates.iter().copied().reduce(f64::max)?);
    let differ = kinds(|test| test.block_bytes) > 1 && kinds(|test| test.read_per_cent.to_bits()) > 1;
    let wait = small.iter().all(|test| test.mean_us >= QUEUED_TIMES * alone_us);
    if small.len() < SAME_LEAST || !differ || !wait || high > low * SAME_RATE {
        return None;
    }
    let is_even = |test: &&Test| test.p50_us.zip(test.p99_us).is_some_and(|(p50, p99)| p99 <= EVEN * p50);
    let times: Vec<f64> = small.iter().map(|test| test.mean_us).collect();
    let held_back_us = stats::mean(&times).filter(|_| small.iter().all(is_even));
    Some(Cap { per_s: stats::mean(&rates)?, held_back_us })
}

/// Where a rate was higher for some seconds, and then steady: noise and drift are neither.
pub(super) fn plateau(rates_per_s: &[f64]) -> Option<Plateau> {
    let last = rates_per_s.len().checked_sub(PLATEAU_SECONDS)?;
    (1..=last).find_map(|after_s| {
        let (burst, rest) = rates_per_s.split_at(after_s);
        let (burst_per_s, per_s) = (stats::mean(burst)?, stats::mean(rest)?);
        let (low, high) = (rest.iter().copied().reduce(f64::min)?, rest.iter().copied().reduce(f64::max)?);
        let least = burst.iter().copied().reduce(f64::min)?;
        let is_steady = high - low <= PLATEAU_SPREAD * per_s;
        let found = is_steady && per_s > 0.0 && least >= BURST_TIMES * per_s;
        found.then_some(Plateau { burst_per_s, after_s, per_s })
    })
}

/// Where a durable write goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Write {
    /// To a block that may be just ahead: half a turn on average.
    Anywhere,
    /// To the block that was written before: a whole turn.
    Again,
}

/// What a durable write that takes so long is faster than, as a clause: its medium, as far as that is known. Nothing of what stands for
/// a disk, which has said so.
pub(super) fn faster_than(storage: &Storage, us: f64, write: Write) -> Option<String> {
    let reads_turn = storage.page.as_ref().is_some_and(|page| page.mean_us >= HALF_TURN_15000_US);
    let (turn_us, around) = match write {
        Write::Anywhere => (HALF_TURN_15000_US, "for half a turn"),
        Write::Again => (2.0 * HALF_TURN_15000_US, "for one turn"),
    };
    match us {
        _ if storage.below.stands_for.is_some() => None,
        us if us < turn_us && (storage.below.turns || reads_turn) => {
            Some(format!("a disk of 15,000 rpm takes {} {around}", format::plain_latency(turn_us)))
        }
        us if us < FLASH_WRITE_US => {
            Some(format!("flash cells take {} ({FLASH_SOURCE})", format::plain_latency(FLASH_WRITE_US)))
        }
        _ => None,
    }
}

/// What a commit that is faster than its medium shows.
pub(super) const CACHE: &str = "probable write cache";

/// A commit that is faster than what it is written to.
pub(super) fn cache(storage: &Storage) -> Option<String> {
    let commit_us = storage.commit.as_ref()?.mean_us;
    let medium = faster_than(storage, commit_us, Write::Anywhere)?;
    Some(format!(
        "{CACHE}: a commit takes {}, {medium}. Check that it survives a power loss",
        format::latency(commit_us)
    ))
}

/// A test whose rate fell to a plateau. A limit that all tests end at is a class of storage.
pub(super) fn burst(storage: &Storage) -> Option<String> {
    storage.tests.iter().find_map(|test| {
        let Plateau { burst_per_s, after_s, per_s } = plateau(&test.rates_per_s)?;
        let seconds = format::counted(after_s, "second", "seconds");
        Some(format!(
            "probable throttling or a full cache: {} fell after {seconds} from {} to {} IOPS and stayed there",
            test.name,
            format::figure(burst_per_s),
            format::figure(per_s)
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::storage_samples as samples;

    #[test]
    fn a_limit_is_claimed_where_sizes_and_directions_end_at_one_rate_and_wait_for_it() {
        let volume = samples::cloud_volume;
        assert_eq!(cap(&volume()), Some(Cap { per_s: 3_001.0, held_back_us: Some(10_663.25) }));
        for machine in [
            samples::spinning_disk(),
            samples::raid_with_cache(),
            samples::sata_ssd(),
            samples::nvme(),
            samples::loop_on_tmpfs(),
            samples::memory_of_a_host(),
        ] {
            assert_eq!(cap(&machine), None, "{machine:#?}");
        }
        let changed = |change: fn(&mut Test)| {
            let mut volume = volume();
            volume.tests.iter_mut().for_each(change);
            cap(&volume)
        };
        assert_eq!(changed(|test| test.busiest_share = Some(0.97)), None, "the load thread may be it");
        assert_eq!(changed(|test| test.block_bytes = 8192), None, "one size may have one rate");
        assert_eq!(changed(|test| test.read_per_cent = 100.0), None, "and so may reads");
        assert_eq!(changed(|test| test.mean_us = 700.0), None, "nothing waits");
        assert_eq!(changed(|test| test.per_s *= 1.0 + test.read_per_cent / 1e3), None, "10% apart");
        let uneven = changed(|test| test.p99_us = test.p99_us.map(|us| us * 2.0)).unwrap();
        assert_eq!(uneven.held_back_us, None);
    }

    #[test]
    fn a_plateau_is_a_rate_that_fell_and_stayed() {
        let found = |rates: &[f64]| plateau(rates);
        assert_eq!(
            found(&[9_000.0, 9_100.0, 8_900.0, 3_000.0, 3_010.0, 2_990.0, 3_000.0, 3_005.0]),
            Some(Plateau { burst_per_s: 9_000.0, after_s: 3, per_s: 3_001.0 })
        );
        for (rates, why) in [
            (&[3_000.0, 3_010.0, 2_990.0, 3_000.0, 3_000.0, 3_001.0][..], "steady throughout"),
            (&[9_000.0, 8_000.0, 7_000.0, 6_000.0, 5_000.0, 4_000.0, 3_000.0, 2_000.0], "a drift"),
            (&[9_000.0, 3_000.0, 8_000.0, 2_500.0, 9_500.0, 3_000.0, 7_000.0, 4_000.0], "noise"),
            (&[9_000.0, 9_000.0, 9_000.0, 9_000.0, 9_000.0, 3_000.0, 3_000.0, 3_000.0], "too short"),
            (&[3_000.0, 3_000.0, 9_000.0, 9_000.0, 9_000.0, 9_000.0], "it rose"),
            (&[9_000.0, 0.0, 0.0, 0.0, 0.0, 0.0], "an outage"),
            (&[], "nothing"),
        ] {
            assert_eq!(found(rates), None, "{why}");
        }
    }

    #[test]
    fn a_commit_faster_than_its_medium_is_a_sign_and_no_proof() {
        for machine in [samples::spinning_disk(), samples::sata_ssd(), samples::cloud_volume()] {
            assert_eq!(cache(&machine), None, "{machine:#?}");
        }
        assert_eq!(cache(&samples::loop_on_tmpfs()), None, "the class says that it is memory");
        let raid = cache(&samples::raid_with_cache()).unwrap();
        assert_eq!(
            raid,
            "probable write cache: a commit takes 120 µs, a disk of 15,000 rpm takes 2 ms for half a turn. Check that it survives a power loss"
        );
        let host = cache(&samples::memory_of_a_host()).unwrap();
        assert!(host.contains("19.4 µs, flash cells take 220 µs (Micron TN-29-19). Check"), "{host}");
        let mut turning = samples::sata_ssd();
        turning.below.turns = true;
        assert!(cache(&turning).is_some(), "a drive that says that it turns cannot commit in 0.8 ms");
    }

    #[test]
    fn a_burst_that_was_used_up_is_told_by_its_test() {
        assert_eq!(burst(&samples::nvme()), None);
        let mut used_up = samples::sata_ssd();
        let rates = [50_000.0, 49_000.0, 8_000.0, 8_010.0, 7_990.0, 8_000.0, 8_000.0, 8_000.0];
        used_up.tests.last_mut().unwrap().rates_per_s = rates.to_vec();
        assert_eq!(
            burst(&used_up).unwrap(),
            "probable throttling or a full cache: page write 8KiB Q32 fell after 2 seconds from 49,500 to \
             8,000 IOPS and stayed there"
        );
    }
}
