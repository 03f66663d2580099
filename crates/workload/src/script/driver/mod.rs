//! Drives scripts: clients on load threads, each on a connection of its own.

mod balances;
mod durability;
mod given;
mod procedures;
mod rehearsal;
mod replay;
mod running;
mod user;

use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, Mutex};

use database::{Error, Holder, Lease};
use load::{Go, Progress, lock};
use record::{
    Parameter, ParametersInUse, ScriptInUse, ScriptOutcome, ScriptSetup, Setup, Workload, clients, script,
};

use super::Job;
use super::program::Program;
use super::settings::Protocol;
use crate::TrialError;
use crate::clients::{Clients, Conducted, Drive, Names};
use crate::waiting::unless_stopped;
use balances::Before;
use procedures::Procedures;

pub use rehearsal::mistakes;

pub(super) use replay::CONNECTS_AHEAD_NS;
use running::{How, LATE, NET_US, Running, Told, sent};
use user::User;

/// Runs what makes tables and rows in a database that was made for the run.
///
/// # Errors
/// Those of the database.
pub async fn make_tables(lease: &Lease, program: &Program) -> Result<(), Error> {
    let Some((file, parts)) = &program.init else { return Ok(()) };
    let mut session = lease.session().await?;
    let is_one = parts.len() == 1;
    for (line, sql) in parts {
        // Where a server is sent all at once it tells the line, or none.
        let place = if is_one { file.clone() } else { format!("{file}:{line}") };
        session.script(sql).await.map_err(|error| error.at(&place))?;
    }
    Ok(())
}

/// Drives scripts until the end of the job, `stop`, or until `on_progress` says so.
///
/// # Errors
/// When the load could not begin. A database that goes away is no error: it is an outage.
pub fn run(
    job: &Job,
    lease: &Lease,
    holder: &Holder,
    stop: &AtomicBool,
    on_progress: &mut dyn FnMut(Progress) -> Go,
) -> Result<ScriptOutcome, TrialError> {
    if let Some(replay) = &job.replay {
        return runtime()?.block_on(replay::run(job, replay, (lease, holder), stop, on_progress));
    }
    let Some(program) = &job.program else {
        return Err(TrialError::Load("the scripts of the job were not read".to_owned()));
    };
    runtime()?.block_on(async {
        let procedures = match job.protocol {
            Protocol::Statements(_) => None,
            Protocol::Procedure => Some(Procedures::made(job, program, lease, stop).await?),
        };
        let ran = drive(job, program, (lease, holder, procedures.as_ref()), stop, on_progress).await;
        let left = match procedures {
            Some(procedures) => procedures.remove(lease).await,
            None => None,
        };
        ran.map(|mut outcome| {
            outcome.notes.extend(left);
            outcome
        })
    })
}

/// Drives scripts whose procedures stand, if they have any.
async fn drive(
    job: &Job,
    program: &Program,
    (lease, holder, procedures): (&Lease, &Holder, Option<&Procedures>),
    stop: &AtomicBool,
    on_progress: &mut dyn FnMut(Progress) -> Go,
) -> Result<ScriptOutcome, TrialError> {
    let dialect = lease.url().engine().dialect();
    let how = match (job.protocol, procedures) {
        (Protocol::Statements(protocol), _) => How::Statements(protocol),
        (Protocol::Procedure, procedures) => {
            How::Calls(procedures.map(|made| made.calls.as_slice()).unwrap_or_default())
        }
    };
    let (mut scripts, counted, recorded) =
        sent(program, (how, dialect), (job.pacing.is_open(), job.latency_limit.is_some()));
    let described = unless_stopped(stop, describe(job, lease, recorded));
    let mut setup = described.await.ok_or(TrialError::Interrupted)??;
    let before = unless_stopped(stop, Before::of(job, lease)).await.ok_or(TrialError::Interrupted)??;
    setup.scale = before.as_ref().map(|before| before.scale);
    let (variables, scale) = (Arc::new(program.names.clone()), setup.scale.unwrap_or(1));
    given::fold(&mut scripts, (&variables, scale), job, program.parameters.as_ref());
    let running = Arc::new(Running {
        job: job.clone(),
        protocol: how.protocol(),
        lease: lease.clone(),
        names: variables,
        scripts,
        scale,
        parameters: program.parameters.clone(),
        next_row: AtomicUsize::new(0),
        told: Mutex::new(Told::default()),
    });
    let clients = Arc::new(Clients::new(job.schedule(), 1, &counted, names(job)));
    let drive =
        Drive { clients: &clients, server_cpu: None, simulated: false, stop, on_progress: &mut *on_progress };
    let conducted = drive.run::<User>(&running, Setup::Script(Box::new(setup))).await?;
    let mut outcome = outcome(&running, &clients, &conducted);
    if let Some(before) = before {
        compare(&before, lease, stop, &mut outcome).await;
    }
    if let Ok(database::Held::Lost(found)) = holder.is_held().await {
        outcome.notes.push(found);
    }
    Ok(outcome)
}

