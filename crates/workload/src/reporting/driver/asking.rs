//! Asks for one report after the other.

use std::time::{Duration, Instant};

use database::Session;
use load::Completed;
use record::{QueryPlan, ReportAnswer, ReportRun, ReportingOutcome};
use tokio::time::timeout;

use super::running::{FIRST_REPORT, REPORT, Running};
use crate::clock::Clock;
use crate::reporting::ask::{Access, Answered};
use crate::reporting::plan;

/// The first report and those after it, until one is not answered or the load is over.
pub(super) async fn run(running: &Running, clock: Clock, mut session: Session) {
    tokio::select! {
        biased;
        () = running.load_over.wait() => {}
        () = clock.until(running.job.phases.warm_up.ns) => {}
    }
    let mut plans = Plans::default();
    for number in 0..=running.job.runs {
        if running.load_over.is_set() {
            break;
        }
        let mut run = match once(running, clock, &mut session, number == 0).await {
            Ok(run) => run,
            Err(failure) => {
                running.tell(|outcome| outcome.failure = Some(failure));
                break;
            }
        };
        plans.look(running, &mut session, &mut run).await;
        running.tell(|outcome| outcome.runs.push(run));
    }
    running.recorder.end_load(clock.now_ns());
    running.load_over.set();
    running.told.wait().await;
}

/// Asks once. Gives why there was no answer, if so.
async fn once(
    running: &Running,
    clock: Clock,
    session: &mut Session,
    is_first: bool,
) -> Result<ReportRun, String> {
    let (sent_ns, sent) = (clock.now_ns(), Instant::now());
    let limit = running.job.time_limit;
    let asking = running.question.ask(session);
    let answered = timeout(Duration::from_nanos(limit.ns), asking).await;
    let now_ns = clock.now_ns();
    let answered = answered
        .map_err(|_| {
            let parameter = record::Parameter::new("workload.reporting.time_limit");
            format!("no answer within {limit} ({parameter})")
        })?
        .map_err(|error| error.to_string())?;
    let Answered { answer, first_row } = answered;
    let kind = if is_first { FIRST_REPORT } else { REPORT };
    let mut recording = running.recorder.at(now_ns);
    recording.complete(now_ns, Completed { kind, due_ns: None, sent_ns, bytes: 0 });
    recording.read_rows(kind, answer.rows);
    drop(recording);
    if is_first {
        running.recorder.begin_window(now_ns);
    }
    Ok(ReportRun {
        begin_s: sent_ns as f64 / 1e9,
        took_s: now_ns.saturating_sub(sent_ns) as f64 / 1e9,
        first_row_s: first_row.map(|at| at.saturating_duration_since(sent).as_secs_f64()),
        answer: ReportAnswer { rows: answer.rows, sum: answer.sum },
        plan: None,
    })
}

/// Looks by which plan each report was run, as long as the server tells.
#[derive(Debug, Default)]
struct Plans {
    is_over: bool,
    is_proviso_told: bool,
}

impl Plans {
    async fn look(&mut self, running: &Running, session: &mut Session, run: &mut ReportRun) {
        if self.is_over {
            return;
        }
        match plan::plan(session, &running.question).await {
            Ok(Some(plan)) => {
                running.tell(|outcome| run.plan = Some(index_of(outcome, plan)));
                let proviso = plan::proviso(session.dialect(), running.question.access);
                if let Some(proviso) = proviso.filter(|_| !std::mem::replace(&mut self.is_proviso_told, true))
                {
                    running.tell(|outcome| outcome.notes.push(proviso.to_owned()));
                }
            }
            Ok(None) => self.tell_none(running, ""),
            Err(error) => self.tell_none(running, &format!(": {error}")),
        }
    }

    fn tell_none(&mut self, running: &Running, why: &str) {
        self.is_over = true;
        let of = match running.question.access {
            Access::Statement => "the report",
            Access::Procedure => "what its procedure runs",
        };
        running.tell(|outcome| {
            outcome.notes.push(format!("The plan of {of} is unknown: the server does not report it{why}."))
        });
    }
}

/// Where a plan stands among those of a trial, to which it is added if it is new.
fn index_of(outcome: &mut ReportingOutcome, plan: QueryPlan) -> usize {
    let known = outcome.plans.iter().position(|known| known.hash == plan.hash);
    known.unwrap_or_else(|| {
        outcome.plans.push(plan);
        outcome.plans.len() - 1
    })
}
