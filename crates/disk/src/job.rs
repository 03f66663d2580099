//! A disk test that can be run: settings with every default filled in and every contradiction refused.

use std::path::PathBuf;

use load::{JobError, Pacing, Phases, Problems, Size, Span};
use record::CacheMode;
use serde::{Deserialize, Serialize};

use crate::parameter;
use crate::settings::{
    Affinity, Cache, EngineChoice, Pattern, Pool, Settings, Simulated, Spacing, VerifyProfile,
};

/// Most threads of one test.
pub const THREADS_MAX: u32 = 1024;
/// Most I/Os that one thread can keep outstanding.
pub const OUTSTANDING_MAX: u32 = 4096;
/// Outstanding I/Os a thread that an open loop may have where nothing else is said.
const OUTSTANDING_OPEN_LOOP: u32 = 128;
/// The same of a test that verifies, which is to have much in flight.
const OUTSTANDING_VERIFY: u32 = 32;
/// Reads of a verifying load, in per cent.
const VERIFY_READ_SHARE: f64 = 60.0;
/// Largest page that is verified, and the least time between audits.
const PAGE_BYTES_MAX: u64 = 64 << 10;
const AUDIT_EVERY_MIN: Span = Span::seconds(1);
/// Largest I/O.
pub(crate) const BLOCK_BYTES_MAX: u64 = 256 << 20;
/// Smallest unit of a block size.
pub const SECTOR_BYTES: u64 = 512;

/// One disk test, complete and without contradiction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// Bytes of one I/O.
    pub block_bytes: u64,
    /// Share of reads, 0–1.
    pub read_share: f64,
    /// Pattern.
    pub pattern: Pattern,
    /// Begin of the region in each file.
    pub offset_bytes: u64,
    /// Length of the region in each file; to the end if none.
    pub region_bytes: Option<u64>,
    /// Outstanding I/Os a thread.
    pub outstanding: u32,
    /// Threads.
    pub threads: u32,
    /// Warm-up and window.
    pub phases: Phases,
    /// Loop.
    pub pacing: Pacing,
    /// Test files made in each directory.
    pub files: u32,
    /// Size of each of them.
    pub file_bytes: u64,
    /// Times that test files are written over before the first trial.
    pub fill_passes: u32,
    /// Whether a missing file is made.
    pub create: bool,
    /// Whether a file that is not ours may be written.
    pub overwrite: bool,
    /// Serial number or name of the device that may be written.
    pub destroy: Option<String>,
    /// Caches.
    pub cache: CacheMode,
    /// Writes between two fdatasyncs of a thread.
    pub flush_every: Option<u64>,
    /// Compressible share of a block, 0–1.
    pub compressible: f64,
    /// Share of duplicate blocks, 0–1.
    pub duplicate: f64,
    /// Engine.
    pub engine: EngineChoice,
    /// Whether buffers are registered.
    pub registered_buffers: bool,
    /// CPUs.
    pub affinity: Option<Affinity>,
    /// IOPOLL.
    pub poll: bool,
    /// SQPOLL.
    pub kernel_submission: bool,
    /// Seed.
    pub seed: u64,
    /// The simulated device.
    pub simulated: Simulated,
    /// Pools of threads with files of their own.
    pub pools: Vec<Pool>,
    /// Whether the pools' threads are the same ones, with an I/O to each file in turn.
    #[serde(default)]
    pub in_turn: bool,
    /// What is checked, if pages are.
    #[serde(default)]
    pub verify: Option<VerifyJob>,
}

/// How a test checks the pages that it reads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VerifyJob {
    /// What its load is like.
    pub profile: VerifyProfile,
    /// How long an I/O may take.
    pub stall: Span,
    /// Time between two audits.
    pub audit_every: Span,
    /// Whether reads go where the profile says, and not where a pattern was given.
    pub own_reads: bool,
    /// File on another device that is told what was promised to be durable.
    pub journal: Option<PathBuf>,
}