/// What waits for the clients.
fn runtime() -> Result<tokio::runtime::Runtime, TrialError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| TrialError::Load(format!("cannot wait for clients: {error}")))
}

/// What is told under which names.
fn names(job: &Job) -> Names {
    Names {
        clients: Parameter::new("workload.script.clients").to_string(),
        turns: Workload::Script.main(),
        last_100_max: None,
        net_us: NET_US,
        late: job.latency_limit.map(|_| LATE),
        turns_of_part: script::target_transactions,
        tells_silences: true,
    }
}

/// Looks whether the tables of built-in scripts agree.
async fn compare(before: &Before, lease: &Lease, stop: &AtomicBool, outcome: &mut ScriptOutcome) {
    match unless_stopped(stop, before.compared(lease)).await {
        Some(Ok(compared)) => {
            (outcome.balances, outcome.disagreement) =
                compared.map_or((None, None), |(balances, wrong)| (Some(balances), wrong));
        }
        Some(Err(error)) => {
            outcome.notes.push(format!("it is unknown if the balances agree: they cannot be read: {error}"));
        }
        None => outcome.notes.push("it is unknown if the balances agree: the run ended first".to_owned()),
    }
}

async fn describe(job: &Job, lease: &Lease, scripts: Vec<ScriptInUse>) -> Result<ScriptSetup, TrialError> {
    let server = lease.session().await?.server().await?;
    let texts: Vec<&str> = scripts.iter().map(|script| script.text.as_str()).collect();
    let server = durability::as_used(server, &texts);
    Ok(ScriptSetup {
        target: lease.url().to_string(),
        engine: lease.url().engine().name().to_owned(),
        database: lease.name().to_owned(),
        server,
        pacing: job.pacing.recorded(),
        clients: job.clients,
        ramp_rate_per_s: job.ramp_rate,
        latency_limit_ms: job.latency_limit.map(|limit| limit.ns as f64 / 1e6),
        protocol: job.protocol.to_string(),
        tries: job.tries,
        parameters: job.program.as_ref().and_then(|program| {
            let rows = program.parameters.as_ref()?.rows() as u64;
            Some(ParametersInUse { file: job.parameters.as_ref()?.to_string(), rows })
        }),
        defined: job.defined.iter().map(ToString::to_string).collect(),
        scripts,
        replay: None,
        scale: None,
        seed: job.seed,
    })
}

fn outcome(running: &Running, all: &Clients, conducted: &Conducted) -> ScriptOutcome {
    let mut outcome = ScriptOutcome {
        unsent: all.unsent(conducted.load_end_ns),
        offered: all.offered(conducted.load_end_ns),
        ..ScriptOutcome::default()
    };
    for (part, measured) in all.parts().iter().zip(&conducted.measured) {
        outcome.transactions_by_client = part.turns_by_client();
        outcome.retries = measured.counted(clients::RETRIES);
        outcome.failed = measured.counted(script::FAILED);
        outcome.late = measured.counted(script::LATE);
        outcome.skipped = measured.counted(script::SKIPPED);
        outcome.unanswered += u64::from(part.ended_by_mistake());
        outcome.stopped = part.take_stopped();
        outcome.outages = part.take_outages();
        outcome.away_by_client = part.away_by_client();
    }
    let told = std::mem::take(&mut *lock(&running.told));
    let unanswered = outcome.unanswered + told.unanswered;
    let Told { first_failure, first_unmet, unmet, .. } = told;
    ScriptOutcome { first_failure, first_unmet, unmet, unanswered, ..outcome }
}

#[cfg(test)]
mod tests;
