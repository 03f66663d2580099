//! Which class of storage a disk behaves like: by figures that others published, and where nobody did, by what media can do at
//! most. Each class is told with where its figures come from; what none of them fits has no class.
//!
//! Published loads differ from ours in threads, outstanding I/Os and the size of the file, so that a class is an order of
//! magnitude. Where one class ends and the next begins is half way between their published figures, by their ratio.

use crate::disk::published::{Class as Published, Library};
use crate::disk::sign::Cap;
use crate::disk::storage::Storage;
use crate::format::{self, figure, plain};
use crate::published::Source;

/// Half a turn of a disk of 7,200 and of 15,000 turns a minute, in microseconds: what a block is waited for on average.
pub(super) const HALF_TURN_7200_US: f64 = 60e6 / 7_200.0 / 2.0;
pub(super) const HALF_TURN_15000_US: f64 = 60e6 / 15_000.0 / 2.0;
/// What flash cells of one bit, the fastest, take to be read and to be written. Source: Micron, Technical Note TN-29-19, NAND Flash
/// 101 (2006).
pub(super) const FLASH_READ_US: f64 = 25.0;
pub(super) const FLASH_WRITE_US: f64 = 220.0;
/// What SATA carries, in megabytes (10^6 bytes) a second: 6 Gbit/s, of which each byte takes ten bits (Serial ATA 3.0).
const SATA_MB_PER_S: f64 = 600.0;

/// A class of storage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Class {
    /// No medium: memory of a host, a controller, or of this machine.
    Memory,
    /// About so many disks of 7,200 turns a minute, whose writes a cache may take.
    Disks { about: u32, is_cached: bool },
    /// A volume of which whoever lends it allows so many I/Os a second; the time that nearly all of them take there, in microseconds.
    Capped { per_s: f64, held_back_us: Option<f64> },
    /// Flash that an interface of SATA can carry.
    Flash,
    /// Flash that it cannot.
    FastFlash,
}

/// How far up an ability is, the slowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// As a single disk that turns.
    Disk,
    /// As several of them, or faster ones.
    Disks,
    /// As a flash drive.
    Flash,
    /// As many of them, or as memory.
    Beyond,
}

/// The class; none of what is like none of them, or was not measured.
pub(super) fn of(storage: &Storage, cap: Option<&Cap>, library: &Library) -> Option<Class> {
    let (page, pages) = (storage.page.as_ref()?, storage.pages.as_ref()?);
    if storage.below.stands_for.is_some() || page.mean_us < FLASH_READ_US {
        return Some(Class::Memory);
    }
    if let Some(Cap { per_s, held_back_us }) = cap.copied() {
        return Some(Class::Capped { per_s, held_back_us });
    }
    if page.mean_us >= HALF_TURN_15000_US {
        let one_per_s = library.disk()?.reads_per_s[1];
        let is_cached = storage.commit.as_ref().is_some_and(|commit| commit.mean_us < HALF_TURN_15000_US);
        let about = (pages.per_s / one_per_s).round().max(1.0) as u32;
        return Some(Class::Disks { about, is_cached });
    }
    let is_flash = reads(storage, library)? >= Rank::Flash;
    match storage.scan.as_ref()?.mb_per_s {
        _ if !is_flash => None,
        mb_per_s if mb_per_s > SATA_MB_PER_S => Some(Class::FastFlash),
        _ => Some(Class::Flash),
    }
}

