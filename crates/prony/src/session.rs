//! A study from its plan to its report: what all commands that measure share.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context as _, anyhow};
use disk::Survey;
use jiff::Timestamp;
use record::{
    AttachedCluster, Event, Labels, Lines, Manifest, Percentiles, StartedServer, State,
    value_without_password,
};
use report::Report;
use results::{Archive, Writer};
use runner::{Resume, RunError, Settled};
use study::{Plan, Stop, Study};

use crate::arguments::{Format, Output};
use crate::documents::Documents;
use crate::exit::{Exit, Failure};
use crate::progress::Progress;
use crate::{commands, config, interrupt, laboratory, memory, space, terminal};

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
    let labels = output.called.labels()?;
    let prints = if tells { output.format.prints() } else { Some("--compat") };
    let documents = &Documents::of(&output.documents, None, prints)?;
    let mut study = study.clone();
    study.percentiles = output.percentiles.clone().or(study.percentiles);
    let study = &study;
    let mut plan = Plan::of(study).map_err(Failure::usage)?;
    // Before anything is touched: mistakes end here and leave no results directory.
    memory::check_plan(&plan)?;
    space::check_plan(study, &plan)?;
    laboratory::within(study, |lab| {
        let survey = survey(study, &mut plan)?;
        let context = runner::Context { lab: lab.cloned(), ..context(labels.clone())? };
        runner::look_at_databases(&plan)?;
        runner::look_at_targets(&plan, &context.run)?;
        plan.notes.iter().for_each(|note| announce!("{note}"));
        commands::plan_summary(study, &plan, &survey).iter().for_each(|line| announce!("{line}"));
        drop(survey);
        let stop = interrupt::flag_on_signal()?;
        let results = ResultsDirectory::make(study, &labels, &output.results)?;
        let format = output.format;
        let conducted =
            Conducted { study, context, plan: &plan, resume: None, stop: &stop, format, documents, tells };
        conduct(&conducted, results, lines)
    })
}

/// Takes up an interrupted study again, and prints its report.
pub(crate) fn resume(directory: &Path, format: Format, documents: &Documents) -> Result<Exit, Failure> {
    // The study's paths are from where it was begun, and that one's from here.
    let directory = &std::path::absolute(directory).map_err(Failure::runtime)?;
    let archive = Archive::open(directory).map_err(Failure::usage)?;
    // Read once more when nobody else can write to it; this one is for what is no results directory.
    archive.read().map_err(Failure::usage)?;
    let mut writer = Writer::reopen(&archive).map_err(Failure::runtime)?;
    let record = archive.read().map_err(Failure::usage)?;
    if record.study_toml.trim().is_empty() {
        let directory = directory.display();
        return Err(Failure::usage(anyhow!(
            "{directory}: study.toml is missing. Restore it from a copy, or run the study again"
        )));
    }
    enter_working_directory(record.manifest.working_directory.as_deref())?;
    let study = Study::from_toml(&record.study_toml).map_err(Failure::usage)?;
    let mut plan = Plan::of(&study).map_err(Failure::usage)?;
    let damage = record.damage.clone();
    let resume = Resume::of(&plan, record)
        .map_err(|error| Failure::usage(anyhow!("{}: {error}", directory.display())))?;
    memory::check_plan(&plan)?;
    // A trial that had come to its end and cannot be read is measured again, and nobody would know why.
    damage.iter().for_each(|sentence| tell!("{}: {sentence}", directory.display()));
    laboratory::within(&study, |lab| {
        drop(survey(&study, &mut plan)?);
        // It keeps what it was called.
        let context = runner::Context { lab: lab.cloned(), ..context(Labels::default())? };
        runner::look_again(&plan, &resume, &context.run)?;
        tell_commands(&study);
        announce!("{}: {}", study.title, left(&plan, &resume));
        let stop = interrupt::flag_on_signal()?;
        writer.keep(resume.kept_trials());
        let conducted = Conducted {
            study: &study,
            context,
            plan: &plan,
            resume: Some(&resume),
            stop: &stop,
            format,
            documents,
            tells: true,
        };
        conduct(&conducted, ResultsDirectory { writer }, &mut |_| String::new())
    })
}

