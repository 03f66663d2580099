//! What a report says of scripts of users: transactions a second, how long each statement took, what failed.

mod chart;
mod facts;
mod finding;
mod lead;
mod replay;
mod table;

use record::script::{self, FAILED, TRANSACTION};
use record::{
    Balances, ClientAway, MeasuredTrial, OperationInterval, Outage, Outcome, Phase, Sample, ScriptOutcome,
    ScriptSetup, Server, Setup, ShapeInUse, State, StatementInUse, Workload, clients,
};
use serde::Serialize;
use stats::Chance;

use crate::chart::{Chart, strip};
use crate::configuration::Configuration;
use crate::csv::{Field, number};
use crate::format::{self, figure};
use crate::lead::Tile;
use crate::limit::Limit;
use crate::metrics::MetricOf;
use crate::report::Report;
use crate::section::{Block, Place, Section};
use crate::summary::Answer;
use crate::trial::{Figures, Trial, per_s};
use crate::unit::Unit;
use crate::verdict::Verdict;
use crate::verdict::rate::{Held, held};
use crate::workloads::{Common, Facts, Limits, Second, Shown, Words, Worked};
use replay::Replay;

/// Scripts as a report shows them.
pub(crate) struct OfScript;

/// Figures of a trial of scripts, of the measured window unless something else is said.
#[derive(Clone, Debug, Serialize)]
pub struct Script {
    /// Transactions finished, failed ones left out.
    pub transactions: u64,
    /// The same a second.
    pub per_s: Option<f64>,
    /// Transactions that failed: given up after a conflict, or one that did not meet what its script expects.
    pub failed: u64,
    /// Transactions that were tried again.
    pub retries: u64,
    /// Transactions that took longer than their limit, and that were too late to be sent; none without a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late: Option<Late>,
    /// What scripts expected and did not find, since the load began.
    pub unmet: u64,
    /// The first of these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_unmet: Option<String>,
    /// The error of the first transaction that was given up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_failure: Option<String>,
    /// What came to the balances of pgbench's tables, where nothing but its scripts was run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub balances: Option<Balances>,
    /// What is wrong with that, if anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disagreement: Option<String>,
    /// Transactions whose answer was lost with the connection.
    pub unanswered: u64,
    /// (max − min) / max of the clients' transactions; none of a single client.
    pub client_variability: Option<f64>,
    /// Clients that stopped before the end, and why.
    pub stopped: Vec<String>,
    /// Times in which the database could not be used.
    pub outages: Vec<Outage>,
    /// What each client saw of times without an answer; empty where none had to wait for long.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub away_by_client: Vec<ClientAway>,
    /// What a log was read to and what became of its statements, where one is replayed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay: Option<Replay>,
    /// What each statement begins with, by its kind of operation.
    pub statements: Vec<ScriptStatement>,
    /// Setup, for the sentences on it.
    #[serde(skip)]
    pub(crate) setup: ScriptSetup,
}

/// Transactions that were not in time.
#[derive(Clone, Debug, Serialize)]
pub struct Late {
    /// The limit, in milliseconds.
    pub limit_ms: f64,
    /// Transactions that took longer.
    pub late: u64,
    /// Transactions that could not be in time any more when they could have been sent, and were not.
    pub skipped: u64,
    /// Both as a share of all that were finished or not sent.
    pub share: Option<f64>,
}

impl ScriptStatement {
    fn of(statement: &StatementInUse) -> Self {
        Self { kind: statement.kind.clone(), begins: statement.begins.clone() }
    }

    /// Those of scripts, or the shapes of a log.
    fn all(setup: &ScriptSetup) -> Vec<Self> {
        let statements = setup.scripts.iter().flat_map(|script| &script.statements);
        let shapes = setup.replay.iter().flat_map(|log| &log.shapes);
        statements.map(Self::of).chain(shapes.map(Self::of_shape)).collect()
    }

    fn of_shape(shape: &ShapeInUse) -> Self {
        Self { kind: shape.kind.clone(), begins: shape.shape.clone() }
    }
}

