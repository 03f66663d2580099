//! What the measured system costs by its owner's price list, and what an order a minute costs, beside published systems.

use record::{Manifest, PriceItem, Prices};
use serde::Serialize;
use stats::{Estimate, PriceStep};

use super::UNIT;
use crate::configuration::Configuration;
use record::Workload;

/// Changes of the price whose effect is shown: a discount, or a rise.
const PRICE_CHANGES: [f64; 5] = [-0.2, -0.1, 0.0, 0.1, 0.2];

/// The price list of the measured system and what follows from it.
#[derive(Clone, Debug, Serialize)]
pub struct Cost {
    /// Currency of all amounts but the published ones, if the list names it.
    pub currency: Option<String>,
    /// Day of the prices.
    pub date: Option<String>,
    /// Where they come from.
    pub source: Option<String>,
    /// What they pay for.
    pub term: Option<String>,
    /// What was bought.
    pub items: Vec<CostItem>,
    /// The sum of all items.
    pub total: f64,
    /// Configuration with the most orders a minute, of which the cost is; none where no order was measured.
    pub configuration: Option<String>,
    /// Configurations whose interval of orders a minute reaches into that of this one: any may be the one with the most.
    pub not_apart: Vec<String>,
    /// The measured system first, then the published ones; empty where no order was measured.
    pub systems: Vec<CostRow>,
    /// What an order a minute costs if the price was another one.
    pub price_steps: Vec<PriceStep>,
    /// Title and author of the published systems.
    pub published_source: Option<String>,
}

/// A line of the price list.
#[derive(Clone, Debug, Serialize)]
pub struct CostItem {
    /// What it is.
    pub name: String,
    /// Price of one.
    pub amount: f64,
    /// How many.
    pub quantity: u32,
    /// Price of all of them.
    pub total: f64,
}

/// A system, its price and its orders.
#[derive(Clone, Debug, Serialize)]
pub struct CostRow {
    /// What it is.
    pub system: String,
    /// Whether it is one that others published.
    pub is_published: bool,
    /// Currency of its amounts.
    pub currency: Option<String>,
    /// Its price.
    pub total: f64,
    /// Orders a minute, rollbacks included.
    pub per_min: f64,
    /// The price of one order a minute with the interval that the measured rate's own makes of it.
    pub cost_interval: Option<Estimate>,
    /// Price of one order a minute, of published systems as printed; none where there were no orders.
    pub cost_per_opm: Option<f64>,
    /// Where the source contradicts itself.
    pub note: Option<String>,
}

/// None without a price list.
pub(crate) fn of(manifest: &Manifest, configurations: &[Configuration]) -> Option<Cost> {
    let prices = manifest.prices.as_ref()?;
    let total = prices.total();
    let (best, not_apart) = best(configurations);
    let ours = best.map(|Measured { name, per_min, interval }| CostRow {
        system: format!("measured here: {name}"),
        is_published: false,
        currency: prices.currency.clone(),
        total,
        per_min,
        cost_per_opm: stats::cost_per_unit(total, per_min),
        cost_interval: interval.and_then(|rate| stats::cost_estimate(total, &rate)),
        note: None,
    });
    let published = super::published::costs().filter(|_| ours.is_some());
    let (rows, source) = published.map_or((Vec::new(), None), |(rows, source)| (rows, Some(source)));
    Some(Cost {
        currency: prices.currency.clone(),
        date: prices.date.clone(),
        source: prices.source.clone(),
        term: prices.term.clone(),
        items: items(prices),
        total,
        configuration: best.map(|best| best.name.to_owned()),
        not_apart,
        systems: ours.into_iter().chain(rows).collect(),
        price_steps: best
            .map(|best| stats::price_steps(total, best.per_min, &PRICE_CHANGES))
            .unwrap_or_default(),
        published_source: source,
    })
}

/// A configuration's orders a minute.
#[derive(Clone, Copy)]
struct Measured<'a> {
    name: &'a str,
    per_min: f64,
    interval: Option<Estimate>,
}

/// The configuration with the most orders a minute, of those that were measured to their end, and the names of those that may have
/// as many: their intervals overlap, or there is none.
fn best(configurations: &[Configuration]) -> (Option<Measured<'_>>, Vec<String>) {
    let measured = |configuration: &'_ Configuration| Some(UNIT.of(configuration.main()?.per_s?));
    let all: Vec<Measured<'_>> = configurations
        .iter()
        .filter(|configuration| configuration.is(Workload::Orders) && !configuration.cut_short)
        .filter_map(|configuration| {
            let interval = configuration.rate_per_s.map(|estimate| UNIT.estimate(estimate));
            Some(Measured { name: &configuration.name, per_min: measured(configuration)?, interval })
        })
        .collect();
    let best = all.iter().copied().max_by(|a, b| a.per_min.total_cmp(&b.per_min));
    let reaches = |one: &Measured<'_>| {
        let ends = best.and_then(|best| best.interval).zip(one.interval);
        ends.is_none_or(|(best, own)| own.high >= best.low)
    };
    let others = all.iter().filter(|one| best.is_some_and(|best| best.name != one.name) && reaches(one));
    (best, others.map(|one| one.name.to_owned()).collect())
}

fn items(prices: &Prices) -> Vec<CostItem> {
    let item = |item: &PriceItem| CostItem {
        name: item.name.clone(),
        amount: item.amount,
        quantity: item.quantity,
        total: item.total(),
    };
    prices.items.iter().map(item).collect()
}
