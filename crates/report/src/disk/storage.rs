//! What a disk was measured to give, by what its tests stand for in a database: commits, pages, scans. Tests are known by what they
//! do, and not by their names.

use record::{CacheMode, DiskSetup, Workload};

use crate::configuration::Configuration;
use crate::report::Report;
use crate::trial::{Figures, Trial};

use super::medium;

/// So many different tests ask what a disk is good for; fewer are told by their names.
const TESTS_LEAST: usize = 4;

/// What a test tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Writes one after the other, each of which is on stable storage when it is answered.
    Commit,
    /// Pages read one after the other.
    Page,
    /// Pages read many at once.
    Pages,
    /// Pages written many at once, as a checkpoint does.
    Writes,
    Scan,
    Other,
}

/// What a disk gives a database, as far as that was measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Storage {
    pub(super) commit: Option<Test>,
    pub(super) page: Option<Test>,
    pub(super) pages: Option<Test>,
    pub(super) writes: Option<Test>,
    pub(super) scan: Option<Test>,
    /// Kinds whose first test left no figure that counts. A later test of the same kind has another block size, and does not
    /// stand for it.
    pub(super) unknown: Vec<Kind>,
    /// All tests, these among them, in their order.
    pub(super) tests: Vec<Test>,
    pub(super) below: Below,
}

/// A test and its figures.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Test {
    pub(super) name: String,
    pub(super) kind: Kind,
    /// How its writes are made durable.
    pub(super) durable_by: Option<&'static str>,
    /// Share (0–100) of its I/Os that are reads.
    pub(super) read_per_cent: f64,
    pub(super) block_bytes: u64,
    pub(super) outstanding: u64,
    /// I/Os a second.
    pub(super) per_s: f64,
    /// Megabytes (10^6 bytes) a second.
    pub(super) mb_per_s: f64,
    /// Mean, median and 99th percentile of the latency, in microseconds.
    pub(super) mean_us: f64,
    pub(super) p50_us: Option<f64>,
    pub(super) p99_us: Option<f64>,
    /// Share (0–1) of a core that the busiest load thread used.
    pub(super) busiest_share: Option<f64>,
    /// I/Os in each measured second.
    pub(super) rates_per_s: Vec<f64>,
}

/// What lies below the tests, as far as the machine tells.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Below {
    /// Its disks turn. What a hypervisor shows as a disk tells nothing of what is below that.
    pub(super) turns: bool,
    /// A file system in memory, or a loop device, whose figures are those of what its file lies on.
    pub(super) stands_for: Option<String>,
}

impl Storage {
    /// None of a series, of what is compared, and of few tests.
    pub(super) fn of(report: &Report) -> Option<Self> {
        let together = report.comparison.is_some()
            || !report.disk.sweeps.is_empty()
            || report.disk.steady_state.is_some()
            || report.disk.expectation.is_some();
        let disks: Vec<&Configuration> =
            report.configurations_of(Workload::Disk).filter(|disk| !disk.is_failed()).collect();
        if together || disks.len() < TESTS_LEAST {
            return None;
        }
        let tests: Vec<Test> = disks.iter().filter_map(|disk| test(disk, &report.trials)).collect();
        let below = report.disks().find_map(|trial| Some(below(medium::storage(report, trial)?)));
        let unknown = unknown(report, &tests);
        let storage = Self::of_tests(tests, below.unwrap_or_default());
        Some(storage.without(unknown))
    }

    /// The same where nothing is known of these kinds.
    pub(super) fn without(mut self, unknown: Vec<Kind>) -> Self {
        for kind in &unknown {
            match kind {
                Kind::Commit => self.commit = None,
                Kind::Page => self.page = None,
                Kind::Pages => self.pages = None,
                Kind::Writes => self.writes = None,
                Kind::Scan => self.scan = None,
                Kind::Other => {}
            }
        }
        Self { unknown, ..self }
    }

    pub(super) fn of_tests(tests: Vec<Test>, below: Below) -> Self {
        let first = |kind: Kind| tests.iter().find(|test| test.kind == kind).cloned();
        Self {
            commit: first(Kind::Commit),
            page: first(Kind::Page),
            pages: first(Kind::Pages),
            writes: first(Kind::Writes),
            scan: first(Kind::Scan),
            unknown: Vec::new(),
            tests,
            below,
        }
    }
}

/// The first trial of a kind of test that ran.
pub(super) fn first_trial(report: &Report, kind: Kind) -> Option<&Trial> {
    report.disks().find(|trial| trial.has_run() && trial.disk().map(kind_of) == Some(kind))
}

/// The kinds of which the first test that ran is invalid, or failed.
fn unknown(report: &Report, tests: &[Test]) -> Vec<Kind> {
    let mut seen: Vec<Kind> = Vec::new();
    let mut unknown = Vec::new();
    for trial in report.disks().filter(|trial| trial.has_run()) {
        let Some(kind) = trial.disk().map(kind_of).filter(|kind| !seen.contains(kind)) else { continue };
        seen.push(kind);
        if !tests.iter().any(|test| test.kind == kind && test.name == trial.name) {
            unknown.push(kind);
        }
    }
    unknown
}

