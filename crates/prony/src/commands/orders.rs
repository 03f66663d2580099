//! `prony orders`: what is done with an order store.

use super::{measuring, orders_generate, orders_store};
use crate::arguments::Orders;
use crate::exit::{Exit, Failure};

pub(crate) fn run(command: &Orders) -> Result<Exit, Failure> {
    match command {
        Orders::Generate(generate) => orders_generate::generate(generate),
        Orders::Load(load) => orders_store::load(load),
        Orders::Run(run) => measuring::run(run.asked()),
        Orders::Verify(verify) => orders_store::verify(verify),
    }
}
