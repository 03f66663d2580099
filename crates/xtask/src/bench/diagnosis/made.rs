//! Makes a bottleneck, measures once, and reads what prony says of it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use instance::Options;
use serde_json::Value;
use tempfile::TempDir;

use super::cases::{Case, Engine};
use crate::bench::faults::server::{Kind, Server as Started};
use crate::bench::io_limit::{Direction, IoLimit};
use crate::workspace::line_of;

/// Longest time of a run, everything that is made for it included.
const RUN_LONGEST: Duration = Duration::from_secs(240);
/// Warm-up and window of a run.
const WARM_UP: &str = "3s";
const WINDOW: &str = "12s";

/// What loads.
#[derive(Clone, Copy)]
pub(super) enum Load {
    Orders {
        clients: &'static str,
        size: &'static str,
        options: &'static [&'static str],
    },
    Historian {
        options: &'static [&'static str],
    },
    /// Reads or writes of a file.
    Io {
        options: &'static [&'static str],
    },
}

/// What is loaded.
#[derive(Clone, Copy)]
pub(super) enum Server {
    /// prony starts it, with these options.
    Managed(&'static [&'static str]),
    /// The benchmark starts it with these settings; a loaded store is changed by SQL first.
    Attached { settings: &'static [(&'static str, &'static str)], sql: &'static str },
    /// A file of SQLite.
    File,
    /// None: a file.
    Absent,
}

/// A limit of prony itself, in which SQLite runs.
#[derive(Clone, Copy)]
pub(super) enum Own {
    /// Processors' worth of time.
    Cpus(f64),
    /// Writes a second.
    WriteIops(u32),
}

