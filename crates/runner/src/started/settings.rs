//! What a server is started with: the settings that follow from what it may use, those of the study, and its limits.

use std::path::{Path, PathBuf};

use instance::{
    Device, DeviceLimit, Engine, Failover, InstanceError, Limits, NetworkNeed, Options, PairKind, PairOptions,
};
use load::Size;
use record::{DeviceLimits, LimitProof, Parameter, ServerLimits, ServerSetting};
use study::{FaultKind, Server, StartedServer};

const MIB: u64 = 1 << 20;
/// Sessions of our own besides those of the load: the lock, the watch over it, the counting at the end.
const OWN_SESSIONS: u32 = 32;
/// As many as servers allow by themselves.
const USUAL_SESSIONS: u32 = 100;
/// Part of the memory for the server's own cache of pages: PostgreSQL's documentation ("shared_buffers") begins at a quarter,
/// beside the file cache, which counts within a limit too; InnoDB reads past the file cache and gets half, since the rest of the
/// server counts within the limit as well.
const POSTGRES_CACHE: u64 = 4;
const INNODB_CACHE: u64 = 2;
/// What MySQL's redo log holds by default from 8.0.30 on, so that every version has as much. MariaDB's is of 96 MiB.
const MYSQL_REDO_BYTES: u64 = 100 * MIB;
/// Processes of PostgreSQL that wait for work beside queries, by default.
const USUAL_WORKERS: u32 = 8;

/// What a machine gives a server that is not limited.
#[derive(Clone, Debug)]
pub(super) struct Whole {
    pub(super) memory_bytes: u64,
    pub(super) cpus: u32,
    /// Numbers of the processors, as the kernel lists them (`0-3,8`); none where it does not say.
    pub(super) processors: Option<String>,
}

impl Whole {
    /// This machine.
    pub(super) fn here() -> Self {
        let cpus = std::thread::available_parallelism().map_or(1, |cpus| cpus.get() as u32);
        let processors = std::fs::read_to_string("/sys/devices/system/cpu/online").ok();
        let processors = processors.map(|list| list.trim().to_owned());
        Self { memory_bytes: crate::environment::memory_bytes(), cpus, processors }
    }
}

/// A server as it is to run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Configuration {
    /// Given by the study.
    pub(super) asked: Vec<ServerSetting>,
    /// Chosen here, where the study gives none of that name.
    pub(super) chosen: Vec<ServerSetting>,
    pub(super) limits: Limits,
}

pub(super) fn engine(server: &Server) -> Option<Engine> {
    match server.engine? {
        study::Engine::Postgres => Some(Engine::Postgres),
        study::Engine::Mariadb => Some(Engine::MariaDb),
        study::Engine::Mysql => Some(Engine::MySql),
        study::Engine::Sqlserver => None,
    }
}

/// How a server is started with others that stand by, if it is.
pub(super) fn pair_of(server: &Server, options: &Options) -> Option<(PairKind, PairOptions)> {
    let kind = match server.pair()? {
        study::Pair::None => return None,
        study::Pair::Sync => PairKind::Sync,
        study::Pair::Async => PairKind::Async,
        study::Pair::Quorum => PairKind::Quorum,
    };
    let failover = match server.failover {
        Some(study::Failover::Tuned) => Failover::Tuned,
        Some(study::Failover::Default) | None => Failover::Default,
    };
    let network = network_of(server);
    let options = PairOptions::of(options.clone()).failover(failover).in_network(network);
    let options = options.on_volumes(server.nodes.clone());
    let timeouts = server.timeouts_as_text().into_iter();
    Some((kind, timeouts.fold(options, |options, (name, value)| options.timeout(name, value))))
}

/// What is to be cut or slow must be a network of its own.
fn network_of(server: &Server) -> NetworkNeed {
    if server.own_faults().any(|what| *what == FaultKind::Delay) {
        NetworkNeed::Delay
    } else if server.own_faults().any(FaultKind::is_of_network) {
        NetworkNeed::Cut
    } else {
        NetworkNeed::None
    }
}

