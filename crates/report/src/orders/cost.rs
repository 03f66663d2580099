//! What the measured system costs by its owner's price list, and what an order a minute costs, beside published systems.

use record::{Manifest, PriceItem, Prices};
use serde::Serialize;
use stats::PriceStep;

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
    /// Price of one order a minute, of published systems as printed; none where there were no orders.
    pub cost_per_opm: Option<f64>,
    /// Where the source contradicts itself.
    pub note: Option<String>,
}

/// None without a price list.
pub(crate) fn of(manifest: &Manifest, configurations: &[Configuration]) -> Option<Cost> {
    let prices = manifest.prices.as_ref()?;
    let total = prices.total();
    let best = best(configurations);
    let ours = best.map(|(name, per_min)| CostRow {
        system: format!("measured here: {name}"),
        is_published: false,
        currency: prices.currency.clone(),
        total,
        per_min,
        cost_per_opm: stats::cost_per_unit(total, per_min),
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
        configuration: best.map(|(name, _)| name.to_owned()),
        systems: ours.into_iter().chain(rows).collect(),
        price_steps: best
            .map(|(_, per_min)| stats::price_steps(total, per_min, &PRICE_CHANGES))
            .unwrap_or_default(),
        published_source: source,
    })
}

/// The configuration with the most orders a minute, of those that were measured to their end.
fn best(configurations: &[Configuration]) -> Option<(&str, f64)> {
    let rate = |configuration: &'_ Configuration| Some(UNIT.of(configuration.main()?.per_s?));
    configurations
        .iter()
        .filter(|configuration| configuration.is(Workload::Orders) && !configuration.cut_short)
        .filter_map(|configuration| Some((configuration.name.as_str(), rate(configuration)?)))
        .max_by(|a, b| a.1.total_cmp(&b.1))
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
