//! A study from its plan to its report: what all commands that measure share.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context as _, anyhow};
use disk::Survey;
use jiff::Timestamp;
use record::{Event, State};
use report::Report;
use results::Writer;
use runner::{Resume, RunError};
use study::{Plan, Study};

use crate::arguments::{Format, Output};
use crate::exit::{Exit, Failure};
use crate::progress::Progress;
use crate::{commands, interrupt, memory};

/// Runs a study and prints its report.
pub(crate) fn run(study: &Study, output: &Output) -> Result<Exit, Failure> {
    run_with(study, output, &mut |_| String::new(), true)
}

/// Runs a study, prints what `lines` makes of its events, and at the end its report if `tells` says so.
pub(crate) fn run_with(
    study: &Study,
    output: &Output,
    lines: &mut dyn FnMut(&Event) -> String,
    tells: bool,
) -> Result<Exit, Failure> {
    let plan = Plan::of(study).map_err(Failure::usage)?;
    // Before anything is touched: mistakes end here and leave no results directory.
    memory::check_plan(&plan)?;
    let survey = survey(&plan)?;
    tell!("{}", commands::plan_summary(study, &plan, &survey));
    drop(survey);
    let stop = interrupt::flag_on_signal()?;
    let results = ResultsDirectory::make(study, &output.results)?;
    conduct(
        &Conducted { study, plan: &plan, resume: None, stop: &stop, format: output.format, tells },
        results,
        lines,
    )
}

/// Takes up an interrupted study again, and prints its report.
pub(crate) fn resume(directory: &Path, format: Format) -> Result<Exit, Failure> {
    // Read once more when nobody else can write to it; this one is for what is no results directory.
    results::read(directory).map_err(Failure::usage)?;
    let directory = &std::fs::canonicalize(directory).map_err(Failure::runtime)?;
    let mut writer = Writer::reopen(directory).map_err(Failure::runtime)?;
    let record = results::read(directory).map_err(Failure::usage)?;
    if record.study_toml.trim().is_empty() {
        let directory = directory.display();
        return Err(Failure::usage(anyhow!(
            "{directory}: its study.toml is missing: restore it from a copy, or run the study again"
        )));
    }
    enter_working_directory(record.manifest.working_directory.as_deref())?;
    let mut study = Study::from_toml(&record.study_toml).map_err(Failure::usage)?;
    if record.manifest.state == State::Running {
        // It was killed, so that what was made for it stands there still.
        study.replace_what_is_left();
    }
    let plan = Plan::of(&study).map_err(Failure::usage)?;
    let resume = Resume::of(&plan, record)
        .map_err(|error| Failure::usage(anyhow!("{}: {error}", directory.display())))?;
    memory::check_plan(&plan)?;
    drop(survey(&plan)?);
    let again = match resume.set_aside().len() {
        0 => String::new(),
        number => {
            format!("; {number} that were begun are measured again, what there is of them is put aside")
        }
    };
    tell!("{}: {} of {} trials are left{again}", study.title, resume.trials(), plan.trials.len());
    let stop = interrupt::flag_on_signal()?;
    writer.keep(resume.kept_trials());
    let results = ResultsDirectory { writer, new_parent: None, is_new: false };
    let conducted =
        Conducted { study: &study, plan: &plan, resume: Some(&resume), stop: &stop, format, tells: true };
    conduct(&conducted, results, &mut |_| String::new())
}

/// Goes where a study was begun, so that its paths mean the same.
fn enter_working_directory(begun_in: Option<&str>) -> Result<(), Failure> {
    let Some(begun_in) = begun_in else { return Ok(()) };
    std::env::set_current_dir(begun_in)
        .with_context(|| {
            format!(
                "cannot go to {begun_in}, where the study was begun and its paths are from; make it again"
            )
        })
        .map_err(Failure::usage)
}

/// What is run, and how it is told.
struct Conducted<'a> {
    study: &'a Study,
    plan: &'a Plan,
    resume: Option<&'a Resume>,
    stop: &'a Arc<AtomicBool>,
    format: Format,
    tells: bool,
}

