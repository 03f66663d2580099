//! What a report says of registers: how long nobody was answered, and what the database did that no register does.

mod chart;
mod facts;
mod finding;
mod lead;
mod table;

use std::collections::BTreeMap;

use record::register::{Anomaly, AnomalyKind, Away, CONFLICTS, LAST_100_MAX, READ, WRITE, WrittenValues};
use record::{
    ClientAway, MeasuredTrial, Outage, Outcome, RegisterOutcome, RegisterSetup, Sample, Server, Setup, State,
    Workload,
};
use serde::Serialize;
use stats::Chance;

use crate::chart::{Chart, strip};
use crate::csv::{Field, number};
use crate::faults::Account;
use crate::format::{self, figure};
use crate::lead::Tile;
use crate::metrics::MetricOf;
use crate::report::Report;
use crate::section::{Block, Place, Section};
use crate::summary::Answer;
use crate::trial::{Trial, per_s};
use crate::unit::Unit;
use crate::verdict::Verdict;
use crate::workloads::{Common, Facts, Limits, Second, Shown, Words, Worked};

/// Registers as a report shows them.
pub(crate) struct OfRegister;

/// Figures of a trial of registers, of the whole load with its warm-up.
#[derive(Clone, Debug, Serialize)]
pub struct Register {
    /// Operations whose history was checked.
    pub operations: u64,
    /// Whether each register was read once more in the end.
    pub is_audited: bool,
    /// What became of the writes.
    pub writes: WrittenValues,
    /// What no register does, by kind.
    pub anomalies: BTreeMap<AnomalyKind, u64>,
    /// The first of each kind.
    pub told: Vec<Anomaly>,
    /// Why the history could not be checked, if so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unchecked: Option<String>,
    /// Times in which nothing was answered.
    pub away: AwayTimes,
    /// Times in which no write was acknowledged.
    pub writes_away: AwayTimes,
    /// Times in which no read was answered.
    pub reads_away: AwayTimes,
    /// What each client saw of that.
    pub clients: Vec<ClientAway>,
    /// Clients that stopped before the end, and why.
    pub stopped: Vec<String>,
    /// Times in which clients had no connection.
    pub outages: Vec<Outage>,
    /// All of these times, for the rules that every workload has.
    #[serde(skip)]
    pub(crate) without_answer: Vec<Outage>,
    /// Setup, for the sentences on it.
    #[serde(skip)]
    pub(crate) setup: RegisterSetup,
}

/// Times without an answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AwayTimes {
    /// Each of them.
    pub times: Vec<Away>,
    /// The longest, in seconds; one that went on counts until the end of the load.
    pub longest_s: f64,
    /// All together, in seconds.
    pub total_s: f64,
}

impl AwayTimes {
    fn of(times: Vec<Away>, end_s: f64) -> Self {
        let lengths = || times.iter().map(|away| away.length_s(end_s));
        Self {
            longest_s: lengths().fold(0.0, f64::max),
            total_s: lengths().fold(0.0, |sum, length| sum + length),
            times,
        }
    }
}

impl Register {
    /// None of a trial that was killed: its history was never checked.
    fn of(measured: &MeasuredTrial) -> Option<Self> {
        let setup = measured.trial.setup.as_ref().and_then(Setup::register)?;
        let outcome = measured.trial.outcome.as_ref().and_then(Outcome::register)?.clone();
        let end_s = measured.samples.last().map_or(0.0, |sample| sample.end_s);
        let RegisterOutcome { operations, writes, is_audited, anomalies, told, unchecked, .. } = outcome;
        let RegisterOutcome { away, writes_away, reads_away, clients, stopped, outages, .. } = outcome;
        let silent = |away: &Away| Outage {
            start_s: away.start_s,
            end_s: away.end_s,
            attempts: 0,
            error: "nothing was answered".to_owned(),
        };
        let without_answer = away.iter().chain(&writes_away).chain(&reads_away).map(silent);
        Some(Self {
            operations,
            is_audited,
            writes,
            anomalies,
            told,
            unchecked,
            without_answer: without_answer.chain(outages.iter().cloned()).collect(),
            away: AwayTimes::of(away, end_s),
            writes_away: AwayTimes::of(writes_away, end_s),
            reads_away: AwayTimes::of(reads_away, end_s),
            clients,
            stopped,
            outages,
            setup: setup.clone(),
        })
    }