impl Job {
    /// Fills in the defaults and checks everything.
    ///
    /// # Errors
    /// All mistakes at once.
    pub fn of(settings: &Settings) -> Result<Self, Vec<JobError>> {
        let mut problems = Problems::default();
        check_ranges(&mut problems, settings);
        check_contradictions(&mut problems, settings);
        problems.none().map(|()| Self::defaulted(settings))
    }

    fn defaulted(settings: &Settings) -> Self {
        let pools = settings.pools.clone().unwrap_or_default();
        let in_turn = settings.in_turn.unwrap_or(false);
        let own_threads = if in_turn { 1 } else { pools.len() };
        let pool_threads = pools.iter().take(own_threads).map(|pool| pool.threads).sum::<u32>();
        Self {
            block_bytes: block_size(settings).0,
            read_share: read_share(settings) / 100.0,
            pattern: settings.pattern.unwrap_or(Pattern::Random),
            offset_bytes: settings.offset.map_or(0, |size| size.0),
            region_bytes: settings.region.map(|size| size.0),
            outstanding: settings.outstanding.unwrap_or(default_outstanding(settings)),
            threads: if pools.is_empty() { settings.threads.unwrap_or(1) } else { pool_threads },
            phases: Phases {
                warm_up: settings.warm_up.unwrap_or(Span::seconds(1)),
                measure: settings.duration.unwrap_or(Span::seconds(10)),
            },
            pacing: pacing(settings),
            files: settings.files.unwrap_or(1),
            file_bytes: settings.file_size.map_or(1 << 30, |size| size.0),
            // What is verified is laid out by the load itself.
            fill_passes: if settings.no_fill == Some(true) || settings.verify.is_some() {
                0
            } else {
                settings.fill_passes.unwrap_or(1)
            },
            create: settings.create.unwrap_or(false),
            overwrite: settings.overwrite.unwrap_or(false),
            destroy: settings.destroy.clone(),
            cache: cache_mode(settings),
            flush_every: settings.flush_every,
            compressible: settings.compressible.unwrap_or(0.0) / 100.0,
            duplicate: settings.duplicate.unwrap_or(0.0) / 100.0,
            engine: settings.engine.unwrap_or(EngineChoice::Auto),
            registered_buffers: settings.registered_buffers.unwrap_or(true),
            affinity: settings.affinity.clone(),
            poll: settings.poll.unwrap_or(false),
            kernel_submission: settings.kernel_submission.unwrap_or(false),
            seed: settings.seed.unwrap_or(42),
            simulated: settings.simulated.unwrap_or_default(),
            pools,
            in_turn,
            verify: verify(settings),
        }
    }

    /// Whether anything is read. What is verified is read again.
    #[must_use]
    pub fn reads(&self) -> bool {
        self.read_share > 0.0 || self.verify.is_some()
    }

    /// Whether anything is written. What is verified is written first.
    #[must_use]
    pub fn writes(&self) -> bool {
        self.read_share < 1.0 || self.verify.is_some()
    }

    /// What a slot's memory is for: bytes of its largest I/O, and whether what is read and what is written have rooms of their own.
    pub(crate) fn slot(&self) -> (u64, bool, bool) {
        match self.verify {
            Some(_) => (crate::verify::run_bytes(self.block_bytes), true, false),
            None => (self.block_bytes, self.reads(), self.writes()),
        }
    }

    /// Whether the target is touched at all.
    #[must_use]
    pub fn needs_files(&self) -> bool {
        !matches!(self.engine, EngineChoice::Null | EngineChoice::Simulated)
    }
}

/// Pages of a database, where pages are verified.
fn block_size(settings: &Settings) -> Size {
    let default = if settings.verify.is_some() { Size::kib(8) } else { Size::kib(4) };
    settings.block_size.unwrap_or(default)
}

fn read_share(settings: &Settings) -> f64 {
    let default = if settings.verify.is_some() { VERIFY_READ_SHARE } else { 100.0 };
    settings.read_share.unwrap_or(default)
}

