//! What a machine gives a database, for people who do not think in queue depths: commits, reads beyond memory, scans; what is weakest
//! and what that allows; which class of storage it behaves like, and signs that something else answered.

use crate::disk::class::{self, Class, Rank};
use crate::disk::honesty;
use crate::disk::published::{self, Library};
use crate::disk::sign;
use crate::disk::storage::{Kind, Storage, Test};
use crate::format::{self, figure};
use crate::report::Report;
use crate::summary::{Answer, Reliability};
use crate::workloads;
use record::Placed;

/// Pages, and bytes of a scan, that a sentence counts with.
const PAGES: f64 = 1_000.0;
const SCAN_MB: f64 = 10_000.0;

/// What it gives: sentences of several disk tests together; none where they belong to one series, or are few.
pub(super) fn answers(report: &Report) -> Vec<Answer> {
    Storage::of(report).map(|storage| given(&storage)).unwrap_or_default()
}

/// What that means, told after what all workloads came to.
pub(super) fn bottom_line(report: &Report, reliability: Reliability) -> Vec<Answer> {
    let (Some(storage), Some(library)) = (Storage::of(report), published::library()) else {
        return Vec::new();
    };
    let allowed = |per_s: f64| -> Vec<String> {
        // Who asks whether flushes are done asks nothing of records and orders.
        let told = workloads::all().filter(|_| !honesty::is_asked(report));
        told.filter_map(|(_, shown)| shown.of_commits(report, per_s)).collect()
    };
    let mut answers = meant(&storage, reliability, library, &allowed);
    answers.extend(elsewhere(report));
    answers
}

/// `the log of PostgreSQL is on vdb, the commits above are those of vda`: they do not limit it.
fn elsewhere(report: &Report) -> Option<Answer> {
    let placed = || report.trials.iter().flat_map(|trial| &trial.placed);
    let measured = placed().find_map(|placed| match placed {
        Placed::Path { on, .. } => on.known()?.device.known(),
        Placed::Database { .. } => None,
    })?;
    placed().find_map(|placed| match placed {
        Placed::Database { log, version, .. } => {
            let log = log.known()?.device.known().filter(|log| *log != measured)?;
            let database = version.split(' ').next()?;
            let text = format!(
                "the log of {database} is on {log}, but the commits above were measured on {measured}"
            );
            Some(Answer::labelled("Note", text))
        }
        Placed::Path { .. } => None,
    })
}

fn given(storage: &Storage) -> Vec<Answer> {
    let commits = storage.commit.as_ref().map(|commit| {
        let p99 = commit.p99_us.map(|us| format!(" (p99 {})", format::latency(us))).unwrap_or_default();
        let each = format::latency(commit.mean_us);
        let by = commit.durable_by.map(|by| format!(" ({by})")).unwrap_or_default();
        format!("{} durable commits/s{by}, {each} each{p99}", figure(commit.per_s))
    });
    let commits = commits.or_else(|| unknown(storage, Kind::Commit, "durable commits"));
    let commits = commits.map(|text| Answer::labelled("Commits", text));
    let scans = storage.scan.as_ref().map(|scan| format!("scans {} MB/s", figure(scan.mb_per_s)));
    let scans = scans.or_else(|| unknown(storage, Kind::Scan, "scans"));
    let reads: Vec<String> = reads(storage).into_iter().chain(scans).collect();
    let reads = (!reads.is_empty()).then(|| Answer::labelled("Reads", reads.join(", ")));
    commits.into_iter().chain(reads).collect()
}

/// `46,110 uncached 4 KiB reads/s at Q32 (121 µs at Q1)`.
fn reads(storage: &Storage) -> Option<String> {
    let alone = storage.page.as_ref().map(|page| format::latency(page.mean_us));
    let pages = storage.pages.as_ref().map(|pages| {
        let (per_s, size) = (figure(pages.per_s), format::bytes(pages.block_bytes));
        format!("{per_s} uncached {size} reads/s at Q{}", pages.outstanding)
    });
    match (pages.or_else(|| unknown(storage, Kind::Pages, "uncached page reads")), alone) {
        (Some(pages), Some(alone)) => Some(format!("{pages} ({alone} at Q1)")),
        (Some(pages), None) if storage.unknown.contains(&Kind::Page) => {
            Some(format!("{pages} (unknown at Q1: invalid)"))
        }
        (Some(pages), None) => Some(pages),
        (None, Some(alone)) => Some(format!("{alone} per uncached page at Q1")),
        (None, None) => unknown(storage, Kind::Page, "uncached page reads at Q1"),
    }
}

