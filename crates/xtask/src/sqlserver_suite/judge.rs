//! What a step came to.

use serde_json::Value;

use super::steps::{Gives, Step};
use super::{Outcome, Ran, number};

/// Held, not held, and not to be told: all are figures.
const MEASURED: [i32; 3] = [0, 3, 4];

pub(crate) fn judged(step: &Step, ran: &Ran) -> Outcome {
    match judge(step, ran) {
        Ok(()) => Outcome::Passed,
        Err(why) => {
            let said = [ran.stderr.as_str(), why.as_str()];
            let is_lacking = |words: &&&str| said.iter().any(|said| said.contains(**words));
            match step.lacking.iter().find(is_lacking) {
                Some(words) => Outcome::Lacking(line_with(&ran.stderr, words).unwrap_or(why)),
                None => Outcome::Failed(why),
            }
        }
    }
}

fn judge(step: &Step, ran: &Ran) -> Result<(), String> {
    let last = || {
        ran.stderr.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it says nothing").to_owned()
    };
    if let Gives::Refusal(words) = step.gives {
        let is_refused = matches!(ran.code, Some(1 | 2)) && ran.stderr.contains(words);
        return if is_refused { Ok(()) } else { Err(format!("is not refused: {}", last())) };
    }
    if matches!(step.gives, Gives::Success) {
        return if ran.code == Some(0) { Ok(()) } else { Err(last()) };
    }
    let document: Value = serde_json::from_str(&ran.stdout).map_err(|_| last())?;
    match step.gives {
        Gives::Document | Gives::Success | Gives::Refusal(_) => Ok(()),
        Gives::Records => records(ran, &document),
        Gives::Purged => purged(ran, &document),
        Gives::Shrunk => {
            purged(ran, &document)?;
            shrunk(ran.trial.as_deref().unwrap_or_default())
        }
        Gives::Purchases => purchases(ran, &document),
        Gives::Table => table(ran, &document),
    }
}

fn records(ran: &Ran, document: &Value) -> Result<(), String> {
    is_measured(ran, document)?;
    let of = |name: &str| number(document, &format!("/trials/0/historian/{name}"));
    match (of("acknowledged"), of("rows_found"), of("rows_lost")) {
        (Some(acknowledged), Some(found), Some(0)) if acknowledged > 0 && found >= acknowledged => Ok(()),
        (Some(acknowledged), found, lost) => {
            Err(format!("acknowledged {acknowledged}, found {found:?}, lost {lost:?}"))
        }
        (None, _, _) => Err("it says nothing of its rows".to_owned()),
    }
}

/// Of what a purge leaves nothing else is missing.
fn purged(ran: &Ran, document: &Value) -> Result<(), String> {
    is_measured(ran, document)?;
    let of = |name: &str| number(document, &format!("/trials/0/historian/{name}"));
    match (of("acknowledged"), of("rows_found"), of("rows_lost")) {
        (Some(acknowledged), Some(found), Some(0)) if found < acknowledged => Ok(()),
        (acknowledged, found, lost) => Err(format!(
            "nothing was purged, or too much: acknowledged {acknowledged:?}, found {found:?}, lost {lost:?}"
        )),
    }
}

/// The record has a shrink that took its time, and none that failed.
fn shrunk(trial: &str) -> Result<(), String> {
    let trial: Value = serde_json::from_str(trial).map_err(|_| "it left no record".to_owned())?;
    let purges =
        trial.pointer("/outcome/maintenance").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    if let Some(error) = purges.iter().find_map(|purge| purge.get("error")?.as_str()) {
        return Err(error.to_owned());
    }
    let is_shrunk = purges.iter().any(|purge| purge.get("shrink_s").is_some_and(Value::is_number));
    if is_shrunk { Ok(()) } else { Err("no file was shrunk".to_owned()) }
}

fn purchases(ran: &Ran, document: &Value) -> Result<(), String> {
    is_measured(ran, document)?;
    let of = |name: &str| number(document, &format!("/trials/0/orders/targets/0/reconciliation/{name}"));
    match (of("acknowledged"), of("acknowledged_lost")) {
        (Some(acknowledged), Some(0)) if acknowledged > 0 => Ok(()),
        (acknowledged, lost) => Err(format!("acknowledged {acknowledged:?}, of these lost {lost:?}")),
    }
}

/// Operations on a table.
const OPERATIONS: usize = 8;