    /// What became of the writes. Of those without an answer, at least the ones that somebody read were done.
    fn account(&self) -> Account {
        let WrittenValues { acknowledged, lost, unanswered, unanswered_seen, refused, .. } = self.writes;
        let is_known = self.is_audited && self.unchecked.is_none();
        let twice = self.anomalies.get(&AnomalyKind::DuplicateWrite).copied().unwrap_or(0);
        Account {
            acknowledged,
            there: is_known.then_some(acknowledged.saturating_sub(lost)),
            lost: is_known.then_some(lost),
            unanswered,
            unanswered_there: is_known.then_some(unanswered_seen),
            beyond: is_known.then_some(twice),
            refused: Some(refused),
        }
    }

    /// Whether each register did what one does, as far as the history tells.
    pub(crate) fn is_register(&self) -> bool {
        self.unchecked.is_none() && self.anomalies.values().all(|&count| count == 0)
    }
}

impl Trial {
    /// Figures of registers.
    #[must_use]
    pub fn register(&self) -> Option<&Register> {
        match &self.worked {
            Some(Worked::Register(register)) => Some(register),
            _ => None,
        }
    }
}

/// Share of the operations that a rate may leave unsent and be held.
const UNSENT_SHARE_MAX: f64 = stats::ORDERS_UNSENT_SHARE_MAX;

/// What operations are counted in.
const UNIT: Unit = Unit::a_second("operations/s", "operations per second", "operations");

static WORDS: Words = Words {
    one: "load on registers",
    many: "registers",
    anchor: "registers",
    unit: UNIT,
    rate_metric: "operations_per_s",
    headlines: &[finding::AVAILABILITY],
    replaced: &[],
    all_in_flight: |slots| match slots {
        1 => "the one client was waiting for the database".to_owned(),
        _ => format!("all {} clients were waiting for the database", format::grouped(slots)),
    },
};

static LIMITS: Limits = Limits {
    busy_rule: "register_cpu",
    thread: "the busiest load thread",
    instead: "the clients' CPU, not the database",
    remedy: ", and give the load more threads or its own machine",
    alone: None,
    late_remedy: Some("add clients, or offer a lower rate"),
    is_alone: false,
};

