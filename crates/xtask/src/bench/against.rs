//! `cargo xtask bench NAME --against BINARY`: the program of this tree and another one, such as that of the last release, in turn.
//!
//! It compares the CPU time of the whole process, which scatters less than a rate where cores are shared. Each pair of runs gives a
//! ratio. The median of the ratios is judged with an interval that holds for any
//! distribution, so that a regression is neither missed for noise nor seen in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use instance::{Options, Postgres, TdsServer};
use serde::Deserialize;
use serde_json::Value;
use stats::{MedianInterval, median_interval};
use tempfile::TempDir;

use super::encryption::postgres_with_tls;
use super::tool::children_cpu_us;
use crate::workspace::{Workspace, line_of};

/// A larger ratio is a regression.
const LIMIT: f64 = 1.03;
/// Exit codes of prony with figures: all is well, a threshold was missed, or a trial is invalid, as on a busy machine.
const MEASURED: [i32; 3] = [0, 1, 5];

/// A program to set this tree's against, and how thoroughly.
#[derive(Clone, Debug)]
pub(super) struct Against<'a> {
    pub(super) binary: &'a Path,
    pub(super) pairs: u32,
    pub(super) seconds: u32,
}

/// The server that a case needs, if any.
#[derive(Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum Place {
    Directory,
    Postgres,
    PostgresWithTls,
    SqlServer,
}

/// By what CPU time is divided.
#[derive(Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum Per {
    /// Operations that the first trial measured.
    Operation,
    /// Nothing: each run does the same work.
    Run,
}

/// A command line that is measured, of `against.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    bench: String,
    name: String,
    on: Place,
    per: Per,
    /// Run once before, by this tree's program.
    #[serde(default)]
    before: String,
    words: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cases {
    case: Vec<Case>,
}

const LOAD: &str = "--results {place} --json --warm-up 0s --duration {seconds}s";

fn cases() -> Result<Vec<Case>> {
    Ok(toml::from_str::<Cases>(include_str!("against.toml")).context("against.toml")?.case)
}

/// Compares the cases of one benchmark, or of all, and returns whether none is a regression.
pub(super) fn run(bench: Option<&str>, against: &Against<'_>, workspace: &Workspace) -> Result<bool> {
    let mut cases = cases()?;
    cases.retain(|case| bench.is_none_or(|bench| case.bench == bench));
    ensure!(
        !cases.is_empty(),
        "--against compares command lines; this benchmark calls a library, or measures no cost. `cargo xtask bench all --against` \
         runs those that there are"
    );
    let binary = fs::canonicalize(against.binary)
        .with_context(|| format!("--against {}: no such file", against.binary.display()))?;
    let programs = [binary, workspace.build_prony()?];
    println!(
        "CPU of {}, as a multiple of {}; {} pairs in turn, {} s a run",
        programs[1].display(),
        programs[0].display(),
        against.pairs,
        against.seconds
    );
    let mut holds = true;
    for case in &cases {
        println!("\n{}: {}", case.bench, case.name);
        holds &= compare(case, &programs, against, workspace)?;
    }
    Ok(holds)
}

/// Compares one case. It is skipped if its server cannot be started.
fn compare(
    case: &Case,
    programs: &[PathBuf; 2],
    against: &Against<'_>,
    workspace: &Workspace,
) -> Result<bool> {
    let directory = tempfile::Builder::new().prefix("bench-").tempdir_in(workspace.target_directory())?;
    let Some(on) = On::of(case.on, directory)? else {
        println!("  not run: no server; name a directory with `start` and `stop` of one in PRONY_TDS_SERVER");
        return Ok(true);
    };
    fs::write(on.directory.path().join("one.sql"), "SELECT 1;\n")?;
    fs::write(on.directory.path().join("study.toml"), super::study::STUDY)?;
    // SQLite takes an empty file for an empty database.
    fs::write(on.directory.path().join("empty.sqlite"), "")?;
    if !case.before.is_empty() {
        on.ran(&programs[1], &on.words(&case.before, against.seconds)?)?;
    }
    let words = match case.per {
        Per::Operation => on.words(&format!("{} {LOAD}", case.words), against.seconds)?,
        Per::Run => on.words(&case.words, against.seconds)?,
    };
    let mut ratios = Vec::new();
    for number in 1..=against.pairs {
        let cost = |program: &Path| on.cost(program, &words, case.per);
        let (other, own) = (cost(&programs[0])?, cost(&programs[1])?);
        println!("  {number:>3} {other:>12.3} {own:>12.3} µs  {:.3}", own / other);
        ratios.push(own / other);
    }
    let median = median_interval(&ratios).context("there are no ratios")?;
    let verdict = Verdict::of(&median);
    println!("  {}", told(&median, verdict));
    Ok(verdict != Verdict::Regression)
}

fn told(of: &MedianInterval, verdict: Verdict) -> String {
    let interval = of.interval.map_or_else(String::new, |(low, high)| format!(" (95% {low:.3} – {high:.3})"));
    let verdict = match verdict {
        Verdict::Regression => "REGRESSION of more than 3%",
        Verdict::AsCheap => "no regression of 3%",
        Verdict::Open => "not settled; more --pairs decide it",
    };
    format!("this/other {:.3}{interval}: {verdict}", of.median)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Regression,
    AsCheap,
    /// The interval allows for both, or there is none.
    Open,
}

