//! Registers: values that clients write and read by keys. How long nobody answers them, and what a database did that no register
//! does, follow from the history of all operations.

mod away;
mod driver;
pub mod history;
mod job;
mod settings;
mod store;
mod workload;

/// Name of the database that is made for a run.
pub const DATABASE: &str = "prony_register";

pub use driver::run;
pub use job::Job;
pub use settings::Settings;