fn verify(settings: &Settings) -> Option<VerifyJob> {
    settings.verify.map(|profile| VerifyJob {
        profile,
        stall: settings.stall.unwrap_or(Span::seconds(15)),
        audit_every: settings.audit_every.unwrap_or(Span::seconds(300)),
        own_reads: settings.pattern.is_none(),
        journal: settings.journal.clone(),
    })
}

/// In an open loop the outstanding I/Os are only a cap, which must not be what is measured.
fn default_outstanding(settings: &Settings) -> u32 {
    let synchronous = settings.engine == Some(EngineChoice::Psync);
    if settings.verify.is_some() && !synchronous {
        return OUTSTANDING_VERIFY;
    }
    if settings.rate.is_some() && !synchronous { OUTSTANDING_OPEN_LOOP } else { 1 }
}

fn pacing(settings: &Settings) -> Pacing {
    match (settings.rate, settings.arrivals.unwrap_or(Spacing::Fixed)) {
        (None, _) => Pacing::Closed { think_time: settings.think_time.unwrap_or(Span::ZERO) },
        (Some(rate_per_s), Spacing::Fixed) => Pacing::Fixed { rate_per_s },
        (Some(rate_per_s), Spacing::Poisson) => Pacing::Poisson { rate_per_s },
    }
}

fn cache_mode(settings: &Settings) -> CacheMode {
    let writes = read_share(settings) < 100.0 || settings.verify.is_some();
    match (settings.cache.unwrap_or(Cache::Direct), writes && settings.write_through == Some(true)) {
        (Cache::Direct, false) => CacheMode::Direct,
        (Cache::Direct, true) => CacheMode::DirectWriteThrough,
        (Cache::Buffered, false) => CacheMode::Buffered,
        (Cache::Buffered, true) => CacheMode::BufferedWriteThrough,
    }
}

fn check_share(problems: &mut Problems, parameter: &'static str, value: Option<f64>) {
    if let Some(value) = value.filter(|value| !(0.0..=100.0).contains(value)) {
        problems.add(parameter, format!("invalid value {value}: must be 0 to 100 per cent"));
    }
}

fn check_count(problems: &mut Problems, parameter: &'static str, value: Option<u64>, most: u64) {
    if let Some(value) = value.filter(|value| !(1..=most).contains(value)) {
        problems.add(parameter, format!("invalid value {value}: must be 1 to {most}"));
    }
}

fn check_ranges(problems: &mut Problems, settings: &Settings) {
    check_share(problems, "read_share", settings.read_share);
    check_share(problems, "compressible", settings.compressible);
    check_share(problems, "duplicate", settings.duplicate);
    check_count(problems, "outstanding", settings.outstanding.map(u64::from), OUTSTANDING_MAX.into());
    check_count(problems, "threads", settings.threads.map(u64::from), THREADS_MAX.into());
    check_count(problems, "files", settings.files.map(u64::from), 4096);
    check_count(problems, "fill_passes", settings.fill_passes.map(u64::from), 100);
    check_count(problems, "flush_every", settings.flush_every, u64::MAX);
    check_sizes(problems, settings);
    if let Some(rate) = settings.rate.filter(|rate| !(0.001..=1e8).contains(rate)) {
        problems.add(
            "rate",
            format!("invalid value {}: must be 0.001 to 100000000 I/Os per second", load::short(rate)),
        );
    }
    if settings.duration.is_some_and(|duration| duration.ns < 1_000_000) {
        problems.add("duration", "too short: must be at least 1ms");
    }
    for (parameter, span) in [("duration", settings.duration), ("warm_up", settings.warm_up)] {
        if span.is_some_and(|span| span > Span::seconds(30 * 86_400)) {
            problems.add(parameter, "too long: must be at most 30 days");
        }
    }
}

