//! The power of a server on a laboratory: what its volume was not asked to keep is lost with it, unlike when the server alone is killed.

use std::ffi::OsString;
use std::path::PathBuf;

use ownership::MadeDirectory;

use crate::lab::KnownLab;
use crate::{Instance, InstanceError, Options};

/// Looks whether the power of a server that is started so can be cut.
///
/// # Errors
/// It does not lie on a laboratory, or not all of it does.
pub(crate) fn look(options: &Options) -> Result<(), InstanceError> {
    KnownLab::with_power_under(&options.parent())?;
    if options.log_place().is_some() || !options.tablespaces().is_empty() {
        return Err(InstanceError::SeveralVolumes);
    }
    Ok(())
}

/// A directory that we made, by its place, its name, and which one it is.
#[derive(Debug)]
pub(crate) struct KnownDirectory {
    parent: PathBuf,
    name: OsString,
    device: u64,
    inode: u64,
}

impl KnownDirectory {
    pub(crate) fn of(made: &MadeDirectory) -> Result<Self, InstanceError> {
        let path = made.directory().path();
        let seen = rustix::fs::fstat(made.directory());
        let seen = seen.map_err(|error| InstanceError::file("look at", path)(error.into()))?;
        Ok(Self {
            parent: path.parent().unwrap_or(path).to_owned(),
            name: path.file_name().unwrap_or_default().to_owned(),
            device: seen.st_dev,
            inode: seen.st_ino,
        })
    }

    /// The same one, if it is still there.
    pub(crate) fn open(&self) -> Result<MadeDirectory, InstanceError> {
        let path = self.parent.join(&self.name);
        let parent = ownership::open_trusted(&self.parent);
        let made = parent.and_then(|parent| parent.made_before(&self.name, self.device, self.inode));
        let gone = || std::io::Error::new(std::io::ErrorKind::NotFound, "it is gone with the power");
        made.and_then(|made| made.ok_or_else(gone)).map_err(InstanceError::file("open", path))
    }
}

impl Instance {
    /// Waits until all that it has written is on its volumes.
    ///
    /// # Errors
    /// They do not keep it.
    pub fn settle(&mut self) -> Result<(), InstanceError> {
        self.server()?.directory.placement.sync()
    }

    /// Cuts its power: its volume writes nothing any more, and its processes end.
    ///
    /// # Errors
    /// It does not lie on a laboratory of prony's.
    pub fn cut_power(&mut self) -> Result<(), InstanceError> {
        let lab = KnownLab::with_power_under(self.server()?.directory.path())?;
        lab.cut_power()?;
        self.kill()
    }

    /// Gives it back: its volume has what it was asked to keep, and perhaps more, and the server is started on that.
    ///
    /// # Errors
    /// Somebody else uses the volume, something of the server is not there any more, or it does not start.
    pub fn restore_power(&mut self) -> Result<(), InstanceError> {
        let server = self.server()?;
        let path = server.directory.path().to_owned();
        let lab = KnownLab::without_power_under(&path)?.ok_or(crate::LabError::NoPower { path })?;
        // While the volume is mounted again nothing of it may be open.
        server.without_directory(|| Ok(lab.restore_power()?))?;
        self.start_again()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::clock::Clock;
    use crate::{Engine, Lab, LabPlace, LabShape};

    #[test]
    fn a_server_comes_back_on_what_its_volume_has_with_a_clock_of_its_own() {
        let parent = tempfile::tempdir().unwrap();
        std::fs::set_permissions(parent.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        let at = parent.path().join("at");
        let place =
            LabPlace { directory: parent.path().to_owned(), mount_point: at.clone(), in_memory: true };
        let shape = LabShape { device_bytes: 768 << 20, ..LabShape::default() };
        let lab = match Lab::make(&format!("power-server-{}", std::process::id()), &shape, &place) {
            Ok(lab) => lab,
            Err(error) => {
                eprintln!("not run: the power of a server: {error}");
                return;
            }
        };
        let options = Options::default().parent_directory(&at).losing_power(true);
        let options = options.with_clock(Clock::look().is_ok());
        Instance::look(Engine::Postgres, &options).unwrap();
        let mut server = Instance::start(Engine::Postgres, &options).unwrap();
        let before = server.pid().unwrap();
        server.settle().unwrap();
        server.cut_power().unwrap();
        assert_eq!(server.pid(), None);
        server.restore_power().unwrap();
        assert!(server.pid().is_some_and(|pid| pid != before));
        drop(server);
        assert!(std::fs::read_dir(&at).unwrap().flatten().all(|left| left.file_name() == "lost+found"));
        lab.remove().unwrap();
    }
}
