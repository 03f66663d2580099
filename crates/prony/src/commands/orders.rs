//! `prony orders`: what is done with an order store.

use database::Existing;
use study::WantedDatabase;
use workload::orders::{Job, StoreData, StoreTable};

use super::measuring::Written;
use super::{measuring, orders_generate, orders_store};
use crate::arguments::{Orders, PlannedOrders};
use crate::exit::{Exit, Failure};

pub(crate) fn run(command: &Orders) -> Result<Exit, Failure> {
    match command {
        Orders::Generate(generate) => orders_generate::generate(generate),
        Orders::Load(load) => orders_store::load(load),
        Orders::Run(run) => measuring::run(run.asked()),
        Orders::Verify(verify) => orders_store::verify(verify),
    }
}

pub(crate) fn plan(command: &PlannedOrders) -> Result<Exit, Failure> {
    match command {
        PlannedOrders::Run(run) => measuring::plan(run.asked()),
        PlannedOrders::Load(load) => orders_store::plan_load(load),
    }
}

/// What a row takes at least, its header included.
const ROW_BYTES_LEAST: u64 = 40;

/// The least that a store takes that is loaded.
fn least_bytes(job: &Job) -> u64 {
    let data = StoreData::new(job.size.unwrap_or_default(), StoreData::SEED);
    StoreTable::ALL.into_iter().map(|table| data.expected_rows(table)).sum::<u64>() * ROW_BYTES_LEAST
}

/// What is loaded into a store, or what its clients write.
pub(super) fn written(database: &WantedDatabase, job: &Job) -> Written {
    if database.existing == Existing::Use {
        let words = "orders to the stores (the next run deletes them)".to_owned();
        return Written { words, least_bytes: None };
    }
    let size = database.load.clone().unwrap_or_else(|| job.size.unwrap_or_default().to_string());
    let seed = job.store_seed.map_or_else(String::new, |seed| format!(", seed {seed},"));
    let words =
        format!("order store of {size}{seed} to {} ({})", database.place(), measuring::fate(database));
    Written { words, least_bytes: Some(least_bytes(job)) }
}