fn check_sizes(problems: &mut Problems, settings: &Settings) {
    let unsuited =
        |block: &Size| block.0 == 0 || !block.0.is_multiple_of(SECTOR_BYTES) || block.0 > BLOCK_BYTES_MAX;
    if let Some(block) = settings.block_size.filter(unsuited) {
        let most = Size(BLOCK_BYTES_MAX);
        problems.add(
            "block_size",
            format!(
                "invalid value {block}: must be a multiple of 512 bytes, at \
             most {most}"
            ),
        );
    }
    let block = block_size(settings);
    for (parameter, size) in [("file_size", settings.file_size), ("region", settings.region)] {
        if let Some(size) = size.filter(|size| size.0 < block.0) {
            problems.add(
                parameter,
                format!(
                    "{size} is less than one block of {block}. Give at least one \
                 block"
                ),
            );
        }
    }
    if let Some(offset) = settings.offset.filter(|offset| !offset.0.is_multiple_of(SECTOR_BYTES)) {
        problems.add("offset", format!("invalid value {offset}: must be a multiple of 512 bytes"));
    }
}

/// What only a verifying test heeds, and what none does.
fn check_verify(problems: &mut Problems, settings: &Settings) {
    if settings.verify.is_none() {
        let needless = [
            ("stall", settings.stall.is_some()),
            ("audit_every", settings.audit_every.is_some()),
            ("journal", settings.journal.is_some()),
        ];
        for (name, _) in needless.iter().filter(|(_, is_given)| *is_given) {
            let verify = parameter("verify").of("sqliosim");
            problems.add(
                name,
                format!("applies only to a test that checks its pages. Add {verify}, or remove this option"),
            );
        }
        return;
    }
    if block_size(settings).0 > PAGE_BYTES_MAX {
        let most = Size(PAGE_BYTES_MAX);
        problems.add(
            "block_size",
            format!("invalid value {}: the maximum for verified pages is {most}", block_size(settings)),
        );
    }
    if settings.audit_every.is_some_and(|every| every < AUDIT_EVERY_MIN) {
        problems.add("audit_every", format!("too short: must be at least {AUDIT_EVERY_MIN}"));
    }
    if settings.stall.is_some_and(|stall| stall < Span::microseconds(1_000)) {
        problems.add("stall", "too short: must be at least 1ms");
    }
    let unheeded = [
        ("rate", settings.rate.is_some()),
        ("think_time", settings.think_time.is_some_and(|think| think.ns > 0)),
        ("compressible", settings.compressible.is_some_and(|share| share > 0.0)),
        ("duplicate", settings.duplicate.is_some_and(|share| share > 0.0)),
        ("no_fill", settings.no_fill == Some(true)),
        ("fill_passes", settings.fill_passes.is_some()),
        ("in_turn", settings.in_turn == Some(true)),
    ];
    for (name, _) in unheeded.iter().filter(|(_, is_given)| *is_given) {
        let verify = parameter("verify");
        problems
            .add(name, format!("no effect in a test that checks its pages. Remove {verify} or this option"));
    }
    if matches!(settings.engine, Some(EngineChoice::Null | EngineChoice::Simulated)) {
        problems.add("engine", "this engine stores nothing to verify. Remove it");
    }
}

fn check_contradictions(problems: &mut Problems, settings: &Settings) {
    check_verify(problems, settings);
    check_contradictions_of_the_loop(problems, settings);
    check_contradictions_of_the_engine(problems, settings);
    if settings.poll == Some(true) && settings.flush_every.is_some() {
        let either = format!("Remove {} or {}", parameter("poll"), parameter("flush_every"));
        problems.add("flush_every", format!("flushes cannot be polled. {either}"));
    }
    if settings.no_fill == Some(true) && settings.fill_passes.is_some() {
        problems.add("no_fill", format!("contradicts {}. Give only one of them", parameter("fill_passes")));
    }
    let unusable = |pools: &Vec<Pool>| pools.is_empty() || pools.iter().any(|pool| pool.threads == 0);
    if settings.pools.as_ref().is_some_and(unusable) {
        problems.add("pools", "each pool needs a file and at least one thread");
    }
    let pools = settings.pools.as_deref().unwrap_or_default();
    let differ = pools.iter().any(|pool| pool.threads != pools[0].threads);
    if settings.in_turn == Some(true) && (pools.is_empty() || differ) {
        problems.add("in_turn", "requires that all pools have the same number of threads");
    }
}

