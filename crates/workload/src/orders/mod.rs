//! The order store: customers who log in, browse and buy, as in DVD Store 2.1.
//!
//! Sizes, tables, rates and distributions are those of DVD Store, so that published figures can be compared with; code and
//! word lists are our own.

mod contents;
pub mod csv;
mod data;
mod decimal;
mod driver;
mod job;
mod load;
mod number;
mod open_store;
mod reconcile;
mod restore;
#[cfg(test)]
mod round_trip_tests;
mod settings;
mod size;
pub mod store;
pub mod tables;
mod verify;
mod visit;
pub mod words;
mod workload;

/// Name of a store's database where nothing else is said.
pub const DATABASE: &str = "prony_orders";

pub use data::{Piece, RowSink, StoreData, StoreTable, Totals};
pub use driver::{StoreInUse, check, run};
pub use job::{Habits, Job};
pub use load::{LoadError, load, load_held, look};
pub use open_store::{WantedStore, look_at_store, open_store, store_at};
pub use restore::{RestoreError, Restored, restore};
pub use settings::{CpuTarget, Procedures, Settings};
pub use size::{SizeError, StoreSize};
pub use verify::{Check, verify};

use record::{Command, Parameter};

/// A parameter of this workload, where a sentence names it.
fn parameter(name: &str) -> Parameter<'static> {
    Parameter::new(format!("workload.orders.{name}"))
}

/// The command that loads a store of this size in place of what is there.
fn load_again(size: &str) -> Command<'_> {
    Command::new("orders load").with(Parameter::new("replace").of(true)).with(Parameter::new("size").of(size))
}

/// What the command that loads a store needs besides, where a sentence says so.
fn the_same_place() -> String {
    format!("the same {} and {}", Parameter::new("target"), Parameter::new("database"))
}
