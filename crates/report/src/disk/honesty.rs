//! Whether a flush takes as long as its medium must take: what durable writes cost beside the same writes without a flush, what the
//! kernel says of the medium, and what follows. It is evidence and never a proof: what answers a flush cannot be seen from where it
//! is sent, and only a loss of power shows what is lost by one.

use record::{CacheMode, Device, DiskSetup};

use crate::disk::sign::{self, Write};
use crate::disk::storage::{FDATASYNC, O_DSYNC, Storage};
use crate::format;
use crate::report::Report;
use crate::section::Block;
use crate::summary::Answer;
use crate::table::{Column, Row, Table};
use crate::trial::{Figures, Trial};
use crate::verdict::{Level, Verdict};

use super::medium;

/// The profile whose tests ask for it.
const PROFILE: &str = "flush";
/// Rule of what is concluded.
pub(super) const HONESTY: &str = "flush_honesty";
/// A durable write that takes so many times as long as a plain one at most has not waited for a flush.
const FREE_TIMES: f64 = 1.2;

/// How a write is made durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// It is not.
    Plain,
    Dsync,
    /// The same block each time, which a disk that turns has come round for.
    SameDsync,
    Fdatasync,
}

/// A way, and what a write costs by it.
#[derive(Clone, Debug, PartialEq)]
struct Cost {
    way: Way,
    name: String,
    trial: u32,
    /// Write and flush together, in microseconds.
    mean_us: f64,
    /// Of the part that is waited for last.
    p99_us: Option<f64>,
}

/// What the evidence comes to.
#[derive(Clone, Debug, PartialEq)]
enum Judgement {
    /// Below the tests is no medium.
    NoMedium(String),
    /// Faster than the medium can be.
    TooFast { cost: Cost, medium: String },
    /// As fast as without a flush, though the kernel takes the cache for one that must be flushed.
    FlushIsFree { cost: Cost, times: f64 },
    /// As fast as without a flush; the kernel sends none, for the device says that it has no volatile cache.
    NothingToFlush { times: f64 },
    /// As long as this medium must take.
    AsItMust,
    /// Longer than without a flush, on a medium of which nothing is known.
    UnknownMedium { times: f64 },
}

/// Ways to make a write durable whose times are further apart did not wait for the same.
const APART_TIMES: f64 = 2.0;

/// Both ways, where their times are too far apart.
#[derive(Clone, Debug, PartialEq)]
struct Disagreement {
    fast: Cost,
    slow: Cost,
}

impl Disagreement {
    fn of(costs: &[Cost]) -> Option<Self> {
        let of = |way: Way| costs.iter().find(|cost| cost.way == way).cloned();
        let (one, other) = (of(Way::Dsync)?, of(Way::Fdatasync)?);
        let (fast, slow) = if one.mean_us <= other.mean_us { (one, other) } else { (other, one) };
        (slow.mean_us > APART_TIMES * fast.mean_us).then_some(Self { fast, slow })
    }

    fn words(&self) -> String {
        let Self { fast, slow } = self;
        let name = |cost: &Cost| if cost.way == Way::Fdatasync { FDATASYNC } else { O_DSYNC };
        format!(
            "Flushes disagree: {} takes {}, but {} takes {} ({:.1} times as long). Both must wait until the write is on stable \
            storage. Repeat the test on an idle machine. Until they agree, neither figure proves a flush",
            name(fast),
            format::latency(fast.mean_us),
            name(slow),
            format::latency(slow.mean_us),
            slow.mean_us / fast.mean_us
        )
    }
}

/// Whether the run asks for it.
pub(super) fn is_asked(report: &Report) -> bool {
    report.profile.as_deref() == Some(PROFILE)
}

/// What it comes to, for the first screen.
pub(super) fn answers(report: &Report) -> Vec<Answer> {
    let found = measured(report).map(|(storage, costs)| sentences(&storage, &costs, device(report)));
    found.unwrap_or_default().into_iter().map(|sentence| Answer::labelled("Flushes", sentence)).collect()
}

