//! `prony report`: the report of a results directory, made again from its records.

use results::Archive;

use crate::documents::{Documents, Form};
use crate::exit::{Exit, Failure};
use crate::{arguments, session};

pub(crate) fn run(arguments: &arguments::Report) -> Result<Exit, Failure> {
    let sheet = arguments.summary.as_deref().map(|file| (Form::Sheet, file));
    let documents = Documents::of(&arguments.documents, sheet, arguments.format.prints())?;
    let archive = Archive::open(&arguments.among.find(&arguments.directory)?).map_err(Failure::usage)?;
    let described = &arguments.described;
    let report = session::read_report(&archive, arguments.percentiles.as_ref())?
        .described(described.title.as_ref(), described.comment.as_ref());
    // Printed first: an archive that cannot be written can still be read.
    let shown = session::show(&report, arguments.format, &documents);
    if described.is_given() {
        // The page in the results directory keeps the stored title and comment.
        let written = documents.of_run(&report);
        return match (shown, written) {
            (Err(failure), written) => Err(failure.and(written)),
            (Ok(()), written) => written.map(|()| Exit::told(&report)),
        };
    }
    session::write_shown(&report, &archive, &documents, shown, false)
}