fn conduct(
    conducted: &Conducted<'_>,
    mut results: ResultsDirectory,
    lines: &mut dyn FnMut(&Event) -> String,
) -> Result<Exit, Failure> {
    let Conducted { study, plan, resume, stop, format, tells } = *conducted;
    let mut progress = Progress::new(study.search.is_none().then_some(plan.trials.len()));
    let result = runner::run(study, plan, resume, &context(), stop, &mut |event| {
        progress.show(event);
        let lines = lines(event);
        if !lines.is_empty() {
            print(|out| out.write_all(lines.as_bytes())).map_err(|failure| failure.message())?;
        }
        results.writer.accept(event).map_err(Into::into)
    });
    progress.finish();
    let directory = results.writer.directory().to_owned();
    match result {
        Ok(_) => {}
        Err(error @ RunError::Listener(_)) => {
            show_what_there_is(&directory, format);
            return Err(error.into());
        }
        Err(error) => return Err(not_begun(error, Some(results), stop)),
    }
    // Another program may go on with it from here.
    drop(results);
    let report = read_report(&directory)?;
    // A disk that is full keeps nobody from seeing the figures.
    if tells {
        show(&report, format)?;
    }
    write_report(&directory, &report)?;
    tell!("report: {}", directory.join("report.html").display());
    if report.state != State::Complete && plan.trials.len() > 1 {
        tell!("what is left can be measured with: prony study resume {}", directory.display());
    }
    Ok(Exit::of(&report))
}

/// What the disk tests of a plan would find, by the paths that they load.
#[derive(Debug, Default)]
pub(crate) struct Surveyed {
    surveys: Vec<(Survey, Vec<disk::Job>)>,
}

impl Surveyed {
    /// Bytes that are written before the first trial.
    pub(crate) fn fill_bytes(&self) -> u64 {
        self.surveys.iter().map(|(survey, jobs)| survey.fill_bytes(jobs)).sum()
    }

    /// Whether all test files vanish at the end.
    pub(crate) fn leaves_nothing(&self) -> bool {
        self.surveys.iter().all(|(survey, _)| survey.leaves_nothing())
    }

    /// What a user should read before the start.
    pub(crate) fn warnings(&self) -> impl Iterator<Item = &String> {
        self.surveys.iter().flat_map(|(survey, _)| &survey.warnings)
    }
}

/// Looks at what a plan is run against, and touches nothing. Mistakes that can be known beforehand are found here.
pub(crate) fn survey(plan: &Plan) -> Result<Surveyed, Failure> {
    for trial in &plan.trials {
        if let (Some(job), Some(url)) = (trial.work.historian(), &trial.target.url) {
            workload::historian::check(job, url.engine()).map_err(Failure::usage)?;
        }
        if let Some(job) = trial.work.orders() {
            let stores: Vec<database::Url> =
                trial.target.store.iter().map(|store| store.url.clone()).collect();
            workload::orders::check(job, &stores).map_err(Failure::usage)?;
        }
    }
    let mut surveyed = Surveyed::default();
    for (paths, jobs) in plan.disk_tests() {
        surveyed.surveys.push((Survey::of(paths, &jobs)?, jobs));
    }
    Ok(surveyed)
}

/// The results directory of this run.
pub(crate) struct ResultsDirectory {
    pub(crate) writer: Writer,
    /// The directory it is in, if this run made that too.
    new_parent: Option<PathBuf>,
    /// Whether this run made it.
    is_new: bool,
}

impl ResultsDirectory {
    /// Makes a directory that holds the study as it was given.
    pub(crate) fn make(study: &Study, parent: &Path) -> Result<Self, Failure> {
        let text = study.to_toml().map_err(Failure::runtime)?;
        let new_parent = (!parent.exists()).then(|| parent.to_owned());
        let writer = Writer::create(parent, &study.slug, Timestamp::now(), &text)
            .context("cannot make the results directory; name another one with --results")
            .map_err(Failure::runtime)?;
        Ok(Self { writer, new_parent, is_new: true })
    }

    /// Removes what was made. What cannot be removed is left: it does no harm.
    fn discard(self) {
        if !self.is_new {
            return;
        }
        let _ = std::fs::remove_dir_all(self.writer.directory());
        let _ = self.new_parent.map(std::fs::remove_dir);
    }
}