/// Whether both ways agree, and what follows from their times. Where they disagree, nothing speaks for the medium.
fn sentences(storage: &Storage, costs: &[Cost], device: Option<&Device>) -> Vec<String> {
    let disagreement = Disagreement::of(costs).filter(|_| storage.below.stands_for.is_none());
    let judgement = judged(storage, costs, device);
    let is_in_favour = matches!(judgement, Judgement::AsItMust | Judgement::UnknownMedium { .. });
    let words = (disagreement.is_none() || !is_in_favour).then(|| words(&judgement));
    disagreement.iter().map(Disagreement::words).chain(words).collect()
}

/// What was found; nothing where it was not asked for or too little was measured.
pub(super) fn all(report: &Report) -> Vec<Verdict> {
    let Some((storage, costs)) = measured(report) else { return Vec::new() };
    let device = device(report);
    let trials: Vec<u32> = costs.iter().map(|cost| cost.trial).collect();
    let verdict =
        |sentence| Verdict { trials: trials.clone(), ..Verdict::new(Level::Finding, HONESTY, sentence) };
    let sentences = sentences(&storage, &costs, device);
    sentences.into_iter().chain([evidence(&costs, device)]).map(verdict).collect()
}

/// The tests with what each kind of write costs.
pub(super) fn table(report: &Report) -> Option<Block> {
    let (_, costs) = measured(report)?;
    let plain_us = plain(&costs);
    let row = |cost: &Cost| {
        let times = plain_us.filter(|_| cost.way != Way::Plain).map(|plain| cost.mean_us / plain);
        Row::of(vec![
            cost.name.clone(),
            format::latency(cost.mean_us),
            format::latency_or_dash(cost.p99_us),
            times.map_or_else(|| format::UNKNOWN.to_owned(), |times| format!("{times:.1}")),
        ])
    };
    let columns = vec![
        Column::words("write"),
        Column::number("mean"),
        Column::number("p99 of the last wait"),
        Column::number("time relative to the same write without a flush"),
    ];
    Table::of("Cost of durable writes", columns, costs.iter().map(row)).map(Block::Table)
}

/// None where this was not asked for, and where plain or durable writes were not measured.
fn measured(report: &Report) -> Option<(Storage, Vec<Cost>)> {
    if !is_asked(report) {
        return None;
    }
    let costs: Vec<Cost> = report.disks().filter(|trial| trial.is_complete()).filter_map(cost).collect();
    let has_durable = costs.iter().any(|cost| cost.way != Way::Plain);
    Storage::of(report).filter(|_| has_durable && plain(&costs).is_some()).map(|storage| (storage, costs))
}

fn device(report: &Report) -> Option<&Device> {
    report.disks().find_map(|trial| medium::storage(report, trial)?.device.known())
}

fn plain(costs: &[Cost]) -> Option<f64> {
    costs.iter().find(|cost| cost.way == Way::Plain).map(|cost| cost.mean_us)
}

fn cost(trial: &Trial) -> Option<Cost> {
    let way = way(trial.disk().filter(|disk| disk.engine.loads_device())?)?;
    let of_kind = |kind: &str| trial.figures.iter().find(|figures: &&Figures| figures.kind == kind);
    let write = &of_kind("write")?.latency;
    let flush = of_kind(record::disk::FLUSH).map(|figures| &figures.latency);
    let (mean_us, p99_us) = match way {
        Way::Fdatasync => (write.mean_us? + flush?.mean_us?, flush?.p99_us),
        Way::Plain | Way::Dsync | Way::SameDsync => (write.mean_us?, write.p99_us),
    };
    Some(Cost { way, name: trial.name.clone(), trial: trial.number, mean_us, p99_us })
}

/// Of writes one after the other.
fn way(setup: &DiskSetup) -> Option<Way> {
    if setup.read_per_cent > 0.0 || setup.outstanding_total() != 1 {
        return None;
    }
    let writes_through =
        matches!(setup.cache, CacheMode::DirectWriteThrough | CacheMode::BufferedWriteThrough);
    Some(match (writes_through, setup.flush_every_writes) {
        (true, _) if setup.region_bytes == setup.block_bytes => Way::SameDsync,
        (true, _) => Way::Dsync,
        (false, Some(1)) => Way::Fdatasync,
        (false, None) => Way::Plain,
        (false, Some(_)) => return None,
    })
}

