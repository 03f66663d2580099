//! What breaks a server while it runs, and what mends that: it hangs, its disks hardly answer, its volume is full.

use std::fs::File;

use rustix::fs::{FallocateFlags, fallocate, statvfs};
use rustix::process::Signal;

use crate::process::Handle;
use crate::{Instance, InstanceError, PairError};

/// A volume of more than this is nobody's to fill: what else lies on it would have no room either.
const FILLED_BYTES_MAX: u64 = 4 << 30;
/// File systems keep some blocks that they count as free: so much less is tried where all of it is refused.
const LESS_BYTES: u64 = 1 << 20;

/// Room that is taken from a volume until this is dropped: a file without a name, which a kill frees too.
#[derive(Debug)]
pub struct Filling {
    _file: File,
    /// Bytes that were taken.
    pub bytes: u64,
}

impl Instance {
    /// Stands all its processes still, as a machine that hangs does: it answers nobody, and keeps its connections. No error if it
    /// does not run.
    ///
    /// # Errors
    /// The processes cannot be found or signalled.
    pub fn freeze(&mut self) -> Result<(), InstanceError> {
        match self {
            Self::Postgres(server) => server.freeze(),
            Self::MariaDb(_) | Self::MySql(_) => self.signal(Signal::STOP),
            Self::Pair(_) => Err(PairError::NotOfPairs { what: "freezing all nodes at once" }.into()),
        }
    }

    /// Lets them go on.
    ///
    /// # Errors
    /// As there.
    pub fn thaw(&mut self) -> Result<(), InstanceError> {
        match self {
            Self::Postgres(server) => server.thaw(),
            Self::MariaDb(_) | Self::MySql(_) => self.signal(Signal::CONT),
            Self::Pair(_) => Err(PairError::NotOfPairs { what: "freezing all nodes at once" }.into()),
        }
    }

    /// A signal to a server that is one process.
    fn signal(&mut self, signal: Signal) -> Result<(), InstanceError> {
        let Some(pid) = self.pid() else { return Ok(()) };
        match Handle::open(pid)? {
            Some(process) => process.signal(signal),
            None => Ok(()),
        }
    }

    /// Has its devices answer so many reads and writes a second, whatever their limits are, or what these are again.
    ///
    /// # Errors
    /// Its group is not one whose devices can be limited, or the kernel does not keep the limit.
    pub fn throttle(&mut self, iops: Option<u64>) -> Result<(), InstanceError> {
        let Some(group) = self.group() else { return Err(InstanceError::NotThrottled) };
        Ok(group.throttle(iops)?)
    }

    /// Has its clock differ from the machine's by so much, within a second.
    ///
    /// # Errors
    /// It was started without a clock of its own.
    pub fn set_clock(&mut self, difference_s: i64) -> Result<(), InstanceError> {
        self.server()?.clock.as_ref().ok_or(InstanceError::NoClock)?.set(difference_s)
    }

    /// Takes all the room that its user may have on the volume of its data.
    ///
    /// # Errors
    /// The volume is so large that it is not this server's alone, or its file system cannot give room to a file at once.
    pub fn fill(&mut self) -> Result<Filling, InstanceError> {
        Filling::of(self.server()?.directory.home())
    }
}

impl Filling {
    /// Of the volume that a directory lies on.
    pub(crate) fn of(home: &ownership::Directory) -> Result<Self, InstanceError> {
        let fault = |action: &'static str| InstanceError::file(action, home.path());
        let space = statvfs(home.path()).map_err(|error| fault("look at")(error.into()))?;
        let total = space.f_blocks.saturating_mul(space.f_frsize);
        if total > FILLED_BYTES_MAX {
            return Err(InstanceError::TooLargeToFill {
                path: home.path().to_owned(),
                total_mib: total >> 20,
            });
        }
        let file = home.unnamed().map_err(fault("make a file in"))?;
        let mut bytes = space.f_bavail.saturating_mul(space.f_frsize);
        while let Err(error) = fallocate(&file, FallocateFlags::empty(), 0, bytes) {
            if error != rustix::io::Errno::NOSPC || bytes <= LESS_BYTES {
                return Err(fault("fill")(error.into()));
            }
            bytes -= LESS_BYTES;
        }
        Ok(Self { _file: file, bytes })
    }
}