/// The failure of a run that measured nothing: its results directory would only be in the way.
pub(crate) fn not_begun(error: RunError, results: Option<ResultsDirectory>, stop: &AtomicBool) -> Failure {
    if let Some(results) = results {
        results.discard();
    }
    if stop.load(Ordering::Relaxed) { Failure::interrupted(error) } else { error.into() }
}

/// Results could not be stored any more: what was measured before is shown all the same.
fn show_what_there_is(directory: &Path, format: Format) {
    if let Ok(study) = results::read(directory) {
        // The error that led here is what is told.
        let _ = show(&Report::of(&study), format);
    }
    tell!("results: {}", directory.display());
}

/// What the runner records of this program.
pub(crate) fn context() -> runner::Context {
    runner::Context {
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        command: std::env::args_os().map(|argument| without_password(&argument.to_string_lossy())).collect(),
        working_directory: std::env::current_dir().ok().map(|path| path.display().to_string()),
    }
}

/// An argument as it may be stored: addresses of databases keep their passwords to themselves.
fn without_password(argument: &str) -> String {
    let (option, value) = match argument.split_once('=') {
        Some((option, value)) if option.starts_with("--") => (format!("{option}="), value),
        _ => (String::new(), argument),
    };
    let address = |text: &str| text.parse::<database::Url>().map(|url| url.to_string());
    // Several addresses are separated by commas.
    let all =
        |text: &str| text.split(',').map(address).collect::<Result<Vec<_>, _>>().map(|all| all.join(","));
    let shown = match all(value) {
        Ok(shown) => shown,
        // What is no address may be one with a slip of the pen, or a password with a comma.
        Err(_) => match (value.split_once("://"), value.rsplit_once('@')) {
            (Some((scheme, _)), Some((_, place))) => format!("{scheme}://…@{place}"),
            _ => value.to_owned(),
        },
    };
    format!("{option}{shown}")
}

/// Reads a results directory, judges it, and writes its report.
pub(crate) fn make_report(directory: &Path) -> Result<Report, Failure> {
    let report = read_report(directory)?;
    write_report(directory, &report)?;
    Ok(report)
}

/// Reads a results directory and judges it.
pub(crate) fn read_report(directory: &Path) -> Result<Report, Failure> {
    Ok(Report::of(&results::read(directory).map_err(Failure::usage)?))
}

/// Writes verdicts and report into a results directory.
pub(crate) fn write_report(directory: &Path, report: &Report) -> Result<(), Failure> {
    let verdicts = serde_json::to_string_pretty(report.verdicts()).map_err(Failure::runtime)?;
    results::write_verdicts(directory, &verdicts).map_err(Failure::runtime)?;
    results::write_report(directory, &report.html()).map_err(Failure::runtime)
}

/// Prints a report in the form that was asked for.
pub(crate) fn show(report: &Report, format: Format) -> Result<(), Failure> {
    let text = match format {
        Format { json: true, .. } => report.json(),
        Format { csv: true, .. } => report.csv(),
        Format { .. } => report.text(terminal_width()),
    };
    print(|out| out.write_all(text.as_bytes()))
}

/// Width of the terminal on stdout; none if it is not one.
pub(crate) fn terminal_width() -> Option<u16> {
    let stdout = io::stdout();
    if !stdout.is_terminal() {
        return None;
    }
    rustix::termios::tcgetwinsize(stdout).ok().map(|size| size.ws_col).filter(|&columns| columns > 0)
}

/// Writes to stdout. A reader that has seen enough is no error.
pub(crate) fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::runtime(anyhow!("cannot write to stdout: {error}")))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_stored_of_no_address() {
        for given in [
            "postgres://a:secret@h1/x,postgres://b:secret@h2/x",
            "--target=sqlite:/a,postgres://b:secret@h/x",
            "postgres://a:se,secret@h/x",
            "--target=mysql://b:secret@h:port/x",
            "sqlite:/a,mysql://b:secret@h:port/x",
        ] {
            let stored = without_password(given);
            assert!(!stored.contains("secret"), "{stored}");
        }
        assert_eq!(without_password("postgres://a:se,secret@h/x"), "postgres://…@h/x");
        assert_eq!(without_password("sqlite:/a,b"), "sqlite:/a,b");
        assert_eq!(without_password("--size=10MB"), "--size=10MB");
        assert_eq!(without_password("--database=a,b"), "--database=a,b");
    }
}
