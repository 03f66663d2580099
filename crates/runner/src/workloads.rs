//! The workloads that there are: how each makes its databases ready, runs, and what can be said of it beforehand.

use std::sync::atomic::AtomicBool;

use database::{Claim, Existing, Own};
use load::{Go, Progress, Tell};
use record::{Mark, Outcome, Setup, Window};
use study::{Plan, Trial, WantedDatabase, Work};
use workload::orders::store::Loaded;

use crate::error::RunError;
use crate::judged::Judged;
use crate::targets::{Asked, Targets};
use crate::{disk_trial, historian, orders, register, reporting, script, tables};

/// What can be known beforehand to be wrong with the trials of a plan, without touching what they are run against. Trials become
/// as long as the recordings that they replay.
///
/// # Errors
/// The first that is wrong: it names the parameter, its value and the remedy.
pub fn check(plan: &mut Plan) -> Result<(), workload::TrialError> {
    // Trials that replay one log share it.
    let mut logs = Default::default();
    for trial in &mut plan.trials {
        let databases = trial.databases();
        let urls: Vec<database::Url> = databases.iter().map(|database| database.url.clone()).collect();
        // A server that is started for the study runs on this machine.
        let is_started = |url: &database::Url| {
            databases.iter().any(|database| database.server.is_some() && database.url == *url)
        };
        match &mut trial.work {
            Work::Disk(_) | Work::Register(_) => {}
            Work::Historian(asked) => {
                for url in &urls {
                    asked.job = workload::historian::check(&asked.job, url.engine())?;
                }
            }
            Work::Orders(asked) => workload::orders::check(&asked.job, &urls, &is_started)?,
            Work::Script(asked) => {
                for url in &urls {
                    asked.job = workload::script::check(&asked.job, url.engine().dialect(), &mut logs)?;
                }
            }
            Work::Reporting(asked) => {
                for engine in urls.iter().map(database::Url::engine) {
                    let of = (engine.dialect(), engine.name());
                    workload::reporting::check(&asked.settings, &asked.job, of)?;
                }
            }
            Work::Tables(asked) => {
                for url in &urls {
                    let can_be_killed = is_started(url) || url.engine().is_file();
                    workload::tables::check(&asked.job, url.engine().dialect(), can_be_killed)?;
                }
            }
        }
    }
    Ok(())
}

/// Looks whether a database will be refused to a work, and takes nothing.
pub(crate) async fn look(work: &Work, wanted: &WantedDatabase, claim: &Claim) -> Result<(), RunError> {
    match work {
        Work::Script(asked) if wanted.existing == Existing::AsItIs => {
            script::look(&asked.job, wanted, claim).await
        }
        Work::Disk(_)
        | Work::Historian(_)
        | Work::Script(_)
        | Work::Reporting(_)
        | Work::Register(_)
        | Work::Tables(_) => Ok(orders::look_beside(wanted, claim).await?),
        Work::Orders(asked) => Ok(orders::look(&asked.job, wanted, claim).await?),
    }
}

/// Makes a database ready for a work.
pub(crate) fn ready(
    work: &Work,
    database: &Asked<'_>,
    tell: &mut Tell<'_>,
) -> Result<(Own, Option<Loaded>), RunError> {
    let made = match work {
        Work::Orders(asked) => return orders::ready(&asked.job, database, tell),
        Work::Disk(_) | Work::Historian(_) | Work::Register(_) => database.make(tell),
        Work::Tables(_) => tables::ready(database, tell),
        Work::Script(asked) => script::ready(&asked.job, database, tell),
        Work::Reporting(asked) => reporting::ready(&asked.job, database, tell),
    };
    made.map(|own| (own, None))
}

/// Runs a trial's work where it belongs.
pub(crate) fn run(
    trial: &Trial,
    work: &Work,
    targets: &mut Targets,
    stop: &AtomicBool,
    on_progress: &mut dyn FnMut(Progress) -> Go,
) -> Result<Outcome, String> {
    match work {
        Work::Disk(asked) => disk::run(&asked.job, targets.files_of(trial), stop, on_progress)
            .map(Into::into)
            .map_err(|error| error.to_string()),
        Work::Historian(asked) => historian::run(&asked.job, targets.databases_of(trial), stop, on_progress)
            .map(Into::into)
            .map_err(|error| error.to_string()),
        Work::Orders(asked) => orders::run(&asked.job, (trial, targets), stop, on_progress)
            .map(Into::into)
            .map_err(|error| error.to_string()),
        Work::Script(asked) => script::run(&asked.job, targets.databases_of(trial), stop, on_progress)
            .map(Into::into)
            .map_err(|error| error.to_string()),
        Work::Reporting(asked) => reporting::run(&asked.job, targets.databases_of(trial), stop, on_progress)
            .map(Into::into)
            .map_err(|error| error.to_string()),
        Work::Register(asked) => register::run(&asked.job, targets.databases_of(trial), stop, on_progress)
            .map(Into::into)
            .map_err(|error| error.to_string()),
        Work::Tables(asked) => tables::run(&asked.job, (trial, targets), stop, on_progress)
            .map(Into::into)
            .map_err(|error| error.to_string()),
    }
}

/// What the setup of a trial lacks of what was asked for.
pub(crate) fn remark(setup: &Setup) -> Option<String> {
    setup.disk().and_then(disk_trial::remark)
}

/// Why there was nothing to measure, and the trial is left out: what it is of is not to be had where it ran.
pub(crate) fn left_out(outcome: &Outcome) -> Option<&str> {
    outcome.tables()?.lacks.as_deref()
}

/// What is to be said of a trial that ran, whose latencies are held against this limit in microseconds, if there is one.
pub(crate) fn judged(
    outcome: Outcome,
    setup: Option<&Setup>,
    marks: &[Mark],
    measured: &Window,
    limit_us: Option<f64>,
) -> Judged {
    match outcome {
        Outcome::Disk(outcome) => disk_trial::judged(outcome, measured, limit_us),
        Outcome::Historian(outcome) => historian::judged(outcome, setup, marks, measured),
        Outcome::Orders(outcome) => orders::judged(outcome, setup, marks, measured),
        Outcome::Script(outcome) => script::judged(outcome, setup, marks, measured),
        Outcome::Reporting(outcome) => reporting::judged(outcome, setup, measured),
        Outcome::Register(outcome) => register::judged(outcome, setup, measured),
        Outcome::Tables(outcome) => tables::judged(outcome, marks, measured),
    }
}
