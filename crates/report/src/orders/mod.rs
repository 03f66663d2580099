//! What a report says of an order store: orders a minute, where their time went, what the databases hold, what they cost.

pub(crate) mod chart;
pub(crate) mod cost;
pub(crate) mod doubt;
pub(crate) mod facts;
pub(crate) mod finding;
mod model;
pub(crate) mod page;
pub(crate) mod published;
pub(crate) mod table;

pub use cost::{Cost, CostItem, CostRow};
pub use model::{ClientSpread, CpuTarget, OrderTime, Orders, OrdersTarget, Reconciliation};
pub(crate) use model::{MINUTE_S, a_minute};
pub use published::{OrdersComparison, OrdersRow};
