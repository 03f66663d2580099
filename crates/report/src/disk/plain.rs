//! What a machine gives a database, for people who do not think in queue depths: commits, reads beyond memory, scans; what is weakest
//! and what that allows; which class of storage it behaves like, and signs that something else answered.

use crate::disk::class::{self, Class, Rank};
use crate::disk::honesty;
use crate::disk::published::{self, Library};
use crate::disk::sign;
use crate::disk::storage::{Kind, Storage, Test};
use crate::format::{self, figure};
use crate::report::Report;
use crate::summary::Trust;
use crate::workloads;
use record::Placed;

/// Pages, and bytes of a scan, that a sentence counts with.
const PAGES: f64 = 1_000.0;
const SCAN_MB: f64 = 10_000.0;

/// What it gives: sentences of several disk tests together; none where they belong to one series, or are few.
pub(super) fn answers(report: &Report) -> Vec<String> {
    Storage::of(report).map(|storage| given(&storage)).unwrap_or_default()
}

/// What that means, told after what all workloads came to.
pub(super) fn bottom_line(report: &Report, trust: Trust) -> Vec<String> {
    let (Some(storage), Some(library)) = (Storage::of(report), published::library()) else {
        return Vec::new();
    };
    let allowed = |per_s: f64| -> Vec<String> {
        // Who asks whether flushes are done asks nothing of records and orders.
        let told = workloads::all().filter(|_| !honesty::is_asked(report));
        told.filter_map(|(_, shown)| shown.of_commits(report, per_s)).collect()
    };
    let mut sentences = meant(&storage, trust, library, &allowed);
    sentences.extend(elsewhere(report));
    sentences
}

/// `The log of PostgreSQL lies on vdb: these commits are of vda`, which is no limit of the other then.
fn elsewhere(report: &Report) -> Option<String> {
    let placed = || report.trials.iter().flat_map(|trial| &trial.placed);
    let measured = placed().find_map(|placed| match placed {
        Placed::Path { on, .. } => on.known()?.device.known(),
        Placed::Database { .. } => None,
    })?;
    placed().find_map(|placed| match placed {
        Placed::Database { log, version, .. } => {
            let log = log.known()?.device.known().filter(|log| *log != measured)?;
            let database = version.split(' ').next()?;
            Some(format!("The log of {database} lies on {log}: the commits above are those of {measured}"))
        }
        Placed::Path { .. } => None,
    })
}

fn given(storage: &Storage) -> Vec<String> {
    let commits = storage.commit.as_ref().map(|commit| {
        let p99 = commit.p99_us.map(|us| format!(" (p99 {})", format::latency(us))).unwrap_or_default();
        let each = format::latency(commit.mean_us);
        let by = commit.durable_by.map(|by| format!(" ({by})")).unwrap_or_default();
        format!("{} durable commits a second{by}, {each} each{p99}", figure(commit.per_s))
    });
    let commits = commits.or_else(|| unknown(storage, Kind::Commit, "Durable commits"));
    let scans = storage.scan.as_ref().map(|scan| format!("scans {} MB/s", figure(scan.mb_per_s)));
    let scans = scans.or_else(|| unknown(storage, Kind::Scan, "scans"));
    let reads: Vec<String> = reads(storage).into_iter().chain(scans).collect();
    commits.into_iter().chain((!reads.is_empty()).then(|| capital(&reads.join(", ")))).collect()
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
        (None, Some(alone)) => Some(format!("a page that is not in memory is read in {alone}")),
        (None, None) => unknown(storage, Kind::Page, "uncached page reads at Q1"),
    }
}

/// `uncached page reads: unknown (invalid)`: of what was measured, and does not count.
fn unknown(storage: &Storage, kind: Kind, what: &str) -> Option<String> {
    storage.unknown.contains(&kind).then(|| format!("{what}: unknown (invalid)"))
}

/// Figures that are not to be trusted make a class and what is weakest perhaps so, and no sign of a burst that was used up: other load
/// comes and goes as well. A commit that is too fast is not made so by load.
fn meant(
    storage: &Storage,
    trust: Trust,
    library: &Library,
    allowed: &dyn Fn(f64) -> Vec<String>,
) -> Vec<String> {
    let is_poor = trust == Trust::Poor;
    let mut sentences = weakest(storage, is_poor, library, allowed);
    sentences.extend(sign::burst(storage).filter(|_| !is_poor));
    sentences.extend(sign::cache(storage));
    sentences.extend(like(storage, library).map(|like| {
        if is_poor { format!("The storage is perhaps {like}") } else { format!("The storage is {like}") }
    }));
    sentences
}

/// `Weakest are commits: one by one, at most 15,040 historian records/s at 40 a commit, 376 at one, and 18,800 orders a minute`.
fn weakest(
    storage: &Storage,
    is_poor: bool,
    library: &Library,
    allowed: &dyn Fn(f64) -> Vec<String>,
) -> Vec<String> {
    let allowed = storage.commit.as_ref().map(|commit| allowed(commit.per_s)).unwrap_or_default();
    let allowed = (!allowed.is_empty()).then(|| format!("one by one, at most {}", allowed.join(", and ")));
    let own = allowed.iter().map(|allowed| format!("Commits allow, {allowed}"));
    let parts = match weak_parts(storage, library) {
        None => return own.collect(),
        Some(parts) => parts,
    };
    let told = match parts.as_slice() {
        [] => "no part is weak beside the others".to_owned(),
        [rest @ .., last] => match rest {
            [] => format!("weakest are {last}"),
            rest => format!("weakest are {} and {last}", rest.join(", ")),
        },
    };
    let told = capital(&if is_poor { format!("perhaps {told}") } else { told });
    match (parts.as_slice(), &allowed) {
        ([only], Some(allowed)) if only == COMMITS => vec![format!("{told}: {allowed}")],
        ([], Some(allowed)) => vec![format!("{told}: commits allow, {allowed}")],
        _ => std::iter::once(told).chain(own).collect(),
    }
}

