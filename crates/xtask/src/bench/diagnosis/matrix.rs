//! How often which cause was named for which bottleneck.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::cases::{Case, Engine};
use super::made::Said;

/// Share of the runs of a case in which it has to be named right.
const RIGHT_SHARE: f64 = 0.9;
/// What is told in place of a cause where a run came to nothing.
const NOT_RUN: &str = "not run";

/// The runs of all cases.
#[derive(Default)]
pub(super) struct Matrix {
    rows: BTreeMap<(&'static str, Engine), Row>,
}

#[derive(Default)]
struct Row {
    runs: u32,
    right: u32,
    wrongly_confirmed: u32,
    named: BTreeMap<String, u32>,
}

impl Matrix {
    /// Counts a run; none is one that came to nothing.
    pub(super) fn add(&mut self, case: &Case, said: Option<Said>) {
        let row = self.rows.entry((case.name, case.engine)).or_default();
        row.runs += 1;
        let cause = said.as_ref().map_or(NOT_RUN, |said| said.cause.as_str());
        let is_right = case.right.contains(&cause);
        row.right += u32::from(is_right);
        row.wrongly_confirmed +=
            u32::from(!is_right && said.as_ref().is_some_and(|said| said.strength == "confirmed"));
        *row.named.entry(cause.to_owned()).or_default() += 1;
    }

    pub(super) fn is_good(&self) -> bool {
        self.rows.values().all(|row| {
            f64::from(row.right) >= f64::from(row.runs) * RIGHT_SHARE && row.wrongly_confirmed == 0
        })
    }

    /// In Markdown, in the order of the cases.
    pub(super) fn table(&self, cases: &[&Case]) -> String {
        let mut text =
            String::from("| bottleneck | made by | engine | right | reported |\n|---|---|---|---|---|\n");
        for case in cases {
            let Some(row) = self.rows.get(&(case.name, case.engine)) else { continue };
            let mut named: Vec<(&String, &u32)> = row.named.iter().collect();
            named.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
            let named: Vec<String> =
                named.iter().map(|(cause, count)| format!("{} {count}", cause.replace('_', " "))).collect();
            // Writing to memory cannot fail.
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} of {} | {} |",
                case.name,
                case.made,
                case.engine.name(),
                row.right,
                row.runs,
                named.join(", ")
            );
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::super::cases::CASES;
    use super::*;

    fn said(cause: &str, strength: &str) -> Option<Said> {
        let (cause, strength) = (cause.to_owned(), strength.to_owned());
        Some(Said { cause, strength, words: String::new(), looked_at: serde_json::Value::Null })
    }

    #[test]
    fn nine_of_ten_are_good_and_fewer_or_a_wrong_cause_that_is_confirmed_are_not() {
        let case = CASES.iter().find(|case| case.name == "log flushes").unwrap();
        let mut matrix = Matrix::default();
        (0..9).for_each(|_| matrix.add(case, said("log_flushes", "likely")));
        matrix.add(case, said("locks", "likely"));
        assert!(matrix.is_good());
        assert!(
            matrix.table(&[case]).ends_with("| 9 of 10 | log flushes 9, locks 1 |\n"),
            "{}",
            matrix.table(&[case])
        );
        (0..10).for_each(|_| matrix.add(case, said("log_flushes", "likely")));
        matrix.add(case, said("locks", "confirmed"));
        assert!(!matrix.is_good(), "19 of 21 are right, and one is worse than wrong");
        let mut matrix = Matrix::default();
        (0..8).for_each(|_| matrix.add(case, said("log_flushes", "likely")));
        (0..2).for_each(|_| matrix.add(case, None));
        assert!(!matrix.is_good());
    }
}
