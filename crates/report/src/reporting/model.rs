//! Figures of a trial of reports.

use record::{
    DeviceLoad, GroupLoad, MeasuredTrial, Outcome, QueryPlan, ReportRun, ReportingSetup, Resources, Setup,
};
use serde::Serialize;
use stats::Estimate;

use crate::servers;

/// Figures of a trial of reports: of the first one, and of those after it.
#[derive(Clone, Debug, Serialize)]
pub struct Reporting {
    /// The first report, from sending it until its last row was read, in seconds.
    pub first_s: Option<f64>,
    /// Mean of the reports after it, in seconds.
    pub mean_s: Option<f64>,
    /// Its interval over these reports of one run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval_s: Option<[f64; 2]>,
    /// Until the first row of the first report was read, in seconds.
    pub first_to_first_row_s: Option<f64>,
    /// Mean time until the first row of the reports after it was read, in seconds.
    pub to_first_row_s: Option<f64>,
    /// Reports that were answered after the first one.
    pub reports: u64,
    /// Rows of each answer, as they have to be.
    pub rows: u64,
    /// Rows a second of the reports after the first.
    pub rows_per_s: Option<f64>,
    /// How the first report's memory was made cold; none where it was not.
    pub cold: Option<String>,
    /// What the server did for the first report.
    pub during_first: Used,
    /// What it did for those after it.
    pub during_others: Used,
    /// Whether its server was looked at.
    #[serde(skip)]
    pub(crate) is_looked_at: bool,
    /// Events that arrived and were committed.
    pub events_committed: u64,
    /// Events that were due in the end and not committed.
    pub events_pending: u64,
    /// Plans that the reports were run by, each once.
    pub plans: Vec<QueryPlan>,
    /// Each report.
    pub runs: Vec<ReportRun>,
    /// Why the report after these was not answered, if so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Setup, for the sentences on it.
    #[serde(skip)]
    pub(crate) setup: ReportingSetup,
}

/// What the server of a trial used for some of its reports; none of what was not read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Used {
    /// Most memory of its processes at once, in bytes; no page cache.
    pub memory_bytes: Option<u64>,
    /// Mean number of processors that it worked on.
    pub cpu_cores: Option<f64>,
    /// The same as a share (0–1) of those that it may use.
    pub cpu_share: Option<f64>,
    /// Bytes that the server read from devices for a report, as its control group or its processes count them.
    pub read_bytes: Option<f64>,
    /// Its reads for a report, which control groups alone count.
    pub reads: Option<f64>,
    /// Its reads per second while reports ran.
    pub reads_per_s: Option<f64>,
    /// What the devices of the database read for all programs, where that is all that is known.
    #[serde(skip_serializing_if = "DeviceReads::is_unknown")]
    pub device: DeviceReads,
}

/// What devices read while reports ran, for whichever program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct DeviceReads {
    /// Bytes for a report; none where the server's own are known.
    pub read_bytes: Option<f64>,
    /// Reads per second; none where the server's own are known.
    pub reads_per_s: Option<f64>,
}

impl DeviceReads {
    fn is_unknown(&self) -> bool {
        *self == Self::default()
    }
}

impl Reporting {
    pub(crate) fn of(measured: &MeasuredTrial) -> Option<Self> {
        let setup = measured.trial.setup.as_ref().and_then(Setup::reporting)?;
        // A trial that was killed has no outcome, and so no reports.
        let outcome =
            measured.trial.outcome.as_ref().and_then(Outcome::reporting).cloned().unwrap_or_default();
        let (first, others) = match outcome.runs.split_first() {
            Some((first, others)) => (Some(first), others),
            None => (None, &[][..]),
        };
        let took: Vec<f64> = others.iter().map(|run| run.took_s).collect();
        let to_first_row: Vec<f64> = others.iter().filter_map(|run| run.first_row_s).collect();
        let mean_s = stats::mean(&took);
        let during_first = used(measured, first.as_slice());
        let during_others = used(measured, &others.iter().collect::<Vec<_>>());
        Some(Self {
            first_s: first.map(|run| run.took_s),
            mean_s,
            interval_s: interval(&took),
            first_to_first_row_s: first.and_then(|run| run.first_row_s),
            to_first_row_s: stats::mean(&to_first_row),
            reports: others.len() as u64,
            rows: setup.expected.rows,
            rows_per_s: mean_s
                .filter(|mean_s| *mean_s > 0.0)
                .map(|mean_s| setup.expected.rows as f64 / mean_s),
            cold: cold(measured, setup),
            during_first,
            during_others,
            is_looked_at: measured.resources.iter().any(|read| !read.servers.is_empty()),
            events_committed: outcome.events_committed,
            events_pending: outcome.events_pending,
            plans: outcome.plans,
            failure: outcome.failure,
            runs: outcome.runs,
            setup: setup.clone(),
        })
    }