impl Class {
    /// What it behaves like, with the source.
    pub(super) fn words(self, storage: &Storage, library: &Library) -> Option<String> {
        let read = |class: &Published<'_>| match class.reads_per_s {
            [low, high] if low < high => {
                format!("{} to {} reads/s", figure(low.round()), figure(high.round()))
            }
            [only, _] => format!("{} reads/s", figure(only)),
        };
        let published = |class: Published<'_>| format!("{}; {}", read(&class), class.source.short);
        Some(match self {
            Self::Memory => match (&storage.below.stands_for, &storage.page) {
                (Some(stands_for), _) => format!("memory, not a disk ({stands_for})"),
                (None, Some(page)) => format!(
                    "memory: a page read takes {}, but flash cells alone take {} ({FLASH_SOURCE})",
                    format::latency(page.mean_us),
                    format::plain_latency(FLASH_READ_US)
                ),
                (None, None) => return None,
            },
            Self::Disks { about: 1, is_cached } => {
                format!("a single 7,200 rpm disk{} ({})", behind(is_cached), published(library.disk()?))
            }
            Self::Disks { about, is_cached } => {
                let of_four = library.raids()?[usize::from(is_cached)];
                format!(
                    "a RAID of about {about} disks of 7,200 rpm{} (of 4: {})",
                    behind(is_cached),
                    published(of_four)
                )
            }
            Self::Capped { per_s, held_back_us } => {
                let held = held_back_us.map(|us| format!(", and each takes about {}", format::latency(us)));
                format!(
                    "a cloud volume throttled to {} IOPS: small reads and writes both level off at this rate{}",
                    plain(rounded(per_s)),
                    held.unwrap_or_default()
                )
            }
            Self::Flash => format!(
                "a flash drive on SATA, which carries {} MB/s (one: {})",
                plain(SATA_MB_PER_S),
                published(library.flash())
            ),
            Self::FastFlash => format!(
                "NVMe or a flash array: above SATA's {} MB/s (array: over {})",
                plain(SATA_MB_PER_S),
                published(library.flash_array())
            ),
        })
    }
}

fn behind(is_cached: bool) -> &'static str {
    if is_cached { " behind a write cache" } else { "" }
}

/// In a sentence.
pub(super) const FLASH_SOURCE: &str = "Micron TN-29-19";

/// A limit is a round number, of which nearly all is measured.
fn rounded(per_s: f64) -> f64 {
    let step = 10f64.powf(per_s.log10().floor() - 1.0);
    (per_s / step).round() * step
}

/// Half way between two rates, by their ratio.
fn between(low: f64, high: f64) -> f64 {
    (low * high).sqrt()
}

/// A class of storage on a scale: its name, and the rate at which it ends. The last class has no end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Band {
    pub(super) name: &'static str,
    pub(super) end: Option<f64>,
}

