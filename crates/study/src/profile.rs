//! Profiles: studies of a disk that are ready to run.

use std::collections::BTreeMap;
use std::path::PathBuf;

use disk::{Cache, Pattern, Settings};
use load::{Size, Span};
use toml::Value;

use crate::axis::Axis;
use crate::study::{Configuration, Needs, Order, Steady, Study};
use crate::target::Target;
use crate::work::Given;

/// Rounds after which a device that is not steady is given up (SNIA PTS).
const ROUNDS_MAX: u32 = 25;

/// A named study of a disk.
#[derive(Clone, Copy, Debug)]
pub struct Profile {
    /// Name on the command line.
    pub name: &'static str,
    /// What it answers, in one line.
    pub answers: &'static str,
    fill_in: fn(&mut Study),
}

/// All profiles.
#[must_use]
pub fn profiles() -> [Profile; 6] {
    [
        Profile {
            name: "quick",
            answers: "What does this disk give a database? Eight tests in about a minute",
            fill_in: quick,
        },
        Profile {
            name: "cdm3",
            answers: "CrystalDiskMark 3's rows: Seq, 512K, 4K, 4K QD32; 5 runs each",
            fill_in: cdm3,
        },
        Profile {
            name: "cdm8",
            answers: "CrystalDiskMark 8's rows: SEQ1M Q8T1 and Q1T1, RND4K Q32T1 and Q1T1; 5 runs each",
            fill_in: cdm8,
        },
        Profile {
            name: "sqlserver",
            answers: "The I/O of SQL Server: page, extent, read-ahead, checkpoint at 1 and 8 outstanding",
            fill_in: sqlserver,
        },
        Profile {
            name: "sweep",
            answers: "How deep a queue pays: 1 to 256 outstanding I/Os until the latency tolerance is passed",
            fill_in: sweep,
        },
        Profile {
            name: "steady",
            answers: "What remains after days of load: SNIA PTS rounds until steady state. Takes hours",
            fill_in: steady,
        },
    ]
}

impl Profile {
    /// The study of a target.
    #[must_use]
    pub fn study(&self, paths: Vec<PathBuf>) -> Study {
        let mut study = Study::of_disk(paths);
        study.title = format!("Disk, profile {}", self.name);
        study.slug = format!("disk-{}", self.name);
        study.profile = Some(self.name.to_owned());
        (self.fill_in)(&mut study);
        study
    }
}

impl Study {
    /// What all disk tests share.
    fn disk(&mut self) -> &mut Settings {
        self.workload.disk.get_or_insert_default()
    }

    /// A study of one trial with default parameters.
    #[must_use]
    pub fn of_disk(paths: Vec<PathBuf>) -> Self {
        Self {
            title: "Disk".to_owned(),
            slug: "disk".to_owned(),
            profile: None,
            seed: 42,
            blocks: 1,
            order: Order::Repeats,
            compare: false,
            reference: None,
            noise_floor: false,
            metric: None,
            thresholds: Vec::new(),
            cool_down: Span::ZERO,
            before: None,
            after: None,
            latency_tolerance: None,
            expect: None,
            steady: None,
            search: None,
            quick: false,
            quick_look: None,
            disk_size: None,
            prices: None,
            places: BTreeMap::new(),
            needs: Needs::default(),
            published: None,
            target: Target { paths, ..Target::default() },
            workload: Given::default(),
            configuration: Vec::new(),
            axis: Vec::new(),
        }
    }
}

/// Reads or writes of one block size, as a row of a profile.
fn row(name: &str, block: Size, pattern: Pattern, read_share: f64, outstanding: u32) -> Configuration {
    let disk = Settings {
        block_size: Some(block),
        pattern: Some(pattern),
        read_share: Some(read_share),
        outstanding: Some(outstanding),
        ..Settings::default()
    };
    Configuration {
        name: name.to_owned(),
        workload: Given { disk: Some(disk), ..Given::default() },
        ..Configuration::default()
    }
}

