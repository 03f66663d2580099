//! The published orders a minute of DVD Store on two sets of disks beside the measured ones, and what these systems cost.

use std::sync::OnceLock;

use record::{Loop, OrdersSetup, Setup, Workload};
use serde::{Deserialize, Serialize};

use crate::configuration::Configuration;
use crate::orders::{CostRow, Orders, UNIT};
use crate::trial::Trial;

/// Published orders a minute and ours.
#[derive(Clone, Debug, Serialize)]
pub struct OrdersComparison {
    /// What was measured here, a configuration each.
    pub ours: Vec<OrdersRow>,
    /// What was published, on the machine of the source.
    pub published: Vec<OrdersRow>,
    /// In what the published test differs, a sentence each.
    pub differences: Vec<String>,
    /// Title, author, machine and server.
    pub source: String,
}

/// One line of the comparison.
#[derive(Clone, Debug, Serialize)]
pub struct OrdersRow {
    /// Configuration, or the name of the published scenario.
    pub name: String,
    /// Mean time to think, in milliseconds.
    pub think_time_ms: f64,
    /// Clients of each database.
    pub threads: u32,
    /// Orders a minute of each database; means over repeats.
    pub per_min: Vec<f64>,
    /// Orders a minute of all databases, as printed.
    pub total_per_min: f64,
    /// (max − min) / max of the databases, as printed; none of a single database.
    pub variability: Option<f64>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Published {
    source: Source,
    driver: Driver,
    pub(crate) scenario: Vec<Scenario>,
    pub(crate) cost: Vec<SystemCost>,
}

#[derive(Debug, Deserialize)]
struct Source {
    title: String,
    author: String,
    engine: String,
    machine: String,
}

#[derive(Debug, Deserialize)]
struct Driver {
    database_gb: u32,
    threads: u32,
    warmup_min: u32,
    run_min: u32,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Scenario {
    pub(crate) id: String,
    think_time_ms: f64,
    pub(crate) opm: Vec<f64>,
    pub(crate) total_opm: f64,
    pub(crate) variability_pct: f64,
    note: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct SystemCost {
    system: String,
    pub(crate) total_usd: f64,
    pub(crate) opm: f64,
    pub(crate) usd_per_opm: f64,
    note: String,
}

/// The data that the program carries; none if it cannot be read, which a test rules out.
fn library() -> Option<&'static Published> {
    static LIBRARY: OnceLock<Option<Published>> = OnceLock::new();
    LIBRARY.get_or_init(|| shipped().ok()).as_ref()
}

fn shipped() -> Result<Published, toml::de::Error> {
    toml::from_str(include_str!("../../published/r630.toml"))
}

/// The comparison; none where no client took time to think, as all published ones did.
pub(crate) fn beside(configurations: &[Configuration], trials: &[Trial]) -> Option<OrdersComparison> {
    let published = library()?;
    let complete = configurations.iter().filter(|c| c.is(Workload::Orders) && !c.cut_short);
    let measured: Vec<(&OrdersSetup, OrdersRow)> =
        complete.filter_map(|configuration| row(configuration, trials)).collect();
    let setups: Vec<&OrdersSetup> = measured.iter().map(|(setup, _)| *setup).collect();
    let differences = differences(published, &setups);
    (!measured.is_empty()).then(|| OrdersComparison {
        ours: measured.into_iter().map(|(_, row)| row).collect(),
        published: published.scenario.iter().map(|scenario| theirs(scenario, &published.driver)).collect(),
        differences,
        source: source(published),
    })
}

/// A configuration with time to think and at least one target.
fn row<'a>(configuration: &'a Configuration, trials: &[Trial]) -> Option<(&'a OrdersSetup, OrdersRow)> {
    let setup = configuration.setup.as_ref().and_then(Setup::orders)?;
    let Loop::Closed { think_time_us } = setup.pacing else { return None };
    if think_time_us <= 0.0 || setup.targets.is_empty() {
        return None;
    }
    let runs: Vec<&Orders> = trials
        .iter()
        .filter(|trial| configuration.trials.contains(&trial.number))
        .filter_map(|trial| trial.orders())
        .collect();
    let target = |index: usize| {
        let rates = runs.iter().filter_map(|run| run.targets.get(index)?.per_min);
        stats::mean(&rates.collect::<Vec<f64>>())
    };
    let per_min: Vec<f64> = (0..setup.targets.len()).filter_map(target).collect();
    Some((
        setup,
        OrdersRow {
            name: configuration.name.clone(),
            think_time_ms: think_time_us / 1e3,
            threads: setup.n_threads,
            variability: stats::variability(&per_min),
            per_min,
            total_per_min: UNIT.of(configuration.main()?.per_s?),
        },
    ))
}

fn theirs(scenario: &Scenario, driver: &Driver) -> OrdersRow {
    OrdersRow {
        name: scenario.id.clone(),
        think_time_ms: scenario.think_time_ms,
        threads: driver.threads,
        per_min: scenario.opm.clone(),
        total_per_min: scenario.total_opm,
        variability: Some(scenario.variability_pct / 100.0),
    }
}

fn differences(published: &Published, setups: &[&OrdersSetup]) -> Vec<String> {
    let Driver { database_gb, threads, warmup_min, run_min } = published.driver;
    let listed = |of: fn(&record::StoreTarget) -> &str| {
        let mut words: Vec<&str> = Vec::new();
        for word in setups.iter().flat_map(|setup| &setup.targets).map(of) {
            if !words.contains(&word) {
                words.push(word);
            }
        }
        words.join(", ")
    };
    let mut sentences = vec![format!(
        "Published with DVD Store 2.1 on databases of {database_gb} GB with {threads} clients each, for {run_min} min after \
        {warmup_min} min of warm-up. Measured here on databases of {} with {}.",
        listed(|target| &target.size),
        listed(|target| &target.server.version)
    )];
    sentences.extend(
        published
            .scenario
            .iter()
            .filter_map(|scenario| Some(format!("{}: {}.", scenario.id, scenario.note.as_ref()?))),
    );
    sentences
}

fn source(published: &Published) -> String {
    let Source { title, author, engine, machine } = &published.source;
    format!("{author}: {title} ({machine}); {engine}")
}

/// What the published systems cost, with the source.
pub(crate) fn costs() -> Option<(Vec<CostRow>, String)> {
    let published = library()?;
    let row = |cost: &SystemCost| CostRow {
        system: cost.system.clone(),
        is_published: true,
        currency: Some("USD".to_owned()),
        total: cost.total_usd,
        per_min: cost.opm,
        cost_per_opm: Some(cost.usd_per_opm),
        cost_interval: None,
        note: Some(cost.note.clone()),
    };
    Some((published.cost.iter().map(row).collect(), source(published)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shipped_orders_agree_with_their_sums() {
        let orders = shipped().unwrap();
        assert_eq!((orders.scenario.len(), orders.cost.len()), (5, 2));
        for scenario in &orders.scenario {
            let sum: f64 = scenario.opm.iter().sum();
            // The source adds up before it rounds.
            assert!((sum - scenario.total_opm).abs() <= 2.0, "{}: {sum}", scenario.id);
            let variability = stats::variability(&scenario.opm).unwrap() * 100.0;
            assert!((variability - scenario.variability_pct).abs() <= 0.06, "{}: {variability}", scenario.id);
        }
        for cost in &orders.cost {
            let per_opm = stats::cost_per_unit(cost.total_usd, cost.opm).unwrap();
            assert!((per_opm - cost.usd_per_opm).abs() <= 0.005, "{cost:?}");
        }
    }
}
