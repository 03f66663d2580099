//! One client: a script at each turn.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use database::{Answer, Error, Protocol, Session, Value, Wanted};
use load::{Completed, lock};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::given::{default_seed, of_client};
use super::running::{FAILED, RETRY, Running, Sent, SentStatement, TRANSACTION, UNMET};
use crate::clients::{Client, Counting, Done, Place};
use crate::clock::Clock;
use crate::script::language::{
    self, Chance, Command, Statement, Step, Variables, Wrong, as_expected, is_name,
};

/// Why no command may want a result within a pipeline.
const NO_RESULT: &str =
    "results are not available within a pipeline: put the statement before or after the pipeline";

/// What all clients share, held once more by each: a count of holders that all threads change would be in their way.
#[derive(Debug)]
struct Shared(Arc<Running>);

impl Deref for Shared {
    type Target = Running;

    fn deref(&self) -> &Running {
        &self.0
    }
}

/// One client.
#[derive(Debug)]
pub(super) struct User {
    running: Arc<Shared>,
    session: Session,
    variables: Variables,
    chance: Chance,
    /// For which script comes next.
    draw: Xoshiro256PlusPlus,
    /// Values of the statement that is sent.
    values: Vec<Value>,
    /// Whether a transaction was begun that did not end.
    is_under_way: bool,
    /// Of each script, whether it was seen to end what it begins.
    ends: Vec<bool>,
    /// Statements of the pipeline that is open: the place of each in its script, and when it was put in.
    pipeline: Option<Vec<(usize, u64)>>,
}

/// What a script came to.
#[derive(Clone, Copy, Debug, Default)]
struct Ran {
    /// Whether it did not find what it expects.
    is_unmet: bool,
    /// When its last command was answered, if that was a statement.
    ended_ns: Option<u64>,
}

impl Client for User {
    type Load = Running;
    /// The script.
    type Turn = usize;
    const WAITS_FOR_LINES: bool = true;
    const DRAWS_NOTHING: bool = true;

    async fn connect(load: &Arc<Running>, place: Place) -> Result<Self, Error> {
        let running = Arc::new(Shared(Arc::clone(load)));
        let session = running.session().await?;
        let seed = running.job.seed ^ u64::from(place.client).wrapping_add(1).rotate_left(17);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let draw = Xoshiro256PlusPlus::seed_from_u64(random.next_u64());
        let variables = of_client(&running.job, (&running.names, running.scale), place.client);
        let chance = Chance { default_seed: default_seed(&running.job), random };
        let ends = vec![false; running.scripts.len()];
        Ok(Self {
            running,
            session,
            variables,
            chance,
            draw,
            values: Vec::new(),
            is_under_way: false,
            ends,
            pipeline: None,
        })
    }

    fn next(&mut self) -> (usize, usize) {
        (TRANSACTION, drawn(&self.running.scripts, self.draw.next_u64()))
    }

    async fn once(&mut self, script: usize, counting: Counting<'_>) -> Result<Done, Error> {
        let running = Arc::clone(&self.running);
        let sent = &running.scripts[script];
        let sent_ns = sent.kind.map(|_| counting.clock.now_ns());
        self.take_row(&running);
        self.is_under_way = true;
        let mut done = self.tried(sent, counting).await;
        if done.is_ok() && !std::mem::replace(&mut self.ends[script], true) {
            done = self.check_end(sent).await.and(done);
        }
        self.is_under_way = done.as_ref().is_err_and(Error::is_lost);
        let done = done?;
        if let Some((kind, sent_ns)) = sent.kind.zip(sent_ns) {
            let now_ns = done.ended_ns.unwrap_or_else(|| counting.clock.now_ns());
            let mut recording = counting.recorder.at(now_ns);
            match done.is_failed {
                true => recording.fail(kind, 1),
                false => recording.complete(now_ns, Completed { kind, due_ns: None, sent_ns, bytes: 0 }),
            }
        }
        Ok(done)
    }

    fn lost(&mut self) {
        if std::mem::take(&mut self.is_under_way) {
            lock(&self.running.told).unanswered += 1;
        }
    }

    async fn connect_again(&mut self) -> Result<(), Error> {
        self.session = self.running.session().await?;
        Ok(())
    }

    fn processors(&self) -> Option<(usize, usize)> {
        Some((self.session.processor()?, rustix::thread::sched_getcpu()))
    }

    fn leave_thread(&mut self) -> bool {
        self.session.leave_thread()
    }

    fn join_thread(&mut self) -> Result<(), Error> {
        self.session.join_thread()
    }
}