/// `2 of 4 trials left, 1 of them unfinished (measured again; the partial data is set aside)`.
fn left(plan: &Plan, resume: &Resume) -> String {
    let again = match resume.set_aside().len() {
        0 => String::new(),
        number => {
            format!(", {number} of them unfinished (measured again; the partial data is set aside)")
        }
    };
    let at_most = if plan.stop == Stop::WhenSettled { "at most " } else { "" };
    let left = match (resume.trials(), plan.trials.len()) {
        (1, 1) => "1 trial left".to_owned(),
        (1, of) => format!("1 of {of} trials left"),
        (left, of) => format!("{left} of {of} trials left"),
    };
    format!("{at_most}{left}{again}")
}

/// Says what will be run besides the load: the study may be somebody else's, who wrote it into their results directory.
fn tell_commands(study: &Study) {
    for (when, command) in [("before", &study.before), ("after", &study.after)] {
        if let Some(command) = command {
            // Also of a run that is to be quiet: what a shell is to run is known before it does.
            tell!("this study runs a command {when} each trial: {command:?}");
        }
    }
}

/// Goes where a study was begun, so that its paths mean the same.
fn enter_working_directory(begun_in: Option<&str>) -> Result<(), Failure> {
    let Some(begun_in) = begun_in else { return Ok(()) };
    std::env::set_current_dir(begun_in)
        .with_context(|| {
            format!(
                "cannot enter {begun_in}, the directory in which the study was started. The paths of the study are relative to this \
                directory; create it again"
            )
        })
        .map_err(Failure::usage)
}

/// What is run, and how it is told.
struct Conducted<'a> {
    study: &'a Study,
    /// What the runner records of this program.
    context: runner::Context,
    plan: &'a Plan,
    resume: Option<&'a Resume>,
    stop: &'a Arc<AtomicBool>,
    format: Format,
    documents: &'a Documents,
    tells: bool,
}

fn conduct(
    conducted: &Conducted<'_>,
    mut results: ResultsDirectory,
    lines: &mut dyn FnMut(&Event) -> String,
) -> Result<Exit, Failure> {
    let &Conducted { study, ref context, plan, resume, stop, format, documents, tells } = conducted;
    let mut progress = Progress::of(study, plan, resume);
    let mut printed = Ok(());
    let measured = results.writer.archive().clone();
    let mut look = || look(&measured);
    let result = runner::run(study, plan, resume, context, stop, &mut look, &mut |event| {
        progress.show(event);
        let lines = lines(event);
        // What nobody can read any more is measured and stored all the same.
        if !lines.is_empty() && printed.is_ok() {
            printed = terminal::print(&Lines::of(&lines));
        }
        results.writer.accept(event).map_err(Into::into)
    });
    progress.finish();
    let archive = results.writer.archive().clone();
    match result {
        Ok(manifest) => tell_failure(&manifest),
        Err(error @ RunError::Listener(_)) => {
            show_what_there_is(&archive, format);
            return Err(error.into());
        }
        Err(error) => return Err(not_begun(error, Some(results), stop)),
    }
    // Another program may go on with it from here.
    drop(results);
    let report = read_report(&archive, None)?;
    // A disk that is full keeps nobody from seeing the figures.
    let shown = printed.and_then(|()| if tells { show(&report, format, documents) } else { Ok(()) });
    let exit = write_shown(&report, &archive, documents, shown, stop.load(Ordering::Relaxed));
    if report.state != State::Complete && plan.trials.len() > 1 {
        tell!("to continue: prony study resume {}", archive.path().display());
    }
    exit
}

/// Judges what is stored so far of a study that ends once all is settled.
fn look(archive: &Archive) -> Result<Settled, Box<dyn std::error::Error + Send + Sync>> {
    let report = Report::of(&archive.read()?);
    let looks = report.comparison.as_ref().and_then(|comparison| comparison.looks.as_ref());
    let none = Settled { settled: 0, comparisons: 0 };
    Ok(looks.map_or(none, |looks| Settled { settled: looks.settled, comparisons: looks.comparisons }))
}

