//! What is settled before a trial begins: tables, tags, the time its events begin at, and how all of it is recorded.

use std::sync::Mutex;

use database::{Dialect, Engine, Error, Holder, Lease, Session};
use load::{Phases, Recorder, Tell};
use record::{Cycle, HistorianSetup, MaintenanceSetup, Preparation, ReaderSetup, Unit};

use super::buffer::{Buffer, Limits};
use super::job::{Job, PURGE_ROWS};
use super::ledger::Ledger;
use super::pipeline;
use super::reader::screen_tag_count;
use super::running::{Measured, Running, counted};
use super::settings::WriteMethod;
use super::source::Source;
use super::space::Space;
use super::store::{Layout, Store};
use crate::TrialError;
use crate::signal::Signal;
use crate::waiting::telling;

/// Most partitions of a trial: each costs the server memory and time to plan.
const PARTITIONS_MAX: u64 = 1_000;
/// Events of a database that is taken up again begin so much after its newest one.
const AFTER_NEWEST_US: i64 = 1_000_000;

/// Everything that a trial needs to begin.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) running: Running,
    pub(crate) source: Source,
    pub(crate) setup: HistorianSetup,
    /// What the database takes before the trial.
    pub(crate) space: Space,
}

/// Prepares a trial whose events begin at `now_us`, or later if there are newer ones already.
///
/// # Errors
/// When the source cannot be read, or the database cannot be used as asked.
pub(crate) async fn prepare(
    job: &Job,
    lease: &Lease,
    holder: &Holder,
    fresh: bool,
    now_us: i64,
    simulated: bool,
    tell: &mut Tell<'_>,
) -> Result<Prepared, TrialError> {
    let source = Source::open(job)?;
    let notes = source.notes(job);
    let engine = lease.url().engine();
    let job = &for_engine(source.job(job), engine);
    let store = store(job, engine)?;
    let mut session = lease.session().await?;
    let name = lease.name();
    let waiting = |what: &str| Preparation::waiting(format!("{what} {name}"));
    telling(tell, waiting("creating the tables of"), store.make(&mut session, fresh)).await?;
    let tags = |done| {
        tell(Preparation::new(format!("adding tags to {name}"), done, u64::from(job.tags), Unit::Rows));
    };
    store.add_tags(&mut session, job.tags, |tag| source.tag_name(tag), tags).await?;
    let rows_before = telling(tell, waiting("counting the rows of"), store.count(&mut session)).await?;
    let newest_us = store.newest_us(&mut session).await?;
    let epoch_us = newest_us.map_or(now_us, |newest_us| now_us.max(newest_us + AFTER_NEWEST_US));
    let length_us = (job.phases.end_ns() / 1_000) as i64;
    store.add_partitions(&mut session, epoch_us, epoch_us + length_us).await?;
    let space = Space::of(&mut session).await?;
    let setup = describe(job, lease, &mut session, rows_before, &source, simulated).await?;
    let running = running(job, (lease, holder), store, epoch_us);
    notes.into_iter().for_each(|note| running.ledger.note(note));
    if epoch_us > now_us {
        running.ledger.note(format!(
            "the table contains rows with times in the future: events begin {:.1} s ahead of the clock, so that times never go back",
            (epoch_us - now_us) as f64 / 1e6
        ));
    }
    Ok(Prepared { running, source, setup, space })
}

/// What the roles of a trial share, before they begin.
fn running(job: &Job, (lease, holder): (&Lease, &Holder), store: Store, epoch_us: i64) -> Running {
    Running {
        buffer: Buffer::new(limits(job), job.phases),
        recorder: Recorder::new(counted(!job.is_closed()), job.phases),
        ledger: Ledger::new(epoch_us),
        phases: job.phases,
        job: job.clone(),
        lease: lease.clone(),
        holder: holder.clone(),
        store,
        epoch_us,
        measured: Mutex::new(Measured::default()),
        stopped: Signal::new(),
        load_over: Signal::new(),
        give_up: Signal::new(),
        over: Signal::new(),
        taken: Signal::new(),
    }
}

/// What a job's buffer holds.
pub(crate) fn limits(job: &Job) -> Limits {
    Limits {
        max_events: job.max_buffered_events as usize,
        flush_rows: job.flush_rows as usize,
        flush_interval_ns: job.flush_interval.ns,
        sorting_ns: job.time_sorting_period.ns,
    }
}

/// Refuses what can be known to be wrong without a database: a source that cannot be read, storage that an engine has not. Gives
/// the job as its source can do it: with the tags, the rate and the length of its recording.
///
/// # Errors
/// Names the parameter, its value and the remedy.
pub fn check(job: &Job, engine: Engine) -> Result<Job, TrialError> {
    let job = for_engine(Source::open(job)?.job(job), engine);
    store(&job, engine)?;
    Ok(job)
}

/// The job with what is usual for an engine, where nobody said otherwise.
fn for_engine(mut job: Job, engine: Engine) -> Job {
    if let Some(maintenance) = job.maintenance.as_mut().filter(|maintenance| maintenance.is_usual_purge) {
        maintenance.purge_rows = maintenance.purge_rows.map(|_| usual_purge_rows(engine));
    }
    job
}

/// SQL Server locks the whole table in place of 5,000 rows of a statement:
/// <https://learn.microsoft.com/sql/relational-databases/sql-server-transaction-locking-and-row-versioning-guide>.
fn usual_purge_rows(engine: Engine) -> u64 {
    match engine.dialect() {
        Dialect::Sqlite | Dialect::Postgres | Dialect::Mysql => PURGE_ROWS,
        Dialect::SqlServer => 4_000,
        Dialect::ClickHouse | Dialect::DuckDb => crate::named_sql::by_columns(),
    }
}

