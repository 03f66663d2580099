//! Maintenance: purges what is older than the retention, in blocks or by partitions, and shrinks the database if asked.

use std::sync::Arc;

use database::{Error, Session};
use load::Completed;
use record::{MaintenanceRun, Mark, MarkKind, UsedBytes};

use super::job::Maintenance;
use super::running::{PURGE, Running, SHRINK};
use super::space::used_bytes;
use crate::clock::Clock;

/// Purges at each interval.
#[derive(Debug)]
pub(crate) struct Maintainer {
    running: Arc<Running>,
    maintenance: Maintenance,
    clock: Clock,
    /// None after it was lost; the next run makes a new one.
    session: Option<Session>,
}

/// What a run of maintenance has done so far.
#[derive(Debug, Default)]
struct Done {
    purged_rows: u64,
    statements: u64,
    purge_end_ns: Option<u64>,
    bytes_before: Option<u64>,
    bytes_after: Option<u64>,
    used_before: Option<UsedBytes>,
    /// Time in which pages in use were looked for, which is no part of the purge.
    looked_ns: u64,
}

/// Why a run did not come to its end.
#[derive(Debug, thiserror::Error)]
enum Broken {
    #[error("the load ended before the maintenance was done")]
    LoadOver,
    #[error("the maintenance was still running long after the load, and was abandoned")]
    GivenUp,
    #[error("{0}")]
    Database(#[from] Error),
}

impl Maintainer {
    pub(crate) fn new(
        running: Arc<Running>,
        maintenance: Maintenance,
        clock: Clock,
        session: Session,
    ) -> Self {
        Self { running, maintenance, clock, session: Some(session) }
    }

    /// Runs at each interval until the load ends. If a run takes longer than an interval, those it missed are left out.
    pub(crate) async fn run(mut self) {
        let running = Arc::clone(&self.running);
        let interval_ns = self.maintenance.interval.ns;
        let mut due_ns = interval_ns;
        while due_ns < running.phases.end_ns() {
            tokio::select! {
                () = self.clock.until(due_ns) => {}
                () = running.load_over.wait() => return,
            }
            self.maintain().await;
            due_ns = (self.clock.now_ns() / interval_ns + 1) * interval_ns;
        }
    }

    async fn maintain(&mut self) {
        let running = Arc::clone(&self.running);
        let start_ns = self.clock.now_ns();
        running.buffer.watch(start_ns);
        running.measured().maintenance_ns.push((start_ns, None));
        let database = running.lease.name();
        let begun = Mark::planned(MarkKind::Purge, start_ns as f64 / 1e9, None, database);
        running.ledger.lock().marks.push(begun);
        let mut done = Done::default();
        let error = tokio::select! {
            biased;
            ended = self.purge_and_shrink(&mut done) => ended.err(),
            () = running.over.wait() => Some(self.given_up()),
        };
        if let Some(Broken::Database(error)) = &error
            && error.is_lost()
        {
            self.session = None;
        }
        let end_ns = self.clock.now_ns();
        if let Some(last) = running.measured().maintenance_ns.last_mut() {
            last.1 = Some(end_ns);
        }
        let pending = running.buffer.watched(end_ns);
        let purge_end_ns = done.purge_end_ns.unwrap_or(end_ns);
        let shrinks = self.maintenance.shrink && done.purge_end_ns.is_some();
        let mut entries = running.ledger.lock();
        entries.purged += done.purged_rows;
        let run = MaintenanceRun {
            start_s: start_ns as f64 / 1e9,
            purge_s: (purge_end_ns - start_ns).saturating_sub(done.looked_ns) as f64 / 1e9,
            purged_rows: done.purged_rows,
            statements: done.statements,
            shrink_s: shrinks.then(|| (end_ns - purge_end_ns) as f64 / 1e9),
            pending_max: pending.map_or(0, |pending| pending.max),
            pending_mean: pending.map_or(0.0, |pending| pending.mean()),
            database_bytes_before: done.bytes_before,
            database_bytes_after: done.bytes_after,
            used_before: done.used_before,
            error: error.map(|error| error.to_string()),
        };
        entries.marks.extend(run.marks(database));
        entries.maintenance.push(run);
    }