impl Configuration {
    /// Of a server that has so many sessions, by what it may use and what the machine has.
    pub(super) fn of(server: &Server, sessions: u32, whole: &Whole) -> Self {
        let asked: Vec<ServerSetting> = server
            .settings_as_text()
            .unwrap_or_default()
            .into_iter()
            .map(|(name, value)| ServerSetting { name, value })
            .collect();
        let is_asked = |name: &str| asked.iter().any(|asked| asked.name.replace('-', "_") == name);
        let mut chosen = chosen(server, sessions, whole);
        // The older spelling of the size of the redo log has no effect beside the newer one.
        let is_older = |name: &str| {
            name == "innodb_redo_log_capacity"
                && ["innodb_log_file_size", "innodb_log_files_in_group"].into_iter().any(is_asked)
        };
        chosen.retain(|setting| !is_asked(&setting.name) && !is_older(&setting.name));
        let limits = Limits {
            memory_bytes: server.memory.map(|memory| memory.0),
            cpus: server.cpus,
            cpu_set: server.cpu_numbers().unwrap_or_default(),
            devices: Vec::new(),
            throttles: server.own_faults().any(|what| *what == FaultKind::Throttle),
        };
        Self { asked, chosen, limits }
    }

    /// The same with limits of the devices under these directories.
    pub(super) fn on(mut self, server: &Server, places: &[(String, PathBuf)]) -> Result<Self, InstanceError> {
        let limit = DeviceLimit {
            device: Device::default(),
            read_iops: server.read_iops,
            write_iops: server.write_iops,
            read_bytes_per_s: server.read_rate.map(|rate| rate.0),
            write_bytes_per_s: server.write_rate.map(|rate| rate.0),
        };
        if limit == DeviceLimit::default() && !self.limits.throttles {
            return Ok(self);
        }
        // What is not among the volumes of nodes is read and written by none of them.
        let are_apart = !server.nodes.is_empty();
        for (_, path) in places.iter().filter(|(what, _)| !are_apart || what != "data") {
            let device = Device::under(path)?;
            if !self.limits.devices.iter().any(|limited| limited.device == device) {
                self.limits.devices.push(DeviceLimit { device, ..limit });
            }
        }
        Ok(self)
    }

    /// What an instance is given; without limits while it is prepared.
    pub(super) fn options(&self, server: &StartedServer, is_limited: bool) -> Options {
        let mut options = Options::default();
        let server = &server.server;
        if let Some(data) = &server.data {
            options = options.parent_directory(data);
        }
        if let Some(log) = &server.log {
            options = options.log_parent(log);
        }
        for (name, directory) in &server.tablespaces {
            options = options.tablespace(name, directory);
        }
        for ServerSetting { name, value } in self.chosen.iter().chain(&self.asked) {
            options = options.setting(name, value);
        }
        let breaks = |what: FaultKind| server.own_faults().any(|own| *own == what);
        options = options.with_clock(breaks(FaultKind::Clock)).losing_power(breaks(FaultKind::PowerCut));
        if is_limited { options.limits(self.limits.clone()) } else { options }
    }

    /// Limits as they are recorded.
    pub(super) fn recorded(&self, by: String, proofs: Vec<LimitProof>) -> Option<ServerLimits> {
        let Limits { memory_bytes, cpus, cpu_set, devices, .. } = self.limits.clone();
        let of = |device: DeviceLimit| DeviceLimits {
            reads_per_s: device.read_iops,
            writes_per_s: device.write_iops,
            read_bytes_per_s: device.read_bytes_per_s,
            write_bytes_per_s: device.write_bytes_per_s,
        };
        let devices = devices.into_iter().map(|device| (device.device.to_string(), of(device))).collect();
        (!self.limits.is_empty()).then_some(ServerLimits { by, memory_bytes, cpus, cpu_set, devices, proofs })
    }
}

/// Refuses what this machine cannot give a server: a place that is not there, and limits that would be none.
pub(super) fn check(started: &StartedServer, whole: &Whole) -> Result<(), InstanceError> {
    // A laboratory is not there yet where it is planned.
    let is_to_be_made = |path: &Path| path.starts_with(instance::lab_mount_point(""));
    let missing =
        parents(&started.server).into_iter().find(|(_, path)| !path.is_dir() && !is_to_be_made(path));
    if let Some((what, path)) = missing {
        return Err(InstanceError::NoPlace { what, path });
    }
    match beyond(started, whole) {
        Some(problem) => Err(InstanceError::BeyondMachine(problem)),
        None => Ok(()),
    }
}