impl Running {
    /// Of a client. Its load is measured, and the controller ends what takes too long.
    async fn session(&self) -> Result<Session, Error> {
        Ok(self.lease.session().await?.without_limit())
    }
}

/// The script at a place of all weights together.
fn drawn(scripts: &[Sent], random: u64) -> usize {
    let all: u64 = scripts.iter().map(|sent| u64::from(sent.weight)).sum();
    let mut place = ((u128::from(random) * u128::from(all)) >> 64) as u64;
    for (number, sent) in scripts.iter().enumerate() {
        match place.checked_sub(u64::from(sent.weight)) {
            Some(rest) => place = rest,
            None => return number,
        }
    }
    0
}

impl User {
    /// Refuses a script that leaves a transaction open: what others run then runs within it, and nothing is ever committed.
    async fn check_end(&mut self, sent: &Sent) -> Result<(), Error> {
        if !self.session.is_in_transaction().await? {
            return Ok(());
        }
        Err(Error::Statement(format!(
            "{}: the script ends within an open transaction: use COMMIT or ROLLBACK on every path",
            sent.script.name
        )))
    }

    /// Gives variables the values of a row of the file, if there is one.
    fn take_row(&mut self, running: &Running) {
        let Some(parameters) = &running.parameters else { return };
        let number = match parameters.is_random {
            true => ((u128::from(self.draw.next_u64()) * parameters.rows() as u128) >> 64) as usize,
            false => running.next_row.fetch_add(1, Ordering::Relaxed),
        };
        for (&variable, value) in parameters.variables.iter().zip(parameters.row(number)) {
            self.variables.set(variable, language::Value::Text(value.clone()));
        }
    }

    /// A script, tried again as often as the job says where others are in its way, each time with the same random numbers.
    async fn tried(&mut self, sent: &Sent, counting: Counting<'_>) -> Result<Done, Error> {
        let tries = self.running.job.tries;
        let before = (tries > 1).then(|| (self.variables.clone(), self.chance.clone()));
        let (mut tried, mut slept_ns) = (1, 0);
        loop {
            let error = match self.run(sent, &mut slept_ns, counting).await {
                Ok(Ran { is_unmet, ended_ns }) => {
                    let counter = is_unmet.then_some(FAILED);
                    return Ok(Done { counter, is_failed: is_unmet, ended_ns, ..slept(slept_ns) });
                }
                Err(error @ Error::Conflict(_)) => error,
                Err(error) => return Err(error),
            };
            self.session.undo().await?;
            if tried == tries {
                lock(&self.running.told).first_failure.get_or_insert_with(|| error.to_string());
                return Ok(Done { counter: Some(FAILED), is_failed: true, ..slept(slept_ns) });
            }
            tried += 1;
            counting.recorder.at(counting.clock.now_ns()).count(RETRY);
            if let Some((variables, chance)) = &before {
                self.variables.clone_from(variables);
                self.chance.clone_from(chance);
            }
        }
    }

    /// A script once, from its first command to its last.
    async fn run(&mut self, sent: &Sent, slept_ns: &mut u64, counting: Counting<'_>) -> Result<Ran, Error> {
        let mut ran = Ran::default();
        let mut rows = 0;
        let mut at = 0;
        self.pipeline = None;
        while let Some(command) = sent.script.commands.get(at) {
            let wrong = |wrong: Wrong| located(sent, command, &wrong);
            at += 1;
            ran.ended_ns = None;
            match &command.step {
                Step::Sql(statement) if self.pipeline.is_some() => {
                    self.put_in(sent, (at - 1, command, statement), counting).await?;
                }
                Step::Sql(statement) => {
                    let (answer, answered_ns) =
                        self.statement(sent, at - 1, (command, statement), counting).await?;
                    (rows, ran.ended_ns) = (answer.rows, answered_ns);
                    self.keep(statement, answer).map_err(wrong)?;
                }
                Step::Set { variable, expression } => {
                    let value = expression.value(&self.variables, &mut self.chance).map_err(wrong)?;
                    self.variables.set(*variable, value);
                }
                Step::Sleep { time, unit_ns } => {
                    let ns = time.ns(*unit_ns, &self.variables).map_err(wrong)?;
                    *slept_ns += sleep(ns, counting.clock).await;
                }
                Step::Branch { condition, otherwise } => {
                    if !condition.holds(&self.variables, &mut self.chance).map_err(wrong)? {
                        at = *otherwise;
                    }
                }
                Step::Jump(to) => at = *to,
                Step::Expect { comparison, expression } => {
                    let expected = expression.value(&self.variables, &mut self.chance).map_err(wrong)?;
                    let found = i64::try_from(rows).unwrap_or(i64::MAX);
                    if !as_expected(found, *comparison, &expected).map_err(wrong)? {
                        ran.is_unmet = true;
                        self.unmet(sent, command, (comparison.sign(), &expected, rows), counting);
                    }
                }
                Step::StartPipeline | Step::SyncPipeline | Step::EndPipeline => {
                    self.pipeline(sent, command, counting).await?;
                }
            }
        }
        self.no_pipeline(sent).map(|()| ran)
    }

