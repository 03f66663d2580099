//! The order store in a database: its tables and keys, and the operations of its clients, as server-side procedures or as
//! prepared statements. Each operation means the same on every engine and in both styles.
//!
//! It loads nothing, paces nothing and tries nothing again: an operation is one call, and what is in its way is
//! [`database::Error::Conflict`].

mod abilities;
mod client;
mod loaded;
mod schema;
mod statements;
#[cfg(test)]
mod tests;
mod undo;

pub use abilities::Abilities;
pub(super) use abilities::{search_again, told};
pub use client::{Amounts, By, Client, NewCustomer, Purchased, Style};
pub(super) use loaded::mark;
pub use loaded::{Loaded, State, mark_used, read_loaded, write_loaded};
pub use schema::{after_load, create_tables, drop_tables, prepare_load};
pub(super) use statements::orders_after;
pub(super) use undo::{
    Removed, empty_inventory, finish_undo, prepare_undo, remove_customers, remove_orders, reset_ids,
};
