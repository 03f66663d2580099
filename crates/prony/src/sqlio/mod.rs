//! `prony sqlio`: SQLIO's options in, SQLIO's layout out, prony's engine and records between.
//!
//! What it cannot do as SQLIO did is refused or said in one line on stderr.

mod arguments;
mod command_line;
mod cpu_use;
mod layout;
mod options;
mod parameter_file;
mod test;

use std::ffi::OsString;
use std::path::Path;

use load::Size;
use record::{Event, Interval, Labels, Phase, Setup, State, Window, Workload, Written};
use runner::RunError;
use study::Plan;

use crate::exit::{Exit, Failure};
use crate::session::ResultsDirectory;
use crate::{interrupt, memory, session, terminal};
use cpu_use::Reading;
use layout::{Figures, LatencyFigures};
use options::{Extensions, Invocation, Parsed, Results};
use test::Test;

/// Runs SQLIO's command line, without the program's name.
pub(crate) fn run(arguments: &[OsString]) -> Result<Exit, Failure> {
    let parsed = command_line::parse(arguments).map_err(|errors| Failure::mistakes(errors.lines()))?;
    match parsed {
        Parsed::Help => {
            terminal::print_file(options::HELP.as_bytes())?;
            Ok(Exit::Pass)
        }
        Parsed::Test(invocation) => run_test(*invocation),
    }
}

fn run_test(invocation: Invocation) -> Result<Exit, Failure> {
    let Invocation { options, extensions, notices } = invocation;
    let labels = labels(&extensions)?;
    let test = Test::of(options, &extensions)?;
    for notice in notices.iter().chain(&test.notices) {
        tell!("sqlio: {notice}");
    }
    let mut plan = Plan::of(&test.study).map_err(Failure::usage)?;
    memory::check_plan(&plan)?;
    let survey = session::survey(&test.study, &mut plan)?;
    for line in crate::commands::plan_summary(&test.study, &plan, &survey).iter().skip(1) {
        tell!("sqlio: {line}");
    }
    drop(survey);
    let stop = interrupt::flag_on_signal()?;
    let mut results = results_directory(&test, &labels, &extensions.results)?;
    let mut measured = Measured::nothing();
    let result = runner::run(
        &test.study,
        &plan,
        None,
        &session::context(labels)?,
        &stop,
        &mut runner::no_look,
        &mut |event| {
            measured.take(&test, event);
            results.as_mut().map_or(Ok(()), |results| results.writer.accept(event)).map_err(Into::into)
        },
    );
    let state = match result {
        Ok(manifest) => manifest.state,
        Err(error @ RunError::Listener(_)) => return Err(error.into()),
        Err(error) => return Err(session::not_begun(error, results, &stop)),
    };
    // A parser takes what follows for a result, which a failed test is not.
    if measured.failure.is_none() {
        let figures = measured.figures(&test);
        let text = layout::cumulative_data(&figures, test.options.block_kb);
        measured.print(&text);
    }
    if let Some(results) = results {
        let archive = results.writer.archive();
        session::make_report(archive)?;
        tell!("sqlio: report: {}", archive.path().join("report.html").display());
    }
    match (state, measured.failure) {
        (State::Aborted, _) => Ok(Exit::Interrupted),
        (_, Some(reason)) => Err(Failure::runtime(anyhow::anyhow!(reason)).and(measured.printed)),
        (_, None) => measured.printed.map(|()| Exit::Pass),
    }
}

/// What the run is called, where anything is stored of it.
fn labels(extensions: &Extensions) -> Result<Labels, Failure> {
    let labels = Labels::new(extensions.name.as_ref(), &extensions.tags).map_err(Failure::usage)?;
    let labels = labels.described(extensions.title.as_ref(), extensions.comment.as_ref());
    if extensions.results == Results::Discarded && labels != Labels::default() {
        return Err(Failure::usage(anyhow::anyhow!(
            "--name, --tag, --title and --comment have no effect with --no-results, which stores nothing. Remove them \
             or --no-results"
        )));
    }
    Ok(labels)
}

fn results_directory(
    test: &Test,
    labels: &Labels,
    results: &Results,
) -> Result<Option<ResultsDirectory>, Failure> {
    let parent = match results {
        Results::Usual => Path::new("prony-results"),
        Results::Under(directory) => directory,
        Results::Discarded => return Ok(None),
    };
    ResultsDirectory::make(&test.study, labels, parent).map(Some)
}

/// What SQLIO prints of a test, gathered while it runs.
struct Measured {
    window: Window,
    /// The processors before the load and at the end of its last measured second.
    cpus: Option<(Reading, Reading)>,
    failure: Option<String>,
    printed: Result<(), Failure>,
}

impl Measured {
    fn nothing() -> Self {
        let window = Window::new(Workload::Disk.main());
        Self { window, cpus: None, failure: None, printed: Ok(()) }
    }

    /// SQLIO's layout holds tabs; the names in it are such as may be shown. A stdout that is full or gone is told in the end.
    fn print(&mut self, text: &str) {
        if self.printed.is_ok() {
            self.printed = terminal::print_file(text.as_bytes());
        }
    }

    fn take(&mut self, test: &Test, event: &Event) {
        match event {
            Event::TrialSetUp { setup: Setup::Disk(setup), .. } => {
                warn(setup.engine_fallback.as_deref(), &setup.written);
                let head = layout::head(&test.setup());
                self.print(&head);
                let now = Reading::now();
                self.cpus = Some((now.clone(), now));
            }
            Event::Interval { interval, .. } => self.interval(interval),
            Event::TrialFinished(trial) if trial.state == State::Failed => {
                self.failure.clone_from(&trial.reason);
            }
            _ => {}
        }
    }

    fn interval(&mut self, interval: &Interval) {
        self.window.add(interval);
        if let (Phase::Measure, Some((_, last))) = (interval.phase, &mut self.cpus) {
            *last = Reading::now();
        }
    }

    fn figures(&self, test: &Test) -> Figures {
        let operations = self.window.operations();
        Figures {
            ios: operations.count,
            elapsed_us: (self.window.seconds() * 1e6).round() as u64,
            latency: test
                .options
                .latency
                .then(|| LatencyFigures::from_cells(operations.service.cells()))
                .flatten(),
            cpu: test.options.cpu_use.and_then(|wanted| {
                let (before, last) = self.cpus.as_ref()?;
                last.since(before, wanted)
            }),
        }
    }
}

/// What makes the figures others than the options say.
fn warn(engine_fallback: Option<&str>, written: &Written) {
    if let Some(fallback) = engine_fallback {
        tell!("sqlio: {fallback}");
    }
    if let Written::Holes { bytes } = written {
        let bytes = Size(*bytes);
        tell!(
            "sqlio: warning: {bytes} of the data to read has never been written. Such reads do not reach the medium, so the figures \
            do not describe the disk. Overwrite the file first"
        );
    }
}
