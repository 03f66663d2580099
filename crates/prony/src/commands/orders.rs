//! `prony orders`: what is done with an order store.

use database::Existing;
use study::WantedDatabase;
use workload::orders::Job;

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

/// What is loaded into a store, or what its clients write.
pub(super) fn written(database: &WantedDatabase, job: &Job) -> String {
    if database.existing == Existing::Use {
        return "orders into the stores, which the next run removes".to_owned();
    }
    let size = database.load.clone().unwrap_or_else(|| job.size.unwrap_or_default().to_string());
    let seed = job.store_seed.map_or_else(String::new, |seed| format!(", seed {seed},"));
    format!("an order store of {size}{seed} to {}, {}", database.place(), measuring::fate(database))
}
