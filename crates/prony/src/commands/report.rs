//! `prony report`: the report of a results directory, made again from its records.

use crate::arguments;
use crate::exit::{Exit, Failure};
use crate::session;

pub(crate) fn run(arguments: &arguments::Report) -> Result<Exit, Failure> {
    let report = session::make_report(&arguments.directory)?;
    session::show(&report, arguments.format)?;
    eprintln!("report: {}", arguments.directory.join("report.html").display());
    Ok(Exit::of(&report))
}
