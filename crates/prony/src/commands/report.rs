//! `prony report`: the report of a results directory, made again from its records.

use results::Archive;

use crate::documents::{Documents, Form};
use crate::exit::{Exit, Failure};
use crate::{arguments, session};

pub(crate) fn run(arguments: &arguments::Report) -> Result<Exit, Failure> {
    let sheet = arguments.summary.as_deref().map(|file| (Form::Sheet, file));
    let documents = Documents::of(&arguments.documents, sheet, arguments.format.prints())?;
    let archive = Archive::open(&arguments.among.find(&arguments.directory)?).map_err(Failure::usage)?;
    let report = session::read_report(&archive, arguments.percentiles.as_ref())?;
    // Printed first: an archive that cannot be written can still be read.
    let shown = session::show(&report, arguments.format, &documents);
    session::write_shown(&report, &archive, &documents, shown, false)
}