fn judged(storage: &Storage, costs: &[Cost], device: Option<&Device>) -> Judgement {
    if let Some(stands_for) = &storage.below.stands_for {
        return Judgement::NoMedium(stands_for.clone());
    }
    let too_fast = |cost: &Cost| {
        let write = match cost.way {
            Way::Plain => return None,
            Way::SameDsync => Write::Again,
            Way::Dsync | Way::Fdatasync => Write::Anywhere,
        };
        let medium = sign::faster_than(storage, cost.mean_us, write)?;
        Some(Judgement::TooFast { cost: cost.clone(), medium })
    };
    if let Some(found) = costs.iter().find_map(too_fast) {
        return found;
    }
    let Some(plain_us) = plain(costs) else { return Judgement::AsItMust };
    let durable = costs.iter().filter(|cost| matches!(cost.way, Way::Dsync | Way::Fdatasync));
    let least = durable.min_by(|a, b| a.mean_us.total_cmp(&b.mean_us));
    let Some((cost, times)) = least.map(|cost| (cost, cost.mean_us / plain_us)) else {
        return Judgement::AsItMust;
    };
    let sends_none =
        device.and_then(|device| device.write_cache.known()).is_some_and(|told| told == "write through");
    match times <= FREE_TIMES {
        true if sends_none => Judgement::NothingToFlush { times },
        true => Judgement::FlushIsFree { cost: cost.clone(), times },
        false if is_medium_known(storage, device) => Judgement::AsItMust,
        false => Judgement::UnknownMedium { times },
    }
}

/// Interfaces of which the kernel knows whether the drive turns. What a hypervisor shows as a disk may be anything.
const OF_DRIVES: [&str; 5] = ["sata", "sas", "usb", "scsi", "nvme"];

fn is_medium_known(storage: &Storage, device: Option<&Device>) -> bool {
    let tells = device.is_some_and(|device| {
        let is_drive = |interface: &String| OF_DRIVES.iter().any(|of| interface.starts_with(of));
        device.rotational.known().is_some() && device.interface.known().is_some_and(is_drive)
    });
    tells || storage.below.turns
}

fn words(judgement: &Judgement) -> String {
    match judgement {
        Judgement::NoMedium(stands_for) => {
            format!("Flushes: these times do not show a medium, because {stands_for}. Measure the storage below it")
        }
        Judgement::TooFast { cost, medium } => format!(
            "Flushes: evidence of a write cache. “{}” takes {}, and {medium}, so something in front of the medium answered. Ask \
             whether the cache survives a power loss, or test it: prony verify with a journal shows what a power loss destroys",
            cost.name,
            format::latency(cost.mean_us),
        ),
        Judgement::FlushIsFree { cost, times } => format!(
            "Flushes: evidence of a cache that is not emptied. “{}” takes {times:.2} times as long as without a flush, but the \
            device reports a volatile cache. Either the cache is protected against power loss, or the device ignores flushes. Ask \
            the vendor, or test it: prony verify with a journal shows what a power loss destroys",
            cost.name,
        ),
        Judgement::NothingToFlush { times } => format!(
            "Flushes: the kernel sends none, because the device reports no volatile cache (write through). A durable write takes {times:.2} times as long as other writes. This report is not a proof: test it with prony verify and a journal"
        ),
        Judgement::UnknownMedium { times } => format!(
            "Flushes: no sign of a write cache that answers instead of the medium: durable writes take at least {times:.1} times as long as others. The medium is unknown, so prony cannot check whether this is long enough"
        ),
        Judgement::AsItMust => "Flushes: no sign of a write cache that answers before the medium. Durable writes take at least the \
        time of the medium, and longer than other writes"
            .to_owned(),
    }
}