    /// A command about a pipeline. Branches may lead to it otherwise than it stands in the script.
    async fn pipeline(
        &mut self,
        sent: &Sent,
        command: &Command,
        counting: Counting<'_>,
    ) -> Result<(), Error> {
        let wrong = |words: &str| located(sent, command, &Wrong::new(words));
        let done = match (&command.step, &self.pipeline) {
            (Step::StartPipeline, None) => {
                self.pipeline = Some(Vec::new());
                self.session.begin_pipeline().await
            }
            (Step::StartPipeline, Some(_)) => return Err(wrong("a pipeline is open already")),
            (_, None) => return Err(wrong("no pipeline is open")),
            (Step::SyncPipeline, Some(_)) => self.session.sync_pipeline(),
            (_, Some(_)) => return self.end_pipeline(sent, counting).await,
        };
        done.map_err(|error| placed(sent, command, error))
    }

    /// At the end of a script.
    fn no_pipeline(&self, sent: &Sent) -> Result<(), Error> {
        let Some(_) = self.pipeline else { return Ok(()) };
        Err(Error::Statement(format!(
            "{}: the script ends within a pipeline: use \\endpipeline on every path",
            sent.script.name
        )))
    }

    /// A statement, counted as an operation of its own; one that others were in the way of is not. Tells when it was answered, if it was
    /// counted.
    async fn statement(
        &mut self,
        sent: &Sent,
        at: usize,
        (command, statement): (&Command, &Statement),
        counting: Counting<'_>,
    ) -> Result<(Answer, Option<u64>), Error> {
        let as_sent = sent.as_sent(at);
        let wrong = |wrong: Wrong| located(sent, command, &wrong);
        let text;
        let sql = match &as_sent.sql {
            Some(sql) => sql,
            None => {
                text = statement.substituted(&self.variables).map_err(wrong)?;
                &text
            }
        };
        self.set_values(as_sent).map_err(wrong)?;
        let sent_ns = counting.clock.now_ns();
        // What has no values is prepared like all else where that is asked for.
        let protocol = if as_sent.sql.is_none() { Protocol::Simple } else { self.running.protocol };
        let answer = self.session.statement(sql, &self.values, (protocol, as_sent.wanted)).await;
        let answered_ns = counted(as_sent.kind, sent_ns, answer.as_ref().err(), counting);
        match answer {
            Ok(answer) => Ok((answer, answered_ns)),
            Err(error) if as_sent.kind.is_some() => Err(placed(sent, command, error)),
            // Which of its statements it was, the server may say.
            Err(error) => Err(error.at(&format!("{} as a procedure", sent.script.name))),
        }
    }

    /// Puts the values of a statement's variables in their order.
    fn set_values(&mut self, as_sent: &SentStatement) -> Result<(), Wrong> {
        self.values.clear();
        for &variable in &as_sent.parameters {
            self.values.push(of_database(self.variables.get(variable)?));
        }
        Ok(())
    }

    /// Puts a statement into the pipeline that is open.
    async fn put_in(
        &mut self,
        sent: &Sent,
        (at, command, statement): (usize, &Command, &Statement),
        counting: Counting<'_>,
    ) -> Result<(), Error> {
        let as_sent = sent.as_sent(at);
        if statement.then.is_some() || as_sent.wanted == Wanted::Count {
            return Err(located(sent, command, &Wrong::new(NO_RESULT)));
        }
        self.set_values(as_sent).map_err(|wrong| located(sent, command, &wrong))?;
        let sent_ns = counting.clock.now_ns();
        // Where values are beside it, it is not one text.
        let sql = as_sent.sql.as_deref().unwrap_or_default();
        let put = self.session.pipelined(sql, &self.values, self.running.protocol).await;
        put.map_err(|error| placed(sent, command, error))?;
        self.pipeline.get_or_insert_default().push((at, sent_ns));
        Ok(())
    }

