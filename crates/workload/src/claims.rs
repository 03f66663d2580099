//! What runs of tests want of databases: each is a run of its own.

use database::{Claim, Existing, RunId};

/// A run of its own.
pub(crate) fn run_id() -> RunId {
    RunId::new().unwrap()
}

/// What a run of its own wants of a name.
pub(crate) fn claim(existing: Existing) -> Claim {
    Claim::new(run_id(), existing)
}
