//! What was measured of each kind of table, and what speaks against it.

use record::Workload;

use super::figures::{Against, OPERATIONS, SIZES, all as configurations};
use super::{Tables, UNIT};
use crate::format::grouped;
use crate::report::Report;
use crate::verdict::rate::{interval, tail};
use crate::verdict::server::length_of;
use crate::verdict::{Fact, Level, Verdict};

/// Rule of what a kind came to.
pub(crate) const KIND: &str = "table_kind";

pub(crate) fn all(report: &Report) -> Vec<Verdict> {
    let kinds = configurations(report);
    let alone = kinds.len() == 1;
    let kinds = kinds.iter().filter_map(|one| kind(report, one, alone));
    kinds.chain(super::survival::findings(report)).collect()
}

/// `volatile table, …: 12,340 updates/s by key (12,100–12,500 in this trial), p99 2.10 ms`. Figures that the tables show for each kind are
/// added only if there is a single kind.
fn kind(report: &Report, one: &Against<'_>, alone: bool) -> Option<Verdict> {
    let configuration = one.configuration;
    let figures = configuration.main().filter(|_| !configuration.is_failed())?;
    let text = UNIT.text(figures.per_s?);
    let mut parts =
        vec![format!(" by key {}, {}", interval(configuration, UNIT.of(1.0)), tail(configuration, figures))];
    if alone {
        parts.extend(whole(report, one));
    }
    let server = &one.setup.server;
    parts.extend((!server.is_durable).then(|| match alone {
        true => format!("not durable: {}", server.durability),
        false => "not durable".to_owned(),
    }));
    parts.extend(alone.then(|| format!("created with {}", one.setup.made)));
    let verdict = Verdict::new(Level::Finding, KIND, Fact::around("", text, parts.join(", ")));
    Some(verdict.about(&configuration.name).of_trials(configuration.trials.clone()))
}

/// `load 1.20 s`, `scan 0.30 s`, …, `71.1 MiB on disk`.
fn whole(report: &Report, one: &Against<'_>) -> Vec<String> {
    let of_all = OPERATIONS.iter().filter(|measure| !measure.is_rate && measure.metric != "select_s");
    let operations = of_all.filter_map(|measure| {
        Some(format!("{} {}", measure.head, (measure.print)(one.mean(report, measure.of)?)))
    });
    let sizes = SIZES.iter().filter_map(|measure| {
        Some(format!("{} {}", (measure.print)(one.mean(report, measure.of)?), measure.head))
    });
    operations.chain(sizes).collect()
}

/// A level, a rule, and its fact.
type Said = Option<(Level, &'static str, String)>;

pub(crate) fn doubts(report: &Report) -> Vec<Verdict> {
    let of = |doubt: fn(&Tables) -> Said| {
        report.trials_of(Workload::Tables).filter_map(move |trial| {
            let (level, rule, sentence) = doubt(trial.tables()?)?;
            Some(Verdict::new(level, rule, sentence).about(&trial.name).of_trials(vec![trial.number]))
        })
    };
    let same_rows = super::same_rows::verdicts(report);
    of(wrong).chain(of(stopped)).chain(of(outages)).chain(same_rows).chain(lacking(report)).collect()
}

fn wrong(tables: &Tables) -> Said {
    let wrong = tables.wrong.as_ref()?;
    let sentence = format!("{wrong}, so the rows of the table differ from those expected");
    Some((Level::Failure, "table_wrong", sentence))
}

fn stopped(tables: &Tables) -> Said {
    let first = tables.stopped.first()?;
    let who = match (tables.stopped.len(), tables.setup.clients) {
        (1, 1) => "the only client".to_owned(),
        (stopped, of) => format!("{stopped} of {of} clients"),
    };
    let sentence = format!(
        "{who} stopped before the end ({}), so the figures are those of a smaller load",
        first.trim_end_matches('.')
    );
    Some((Level::Warning, "clients_stopped", sentence))
}

fn outages(tables: &Tables) -> Said {
    let first = tables.outages.first()?;
    let sentence = format!(
        "the database was unavailable{} ({}), and the outcome of {} updates is unknown",
        length_of(&tables.outages),
        first.error,
        grouped(tables.unanswered)
    );
    Some((Level::Warning, "outage", sentence))
}

/// What the engines have no kind for, each sentence once.
fn lacking(report: &Report) -> Option<Verdict> {
    let mut told: Vec<&String> = Vec::new();
    for lacks in
        report.trials_of(Workload::Tables).filter_map(|trial| trial.tables()).flat_map(|of| &of.setup.lacks)
    {
        if !told.contains(&lacks) {
            told.push(lacks);
        }
    }
    let sentence = told.iter().map(|lacks| lacks.as_str()).collect::<Vec<&str>>().join("; ");
    (!told.is_empty()).then(|| Verdict::new(Level::Note, "tables_lacking", sentence))
}
