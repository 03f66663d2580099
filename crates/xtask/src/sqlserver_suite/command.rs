//! Commands on the server that is tested.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::steps::Step;

/// After so long sessions are ended: the load has begun then.
const CUT_AFTER: Duration = Duration::from_secs(4);
/// A step that takes longer hangs; one that is long takes minutes by itself.
const LIMIT: Duration = Duration::from_secs(180);
const LONG_LIMIT: Duration = Duration::from_secs(3600);
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// The server, and what it is tested with.
pub(crate) struct Server {
    pub(crate) url: String,
    pub(crate) program: PathBuf,
    /// Runs one batch and prints its rows.
    pub(crate) run_sql: PathBuf,
    pub(crate) place: PathBuf,
    /// What the names of this run's databases begin with, and of no others: all of them are removed at the end.
    pub(crate) databases: String,
}

/// A command that ended.
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// The record of its first trial, if it left one.
    pub(crate) trial: Option<String>,
}

impl Server {
    /// What the server calls itself, on one line.
    pub(crate) fn version(&self) -> Result<String> {
        let told = self.sql("SELECT @@VERSION")?;
        Ok(told.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    /// Runs a step to its end.
    pub(crate) fn ran(&self, step: &Step) -> Result<Ran> {
        let results = self.place.join("results");
        let _ = fs::remove_dir_all(&results);
        let words = self.words(step.words)?;
        let limit = if step.is_long { LONG_LIMIT } else { LIMIT };
        let child = Command::new(&self.program)
            .args(&words)
            .args(if has_results(step) {
                vec!["--results".into(), results.as_os_str().to_owned()]
            } else {
                Vec::new()
            })
            .current_dir(&self.place)
            .env_remove("PRONY_RESULTS")
            .stdin(Stdio::null())
            .stdout(fs::File::create(self.place.join("stdout"))?)
            .stderr(fs::File::create(self.place.join("stderr"))?)
            .spawn()
            .context("cannot start prony")?;
        let database = words.iter().skip_while(|word| *word != "--database").nth(1);
        let cut = step.is_cut.then_some(database).flatten();
        let code = self.awaited(child, limit, cut.map(String::as_str))?;
        let text = |name: &str| fs::read_to_string(self.place.join(name)).unwrap_or_default();
        let trial =
            newest(&results).and_then(|run| fs::read_to_string(run.join("trials/0001/trial.json")).ok());
        Ok(Ran { code, stdout: text("stdout"), stderr: text("stderr"), trial })
    }

    /// Waits for the end, and ends the sessions in a database meanwhile, once.
    fn awaited(&self, mut child: Child, limit: Duration, mut cut: Option<&str>) -> Result<Option<i32>> {
        let begin = Instant::now();
        loop {
            if let Some(status) = child.try_wait()? {
                let said = || fs::read_to_string(self.place.join("stderr")).unwrap_or_default();
                ensure!(cut.is_none(), "it ended before its sessions were ended: {}", said().trim());
                return Ok(status.code());
            }
            if begin.elapsed() > CUT_AFTER
                && let Some(database) = cut.take()
            {
                self.end_sessions(database)?;
            }
            if begin.elapsed() > limit {
                kill(Pid::from_raw(i32::try_from(child.id())?), Signal::SIGKILL)?;
                child.wait()?;
                bail!("it had not ended after {} s", limit.as_secs());
            }
            std::thread::sleep(LOOK_AGAIN);
        }
    }

    fn end_sessions(&self, database: &str) -> Result<()> {
        let sessions = self.sql(&format!(
            "SELECT session_id FROM sys.dm_exec_sessions WHERE database_id = DB_ID('{database}') AND session_id <> @@SPID"
        ))?;
        ensure!(!sessions.trim().is_empty(), "no session of the load is seen in {database}");
        for session in sessions.lines() {
            // One of them may end by itself.
            let _ = self.sql(&format!("KILL {}", session.trim()));
        }
        Ok(())
    }

    /// Removes what steps left.
    pub(crate) fn clear(&self) -> Result<()> {
        let names = self.sql("SELECT name FROM sys.databases")?;
        for name in names.lines().map(str::trim).filter(|name| name.starts_with(&self.databases)) {
            self.sql(&format!("DROP DATABASE {name}"))?;
            println!("removed {name}");
        }
        Ok(())
    }

    fn sql(&self, text: &str) -> Result<String> {
        let output: Output = Command::new(&self.run_sql).args([&self.url, text]).output()?;
        ensure!(output.status.success(), "`{text}`: {}", String::from_utf8_lossy(&output.stderr).trim());
        Ok(String::from_utf8(output.stdout)?)
    }

    fn words(&self, words: &str) -> Result<Vec<String>> {
        words.split_whitespace().map(|word| self.filled(word)).collect()
    }

    fn filled(&self, word: &str) -> Result<String> {
        if let Some(options) = word.strip_prefix("{url:").and_then(|rest| rest.strip_suffix('}')) {
            let plain = self.url.split_once('?').map_or(self.url.as_str(), |(plain, _)| plain);
            return Ok(format!("{plain}?{options}"));
        }
        if word == "{wrong}" {
            let (login, place) = self.url.rsplit_once('@').context("the address has no login")?;
            let (user, _) = login.rsplit_once(':').context("the address has no password")?;
            return Ok(format!("{user}:no-such-password@{place}"));
        }
        Ok(word.replace("{url}", &self.url).replace("{db}", &self.databases))
    }
}

/// Whether a command makes results: all that measure are asked for a document.
fn has_results(step: &Step) -> bool {
    step.words.ends_with("--json") && !step.words.starts_with("inspect")
}

fn newest(results: &std::path::Path) -> Option<PathBuf> {
    let entries = fs::read_dir(results).ok()?;
    let mut runs: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    runs.sort();
    runs.pop()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_filled_in() {
        let server = Server {
            url: "sqlserver://sa:a:b@h:1433/master?encrypt=on".to_owned(),
            program: PathBuf::new(),
            run_sql: PathBuf::new(),
            place: PathBuf::new(),
            databases: "prony_suite_7_".to_owned(),
        };
        let filled = |word: &str| server.filled(word).unwrap();
        assert_eq!(filled("server={url}"), "server=sqlserver://sa:a:b@h:1433/master?encrypt=on");
        assert_eq!(filled("{url:encrypt=off}"), "sqlserver://sa:a:b@h:1433/master?encrypt=off");
        assert_eq!(filled("{db}x"), "prony_suite_7_x");
        let wrong = filled("{wrong}");
        assert!(
            wrong.ends_with(":no-such-password@h:1433/master?encrypt=on") && !wrong.contains("b@"),
            "{wrong}"
        );
    }
}