/// The figures, and what the kernel says.
fn evidence(costs: &[Cost], device: Option<&Device>) -> String {
    let each = costs.iter().map(|cost| {
        let p99 = cost.p99_us.map(|us| format!(" (p99 {})", format::latency(us))).unwrap_or_default();
        format!("{}: {}{p99}", cost.name, format::latency(cost.mean_us))
    });
    let medium = match device {
        None => "the kernel shows no device".to_owned(),
        Some(device) => {
            let read = |reading: Option<String>| reading.unwrap_or_else(|| "unknown".to_owned());
            let turns = device
                .rotational
                .known()
                .map(|&turns| if turns { "turning" } else { "not turning" }.to_owned());
            format!(
                "the kernel calls {} {}, interface {}, write cache {}",
                device.name,
                read(turns),
                read(device.interface.known().cloned()),
                read(device.write_cache.known().cloned())
            )
        }
    };
    format!("Flushes, means: {}; {medium}", each.collect::<Vec<_>>().join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::storage::Below;
    use crate::disk::storage_samples as samples;
    use crate::fixture::{self, Made};
    use record::Reading;

    /// Microseconds of writes with O_DSYNC, fdatasync, to the same block, and without a flush; what the kernel says of the cache.
    fn told(storage: &Storage, us: [f64; 4], write_cache: &str) -> String {
        let ways = [Way::Dsync, Way::Fdatasync, Way::SameDsync, Way::Plain];
        let cost = |(way, mean_us)| Cost { way, name: format!("{way:?}"), trial: 1, mean_us, p99_us: None };
        let costs: Vec<Cost> = ways.into_iter().zip(us).map(cost).collect();
        let environment = fixture::study(PROFILE, Vec::new()).environment.unwrap();
        let mut device = environment.volumes.values().next().unwrap().device.known().unwrap().clone();
        device.write_cache = Reading::Known(write_cache.to_owned());
        sentences(storage, &costs, Some(&device)).join("\n")
    }

    #[test]
    fn a_disk_that_turns_must_come_round() {
        let disk = samples::spinning_disk();
        let honest = told(&disk, [8_400.0, 8_600.0, 8_330.0, 4_000.0], "write back");
        assert!(honest.starts_with("Flushes: no sign of a write cache"), "{honest}");
        let lying = told(&disk, [120.0, 130.0, 90.0, 80.0], "write back");
        assert!(lying.starts_with("Flushes: evidence of a write cache. “Dsync” takes 120 µs"), "{lying}");
        assert!(
            lying.contains(
                "a disk of 15,000 rpm takes 2 ms for half a turn, so something in front of the medium answered"
            ),
            "{lying}"
        );
        // Half a turn is enough for a block anywhere, and not for the same one again.
        let again = told(&disk, [8_400.0, 8_600.0, 3_000.0, 2_500.0], "write back");
        assert!(
            again.contains("“SameDsync” takes 3.00 ms, and a disk of 15,000 rpm takes 4 ms for one turn"),
            "{again}"
        );
    }

    #[test]
    fn flash_takes_its_time_and_a_flush_that_costs_nothing_is_told() {
        let flash = samples::sata_ssd();
        let honest = told(&flash, [900.0, 950.0, 880.0, 40.0], "write back");
        assert!(honest.starts_with("Flushes: no sign"), "{honest}");
        let cached = told(&flash, [30.0, 33.0, 28.0, 25.0], "write back");
        assert!(
            cached.starts_with("Flushes: evidence of a write cache")
                && cached.contains("flash cells take 220 µs (Micron TN-29-19)"),
            "{cached}"
        );
        // One of the ways is enough.
        let half = told(&flash, [900.0, 33.0, 880.0, 25.0], "write back");
        assert!(
            half.contains("\nFlushes: evidence of a write cache")
                && half.contains("“Fdatasync” takes 33.0 µs"),
            "{half}"
        );
        let even = [410.0, 420.0, 405.0, 400.0];
        let free = told(&flash, even, "write back");
        assert!(
            free.starts_with("Flushes: evidence of a cache")
                && free.contains("“Dsync” takes 1.02 times as long"),
            "{free}"
        );
        let none = told(&flash, even, "write through");
        assert!(none.contains("the kernel sends none"), "{none}");
    }

    /// fdatasync took 540 µs and O_DSYNC 5.02 ms, and that was "no sign of a write cache".
    #[test]
    fn ways_that_disagree_by_more_than_twice_are_told_and_speak_for_nothing() {
        let flash = samples::sata_ssd();
        let apart = told(&flash, [5_020.0, 540.0, 4_900.0, 40.0], "write back");
        assert!(
            apart.starts_with(
                "Flushes disagree: fdatasync takes 540 µs, but O_DSYNC takes 5.02 ms (9.3 times as long)"
            ) && !apart.contains("no sign"),
            "{apart}"
        );
        let other_way = told(&flash, [540.0, 5_020.0, 530.0, 40.0], "write back");
        assert!(other_way.contains("O_DSYNC takes 540 µs, but fdatasync takes 5.02 ms"), "{other_way}");
        let near = told(&flash, [900.0, 1_790.0, 880.0, 40.0], "write back");
        assert!(near.starts_with("Flushes: no sign"), "{near}");
    }

    /// A virtual disk was once compared with the time of its medium, although the medium is unknown.
    #[test]
    fn an_unknown_medium_is_compared_with_nothing() {
        let costs = [(Way::Dsync, 900.0), (Way::Fdatasync, 950.0), (Way::Plain, 40.0)]
            .map(|(way, mean_us)| Cost { way, name: format!("{way:?}"), trial: 1, mean_us, p99_us: None });
        let environment = fixture::study(PROFILE, Vec::new()).environment.unwrap();
        let mut device = environment.volumes.values().next().unwrap().device.known().unwrap().clone();
        let mut told = |interface: &str| {
            device.interface = Reading::Known(interface.to_owned());
            sentences(&samples::sata_ssd(), &costs, Some(&device)).join("\n")
        };
        let (virtual_disk, drive) = (told("virtio"), told("nvme"));
        assert!(
            virtual_disk.contains("The medium is unknown")
                && !virtual_disk.contains("the time of the medium"),
            "{virtual_disk}"
        );
        assert!(virtual_disk.contains("at least 22.5 times as long"), "{virtual_disk}");
        assert!(drive.contains("at least the time of the medium"), "{drive}");
    }

    #[test]
    fn nothing_is_told_of_what_stands_for_a_disk() {
        let below = Below { turns: false, stands_for: Some("loop0 is a loop device".to_owned()) };
        let storage = Storage { below, ..samples::sata_ssd() };
        let told = told(&storage, [1.0; 4], "write back");
        assert!(told.starts_with("Flushes: these times do not show a medium, because loop0"), "{told}");
    }

    #[test]
    fn tests_are_known_by_how_they_write_and_only_where_it_was_asked() {
        let alone = |setup: &mut DiskSetup| (setup.outstanding, setup.threads) = (1, 1);
        let write = |name: &str, cache, flush_every_writes, region_bytes| {
            Made::write(name).with(alone).with(|setup| {
                (setup.cache, setup.flush_every_writes, setup.region_bytes) =
                    (cache, flush_every_writes, region_bytes);
            })
        };
        let (direct, through, bytes) = (CacheMode::Direct, CacheMode::DirectWriteThrough, 4096);
        let made = || {
            [
                Made::read("page").with(alone),
                write("dsync", through, None, 1 << 30),
                write("fdatasync", direct, Some(1), 1 << 30).and_flushes(700.0),
                write("same", through, None, bytes),
                write("plain", direct, None, 1 << 30),
            ]
        };
        let of = |profile| {
            let trials = (1..).zip(made()).map(|(number, made)| made.trial(number)).collect();
            Report::of(&fixture::study(profile, trials))
        };
        let (_, costs) = measured(&of(PROFILE)).unwrap();
        let ways: Vec<(Way, &str, u32)> =
            costs.iter().map(|cost| (cost.way, &*cost.name, cost.trial)).collect();
        let expected = [
            (Way::Dsync, "dsync", 2),
            (Way::Fdatasync, "fdatasync", 3),
            (Way::SameDsync, "same", 4),
            (Way::Plain, "plain", 5),
        ];
        assert_eq!(ways, expected);
        assert!(costs[1].mean_us > costs[0].mean_us + 500.0, "a flush is a part of its write: {costs:#?}");
        let verdicts = all(&of(PROFILE));
        assert_eq!(verdicts.iter().map(|verdict| &*verdict.rule).collect::<Vec<_>>(), [HONESTY; 2]);
        assert!(
            verdicts[1].sentence().contains("the kernel calls nvme0n1 not turning"),
            "{}",
            verdicts[1].sentence()
        );
        assert_eq!(all(&of("quick")), []);
    }
}