/// Reads first, then the log, then what bursts: a log write right after a burst of writes measures the burst.
fn quick(study: &mut Study) {
    use Pattern::{Random, Sequential};
    study.disk().warm_up = Some(Span::microseconds(500_000));
    // Eight seconds are the fewest that an interval can be given for.
    study.disk().duration = Some(Span::seconds(8));
    let page = Size::kib(8);
    let mut log = row("log write 8KiB Q1", page, Sequential, 0.0, 1);
    log.workload.disk.get_or_insert_default().write_through = Some(true);
    study.configuration = vec![
        row("page read 8KiB Q1", page, Random, 100.0, 1),
        row("page read 8KiB Q32", page, Random, 100.0, 32),
        row("4KiB read Q32", Size::kib(4), Random, 100.0, 32),
        row("scan 512KiB Q8", Size::kib(512), Sequential, 100.0, 8),
        log,
        row("page 70/30 8KiB Q32", page, Random, 70.0, 32),
        row("page write 8KiB Q32", page, Random, 0.0, 32),
        row("checkpoint 256KiB Q8", Size::kib(256), Random, 0.0, 8),
    ];
}

/// Five runs of five seconds with pauses, all runs of a row after each other, reads before writes.
fn crystal_disk_mark(study: &mut Study, rows: &[(&str, Size, Pattern, u32)]) {
    study.blocks = 5;
    study.cool_down = Span::seconds(5);
    study.disk().warm_up = Some(Span::ZERO);
    study.disk().duration = Some(Span::seconds(5));
    study.configuration = [("read", 100.0), ("write", 0.0)]
        .iter()
        .flat_map(|(direction, share)| {
            rows.iter().map(move |&(name, block, pattern, outstanding)| {
                row(&format!("{name} {direction}"), block, pattern, *share, outstanding)
            })
        })
        .collect();
}

fn cdm3(study: &mut Study) {
    let rows = [
        ("Seq", Size::mib(1), Pattern::Sequential, 1),
        ("512K", Size::kib(512), Pattern::Random, 1),
        ("4K", Size::kib(4), Pattern::Random, 1),
        ("4K QD32", Size::kib(4), Pattern::Random, 32),
    ];
    crystal_disk_mark(study, &rows);
}

fn cdm8(study: &mut Study) {
    let rows = [
        ("SEQ1M Q8T1", Size::mib(1), Pattern::Sequential, 8),
        ("SEQ1M Q1T1", Size::mib(1), Pattern::Sequential, 1),
        ("RND4K Q32T1", Size::kib(4), Pattern::Random, 32),
        ("RND4K Q1T1", Size::kib(4), Pattern::Random, 1),
    ];
    crystal_disk_mark(study, &rows);
}

/// The batch by which ARC Informatique tested a historian's storage in 2013, with SQLIO's unbuffered write-through.
fn sqlserver(study: &mut Study) {
    study.cool_down = Span::seconds(10);
    let common = study.disk();
    common.file_size = Some(Size::mib(10 << 10));
    common.warm_up = Some(Span::seconds(2));
    common.duration = Some(Span::seconds(60));
    common.cache = Some(Cache::Direct);
    let batch = [
        ("page read 8KiB", 8, 100.0, 8),
        ("extent read 64KiB", 64, 100.0, 8),
        ("read-ahead 512KiB", 512, 100.0, 8),
        ("page write 8KiB", 8, 0.0, 8),
        ("extent write 64KiB", 64, 0.0, 1),
        ("checkpoint write 256KiB", 256, 0.0, 1),
    ];
    study.configuration = batch
        .iter()
        .flat_map(|&(name, block_kib, read_share, threads)| {
            [1, 8].map(|outstanding| {
                let name = format!("{name} Q{outstanding}T{threads}");
                let mut row = row(&name, Size::kib(block_kib), Pattern::Random, read_share, outstanding);
                row.workload.disk.get_or_insert_default().threads = Some(threads);
                row.workload.disk.get_or_insert_default().write_through =
                    (read_share < 100.0).then_some(true);
                row
            })
        })
        .collect();
}

/// Outstanding I/Os of the published sweep.
const DEPTHS: [i64; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];