    /// A server may go on with what nobody waits for any more.
    fn given_up(&mut self) -> Broken {
        let connection = self.session.take().map(|session| session.connection().clone());
        self.running.measured().given_up = connection;
        Broken::GivenUp
    }

    async fn purge_and_shrink(&mut self, done: &mut Done) -> Result<(), Broken> {
        let running = Arc::clone(&self.running);
        let session = match self.session.take() {
            Some(session) => session,
            None => running.session().await?,
        };
        let session = self.session.insert(session);
        running.store.prepare_purge(session).await?;
        done.bytes_before = session.sizes().await?.database_bytes;
        if running.ledger.lock().maintenance.is_empty() {
            // Later purges leave free pages, which rows fill again: growth is known up to the first one.
            let begin_ns = self.clock.now_ns();
            done.used_before = used_bytes(session).await?;
            done.looked_ns = self.clock.now_ns() - begin_ns;
        }
        let retention_us = (self.maintenance.retention.ns / 1_000) as i64;
        let age_us = running.time_us(self.clock.now_ns()) - retention_us - running.epoch_us;
        // A whole second since the epoch, as acknowledged rows are counted by.
        let cutoff_us = running.epoch_us + age_us.div_euclid(1_000_000) * 1_000_000;
        let purge = Purge { running: &running, clock: self.clock, cutoff_us };
        match self.maintenance.purge_rows {
            Some(rows) => purge.delete(session, rows, done).await?,
            None => purge.drop_partitions(session, done).await?,
        }
        done.purge_end_ns = Some(self.clock.now_ns());
        if self.maintenance.shrink {
            let sent_ns = self.clock.now_ns();
            running.store.shrink(session).await.inspect_err(|_| purge.failed(SHRINK))?;
            purge.count(SHRINK, sent_ns);
        }
        done.bytes_after = session.sizes().await?.database_bytes;
        Ok(())
    }
}

/// One purge of everything older than a time.
struct Purge<'a> {
    running: &'a Running,
    clock: Clock,
    cutoff_us: i64,
}

impl Purge<'_> {
    async fn delete(&self, session: &mut Session, rows: u64, done: &mut Done) -> Result<(), Broken> {
        self.running.ledger.purging(self.cutoff_us);
        loop {
            self.goes_on()?;
            let sent_ns = self.clock.now_ns();
            let purged = self.running.store.purge(session, self.cutoff_us, rows).await;
            let purged = purged.inspect_err(|_| self.failed(PURGE))?;
            self.count(PURGE, sent_ns);
            done.statements += 1;
            done.purged_rows += purged;
            if purged < rows {
                return Ok(());
            }
        }
    }

    async fn drop_partitions(&self, session: &mut Session, done: &mut Done) -> Result<(), Broken> {
        let ends_us = self.running.store.partitions(session).await?;
        for until_us in ends_us.into_iter().filter(|&until_us| until_us <= self.cutoff_us) {
            self.goes_on()?;
            let rows = self.running.store.count_partition(session, until_us).await?;
            self.running.ledger.purging(self.cutoff_us);
            let sent_ns = self.clock.now_ns();
            let dropped = self.running.store.drop_partition(session, until_us).await;
            dropped.inspect_err(|_| self.failed(PURGE))?;
            self.count(PURGE, sent_ns);
            done.statements += 1;
            done.purged_rows += rows;
        }
        Ok(())
    }

    fn goes_on(&self) -> Result<(), Broken> {
        if self.running.load_over.is_set() { Err(Broken::LoadOver) } else { Ok(()) }
    }

    fn count(&self, kind: usize, sent_ns: u64) {
        let now_ns = self.clock.now_ns();
        let completed = Completed { kind, due_ns: None, sent_ns, bytes: 0 };
        self.running.recorder.at(now_ns).complete(now_ns, completed);
    }

    fn failed(&self, kind: usize) {
        self.running.recorder.at(self.clock.now_ns()).fail(kind, 1);
    }
}