impl Verdict {
    fn of(ratio: &MedianInterval) -> Self {
        match ratio.interval {
            Some((low, _)) if low > 1.0 && ratio.median > LIMIT => Self::Regression,
            Some((_, high)) if high <= LIMIT => Self::AsCheap,
            _ => Self::Open,
        }
    }
}

/// What a case runs on, held until it has ended.
struct On {
    directory: TempDir,
    target: String,
    _postgres: Option<Postgres>,
    _sql_server: Option<TdsServer>,
}

impl On {
    /// None where a server is needed that nobody has given.
    fn of(place: Place, directory: TempDir) -> Result<Option<Self>> {
        let mut on = Self { directory, target: String::new(), _postgres: None, _sql_server: None };
        match place {
            Place::Directory => {}
            Place::Postgres => on.serve(Postgres::start(&Options::default())?),
            Place::PostgresWithTls => {
                let server = postgres_with_tls(on.directory.path())?;
                on.serve(server);
            }
            Place::SqlServer => {
                let Some(server) = TdsServer::start(&[])? else { return Ok(None) };
                on.target = server.url();
                on._sql_server = Some(server);
            }
        }
        Ok(Some(on))
    }

    fn serve(&mut self, server: Postgres) {
        self.target = server.url();
        self._postgres = Some(server);
    }

    fn words(&self, words: &str, seconds: u32) -> Result<Vec<String>> {
        let cpu = std::thread::available_parallelism()?.get() - 1;
        let fill = |word: &str| {
            word.replace("{cpu}", &cpu.to_string())
                .replace("{seconds}", &seconds.to_string())
                .replace("{target}", &self.target)
                .replace("{place}", &self.directory.path().to_string_lossy())
        };
        Ok(words.split_whitespace().map(fill).collect())
    }

    /// CPU time of a run in µs, and what it printed.
    fn ran(&self, program: &Path, words: &[String]) -> Result<(f64, String)> {
        let mut command = Command::new(program);
        command.args(words).current_dir(self.directory.path()).stdin(Stdio::null());
        let before_us = children_cpu_us()?;
        let output = command.output().with_context(|| format!("cannot start `{}`", line_of(&command)))?;
        let cpu_us = children_cpu_us()? - before_us;
        ensure!(
            output.status.code().is_some_and(|code| MEASURED.contains(&code)),
            "`{}` ended with {}: {}",
            line_of(&command),
            output.status,
            String::from_utf8_lossy(&output.stderr)
        );
        Ok((cpu_us, String::from_utf8_lossy(&output.stdout).into_owned()))
    }

    fn cost(&self, program: &Path, words: &[String], per: Per) -> Result<f64> {
        let (cpu_us, printed) = self.ran(program, words)?;
        match per {
            Per::Run => Ok(cpu_us),
            Per::Operation => Ok(cpu_us / operations(&printed)?),
        }
    }
}

/// Operations of the first trial.
fn operations(printed: &str) -> Result<f64> {
    let document: Value = serde_json::from_str(printed).context("the program printed no JSON")?;
    let operations = document.pointer("/trials/0/figures/0/operations").and_then(Value::as_f64);
    operations.filter(|count| *count > 0.0).context("the program counted no operation")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(ratios: &[f64]) -> Verdict {
        Verdict::of(&median_interval(ratios).unwrap())
    }

    #[test]
    fn a_regression_is_clear_and_above_the_limit() {
        assert_eq!(verdict(&[1.05, 1.04, 1.06, 1.05, 1.07, 1.04]), Verdict::Regression);
        assert_eq!(verdict(&[1.01, 1.00, 0.99, 1.02, 1.01, 1.00]), Verdict::AsCheap);
        assert_eq!(verdict(&[0.9, 1.2, 1.1, 0.8, 1.3, 1.0]), Verdict::Open);
        assert_eq!(verdict(&[1.2, 1.2]), Verdict::Open, "two pairs settle nothing");
    }

    #[test]
    fn a_line_tells_ratio_interval_and_verdict() {
        let ratios = [1.05, 1.04, 1.06, 1.05, 1.07, 1.04];
        let line = told(&median_interval(&ratios).unwrap(), verdict(&ratios));
        assert_eq!(line, "this/other 1.050 (95% 1.040 – 1.070): REGRESSION of more than 3%");
    }

    #[test]
    fn each_case_fills_in_what_it_asks_for() {
        for case in cases().unwrap() {
            assert_eq!(case.words.contains("{target}"), case.on != Place::Directory, "{}", case.name);
            assert!(!case.words.contains('"') && !case.before.contains('"'), "{}", case.name);
        }
    }

    #[test]
    fn operations_are_those_of_the_first_trial() {
        assert_eq!(operations(r#"{"trials":[{"figures":[{"operations":7}]}]}"#).unwrap(), 7.0);
        assert!(operations(r#"{"trials":[]}"#).is_err());
        assert!(operations("no JSON").is_err());
    }
}
