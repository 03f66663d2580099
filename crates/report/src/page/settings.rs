//! What was asked and what was really set up: once for what all trials share, by trial for the rest.

use maud::{Markup, html};
use record::{Order, Workload};
use serde_json::Value;

use super::parts;
use crate::format;
use crate::report::Report;
use crate::table::{Column, Row, Table};
use crate::trial::Trial;
use crate::workloads::{self, Facts, Shown};

pub(crate) fn settings(report: &Report) -> Markup {
    let mut study = vec![
        ("command".to_owned(), format::command_line(&report.command)),
        ("seed".to_owned(), report.seed.to_string()),
        ("order of the trials".to_owned(), order(report)),
    ];
    study.extend(report.comparison.iter().flat_map(|compared| {
        let order = match compared.order {
            Order::Blocks => "random within each block, from the seed",
            Order::Abba => "ABBA: as given, and reversed in every second block",
            Order::Given => "as given, in each block",
            Order::Repeats => "all repeats of a combination in sequence",
        };
        [("blocks".to_owned(), compared.blocks.len().to_string()), ("order".to_owned(), order.to_owned())]
    }));
    let there: Vec<(Workload, &dyn Shown)> =
        workloads::all().filter(|(workload, _)| report.trials_of(*workload).next().is_some()).collect();
    let mut parts = Vec::new();
    for (workload, shown) in &there {
        let whose = if there.len() > 1 { format!(" of {}", shown.words().many) } else { String::new() };
        let trials = || report.trials_of(*workload);
        parts.push(split("Really set up", &whose, trials(), |trial| shown.facts(trial.setup.as_ref()?)));
        parts.push(split("As asked", &whose, trials(), |trial| Some(flat(&trial.parameters))));
    }
    html! {
        div.columns {
            (parts::facts("Study", &study))
            @for (title, shared, _) in parts.iter().filter(|(_, shared, _)| !shared.is_empty()) {
                (parts::facts(title, shared))
            }
        }
        @for table in parts.iter().filter_map(|(.., table)| table.as_ref()) { (parts::long_table(table)) }
        @if !report.study_toml.trim().is_empty() {
            details.input { summary { "The exact input (study.toml)" } (parts::text_of_lines(&report.study_toml)) }
        }
    }
}

/// What the settings hold, for who has not unfolded them.
pub(crate) fn inside(report: &Report) -> String {
    let input = if report.study_toml.trim().is_empty() { "" } else { ", the exact input" };
    format!("command, seed, requested and actual settings{input}")
}

/// The order in which the trials ran, by their start, as numbers.
fn order(report: &Report) -> String {
    let mut begun: Vec<&Trial> = report.trials.iter().filter(|trial| trial.started.is_some()).collect();
    begun.sort_by(|a, b| a.started.cmp(&b.started).then(a.number.cmp(&b.number)));
    if begun.windows(2).all(|pair| pair[0].number < pair[1].number) {
        return "as numbered".to_owned();
    }
    begun.iter().map(|trial| trial.number.to_string()).collect::<Vec<String>>().join(", ")
}

/// Facts that all of these trials share with their title, then a table of those in which they differ.
fn split<'a>(
    title: &str,
    whose: &str,
    trials: impl Iterator<Item = &'a Trial>,
    facts: impl Fn(&Trial) -> Option<Facts>,
) -> (String, Facts, Option<Table>) {
    let of: Vec<(&Trial, Facts)> =
        trials.filter_map(|trial| facts(trial).map(|facts| (trial, facts))).collect();
    let mut names: Vec<&String> = Vec::new();
    for (name, _) in of.iter().flat_map(|(_, facts)| facts) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let (shared, differing): (Vec<&String>, Vec<&String>) = names.into_iter().partition(|name| {
        let first = of.first().and_then(|(_, facts)| value(facts, name));
        of.iter().all(|(_, facts)| value(facts, name) == first)
    });
    let shared: Facts = shared
        .into_iter()
        .filter_map(|name| Some((name.clone(), value(&of.first()?.1, name)?.to_owned())))
        .collect();
    let differing = (!differing.is_empty()).then(|| by_trial(title, whose, &of, &differing));
    (format!("{title}, in all trials{whose}"), shared, differing)
}

fn value<'a>(facts: &'a Facts, name: &str) -> Option<&'a str> {
    facts.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
}

fn by_trial(title: &str, whose: &str, of: &[(&Trial, Facts)], names: &[&String]) -> Table {
    let mut columns = vec![Column::number("#"), Column::words("trial")];
    columns.extend(names.iter().map(|name| Column::words((*name).clone())));
    let rows = of.iter().map(|(trial, facts)| {
        let mut cells = vec![trial.number.to_string(), trial.name.clone()];
        cells.extend(names.iter().map(|name| value(facts, name).unwrap_or(format::UNKNOWN).to_owned()));
        Row::of(cells)
    });
    let rows = rows.collect();
    Table { title: format!("{title}, by trial{whose}"), columns, rows }
}

/// Nested parameters as dotted names, as a study file would spell them.
fn flat(parameters: &Value) -> Facts {
    let mut facts = Facts::new();
    flatten("", parameters, &mut facts);
    facts
}

fn flatten(prefix: &str, value: &Value, facts: &mut Facts) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let name = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
                flatten(&name, member, facts);
            }
        }
        Value::Null => {}
        Value::String(text) => facts.push((prefix.to_owned(), text.clone())),
        other => facts.push((prefix.to_owned(), other.to_string())),
    }
}
