//! The order store: customers who log in, browse and buy, as in DVD Store 2.1.
//!
//! Sizes, tables, rates and distributions are those of DVD Store, so that published figures can be compared with; code and
//! word lists are our own.

mod size;
pub mod tables;

pub use size::{SizeError, StoreSize};