fn beyond(started: &StartedServer, whole: &Whole) -> Option<String> {
    let server = &started.server;
    let parameter = |key: &str| Parameter::new(format!("target.server.{}.{key}", started.name)).to_string();
    let all = whole.processors.as_ref().map(|list| (list, numbers(list)));
    let wanted = server.cpu_numbers().unwrap_or_default();
    if let Some((list, all)) = all.filter(|(_, all)| wanted.iter().any(|number| !all.contains(number))) {
        let (asked, count) = (server.cpu_set.as_deref().unwrap_or_default(), all.len());
        let what = parameter("cpu_set");
        return Some(format!(
            "{what} {asked} names CPUs that this machine does not have. Choose from its {count} CPUs ({list})"
        ));
    }
    if let Some(memory) =
        server.memory.filter(|memory| whole.memory_bytes > 0 && memory.0 > whole.memory_bytes)
    {
        let (what, has) = (parameter("memory"), Size(whole.memory_bytes / MIB * MIB));
        return Some(format!(
            "{what} {memory} does not limit the server: this machine has only {has}. Use a smaller value, or remove the limit"
        ));
    }
    let most = if wanted.is_empty() { whole.cpus } else { wanted.len() as u32 };
    let cpus = server.cpus.filter(|&cpus| cpus > f64::from(most))?;
    let what = parameter("cpus");
    Some(format!(
        "{what} {cpus} does not limit the server: it has only {most} CPUs here. Use a smaller value, or remove the limit"
    ))
}

/// The numbers of a list of the kernel's.
fn numbers(list: &str) -> Vec<u32> {
    let set = Server { cpu_set: Some(list.to_owned()), ..Server::default() };
    set.cpu_numbers().unwrap_or_default()
}

fn chosen(server: &Server, sessions: u32, whole: &Whole) -> Vec<ServerSetting> {
    // Limits are those of one of several already; what is not limited they share, and so do the nodes of a pair.
    let nodes = server.pair().map_or(1, |pair| pair.nodes() as u32);
    let shared = whole.memory_bytes / u64::from(server.instances.unwrap_or(nodes).max(1));
    let memory = server.memory.map_or(shared, |memory| memory.0.min(whole.memory_bytes));
    let set =
        server.cpu_numbers().ok().filter(|set| !set.is_empty()).map_or(whole.cpus, |set| set.len() as u32);
    let cpus = server.cpus.map_or(set, |cpus| (cpus.ceil() as u32).clamp(1, set));
    let sessions = USUAL_SESSIONS.max(sessions.saturating_add(OWN_SESSIONS)).to_string();
    let mib = |bytes: u64| format!("{}MB", (bytes / MIB).max(16));
    let all: Vec<(&str, String)> = match server.engine {
        Some(study::Engine::Postgres) => vec![
            ("shared_buffers", mib(memory / POSTGRES_CACHE)),
            ("effective_cache_size", mib(memory / 4 * 3)),
            ("max_connections", sessions),
            ("max_worker_processes", USUAL_WORKERS.max(cpus).to_string()),
            ("max_parallel_workers", cpus.to_string()),
        ],
        Some(study::Engine::Mariadb) => vec![
            ("innodb_buffer_pool_size", ((memory / INNODB_CACHE).max(16 * MIB) / MIB * MIB).to_string()),
            ("max_connections", sessions),
        ],
        Some(study::Engine::Mysql) => vec![
            ("innodb_buffer_pool_size", ((memory / INNODB_CACHE).max(16 * MIB) / MIB * MIB).to_string()),
            ("innodb_redo_log_capacity", MYSQL_REDO_BYTES.to_string()),
            ("max_connections", sessions),
        ],
        Some(study::Engine::Sqlserver) | None => Vec::new(),
    };
    all.into_iter().map(|(name, value)| ServerSetting { name: name.to_owned(), value }).collect()
}

