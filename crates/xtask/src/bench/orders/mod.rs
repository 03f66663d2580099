//! `cargo xtask bench orders`: rows of the order store on one core, a load against `\copy`, what clients cost, and
//! what it costs to look at their sessions.

use anyhow::Result;

use super::OrdersOptions;
use crate::workspace::Workspace;

mod clients;
mod copy;
mod rows;
mod sampling;

pub(super) fn run(options: &OrdersOptions, workspace: &Workspace) -> Result<()> {
    let wanted = |name: &str| name.contains(&options.only);
    if wanted("rows") {
        rows::run(options, workspace)?;
    }
    if wanted("load") {
        copy::run(options, workspace)?;
    }
    if wanted("clients") {
        clients::run(options, workspace)?;
    }
    if wanted("sampling") {
        sampling::run(options, workspace)?;
    }
    Ok(())
}
