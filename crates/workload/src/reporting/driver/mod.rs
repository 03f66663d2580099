//! Drives a trial of reports: one session that reports, one over which events arrive, each on a thread of its own.

mod arriving;
mod asking;
mod controller;
mod running;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use database::{Error, Holder, Lease};
use load::{Go, Progress, Tell};
use record::{Parameter, Preparation, ReportAnswer, ReportingOutcome, ReportingSetup, Setup};

use super::ask::Question;
use super::data::MessageData;
use super::query::Report;
use super::{Job, cold, store};
use crate::TrialError;
use crate::waiting::unless_stopped;
use controller::Controller;
use running::Running;

/// Asks for the reports of a job until its end, `stop`, or until `on_progress` says so. The messages are there.
///
/// # Errors
/// When it could not begin. A report that is not answered is no error: the outcome says so.
pub fn run(
    job: &Job,
    lease: &Lease,
    holder: &Holder,
    stop: &AtomicBool,
    on_progress: &mut dyn FnMut(Progress) -> Go,
) -> Result<ReportingOutcome, TrialError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| TrialError::Load(format!("cannot wait for reports: {error}")))?;
    runtime.block_on(async {
        let data = Arc::new(job.data());
        let report = job.report(&data);
        let tell = &mut |at| _ = on_progress(Progress::Preparing(at));
        let preparing = prepare(job, (&data, &report), lease, tell);
        let setup = unless_stopped(stop, preparing).await.ok_or(TrialError::Interrupted)??;
        let running = Arc::new(running(job, data, &report, lease)?);
        play(&running, setup, stop, on_progress).await?;
        let mut outcome = running.outcome();
        if job.arrivals.is_open() {
            settle(&running, lease, stop, &mut outcome).await;
        }
        if let Ok(database::Held::Lost(found)) = holder.is_held().await {
            outcome.notes.push(found);
        }
        Ok(outcome)
    })
}

fn running(job: &Job, data: Arc<MessageData>, report: &Report, lease: &Lease) -> Result<Running, TrialError> {
    let dialect = lease.url().engine().dialect();
    let question = Question::of(report, &data, dialect, job.access).ok_or_else(|| {
        let access = Parameter::new("workload.reporting.access").of(job.access.name());
        TrialError::Load(format!("{access}: {} has no procedures", lease.url().engine().name()))
    })?;
    Ok(Running::new(job.clone(), lease.clone(), data, question))
}

/// Looks at the server, brings the messages back to those that were loaded, computes what the report has to answer, and makes a file
/// cold.
async fn prepare(
    job: &Job,
    (data, report): (&MessageData, &Report),
    lease: &Lease,
    tell: &mut Tell<'_>,
) -> Result<ReportingSetup, TrialError> {
    let (server, sizes) = {
        let mut session = lease.session().await?;
        // Of a trial that was killed.
        if store::arrived(&mut session, data.events()).await? > 0 {
            store::forget_arrived(&mut session, data.events()).await?;
        }
        (session.server().await?, session.sizes().await?)
    };
    tell(Preparation::waiting("computing what the report has to answer"));
    let expected = report.expected(data);
    let cold = match lease.url().file().filter(|_| job.cold_file) {
        Some(file) => Some(cold::forget(file)?),
        None => None,
    };
    Ok(ReportingSetup {
        target: lease.url().to_string(),
        engine: lease.url().engine().name().to_owned(),
        database: lease.name().to_owned(),
        server,
        events: data.events(),
        data_seed: data.standing().seed,
        days: data.standing().days,
        subject_bytes: data.standing().subject_bytes,
        messages: report.messages.end - report.messages.start,
        department: report.department.to_string(),
        classification: report.classification.to_string(),
        result: report.result.name().to_owned(),
        access: job.access.name().to_owned(),
        runs: job.runs,
        arrivals_per_s: job.arrivals.rate_per_s(),
        cold,
        expected: ReportAnswer { rows: expected.rows, sum: expected.sum },
        data_bytes: sizes.database_bytes,
        seed: job.seed,
    })
}

async fn play(
    running: &Arc<Running>,
    setup: ReportingSetup,
    stop: &AtomicBool,
    on_progress: &mut dyn FnMut(Progress) -> Go,
) -> Result<(), TrialError> {
    let mut threads = running::start(running)?;
    unless_stopped(stop, threads.ready()).await.unwrap_or(Err(TrialError::Interrupted))?;
    let go = on_progress(Progress::SetUp(Setup::Reporting(Box::new(setup))));
    let clock = threads.begin();
    let watch = clock.watch(false)?;
    let mut controller = Controller::new(running, threads.makers(), (clock, watch), stop, on_progress);
    if go == Go::Stop {
        controller.stop(0);
    }
    controller.conduct(&mut threads).await
}

/// Counts what arrived, and takes it away, so that the next trial finds the messages that were loaded.
async fn settle(running: &Running, lease: &Lease, stop: &AtomicBool, outcome: &mut ReportingOutcome) {
    let events = running.data.events();
    let counting = async {
        let mut session = lease.session().await?;
        let found = store::arrived(&mut session, events).await?;
        store::forget_arrived(&mut session, events).await?;
        Ok::<u64, Error>(found)
    };
    match unless_stopped(stop, counting).await {
        Some(Ok(found)) => outcome.events_found = Some(found),
        Some(Err(error)) => {
            outcome.notes.push(format!("Events that arrived could not be counted and deleted: {error}."));
        }
        None => {}
    }
}

#[cfg(test)]
mod tests;