fn sweep(study: &mut Study) {
    study.latency_tolerance = Some(Span::microseconds(20_000));
    study.disk().warm_up = Some(Span::seconds(2));
    study.disk().duration = Some(Span::seconds(10));
    let sizes =
        |kib: [u64; 3]| Axis::of::<Settings>("block_size", kib.map(|kib| Size::kib(kib).to_string().into()));
    let small = sizes([8, 16, 32]);
    let large = sizes([64, 128, 256]);
    let scenarios = [
        ("random read", Pattern::Random, 100.0, &small),
        ("random write", Pattern::Random, 0.0, &small),
        ("sequential read", Pattern::Sequential, 100.0, &large),
        ("sequential write", Pattern::Sequential, 0.0, &large),
    ];
    study.configuration = scenarios
        .map(|(name, pattern, read_share, sizes)| {
            let disk =
                Settings { pattern: Some(pattern), read_share: Some(read_share), ..Settings::default() };
            Configuration {
                name: name.to_owned(),
                workload: Given { disk: Some(disk), ..Given::default() },
                axis: vec![sizes.clone()],
                ..Configuration::default()
            }
        })
        .to_vec();
    study.axis = vec![small, Axis::of::<Settings>("outstanding", DEPTHS.map(Value::from))];
}

/// SNIA PTS: overwrite twice, then rounds of the IOPS matrix until the 4 KiB random writes are steady.
fn steady(study: &mut Study) {
    study.blocks = ROUNDS_MAX;
    study.order = Order::Given;
    let common = study.disk();
    common.fill_passes = Some(2);
    common.outstanding = Some(16);
    common.threads = Some(2);
    common.warm_up = Some(Span::ZERO);
    common.duration = Some(Span::seconds(60));
    let sizes = [1024, 128, 64, 32, 16, 8, 4].map(|kib| Size::kib(kib).to_string());
    let sizes = sizes.into_iter().chain(["512B".to_owned()]).map(Value::from);
    let shares = [100.0, 95.0, 65.0, 50.0, 35.0, 5.0, 0.0].map(Value::from);
    study.axis = vec![Axis::of::<Settings>("read_share", shares), Axis::of::<Settings>("block_size", sizes)];
    study.steady = Some(Steady {
        tracked: BTreeMap::from([
            ("read_share".to_owned(), Value::from(0.0)),
            ("block_size".to_owned(), Value::from("4KiB")),
        ]),
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Plan;

    #[test]
    fn every_profile_has_a_plan_and_survives_its_file() {
        for profile in profiles() {
            let study = profile.study(vec!["/data".into()]);
            assert!(!Plan::of(&study).unwrap().trials.is_empty(), "{}", profile.name);
            assert_eq!(Study::from_toml(&study.to_toml().unwrap()).unwrap(), study);
        }
    }

    fn plan(name: &str) -> Plan {
        let profile = profiles().into_iter().find(|profile| profile.name == name).unwrap();
        Plan::of(&profile.study(vec!["/data".into()])).unwrap()
    }

    #[test]
    fn quick_takes_about_a_minute() {
        let seconds = plan("quick").duration().as_seconds();
        assert!((50.0..75.0).contains(&seconds), "{seconds}");
    }

    #[test]
    fn the_sweep_has_the_published_depths_and_sizes() {
        let plan = plan("sweep");
        assert_eq!(plan.trials.len(), 4 * 3 * 9);
        let of = |name: &str| {
            let mut sizes: Vec<u64> = plan
                .trials
                .iter()
                .filter(|trial| trial.planned.name == name)
                .map(|trial| trial.work.job::<Settings>().unwrap().block_bytes >> 10)
                .collect();
            sizes.dedup();
            sizes
        };
        assert_eq!(of("random read"), [8, 16, 32]);
        assert_eq!(of("sequential write"), [64, 128, 256]);
    }

    #[test]
    fn the_sqlserver_batch_is_the_published_one() {
        let plan = plan("sqlserver");
        let found: Vec<_> = plan
            .trials
            .iter()
            .map(|trial| {
                let job = trial.work.job::<Settings>().unwrap();
                (job.block_bytes >> 10, job.threads, job.outstanding, job.reads())
            })
            .collect();
        assert_eq!(found.len(), 12);
        assert_eq!(found[0], (8, 8, 1, true));
        assert_eq!(found[5], (512, 8, 8, true));
        assert_eq!(found[11], (256, 1, 8, false));
        assert!(plan.trials[1..].iter().all(|trial| trial.pause == Span::seconds(10)));
    }
}
