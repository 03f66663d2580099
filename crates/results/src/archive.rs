//! A results directory that is held open: whatever becomes of its name, what is read and written is this one.
//!
//! No link is followed in it, and nothing but regular files is read. When we are root, a directory that another user could
//! change meanwhile is read and not written. One that we make is written wherever it is, also in a user's directory: it is
//! ours, everything in it is new, and it is held.

use std::path::Path;

use ownership::Directory;
use record::{Percentile, Percentiles, StudyRecord};

use crate::durable::{WriteError, failed, replace};
use crate::read::{self, ReadError};
use crate::{Lock, name};

/// A results directory.
#[derive(Clone, Debug)]
pub struct Archive {
    pub(crate) directory: Directory,
    /// Whether this process made it.
    is_new: bool,
}

impl Archive {
    /// Opens a directory. Whether it holds results is found out when it is read.
    ///
    /// # Errors
    /// When there is none of that name, or it cannot be opened.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        Ok(Self { directory: read::opened(path)?, is_new: false })
    }

    /// One that this process just made.
    pub(crate) fn made(directory: &Directory) -> Self {
        Self { directory: directory.clone(), is_new: true }
    }

    /// Where it was when it was opened.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Reads the study with all of its records.
    ///
    /// # Errors
    /// Those of [`crate::read`].
    pub fn read(&self) -> Result<StudyRecord, ReadError> {
        self.read_with(None, &[])
    }

    /// The same with these percentiles in place of those that the study shows, and with these besides.
    ///
    /// # Errors
    /// Those of [`crate::read`].
    pub fn read_with(
        &self,
        shown: Option<&Percentiles>,
        besides: &[Percentile],
    ) -> Result<StudyRecord, ReadError> {
        read::study(&self.directory, shown, besides)
    }

    /// Stores verdicts, a JSON document; older ones are replaced.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_verdicts(&self, json: &str) -> Result<(), WriteError> {
        self.check()?;
        replace(&self.directory, name::VERDICTS, json.as_bytes()).map(drop)
    }

    /// Stores a report, an HTML page; an older one is replaced.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_report(&self, html: &str) -> Result<(), WriteError> {
        self.check()?;
        replace(&self.directory, name::REPORT, html.as_bytes()).map(drop)
    }

    /// Refuses to write where another user could change what root does.
    pub(crate) fn check(&self) -> Result<(), WriteError> {
        if self.is_new {
            return Ok(());
        }
        self.directory.refuse_if_shared().map_err(failed("write to", self.path()))
    }

    pub(crate) fn lock(&self) -> Result<Lock, WriteError> {
        Lock::of(&self.directory)
    }
}