fn test(configuration: &Configuration, trials: &[Trial]) -> Option<Test> {
    let (setup, figures) = (configuration.disk()?, configuration.main()?);
    let Figures { per_s, mb_per_s, latency, .. } = figures;
    let window = configuration.measured_in(trials).next()?;
    let measured = window.samples.iter().filter(|sample| sample.phase == record::Phase::Measure);
    Some(Test {
        name: configuration.name.clone(),
        kind: kind_of(setup),
        durable_by: durable_by(setup),
        read_per_cent: setup.read_per_cent,
        block_bytes: setup.block_bytes,
        outstanding: setup.outstanding_total(),
        per_s: (*per_s)?,
        mb_per_s: (*mb_per_s)?,
        mean_us: latency.mean_us?,
        p50_us: latency.p50_us,
        p99_us: latency.p99_us,
        busiest_share: configuration.generator.busiest_share,
        rates_per_s: measured.filter_map(|sample| window.rate_in(sample)).collect(),
    })
}

/// What makes each write durable; none where nothing does.
fn durable_by(setup: &DiskSetup) -> Option<&'static str> {
    match (setup.cache, setup.flush_every_writes) {
        (CacheMode::DirectWriteThrough | CacheMode::BufferedWriteThrough, _) => Some(O_DSYNC),
        (_, Some(1)) => Some(FDATASYNC),
        _ => None,
    }
}

pub(super) const O_DSYNC: &str = "O_DSYNC";
pub(super) const FDATASYNC: &str = "fdatasync";

fn kind_of(setup: &DiskSetup) -> Kind {
    let is_durable = durable_by(setup).is_some();
    match (setup.read_per_cent, setup.pattern.as_str(), setup.outstanding_total()) {
        (0.0, _, 1) if is_durable => Kind::Commit,
        (0.0, "random", 2..) if !is_durable => Kind::Writes,
        (100.0, "random", 1) => Kind::Page,
        (100.0, "random", _) => Kind::Pages,
        (100.0, "sequential" | "sequential:shared", _) => Kind::Scan,
        _ => Kind::Other,
    }
}

const IN_MEMORY: [&str; 2] = ["tmpfs", "ramfs"];
/// What a drive or a controller tells of itself is true of these.
const TELLS_ITSELF: [&str; 4] = ["sata", "sas", "usb", "scsi"];

fn below(storage: &record::Storage) -> Below {
    let device = storage.device.known();
    let in_memory = storage.mount.known().filter(|mount| IN_MEMORY.contains(&mount.file_system.as_str()));
    let is_loop = device.filter(|device| device.name.starts_with("loop"));
    let tells_itself = |interface: &String| TELLS_ITSELF.iter().any(|of| interface.starts_with(of));
    Below {
        turns: device.is_some_and(|device| {
            device.rotational.known() == Some(&true) && device.interface.known().is_some_and(tells_itself)
        }),
        stands_for: in_memory.map(|mount| format!("{} is in memory", mount.path)).or(is_loop.map(|device| {
            format!("{} is a loop device: the storage that holds its file answers", device.name)
        })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use record::Reading;

    #[test]
    fn tests_are_known_by_what_they_do_and_not_by_their_names() {
        let setup = |read_per_cent, pattern: &str, outstanding, cache| DiskSetup {
            read_per_cent,
            pattern: pattern.to_owned(),
            outstanding,
            cache,
            threads: 1,
            flush_every_writes: None,
            ..fixture::disk_setup()
        };
        let direct = CacheMode::Direct;
        for (expected, setup) in [
            (Kind::Commit, setup(0.0, "sequential", 1, CacheMode::DirectWriteThrough)),
            (Kind::Commit, DiskSetup { flush_every_writes: Some(1), ..setup(0.0, "random", 1, direct) }),
            (Kind::Page, setup(100.0, "random", 1, direct)),
            (Kind::Pages, setup(100.0, "random", 32, direct)),
            (Kind::Scan, setup(100.0, "sequential", 8, direct)),
            (Kind::Scan, setup(100.0, "sequential:shared", 8, direct)),
            (Kind::Writes, setup(0.0, "random", 32, direct)),
            (Kind::Other, setup(0.0, "random", 1, direct)),
            (Kind::Other, setup(0.0, "random", 32, CacheMode::DirectWriteThrough)),
            (Kind::Other, setup(70.0, "random", 32, direct)),
            (Kind::Other, setup(100.0, "zipf:0.99", 1, direct)),
        ] {
            assert_eq!(kind_of(&setup), expected, "{setup:?}");
        }
    }

    #[test]
    fn a_disk_turns_where_the_drive_says_so_and_not_where_a_hypervisor_does() {
        let environment = fixture::study("check", Vec::new()).environment.unwrap();
        let of = |interface: &str, rotational: bool, name: &str, file_system: &str| {
            let mut storage = environment.volumes.values().next().unwrap().clone();
            if let (Reading::Known(device), Reading::Known(mount)) = (&mut storage.device, &mut storage.mount)
            {
                (device.interface, device.rotational) =
                    (Reading::Known(interface.to_owned()), Reading::Known(rotational));
                (device.name, mount.file_system) = (name.to_owned(), file_system.to_owned());
            }
            below(&storage)
        };
        assert!(of("sata", true, "sda", "ext4").turns && of("scsi (megaraid_sas)", true, "sdb", "xfs").turns);
        assert!(!of("virtio", true, "vda", "ext4").turns && !of("sata", false, "sda", "ext4").turns);
        assert_eq!(of("virtio", true, "vda", "ext4"), Below::default());
        let stands_for = |name, file_system| of("nvme", false, name, file_system).stands_for.unwrap();
        assert_eq!(
            stands_for("loop0", "ext4"),
            "loop0 is a loop device: the storage that holds its file answers"
        );
        assert_eq!(stands_for("none", "tmpfs"), "/data is in memory");
    }
}