    /// Whether the server changed its plan between two reports.
    pub(crate) fn changed_plan(&self) -> bool {
        self.plans.len() > 1
    }
}

/// How memory was made cold: by the load itself, or by what was done with a server that was started.
fn cold(measured: &MeasuredTrial, setup: &ReportingSetup) -> Option<String> {
    if setup.cold.is_some() {
        return setup.cold.clone();
    }
    let did = |what: &str| {
        let mut steps = measured.trial.servers.iter().flat_map(|server| &server.steps);
        steps.any(|step| step.what == what)
    };
    match (did("started"), did("caches dropped")) {
        (true, true) => {
            Some("the server was restarted, and the kernel dropped its files from the page cache".to_owned())
        }
        (true, false) => Some("the server was restarted; the page cache of the kernel was kept".to_owned()),
        (false, _) => None,
    }
}

/// So much of a reading's time, as a share, lies at least within the reports that it is taken for.
const WITHIN_MIN: f64 = 0.9;

/// Readings cover at least so much of the reports' time, as a share, that what was read for them can be told from these alone.
const COVERED_MIN: f64 = 0.75;

/// What was read of the machine while some reports ran, from the first one's begin to the last one's end. What a reading has in it of
/// other reports' time is told for neither: the first report reads a file that those after it find in memory.
fn used(measured: &MeasuredTrial, runs: &[&ReportRun]) -> Used {
    let (Some(first), Some(last)) = (runs.first(), runs.last()) else { return Used::default() };
    let (begin_s, end_s, reports) = (first.begin_s, last.begin_s + last.took_s, runs.len());
    let is_within = |resources: &&Resources| {
        let from_s = (resources.end_s - resources.length_s).max(begin_s);
        let within_s = resources.end_s.min(end_s) - from_s;
        within_s > 0.0 && within_s >= resources.length_s * WITHIN_MIN
    };
    let read: Vec<&Resources> = measured.resources.iter().filter(is_within).collect();
    let cpu_cores = stats::weighted_mean(read.iter().filter_map(|resources| {
        let cores: f64 = resources.servers.values().map(|server| server.cpu_cores).sum();
        (!resources.servers.is_empty()).then_some((cores, resources.length_s))
    }));
    let is_in_process = measured.trial.setup.as_ref().is_some_and(|setup| {
        let databases = setup.databases();
        databases.iter().all(|database| servers::IN_PROCESS.contains(&database.engine))
    });
    let took_s = end_s - begin_s;
    let for_a_report =
        |rate: Rate| (rate.seconds >= took_s * COVERED_MIN).then(|| rate.per_s * took_s / reports as f64);
    let own = read_by_server(&read, is_in_process);
    let device = |of: fn(&DeviceLoad) -> f64| {
        rate(&read, |one| (!one.devices.is_empty()).then(|| one.devices.values().map(of).sum()))
    };
    let device_bytes = device(|load| load.read_bytes_per_s).filter(|_| own.bytes.is_none());
    let device_reads = device(|load| load.reads_per_s).filter(|_| own.reads.is_none());
    Used {
        memory_bytes: most_memory(measured, [begin_s, end_s]),
        cpu_cores,
        cpu_share: cpu_cores.zip(processors(measured, &read)).map(|(cores, of)| cores / of),
        read_bytes: own.bytes.and_then(for_a_report),
        reads: own.reads.and_then(for_a_report),
        reads_per_s: own.reads.map(|rate| rate.per_s),
        device: DeviceReads {
            read_bytes: device_bytes.and_then(for_a_report),
            reads_per_s: device_reads.map(|rate| rate.per_s),
        },
    }
}

