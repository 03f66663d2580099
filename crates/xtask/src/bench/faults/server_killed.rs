//! `kill -9` of the server in the middle of a run: what the report says of rows and orders against what SQL of our own counts.
//!
//! With the servers' own settings nothing that was acknowledged may be lost; with those that acknowledge before they write
//! much is, and the number must be told to the last row, and by the exit code.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use instance::Options;
use serde_json::Value;

use super::lab::{Lab, results_in};
use super::process::{Ended, Started, run};
use super::server::{Kind, Server};
use super::tally::{Findings, Tally};

const LIMIT: Duration = Duration::from_secs(240);
/// By then a load has begun.
const BEGIN_LIMIT: Duration = Duration::from_secs(60);
/// The server is killed within this time after the first sample, which is that of the first second.
const KILLED_WITHIN: Duration = Duration::from_millis(1900);

const NAME: &str = "kept_by_the_user";

/// A command, and how its report is judged.
struct Workload {
    words: &'static str,
    needs_store: bool,
    /// Counts what is there.
    count: &'static str,
    judge: fn(&Value, u64) -> Result<Judged>,
}

/// What is wrong with a report, and how many were lost.
struct Judged {
    wrong: Findings,
    lost: u64,
}

const HISTORIAN: Workload = Workload {
    words: "historian --rate 2000 --warm-up 0s --duration 3s --screens 0 --replace --keep --json \
            --database kept_by_the_user",
    needs_store: false,
    count: "SELECT count(*) FROM samples",
    judge: judge_historian,
};
const ORDERS: Workload = Workload {
    words: "orders run --n-threads 4 --warmup-time 500ms --run-time 3s --json --database kept_by_the_user",
    needs_store: true,
    count: "SELECT count(*) FROM orders WHERE orderid > (SELECT orderid_max FROM store)",
    judge: judge_orders,
};

pub(super) fn historian(lab: &Lab, kind: Kind) -> Result<Tally> {
    cases(lab, kind, &Options::default(), &HISTORIAN)
}

pub(super) fn orders(lab: &Lab, kind: Kind) -> Result<Tally> {
    cases(lab, kind, &Options::default(), &ORDERS)
}

pub(super) fn lossy_historian(lab: &Lab, kind: Kind) -> Result<Tally> {
    cases(lab, kind, &lossy(kind), &HISTORIAN)
}

pub(super) fn lossy_orders(lab: &Lab, kind: Kind) -> Result<Tally> {
    cases(lab, kind, &lossy(kind), &ORDERS)
}

/// Acknowledged before it is written.
fn lossy(kind: Kind) -> Options {
    match kind {
        Kind::Postgres => {
            Options::default().setting("synchronous_commit", "off").setting("wal_writer_delay", "10000")
        }
        Kind::MariaDb => Options::default()
            .setting("innodb_flush_log_at_trx_commit", "0")
            .setting("innodb_flush_log_at_timeout", "10"),
    }
}

fn cases(lab: &Lab, kind: Kind, options: &Options, workload: &Workload) -> Result<Tally> {
    let mut server = Server::start_with(kind, options)?;
    let is_lossy = *options != Options::default();
    let mut tally = Tally::default();
    let mut losses = 0;
    for number in 0..lab.cases() {
        let directory = lab.fresh("work")?;
        if workload.needs_store {
            load(lab, &server, &directory)?;
        }
        // What was there before the run is not what is to be lost.
        server.ask(None, make_durable(kind))?;
        let moment = lab.random(number).moment(KILLED_WITHIN);
        let ended = killed_after(lab, &mut server, workload.words, moment, &directory)?;
        let (mut found, lost) = judged(workload, &server, &ended)?;
        losses += u32::from(lost > 0);
        found.check(is_lossy || lost == 0, || {
            format!("{lost} lost by a server that writes before it answers")
        });
        let words = workload.words;
        tally.count(
            &format!("case {}: server killed {moment:?} after the first sample of `{words}`", number + 1),
            found,
        );
    }
    if is_lossy {
        println!("  something was lost in {losses} of {}", tally.tried());
    }
    Ok(tally)
}

