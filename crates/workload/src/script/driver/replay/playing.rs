//! What the sessions of a replay share: the log, how its statements are sent, and what became of them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use database::{Dialect, Lease, Protocol};
use load::{Counted, Kind, lock};
use record::replay::{OTHER_STATEMENTS, replayed_statement};
use record::script::{self, TRANSACTION};
use record::{CodedErrors, ReplayOutcome, clients};

use super::CONNECTS_AHEAD_NS;
use crate::script::replay::{Log, Logged, literal, with_values};
use crate::script::{Job, OnError, Replay};

/// A statement that is sent so long after it was due makes its session a late one.
const LATE_NS: u64 = 100_000_000;
/// Longest text of an error that is kept, in letters.
const ERROR_LETTERS_MAX: usize = 300;

/// Everything that is shared.
#[derive(Debug)]
pub(super) struct Playing {
    pub(super) lease: Lease,
    pub(super) log: Arc<Log>,
    speed: f64,
    end_ns: u64,
    warm_up_ns: u64,
    dialect: Dialect,
    protocol: Option<Protocol>,
    pub(super) on_error: OnError,
    /// Of each shape of the log: its kind of operation.
    kinds: Vec<usize>,
    answered: AtomicU64,
    failed: AtomicU64,
    unanswered: AtomicU64,
    begun_transactions: AtomicU64,
    unanswered_transactions: AtomicU64,
    cut_transactions: AtomicU64,
    lag_ns_max: AtomicU64,
    sessions_late: AtomicU64,
    errors: Mutex<BTreeMap<String, CodedErrors>>,
}

impl Playing {
    pub(super) fn of(job: &Job, replay: &Replay, log: &Arc<Log>, lease: &Lease) -> (Self, Counted) {
        // The first is the transaction.
        let mut names = vec![TRANSACTION.to_owned()];
        let shapes = log.shapes_by_count();
        let own = shapes.len().min(replay.shapes as usize);
        names.extend((1..=own).map(replayed_statement));
        names.extend((own < shapes.len()).then(|| OTHER_STATEMENTS.to_owned()));
        let mut kinds = vec![0; shapes.len()];
        for (number, shape) in shapes.into_iter().enumerate() {
            kinds[shape as usize] = 1 + number.min(own);
        }
        let counters = [clients::RETRIES, script::NET_US, script::FAILED];
        let counted = Counted {
            kinds: names.into_iter().map(|name| Kind { name, open: true }).collect(),
            counters: counters.map(str::to_owned).to_vec(),
        };
        let playing = Self {
            lease: lease.clone(),
            log: Arc::clone(log),
            speed: replay.speed,
            end_ns: job.phases.end_ns(),
            warm_up_ns: job.phases.warm_up.ns,
            dialect: lease.url().engine().dialect(),
            protocol: replay.protocol,
            on_error: replay.on_error,
            kinds,
            answered: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            unanswered: AtomicU64::new(0),
            begun_transactions: AtomicU64::new(0),
            unanswered_transactions: AtomicU64::new(0),
            cut_transactions: AtomicU64::new(0),
            lag_ns_max: AtomicU64::new(0),
            sessions_late: AtomicU64::new(0),
            errors: Mutex::default(),
        };
        (playing, counted)
    }

    pub(super) fn warm_up_ns(&self) -> u64 {
        self.warm_up_ns
    }

    /// When a statement is due; none where the load is over by then.
    pub(super) fn due_ns(&self, logged: &Logged) -> Option<u64> {
        Some(self.log.due_ns(logged.at_us, self.speed)).filter(|due_ns| *due_ns < self.end_ns)
    }

    pub(super) fn kind(&self, logged: &Logged) -> usize {
        self.kinds[self.log.shape_of[logged.text as usize] as usize]
    }

