//! What single clients saw while something was broken: some are away longer than others, and longer than all of them at once.

use record::{ClientAway, Workload};

use crate::format::{self, grouped};
use crate::report::Report;
use crate::table::{Row, Table, column, words};
use crate::trial::Trial;

/// A row for each trial in which something was broken and a client waited for long; the JSON has each client.
pub(super) fn table(report: &Report, workload: Workload) -> Option<Table> {
    let columns = vec![
        words("trial", "number", 0),
        column("clients", "of the trial", 1),
        column(
            "were away",
            "clients that waited at least half a second for an answer; with registers, at least the time in `outage`",
            0,
        ),
        column("shortest", "shortest of these clients' longest waits", 1),
        column("median", "median of these clients' longest waits", 0),
        column("longest", "the longest", 0),
        column("together", "sum of all such waits of all clients", 2),
    ];
    let rows = report.trials_of(workload).filter_map(row).take(super::table::SHOWN_MAX);
    Table::of("Effect on single clients", columns, rows)
}

fn row(trial: &Trial) -> Option<Row> {
    if trial.beside.faults.is_empty() {
        return None;
    }
    let clients = trial.shown().away_by_client(trial);
    let away: Vec<&ClientAway> = clients.iter().filter(|client| client.times > 0).collect();
    let longest_s: Vec<f64> = away.iter().map(|client| client.longest_s).collect();
    let least_s = longest_s.iter().copied().reduce(f64::min)?;
    let most_s = longest_s.iter().copied().reduce(f64::max)?;
    Some(Row::of(vec![
        trial.number.to_string(),
        grouped(clients.len() as u64),
        grouped(away.len() as u64),
        format::duration(least_s),
        format::duration(stats::median(&longest_s)?),
        format::duration(most_s),
        format::duration(away.iter().map(|client| client.total_s).sum()),
    ]))
}

#[cfg(test)]
mod tests {
    use record::{FaultDone, MeasuredTrial, Outcome};

    use super::*;
    use crate::fixture::{self, Sold};

    fn cells(of: &[f64], is_broken: bool) -> Option<Vec<String>> {
        let client = |&longest_s: &f64| ClientAway {
            times: u64::from(longest_s > 0.0),
            longest_s,
            total_s: 2.0 * longest_s,
        };
        let away: Vec<ClientAway> = of.iter().map(client).collect();
        let mut trial: MeasuredTrial = Sold::at("32 clients", &[100.0]).trial(1);
        let Some(Outcome::Orders(outcome)) = &mut trial.trial.outcome else { panic!("it has one") };
        outcome.targets[0].away_by_client = away;
        trial.trial.faults = vec![FaultDone { asked: "kill at 20s".to_owned(), ..FaultDone::default() }];
        trial.trial.faults.truncate(usize::from(is_broken));
        let report = Report::of(&fixture::study("kill", vec![trial]));
        Some(table(&report, Workload::Orders)?.rows.remove(0).cells)
    }

    #[test]
    fn clients_are_away_for_times_of_their_own() {
        let told = cells(&[0.0, 3.5, 7.25, 4.0], true).unwrap();
        assert_eq!(told, ["1", "4", "3", "3.50 s", "4.00 s", "7.25 s", "30 s"]);
        assert_eq!(cells(&[0.0, 0.0], true), None, "nobody waited");
        assert_eq!(cells(&[3.5], false), None, "nothing was broken");
    }
}