/// Directories in which those of a server are made: the user's, or that for temporary files; of a pair also those of its nodes.
pub(super) fn parents(server: &Server) -> Vec<(String, PathBuf)> {
    let data = server.data.clone().unwrap_or_else(std::env::temp_dir);
    let log = server.log.as_deref().map(|log| ("log".to_owned(), Path::to_owned(log)));
    let spaces = server.tablespaces.iter().map(|(name, path)| (name.clone(), path.clone()));
    let nodes = server.nodes.iter().zip(1..).map(|(path, number)| (format!("node{number}"), path.clone()));
    std::iter::once(("data".to_owned(), data)).chain(log).chain(spaces).chain(nodes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: Whole = Whole { memory_bytes: 16 << 30, cpus: 8, processors: None };

    fn server(engine: study::Engine) -> Server {
        Server { engine: Some(engine), ..Server::default() }
    }

    fn chosen_of(server: &Server, sessions: u32) -> Vec<String> {
        let configuration = Configuration::of(server, sessions, &WHOLE);
        configuration.chosen.iter().map(|setting| format!("{}={}", setting.name, setting.value)).collect()
    }

    #[test]
    fn caches_sessions_and_workers_follow_from_what_a_server_may_use() {
        let limited =
            Server { memory: Some(Size(2 << 30)), cpus: Some(1.5), ..server(study::Engine::Postgres) };
        assert_eq!(
            chosen_of(&limited, 400),
            [
                "shared_buffers=512MB",
                "effective_cache_size=1536MB",
                "max_connections=432",
                "max_worker_processes=8",
                "max_parallel_workers=2"
            ]
        );
        assert_eq!(
            chosen_of(&server(study::Engine::Mariadb), 4),
            ["innodb_buffer_pool_size=8589934592", "max_connections=100"]
        );
    }

    #[test]
    fn mysql_has_the_same_redo_log_whatever_its_version_unless_one_is_asked_for() {
        let mut given = Server { memory: Some(Size(1 << 30)), ..server(study::Engine::Mysql) };
        assert_eq!(
            chosen_of(&given, 4),
            [
                "innodb_buffer_pool_size=536870912",
                "innodb_redo_log_capacity=104857600",
                "max_connections=100"
            ]
        );
        given.settings.insert("innodb_log_file_size".to_owned(), "64M".into());
        assert_eq!(chosen_of(&given, 4), ["innodb_buffer_pool_size=536870912", "max_connections=100"]);
    }

    /// Four servers with half of the memory each had their caches swapped out.
    #[test]
    fn several_servers_share_the_memory_that_is_not_limited() {
        let several = Server { instances: Some(4), ..server(study::Engine::Mariadb) };
        assert_eq!(chosen_of(&several, 4)[0], format!("innodb_buffer_pool_size={}", 2u64 << 30));
        let limited = Server { memory: Some(Size(1 << 30)), ..several };
        assert_eq!(chosen_of(&limited, 4)[0], format!("innodb_buffer_pool_size={}", 512u64 << 20));
    }

    #[test]
    fn what_a_machine_does_not_have_is_refused_with_what_it_has() {
        let whole = Whole { processors: Some("0-3,6-9".to_owned()), ..WHOLE };
        let told = |change: &dyn Fn(&mut Server)| {
            let mut asked = server(study::Engine::Postgres);
            change(&mut asked);
            check(&StartedServer::alone("pg", &asked), &whole)
                .err()
                .map(|error| error.to_string())
                .unwrap_or_default()
        };
        let place = |path: &str| path.to_owned();
        assert!(
            told(&|asked| asked.log = Some(place("/nowhere/x").into()))
                .contains("for its log does not exist: create it with `mkdir -p /nowhere/x`")
        );
        let set = told(&|asked| asked.cpu_set = Some("3-4".to_owned()));
        assert!(
            set.contains("cpu_set")
                && set.contains(
                    "3-4 names CPUs that this machine does not have. Choose from its 8 CPUs (0-3,6-9)"
                ),
            "{set}"
        );
        assert_eq!(told(&|asked| asked.cpu_set = Some("2-3,6".to_owned())), "");
        let memory = told(&|asked| asked.memory = Some(Size(500 << 40)));
        assert!(memory.contains("500TiB does not limit the server: this machine has only 16GiB"), "{memory}");
        assert_eq!(told(&|asked| asked.memory = Some(Size(16 << 30))), "");
        let cpus = told(&|asked| asked.cpus = Some(64.0));
        assert!(cpus.contains("64 does not limit the server: it has only 8 CPUs here"), "{cpus}");
        assert_eq!(told(&|asked| asked.cpus = Some(8.0)), "");
        let both = told(&|asked| (asked.cpus, asked.cpu_set) = (Some(2.5), Some("0-1".to_owned())));
        assert!(both.contains("it has only 2 CPUs here"), "{both}");
    }

    #[test]
    fn what_the_study_sets_is_not_chosen() {
        let mut given = server(study::Engine::Mariadb);
        given.settings.insert("innodb-buffer-pool-size".to_owned(), "64M".into());
        assert_eq!(chosen_of(&given, 4), ["max_connections=100"]);
        let asked = Configuration::of(&given, 4, &WHOLE).asked;
        assert_eq!((asked[0].name.as_str(), asked[0].value.as_str()), ("innodb-buffer-pool-size", "64M"));
    }

    #[test]
    fn devices_are_limited_once_though_two_places_are_on_one() {
        let here = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let given = Server { read_iops: Some(500), ..server(study::Engine::Postgres) };
        let places = ["data", "log"].map(|what| (what.to_owned(), here.path().to_owned()));
        let on = Configuration::of(&given, 4, &WHOLE).on(&given, &places);
        // Where the sources lie on no disk that the kernel counts, that is said.
        match on {
            Ok(on) => assert_eq!((on.limits.devices.len(), on.limits.devices[0].read_iops), (1, Some(500))),
            Err(error) => assert!(error.to_string().contains("use a directory on ext4 or xfs"), "{error}"),
        }
    }
}
