//! The table of a trial: where it is, how it is made, and what is done to all of it, each time checked against its rows.

use std::cell::RefCell;
use std::rc::Rc;

use database::{Error, Lease, Rows, Session, WriteMethod};
use load::Tell;
use record::{Preparation, RowsChecksum, TableOperation, TimedOperation, Unit};
use tokio::task::{JoinSet, LocalSet};
use tokio::time::Instant;

use super::Job;
use super::checksum::{self, Checksum};
use super::data::{RowData, TABLE};
use super::made::Made;
use super::statements::{Asked, Statement, file};
use crate::waiting::{going_on, telling};

/// How often a statement is tried that others are in the way of.
pub(super) const TRIES: u32 = 10_000;
/// Rows of a transaction that loads: as many as a group of a columnstore takes at least to be compressed at once.
const PIECE_ROWS: u64 = 102_400;

/// A table of a trial.
#[derive(Clone, Debug)]
pub(super) struct Table {
    pub(super) job: Job,
    pub(super) lease: Lease,
    pub(super) made: Made,
    pub(super) asked: Asked,
    pub(super) data: RowData,
}

/// What was timed so far, and the first answer that was wrong.
#[derive(Debug, Default)]
pub(super) struct Course {
    pub(super) operations: Vec<TimedOperation>,
    pub(super) retries: u64,
    pub(super) wrong: Option<String>,
}

impl Course {
    /// Takes note of an answer that is another one than the rows give.
    pub(super) fn expect(&mut self, what: &str, answer: &[i64], expected: &[i64]) {
        if answer != expected && self.wrong.is_none() {
            self.wrong = Some(format!("{what} returned {answer:?} instead of {expected:?}"));
        }
    }

    fn timed(&mut self, operation: TableOperation, (count, rows): (u64, u64), begin: Instant) {
        let seconds = begin.elapsed().as_secs_f64();
        self.operations.push(TimedOperation { operation, count, rows, seconds });
    }
}

impl Table {
    /// A session that sets what the table asks of each.
    ///
    /// # Errors
    /// Those of the database.
    pub(super) async fn session(&self) -> Result<Session, Error> {
        let mut session = self.lease.session().await?;
        if !self.made.session.is_empty() {
            session.script(&self.made.session).await?;
        }
        Ok(session)
    }

    /// Makes it anew, empty, with its procedures.
    ///
    /// # Errors
    /// Those of the database.
    pub(super) async fn make(&self, session: &mut Session) -> Result<(), Error> {
        self.drop(session).await?;
        self.made.prepare(session).await?;
        session.script(&self.made.create()).await?;
        for procedure in self.asked.procedures(self.made.is_compiled) {
            session.script(&procedure).await?;
        }
        Ok(())
    }

    /// Removes it with its procedures, if it is there.
    ///
    /// # Errors
    /// Those of the database.
    pub(super) async fn drop(&self, session: &mut Session) -> Result<(), Error> {
        for drop in self.asked.drops() {
            session.script(&drop).await?;
        }
        Ok(())
    }

    /// Inserts all rows, each piece in a transaction of its own, and has the server look at them once.
    ///
    /// # Errors
    /// Those of the database.
    pub(super) async fn load(
        &self,
        session: &mut Session,
        course: &mut Course,
        tell: &mut Tell<'_>,
    ) -> Result<(), Error> {
        let rows = self.job.rows;
        let what = format!("loading a {} table", self.job.kind);
        let mut piece = Rows::with_capacity(TABLE.columns.len(), PIECE_ROWS.min(rows) as usize);
        let (mut seconds, mut pieces) = (0.0, 0);
        for first in (1..=rows).step_by(PIECE_ROWS as usize) {
            piece.clear();
            let after = (first + PIECE_ROWS).min(rows + 1);
            self.data.write(first..after, &mut piece);
            // Rows are made beforehand, and no part of the time.
            let begin = Instant::now();
            session.append(&TABLE, &mut piece, WriteMethod::Bulk).await?;
            (seconds, pieces) = (seconds + begin.elapsed().as_secs_f64(), pieces + 1);
            tell(Preparation::new(what.clone(), after - 1, rows, Unit::Rows));
        }
        course.operations.push(TimedOperation {
            operation: TableOperation::Load,
            count: pieces,
            rows,
            seconds,
        });
        let what = Preparation::waiting(format!("statistics of a {} table", self.job.kind));
        telling(tell, what, session.script(file(session.dialect()).settle)).await
    }

    /// Has the table answer, and tries again where others are in the way.
    ///
    /// # Errors
    /// Those of the database.
    pub(super) async fn ask(
        &self,
        session: &mut Session,
        course: &mut Course,
        (statement, values): (Statement, &[u64]),
    ) -> Result<Vec<i64>, Error> {
        for _ in 1..TRIES {
            match self.asked.ask(session, statement, values).await {
                Err(Error::Conflict(_)) => course.retries += 1,
                answer => return answer,
            }
        }
        self.asked.ask(session, statement, values).await
    }