impl Late {
    fn of(limit_ms: f64, (late, skipped): (u64, u64), transactions: u64) -> Self {
        let all = transactions + skipped;
        let share = (all > 0).then(|| (late + skipped) as f64 / all as f64);
        Self { limit_ms, late, skipped, share }
    }
}

/// A statement of a script.
#[derive(Clone, Debug, Serialize)]
pub struct ScriptStatement {
    /// Kind of operation: `FILE:LINE`.
    pub kind: String,
    /// Its first words.
    pub begins: String,
}

impl Script {
    fn of(measured: &MeasuredTrial, Common { kinds, .. }: &Common<'_>) -> Option<Self> {
        let setup = measured.trial.setup.as_ref().and_then(Setup::script)?;
        // A trial that was killed has no outcome, but its samples.
        let outcome = measured.trial.outcome.as_ref().and_then(Outcome::script).cloned();
        let window: Vec<&Sample> = measured.samples.iter().filter(|s| s.phase == Phase::Measure).collect();
        let seconds: f64 = window.iter().map(|sample| sample.length_s).sum();
        let counted = |gauge: &str| {
            window.iter().filter_map(|sample| sample.gauges.get(gauge)).sum::<f64>().round() as u64
        };
        let empty = OperationInterval::default();
        let transactions = kinds.get(TRANSACTION).unwrap_or(&empty).count;
        let [failed, retries, late, skipped] = match &outcome {
            Some(outcome) => [outcome.failed, outcome.retries, outcome.late, outcome.skipped],
            None => [FAILED, clients::RETRIES, script::LATE, script::SKIPPED].map(counted),
        };
        let ScriptOutcome {
            transactions_by_client,
            unmet,
            first_unmet,
            first_failure,
            unanswered,
            replay,
            balances,
            disagreement,
            stopped,
            outages,
            away_by_client,
            ..
        } = outcome.unwrap_or_default();
        let by_client: Vec<f64> = transactions_by_client.iter().map(|&count| count as f64).collect();
        Some(Self {
            transactions,
            per_s: UNIT.within(transactions, seconds),
            failed,
            retries,
            late: setup.latency_limit_ms.map(|limit_ms| Late::of(limit_ms, (late, skipped), transactions)),
            unmet,
            first_unmet,
            first_failure,
            unanswered,
            balances,
            disagreement,
            client_variability: stats::variability(&by_client),
            stopped,
            outages,
            away_by_client,
            replay: setup.replay.clone().map(|log| Replay { log, statements: replay }),
            statements: ScriptStatement::all(setup),
            setup: setup.clone(),
        })
    }
}

impl Trial {
    /// Figures of scripts.
    #[must_use]
    pub fn script(&self) -> Option<&Script> {
        match &self.worked {
            Some(Worked::Script(script)) => Some(script),
            _ => None,
        }
    }
}

/// Share of the transactions that were tried again from which on locks are told.
const RETRIED_SHARE: f64 = 0.05;
/// Share of the transactions that a rate may leave unsent and be held.
const UNSENT_SHARE_MAX: f64 = stats::ORDERS_UNSENT_SHARE_MAX;

/// What transactions are counted in.
const UNIT: Unit = Unit::a_second("transactions/s", "transactions per second", "transactions");

static WORDS: Words = Words {
    one: "script",
    many: "scripts",
    anchor: "scripts",
    unit: UNIT,
    rate_metric: "transactions_per_s",
    headlines: &[finding::TRANSACTION_RATE],
    replaced: &[finding::TRANSACTION_RATE],
    all_in_flight: |slots| match slots {
        1 => "the one client was waiting for the database".to_owned(),
        _ => format!("all {} clients were waiting for the database", format::grouped(slots)),
    },
};

static LIMITS: Limits = Limits {
    busy_rule: "script_cpu",
    thread: "the busiest load thread",
    instead: "the clients' CPU, not the database",
    remedy: ", and give the load more threads or its own machine",
    alone: None,
    late_remedy: Some("add clients, or offer a lower rate"),
    is_alone: false,
};

