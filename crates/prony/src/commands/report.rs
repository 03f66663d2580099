//! `prony report`: the report of a results directory, made again from its records.

use results::Archive;

use crate::arguments;
use crate::exit::{Exit, Failure};
use crate::session;

pub(crate) fn run(arguments: &arguments::Report) -> Result<Exit, Failure> {
    let archive = Archive::open(&arguments.directory).map_err(Failure::usage)?;
    let report = session::read_report(&archive)?;
    // Printed first: an archive that cannot be written can still be read.
    session::show(&report, arguments.format)?;
    session::write_report(&archive, &report)?;
    tell!("report: {}", arguments.directory.join("report.html").display());
    Ok(Exit::of(&report))
}
