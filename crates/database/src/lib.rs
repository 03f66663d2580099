//! Sessions of databases: open, execute, read, append in bulk, sizes, settings; and databases of our own.
//!
//! Callers write SQL per [`Dialect`] and know nothing else of an engine. Nothing here knows a workload, makes up SQL for
//! one, or measures time.

// What an engine or a dialect is asked is answered by each of them: a new one does not compile before it is.
#![cfg_attr(not(test), deny(clippy::wildcard_enum_match_arm))]

mod activity;
mod batches;
mod clickhouse;
mod cluster;
mod duckdb;
mod durability;
mod engine;
mod error;
mod fake;
mod http;
mod inspect;
mod login;
mod mysql;
mod numbers;
mod ours;
mod own;
mod postgres;
mod reactor;
mod resolve;
mod rows;
#[cfg(test)]
mod samples;
#[cfg(test)]
mod server_tests;
mod session;
mod several;
mod silence;
mod sqlite;
mod sqlserver;
mod statement;
mod threaded;
mod tls;
mod transaction;
mod url;

pub use activity::{Activity, Seen, Told};
pub use batches::batches;
pub use cluster::{Cluster, Member, Role, SeenCluster, address_of_nodes};
pub use engine::{Dialect, Engine};
pub use error::Error;
pub use fake::Fake;
pub use inspect::{Inspected, inspect};
pub use numbers::{Number, NumberRow, NumberTaker};
pub use own::{
    DelayedDurability, Held, Holder, Layout, Lease, Own, Recovery, Saved, Saving, is_name, look, look_as,
    look_inside, was_closed,
};
pub use ownership::{Claim, Existing, RunId};
pub use reactor::{Alarm, Reactor};
pub use rows::{Cell, Column, Kind, Rows, RowsProcedure, Table, Value};
pub use session::{Connection, Session, Sizes, UsedSpace, WriteMethod};
pub use sqlite::SessionsAtWork;
pub use statement::{Answer, Mistake, Protocol, Refusal, Wanted};
pub use transaction::Transaction;
pub use url::{Interface, Url, UrlError};
