//! Records made by hand for tests: the same call always makes the same record.

use std::collections::BTreeMap;

use record::{
    CacheMode, Calibration, Cpu, Device, DiskOutcome, DiskSetup, Environment, FORMAT_VERSION, Latency, Loop,
    Manifest, MeasuredTrial, Memory, MountPoint, OperationInterval, OperationSample, Outcome, Phase,
    PlannedTrial, Reading, Resources, Sample, Setup, State, StudyRecord, Summary, TrialRecord, Workload,
    Written,
};

mod designed;
mod historian;
mod orders;

pub(crate) use designed::{At, Designed};
pub(crate) use historian::{Collected, search_rules};
pub(crate) use orders::{Sold, outage, prices};

/// Latencies in a fixture's histogram: enough for a p99.9.
const LATENCIES: u32 = 12_000;

/// A trial in the making. By default ten steady seconds of random 4 KiB I/O that no rule minds.
#[derive(Clone)]
pub(crate) struct Made {
    name: String,
    kinds: Vec<(&'static str, f64, f64)>,
    seconds: usize,
    noise: f64,
    trend: f64,
    steal: f64,
    busiest: f64,
    others: f64,
    errors: u64,
    lag_us: Option<f64>,
    record: TrialRecord,
    setup: DiskSetup,
    outcome: DiskOutcome,
}

impl Made {
    pub(crate) fn read(name: &str) -> Self {
        Self::of(name, 100.0, vec![("read", 20_000.0, 400.0)])
    }

    pub(crate) fn write(name: &str) -> Self {
        Self::of(name, 0.0, vec![("write", 9_000.0, 900.0)])
    }

    pub(crate) fn mixed(name: &str) -> Self {
        Self::of(
            name,
            70.0,
            vec![("read", 14_000.0, 400.0), ("write", 6_000.0, 2_500.0), ("flush", 60.0, 8_000.0)],
        )
    }

