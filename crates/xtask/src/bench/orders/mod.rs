//! `cargo xtask bench orders`: rows of the order store on one core, a load against `\copy`, and what clients cost.

use anyhow::Result;

use super::OrdersOptions;
use crate::workspace::Workspace;

mod clients;
mod copy;
mod rows;

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
    Ok(())
}
