//! The budget of time as a table: a row for each class.

use record::Workload;

use super::{Budget, Spent};
use crate::format::{self, UNKNOWN};
use crate::report::Report;
use crate::section::Block;
use crate::table::{Row, Table, column, words};
use crate::trial::Trial;

/// Trials whose budgets a terminal shows.
const TRIALS_MOST: usize = 4;

/// What the figures are.
const MEANING: &str = "Session counts are means over samples of the server, ten per second. Divided by the rate, they give the time per operation. Sessions that waited for their planned time to send do not count";

/// The budgets of a workload's trials, as far as servers told what their sessions did.
pub(crate) fn blocks(report: &Report, workload: Workload) -> Vec<Block> {
    let trials: Vec<&Trial> = report.trials_of(workload).filter(|trial| trial.budget.is_some()).collect();
    let Some(table) = of_all(&trials) else { return Vec::new() };
    if trials.len() > TRIALS_MOST {
        return vec![Block::OnPage { summary: table.title.clone(), table }];
    }
    vec![Block::Table(table), Block::Remark(format!("{MEANING}."))]
}

fn of_all(trials: &[&Trial]) -> Option<Table> {
    let mut columns =
        vec![column("#", "number of the trial", 4), words("trial", "name of the configuration", 1)];
    columns.extend(columns_of());
    let rows = trials.iter().flat_map(|trial| {
        let parts = trial.budget.iter().flat_map(|budget| sorted(budget)).enumerate();
        parts.map(|(index, part)| {
            let lead = match index {
                0 => [trial.number.to_string(), trial.name.clone()],
                _ => [String::new(), String::new()],
            };
            Row { cells: lead.into_iter().chain(cells(part)).collect(), part: index > 0 }
        })
    });
    Table::of("Where the time of sessions went", columns, rows)
}

/// The budget of one trial.
pub(crate) fn table(trial: &Trial) -> Option<Table> {
    let rows = trial.budget.iter().flat_map(sorted).map(|part| Row::of(cells(part)));
    Table::of("Where the time of sessions went", columns_of(), rows)
}

fn columns_of() -> Vec<crate::table::Column> {
    vec![
        words("time went to", "activity of sessions, or the resource that they waited for", 0),
        column("share", "of the time of all sessions", 0),
        column("sessions", "mean number of sessions", 0),
        column("of an operation", "time per operation", 2),
        words("the server's name for it", "and its share of that row", 3),
    ]
}

/// The greatest first, what is not known last.
fn sorted(budget: &Budget) -> Vec<&Spent> {
    let mut parts: Vec<&Spent> = budget.parts.iter().collect();
    let rank = |part: &Spent| part.class == super::Class::Unknown;
    parts.sort_by(|a, b| rank(a).cmp(&rank(b)).then(b.share.total_cmp(&a.share)));
    parts
}

fn cells(part: &Spent) -> Vec<String> {
    vec![
        part.class.words().to_owned(),
        format::per_cent(part.share),
        format::figure(part.sessions),
        part.us_per_operation.map_or_else(|| UNKNOWN.to_owned(), format::latency),
        part.names(),
    ]
}