/// Says why a study that ran failed as a whole, such as that a database could not be removed.
fn tell_failure(manifest: &Manifest) {
    if let (State::Failed, Some(reason)) = (manifest.state, &manifest.reason) {
        tell!("failed: {reason}");
    }
}

/// Writes a report that was shown, or was to be: stdout may be full or gone, and the page is wanted all the more then.
/// Whoever ended the run by closing the terminal `has_stopped` it, and is told no other end.
pub(crate) fn write_shown(
    report: &Report,
    archive: &Archive,
    documents: &Documents,
    shown: Result<(), Failure>,
    has_stopped: bool,
) -> Result<Exit, Failure> {
    let told = documents.of_run(report);
    if told.is_err() {
        tell!(
            "the results are stored. To write them to another file: prony report {}",
            archive.path().display()
        );
    }
    let shown = match (shown, told) {
        (Ok(()), told) => told,
        (Err(failure), told) => Err(failure.and(told)),
    };
    let written = write_report(archive, report);
    if written.is_ok() {
        announce!("report: {}", archive.path().join("report.html").display());
    }
    match shown {
        Err(failure) if has_stopped && written.is_ok() => {
            failure.lines().iter().for_each(|line| tell!("{line}"));
            Ok(Exit::Interrupted)
        }
        Err(failure) => Err(failure.and(written)),
        Ok(()) => written.map(|()| Exit::told(report)),
    }
}

