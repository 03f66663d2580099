//! Drives registers: clients on load threads, each writing and reading on a connection of its own, and what their history says.

mod audit;
mod outcome;
mod running;
mod user;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use database::{Error, Holder, Lease};
use load::{Go, Progress};
use record::{Parameter, Preparation, RegisterOutcome, RegisterSetup, Setup, Workload, register};

use super::{Job, store};
use crate::TrialError;
use crate::clients::{Clients, Drive, Names};
use crate::waiting::{telling, unless_stopped, with_grace};
use running::{NET_US, Running, counted};
use user::User;

/// How long the last look at the registers may take once the user asks for an end.
const AUDIT_GRACE: Duration = Duration::from_secs(10);

/// Drives registers until the end of the job, `stop`, or until `on_progress` says so; then reads all of them once more, and checks the
/// history. Whatever the database held of earlier trials is replaced.
///
/// # Errors
/// When the load could not begin. A database that goes away is no error: it is what is measured.
pub fn run(
    job: &Job,
    lease: &Lease,
    holder: &Holder,
    stop: &AtomicBool,
    on_progress: &mut dyn FnMut(Progress) -> Go,
) -> Result<RegisterOutcome, TrialError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| TrialError::Load(format!("cannot wait for clients: {error}")))?;
    runtime.block_on(async {
        let prepared = unless_stopped(stop, prepare(job, lease));
        let setup = prepared.await.ok_or(TrialError::Interrupted)??;
        let running = Arc::new(Running::new(job, lease));
        let clients = Arc::new(Clients::new(job.schedule(), 1, &counted(), names()));
        let drive = Drive {
            clients: &clients,
            server_cpu: None,
            simulated: false,
            stop,
            on_progress: &mut *on_progress,
        };
        let conducted = drive.run::<User>(&running, Setup::Register(Box::new(setup))).await?;
        let mut outcome = RegisterOutcome::default();
        last_look(&running, stop, on_progress, &mut outcome).await;
        let waited_until = running.waited_until(conducted.load_end_ns);
        outcome::add_history(&mut outcome, job, &running.take_history(), &waited_until);
        outcome::add_clients(&mut outcome, &clients, conducted.load_end_ns);
        outcome::marks(&outcome).into_iter().for_each(|mark| _ = on_progress(Progress::Mark(mark)));
        if let Ok(database::Held::Lost(found)) = holder.is_held().await {
            outcome.notes.push(found);
        }
        Ok(outcome)
    })
}

/// Makes the table anew, and tells how all is set up.
async fn prepare(job: &Job, lease: &Lease) -> Result<RegisterSetup, Error> {
    let mut session = lease.session().await?;
    store::create(&mut session).await?;
    let server = session.server().await?;
    let ms = |span: load::Span| span.ns as f64 / 1e6;
    Ok(RegisterSetup {
        target: lease.url().to_string(),
        engine: lease.url().engine().name().to_owned(),
        database: lease.name().to_owned(),
        server,
        pacing: job.pacing.recorded(),
        keys: job.keys,
        clients: job.clients,
        read_share: job.read_share,
        timeout_ms: ms(job.timeout),
        outage_ms: ms(job.outage),
        seed: job.seed,
        expects_losses: job.expects_losses,
    })
}

/// What is told under which names.
fn names() -> Names {
    Names {
        clients: Parameter::new("workload.register.clients").to_string(),
        turns: Workload::Register.main(),
        last_100_max: Some([register::LAST_100_MAX, register::NET_LAST_100_MAX]),
        net_us: NET_US,
        late: None,
        turns_of_part: register::target_operations,
        tells_silences: false,
    }
}

/// Reads all registers once more.
async fn last_look(
    running: &Running,
    stop: &AtomicBool,
    on_progress: &mut dyn FnMut(Progress) -> Go,
    outcome: &mut RegisterOutcome,
) {
    // Nothing was sent: there is nothing to account for.
    let Some(&clock) = running.clock.get() else { return };
    let tell = &mut |at| _ = on_progress(Progress::Preparing(at));
    let reading = Preparation::waiting("reading all registers once more");
    let looked = with_grace(stop, AUDIT_GRACE, telling(tell, reading, audit::audit(running, clock))).await;
    let why = match looked {
        Some(Ok(())) => {
            outcome.is_audited = true;
            return;
        }
        Some(Err(error)) => format!("the registers cannot be read: {error}"),
        None => "the run ended first".to_owned(),
    };
    outcome.notes.push(format!("the fate of the last writes is unknown: {why}"));
}

#[cfg(test)]
mod tests;
