//! Published figures of disks beside the measured ones. They are no target: the hardware and often the load differ, and
//! each row says how.

use std::sync::OnceLock;

use record::DiskSetup;
use serde::{Deserialize, Serialize};

use crate::configuration::Configuration;
use crate::format;
use crate::published::{Source, source};
use crate::trial::Figures;

/// SQLIO prints megabytes of 2^20 bytes; all of ours are of 10^6.
const SQLIO_MB: f64 = 1.048_576;

/// One measured configuration and what others published of the nearest load.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// Configuration that was measured.
    pub configuration: String,
    /// The measured row first, then the published ones.
    pub rows: Vec<PublishedRow>,
    /// In what the published load differs from the measured one, a sentence each.
    pub differences: Vec<String>,
    /// Titles, authors and dates.
    pub sources: Vec<String>,
}

/// One row of a comparison.
#[derive(Clone, Debug, Serialize)]
pub struct PublishedRow {
    /// Device, or `measured here`.
    pub device: String,
    /// The load: block, threads, outstanding I/Os, cluster size.
    pub load: String,
    /// I/Os a second.
    pub per_s: Option<f64>,
    /// Megabytes (10^6 bytes) a second.
    pub mb_per_s: Option<f64>,
    /// Whether the source says only "over" this figure.
    pub at_least: bool,
    /// Mean latency in milliseconds.
    pub mean_ms: Option<f64>,
    /// Longest latency in milliseconds.
    pub max_ms: Option<f64>,
    /// Where the document contradicts itself.
    pub note: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Hds {
    source: Source,
    sqlio: Vec<HdsSeries>,
}

#[derive(Debug, Deserialize)]
struct HdsSeries {
    device: String,
    op: String,
    rows: Vec<HdsRow>,
}

/// Each pair is of 4 KB and of 64 KB clusters.
#[derive(Debug, Deserialize)]
struct HdsRow {
    block_kb: u64,
    threads: u32,
    outstanding: u32,
    io_s: [f64; 2],
    mb_s: [f64; 2],
    avg_ms: [f64; 2],
    max_ms: [f64; 2],
    note: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Primequest {
    source: Source,
    throughput: PrimequestThroughput,
}

#[derive(Debug, Deserialize)]
struct PrimequestThroughput {
    random_4k_iops_over: f64,
    sequential_64k_mb_s_over: f64,
}

#[derive(Debug, Deserialize)]
struct Sqlio {
    source: Source,
    sample: SqlioSample,
}

#[derive(Debug, Deserialize)]
struct SqlioSample {
    block_kb: u64,
    threads: u32,
    outstanding: u32,
    io_s: f64,
    mb_s: f64,
    max_ms: f64,
}

#[derive(Debug, Deserialize)]
pub(super) struct Library {
    hds: Hds,
    primequest: Primequest,
    sqlio: Sqlio,
}

/// The data that the program carries; none if it cannot be read, which a test rules out.
pub(super) fn library() -> Option<&'static Library> {
    static LIBRARY: OnceLock<Option<Library>> = OnceLock::new();
    LIBRARY.get_or_init(|| parse().ok()).as_ref()
}

fn parse() -> Result<Library, toml::de::Error> {
    Ok(Library {
        hds: toml::from_str(include_str!("../../published/hds.toml"))?,
        primequest: toml::from_str(include_str!("../../published/primequest.toml"))?,
        sqlio: toml::from_str(include_str!("../../published/sqlio.toml"))?,
    })
}

/// The comparisons that suit the profile: SQL Server's I/O with the same block and depth, CrystalDiskMark's rows
/// with the closest that was published. None for other profiles.
pub(crate) fn beside(profile: Option<&str>, configurations: &[Configuration]) -> Vec<Comparison> {
    let (Some(profile), Some(library)) = (profile, library()) else {
        return Vec::new();
    };
    let compare: fn(&Library, &DiskSetup) -> Option<Found> = match profile {
        "sqlserver" => same_load,
        profile if profile.starts_with("cdm") => closest_load,
        _ => return Vec::new(),
    };
    configurations
        .iter()
        .filter_map(|configuration| {
            let (disk, figures) = (configuration.disk()?, configuration.main()?);
            let found = compare(library, disk)?;
            let mut rows = vec![measured(disk, figures)];
            rows.extend(found.rows);
            Some(Comparison {
                configuration: configuration.name.clone(),
                rows,
                differences: found.differences,
                sources: found.sources,
            })
        })
        .collect()
}

/// What was published of a class of storage, and where.
#[derive(Clone, Copy, Debug)]
pub(super) struct Class<'a> {
    /// The least and the most: pages of 8 KiB read a second, of the flash array of 4 KiB.
    pub(super) reads_per_s: [f64; 2],
    /// Pages of 8 KiB written a second at most.
    pub(super) writes_per_s: Option<f64>,
    /// Megabytes (10^6 bytes) read a second.
    pub(super) mb_per_s: Option<f64>,
    /// The document.
    pub(super) source: &'a Source,
}

