//! The proof of a server's limits: our own disk engine and a loop on the processors do within them what they can.
//!
//! The work is done by another process of this program, which joins the server's control group before it begins.

use std::hint::black_box;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

pub(super) use disk::cached_bytes;
use disk::{Cache, Settings, Target};
use load::{Go, Progress, Size, Span, Workload as _};
use record::{LimitProof, Window, Workload};
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

/// What is done within limits, and how much of it they allow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WithinLimits {
    /// Of devices.
    #[serde(default)]
    pub devices: Vec<DeviceWork>,
    /// Processors' worth of time.
    #[serde(default)]
    pub cpus: Option<f64>,
    /// Numbers of the processors; empty if any may be.
    #[serde(default)]
    pub cpu_set: Vec<u32>,
}

/// One kind of I/O on a device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeviceWork {
    /// Numbers of the device: `254:0`.
    pub device: String,
    /// A directory of our own on it.
    pub directory: PathBuf,
    /// What is limited.
    pub of: DeviceRate,
    /// The limit.
    pub expected: f64,
}

/// What of a device is limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeviceRate {
    /// Reads a second.
    Reads,
    /// Writes a second.
    Writes,
    /// Bytes read a second.
    ReadBytes,
    /// Bytes written a second.
    WriteBytes,
}

/// The limit comes into effect in slices of time, the first of which is whole.
const BEFORE: Span = Span { ns: 500_000_000 };
const MEASURED: Span = Span { ns: 2_000_000_000 };
/// Seconds that the proof of one limit takes.
pub(super) const PROOF_S: f64 = (BEFORE.ns + MEASURED.ns) as f64 / 1e9;
const OUTSTANDING: u32 = 16;
const FILE: Size = Size(16 << 20);
const SMALL: Size = Size(4 << 10);
/// As large as I/Os are of whom bytes are limited: still several in each slice of the limit.
const LARGE: Size = Size(64 << 10);

impl DeviceRate {
    fn unit(self) -> &'static str {
        match self {
            Self::Reads => "reads/s",
            Self::Writes => "writes/s",
            Self::ReadBytes => "bytes/s read",
            Self::WriteBytes => "bytes/s written",
        }
    }

    fn counts_bytes(self) -> bool {
        matches!(self, Self::ReadBytes | Self::WriteBytes)
    }

    fn reads(self) -> bool {
        matches!(self, Self::Reads | Self::ReadBytes)
    }
}

impl WithinLimits {
    /// Whether there is nothing to be proved.
    pub(super) fn is_empty(&self) -> bool {
        self.devices.is_empty() && self.cpus.is_none() && self.cpu_set.is_empty()
    }

    /// Does it, and says what was reached.
    ///
    /// # Errors
    /// What could not be done: a sentence.
    pub fn prove(&self) -> Result<Vec<LimitProof>, String> {
        let mut proofs = Vec::new();
        if !self.cpu_set.is_empty() {
            let usable = disk::usable_cpus().len();
            proofs.push(LimitProof {
                of: "CPUs that it runs on".to_owned(),
                expected: self.cpu_set.len() as f64,
                achieved: usable as f64,
            });
        }
        if let Some(cpus) = self.cpus {
            let achieved = processors(cpus.ceil() as usize);
            proofs.push(LimitProof { of: LimitProof::PROCESSORS.to_owned(), expected: cpus, achieved });
        }
        for work in &self.devices {
            proofs.push(work.prove()?);
        }
        Ok(proofs)
    }
}

impl DeviceWork {
    /// Does it, and says what was reached.
    pub(crate) fn prove(&self) -> Result<LimitProof, String> {
        let of = format!("{} of {}", self.of.unit(), self.device);
        let settings = Settings {
            block_size: Some(if self.of.counts_bytes() { LARGE } else { SMALL }),
            read_share: Some(if self.of.reads() { 100.0 } else { 0.0 }),
            outstanding: Some(OUTSTANDING),
            warm_up: Some(BEFORE),
            duration: Some(MEASURED),
            file_size: Some(FILE),
            cache: Some(Cache::Direct),
            ..Settings::default()
        };
        let cannot = |what: String| format!("the limit of {of} cannot be tested: {what}");
        let job = settings.job().map_err(|errors| {
            cannot(errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
        })?;
        let stop = AtomicBool::new(false);
        let paths = [self.directory.clone()];
        let target = Target::prepare(&paths, std::slice::from_ref(&job), &stop, |_, _| {});
        let target = target.map_err(|error| cannot(error.to_string()))?;
        let mut window = Window::new(Workload::Disk.main());
        let mut on_progress = |progress| {
            if let Progress::Interval(interval) = progress {
                window.add(&interval);
            }
            Go::On
        };
        disk::run(&job, &target, &stop, &mut on_progress).map_err(|error| cannot(error.to_string()))?;
        let done = window.operations();
        let count = if self.of.counts_bytes() { done.bytes } else { done.count };
        Ok(LimitProof {
            of,
            expected: self.expected,
            achieved: count as f64 / window.seconds().max(f64::EPSILON),
        })
    }
}

/// Processors' worth of time that so many threads get which do nothing but compute.
fn processors(threads: usize) -> f64 {
    let begin = Instant::now();
    let [before, measured] = [BEFORE, MEASURED].map(|span| Duration::from_nanos(span.ns));
    let busy_until = |end: Instant| {
        let mut number = 1_u64;
        while Instant::now() < end {
            for _ in 0..1_000 {
                number = black_box(number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(|| busy_until(begin + before + measured));
        }
        std::thread::sleep(before.saturating_sub(begin.elapsed()));
        let (used, at) = (used_s(), Instant::now());
        std::thread::sleep((begin + before + measured).saturating_duration_since(at));
        (used_s() - used) / at.elapsed().as_secs_f64()
    })
}

/// Time of processors that this process has used, in seconds.
fn used_s() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nothing limits it here: it is proved to be no limit.
    #[test]
    fn what_is_not_limited_passes_its_limit() {
        let work = WithinLimits { cpus: Some(0.2), ..WithinLimits::default() };
        let proofs = work.prove().unwrap();
        assert_eq!(proofs[0].of, LimitProof::PROCESSORS);
        // Other tests of this process use processors meanwhile, and nobody more than there are.
        let all = std::thread::available_parallelism().unwrap().get() as f64;
        assert!(proofs[0].achieved > 0.0 && proofs[0].achieved <= all * 1.1, "{proofs:?}");
    }

    #[test]
    fn a_directory_that_is_not_there_is_told() {
        let work = DeviceWork {
            device: "254:0".to_owned(),
            directory: PathBuf::from("/nowhere/at/all"),
            of: DeviceRate::WriteBytes,
            expected: 1e6,
        };
        let error = work.prove().unwrap_err();
        assert!(error.starts_with("the limit of bytes/s written of 254:0 cannot be tested: "), "{error}");
    }

    #[test]
    fn the_work_travels_as_text() {
        let text =
            r#"{"devices":[{"device":"254:0","directory":"/a","of":"reads","expected":100.0}],"cpus":0.5}"#;
        let work: WithinLimits = serde_json::from_str(text).unwrap();
        assert_eq!((work.devices[0].of, work.cpus), (DeviceRate::Reads, Some(0.5)));
        assert!(!work.is_empty() && WithinLimits::default().is_empty());
        assert_eq!(
            serde_json::from_str::<WithinLimits>(&serde_json::to_string(&work).unwrap()).unwrap(),
            work
        );
    }
}
