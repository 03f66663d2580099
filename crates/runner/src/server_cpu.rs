//! What the servers of a trial use of their CPUs, for a load whose clients are adjusted to it.
//!
//! A server that was started within limits is its control group, any other one on this machine its processes. Where one of a trial's
//! servers cannot be seen there is no meter: then the load takes what it can see itself.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Instant;

use instance::GroupUse;
use record::CpuOf;
use workload::{CpuReading, ServerMeter, processors};

use crate::server;

/// A server of which it is known what it uses.
pub(crate) struct Metered {
    pub(crate) by: MeteredBy,
    pub(crate) may_use: MayUse,
}

/// How that is known.
pub(crate) enum MeteredBy {
    Group(GroupUse),
    /// The file that tells its first process.
    Processes(PathBuf),
}

/// Processors that a server may use.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct MayUse {
    /// So much of their time; none if that is not limited.
    pub(crate) cpus: Option<f64>,
    /// Their numbers; empty if any.
    pub(crate) set: Vec<u32>,
}

impl Metered {
    /// Time of processors that it has used, in seconds, and what used it: of another one the time counts anew.
    fn used_s(&self) -> Option<(f64, u32)> {
        match &self.by {
            MeteredBy::Group(group) => Some((group.usage().ok()?.cpu.as_secs_f64(), 0)),
            MeteredBy::Processes(file) => server::cpu_s(Path::new("/proc"), file),
        }
    }
}

/// Adds up what servers use.
struct Sum {
    servers: Vec<(Metered, f64, u32)>,
    begin: Instant,
    used_s: f64,
}

impl Sum {
    fn reading(&mut self) -> Option<CpuReading> {
        let now: Vec<(f64, u32)> =
            self.servers.iter().map(|(server, ..)| server.used_s()).collect::<Option<_>>()?;
        for ((_, before_s, before), (now_s, now)) in self.servers.iter_mut().zip(now) {
            let since_s = if *before == now { (now_s - *before_s).max(0.0) } else { now_s };
            self.used_s += since_s;
            (*before_s, *before) = (now_s, now);
        }
        Some(CpuReading { at_s: self.begin.elapsed().as_secs_f64(), used_s: self.used_s })
    }
}

/// What tells the CPU of servers; none where one of them tells nothing.
pub(crate) fn meter(servers: Vec<Metered>) -> Option<ServerMeter> {
    let all_groups = servers.iter().all(|server| matches!(server.by, MeteredBy::Group(_)));
    let of = if all_groups { CpuOf::Groups } else { CpuOf::Processes };
    let may_use: Vec<&MayUse> = servers.iter().map(|server| &server.may_use).collect();
    let processors = together(&may_use, processors()?);
    let begin = |server: Metered| {
        // A server that runs has used something: where that is not counted, nothing can be told.
        let (used_s, by) = server.used_s().filter(|(used_s, _)| *used_s > 0.0)?;
        Some((server, used_s, by))
    };
    let servers: Vec<_> = servers.into_iter().map(begin).collect::<Option<_>>()?;
    let mut sum = Sum { servers, begin: Instant::now(), used_s: 0.0 };
    (!sum.servers.is_empty()).then(|| ServerMeter::new(of, processors, move || sum.reading()))
}

/// Processors' worth of time that servers may use all together on a machine with so many: no more than those have that they run on.
fn together(servers: &[&MayUse], machine: u32) -> f64 {
    let all = f64::from(machine);
    let numbers: BTreeSet<u32> = servers.iter().flat_map(|server| server.set.iter().copied()).collect();
    let are_set = servers.iter().all(|server| !server.set.is_empty());
    let whole = if are_set { (numbers.len() as f64).min(all) } else { all };
    let each = |server: &&MayUse| {
        let set = if server.set.is_empty() { all } else { server.set.len() as f64 };
        server.cpus.map_or(set, |cpus| cpus.min(set))
    };
    servers.iter().map(each).sum::<f64>().min(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_may_use_together_what_their_limits_and_their_processors_allow() {
        let of = |cpus: Option<f64>, set: &[u32]| MayUse { cpus, set: set.to_vec() };
        let sum = |servers: &[MayUse]| together(&servers.iter().collect::<Vec<_>>(), 4);
        assert_eq!(sum(&[of(Some(0.5), &[])]), 0.5);
        assert_eq!(sum(&[of(None, &[])]), 4.0);
        assert_eq!(sum(&[of(None, &[]), of(Some(0.5), &[])]), 4.0, "one of them may use all");
        assert_eq!(sum(&[of(Some(0.5), &[]), of(Some(1.0), &[])]), 1.5);
        assert_eq!(sum(&[of(Some(3.0), &[]), of(Some(3.0), &[])]), 4.0);
        assert_eq!(sum(&[of(None, &[0, 1]), of(None, &[1])]), 2.0, "they share one");
        assert_eq!(sum(&[of(Some(1.5), &[0])]), 1.0);
        assert_eq!(sum(&[of(Some(16.0), &[])]), 4.0, "more than there is");
    }

    #[test]
    fn this_process_is_no_server_and_no_server_has_no_meter() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("postmaster.pid");
        std::fs::write(&file, format!("{}\n", std::process::id())).unwrap();
        let metered = Metered { by: MeteredBy::Processes(file), may_use: MayUse::default() };
        assert!(meter(vec![metered]).is_none());
        assert!(meter(Vec::new()).is_none());
    }
}