    fn of(name: &str, read_per_cent: f64, kinds: Vec<(&'static str, f64, f64)>) -> Self {
        let mut setup = setup();
        setup.read_per_cent = read_per_cent;
        if read_per_cent == 0.0 {
            setup.written = Written::NotRead;
            setup.cache = CacheMode::DirectWriteThrough;
        }
        Self {
            name: name.to_owned(),
            kinds,
            seconds: 10,
            noise: 0.02,
            trend: 0.0,
            steal: 0.0,
            busiest: 0.4,
            others: 0.05,
            errors: 0,
            lag_us: None,
            record: trial_record(
                Workload::Disk,
                serde_json::json!({"block_size": "4KiB", "outstanding": 32}),
            ),
            setup,
            outcome: DiskOutcome::default(),
        }
    }

    pub(crate) fn with(mut self, change: impl FnOnce(&mut DiskSetup)) -> Self {
        change(&mut self.setup);
        self
    }

    pub(crate) fn recorded(mut self, change: impl FnOnce(&mut TrialRecord)) -> Self {
        change(&mut self.record);
        self
    }

    /// What was offered, and what of it was not sent.
    pub(crate) fn outcome(mut self, change: impl FnOnce(&mut DiskOutcome)) -> Self {
        change(&mut self.outcome);
        self
    }

    /// Operations a second and mean latency of the first kind.
    pub(crate) fn rate(mut self, per_s: f64, latency_us: f64) -> Self {
        (self.kinds[0].1, self.kinds[0].2) = (per_s, latency_us);
        self
    }

    pub(crate) fn seconds(mut self, seconds: usize) -> Self {
        self.seconds = seconds;
        self
    }

    pub(crate) fn noise(mut self, share: f64) -> Self {
        self.noise = share;
        self
    }

    /// The last second's rate differs from the first one's by this share.
    pub(crate) fn trend(mut self, share: f64) -> Self {
        self.trend = share;
        self
    }

    pub(crate) fn steal(mut self, share: f64) -> Self {
        self.steal = share;
        self
    }

    /// Other work takes this share of the second core.
    pub(crate) fn others(mut self, share: f64) -> Self {
        self.others = share;
        self
    }

    pub(crate) fn busiest(mut self, share: f64) -> Self {
        self.busiest = share;
        self
    }

    pub(crate) fn errors(mut self, errors: u64) -> Self {
        self.errors = errors;
        self
    }

    /// An open loop at this rate whose sendings lag so much.
    pub(crate) fn open(mut self, rate_per_s: f64, lag_us: f64) -> Self {
        self.setup.pacing = Loop::Open { rate_per_s, poisson: false };
        self.lag_us = Some(lag_us);
        self
    }

    pub(crate) fn block(mut self, block: u32) -> Self {
        self.record.block = block;
        self
    }

    pub(crate) fn level(mut self, key: &str, level: &str) -> Self {
        self.record.levels.insert(key.to_owned(), level.to_owned());
        self
    }

    /// A trial without setup and samples, in this state.
    pub(crate) fn unmeasured(self, number: u32, state: State, reason: &str) -> MeasuredTrial {
        let mut trial = self.trial(number);
        trial.trial.state = state;
        trial.trial.reason = Some(reason.to_owned());
        (trial.trial.setup, trial.trial.outcome) = (None, None);
        MeasuredTrial::new(trial.trial)
    }

    pub(crate) fn trial(self, number: u32) -> MeasuredTrial {
        let mut record = self.record.clone();
        (record.number, record.name) = (number, self.name.clone());
        record.started = Some(format!("2026-11-21T07:{:02}:00Z", number % 60));
        record.setup = Some(Setup::Disk(Box::new(self.setup.clone())));
        record.outcome = Some(Outcome::Disk(self.outcome.clone()));
        record.parameters["block_size"] = self.setup.block_bytes.into();
        record.parameters["outstanding"] = self.setup.outstanding.into();
        let mut chance = Chance(u64::from(number));
        let samples = self.samples(&mut chance);
        let measured = self.measured(&samples, &mut chance);
        let resources = (0..samples.len()).map(|second| self.resources(second)).collect();
        MeasuredTrial { trial: record, samples, resources, measured }
    }

    fn samples(&self, chance: &mut Chance) -> Vec<Sample> {
        let warm_s = 2;
        (0..warm_s + self.seconds)
            .map(|second| {
                let measured = second.saturating_sub(warm_s) as f64 / self.seconds.max(2) as f64;
                let factor = (1.0 + self.trend * (measured - 0.5)) * (1.0 + self.noise * chance.normal());
                let sample = |&(kind, per_s, us): &(&str, f64, f64)| {
                    (kind.to_owned(), self.operation_sample(per_s * factor.max(0.0), us / factor.max(0.1)))
                };
                Sample {
                    end_s: second as f64 + 1.0,
                    length_s: 1.0,
                    phase: if second < warm_s { Phase::WarmUp } else { Phase::Measure },
                    operations: self.kinds.iter().map(sample).collect(),
                    gauges: BTreeMap::new(),
                    generator_cpu_us: (self.busiest * 1e6) as u64,
                    generator_busiest_share: self.busiest,
                    generator_pauses: None,
                }
            })
            .collect()
    }

    fn operation_sample(&self, per_s: f64, us: f64) -> OperationSample {
        let supported =
            |per_cent: f64, times: f64| (per_s * (1.0 - per_cent / 100.0) >= 10.0).then_some(us * times);
        OperationSample {
            count: per_s.round() as u64,
            errors: 0,
            bytes: per_s.round() as u64 * self.setup.block_bytes,
            rows: 0,
            latency: Summary {
                min_us: Some(us * 0.3),
                mean_us: Some(us),
                p50_us: supported(50.0, 0.9),
                p95_us: supported(95.0, 1.8),
                p99_us: supported(99.0, 2.6),
                p999_us: supported(99.9, 4.0),
                max_us: Some(us * 9.0),
            },
        }
    }

    fn measured(&self, samples: &[Sample], chance: &mut Chance) -> BTreeMap<String, OperationInterval> {
        let window = || samples.iter().filter(|sample| sample.phase == Phase::Measure);
        let of_kind = |&(kind, per_s, us): &(&'static str, f64, f64)| {
            let operations = || window().map(|sample| &sample.operations[kind]);
            let shortest = |us: f64| (us * 1e3).round() as u64;
            let latencies = (per_s * self.seconds as f64).min(f64::from(LATENCIES)) as u32;
            let mut spread = |scale: f64| {
                let mut latency = Latency::new();
                (0..latencies).for_each(|_| {
                    latency.record_ns(shortest(us * scale * (0.45 * chance.normal() - 0.1).exp()))
                });
                latency
            };
            let interval = OperationInterval {
                count: operations().map(|operation| operation.count).sum(),
                errors: if kind == self.kinds[0].0 { self.errors } else { 0 },
                bytes: operations().map(|operation| operation.bytes).sum(),
                rows: 0,
                service: spread(1.0),
                response: self.lag_us.map(|lag_us| spread(1.0 + lag_us / us)),
                lag: self.lag_us.map(|lag_us| spread(lag_us / us)),
            };
            (kind.to_owned(), interval)
        };
        self.kinds.iter().map(of_kind).collect()
    }

    fn resources(&self, second: usize) -> Resources {
        Resources {
            end_s: second as f64 + 1.0,
            length_s: 1.0,
            cpu_busy_share: vec![(self.busiest + 0.1).min(1.0), 0.05 + self.others],
            cpu_steal_share: self.steal,
            device_queue_depth: Some(30.4),
            ..Resources::default()
        }
    }
}

/// A study of these trials on a machine with 8 GiB of memory and an NVMe device.
pub(crate) fn study(profile: &str, trials: Vec<MeasuredTrial>) -> StudyRecord {
    let plan = trials.iter().map(|trial| PlannedTrial {
        number: trial.trial.number,
        name: trial.trial.name.clone(),
        block: trial.trial.block,
        levels: trial.trial.levels.clone(),
        configuration: trial.trial.configuration.clone(),
        aa: trial.trial.aa,
    });
    StudyRecord {
        manifest: Manifest {
            format: FORMAT_VERSION,
            tool_version: "0.1.0".to_owned(),
            title: format!("Disk: {profile}"),
            slug: profile.to_owned(),
            profile: Some(profile.to_owned()),
            command: vec!["prony".to_owned(), "disk".to_owned(), "/data".to_owned()],
            working_directory: None,
            run: None,
            seed: 42,
            started: "2026-11-21T07:00:00Z".to_owned(),
            finished: Some("2026-11-21T07:30:00Z".to_owned()),
            state: State::Complete,
            reason: None,
            latency_tolerance_ms: None,
            expect: None,
            search: None,
            quick: false,
            disk_bytes: None,
            prices: None,
            design: None,
            resumed: Vec::new(),
            plan: plan.collect(),
        },
        environment: Some(environment()),
        study_toml: "title = \"Disk\"\nseed = 42\n".to_owned(),
        trials,
        damage: Vec::new(),
    }
}

fn trial_record(workload: Workload, parameters: serde_json::Value) -> TrialRecord {
    TrialRecord {
        format: FORMAT_VERSION,
        workload,
        main: workload.main(),
        number: 1,
        name: String::new(),
        block: 1,
        levels: BTreeMap::new(),
        configuration: String::new(),
        aa: false,
        state: State::Complete,
        reason: None,
        notes: Vec::new(),
        started: None,
        parameters,
        target: serde_json::json!({"paths": ["/data"]}),
        placed: Vec::new(),
        setup: None,
        outcome: None,
        search: None,
    }
}

fn setup() -> DiskSetup {
    DiskSetup {
        path: "/data".to_owned(),
        block_bytes: 4096,
        read_per_cent: 100.0,
        pattern: "random".to_owned(),
        outstanding: 32,
        threads: 1,
        files: 1,
        file_bytes: 1 << 30,
        region_bytes: 1 << 30,
        cache: CacheMode::Direct,
        flush_every_writes: None,
        compressible_per_cent: 0.0,
        duplicate_per_cent: 0.0,
        written: Written::ByUs,
        pacing: Loop::Closed { think_time_us: 0.0 },
        engine: "uring".to_owned(),
        engine_fallback: None,
        engine_features: vec!["SINGLE_ISSUER".to_owned(), "DEFER_TASKRUN".to_owned()],
        buffers: "registered".to_owned(),
        timing: "one stamp a submission and one a completion".to_owned(),
        affinity: vec![0],
        calibration: Some(Calibration { generator_ns_per_operation: 300.0 }),
        seed: 42,
        content_nonce: 7,
    }
}

fn environment() -> Environment {
    let known = |text: &str| Reading::Known(text.to_owned());
    Environment {
        format: FORMAT_VERSION,
        tool_version: "0.1.0".to_owned(),
        taken: "2026-11-21T07:00:00Z".to_owned(),
        host: "db-1".to_owned(),
        system: known("Debian GNU/Linux 13"),
        kernel: "6.12.0".to_owned(),
        cpu: Cpu {
            model: known("Xeon E-2388G"),
            usable: 2,
            hypervisor: Some("KVM".to_owned()),
            governor: Reading::Unknown("the hypervisor hides it".to_owned()),
        },
        memory: Memory { total_bytes: 8 << 30, available_bytes: 6 << 30 },
        mount: Reading::Known(MountPoint {
            path: "/data".to_owned(),
            file_system: "ext4".to_owned(),
            source: "/dev/nvme0n1p1".to_owned(),
            options: "rw,noatime".to_owned(),
            block_bytes: 4096,
            free_bytes: 100 << 30,
        }),
        device: Reading::Known(Device {
            name: "nvme0n1".to_owned(),
            model: known("Samsung PM9A3"),
            rotational: Reading::Known(false),
            scheduler: known("none"),
            queue_requests: Reading::Known(1023),
            logical_block_bytes: Reading::Known(512),
            physical_block_bytes: Reading::Known(4096),
            write_cache: known("write back"),
            capacity_bytes: Reading::Known(960_197_124_096),
            interface: known("nvme"),
            interface_bytes_per_s: Reading::Known(7_880_000_000),
            raid: None,
        }),
    }
}

/// Numbers without a pattern that are the same every time.
struct Chance(u64);

impl Chance {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as f64 / (1u64 << 31) as f64
    }

    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}
