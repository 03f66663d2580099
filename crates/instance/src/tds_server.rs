//! A throwaway server that speaks T-SQL, for tests: whatever the programs `start` and `stop` of a directory bring, which the variable
//! `PRONY_TDS_SERVER` names. It is no SQL Server, and where the variable is not set there is none.
//!
//! `start` prints one line, `… host=127.0.0.1 port=N user=U password=P pid=N dir=DIR cert=FILE`; `stop DIR` ends it and removes DIR.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::InstanceError;
use crate::process::{Handle, children, command};
use crate::server::DIES_WITHIN;
use crate::user::User;

/// Where the programs are.
const PLACE: &str = "PRONY_TDS_SERVER";
/// It ends by itself after this time, should nobody end it.
const LIVES_S: u32 = 1800;
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// A server of its own. It is stopped and its directory removed when this is dropped.
#[derive(Debug)]
pub struct TdsServer {
    place: PathBuf,
    line: String,
    /// Where its programs are, and who runs them.
    programs: PathBuf,
    user: Option<User>,
}

impl TdsServer {
    /// Whether there is one to be had.
    #[must_use]
    pub fn is_there() -> bool {
        std::env::var_os(PLACE).is_some()
    }

    /// Starts one, with variables for its program `start`; takes 3 s. None where there is none to be had.
    ///
    /// # Errors
    /// It does not start, or says something else than its line.
    pub fn start(variables: &[(&str, &str)]) -> Result<Option<Self>, InstanceError> {
        let Some(place) = std::env::var_os(PLACE).map(PathBuf::from) else { return Ok(None) };
        let program = place.join("start");
        let mut start = Command::new(&program);
        start.env("TDS_TTL", LIVES_S.to_string()).envs(variables.iter().copied()).stdin(Stdio::null());
        let output = start.output().map_err(InstanceError::file("run", &program))?;
        let line = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        let failed = |words: String| {
            InstanceError::file("use what was said by", &program)(std::io::Error::other(words))
        };
        let said = |name| value(&line, name).map(str::to_owned);
        let (Some(pid), Some(directory)) = (said("pid"), said("dir")) else {
            return Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
        };
        let executable = format!("/proc/{pid}/exe");
        let executable = std::fs::read_link(&executable).map_err(InstanceError::file("read", executable))?;
        let owner = std::fs::metadata(&directory).map_err(InstanceError::file("look at", directory))?;
        let is_ours = owner.uid() == rustix::process::geteuid().as_raw();
        let user = (!is_ours).then(|| User { uid: owner.uid(), gid: owner.gid() });
        let programs = executable.parent().unwrap_or(Path::new("/")).to_owned();
        Ok(Some(Self { place, line, programs, user }))
    }

    /// Where clients connect to, with a user who may do everything: `sqlserver://user:password@127.0.0.1:PORT/master`.
    #[must_use]
    pub fn url(&self) -> String {
        let said = |name| value(&self.line, name).unwrap_or_default();
        format!("sqlserver://{}:{}@127.0.0.1:{}/master", said("user"), said("password"), said("port"))
    }

    /// The certificate that it shows, which it signed itself, for `localhost` and `127.0.0.1`.
    #[must_use]
    pub fn certificate(&self) -> PathBuf {
        PathBuf::from(value(&self.line, "cert").unwrap_or_default())
    }

    /// Ends all processes of the server at once. No error if it does not run.
    ///
    /// # Errors
    /// The processes cannot be found, signalled or waited for.
    pub fn kill(&mut self) -> Result<(), InstanceError> {
        let Some(pid) = self.pid() else { return Ok(()) };
        let Some(first) = Handle::open(pid)? else { return Ok(()) };
        // Stopped, it makes no further processes while its children are looked for.
        first.signal(Signal::STOP)?;
        let deadline = Instant::now() + DIES_WITHIN;
        while !is_stopped(pid) && Instant::now() < deadline {
            std::thread::sleep(LOOK_AGAIN);
        }
        let handles: Vec<Option<Handle>> =
            children(pid)?.into_iter().map(Handle::open).collect::<Result<_, _>>()?;
        let processes = || handles.iter().flatten().chain([&first]);
        processes().try_for_each(|process| process.signal(Signal::KILL))?;
        processes().try_for_each(|process| process.wait(DIES_WITHIN).map(drop))?;
        self.forget_process()
    }

    /// Takes away the file that names its first process: who nobody collects is there for the next one, which would not start.
    fn forget_process(&self) -> Result<(), InstanceError> {
        let file = self.directory().join("data/postmaster.pid");
        let removed = || {
            let (directory, name) = ownership::Directory::of(&file)?;
            directory.look(&name)?.map_or(Ok(()), |identity| directory.remove(&name, &identity).map(drop))
        };
        removed().map_err(InstanceError::file("remove", &file))
    }

    /// Starts the server again after [`Self::kill`], on the same port and data, and waits until it has recovered and answers.
    ///
    /// # Errors
    /// It does not start.
    pub fn start_again(&mut self) -> Result<(), InstanceError> {
        let program = self.programs.join("pg_ctl");
        let directory = self.directory();
        let mut start = command(&program, self.user, None)?;
        start.args(["-w", "-t", "60", "-s", "-l"]).arg(directory.join("log"));
        start.arg("-D").arg(directory.join("data")).arg("start").env("HOME", &directory);
        start.env("LOCPATH", self.programs.join("../share/locale"));
        start.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let status = start.status().map_err(InstanceError::file("run", &program))?;
        if status.success() {
            return Ok(());
        }
        let log = std::fs::read_to_string(directory.join("log")).unwrap_or_default();
        let end = log.lines().rev().take(9).collect::<Vec<_>>().join("; ");
        Err(InstanceError::file("start the server again with", program)(std::io::Error::other(end)))
    }

    fn directory(&self) -> PathBuf {
        PathBuf::from(value(&self.line, "dir").unwrap_or_default())
    }

    /// Its first process, if it runs.
    fn pid(&self) -> Option<u32> {
        let file = std::fs::read_to_string(self.directory().join("data/postmaster.pid")).ok()?;
        let pid: u32 = file.lines().next()?.parse().ok()?;
        // A number may be another's by now.
        let executable = std::fs::read_link(format!("/proc/{pid}/exe")).ok()?;
        (executable.parent() == Some(self.programs.as_path())).then_some(pid)
    }
}

impl Drop for TdsServer {
    fn drop(&mut self) {
        let mut stop = Command::new(self.place.join("stop"));
        stop.arg(self.directory()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // What is left of it ends by itself.
        let _ = stop.status();
    }
}

/// What a line says behind `name=`.
fn value<'l>(line: &'l str, name: &str) -> Option<&'l str> {
    line.split_whitespace().find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
}

/// Third field of `/proc/PID/stat`, behind the name in brackets (proc(5)).
fn is_stopped(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with(['T', 'Z', 'X']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_word_by_word() {
        let line = "mssql host=127.0.0.1 port=15433 user=sa password=a=b pid=7 dir=/tmp/x pgport=5";
        assert_eq!(value(line, "port"), Some("15433"));
        assert_eq!(value(line, "password"), Some("a=b"));
        assert_eq!(value(line, "cert"), None);
    }
}