impl Shown for OfScript {
    fn question(&self, _: &Report) -> &'static str {
        "How many of these transactions does this database complete, and how fast?"
    }

    fn words(&self) -> &'static Words {
        &WORDS
    }

    fn worked(&self, measured: &MeasuredTrial, common: &Common<'_>) -> Option<Worked> {
        Script::of(measured, common).map(|script| Worked::Script(Box::new(script)))
    }

    fn metrics(&self) -> &'static [MetricOf] {
        &[
            ("transactions_per_s", |trial| trial.script()?.per_s),
            ("late_pct", |trial| trial.script()?.late.as_ref()?.share.map(|share| share * 100.0)),
        ]
    }

    fn kinds(&self) -> &'static [&'static str] {
        &[TRANSACTION]
    }

    fn unsent_share_max(&self) -> Option<f64> {
        Some(UNSENT_SHARE_MAX)
    }

    fn away_by_client(&self, trial: &Trial) -> Vec<ClientAway> {
        trial.script().map(|script| script.away_by_client.clone()).unwrap_or_default()
    }

    fn outages<'a>(&self, trial: &'a Trial) -> Vec<&'a Outage> {
        trial.script().into_iter().flat_map(|script| &script.outages).collect()
    }

    fn servers<'a>(&self, setup: &'a Setup) -> Vec<&'a Server> {
        setup.script().map(|setup| &setup.server).into_iter().collect()
    }

    /// Of a replay they come when the log has them: that seconds differ says nothing of the database.
    fn answers_per_s(&self, trial: &Trial) -> Option<f64> {
        trial.main().filter(|_| !is_replay(trial))?.per_s
    }

    fn by_chance(&self, trial: &Trial) -> Option<Chance> {
        Chance::of(self.answers_per_s(trial)?, trial.measured_s)
    }

    /// An invalid trial has said why already.
    fn is_loaded(&self, trial: &Trial) -> bool {
        trial.script().is_some() && trial.state != State::Invalid
    }

    fn limits(&self) -> &'static Limits {
        &LIMITS
    }

    /// A replay has the sessions of its log, each in its order.
    fn late_remedy(&self, trial: &Trial) -> Option<&'static str> {
        match is_replay(trial) {
            true => Some(
                "each session waits for the previous answer, as in the log: replay it slower, or replay a part of the log",
            ),
            false => LIMITS.late_remedy,
        }
    }

    fn findings(&self, report: &Report) -> Vec<Verdict> {
        finding::all(report)
    }

    fn answers(&self, report: &Report) -> Vec<Answer> {
        answers(report)
    }

    /// Locks, where many were tried again.
    fn waits(&self, trial: &Trial) -> Option<Limit> {
        let script = trial.script().filter(|script| script.transactions > 0)?;
        let retried = script.retries as f64 / script.transactions as f64;
        Limit::of("locks", Some(retried), RETRIED_SHARE, [": ", " of the transactions were retried"])
    }

    fn doubts(&self, report: &Report) -> Vec<Verdict> {
        finding::doubts(report)
    }

    fn sections(&self, report: &Report) -> Vec<Section> {
        let main = table::transactions(report).map(Block::main);
        let statements = table::statements(report).map(Block::Table);
        let replayed = replay::table(report).map(Block::Table);
        let blocks = main.into_iter().chain(statements).chain(replayed).collect();
        vec![Section { place: Place::Figures, blocks }]
    }

    fn tiles(&self, report: &Report) -> Vec<Tile> {
        lead::tiles(report)
    }

    fn lead(&self, report: &Report) -> Option<Chart> {
        lead::chart(report)
    }

    fn overview(&self, report: &Report) -> Vec<Chart> {
        let heading = "Response time of a transaction of each configuration";
        strip::strip(report, Workload::Script, heading).into_iter().collect()
    }

    fn course(&self, trial: &Trial) -> Vec<Chart> {
        chart::all(trial)
    }

    fn draws_sessions(&self) -> bool {
        true
    }

    fn ink(&self, kind: &str) -> usize {
        usize::from(kind != TRANSACTION)
    }

    fn seconds(&self) -> &'static [Second] {
        &[
            Second { head: "transactions/s", value: |main, s| per_s(main, s), print: figure },
            Second { head: "failed", value: |_, s| gauge(s, FAILED), print: figure },
            Second { head: "retries", value: |_, s| gauge(s, clients::RETRIES), print: figure },
            Second {
                head: "longest",
                value: |_, s| s.operations.get(TRANSACTION)?.latency.max_us,
                print: format::latency,
            },
        ]
    }

    fn facts(&self, setup: &Setup) -> Option<Facts> {
        setup.script().map(facts::facts)
    }

    fn method(&self, report: &Report) -> Vec<String> {
        let has_replay = report.trials_of(Workload::Script).any(is_replay);
        METHOD.iter().chain(has_replay.then_some(&replay::METHOD)).map(|&text| text.to_owned()).collect()
    }

    fn columns(&self) -> &'static [Field] {
        &[
            ("transactions_per_s", |trial| number(trial.script()?.per_s?)),
            ("failed_transactions", |trial| Some(trial.script()?.failed.to_string())),
            ("late_transactions", |trial| Some(trial.script()?.late.as_ref()?.late.to_string())),
            ("skipped_transactions", |trial| Some(trial.script()?.late.as_ref()?.skipped.to_string())),
            ("retried_transactions", |trial| Some(trial.script()?.retries.to_string())),
            ("unmet_expectations", |trial| Some(trial.script()?.unmet.to_string())),
            ("unanswered_transactions", |trial| Some(trial.script()?.unanswered.to_string())),
        ]
    }
}

