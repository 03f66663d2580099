//! The tables of what an order a minute costs.

use crate::format::{self, figure, grouped, plain};
use crate::orders::{Cost, CostRow};
use crate::section::Block;
use crate::table::{Column, Row, Table, column, dash, words};

/// What is told of the cost.
pub(crate) fn blocks(cost: &Cost) -> Vec<Block> {
    let unchecked = "The prices come from the user's list. prony does not check them.";
    let systems = systems(cost).map(|table| Block::Beside { table, measured: 1 });
    let mut blocks =
        vec![Block::Table(prices(cost)), Block::Remark(format!("{unchecked} {}", price_source(cost)))];
    blocks.extend(price_steps(cost).map(Block::Table).into_iter().chain(systems));
    blocks.push(Block::Notes { sentences: system_notes(cost), sources: Vec::new() });
    blocks
}

/// The price list with its sum.
fn prices(cost: &Cost) -> Table {
    let unit = cost.currency.as_deref().unwrap_or("currency not named");
    let columns = vec![
        words("item", "what was bought", 0),
        column("quantity", "how many", 0),
        Column { meaning: "price of one", ..Column::number(format!("each, {unit}")) },
        Column { meaning: "price of all units", ..Column::number(format!("price, {unit}")) },
    ];
    let items = cost.items.iter().map(|item| {
        Row::of(vec![
            item.name.clone(),
            grouped(item.quantity.into()),
            format::money(item.amount),
            format::money(item.total),
        ])
    });
    let total = Row::of(vec!["Total".to_owned(), String::new(), String::new(), format::money(cost.total)]);
    Table { title: "Price of the measured system".to_owned(), columns, rows: items.chain([total]).collect() }
}

/// Ours first, then the published systems; none where no order was measured.
fn systems(cost: &Cost) -> Option<Table> {
    let columns = vec![
        words("system", "what was measured", 0),
        words("figures", "measured here, or published by others", 0),
        column("price", "of the whole system", 0),
        column("orders/min", "of all databases, including rolled-back orders", 0),
        column("cost per order/min", "price divided by the orders per minute, with their 95% interval", 0),
    ];
    let row = |row: &CostRow| {
        let unit = row.currency.as_deref().unwrap_or_default();
        let with_unit = |amount: String| format!("{amount} {unit}").trim_end().to_owned();
        Row::of(vec![
            row.system.clone(),
            if row.is_published { "published" } else { "measured" }.to_owned(),
            with_unit(format::money(row.total)),
            if row.is_published { plain(row.per_min) } else { figure(row.per_min) },
            dash(row.cost_per_opm.map(|cost| with_unit(format::small_money(cost)) + &interval(row))),
        ])
    };
    Table::of("Cost per order per minute", columns, cost.systems.iter().map(row))
}

/// ` (0.58–0.62)`, what the interval of the rate makes of the cost; nothing where there is none, or where its ends read alike.
pub(crate) fn interval(row: &CostRow) -> String {
    let ends = row.cost_interval.map(|cost| (format::small_money(cost.low), format::small_money(cost.high)));
    ends.filter(|(low, high)| low != high).map(|(low, high)| format!(" ({low}–{high})")).unwrap_or_default()
}

/// What the cost comes to if the price was another one; none where no order was measured.
fn price_steps(cost: &Cost) -> Option<Table> {
    let unit = cost.currency.as_deref().unwrap_or("currency not named");
    let columns = vec![
        column("price changed by", "share of the whole price", 0),
        Column::number(format!("price, {unit}")),
        Column::number(format!("cost per order/min, {unit}")),
    ];
    let change = |share: f64| match share {
        share if share > 0.0 => format!("+{}%", plain(share * 100.0)),
        share if share < 0.0 => format!("−{}%", plain(-share * 100.0)),
        _ => "0%".to_owned(),
    };
    let rows: Vec<Row> = cost
        .price_steps
        .iter()
        .map(|step| {
            Row::of(vec![change(step.change), format::money(step.price), format::small_money(step.cost)])
        })
        .collect();
    (!rows.is_empty()).then_some(Table { title: "With other prices".to_owned(), columns, rows })
}

/// Who names the prices, when and for what.
fn price_source(cost: &Cost) -> String {
    let parts = [
        cost.date.as_ref().map(|date| format!("Prices of {date}")),
        cost.source.as_ref().map(|source| format!("source: {source}")),
        cost.term.as_ref().map(|term| format!("term: {term}")),
    ];
    let text = parts.into_iter().flatten().collect::<Vec<String>>().join("; ");
    if text.is_empty() { "Prices without a date or a source.".to_owned() } else { format!("{text}.") }
}

/// Where the published systems come from, and where their source contradicts itself, a sentence each.
fn system_notes(cost: &Cost) -> Vec<String> {
    let noted = |row: &CostRow| Some(format!("{}: {}.", row.system, row.note.as_ref()?));
    let source =
        cost.published_source.as_ref().map(|source| format!("Source of the published systems: {source}"));
    cost.systems.iter().filter_map(noted).chain(source).collect()
}