/// Bytes of a page, in the unit of the published rows.
const PAGE_KB: u64 = 8;

impl Library {
    /// A single disk of 7,200 turns a minute.
    pub(super) fn disk(&self) -> Option<Class<'_>> {
        self.hds_class("single 7200 rpm disk")
    }

    /// Four of them in RAID10, without a cache and with one of 1 GB.
    pub(super) fn raids(&self) -> Option<[Class<'_>; 2]> {
        let raid = |cache: &str| self.hds_class(&format!("RAID10 of 4 x 7200 rpm, {cache}"));
        Some([raid("no controller cache")?, raid("1 GB controller cache")?])
    }

    /// A flash drive, as a virtual machine had it.
    pub(super) fn flash(&self) -> Class<'_> {
        let sample = &self.sqlio.sample;
        Class {
            reads_per_s: [sample.io_s; 2],
            writes_per_s: None,
            mb_per_s: None,
            source: &self.sqlio.source,
        }
    }

    /// A flash array, which gave more than that.
    pub(super) fn flash_array(&self) -> Class<'_> {
        let array = &self.primequest.throughput;
        Class {
            reads_per_s: [array.random_4k_iops_over; 2],
            writes_per_s: None,
            mb_per_s: Some(array.sequential_64k_mb_s_over),
            source: &self.primequest.source,
        }
    }

    /// The documents of all classes.
    pub(super) fn sources(&self) -> [&Source; 3] {
        [&self.hds.source, &self.sqlio.source, &self.primequest.source]
    }

    fn hds_class(&self, device: &str) -> Option<Class<'_>> {
        let rates = |op: &'static str| {
            let rows = of_direction(&self.hds, op);
            let pages = rows.filter(move |(of, row)| *of == device && row.block_kb == PAGE_KB);
            pages.flat_map(|(_, row)| row.io_s)
        };
        let megabytes = of_direction(&self.hds, "read").filter(|(of, _)| *of == device);
        Some(Class {
            reads_per_s: [rates("read").reduce(f64::min)?, rates("read").reduce(f64::max)?],
            writes_per_s: rates("write").reduce(f64::max),
            mb_per_s: megabytes.flat_map(|(_, row)| row.mb_s).reduce(f64::max).map(|mb| mb * SQLIO_MB),
            source: &self.hds.source,
        })
    }
}

struct Found {
    rows: Vec<PublishedRow>,
    differences: Vec<String>,
    sources: Vec<String>,
}

/// The rows of SQL Server's batch with this direction, block and depth, on all devices.
fn same_load(library: &Library, disk: &DiskSetup) -> Option<Found> {
    let op = operation(disk)?;
    let rows: Vec<(&str, &HdsRow)> = of_direction(&library.hds, op)
        .filter(|(_, row)| row.block_kb * 1024 == disk.block_bytes && row.outstanding == disk.outstanding)
        .collect();
    let threads = rows.first()?.1.threads;
    let mut differences = vec!["The published file had 100 GB, and each run took 300 s.".to_owned()];
    if threads != disk.threads {
        let ours = format::counted(disk.threads as usize, "thread", "threads");
        let theirs = format::counted(threads as usize, "thread", "threads");
        differences.push(format!("Published with {theirs}, measured here with {ours}."));
    }
    Some(Found {
        rows: rows.into_iter().flat_map(|(device, row)| hds_rows(device, op, row)).collect(),
        differences,
        sources: vec![source(&library.hds.source)],
    })
}