impl Shown for OfRegister {
    fn question(&self, _: &Report) -> &'static str {
        "How long is the database away, and are acknowledged writes lost?"
    }

    fn words(&self) -> &'static Words {
        &WORDS
    }

    fn worked(&self, measured: &MeasuredTrial, _: &Common<'_>) -> Option<Worked> {
        Register::of(measured).map(|register| Worked::Register(Box::new(register)))
    }

    fn metrics(&self) -> &'static [MetricOf] {
        &[
            ("operations_per_s", |trial| trial.main()?.per_s),
            ("away_longest_s", |trial| Some(trial.register()?.away.longest_s)),
            ("away_s", |trial| Some(trial.register()?.away.total_s)),
            ("lost_updates", |trial| Some(trial.register()?.writes.lost as f64)),
        ]
    }

    fn kinds(&self) -> &'static [&'static str] {
        &[WRITE, READ]
    }

    fn unsent_share_max(&self) -> Option<f64> {
        Some(UNSENT_SHARE_MAX)
    }

    fn unaccounted(&self, trial: &Trial) -> Option<String> {
        let register = trial.register().filter(|_| trial.is_complete())?;
        (!register.is_audited).then(|| "the registers were not read at the end".to_owned())
    }

    fn away_by_client(&self, trial: &Trial) -> Vec<ClientAway> {
        trial.register().map(|register| register.clients.clone()).unwrap_or_default()
    }

    fn account(&self, trial: &Trial) -> Option<Account> {
        trial.register().map(Register::account)
    }

    fn lost(&self, trial: &Trial) -> Option<u64> {
        let register = trial.register().filter(|register| register.is_audited)?;
        Some(register.writes.lost)
    }

    fn outages<'a>(&self, trial: &'a Trial) -> Vec<&'a Outage> {
        trial.register().into_iter().flat_map(|register| &register.without_answer).collect()
    }

    fn servers<'a>(&self, setup: &'a Setup) -> Vec<&'a Server> {
        setup.register().map(|setup| &setup.server).into_iter().collect()
    }

    /// The rates of the seconds scatter with an outage, and say nothing besides.
    fn by_chance(&self, trial: &Trial) -> Option<Chance> {
        if !self.outages(trial).is_empty() {
            return None;
        }
        Chance::of(self.answers_per_s(trial)?, trial.measured_s)
    }

    /// An invalid trial has said why already.
    fn is_loaded(&self, trial: &Trial) -> bool {
        trial.register().is_some() && trial.state != State::Invalid
    }

    fn limits(&self) -> &'static Limits {
        &LIMITS
    }

    fn findings(&self, report: &Report) -> Vec<Verdict> {
        finding::all(report)
    }

    fn answers(&self, report: &Report) -> Vec<Answer> {
        finding::answers(report)
    }

    fn doubts(&self, report: &Report) -> Vec<Verdict> {
        finding::doubts(report)
    }

    fn sections(&self, report: &Report) -> Vec<Section> {
        let main = table::registers(report).map(Block::main);
        let others = [table::anomalies(report), table::away(report)].into_iter().flatten().map(Block::Table);
        vec![Section { place: Place::Figures, blocks: main.into_iter().chain(others).collect() }]
    }

    fn tiles(&self, report: &Report) -> Vec<Tile> {
        lead::tiles(report)
    }

    fn holds_when_busy(&self, report: &Report) -> Option<&'static str> {
        let is_whole = |register: &Register| register.is_audited && register.is_register();
        let all = report.trials.iter().all(|trial| trial.register().is_some_and(is_whole));
        (all && !report.trials.is_empty())
            .then_some("That is about rates and times: lost writes were counted exactly, for this run")
    }

    fn lead(&self, report: &Report) -> Option<Chart> {
        lead::chart(report)
    }

    fn overview(&self, report: &Report) -> Vec<Chart> {
        let heading = "Response time of an operation of each configuration";
        strip::strip(report, Workload::Register, heading).into_iter().collect()
    }

    fn course(&self, trial: &Trial) -> Vec<Chart> {
        chart::all(trial)
    }

    fn ink(&self, kind: &str) -> usize {
        usize::from(kind == READ)
    }

    fn seconds(&self) -> &'static [Second] {
        &[
            Second { head: "operations/s", value: |main, s| per_s(main, s), print: figure },
            Second { head: "refused", value: |_, s| gauge(s, CONFLICTS), print: figure },
            Second {
                head: "longest of 100",
                value: |_, s| gauge(s, LAST_100_MAX).map(|ms| ms * 1e3),
                print: format::latency,
            },
        ]
    }

    fn facts(&self, setup: &Setup) -> Option<Facts> {
        setup.register().map(facts::facts)
    }

    fn method(&self, _: &Report) -> Vec<String> {
        METHOD.iter().map(|&text| text.to_owned()).collect()
    }

    fn columns(&self) -> &'static [Field] {
        &[
            ("operations_per_s", |trial| number(trial.main()?.per_s?)),
            ("history_operations", |trial| Some(trial.register()?.operations.to_string())),
            ("anomalies", |trial| Some(trial.register()?.anomalies.values().sum::<u64>().to_string())),
            ("lost_updates", |trial| Some(trial.register()?.writes.lost.to_string())),
            ("acknowledged_writes", |trial| Some(trial.register()?.writes.acknowledged.to_string())),
            ("unanswered_writes", |trial| Some(trial.register()?.writes.unanswered.to_string())),
            ("away_longest_s", |trial| number(trial.register()?.away.longest_s)),
            ("away_s", |trial| number(trial.register()?.away.total_s)),
        ]
    }
}

const METHOD: [&str; 4] = [
    "A register is a row of one table. Each client writes unique values to registers, or reads them. From the warm-up to a last read of every register, prony records when each operation was sent and answered, by one clock.",
    "A register is correct (linearizable) if one order explains all its operations. In this order, each operation takes effect \
    between sending and answer, and each read finds the last written value. A write without an answer may take effect at any time \
    after sending, or never. prony reports a violation only if no such order exists, with the operations that prove it (Gibbons and \
    Korach, Testing Shared Memories, 1997).",
    "Each write also stores the value that it replaced, in the same statement. These values form a chain. An acknowledged write that \
    is not in the chain is lost, even if a later write replaced it. Two writes that replaced the same value are found too.",
    "An outage lasts from the last answer to any client until the next answer. If the first client began to wait later, the outage \
    begins then. Outages shorter than the given time do not count. If clients wait only for writes, the outage does not cover reads.",
];

fn gauge(sample: &Sample, name: &str) -> Option<f64> {
    sample.gauges.get(name).copied()
}

#[cfg(test)]
pub(crate) mod tests;
