//! A clock of a server's own that can jump: libfaketime stands between its processes and the system's clock, and looks into a file each
//! second by how much they differ. What measures lengths of time (`CLOCK_MONOTONIC`) goes on as it was, as it does on a machine whose
//! clock is set.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::{InstanceError, program};

/// What the file is called first, in the directory of what has the clock; a number follows.
const FILE: &str = "clock-";
/// As many signs whatever the difference is: a look finds the old one or the new one, and never a part.
const WIDTH: usize = 16;

/// The clock of what is started with it.
#[derive(Debug)]
pub(crate) struct Clock {
    library: PathBuf,
    path: PathBuf,
    file: File,
}

impl Clock {
    /// What must be there.
    pub(crate) fn look() -> Result<(), InstanceError> {
        program::faketime().map(drop)
    }

    /// One that is right, in a directory that its server gets to.
    pub(crate) fn make(directory: &ownership::Directory) -> Result<Self, InstanceError> {
        static NUMBER: AtomicU32 = AtomicU32::new(1);
        // A new one each time: whoever runs the server may have put something else in the place of the last.
        let name = format!("{FILE}{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        let path = directory.path().join(&name);
        let fault = |error| InstanceError::file("make", &path)(error);
        let (file, _) = directory.create_new(OsStr::new(&name)).map_err(fault)?;
        // It is ours: a server only reads it.
        rustix::fs::fchmod(&file, rustix::fs::Mode::from_raw_mode(0o644))
            .map_err(|error| fault(error.into()))?;
        let clock = Self { library: program::faketime()?, path, file };
        clock.set(0)?;
        Ok(clock)
    }

    /// The words before a program that runs by it, with all that it starts. The library makes shared memory under the name of its process
    /// and for its user, so that it comes in last, when these are what they are to be.
    fn words(&self) -> Vec<OsString> {
        let set = |name: &str, value: &OsStr| {
            let mut word = OsString::from(format!("{name}="));
            word.push(value);
            word
        };
        vec![
            OsString::from("/usr/bin/env"),
            set("LD_PRELOAD", self.library.as_os_str()),
            set("FAKETIME_TIMESTAMP_FILE", self.path.as_os_str()),
            OsString::from("FAKETIME_CACHE_DURATION=1"),
            OsString::from("FAKETIME_DONT_FAKE_MONOTONIC=1"),
            OsString::from("NO_FAKE_STAT=1"),
        ]
    }

    /// Has it differ from the system's by so much from the next second on.
    pub(crate) fn set(&self, difference_s: i64) -> Result<(), InstanceError> {
        let text = text_of(difference_s);
        self.file.write_all_at(text.as_bytes(), 0).map_err(InstanceError::file("write", &self.path))
    }
}

/// A command of a program that runs by a clock, if there is one. It is made with the program that comes first.
pub(crate) fn by_clock(
    clock: Option<&Clock>,
    program: &Path,
    made: impl FnOnce(&Path) -> Result<Command, InstanceError>,
) -> Result<Command, InstanceError> {
    let mut words = clock.map(Clock::words).unwrap_or_default();
    words.push(program.as_os_str().to_owned());
    let mut command = made(Path::new(&words[0]))?;
    command.args(&words[1..]);
    Ok(command)
}

/// `+00000000003600`, as a relative time of faketime(1).
fn text_of(difference_s: i64) -> String {
    format!("{difference_s:+0width$}\n", width = WIDTH - 1)
}

#[cfg(test)]
mod tests {
    use std::process::Stdio;

    use super::*;

    #[test]
    fn a_difference_has_as_many_signs_whatever_it_is() {
        for (difference_s, text) in
            [(0, "+00000000000000\n"), (3_600, "+00000000003600\n"), (-9, "-00000000000009\n")]
        {
            assert_eq!(text_of(difference_s), text);
            assert_eq!(text.len(), WIDTH);
        }
    }

    #[test]
    fn what_runs_by_a_clock_sees_it_jump_and_goes_on_measuring() {
        if let Err(error) = Clock::look() {
            eprintln!("not run: clocks that jump: {error}");
            return;
        }
        let place = tempfile::tempdir().unwrap();
        let clock = Clock::make(&ownership::Directory::open(place.path()).unwrap()).unwrap();
        let now =
            || std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs() as i64;
        let told = || {
            let date = by_clock(Some(&clock), Path::new("/bin/date"), |first| Ok(Command::new(first)));
            let mut date = date.unwrap();
            date.arg("+%s").stdout(Stdio::piped());
            String::from_utf8(date.output().unwrap().stdout).unwrap().trim().parse::<i64>().unwrap()
        };
        for difference_s in [0, 3_600, -86_400] {
            clock.set(difference_s).unwrap();
            let before = now();
            let told = told() - difference_s;
            assert!((before..=now()).contains(&told), "{difference_s}: {told} after {before}");
        }
    }
}