fn store(job: &Job, engine: Engine) -> Result<Store, TrialError> {
    let layout = Layout {
        index: job.index,
        partition_us: job.partition.map(|partition| (partition.ns / 1_000) as i64),
        shrink: job.maintenance.is_some_and(|maintenance| maintenance.shrink),
    };
    let screen_tags = job.readers.map_or(1, |readers| screen_tag_count(&readers, job.tags));
    let store = Store::new(engine.dialect(), layout, screen_tags as usize);
    if job.write_method == WriteMethod::TableValued && !store.has_rows_procedure() {
        return Err(TrialError::Load(format!(
            "{} cannot be `table-valued` with {}, which does not support table-valued parameters: use {}",
            super::parameter("write_method"),
            engine.name(),
            super::parameter("write_method").of("bulk"),
        )));
    }
    let Some(partition) = job.partition else { return Ok(store) };
    if !store.has_partitions() {
        return Err(TrialError::Load(format!(
            "partition cannot be {partition} with {}, which has no partitions: omit it",
            engine.name()
        )));
    }
    let partitions = job.phases.end_ns() / partition.ns.max(1) + 1;
    if partitions > PARTITIONS_MAX {
        return Err(TrialError::Load(format!(
            "partition cannot be {partition} in a trial of {}: this would need {partitions} partitions, but the maximum is \
            {PARTITIONS_MAX}; use a longer partition",
            length(job.phases)
        )));
    }
    Ok(store)
}

fn length(phases: Phases) -> load::Span {
    load::Span { ns: phases.end_ns() }
}

async fn describe(
    job: &Job,
    lease: &Lease,
    session: &mut Session,
    rows_before: u64,
    source: &Source,
    simulated: bool,
) -> Result<HistorianSetup, Error> {
    let server = session.server().await?;
    let purge_s = job.maintenance.map(|maintenance| maintenance.interval.as_seconds());
    let cycle = Cycle::of(server.checkpoint_s(), purge_s);
    Ok(HistorianSetup {
        target: lease.url().to_string(),
        engine: lease.url().engine().name().to_owned(),
        database: lease.name().to_owned(),
        server,
        source: job.source.name(),
        tags: job.tags,
        pacing: source.pacing(),
        max_buffered_events: job.max_buffered_events,
        flush_rows: job.flush_rows,
        flush_interval_ms: job.flush_interval.ns as f64 / 1e6,
        time_sorting_period_ms: job.time_sorting_period.ns as f64 / 1e6,
        writers: job.writers,
        write_method: write_method_name(job.write_method).to_owned(),
        write_statement: write_statement(job.write_method, session).to_owned(),
        index: job.index,
        partition_s: job.partition.map(load::Span::as_seconds),
        readers: job.readers.map(|readers| ReaderSetup {
            screens: readers.screens,
            screen_interval_s: readers.screen_interval.as_seconds(),
            screen_tags: readers.screen_tags,
            trend_window_s: readers.trend_window.as_seconds(),
            latest_interval_s: readers.latest_interval.as_seconds(),
        }),
        maintenance: job.maintenance.map(|maintenance| MaintenanceSetup {
            interval_s: maintenance.interval.as_seconds(),
            retention_s: maintenance.retention.as_seconds(),
            purge_rows: maintenance.purge_rows,
            shrink: maintenance.shrink,
        }),
        p99_limit_ms: job.p99_limit.map(|limit| limit.ns as f64 / 1e6),
        cycle: Some(cycle),
        rows_before,
        calibration: if simulated { None } else { pipeline::calibrate(job) },
        seed: job.seed,
    })
}

fn write_method_name(method: WriteMethod) -> &'static str {
    match method {
        WriteMethod::MultiRow => "multi_row",
        WriteMethod::Batch => "batch",
        WriteMethod::Bulk => "bulk",
        WriteMethod::TableValued => "table_valued",
    }
}

fn write_statement(method: WriteMethod, session: &Session) -> &'static str {
    let by_procedure = "EXECUTE append_samples with a table-valued parameter (INSERT … SELECT)";
    method.of_database().map_or(by_procedure, |method| session.statement_name(method))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::historian::Settings;

    /// A statement that deletes 5,000 rows and more has SQL Server lock the table, and writers wait for the purge.
    #[test]
    fn a_purge_has_the_rows_that_are_usual_for_its_engine_unless_they_are_given() {
        let purge_rows = |purge_rows, engine| {
            let interval = Some(load::Span::seconds(1));
            let settings = Settings { purge_rows, maintenance_interval: interval, ..Settings::default() };
            let job = check(&Job::of(&settings).unwrap(), engine).unwrap();
            job.maintenance.unwrap().purge_rows
        };
        assert_eq!(purge_rows(None, Engine::SqlServer), Some(4_000));
        assert_eq!(purge_rows(None, Engine::Postgres), Some(30_000));
        assert_eq!(purge_rows(Some(30_000), Engine::SqlServer), Some(30_000));
    }

    #[test]
    fn only_sql_server_has_table_valued_parameters_and_others_say_what_they_have() {
        let settings = Settings { write_method: Some(WriteMethod::TableValued), ..Settings::default() };
        let job = Job::of(&settings).unwrap();
        assert!(check(&job, Engine::SqlServer).is_ok());
        for engine in [Engine::Sqlite, Engine::Postgres, Engine::Mysql] {
            let error = check(&job, engine).unwrap_err().to_string();
            assert!(
                error.contains("does not support table-valued parameters") && error.contains("bulk"),
                "{error}"
            );
        }
    }
}
