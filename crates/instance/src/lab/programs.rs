//! The programs by which a laboratory is made: those of util-linux, of file systems, and mdadm.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Stdio;

use super::LabError;
use crate::process::{command, spawn};
use crate::program;

/// A program and the package that brings it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Program {
    pub(super) name: &'static str,
    pub(super) package: &'static str,
}

pub(super) const LOSETUP: Program = Program { name: "losetup", package: "mount" };
pub(super) const MOUNT: Program = Program { name: "mount", package: "mount" };
pub(super) const UMOUNT: Program = Program { name: "umount", package: "mount" };
pub(super) const MDADM: Program = Program { name: "mdadm", package: "mdadm" };

impl Program {
    /// Where it is.
    pub(super) fn find(self) -> Result<PathBuf, LabError> {
        program::in_path(self.name)
            .ok_or(LabError::NotInstalled { program: self.name, package: self.package })
    }

    /// Runs it to its end and gives what it said on stdout. It is killed when we end.
    pub(super) fn run<A: AsRef<OsStr>>(self, arguments: &[A]) -> Result<String, LabError> {
        let mut running = command(&self.find()?, None, None)?;
        running.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let words = arguments.iter().map(|word| word.as_ref().to_string_lossy());
        let called = std::iter::once(self.name.into()).chain(words).collect::<Vec<_>>().join(" ");
        let failed = |said: String| LabError::Failed { program: called.clone(), said };
        let ended = spawn(running).and_then(std::process::Child::wait_with_output);
        let ended = ended.map_err(|error| failed(error.to_string()))?;
        if ended.status.success() {
            return Ok(String::from_utf8_lossy(&ended.stdout).into_owned());
        }
        let said = String::from_utf8_lossy(&ended.stderr);
        let said = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ");
        Err(failed(if said.is_empty() { ended.status.to_string() } else { said }))
    }
}
