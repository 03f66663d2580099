//! `prony report`: the report of a results directory, made again from its records.

use crate::exit::{Exit, Failure};
use crate::{arguments, session};

pub(crate) fn run(arguments: &arguments::Report) -> Result<Exit, Failure> {
    let report = session::read_report(&arguments.directory)?;
    // Printed first: an archive that cannot be written can still be read.
    session::write_shown(&report, &arguments.directory, session::show(&report, arguments.format), false)
}