/// `uncached page reads: unknown (invalid)`: of what was measured, and does not count.
fn unknown(storage: &Storage, kind: Kind, what: &str) -> Option<String> {
    storage.unknown.contains(&kind).then(|| format!("{what}: unknown (invalid)"))
}

/// With low reliability the class and the weakest parts are marked, and no sign of a used-up burst counts: background load comes and goes
/// as well. No load makes a commit too fast.
fn meant(
    storage: &Storage,
    reliability: Reliability,
    library: &Library,
    allowed: &dyn Fn(f64) -> Vec<String>,
) -> Vec<Answer> {
    let is_low = reliability == Reliability::Low;
    let graded = |text: String| if is_low { format!("possibly {text}") } else { text };
    let weakest = weak_parts(storage, library).map(|parts| match parts.as_slice() {
        [] => "no part is weaker than the others".to_owned(),
        parts => graded(parts.join(", ")),
    });
    let mut answers: Vec<Answer> = Vec::new();
    answers.extend(weakest.map(|weakest| Answer::labelled("Weakest", weakest)));
    let allowed = storage.commit.as_ref().map(|commit| allowed(commit.per_s)).unwrap_or_default();
    answers.extend((!allowed.is_empty()).then(|| Answer::labelled("Ceiling", allowed.join(", "))));
    let signs = sign::burst(storage).filter(|_| !is_low).into_iter().chain(sign::cache(storage));
    answers.extend(signs.map(|sign| Answer::labelled("Note", sign)));
    answers.extend(like(storage, library).map(|like| Answer::labelled("Similar to", graded(like))));
    answers
}

const COMMITS: &str = "commits";

/// What is of the lowest rank, with what that means for whoever waits, and nothing where all are of one; none where few are known.
fn weak_parts(storage: &Storage, library: &Library) -> Option<Vec<String>> {
    // Both many at once: a page that is read alone takes longer than one of many that are written.
    let many = |test: &Test| {
        let time = format::duration(PAGES / test.per_s);
        format!("{time} per {} at Q{}", format::plain(PAGES), test.outstanding)
    };
    let reads = storage.pages.as_ref().map(|pages| format!("uncached reads ({})", many(pages)));
    let writes = storage.writes.as_ref().map(|writes| format!("page writes ({})", many(writes)));
    let scans = storage.scan.as_ref().map(|scan| {
        let time = format::duration(SCAN_MB / scan.mb_per_s);
        format!("scans ({time} per {} GB)", format::plain(SCAN_MB / 1e3))
    });
    let commits = storage.commit.as_ref().map(|_| COMMITS.to_owned());
    let all = [
        class::commits(storage).zip(commits),
        class::reads(storage, library).zip(reads),
        class::writes(storage, library).zip(writes),
        class::scans(storage, library).zip(scans),
    ];
    let all: Vec<(Rank, String)> = all.into_iter().flatten().collect();
    let ranks = || all.iter().map(|(rank, _)| *rank);
    let (low, high) = (ranks().min()?, ranks().max()?);
    let lowest = all.iter().filter(|(rank, _)| *rank == low && low < high);
    (all.len() >= KNOWN_LEAST).then(|| lowest.map(|(_, words)| words.clone()).collect())
}

/// Of fewer it is not said which is weakest.
const KNOWN_LEAST: usize = 3;