    /// One query that answers a row, timed, and told under its words.
    ///
    /// # Errors
    /// Those of the database.
    pub(super) async fn query(
        &self,
        session: &mut Session,
        course: &mut Course,
        (operation, statement): (TableOperation, Statement),
        (words, expected): (&str, &[i64]),
        tell: &mut Tell<'_>,
    ) -> Result<(), Error> {
        let what = Preparation::waiting(format!("{words} of a {} table", self.job.kind));
        let begin = Instant::now();
        let answer = telling(tell, what, self.ask(session, course, (statement, &[]))).await?;
        course.timed(operation, (1, self.job.rows), begin);
        course.expect(words, &answer, expected);
        Ok(())
    }

    /// Reads the rows back, each with all of its columns, and gives what they come to. That takes no part in any time.
    ///
    /// # Errors
    /// Those of the database.
    pub(super) async fn read_back(
        &self,
        session: &mut Session,
        course: &mut Course,
        expected: &Checksum,
        tell: &mut Tell<'_>,
    ) -> Result<RowsChecksum, Error> {
        let what = Preparation::waiting(format!("reading the rows of a {} table back", self.job.kind));
        let sql = checksum::sql();
        let reading = session.fold(&sql, &[], Checksum::default(), Checksum::add_cells);
        let found = telling(tell, what, reading).await?;
        if found != *expected && course.wrong.is_none() {
            course.wrong =
                Some(format!("the rows read back have the checksum {found}, the loaded rows {expected}"));
        }
        Ok(RowsChecksum { rows: found.rows, sum: found.sum() })
    }

    /// Selects rows by their values, one value after the other.
    ///
    /// # Errors
    /// Those of the database.
    pub(super) async fn select(
        &self,
        session: &mut Session,
        course: &mut Course,
        expected: &[[i64; 2]],
    ) -> Result<(), Error> {
        let selected = self.data.selected();
        let mut answers = Vec::with_capacity(selected.len());
        let begin = Instant::now();
        for value in selected {
            answers.push(self.ask(session, course, (Statement::Select, &[value])).await?);
        }
        let rows: i64 = answers.iter().filter_map(|answer| answer.first()).sum();
        course.timed(TableOperation::Select, (selected.len() as u64, rows.unsigned_abs()), begin);
        for ((answer, expected), value) in answers.iter().zip(expected).zip(selected) {
            course.expect(&format!("the SELECT of value {value}"), answer, expected);
        }
        Ok(())
    }

    /// Changes all rows that are there, as many at once as the job says. `rows` are expected.
    ///
    /// # Errors
    /// Those of the database.
    pub(super) async fn change_all(
        &self,
        session: &mut Session,
        course: &mut Course,
        (operation, statement): (TableOperation, Statement),
        (words, rows): (&str, u64),
        tell: &mut Tell<'_>,
    ) -> Result<(), Error> {
        let what = format!("{words} of a {} table", self.job.kind);
        let (mut changed, mut statements) = (Some(0), 0);
        let begin = Instant::now();
        let mut first = 1;
        while first <= self.job.rows {
            let last = first.saturating_add(self.job.batch_rows - 1).min(self.job.rows);
            let at = Preparation::new(what.clone(), first - 1, self.job.rows, Unit::Rows);
            tell(at.clone());
            let range = [first, last];
            let asking = self.ask(session, course, (statement, &range));
            let answer = going_on(tell, &at, asking).await?;
            changed = changed.and_then(|changed| Some(changed + answer.first()?));
            (statements, first) = (statements + 1, last + 1);
        }
        // Where a server does not tell how many it were, the scan that follows does.
        let rows = rows.cast_signed();
        let changed = changed.unwrap_or(rows);
        course.timed(operation, (statements, changed.unsigned_abs()), begin);
        course.expect(words, &[changed], &[rows]);
        Ok(())
    }

    /// Clients delete rows by their keys, each key once.
    ///
    /// # Errors
    /// Those of the database.
    pub(super) async fn delete_by_key(&self, course: &mut Course) -> Result<(), Error> {
        let count = self.job.point_deletes;
        if count == 0 {
            return Ok(());
        }
        let mut sessions = Vec::new();
        for _ in 0..u64::from(self.job.clients).min(count) {
            sessions.push(self.session().await?);
        }
        let keys = Rc::new(RefCell::new(self.data.keys(count)));
        let begin = Instant::now();
        let clients = LocalSet::new();
        let deleted = clients.run_until(async {
            let mut deleting = JoinSet::new();
            for mut session in sessions {
                let (table, keys) = (self.clone(), Rc::clone(&keys));
                deleting.spawn_local(async move {
                    let mut own = Course::default();
                    loop {
                        let Some(key) = keys.borrow_mut().next() else { return Ok((own, session)) };
                        let answer =
                            table.ask(&mut session, &mut own, (Statement::PointDelete, &[key])).await?;
                        if !answer.is_empty() {
                            own.expect(&format!("the DELETE of key {key}"), &answer, &[1]);
                        }
                    }
                });
            }
            let mut ended = Vec::new();
            while let Some(one) = deleting.join_next().await {
                ended.push(one.map_err(|panic| {
                    Error::Statement(format!("a client ended because of a bug in prony: {panic}"))
                })??);
            }
            Ok::<_, Error>(ended)
        });
        let ended = deleted.await?;
        course.timed(TableOperation::PointDelete, (count, count), begin);
        for (own, _) in ended {
            course.retries += own.retries;
            course.wrong = course.wrong.take().or(own.wrong);
        }
        Ok(())
    }
}
