//! The proof of a server's limits: this program does, within them, what they are to allow. Prony calls itself so, and nobody else.

use std::ffi::OsString;

use anyhow::anyhow;
use runner::WithinLimits;

use crate::exit::{Exit, Failure};
use crate::terminal;

/// Does what an argument says, and tells what was reached, or why it could not be done, as JSON.
pub(crate) fn run(work: Option<&OsString>) -> Result<Exit, Failure> {
    let text = work.map(|work| work.to_string_lossy()).unwrap_or_default();
    let work: WithinLimits = serde_json::from_str(&text).map_err(|error| {
        Failure::usage(anyhow!("{} is for internal use by prony: {error}", runner::PROVES))
    })?;
    let proofs = serde_json::to_string(&work.prove()).map_err(Failure::runtime)?;
    terminal::print_file(proofs.as_bytes())?;
    Ok(Exit::Pass)
}