/// `a single 7,200 rpm disk (115 to 136 reads/s; HDS tests, 2013)`.
fn like(storage: &Storage, library: &Library) -> Option<String> {
    let has_all = storage.page.is_some() && storage.pages.is_some() && storage.scan.is_some();
    let Some(class) = class::of(storage, sign::cap(storage).as_ref(), library) else {
        return has_all
            .then(|| "no published storage: too fast for spinning disks, too slow for flash".to_owned());
    };
    let turns = matches!(class, Class::Disks { .. });
    let slow = class::commits(storage).filter(|rank| !turns && *rank == Rank::Disk).map(|_| {
        let half = format::latency(class::HALF_TURN_7200_US);
        format!(", with the commits of a spinning disk (half a turn at 7,200 rpm is {half})")
    });
    Some(format!("{}{}", class.words(storage, library)?, slow.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::storage_samples as samples;

    fn told(storage: &Storage, reliability: Reliability) -> String {
        let allowed = |per_s: f64| vec![format!("{} records/s", figure(40.0 * per_s))];
        let library = published::library().unwrap();
        let answers = [given(storage), meant(storage, reliability, library, &allowed)].concat();
        answers.iter().map(Answer::sentence).collect::<Vec<String>>().join("\n")
    }

    #[test]
    fn each_machine_in_plain_words() {
        let machines = [
            ("a spinning disk", samples::spinning_disk()),
            ("a RAID with a cache", samples::raid_with_cache()),
            ("a SATA SSD", samples::sata_ssd()),
            ("NVMe", samples::nvme()),
            ("a cloud volume", samples::cloud_volume()),
            ("a loop device on tmpfs", samples::loop_on_tmpfs()),
            ("a host's memory", samples::memory_of_a_host()),
        ];
        let all =
            machines.map(|(name, storage)| format!("# {name}\n{}\n", told(&storage, Reliability::Medium)));
        insta::assert_snapshot!(all.join("\n"));
    }

    #[test]
    fn figures_that_are_not_to_be_trusted_claim_less() {
        insta::assert_snapshot!(
            [samples::spinning_disk(), samples::cloud_volume(), samples::memory_of_a_host()]
                .map(|storage| told(&storage, Reliability::Low))
                .join("\n\n")
        );
    }

    #[test]
    fn a_virtual_disk_whose_commits_reach_a_disk_that_turns_says_so() {
        let mut storage = samples::nvme();
        let commit = storage.commit.as_mut().unwrap();
        (commit.per_s, commit.mean_us) = (190.0, 5_260.0);
        let told = told(&storage, Reliability::Medium);
        assert!(
            told.contains("with the commits of a spinning disk (half a turn at 7,200 rpm is 4.17 ms)"),
            "{told}"
        );
        assert!(told.contains("Weakest: commits\nCeiling: 7,600 records/s\n"), "{told}");
    }

    /// Reads of 8 KiB were invalid, those of 4 KiB were told in their place, and two checks seemed to differ by 63%.
    #[test]
    fn an_invalid_figure_is_unknown_and_no_other_block_size_stands_for_it() {
        let valid = told(&samples::nvme(), Reliability::Medium);
        assert!(valid.contains("330,000 uncached 8 KiB reads/s at Q32 (85.0 µs at Q1)"), "{valid}");
        let without = |kinds: &[Kind]| told(&samples::nvme().without(kinds.to_vec()), Reliability::Medium);
        let pages = without(&[Kind::Pages]);
        assert!(
            pages.contains("uncached page reads: unknown (invalid) (85.0 µs at Q1)")
                && !pages.contains("390,000"),
            "{pages}"
        );
        let all = without(&[Kind::Commit, Kind::Page, Kind::Pages, Kind::Scan]);
        assert!(
            all.contains("durable commits: unknown (invalid)") && all.contains("scans: unknown (invalid)"),
            "{all}"
        );
    }

    /// One read alone was set beside writes of which 32 were in flight, and the slower of both seemed the faster.
    #[test]
    fn what_is_weakest_is_compared_at_one_depth() {
        let mut storage = samples::spinning_disk();
        storage.scan.as_mut().unwrap().mb_per_s = 900.0;
        let told = told(&storage, Reliability::Medium);
        let expected = "uncached reads (7.63 s per 1,000 at Q32), page writes (11 s per 1,000 at Q32)";
        assert!(told.contains(expected), "{told}");
    }

    #[test]
    fn what_was_not_measured_is_not_told() {
        let none = Storage::default();
        assert_eq!(told(&none, Reliability::Medium), "");
        let scan = Storage { scan: samples::nvme().scan, ..Storage::default() };
        assert_eq!(told(&scan, Reliability::Medium), "Reads: scans 3,251 MB/s");
    }
}