fn check_contradictions_of_the_loop(problems: &mut Problems, settings: &Settings) {
    if settings.rate.is_some() && settings.think_time.is_some_and(|think| think.ns > 0) {
        let rate = parameter("rate");
        let problem = format!(
            "cannot be combined with {rate}, because then I/Os are sent at fixed times. Give only one of them"
        );
        problems.add("think_time", problem);
    }
    if settings.rate.is_none() && settings.arrivals.is_some() {
        problems.add("arrivals", format!("needs a target rate. Add {}", parameter("rate")));
    }
}

fn check_contradictions_of_the_engine(problems: &mut Problems, settings: &Settings) {
    if settings.poll == Some(true) && settings.cache == Some(Cache::Buffered) {
        problems.add("poll", format!("works only with direct I/O. Use {}", parameter("cache").of("direct")));
    }
    if settings.engine != Some(EngineChoice::Psync) {
        return;
    }
    if let Some(outstanding) = settings.outstanding.filter(|&outstanding| outstanding > 1) {
        problems.add(
            "outstanding",
            format!(
                "{outstanding} needs an asynchronous engine, but psync issues one I/O at a time. Use {}, \
                 or {} {}",
                parameter("engine").of("uring"),
                parameter("outstanding").of(1),
                parameter("threads").of(outstanding)
            ),
        );
    }
    for (parameter, asked) in [
        ("poll", settings.poll),
        ("kernel_submission", settings.kernel_submission),
        ("registered_buffers", settings.registered_buffers),
    ] {
        if asked == Some(true) {
            let uring = crate::parameter("engine").of("uring");
            problems.add(parameter, format!("needs io_uring. Use {uring}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(text: &str) -> Settings {
        serde_json::from_str(text).unwrap()
    }

    /// The parameters that are refused.
    fn refused(text: &str) -> Vec<&'static str> {
        Job::of(&settings(text)).err().unwrap_or_default().iter().map(|problem| problem.parameter).collect()
    }

    #[test]
    fn nothing_given_is_a_random_read_test() {
        let job = Job::of(&Settings::default()).unwrap();
        assert_eq!((job.block_bytes, job.outstanding, job.threads), (4096, 1, 1));
        assert!(job.reads() && !job.writes());
        assert_eq!(job.cache, CacheMode::Direct);
        assert!(!job.pacing.is_open());
    }

    #[test]
    fn all_mistakes_are_told_at_once() {
        let found = refused(
            r#"{"block_size": "1000B", "read_share": 101, "threads": 0, "rate": 0, "duration": "0s"}"#,
        );
        assert_eq!(found, ["read_share", "threads", "block_size", "rate", "duration"]);
    }

    #[test]
    fn queue_depth_is_never_ignored_by_a_synchronous_engine() {
        assert_eq!(refused(r#"{"engine": "psync", "outstanding": 8}"#), ["outstanding"]);
        assert_eq!(refused(r#"{"engine": "psync", "outstanding": 1}"#), [""; 0]);
    }

    #[test]
    fn contradictions_are_refused() {
        assert_eq!(refused(r#"{"rate": 100, "think_time": "1ms"}"#), ["think_time"]);
        assert_eq!(refused(r#"{"arrivals": "poisson"}"#), ["arrivals"]);
        assert_eq!(refused(r#"{"flush_every": 8, "read_share": 0}"#), [""; 0]);
        assert_eq!(refused(r#"{"file_size": "1KiB"}"#), ["file_size"]);
    }

    #[test]
    fn unknown_keys_are_refused() {
        assert!(serde_json::from_str::<Settings>(r#"{"blocksize": "4k"}"#).is_err());
    }
}
