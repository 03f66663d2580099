//! Who ends a pair if this program is killed. The kernel could bind the life of a process to ours (`--pdeathsig`), but not that of what a
//! keeper starts, and it would leave the shared memory. A shell waits at the end of a pipe that only we hold, and ends all that stands in the
//! pair's directory, with the shared memory that it would have removed itself.

use std::path::Path;
use std::process::{Child, Stdio};

use super::processes::Stand;
use crate::InstanceError;
use crate::process::{command_of, spawn};

/// Looks until three times in a row nothing was found, since what is killed may have made another just before.
const SCRIPT: &str = r#"
stands() {
    for directory in "$@"; do
        case "$place" in "$directory"|"$directory"/*) return 0 ;; esac
    done
    return 1
}
terminal() { echo "$5"; }
cat >/dev/null
quiet=0 left=
for round in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    found=0
    for process in /proc/[0-9]*; do
        place=$(readlink "$process/cwd") || continue
        stands "$@" || continue
        read -r fields <"$process/stat" || continue
        [ "$(terminal ${fields##*) })" = 0 ] || continue
        # What is stopped makes no more shared memory once it was looked at.
        kill -STOP "${process#/proc/}"
        left="$left $(sed -n 's|.* \(/dev/shm/PostgreSQL\.[0-9]*\)$|\1|p;s|.* \(/dev/shm/[a-z.]*faketime_[a-z]*_[0-9]*\)$|\1|p' "$process/maps" | sort -u)"
        kill -9 "${process#/proc/}" && found=1
    done
    if [ $found = 0 ]; then quiet=$((quiet + 1)); else quiet=0; fi
    [ $quiet = 3 ] && break
    sleep 0.1
done
rm -f $left
"#;

/// Ends with its handle, and does nothing then.
#[derive(Debug)]
pub(crate) struct Guard(Child);

impl Guard {
    /// Watches over what stands in some directories. It has a group of its own, so that what interrupts us leaves it.
    pub(crate) fn over(stands: &[Stand]) -> Result<Self, InstanceError> {
        let mut guard = command_of(Path::new("/bin/sh"), None, None, false)?;
        guard.args(["-c", SCRIPT, "prony-guard"]).args(stands.iter().map(Stand::directory));
        guard.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let spawned = spawn(guard);
        spawned.map(Self).map_err(|source| InstanceError::Spawn { program: "sh".to_owned(), source })
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // Its pipe is still open: it has not begun.
        let _ = self.0.kill().and_then(|()| self.0.wait());
    }
}
