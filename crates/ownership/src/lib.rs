//! What may be written, replaced or removed, and what not: the one place that decides it, for files, devices and databases.
//!
//! Whoever removes or replaces something needs a value that only a check here gives out: a [`Made`] file is known by its
//! inode, a database by a [`Permit`]. Nothing here knows what is in a file or speaks to a server; where marks are kept, and
//! how a database is dropped, is the affair of those who ask.

mod file;
mod run;
mod standing;
mod whole;

pub use file::{Directory, Identity, Made, Removal};
pub use run::RunId;
pub use standing::{Action, Claim, Existing, Mark, Permit, Refusal, Standing, action, may_remove};