/// The closest published load for one of CrystalDiskMark's rows.
fn closest_load(library: &Library, disk: &DiskSetup) -> Option<Found> {
    let op = operation(disk)?;
    let random = disk.pattern.to_lowercase().starts_with("random");
    let mut found = Found {
        rows: Vec::new(),
        differences: vec![
            "No published run has this load. The rows show the differences in block size, queue depth, threads, file size and run length."
                .to_owned(),
        ],
        sources: Vec::new(),
    };
    match (random, op) {
        (false, "read") => flash_array(library, random, &mut found),
        (false, _) => return None,
        (true, "read") if disk.block_bytes <= 8192 => {
            flash_array(library, random, &mut found);
            sqlio_sample(library, &mut found);
        }
        (true, _) => closest_hds(library, disk, op, &mut found),
    }
    Some(found)
}

fn flash_array(library: &Library, random: bool, found: &mut Found) {
    let figures = &library.primequest.throughput;
    let (load, per_s, mb_per_s) = if random {
        ("random 4 KB read, 64 outstanding per thread", Some(figures.random_4k_iops_over), None)
    } else {
        ("sequential 64 KB read, 64 outstanding per thread", None, Some(figures.sequential_64k_mb_s_over))
    };
    found.rows.push(PublishedRow {
        device: "Violin 6610 flash array, 8 Fibre Channel ports".to_owned(),
        load: load.to_owned(),
        per_s,
        mb_per_s,
        at_least: true,
        mean_ms: None,
        max_ms: None,
        note: None,
    });
    found.sources.push(source(&library.primequest.source));
}

fn sqlio_sample(library: &Library, found: &mut Found) {
    let sample = &library.sqlio.sample;
    found.rows.push(PublishedRow {
        device: "virtual machine on a flash drive".to_owned(),
        load: load("read", sample.block_kb, sample.threads, sample.outstanding),
        per_s: Some(sample.io_s),
        mb_per_s: Some(sample.mb_s * SQLIO_MB),
        at_least: false,
        mean_ms: None,
        max_ms: Some(sample.max_ms),
        note: Some("The source calls it not representative.".to_owned()),
    });
    found.sources.push(source(&library.sqlio.source));
}

/// The published rows of this direction whose block and depth are nearest by their ratios.
fn closest_hds(library: &Library, disk: &DiskSetup, op: &str, found: &mut Found) {
    let distance = |row: &HdsRow| {
        let block = (row.block_kb as f64 * 1024.0 / disk.block_bytes.max(1) as f64).ln().abs();
        let depth = f64::from(row.threads * row.outstanding) / disk.outstanding_total().max(1) as f64;
        (block, depth.ln().abs())
    };
    let nearest = of_direction(&library.hds, op)
        .map(|(_, row)| (distance(row), row.block_kb, row.outstanding))
        .min_by(|(a, ..), (b, ..)| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    if let Some((_, block_kb, outstanding)) = nearest {
        let rows = of_direction(&library.hds, op)
            .filter(|(_, row)| row.block_kb == block_kb && row.outstanding == outstanding);
        found.rows.extend(rows.flat_map(|(device, row)| hds_rows(device, op, row)));
        found.sources.push(source(&library.hds.source));
    }
}

fn of_direction<'a>(hds: &'a Hds, op: &'a str) -> impl Iterator<Item = (&'a str, &'a HdsRow)> {
    let series = hds.sqlio.iter().filter(move |series| series.op == op);
    series.flat_map(|series| series.rows.iter().map(|row| (series.device.as_str(), row)))
}

fn hds_rows<'a>(device: &'a str, op: &'a str, row: &'a HdsRow) -> impl Iterator<Item = PublishedRow> + 'a {
    ["4 KB", "64 KB"].into_iter().enumerate().map(move |(index, cluster)| PublishedRow {
        device: device.to_owned(),
        load: format!("{}, {cluster} clusters", load(op, row.block_kb, row.threads, row.outstanding)),
        per_s: Some(row.io_s[index]),
        mb_per_s: Some(row.mb_s[index] * SQLIO_MB),
        at_least: false,
        mean_ms: Some(row.avg_ms[index]),
        max_ms: Some(row.max_ms[index]),
        note: row.note.as_ref().filter(|_| index == 0).map(|note| format!("As printed: {note}.")),
    })
}