    /// Ends the pipeline. Each of its statements takes from when it was put in until it is answered.
    async fn end_pipeline(&mut self, sent: &Sent, counting: Counting<'_>) -> Result<(), Error> {
        let put_in = self.pipeline.take().unwrap_or_default();
        let texts: Vec<&str> = put_in.iter().filter_map(|(at, _)| sent.as_sent(*at).sql.as_deref()).collect();
        let mut answered = put_in.iter();
        let mut each = || {
            if let Some((at, sent_ns)) = answered.next() {
                counted(sent.as_sent(*at).kind, *sent_ns, None, counting);
            }
        };
        let ended = self.session.end_pipeline(&texts, &mut each).await;
        ended.map_err(|(number, error)| {
            let Some((at, sent_ns)) = put_in.get(number) else { return error };
            counted(sent.as_sent(*at).kind, *sent_ns, Some(&error), counting);
            placed(sent, &sent.script.commands[*at], error)
        })
    }

    /// Keeps the last row of an answer in variables, where the statement says so.
    fn keep(&mut self, statement: &Statement, answer: Answer) -> Result<(), Wrong> {
        let Some(then) = &statement.then else { return Ok(()) };
        if then.kind == language::Kind::Gset && answer.rows == 1 && answer.last.is_empty() && !answer.has_rows
        {
            return Err(Wrong::new(
                "\\gset needs a row, but this statement returns none: add RETURNING, or SELECT the changed rows",
            ));
        }
        if then.kind == language::Kind::Gset && answer.rows != 1 {
            return Err(Wrong::new(format!(
                "\\gset needs one row, but {} were returned: request one row, or use \\aset, which uses the last row, if any",
                answer.rows
            )));
        }
        for (column, value) in answer.last {
            let name = format!("{}{column}", then.prefix);
            if column.is_empty() || !is_name(&name) {
                return Err(Wrong::new(format!(
                    "no variable can be called `{name}`: give the column a name, as in `SELECT 1 AS one`"
                )));
            }
            // What no script reads has no place.
            if let Some(variable) = self.running.names.find(&name) {
                self.variables.set(variable, of_script(value));
            }
        }
        Ok(())
    }

    fn unmet(
        &self,
        sent: &Sent,
        command: &Command,
        (sign, expected, rows): (&str, &language::Value, u64),
        counting: Counting<'_>,
    ) {
        counting.recorder.at(counting.clock.now_ns()).count(UNMET);
        let mut told = lock(&self.running.told);
        told.unmet += 1;
        told.first_unmet.get_or_insert_with(|| {
            format!(
                "{}:{}: expected rows {sign} {expected}, but the number of rows is {rows}",
                sent.script.name, command.line
            )
        });
    }
}

/// Sleeps for so long at least, and gives how long it was.
async fn sleep(ns: u64, clock: Clock) -> u64 {
    let begin_ns = clock.now_ns();
    match ns {
        // A script may have nothing else.
        0 => tokio::task::yield_now().await,
        _ => clock.until(begin_ns.saturating_add(ns)).await,
    }
    clock.now_ns().saturating_sub(begin_ns)
}

/// A script that slept so long.
fn slept(ns: u64) -> Done {
    Done { aside_ns: ns, idle_ns: ns, ..Done::default() }
}

/// Counts a statement that was answered, and tells when; not one that others were in the way of.
fn counted(kind: Option<usize>, sent_ns: u64, error: Option<&Error>, counting: Counting<'_>) -> Option<u64> {
    let kind = kind?;
    let now_ns = counting.clock.now_ns();
    let mut recording = counting.recorder.at(now_ns);
    match error {
        None => recording.complete(now_ns, Completed { kind, due_ns: None, sent_ns, bytes: 0 }),
        Some(Error::Conflict(_)) => {}
        Some(_) => recording.fail(kind, 1),
    }
    Some(now_ns)
}

/// What a script says cannot be done.
fn located(sent: &Sent, command: &Command, wrong: &Wrong) -> Error {
    Error::Statement(format!("{}:{}: {wrong}", sent.script.name, command.line))
}

/// An error of a statement, with its place in the script.
fn placed(sent: &Sent, command: &Command, error: Error) -> Error {
    error.at(&format!("{}:{}", sent.script.name, command.line))
}

pub(super) fn of_database(value: &language::Value) -> Value {
    match value {
        language::Value::Null => Value::Null,
        language::Value::Boolean(is_true) => Value::Text(is_true.to_string()),
        language::Value::Integer(number) => Value::I64(*number),
        language::Value::Double(number) => Value::F64(*number),
        language::Value::Text(text) => Value::Text(text.clone()),
    }
}

fn of_script(value: Value) -> language::Value {
    match value {
        Value::Null => language::Value::Null,
        Value::I16(number) => language::Value::Integer(number.into()),
        Value::I32(number) => language::Value::Integer(number.into()),
        Value::I64(number) => language::Value::Integer(number),
        Value::F64(number) => language::Value::Double(number),
        Value::Text(text) => language::Value::Text(text),
    }
}
