//! Replays a log: each logged session is a client of its own, whose statements are due when the log has them.

mod player;
mod playing;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use database::{Holder, Lease};
use load::{Go, Progress};
use record::{LeftOut, Offered, Parameter, ReplayInUse, ScriptOutcome, ScriptSetup, Setup, ShapeInUse};

use super::{describe, names};
use crate::TrialError;
use crate::clients::{Clients, Conducted, Drive, Names};
use crate::script::replay::Log;
use crate::script::{Job, Replay};
use crate::waiting::unless_stopped;
use player::Player;
use playing::{Playing, shown};

/// A session connects so long before its first statement is due: connecting is no part of what is replayed.
pub(in crate::script) const CONNECTS_AHEAD_NS: u64 = 1_000_000_000;

/// Why statements are left out that the load does not come to.
const AFTER_END: &str = "due after the end of the load";

/// Replays the log of a job.
pub(super) async fn run(
    job: &Job,
    replay: &Replay,
    (lease, holder): (&Lease, &Holder),
    stop: &AtomicBool,
    on_progress: &mut dyn FnMut(Progress) -> Go,
) -> Result<ScriptOutcome, TrialError> {
    let Some(log) = &replay.log else {
        return Err(TrialError::Load("the log of the job was not read".to_owned()));
    };
    let (playing, counted) = Playing::of(job, replay, log, lease);
    let described = unless_stopped(stop, describe(job, lease, Vec::new())).await;
    let mut setup = described.ok_or(TrialError::Interrupted)??;
    setup.replay = Some(in_use(job, replay, log));
    setup.protocol = replay.protocol.map_or_else(|| "as logged".to_owned(), |_| setup.protocol);
    let playing = Arc::new(playing);
    let clients = Clients::new(job.schedule(), 1, &counted, of_replay(names(job)));
    let clients = Arc::new(clients.with_connections(playing.sessions_at_once()));
    let drive =
        Drive { clients: &clients, server_cpu: None, simulated: false, stop, on_progress: &mut *on_progress };
    let setup: Box<ScriptSetup> = Box::new(setup);
    let conducted = drive.run::<Player>(&playing, Setup::Script(setup)).await?;
    let mut outcome = outcome(&playing, &clients, &conducted);
    if let Ok(database::Held::Lost(found)) = holder.is_held().await {
        outcome.notes.push(found);
    }
    Ok(outcome)
}

/// As many clients as the log has sessions: fewer are had by another log.
fn of_replay(names: Names) -> Names {
    Names { clients: format!("sessions of {}", Parameter::new("workload.script.replay")), ..names }
}

/// What the log was read to, and what of it this load comes to.
fn in_use(job: &Job, replay: &Replay, log: &Log) -> ReplayInUse {
    let mut left_out: Vec<LeftOut> = log.left.clone();
    let [mut statements, mut transactions, mut sessions] = [0; 3];
    for session in &log.sessions {
        let is_due = |at_us: i64| log.due_ns(at_us, replay.speed) < job.phases.end_ns();
        let due = session.statements.iter().filter(|logged| is_due(logged.at_us));
        let (all, begun) =
            due.fold((0, 0), |(all, begun), logged| (all + 1, begun + u64::from(logged.begins)));
        statements += all;
        transactions += begun;
        sessions += u64::from(all > 0);
    }
    if statements < log.statements {
        let count = log.statements - statements;
        left_out.push(LeftOut { why: AFTER_END.to_owned(), count, first_line: 0, is_loss: false });
    }
    let shapes = timed_shapes(log, replay.shapes as usize);
    let of_shapes: u64 = shapes.iter().map(|shape| shape.statements).sum();
    let other_shapes = [(log.shapes.len() - shapes.len()) as u64, log.statements - of_shapes];
    ReplayInUse {
        file: replay.file.display().to_string(),
        format: log.format.to_string(),
        is_recognised: log.is_recognised,
        speed: replay.speed,
        only_database: replay.only_database.clone(),
        on_error: replay.on_error.to_string(),
        whole_seconds: log.is_of_seconds,
        lines: log.lines,
        entries: log.entries,
        statements,
        transactions,
        sessions,
        log_s: (log.last_us - log.first_us) as f64 / 1e6,
        left_out,
        databases: log.databases.clone(),
        backwards: log.backwards,
        first_backwards: log.first_backwards,
        shapes,
        other_shapes,
    }
}

/// The shapes that are timed by themselves.
fn timed_shapes(log: &Log, most: usize) -> Vec<ShapeInUse> {
    let timed = log.shapes_by_count().into_iter().take(most);
    let in_use = |(number, shape): (usize, u32)| ShapeInUse {
        kind: record::replay::replayed_statement(number + 1),
        shape: log.shapes[shape as usize].0.clone(),
        statements: log.shapes[shape as usize].1,
    };
    timed.enumerate().map(in_use).collect()
}

fn outcome(playing: &Playing, all: &Clients, conducted: &Conducted) -> ScriptOutcome {
    let mut outcome = ScriptOutcome::default();
    for (part, measured) in all.parts().iter().zip(&conducted.measured) {
        outcome.failed = measured.counted(record::script::FAILED);
        outcome.stopped = part.take_stopped();
        outcome.outages = part.take_outages();
    }
    let (replayed, unanswered) = playing.outcome(conducted.load_end_ns);
    outcome.unanswered = unanswered;
    outcome.first_failure = replayed.errors.first().map(|errors| shown(&errors.first));
    outcome.unsent = playing.unsent_transactions(conducted.load_end_ns);
    let [from_ns, end_ns] = [playing.warm_up_ns().min(conducted.load_end_ns), conducted.load_end_ns];
    outcome.offered = Some(Offered {
        due: playing.transactions_due(end_ns) - playing.transactions_due(from_ns),
        slots: u64::from(playing.sessions_at_once()),
        ..Offered::default()
    });
    outcome.replay = Some(replayed);
    outcome
}