fn measured(disk: &DiskSetup, figures: &Figures) -> PublishedRow {
    let threads = format::counted(disk.threads as usize, "thread", "threads");
    PublishedRow {
        device: "measured here".to_owned(),
        load: format!(
            "{} {} {}, {threads}, {} outstanding per thread",
            disk.pattern,
            format::bytes(disk.block_bytes),
            figures.kind,
            disk.outstanding
        ),
        per_s: figures.per_s,
        mb_per_s: figures.mb_per_s,
        at_least: false,
        mean_ms: figures.latency.mean_us.map(|us| us / 1e3),
        max_ms: figures.latency.max_us.map(|us| us / 1e3),
        note: None,
    }
}

/// `read` or `write` of a load that does only one of them.
fn operation(disk: &DiskSetup) -> Option<&'static str> {
    match disk.read_per_cent {
        share if share >= 100.0 => Some("read"),
        share if share <= 0.0 => Some("write"),
        _ => None,
    }
}

fn load(op: &str, block_kb: u64, threads: u32, outstanding: u32) -> String {
    let threads = format::counted(threads as usize, "thread", "threads");
    format!("random {block_kb} KB {op}, {threads}, {outstanding} outstanding per thread")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, Made};
    use crate::report::Report;

    #[test]
    fn shipped_figures_are_read_in_full() {
        let library = parse().unwrap();
        let rows: usize = library.hds.sqlio.iter().map(|series| series.rows.len()).sum();
        assert_eq!((library.hds.sqlio.len(), rows), (6, 36), "three devices, both directions");
        for (series, row) in library.hds.sqlio.iter().flat_map(|s| s.rows.iter().map(move |row| (s, row))) {
            for cluster in 0..2 {
                let mb_s = row.io_s[cluster] * row.block_kb as f64 / 1024.0;
                let agrees = (mb_s / row.mb_s[cluster] - 1.0).abs() < 0.02;
                assert!(agrees || row.note.is_some(), "{} {row:?}", series.device);
            }
        }
        assert_eq!(library.primequest.throughput.random_4k_iops_over, 700_000.0);
        assert_eq!(library.sqlio.sample.block_kb, 8);
    }

    #[test]
    fn sql_servers_rows_stand_beside_all_devices_with_the_same_load() {
        let page = |s: &mut DiskSetup| (s.block_bytes, s.outstanding, s.threads) = (8192, 8, 2);
        let study = fixture::study("sqlserver", vec![Made::read("page read").with(page).trial(1)]);
        let report = Report::of(&study);
        let [comparison] = report.disk.published.as_slice() else { panic!("{:?}", report.disk.published) };
        assert_eq!(comparison.rows.len(), 1 + 3 * 2);
        assert_eq!(comparison.rows[1].per_s, Some(136.15));
        assert!(comparison.differences.iter().any(|d| d.contains("8 threads") && d.contains("2 threads")));
    }

    #[test]
    fn crystaldiskmarks_rows_stand_beside_the_closest_and_say_so() {
        let sequential = |s: &mut DiskSetup| s.pattern = "sequential".to_owned();
        let half_mib = |s: &mut DiskSetup| s.block_bytes = 512 * 1024;
        let study = fixture::study(
            "cdm3",
            vec![
                Made::read("Seq").with(sequential).trial(1),
                Made::read("512K").with(half_mib).trial(2),
                Made::read("4K").trial(3),
                Made::write("4K write").trial(4),
            ],
        );
        let published = Report::of(&study).disk.published;
        let devices: Vec<&str> = published.iter().map(|c| c.rows[1].device.as_str()).collect();
        let array = "Violin 6610 flash array, 8 Fibre Channel ports";
        assert_eq!(devices, [array, "single 7200 rpm disk", array, "single 7200 rpm disk"]);
        assert!(published.iter().all(|c| c.differences[0].contains("differ")));
        assert!(published[1].rows[1].load.starts_with("random 512 KB read"));
    }

    #[test]
    fn other_profiles_have_no_published_figures() {
        let study = fixture::study("quick", vec![Made::read("4K").trial(1)]);
        assert!(Report::of(&study).disk.published.is_empty());
    }
}
