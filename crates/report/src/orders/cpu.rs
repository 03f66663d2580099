//! The CPU time of the servers of a trial: of their own processes where these were seen, else of the machine less the load.

use record::orders::SERVER_CPU_S;
use record::{CpuOf, CpuRead, MachineLoad, MeasuredTrial, Sample, Setup};

use crate::format::plain;
use crate::machine::during;
use crate::servers::Servers;

/// What is known of it, in seconds of the measured window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct ServerCpu {
    /// Of the processes of all servers; of what runs in this program, of its threads but those of the load.
    pub(super) servers_s: Option<f64>,
    /// Of this machine less the load, other programs included; only where that of the servers is not known.
    pub(super) machine_less_load_s: Option<f64>,
    pub(super) is_in_process: bool,
}

impl ServerCpu {
    pub(super) fn of(measured: &MeasuredTrial, window: &[&Sample]) -> Self {
        let read = during(&measured.resources, window);
        let servers = measured.trial.setup.as_ref().map(|setup| Servers::of(setup, &read));
        let window_s: f64 = window.iter().map(|sample| sample.length_s).sum();
        let load_s: f64 = window.iter().map(|sample| sample.generator_cpu_us as f64 / 1e6).sum();
        let own_cores = |load: &MachineLoad| Some(load.cpu_own_share? * load.cpu_busy_share.len() as f64);
        let own = read.iter().filter_map(|r| Some((own_cores(r.machine.as_ref()?)?, r.length_s)));
        let servers_s = match servers {
            Some(Servers::Seen { cores }) => Some(cores * window_s),
            Some(Servers::InProcess) => {
                stats::weighted_mean(own).map(|cores| (cores * window_s - load_s).max(0.0))
            }
            Some(Servers::Absent | Servers::Unseen) | None => None,
        };
        let told = window.iter().filter_map(|sample| sample.gauges.get(SERVER_CPU_S)).copied();
        let told = told.reduce(|sum, seconds| sum + seconds);
        let read = measured
            .trial
            .setup
            .as_ref()
            .and_then(Setup::orders)
            .map_or_else(CpuRead::default, |it| it.cpu_read());
        let (own, less_load) = match read.of {
            CpuOf::Groups | CpuOf::Processes => (told, None),
            CpuOf::MachineLessLoad => (None, told),
        };
        let servers_s = servers_s.or(own);
        Self {
            servers_s,
            machine_less_load_s: less_load.filter(|_| servers_s.is_none()),
            is_in_process: servers == Some(Servers::InProcess),
        }
    }
}

/// Whose CPU a server's share is, as the subject of a sentence: `the server's control group`.
pub(super) fn whose(read: CpuRead, several: bool) -> &'static str {
    match (read.of, several) {
        (CpuOf::Groups, false) => "the server's control group",
        (CpuOf::Groups, true) => "the servers' control groups",
        (CpuOf::Processes, false) => "the server's processes",
        (CpuOf::Processes, true) => "the servers' processes",
        (CpuOf::MachineLessLoad, _) => "the machine without the load",
    }
}

/// What a share of it is of: ` of 0.5 processors`; nothing of the whole machine, and where it was not recorded.
pub(super) fn of_processors(read: CpuRead) -> String {
    match (read.of, read.processors) {
        (CpuOf::Groups | CpuOf::Processes, Some(processors)) => {
            format!(" of {} {}", plain(processors), if processors == 1.0 { "CPU" } else { "CPUs" })
        }
        (CpuOf::MachineLessLoad, _) | (_, None) => String::new(),
    }
}
