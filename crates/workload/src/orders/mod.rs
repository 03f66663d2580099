//! The order store: customers log in, browse, and buy.

pub mod store;