fn bands<const COUNT: usize>(names: [&'static str; COUNT], ends: &[f64]) -> Vec<Band> {
    names.into_iter().enumerate().map(|(place, name)| Band { name, end: ends.get(place).copied() }).collect()
}

/// Rates at which the classes of single disks, of several disks and of flash drives end.
fn ends(one: f64, several: [f64; 2], flash: f64, array: f64) -> [f64; 3] {
    [between(one, several[0]), between(several[1], flash), between(flash, array)]
}

fn ranked(per_s: f64, ends: [f64; 3]) -> Rank {
    match ends.map(|end| per_s <= end) {
        [true, ..] => Rank::Disk,
        [_, true, _] => Rank::Disks,
        [.., true] => Rank::Flash,
        _ => Rank::Beyond,
    }
}

/// Commits, by what a medium takes for one: half a turn of a disk, or a program of flash cells.
pub(super) fn commits(storage: &Storage) -> Option<Rank> {
    Some(match storage.commit.as_ref()?.mean_us {
        us if us >= HALF_TURN_7200_US => Rank::Disk,
        us if us >= HALF_TURN_15000_US => Rank::Disks,
        us if us >= FLASH_WRITE_US => Rank::Flash,
        _ => Rank::Beyond,
    })
}

/// Classes by commits per second, one after the other. Disks of every speed are one class: the scale has no room for two.
pub(super) fn commit_bands() -> Vec<Band> {
    bands(["HDD", "SSD", "write cache"], &[1e6 / HALF_TURN_15000_US, 1e6 / FLASH_WRITE_US])
}

fn read_ends(library: &Library) -> Option<[f64; 3]> {
    let [plain, cached] = library.raids()?;
    let several = [plain.reads_per_s[1], cached.reads_per_s[1]];
    let [flash, array] = [library.flash(), library.flash_array()].map(|class| class.reads_per_s[1]);
    Some(ends(library.disk()?.reads_per_s[1], several, flash, array))
}

/// Class by page reads.
pub(super) fn reads(storage: &Storage, library: &Library) -> Option<Rank> {
    Some(ranked(storage.pages.as_ref()?.per_s, read_ends(library)?))
}

/// Classes by page reads per second.
pub(super) fn read_bands(library: &Library) -> Option<Vec<Band>> {
    Some(bands(["HDD", "HDD RAID", "SSD", "flash array"], &read_ends(library)?))
}

/// Pages that are written: no document has those of flash, so that its reads stand for them.
pub(super) fn writes(storage: &Storage, library: &Library) -> Option<Rank> {
    let [plain, cached] = library.raids()?;
    let several = [plain.writes_per_s?, cached.writes_per_s?];
    let [flash, array] = [library.flash(), library.flash_array()].map(|class| class.reads_per_s[1]);
    let ends = ends(library.disk()?.writes_per_s?, several, flash, array);
    Some(ranked(storage.writes.as_ref()?.per_s, ends))
}

/// The published disks read 512 KB blocks at random positions, so sequential scans on them are faster than these rates.
fn scan_ends(library: &Library) -> Option<[f64; 3]> {
    let several = library.raids()?[1].mb_per_s?;
    Some([library.disk()?.mb_per_s?, between(several, SATA_MB_PER_S), SATA_MB_PER_S])
}

pub(super) fn scans(storage: &Storage, library: &Library) -> Option<Rank> {
    Some(ranked(storage.scan.as_ref()?.mb_per_s, scan_ends(library)?))
}

/// Classes by megabytes scanned per second.
pub(super) fn scan_bands(library: &Library) -> Option<Vec<Band>> {
    Some(bands(["HDD", "HDD RAID", "SATA", "NVMe or array"], &scan_ends(library)?))
}

/// The sources of all class limits, in sentences.
pub(super) fn ends_in_words(library: &Library) -> String {
    let sources = library.sources().map(|source| source.short.as_str()).join("; ");
    format!(
        "A class ends half way, by ratio, between published figures ({sources}). Commits end at half a turn of a 15,000 rpm disk and at \
         the write time of flash cells ({FLASH_SOURCE}), SATA at its {} MB/s.",
        plain(SATA_MB_PER_S)
    )
}

/// The documents that classes come from, each whole.
pub(super) fn sources(library: &Library) -> Vec<String> {
    let whole = |source: &Source| format!("{}: {}", source.short, crate::published::source(source));
    library.sources().into_iter().map(whole).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::published;
    use crate::disk::sign;
    use crate::disk::storage_samples as samples;

    fn class(storage: &Storage) -> Option<Class> {
        of(storage, sign::cap(storage).as_ref(), published::library().unwrap())
    }

    #[test]
    fn each_machine_is_of_the_class_of_its_figures() {
        for (storage, expected) in [
            (samples::spinning_disk(), Some(Class::Disks { about: 1, is_cached: false })),
            (samples::raid_with_cache(), Some(Class::Disks { about: 4, is_cached: true })),
            (samples::sata_ssd(), Some(Class::Flash)),
            (samples::nvme(), Some(Class::FastFlash)),
            (samples::cloud_volume(), Some(Class::Capped { per_s: 3_001.0, held_back_us: Some(10_663.25) })),
            (samples::loop_on_tmpfs(), Some(Class::Memory)),
            (samples::memory_of_a_host(), Some(Class::Memory)),
            (Storage { pages: None, ..samples::nvme() }, None),
            (Storage { scan: None, ..samples::nvme() }, None),
        ] {
            assert_eq!(class(&storage), expected, "{storage:#?}");
        }
    }

    #[test]
    fn what_is_too_fast_for_disks_and_too_slow_for_flash_has_no_class() {
        let mut storage = samples::sata_ssd();
        storage.pages.as_mut().unwrap().per_s = 1_500.0;
        assert_eq!(class(&storage), None);
    }

    #[test]
    fn classes_are_told_with_their_sources() {
        let library = published::library().unwrap();
        let words = |storage: &Storage| class(storage).unwrap().words(storage, library).unwrap();
        assert_eq!(
            words(&samples::spinning_disk()),
            "a single 7,200 rpm disk (115 to 136 reads/s; HDS tests, 2013)"
        );
        assert_eq!(
            words(&samples::raid_with_cache()),
            "a RAID of about 4 disks of 7,200 rpm behind a write cache (of 4: 382 to 542 reads/s; HDS tests, 2013)"
        );
        assert_eq!(
            words(&samples::sata_ssd()),
            "a flash drive on SATA, which carries 600 MB/s (one: 13,080 reads/s; SQLIO article, 2013)"
        );
        assert_eq!(
            words(&samples::nvme()),
            "NVMe or a flash array: above SATA's 600 MB/s (array: over 700,000 reads/s; PRIMEQUEST paper, 2014)"
        );
        assert_eq!(
            words(&samples::cloud_volume()),
            "a cloud volume throttled to 3,000 IOPS: small reads and writes both level off at this rate, and each takes about 10.7 ms"
        );
        assert_eq!(
            words(&samples::loop_on_tmpfs()),
            "memory, not a disk (loop0 is a loop device: the storage of its file answers)"
        );
        assert_eq!(
            words(&samples::memory_of_a_host()),
            "memory: a page read takes 19.0 µs, but flash cells alone take 25 µs (Micron TN-29-19)"
        );
        assert!(
            sources(library).iter().all(|source| source.len() > 60),
            "each has a short name and the whole: {:?}",
            sources(library)
        );
    }

    /// The chart and the sentences would contradict each other if their class limits differed.
    #[test]
    fn classes_on_a_scale_end_where_ranks_do() {
        let library = published::library().unwrap();
        let band_of = |bands: &[Band], value: f64| {
            bands.iter().position(|band| band.end.is_none_or(|end| value <= end)).unwrap()
        };
        let (reads_at, scans_at) = (read_bands(library).unwrap(), scan_bands(library).unwrap());
        assert!(reads_at.len() == 4 && scans_at.len() == 4 && commit_bands().len() == 3);
        for value in (0..60).map(|step| 10.0 * 1.25f64.powi(step)) {
            let mut storage = samples::nvme();
            storage.pages.as_mut().unwrap().per_s = value;
            storage.scan.as_mut().unwrap().mb_per_s = value;
            storage.commit.as_mut().unwrap().mean_us = 1e6 / value;
            assert_eq!(band_of(&reads_at, value), reads(&storage, library).unwrap() as usize, "{value}");
            assert_eq!(band_of(&scans_at, value), scans(&storage, library).unwrap() as usize, "{value}");
            // Disks of every speed are one class.
            let rank = (commits(&storage).unwrap() as usize).saturating_sub(1);
            assert_eq!(band_of(&commit_bands(), value), rank, "{value}");
        }
    }

    #[test]
    fn abilities_are_ranked_by_what_was_published_and_by_what_media_can_do() {
        let library = published::library().unwrap();
        let ranks = |storage: Storage| {
            [commits(&storage), reads(&storage, library), writes(&storage, library), scans(&storage, library)]
                .map(Option::unwrap)
        };
        use Rank::{Beyond, Disk, Disks, Flash};
        assert_eq!(ranks(samples::spinning_disk()), [Disk, Disk, Disk, Disks]);
        assert_eq!(ranks(samples::raid_with_cache()), [Beyond, Disks, Disks, Flash]);
        assert_eq!(ranks(samples::sata_ssd()), [Flash, Flash, Flash, Flash]);
        assert_eq!(ranks(samples::nvme()), [Beyond, Beyond, Beyond, Beyond]);
        assert_eq!(commits(&Storage::default()), None);
    }
}