const METHOD: [&str; 2] = [
    "A transaction is one execution of a script from its first command to its last. Its response time includes sleeps and retries. \
    In an open loop it starts at the planned time. Failed transactions do not count in rates and latencies. The time of a statement lasts from when it is sent until its last row is read.",
    "After a deadlock or a serialization failure, prony rolls the transaction back and retries it at once. Each retry uses the same random numbers. The number of tries is limited.",
];

/// `PostgreSQL takes 12,340 transactions a second of 8 clients; a transaction takes 0.64 ms (p99 2.10 ms)`: none where they are compared,
/// or a rate was not held, which the findings tell in full.
fn answers(report: &Report) -> Vec<Answer> {
    /// More configurations are a table's.
    const MOST: usize = 2;
    let all: Vec<&Configuration> = report.configurations_of(Workload::Script).collect();
    if report.comparison.is_some() || all.len() > MOST {
        return Vec::new();
    }
    all.iter().map(|one| answer(report, one)).collect::<Option<Vec<Answer>>>().unwrap_or_default()
}

fn answer(report: &Report, configuration: &Configuration) -> Option<Answer> {
    let figures: &Figures = configuration.main().filter(|_| !configuration.is_failed())?;
    let setup = configuration.setup.as_ref().and_then(Setup::script)?;
    let how = match held(configuration, &report.trials) {
        None => String::new(),
        Some(Held::Yes(held)) => format!(", {held}"),
        Some(Held::No(_)) => return None,
    };
    let database = setup.server.version.split(' ').next().filter(|name| !name.is_empty())?;
    let takes = figures.latency.mean_us.map(|us| {
        let p99 = figures.latency.p99_us.map(|us| format!(" (p99 {})", format::latency(us)));
        format!(", {} per transaction{}", format::latency(us), p99.unwrap_or_default())
    });
    let (one, many) = if setup.replay.is_some() { ("session", "sessions") } else { ("client", "clients") };
    let clients = format::counted(setup.clients as usize, one, many);
    let rate = figure(figures.per_s?);
    let text = format!("{rate} transactions/s with {clients}{how}{}", takes.unwrap_or_default());
    Some(Answer::labelled(database, text))
}

/// Whether a log was replayed.
fn is_replay(trial: &Trial) -> bool {
    trial.script().is_some_and(|script| script.replay.is_some())
}

fn gauge(sample: &Sample, name: &str) -> Option<f64> {
    sample.gauges.get(name).copied()
}

#[cfg(test)]
pub(crate) mod tests;