/// What the disk tests of a plan would find, by the paths that they load.
#[derive(Debug, Default)]
pub(crate) struct Surveyed {
    surveys: Vec<(Survey, Vec<disk::Job>)>,
    /// Servers that would be started, each once.
    pub(crate) servers: Vec<StartedServer>,
    /// Clusters of others that would be loaded.
    pub(crate) clusters: Vec<AttachedCluster>,
    /// The laboratory that is made for it.
    pub(crate) lab: Option<record::Laboratory>,
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

/// Looks at what a plan is run against, and touches nothing. Mistakes that can be known beforehand are found here, and how long
/// recordings are.
pub(crate) fn survey(study: &Study, plan: &mut Plan) -> Result<Surveyed, Failure> {
    runner::check(plan).map_err(Failure::usage)?;
    let lab = study.lab.as_ref();
    let mut surveyed = Surveyed {
        servers: runner::planned_servers(plan)?,
        clusters: runner::planned_clusters(plan),
        lab: lab.map(runner::planned_laboratory),
        ..Surveyed::default()
    };
    laboratory::told_of(study, &mut surveyed.servers);
    // What is only planned is not there yet.
    let is_there = |path: &PathBuf| lab.is_none_or(|lab| !lab.holds(path) || path.exists());
    for (paths, jobs) in plan.disk_tests().into_iter().filter(|(paths, _)| paths.iter().all(is_there)) {
        surveyed.surveys.push((Survey::of(paths, &jobs)?, jobs));
    }
    Ok(surveyed)
}

/// The results directory of this run.
pub(crate) struct ResultsDirectory {
    pub(crate) writer: Writer,
}

impl ResultsDirectory {
    /// Makes a directory that holds the study as it was given.
    pub(crate) fn make(study: &Study, labels: &Labels, parent: &Path) -> Result<Self, Failure> {
        let text = study.to_toml().map_err(Failure::runtime)?;
        let writer = Writer::create(parent, &study.slug, labels.name.as_deref(), Timestamp::now(), &text)
            .context("cannot create the results directory (choose another with --results)")
            .map_err(Failure::runtime)?;
        Ok(Self { writer })
    }
}

/// The failure of a run that measured nothing: its results directory would only be in the way.
pub(crate) fn not_begun(error: RunError, results: Option<ResultsDirectory>, stop: &AtomicBool) -> Failure {
    if let Some(results) = results {
        results.writer.discard();
    }
    if stop.load(Ordering::Relaxed) { Failure::interrupted(error) } else { error.into() }
}

/// Results could not be stored any more: what was measured before is shown all the same.
fn show_what_there_is(archive: &Archive, format: Format) {
    if let Ok(study) = archive.read() {
        // The error that led here is what is told.
        let _ = show(&Report::of(&study), format, &Documents::default());
    }
    tell!("results: {}", archive.path().display());
}

/// What the runner records of this program.
pub(crate) fn context(labels: Labels) -> Result<runner::Context, Failure> {
    Ok(runner::Context {
        run: database::RunId::new()
            .context("cannot create an identity for this run: the system returned no random numbers")
            .map_err(Failure::runtime)?,
        // Without /proc nobody knows; a server whose limits are to be proved by it says so then.
        program: std::env::current_exe().unwrap_or_default(),
        lab: None,
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        labels,
        // As it came to be: what a file of defaults adds is given by it.
        command: std::env::args_os().map(stored).chain(config::taken().iter().cloned()).collect(),
        working_directory: std::env::current_dir().ok().map(|path| path.display().to_string()),
    })
}

/// An argument as it may be stored: addresses of databases keep their passwords to themselves.
fn stored(argument: std::ffi::OsString) -> String {
    value_without_password(&argument.to_string_lossy()).into_owned()
}

/// Reads a results directory, judges it, and writes its report.
pub(crate) fn make_report(archive: &Archive) -> Result<Report, Failure> {
    let report = read_report(archive, None)?;
    write_report(archive, &report)?;
    Ok(report)
}

/// Reads a results directory and judges it, with these percentiles in place of those that the study shows.
pub(crate) fn read_report(archive: &Archive, percentiles: Option<&Percentiles>) -> Result<Report, Failure> {
    let report = Report::of(&archive.read_with(percentiles, &[]).map_err(Failure::usage)?);
    // Whoever reads of it is perhaps elsewhere.
    let directory = std::path::absolute(archive.path()).map_err(Failure::runtime)?;
    Ok(report.stored_in(&directory))
}

/// Writes verdicts and report into a results directory.
pub(crate) fn write_report(archive: &Archive, report: &Report) -> Result<(), Failure> {
    // The headline first, which a list of runs shows.
    let headline = report.headline();
    let stored: Vec<&report::Verdict> = std::iter::once(&headline).chain(report.verdicts()).collect();
    let verdicts = serde_json::to_string_pretty(&stored).map_err(Failure::runtime)?;
    archive.write_verdicts(&verdicts).map_err(Failure::runtime)?;
    archive.write_report(&report.html()).map_err(Failure::runtime)
}

/// Prints a report in the form that was asked for, unless a document is printed in its place.
pub(crate) fn show(report: &Report, format: Format, documents: &Documents) -> Result<(), Failure> {
    match format {
        _ if documents.is_printed() => Ok(()),
        Format { json: true, .. } => terminal::print_json(&report.json()),
        Format { csv: true, .. } => terminal::print_file(report.csv().as_bytes()),
        _ if format.wants_details() => show_details(report),
        Format { .. } => terminal::print(&report.brief(terminal::width())),
    }
}

/// All tables and sentences, and charts where somebody looks at them: what is kept has a page beside it.
fn show_details(report: &Report) -> Result<(), Failure> {
    let width = terminal::width();
    terminal::print(&report.text(width))?;
    let courses = width.and_then(|width| report.courses(width, terminal::letters()));
    courses.map_or(Ok(()), |courses| terminal::print(&courses))
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
            let stored = stored(given.into());
            assert!(!stored.contains("secret"), "{stored}");
        }
        assert_eq!(stored("postgres://a:se,secret@h/x".into()), "postgres://a:…@h/x");
        assert_eq!(stored("sqlite:/a,b".into()), "sqlite:/a,b");
        assert_eq!(stored("--size=10MB".into()), "--size=10MB");
        assert_eq!(value_without_password("--database=a,b"), "--database=a,b");
    }
}