/// What goes on beside the load.
#[derive(Clone, Copy)]
pub(super) enum Beside {
    Nothing,
    /// So many threads that never rest.
    Spin(usize),
    /// Writes to the same device that are flushed each.
    Writes,
    /// Reads from the same device, past the page cache.
    Reads,
    /// A statement in the store's database, again and again.
    Sql(&'static str),
}

/// What prony said of one run.
pub(super) struct Said {
    /// The first cause; `unknown` if it named none.
    pub(super) cause: String,
    pub(super) strength: String,
    pub(super) words: String,
    /// What it looked at.
    pub(super) looked_at: Value,
}

/// Runs a case once.
pub(super) fn run(case: &Case, prony: &Path, parent: &Path) -> Result<Said> {
    let place = tempfile::Builder::new().prefix("d").tempdir_in(parent)?;
    // Servers run as another user.
    fs::set_permissions(place.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
    let server = started(case, place.path())?;
    let target = match (&server, case.server) {
        (Some(server), _) => Some(server.url()),
        (None, Server::File) => Some(format!("sqlite:{}", place.path().join("d.db").display())),
        (None, _) => None,
    };
    let prepared = target.as_ref().map(|target| prepare(case, prony, target, server.as_ref()));
    prepared.transpose()?;
    let group = case.own.map(|limit| OwnGroup::make(limit, place.path())).transpose()?;
    let mut command = match &group {
        Some(group) => group.command(prony),
        None => Command::new(prony),
    };
    arguments(&mut command, case, target.as_deref(), place.path());
    let beside = Running::begin(case.beside, prony, server.as_ref(), &place)?;
    let text = measured(command, place.path());
    beside.end()?;
    said(&serde_json::from_str(&text?).context("prony's report is no JSON")?)
}

/// The server that the benchmark starts, if it does.
fn started(case: &Case, place: &Path) -> Result<Option<Started>> {
    let Server::Attached { settings, .. } = case.server else { return Ok(None) };
    let kind = match case.engine {
        Engine::Postgres => Kind::Postgres,
        Engine::Mariadb => Kind::MariaDb,
        Engine::Sqlite | Engine::None => bail!("there is no server of {}", case.engine.name()),
    };
    let quiet: &[(&str, &str)] = if kind == Kind::Postgres { &[("autovacuum", "off")] } else { &[] };
    let options = Options::default().parent_directory(place);
    let options =
        quiet.iter().chain(settings).fold(options, |options, (name, value)| options.setting(*name, *value));
    Ok(Some(Started::start_with(kind, &options)?))
}

/// Loads a store, and changes it.
fn prepare(case: &Case, prony: &Path, target: &str, server: Option<&Started>) -> Result<()> {
    let Load::Orders { size, .. } = case.load else { return Ok(()) };
    let mut load = Command::new(prony);
    load.args(["orders", "load", "--size", size, "--target", target]);
    let line = line_of(&load);
    let output = load.stdin(Stdio::null()).output().with_context(|| format!("cannot start `{line}`"))?;
    ensure!(
        output.status.success(),
        "`{line}` ended with {}: {}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    if let (Some(server), Server::Attached { sql, .. }) = (server, case.server)
        && !sql.is_empty()
    {
        server.ask(Some(DATABASE), sql)?;
    }
    Ok(())
}

/// Database of a store on a server.
const DATABASE: &str = "prony_orders";

fn arguments(command: &mut Command, case: &Case, target: Option<&str>, place: &Path) {
    match case.load {
        Load::Orders { clients, options, .. } => {
            command.args(["orders", "run", "--clients", clients, "--ramp-rate", "1000"]).args(options);
        }
        Load::Historian { options } => {
            command.arg("historian").args(options);
        }
        Load::Io { options } => {
            command.arg("disk").arg(place).args(options);
        }
    }
    command.args(["--warm-up", WARM_UP, "--duration", WINDOW, "--json", "--quiet"]);
    match (case.server, target) {
        (Server::Managed(options), _) => {
            let engine = if case.engine == Engine::Postgres { "postgres" } else { "mariadb" };
            command.args(["--managed", engine, "--data"]).arg(place).args(options);
            if case.engine == Engine::Postgres {
                command.args(["--setting", "autovacuum=off"]);
            }
            if let Load::Orders { size, .. } = case.load {
                command.args(["--size", size]);
            }
        }
        (Server::Attached { .. } | Server::File | Server::Absent, Some(target)) => {
            command.args(["--target", target]);
        }
        (Server::Attached { .. } | Server::File | Server::Absent, None) => {}
    }
    command.current_dir(place);
}

/// What prony prints. A trial that is invalid, or that failed, has its report as well.
fn measured(mut command: Command, place: &Path) -> Result<String> {
    let line = line_of(&command);
    let (text, errors) = (place.join("report.json"), place.join("errors.txt"));
    command.stdin(Stdio::null()).stdout(fs::File::create(&text)?).stderr(fs::File::create(&errors)?);
    let mut child = command.spawn().with_context(|| format!("cannot start `{line}`"))?;
    let begin = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if begin.elapsed() > RUN_LONGEST {
            child.kill()?;
            child.wait()?;
            bail!("`{line}` did not end within {} s", RUN_LONGEST.as_secs());
        }
        std::thread::sleep(Duration::from_millis(100));
    };
    let report = fs::read_to_string(&text)?;
    let told = fs::read_to_string(&errors).unwrap_or_default();
    ensure!(!report.is_empty(), "`{line}` ended with {status} and no report: {}", told.trim());
    Ok(report)
}

/// What a report says of its first trial.
fn said(report: &Value) -> Result<Said> {
    let trial = report.pointer("/trials/0").context("the report has no trial")?;
    let limited = &trial["limited_by"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let words = match text(&limited["says"]) {
        words if words.is_empty() => text(&trial["reason"]),
        words => words,
    };
    Ok(Said {
        cause: limited["causes"][0].as_str().unwrap_or("unknown").to_owned(),
        strength: limited["strength"].as_str().unwrap_or("unknown").to_owned(),
        words,
        looked_at: limited["looked_at"].clone(),
    })
}

/// What goes on beside the load, until it is ended.
struct Running {
    stop: Arc<AtomicBool>,
    threads: Vec<std::thread::JoinHandle<()>>,
    child: Option<Child>,
}

impl Running {
    fn begin(beside: Beside, prony: &Path, server: Option<&Started>, place: &TempDir) -> Result<Self> {
        let mut running = Self { stop: Arc::default(), threads: Vec::new(), child: None };
        match beside {
            Beside::Nothing => {}
            Beside::Spin(threads) => {
                let spin = |_| {
                    let stop = Arc::clone(&running.stop);
                    std::thread::spawn(move || {
                        while !stop.load(Ordering::Relaxed) {
                            std::hint::spin_loop()
                        }
                    })
                };
                running.threads = (0..threads).map(spin).collect();
            }
            Beside::Writes => {
                let options = ["--read-share", "0", "--flush-every", "4"];
                running.child = Some(io_beside(&options, prony, place)?);
            }
            Beside::Reads => running.child = Some(io_beside(&["--read-share", "100"], prony, place)?),
            Beside::Sql(sql) => {
                let server = server.context("there is no server for statements beside the load")?;
                running.child = Some(server.again_and_again(DATABASE, sql)?);
            }
        }
        Ok(running)
    }

    fn end(mut self) -> Result<()> {
        self.stop_all()
    }

    fn stop_all(&mut self) -> Result<()> {
        self.stop.store(true, Ordering::Relaxed);
        self.threads.drain(..).for_each(|thread| drop(thread.join()));
        if let Some(mut child) = self.child.take() {
            let is_over = child.try_wait()?;
            child.kill()?;
            child.wait()?;
            ensure!(is_over.is_none(), "what was to go on beside the load ended before it: {is_over:?}");
        }
        Ok(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // After an error, which is what is to be told.
        let _ = self.stop_all();
    }
}

/// I/O on the same device: 64 KiB at random places, 32 at a time, for longer than a run takes.
fn io_beside(options: &[&str], prony: &Path, place: &TempDir) -> Result<Child> {
    let apart = place.path().join("beside");
    fs::create_dir(&apart)?;
    let mut command = Command::new(prony);
    command.arg("disk").arg(&apart).args(["--pattern", "random", "--block-size", "64KiB"]).args(options);
    command.args(["--outstanding", "32", "--file-size", "256MiB", "--duration", "300s", "--quiet"]);
    command.current_dir(&apart).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().context("cannot start the load beside")
}

/// The control group of prony itself; gone when dropped.
enum OwnGroup {
    Cpu(CpuGroup),
    Io(IoLimit),
}

impl OwnGroup {
    /// On the device of a place.
    fn make(limit: Own, place: &Path) -> Result<Self> {
        match limit {
            Own::Cpus(cpus) => CpuGroup::make(cpus).map(Self::Cpu),
            Own::WriteIops(iops) => IoLimit::new(place, Direction::Writes, iops).map(Self::Io),
        }
    }

    /// A command that enters the group before it becomes `program`.
    fn command(&self, program: &Path) -> Command {
        match self {
            Self::Cpu(group) => group.command(program),
            Self::Io(limit) => limit.command(program),
        }
    }
}

/// A control group with a quota of processors; gone when dropped.
struct CpuGroup(PathBuf);

impl CpuGroup {
    fn make(cpus: f64) -> Result<Self> {
        const PERIOD_US: f64 = 100_000.0;
        let quota = (cpus * PERIOD_US).round() as u64;
        let name = format!("prony-diagnosis-{}", std::process::id());
        let v1 = Path::new("/sys/fs/cgroup/cpu");
        let (group, file, rule) = if v1.join("cpu.cfs_quota_us").exists() || v1.is_dir() {
            (v1.join(name), "cpu.cfs_quota_us", quota.to_string())
        } else {
            (Path::new("/sys/fs/cgroup").join(name), "cpu.max", format!("{quota} {PERIOD_US}"))
        };
        fs::create_dir(&group)
            .with_context(|| format!("cannot make the control group {}; run as root", group.display()))?;
        let made = Self(group);
        fs::write(made.0.join(file), rule).with_context(|| format!("cannot limit {}", made.0.display()))?;
        Ok(made)
    }

    /// A command that enters the group before it becomes `program`.
    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "echo $$ > \"$0\" && exec \"$@\""]).arg(self.0.join("cgroup.procs")).arg(program);
        command
    }
}

impl Drop for CpuGroup {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir(&self.0) {
            eprintln!("cannot remove the control group {}: {error}", self.0.display());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_read_by_its_fields_and_one_without_a_cause_is_unknown() {
        let limited = serde_json::json!({
            "strength": "likely", "causes": ["locks", "log_flushes"], "says": "likely locks", "looked_at": {"spent": {"locks": 0.8}}
        });
        let of = |trial: Value| said(&serde_json::json!({"trials": [trial]}));
        let found = of(serde_json::json!({"limited_by": limited})).unwrap();
        assert_eq!((found.cause.as_str(), found.strength.as_str()), ("locks", "likely"));
        assert_eq!(found.looked_at["spent"]["locks"], 0.8);
        let failed = of(serde_json::json!({"reason": "it did not start"})).unwrap();
        assert_eq!((failed.cause.as_str(), failed.words.as_str()), ("unknown", "it did not start"));
        assert!(said(&serde_json::json!({"trials": []})).is_err());
    }
}