/// A store of its own for a case: a lost commit may have been one of the load.
fn load(lab: &Lab, server: &Server, directory: &Path) -> Result<()> {
    let words = format!("orders load --replace --size 1MB --database {NAME} --target {}", server.url());
    let loaded = run(lab.prony(&words, directory), LIMIT)?;
    ensure!(loaded.code() == Some(0), "{}", loaded.shown());
    Ok(())
}

/// What is wrong with a run, and how many were lost in it.
fn judged(workload: &Workload, server: &Server, ended: &Ended) -> Result<(Findings, u64)> {
    let mut found = ended.faults();
    if !found.is_empty() {
        return Ok((found, 0));
    }
    let report = match serde_json::from_str::<Value>(&ended.stdout) {
        Ok(report) if is_measured(&report) => report,
        Ok(_) => {
            found.add(format!("nothing was measured: {}", ended.shown()));
            return Ok((found, 0));
        }
        Err(error) => {
            found.add(format!("no report ({error}): {}", ended.shown()));
            return Ok((found, 0));
        }
    };
    let counted = server.number(NAME, workload.count)?;
    let Judged { wrong, lost } = (workload.judge)(&report, counted)?;
    found.extend(wrong);
    found.extend(code_unlike(ended, lost));
    Ok((found, lost))
}

fn make_durable(kind: Kind) -> &'static str {
    match kind {
        Kind::Postgres => "CHECKPOINT",
        Kind::MariaDb => "FLUSH ENGINE LOGS",
    }
}

/// Runs prony, kills the server at a moment after the load began, and starts it again at once.
fn killed_after(
    lab: &Lab,
    server: &mut Server,
    words: &str,
    moment: Duration,
    directory: &Path,
) -> Result<Ended> {
    let mut command = lab.prony(words, directory);
    command.args(["--target", &server.url()]);
    let mut started = Started::new(command)?;
    let has_begun =
        started.wait_until(BEGIN_LIMIT, || first_trial(directory, "samples.ndjson").contains('\n'))?;
    ensure!(has_begun, "`{words}` did not begin: {}", started.ended_within(Duration::ZERO)?.shown());
    let age = started.age();
    started.runs_until(age + moment)?;
    server.kill()?;
    server.start_again()?;
    started.ended_within(LIMIT)
}

/// Whether the first trial has a setup, which is written before its load begins.
pub(super) fn load_has_begun(directory: &Path) -> bool {
    first_trial(directory, "trial.json").contains("\"workload\"")
}

/// A file of the first trial of the youngest results in a directory; empty while there is none.
fn first_trial(directory: &Path, name: &str) -> String {
    let results = results_in(directory);
    let path = results.last().map(|results| results.join("trials/0001").join(name));
    path.and_then(|path| std::fs::read_to_string(path).ok()).unwrap_or_default()
}

fn judge_historian(report: &Value, counted: u64) -> Result<Judged> {
    let told = &report["trials"][0]["historian"];
    let acknowledged = number(told, "acknowledged")?;
    let lost = acknowledged.saturating_sub(counted);
    let mut wrong = Findings::default();
    wrong.check(told["rows_found"] == counted, || {
        format!("{counted} rows are there, not {}", told["rows_found"])
    });
    wrong.check(told["rows_lost"] == lost, || {
        format!("{acknowledged} acknowledged − {counted} there = {lost} lost, not {}", told["rows_lost"])
    });
    wrong.check(counted <= acknowledged, || format!("{counted} rows of {acknowledged} acknowledged"));
    Ok(Judged { wrong, lost })
}