/// A trial that was left out says why, and its run may end well.
fn table(ran: &Ran, document: &Value) -> Result<(), String> {
    is_measured(ran, document)?;
    let done = document.pointer("/trials/0/tables/operations").and_then(Value::as_array).map_or(0, Vec::len);
    let wrong = document.pointer("/trials/0/tables/wrong").and_then(Value::as_str);
    let reason = document.pointer("/trials/0/reason").and_then(Value::as_str);
    match (done, wrong.or(reason)) {
        (OPERATIONS, None) => Ok(()),
        (done, None) => Err(format!("{done} of {OPERATIONS} operations were done")),
        (_, Some(why)) => Err(why.to_owned()),
    }
}

fn is_measured(ran: &Ran, document: &Value) -> Result<(), String> {
    if ran.code.is_some_and(|code| MEASURED.contains(&code)) {
        return Ok(());
    }
    let reason = document.pointer("/trials/0/reason").and_then(Value::as_str);
    let last = ran.stderr.lines().rev().find(|line| line.starts_with("error"));
    Err(reason.or(last).map_or_else(|| format!("it ended with {:?}", ran.code), str::to_owned))
}

fn line_with(text: &str, words: &str) -> Option<String> {
    text.lines().find(|line| line.contains(words)).map(|line| line.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlserver_suite::steps::STEPS;

    fn step(name: &str) -> &'static Step {
        STEPS.iter().find(|step| step.name.contains(name)).unwrap()
    }

    fn ran(code: i32, stdout: &str, stderr: &str) -> Ran {
        Ran { code: Some(code), stdout: stdout.to_owned(), stderr: stderr.to_owned(), trial: None }
    }

    fn failed(outcome: &Outcome) -> Option<&str> {
        match outcome {
            Outcome::Failed(why) => Some(why),
            Outcome::Passed | Outcome::Lacking(_) | Outcome::NotRun(_) => None,
        }
    }

    #[test]
    fn a_historian_passes_only_if_all_that_was_acknowledged_is_there() {
        let told = |found: u64, lost: u64| {
            format!(
                "{{\"trials\":[{{\"historian\":{{\"acknowledged\":10,\"rows_found\":{found},\"rows_lost\":{lost}}}}}]}}"
            )
        };
        let bulk = step("bulk copies");
        assert!(matches!(judged(bulk, &ran(0, &told(10, 0), "")), Outcome::Passed));
        assert!(
            matches!(judged(bulk, &ran(3, &told(12, 0), "")), Outcome::Passed),
            "a row may be there twice"
        );
        for (code, found, lost) in [(0, 9, 0), (0, 10, 1), (1, 10, 0)] {
            assert!(
                failed(&judged(bulk, &ran(code, &told(found, lost), ""))).is_some(),
                "{code} {found} {lost}"
            );
        }
        assert_eq!(failed(&judged(bulk, &ran(1, "", "error: it is gone\n"))), Some("error: it is gone"));
    }

    #[test]
    fn a_kind_of_table_passes_only_if_all_was_done_and_each_answer_was_right() {
        let told = |done: usize, more: &str| {
            let done = vec!["{}"; done].join(",");
            format!("{{\"trials\":[{{\"tables\":{{\"operations\":[{done}]{more}}}}}]}}")
        };
        let rows = step("rows on disk, prepared");
        assert!(matches!(judged(rows, &ran(0, &told(8, ""), "")), Outcome::Passed));
        assert_eq!(failed(&judged(rows, &ran(0, &told(7, ""), ""))), Some("7 of 8 operations were done"));
        let wrong = told(8, ",\"wrong\":\"the scan answered [1]\"");
        assert_eq!(failed(&judged(rows, &ran(0, &wrong, ""))), Some("the scan answered [1]"));
        let left_out =
            r#"{"trials":[{"reason":"this server has no columnstore-index tables that can be changed"}]}"#;
        let columns = judged(step("a columnstore index"), &ran(0, left_out, ""));
        assert!(matches!(columns, Outcome::Lacking(why) if why.contains("can be changed")));
    }

    #[test]
    fn what_a_server_lacks_is_no_failure_where_that_can_be() {
        let stderr = "error: this server cannot empty a partition of samples\n";
        assert!(matches!(judged(step("by partition"), &ran(1, "", stderr)), Outcome::Lacking(_)));
        assert!(failed(&judged(step("bulk copies"), &ran(1, "", stderr))).is_some());
    }

    #[test]
    fn a_refusal_must_say_why() {
        let wrong = step("wrong password");
        assert!(matches!(judged(wrong, &ran(2, "", "error: … check user and password …")), Outcome::Passed));
        assert!(failed(&judged(wrong, &ran(2, "", "error: something"))).is_some());
        assert!(failed(&judged(wrong, &ran(0, "", "check user and password"))).is_some());
    }
}