const COMMITS: &str = "commits";

/// What is of the lowest rank, with what that means for whoever waits, and nothing where all are of one; none where few are known.
fn weak_parts(storage: &Storage, library: &Library) -> Option<Vec<String>> {
    // Both many at once: a page that is read alone takes longer than one of many that are written.
    let many = |test: &Test| {
        let time = format::duration(PAGES / test.per_s);
        format!("{} at Q{} take {time}", format::plain(PAGES), test.outstanding)
    };
    let reads = storage.pages.as_ref().map(|pages| format!("uncached reads ({})", many(pages)));
    let writes = storage.writes.as_ref().map(|writes| format!("page writes ({})", many(writes)));
    let scans = storage.scan.as_ref().map(|scan| {
        let time = format::duration(SCAN_MB / scan.mb_per_s);
        format!("scans ({} GB take {time})", format::plain(SCAN_MB / 1e3))
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

/// `like a single 7,200 rpm disk (115 to 136 reads/s; HDS tests, 2013)`.
fn like(storage: &Storage, library: &Library) -> Option<String> {
    let has_all = storage.page.is_some() && storage.pages.is_some() && storage.scan.is_some();
    let Some(class) = class::of(storage, sign::cap(storage).as_ref(), library) else {
        return has_all.then(|| {
            "like nothing that was published: too fast for disks that turn, too slow for flash".to_owned()
        });
    };
    let turns = matches!(class, Class::Disks { .. });
    let slow = class::commits(storage).filter(|rank| !turns && *rank == Rank::Disk).map(|_| {
        let half = format::latency(class::HALF_TURN_7200_US);
        format!(", but commits like a disk that turns (half a turn at 7,200 rpm is {half})")
    });
    Some(format!("like {}{}", class.words(storage, library)?, slow.unwrap_or_default()))
}

fn capital(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::storage_samples as samples;

    fn told(storage: &Storage, trust: Trust) -> String {
        let allowed = |per_s: f64| vec![format!("{} records/s", figure(40.0 * per_s))];
        let library = published::library().unwrap();
        let sentences = [given(storage), meant(storage, trust, library, &allowed)].concat();
        sentences.join(".\n") + "."
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
        let all = machines.map(|(name, storage)| format!("# {name}\n{}\n", told(&storage, Trust::Fair)));
        insta::assert_snapshot!(all.join("\n"));
    }

    #[test]
    fn figures_that_are_not_to_be_trusted_claim_less() {
        insta::assert_snapshot!(
            [samples::spinning_disk(), samples::cloud_volume(), samples::memory_of_a_host()]
                .map(|storage| told(&storage, Trust::Poor))
                .join("\n\n")
        );
    }

    #[test]
    fn a_virtual_disk_whose_commits_reach_a_disk_that_turns_says_so() {
        let mut storage = samples::nvme();
        let commit = storage.commit.as_mut().unwrap();
        (commit.per_s, commit.mean_us) = (190.0, 5_260.0);
        let told = told(&storage, Trust::Fair);
        assert!(
            told.contains("but commits like a disk that turns (half a turn at 7,200 rpm is 4.17 ms)"),
            "{told}"
        );
        assert!(told.contains("Weakest are commits: one by one, at most 7,600 records/s"), "{told}");
    }

    /// Reads of 8 KiB were invalid, those of 4 KiB were told in their place, and two checks seemed to differ by 63 %.
    #[test]
    fn an_invalid_figure_is_unknown_and_no_other_block_size_stands_for_it() {
        let valid = told(&samples::nvme(), Trust::Fair);
        assert!(valid.contains("330,000 uncached 8 KiB reads/s at Q32 (85.0 µs at Q1)"), "{valid}");
        let without = |kinds: &[Kind]| told(&samples::nvme().without(kinds.to_vec()), Trust::Fair);
        let pages = without(&[Kind::Pages]);
        assert!(
            pages.contains("Uncached page reads: unknown (invalid) (85.0 µs at Q1)")
                && !pages.contains("390,000"),
            "{pages}"
        );
        let all = without(&[Kind::Commit, Kind::Page, Kind::Pages, Kind::Scan]);
        assert!(
            all.contains("Durable commits: unknown (invalid)") && all.contains("scans: unknown (invalid)"),
            "{all}"
        );
    }

    /// One read alone was set beside writes of which 32 were in flight, and the slower of both seemed the faster.
    #[test]
    fn what_is_weakest_is_compared_at_one_depth() {
        let mut storage = samples::spinning_disk();
        storage.scan.as_mut().unwrap().mb_per_s = 900.0;
        let told = told(&storage, Trust::Fair);
        let expected = "uncached reads (1,000 at Q32 take 7.63 s) and page writes (1,000 at Q32 take 11 s)";
        assert!(told.contains(expected), "{told}");
    }

    #[test]
    fn what_was_not_measured_is_not_told() {
        let none = Storage::default();
        assert_eq!(told(&none, Trust::Fair), ".");
        let scan = Storage { scan: samples::nvme().scan, ..Storage::default() };
        assert_eq!(told(&scan, Trust::Fair), "Scans 3,251 MB/s.");
    }
}
