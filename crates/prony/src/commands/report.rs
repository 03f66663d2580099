//! `prony report`: the report of a results directory, made again from its records.

use results::Archive;

use crate::exit::{Exit, Failure};
use crate::{arguments, session};

pub(crate) fn run(arguments: &arguments::Report) -> Result<Exit, Failure> {
    let archive = Archive::open(&arguments.among.find(&arguments.directory)?).map_err(Failure::usage)?;
    let report = session::read_report(&archive)?;
    // Printed first: an archive that cannot be written can still be read.
    let shown = session::show(&report, arguments.format);
    session::write_shown(&report, &archive, shown, false)
}