fn judge_orders(report: &Value, counted: u64) -> Result<Judged> {
    let told = &report["trials"][0]["orders"]["targets"][0]["reconciliation"];
    let [acknowledged, unanswered] = [number(told, "acknowledged")?, number(told, "unanswered")?];
    let mut wrong = Findings::default();
    wrong.check(told["orders_found"] == counted, || {
        format!("{counted} new orders are there, not {}", told["orders_found"])
    });
    let Some(lost) = told["acknowledged_lost"].as_u64() else {
        wrong.add(format!("nobody says what was lost: {told}"));
        return Ok(Judged { wrong, lost: 0 });
    };
    // An order whose answer was lost with its connection may be there or not, so that there is a range.
    let kept = acknowledged.saturating_sub(lost);
    wrong.check((kept..=kept + unanswered).contains(&counted), || {
        format!(
            "{acknowledged} acknowledged − {lost} lost + up to {unanswered} unanswered are not the {counted} there"
        )
    });
    Ok(Judged { wrong, lost })
}

/// Whether there are figures of what became of rows or orders.
fn is_measured(report: &Value) -> bool {
    let trial = &report["trials"][0];
    trial["historian"].is_object() || trial["orders"].is_object()
}

/// A loss is exit code 1, and without one it is another.
fn code_unlike(ended: &Ended, lost: u64) -> Findings {
    let mut found = Findings::default();
    let is_right = (ended.code() == Some(1)) == (lost > 0);
    found.check(is_right, || format!("{lost} lost, and {}", ended.shown()));
    found
}

fn number(of: &Value, name: &str) -> Result<u64> {
    of[name].as_u64().with_context(|| format!("the report has no number `{name}` in {of}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::process::tests::ended;
    use super::*;

    fn rows(acknowledged: u64, found: u64, lost: u64) -> Value {
        json!({"trials": [{"historian": {
            "acknowledged": acknowledged, "rows_found": found, "rows_lost": lost
        }}]})
    }

    fn orders_told(acknowledged: u64, found: u64, lost: u64, unanswered: u64) -> Value {
        json!({"trials": [{"orders": {"targets": [{"reconciliation": {
            "acknowledged": acknowledged, "orders_found": found, "acknowledged_lost": lost, "unanswered": unanswered
        }}]}}]})
    }

    #[test]
    fn rows_are_judged_to_the_last_one() {
        for (report, counted, is_right) in [
            (rows(100, 100, 0), 100, true),
            (rows(100, 90, 10), 90, true),
            (rows(100, 100, 0), 99, false),
            (rows(100, 90, 9), 90, false),
            (rows(100, 101, 0), 101, false),
        ] {
            let judged = judge_historian(&report, counted).unwrap();
            assert_eq!(judged.wrong.is_empty(), is_right, "{report} {counted}");
            assert_eq!(judged.lost, 100_u64.saturating_sub(counted));
        }
    }

    #[test]
    fn orders_are_judged_to_the_last_one_but_for_the_unanswered() {
        for (report, counted, is_right) in [
            (orders_told(50, 50, 0, 0), 50, true),
            (orders_told(50, 52, 0, 2), 52, true),
            (orders_told(50, 45, 5, 0), 45, true),
            (orders_told(50, 53, 0, 2), 53, false),
            (orders_told(50, 45, 4, 0), 45, false),
            (orders_told(50, 50, 0, 0), 49, false),
        ] {
            assert_eq!(
                judge_orders(&report, counted).unwrap().wrong.is_empty(),
                is_right,
                "{report} {counted}"
            );
        }
    }

    #[test]
    fn a_loss_is_exit_code_1_and_nothing_else_is() {
        for (code, lost, is_right) in [(1, 5, true), (0, 0, true), (5, 0, true), (0, 5, false), (1, 0, false)]
        {
            let found = code_unlike(&ended(Some(code << 8), ""), lost);
            assert_eq!(found.is_empty(), is_right, "exit code {code}, {lost} lost");
        }
    }
}