    /// A statement's text, its values beside it, and how it is sent. Where the database takes no values of another one's they are in the text.
    pub(super) fn sent(&self, logged: &Logged) -> (String, Vec<database::Value>, Protocol) {
        let sql = &self.log.texts[logged.text as usize];
        let values = logged.values.map_or(&[][..], |number| self.log.values[number as usize].as_slice());
        let protocol = Log::sent(logged, self.protocol);
        if protocol == Protocol::Simple || self.dialect != Dialect::Postgres {
            let text = with_values(sql, values, |value| literal(value, self.dialect));
            // As many values as places: the reader has looked.
            return (text.unwrap_or_else(|| sql.clone()), Vec::new(), Protocol::Simple);
        }
        let value = |value: &Option<String>| match value {
            Some(text) => database::Value::Text(text.clone()),
            None => database::Value::Null,
        };
        (sql.clone(), values.iter().map(value).collect(), protocol)
    }

    pub(super) fn transaction_begins(&self) {
        self.begun_transactions.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn transaction_is_unanswered(&self) {
        self.unanswered_transactions.fetch_add(1, Ordering::Relaxed);
    }

    /// The load is over before its next statement is due.
    pub(super) fn transaction_is_cut(&self) {
        self.cut_transactions.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn is_answered(&self) {
        self.answered.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn is_unanswered(&self) {
        self.unanswered.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn has_failed(&self, code: Option<String>, words: &str) {
        self.failed.fetch_add(1, Ordering::Relaxed);
        let mut errors = lock(&self.errors);
        let code = code.unwrap_or_else(|| "none".to_owned());
        let of_code =
            errors.entry(code.clone()).or_insert_with(|| CodedErrors { code, count: 0, first: shown(words) });
        of_code.count += 1;
    }

    /// A statement is sent so long after it was due. `was_late` is told and kept by its session.
    pub(super) fn lags(&self, lag_ns: u64, was_late: &mut bool) {
        self.lag_ns_max.fetch_max(lag_ns, Ordering::Relaxed);
        if lag_ns > LATE_NS && !std::mem::replace(was_late, true) {
            self.sessions_late.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// What became of the statements, and transactions without an answer.
    pub(super) fn outcome(&self, load_end_ns: u64) -> (ReplayOutcome, u64) {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let [answered, failed, unanswered] = [&self.answered, &self.failed, &self.unanswered].map(of);
        // What an end before the plan's came before is not late: nobody waited for it.
        let [due, all] = [load_end_ns, self.end_ns].map(|before_ns| self.due(|_| true, before_ns));
        let ended = answered + failed + unanswered;
        let mut errors: Vec<CodedErrors> = lock(&self.errors).values().cloned().collect();
        errors.sort_by_key(|errors| std::cmp::Reverse(errors.count));
        let replayed = ReplayOutcome {
            answered,
            failed,
            unanswered,
            unsent: due.saturating_sub(ended),
            not_due: all - due.max(ended).min(all),
            cut_transactions: of(&self.cut_transactions),
            errors,
            lag_ms_max: of(&self.lag_ns_max) as f64 / 1e6,
            sessions_late: of(&self.sessions_late),
        };
        (replayed, of(&self.unanswered_transactions))
    }

    /// Statements that are due before a moment, and before the end.
    fn due(&self, counts: impl Fn(&Logged) -> bool, before_ns: u64) -> u64 {
        let all = self.log.sessions.iter().flat_map(|session| &session.statements);
        let is_due =
            |logged: &&Logged| counts(logged) && self.due_ns(logged).is_some_and(|due_ns| due_ns < before_ns);
        all.filter(is_due).count() as u64
    }

    /// Transactions that are due before a moment.
    pub(super) fn transactions_due(&self, before_ns: u64) -> u64 {
        self.due(|logged| logged.begins, before_ns)
    }

    /// Transactions that were due before the load ended and did not begin.
    pub(super) fn unsent_transactions(&self, load_end_ns: u64) -> u64 {
        self.transactions_due(load_end_ns).saturating_sub(self.begun_transactions.load(Ordering::Relaxed))
    }

    pub(super) fn sessions_at_once(&self) -> u32 {
        self.log.sessions_at_once(self.speed, CONNECTS_AHEAD_NS)
    }
}

/// The begin of what a server said.
pub(super) fn shown(words: &str) -> String {
    match words.char_indices().nth(ERROR_LETTERS_MAX) {
        None => words.to_owned(),
        Some((end, _)) => format!("{}…", &words[..end]),
    }
}
