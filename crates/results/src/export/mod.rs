//! Tables of one or several studies, for whoever wants to reckon with other tools, as CSV or as Parquet. The long table has a
//! row for each metric of each trial:
//!
//! | column | type | holds |
//! |---|---|---|
//! | `study` | text | name of the results directory |
//! | `trial`, `block` | whole number | numbers within the study |
//! | `configuration` | text | what was measured |
//! | *axis* | number or text | its level; one column for each axis that occurs, by name |
//! | `metric`, `unit` | text | what was measured of it |
//! | `value` | number | the value in that unit, to the last bit |
//! | `low`, `high` | number | the ends of its interval, where it has one |
//! | `valid` | true or false | whether the trial was complete and means what it should |
//!
//! The table of seconds has a row for each second of each trial. It begins with the same columns up to those of the axes and
//! ends with `valid`; between them are:
//!
//! | column | type | holds |
//! |---|---|---|
//! | `time` | text | end of the second, RFC 3339 in UTC; NULL where the begin of the load is not known |
//! | `end_s`, `length_s` | number | end in seconds since the load began, and length |
//! | `phase` | text | `warm-up`, `measured`, or `drain` |
//! | *figure* | number | one column for each that occurs ([`record::SecondFigure`]); NULL where it was not recorded |
//!
//! Both forms have the same columns in the same order, and the same cells. A text that is empty, and the level of an axis
//! that a trial does not have, are NULL in Parquet and nothing between the commas in CSV. Which axes are numbers, and how a
//! column is called whose name is taken, is told in [`columns`]. Nothing is computed here.

mod columns;
mod csv;
mod file;
mod parquet;
mod time;

pub use self::file::{check, create};

use std::io;
use std::path::PathBuf;

use ownership::NotTrusted;
use record::{Observation, Series};

use self::columns::Column;

/// A table that can be written in either form.
#[derive(Debug)]
pub struct Table<'a> {
    /// What the rows are, for a reader that asks the file.
    name: &'static str,
    columns: Vec<Column<'a>>,
    rows: usize,
}

impl<'a> Table<'a> {
    /// A row for each metric of each trial.
    #[must_use]
    pub fn of_metrics(rows: &'a [Observation]) -> Self {
        Self { name: "observations", columns: columns::of_metrics(rows), rows: rows.len() }
    }

    /// A row for each second of each trial.
    #[must_use]
    pub fn of_seconds(series: &'a [Series]) -> Self {
        let rows = series.iter().map(|of| of.seconds.len()).sum();
        Self { name: "seconds", columns: columns::of_seconds(series), rows }
    }

    /// How many rows it has.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }
}

/// A table that could not be exported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The file is there already.
    #[error("{path} already exists, and prony does not overwrite it: use another file, or delete it", path = path.display())]
    Exists {
        /// What was given.
        path: PathBuf,
    },
    /// The directory that it is to be in is not there.
    #[error("cannot create {path}: directory {directory} does not exist; create it, or use another one",
        path = path.display(), directory = directory.display())]
    NoDirectory {
        /// What was given.
        path: PathBuf,
        /// Directory of it.
        directory: PathBuf,
    },
    /// Nothing can be made there.
    #[error("cannot make {path}: {source}{remedy}", path = path.display(), remedy = remedy(source))]
    Refused {
        /// What was given.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// It could not be written.
    #[error("cannot write {path}: {source}{remedy}", path = path.display(), remedy = remedy(source))]
    Write {
        /// What was given.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The table could not be put into its form, which is a fault of the program.
    #[error(
        "cannot put the table into the form of {form}: {reason}; take the other form, and report this fault"
    )]
    Form {
        /// CSV or Parquet.
        form: &'static str,
        /// What its writer said.
        reason: String,
    },
}

impl ExportError {
    /// Whether what was asked for cannot be, and nothing failed.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::Exists { .. } | Self::NoDirectory { .. } | Self::Refused { .. })
    }
}

/// What can be done about a file that is no part of the results.
fn remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        // It says what to do itself.
        _ if error.get_ref().is_some_and(|error| error.is::<NotTrusted>()) => "",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "; free some space there, or name another file"
        }
        io::ErrorKind::FileTooLarge => {
            "; files may not become larger: raise the limit (`ulimit -f`), or name another file"
        }
        _ => "; name a file in a directory that you can write to",
    }
}

#[cfg(test)]
mod fixture {
    use record::Observation;

    /// A row of a study on two axes.
    pub(super) fn observation(axes: &[(&str, &str)], value: f64) -> Observation {
        Observation {
            study: "20261121T073000Z-disk".to_owned(),
            trial: 7,
            block: 2,
            configuration: "page read".to_owned(),
            axes: axes.iter().map(|(name, level)| ((*name).to_owned(), (*level).to_owned())).collect(),
            metric: "cpu_us_per_operation".to_owned(),
            unit: "µs".to_owned(),
            value,
            low: None,
            high: None,
            valid: true,
        }
    }
}
