//! Kinds of tables: the same rows and the same operations over a table that is made in one way or another. In memory or on disk,
//! durable or not, compiled or not, by rows or by columns.
//!
//! What each operation answers is known from the rows, so that a wrong answer is found. Nothing is concluded here.

mod checksum;
mod data;
mod job;
mod kind;
mod made;
mod mutation;
mod settings;
mod size;
mod statements;
mod survival;
mod table;
mod trial;
mod updates;
mod workload;

#[cfg(test)]
mod server_tests;

/// Name of the database that is made for a run.
pub const DATABASE: &str = "prony_tables";

pub use job::{Job, check};
pub use kind::{Access, Kind};
pub use made::{LeftSet, kinds_of, lacks};
pub use settings::Settings;
pub use survival::{Break, CHANGES, Kill, change_until_killed};
pub use trial::run;
