//! Outcome of the operations during a fault: acknowledged, present, lost, unanswered, duplicate.

use record::Workload;

use crate::format::grouped;
use crate::report::Report;
use crate::table::{Row, Table, column, dash, words};
use crate::trial::Trial;

/// Outcome of the operations over the whole load, in the units of the workload: rows, orders, writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Account {
    /// Acknowledged, and to be there in the end.
    pub(crate) acknowledged: u64,
    /// Of these, those that are there; none where nobody could look.
    pub(crate) there: Option<u64>,
    /// Of these, those that are gone.
    pub(crate) lost: Option<u64>,
    /// Without an answer: nobody was told whether they were done.
    pub(crate) unanswered: u64,
    /// Of these, those that were done.
    pub(crate) unanswered_there: Option<u64>,
    /// There beyond all that were asked for: done twice.
    pub(crate) beyond: Option<u64>,
    /// That the server refused; none where those are not counted.
    pub(crate) refused: Option<u64>,
}

/// A row for each trial in which something was broken.
pub(super) fn table(report: &Report, workload: Workload) -> Option<Table> {
    let columns = vec![
        words("trial", "number", 0),
        column("acknowledged", "over the whole load, including its warm-up", 0),
        column("there", "acknowledged operations found at the end", 1),
        column("lost", "acknowledged operations not found", 0),
        column("ambiguous", "without an answer: they may or may not have been done", 0),
        column("were done", "unanswered operations that were found", 0),
        column("done twice", "data that no operation wrote", 0),
        column("refused", "operations that the server refused", 2),
    ];
    let row = |trial: &Trial| {
        let account = trial.shown().account(trial).filter(|_| !trial.beside.faults.is_empty())?;
        let known = |count: Option<u64>| dash(count.map(grouped));
        Some(Row::of(vec![
            trial.number.to_string(),
            grouped(account.acknowledged),
            known(account.there),
            known(account.lost),
            grouped(account.unanswered),
            known(account.unanswered_there),
            known(account.beyond),
            known(account.refused),
        ]))
    };
    let rows = report.trials_of(workload).filter_map(row).take(super::table::SHOWN_MAX);
    let table = Table::of("Outcome of the operations", columns, rows)?;
    Some(table.without_empty_columns(&["refused"]))
}

#[cfg(test)]
mod tests {
    use record::{FaultDone, MeasuredTrial};

    use super::*;
    use crate::fixture::{self, Collected, Sold};

    /// The row of a trial in which something was broken.
    fn row(workload: Workload, mut trial: MeasuredTrial) -> Vec<String> {
        trial.trial.faults = vec![FaultDone { asked: "kill at 20s".to_owned(), ..FaultDone::default() }];
        let report = Report::of(&fixture::study("kill", vec![trial]));
        table(&report, workload).unwrap().rows.remove(0).cells
    }

    /// How many of the orders that are there are those of purchases without an answer, and how many nobody asked for.
    #[test]
    fn orders_without_an_answer_are_there_or_not_and_what_is_there_besides_was_done_twice() {
        let of = |change: fn(&mut record::OrdersOutcome)| {
            let cells = row(Workload::Orders, Sold::at("32 clients", &[100.0]).outcome(change).trial(1));
            cells[2..].iter().map(|cell| cell.parse().unwrap_or(u64::MAX)).collect::<Vec<u64>>()
        };
        assert_eq!(of(|outcome| set(outcome, 900, 902, 0)), [900, 0, 3, 2, 0], "two of three were done");
        assert_eq!(of(|outcome| set(outcome, 900, 895, 6)), [894, 6, 3, 1, 0], "six are gone");
        assert_eq!(of(|outcome| set(outcome, 900, 905, 0)), [900, 0, 3, 3, 2], "two more than was asked for");
    }

    fn set(outcome: &mut record::OrdersOutcome, acknowledged: u64, found: u64, lost: u64) {
        let target = &mut outcome.targets[0];
        (target.purchases_from_start, target.rollbacks_from_start) = (acknowledged, 0);
        (target.orders_found, target.acknowledged_lost) = (Some(found), Some(lost));
        target.unanswered = 3;
    }

    #[test]
    fn rows_without_an_answer_were_looked_up_and_what_could_not_be_looked_at_is_unknown() {
        let of = |found: Option<u64>| {
            let change = move |outcome: &mut record::HistorianOutcome| {
                (outcome.rows_expected, outcome.rows_found, outcome.rows_compared) = (1_000, found, None);
                (outcome.found_after_outage, outcome.written_again) = (40, 60);
            };
            row(Workload::Historian, Collected::at("500/s", 500.0).outcome(change).trial(1))
        };
        assert_eq!(of(Some(1_000))[1..], ["1,000", "1,000", "0", "100", "40", "0"]);
        assert_eq!(of(Some(990))[1..], ["1,000", "990", "10", "100", "40", "0"]);
        assert_eq!(of(Some(1_010))[1..], ["1,000", "1,000", "0", "100", "40", "10"]);
        assert_eq!(of(None)[1..], ["1,000", "–", "–", "100", "40", "–"]);
    }

    #[test]
    fn a_trial_in_which_nothing_was_broken_has_no_row() {
        let trial = Sold::at("32 clients", &[100.0]).trial(1);
        assert!(table(&Report::of(&fixture::study("orders", vec![trial])), Workload::Orders).is_none());
    }
}
