//! What passed, as a table.

use super::{Done, Outcome};

/// A step on one line of the terminal.
pub(crate) fn line(done: &Done) -> String {
    let (mark, why) = told(&done.outcome);
    let why = if why.is_empty() { String::new() } else { format!("\n             {why}") };
    format!("{mark:<11}  {} ({:.1} s){why}", done.step.name, done.took_s)
}

/// How many of each.
pub(crate) fn sum(done: &[Done]) -> String {
    let count = |is: fn(&Outcome) -> bool| done.iter().filter(|done| is(&done.outcome)).count();
    format!(
        "{} passed, {} failed, {} lacking on this server, {} not run",
        count(|outcome| matches!(outcome, Outcome::Passed)),
        count(|outcome| matches!(outcome, Outcome::Failed(_))),
        count(|outcome| matches!(outcome, Outcome::Lacking(_))),
        count(|outcome| matches!(outcome, Outcome::NotRun(_)))
    )
}

/// The same for a file.
pub(crate) fn markdown(version: &str, done: &[Done]) -> String {
    let cell = |text: &str| text.replace('|', "\\|");
    let rows = done.iter().map(|done| {
        let (mark, why) = told(&done.outcome);
        format!("| {} | {mark} | {:.1} | {} |\n", cell(done.step.name), done.took_s, cell(&why))
    });
    format!(
        "prony {} on {}\n\n| step | result | s | why |\n|---|---|---|---|\n{}\n{}\n",
        env!("CARGO_PKG_VERSION"),
        version,
        rows.collect::<String>(),
        sum(done)
    )
}

fn told(outcome: &Outcome) -> (&'static str, String) {
    match outcome {
        Outcome::Passed => ("passed", String::new()),
        Outcome::Lacking(words) => ("not there", words.clone()),
        Outcome::Failed(why) => ("FAILED", why.clone()),
        Outcome::NotRun(before) => ("not run", format!("`{before}` did not pass")),
    }
}