/// A mean over readings, and the seconds that these cover.
#[derive(Clone, Copy, Debug)]
struct Rate {
    per_s: f64,
    seconds: f64,
}

/// The mean of what readings have, of those that have it.
fn rate(read: &[&Resources], of: impl Fn(&Resources) -> Option<f64>) -> Option<Rate> {
    let having: Vec<(f64, f64)> = read.iter().filter_map(|one| Some((of(one)?, one.length_s))).collect();
    let seconds = having.iter().map(|(_, seconds)| seconds).sum();
    stats::weighted_mean(having.into_iter()).map(|per_s| Rate { per_s, seconds })
}

/// Bytes and reads of the server itself.
#[derive(Clone, Copy, Debug, Default)]
struct OwnReads {
    bytes: Option<Rate>,
    reads: Option<Rate>,
}

/// By its control group, which counts both; else by its processes, which count bytes: who reads no byte does no read.
fn read_by_server(read: &[&Resources], is_in_process: bool) -> OwnReads {
    let group = |of: fn(&GroupLoad) -> Option<f64>| {
        rate(read, |one| {
            let groups = Some(&one.groups).filter(|groups| !groups.is_empty())?;
            groups.values().map(of).sum()
        })
    };
    let of_processes = rate(read, |one| match is_in_process {
        true => one.own.as_ref()?.read_bytes_per_s,
        false => {
            let servers = Some(&one.servers).filter(|servers| !servers.is_empty())?;
            servers.values().map(|server| server.read_bytes_per_s).sum()
        }
    });
    let bytes = group(|group| group.read_bytes_per_s).or(of_processes);
    let reads = group(|group| group.reads_per_s);
    OwnReads { bytes, reads: reads.or(bytes.filter(|rate| rate.per_s == 0.0)) }
}

/// Memory is what there was at the moment of a reading, its end: after the last report its session and what that used are gone.
fn most_memory(measured: &MeasuredTrial, [begin_s, end_s]: [f64; 2]) -> Option<u64> {
    let at = measured.resources.iter().filter(|read| read.end_s > begin_s && read.end_s <= end_s);
    let looked = at.filter(|resources| !resources.servers.is_empty());
    looked.map(|resources| resources.servers.values().map(|server| server.memory_bytes).sum()).max()
}

/// Processors that the server may use: those of its limit, else of the machine.
fn processors(measured: &MeasuredTrial, read: &[&Resources]) -> Option<f64> {
    let limits = measured.trial.servers.iter().filter_map(|server| server.limits.as_ref());
    let limited = limits.filter_map(|limits| {
        let set = limits.cpu_set.len() as f64;
        limits.cpus.into_iter().chain((set > 0.0).then_some(set)).reduce(f64::min)
    });
    let machine =
        || read.iter().find_map(|resources| Some(resources.machine.as_ref()?.cpu_busy_share.len() as f64));
    limited.reduce(f64::min).or_else(machine).filter(|processors| *processors > 0.0)
}

/// The interval of the mean time of reports. Returns none if the interval reaches zero: there are too few reports then.
fn interval(took_s: &[f64]) -> Option<[f64; 2]> {
    stats::repeats_mean(took_s).filter(|mean| mean.low > 0.0).map(|Estimate { low, high, .. }| [low, high])
}

#[cfg(test)]
mod tests {
    use super::interval;

    /// Two reports were once reported to take "0 µs to 93.6 ms" on average.
    #[test]
    fn an_interval_of_times_that_reaches_zero_is_none() {
        assert_eq!(interval(&[0.026, 0.035]), None);
        let [low, high] = interval(&[0.030, 0.031, 0.029, 0.030]).unwrap();
        assert!(0.0 < low && low < 0.030 && 0.030 < high, "{low} {high}");
    }
}
