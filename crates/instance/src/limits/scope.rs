//! A scope of systemd: where it manages the machine's groups, they are its own, and it takes back what others change in them. It
//! gives a group away for good with a scope that is delegated.
//!
//! <https://systemd.io/CGROUP_DELEGATION/>, systemd-run(1), sd_booted(3)

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::place::Version;
use super::{LimitError, Resource};

/// How a scope is asked for.
pub(super) struct Manager {
    /// Its program, by path or by a name in PATH.
    pub(super) run: PathBuf,
    /// Whether it is that of the machine, or of one user.
    pub(super) is_of_machine: bool,
}

impl Manager {
    /// That of this machine, if systemd manages its groups of the second version, and has not given us a scope already. Of the first
    /// version it gives none away.
    pub(super) fn of(root: &Path) -> Option<Self> {
        let ours = std::fs::read_to_string(root.join("proc/self/cgroup")).ok()?;
        let is_second = root.join("sys/fs/cgroup/cgroup.controllers").exists();
        let manages = is_second && root.join("run/systemd/system").is_dir();
        let run = PathBuf::from("systemd-run");
        let is_of_machine = rustix::process::geteuid().is_root();
        (manages && !is_given(&ours)).then_some(Self { run, is_of_machine })
    }

    /// Whether a scope has all these controllers; else why not.
    ///
    /// # Errors
    /// No scope is given, or one without some of these.
    pub(super) fn gives(&self, wanted: &[Resource]) -> Result<(), LimitError> {
        const SAY: &str =
            "exec cat \"/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup)/cgroup.controllers\"";
        let what = wanted.first().copied().unwrap_or(Resource::Memory);
        let refused = |why: String| LimitError::Missing { what: what.word(), why };
        let mut command = self.command("probe");
        let said = command.args(["/bin/sh", "-c", SAY]).output().map_err(|error| {
            refused(format!(
                "systemd manages the control groups of this machine, but systemd-run cannot be run: {error}"
            ))
        })?;
        if !said.status.success() {
            let why = String::from_utf8_lossy(&said.stderr);
            let why = why.lines().last().unwrap_or("systemd-run gave no reason");
            return Err(refused(format!(
                "systemd manages the control groups of this machine and refused to create one: {why}; run as root or in a login \
                session (or use `loginctl enable-linger`)"
            )));
        }
        let given = String::from_utf8_lossy(&said.stdout);
        let has = |resource: &Resource| {
            given.split_whitespace().any(|one| one == resource.controller(Version::Two))
        };
        match wanted.iter().find(|resource| !has(resource)) {
            None => Ok(()),
            Some(resource) => {
                let controller = resource.controller(Version::Two);
                let why = format!(
                    "systemd does not delegate `{controller}` to your user: run as root, or delegate it (`systemctl edit \
                     user@.service` with `[Service]` and `Delegate=cpu cpuset io memory`, then log in again)"
                );
                Err(LimitError::Missing { what: resource.word(), why })
            }
        }
    }

    /// Becomes the same program with the same arguments in a scope. Returns only the error of not having become it.
    pub(super) fn enter(&self, program: &Path, arguments: impl IntoIterator<Item = OsString>) -> LimitError {
        let error = self.command("run").arg(program).args(arguments).exec();
        LimitError::file("run", &self.run)(error)
    }

    fn command(&self, what: &str) -> Command {
        let mut command = Command::new(&self.run);
        if !self.is_of_machine {
            command.arg("--user");
        }
        command.args(["--scope", "--quiet", "--collect", "--no-ask-password", "--property=Delegate=yes"]);
        command.arg(format!("--unit=prony-{what}-{}", std::process::id())).arg("--");
        command
    }
}

/// Sees to it that groups with such limits are had where systemd manages them: this process goes on as the same program with the
/// same arguments in a scope that is given to it, from which it finds itself there.
pub(super) fn enter(wanted: &[Resource]) -> Result<(), LimitError> {
    let Some(manager) = Manager::of(Path::new("/")) else { return Ok(()) };
    manager.gives(wanted)?;
    let program = std::env::current_exe().map_err(LimitError::file("find", "/proc/self/exe"))?;
    Err(manager.enter(&program, std::env::args_os().skip(1)))
}

/// Whether `/proc/self/cgroup` names a scope of ours, or a group in one.
fn is_given(ours: &str) -> bool {
    let of_ours = |part: &str| part.starts_with("prony-") && part.ends_with(".scope");
    ours.lines().filter_map(|line| line.strip_prefix("0::")).any(|path| path.split('/').any(of_ours))
}

/// Makes room for groups with limits: a group with processes has none below it (the kernel's rule of no internal processes), so
/// where we are alone in it, we go to one below. What else is in it is not ours to move.
pub(super) fn step_aside(above: &Path) -> io::Result<bool> {
    let us = std::process::id().to_string();
    let processes = std::fs::read_to_string(above.join("cgroup.procs"))?;
    if processes.split_whitespace().ne([us.as_str()]) {
        return Ok(false);
    }
    let aside = above.join(ASIDE);
    match std::fs::create_dir(&aside) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        Ok(()) | Err(_) => {}
    }
    std::fs::write(aside.join("cgroup.procs"), us)?;
    Ok(true)
}

/// The group that we are in once we have stepped aside.
const ASIDE: &str = "prony-itself";

/// Where groups are made for a process in `here`: from where it stepped aside, if it did.
pub(super) fn stood_in(here: &Path) -> &Path {
    match here.file_name().is_some_and(|name| name == ASIDE) {
        true => here.parent().unwrap_or(here),
        false => here,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    /// A systemd-run that notes how it was called and then does what `script` says.
    fn manager(place: &Path, script: &str) -> Manager {
        let run = place.join("systemd-run");
        let noted = place.join("called");
        let text = format!("#!/bin/sh\nprintf '%s\\n' \"$*\" > {}\n{script}\n", noted.display());
        std::fs::write(&run, text).unwrap();
        std::fs::set_permissions(&run, std::fs::Permissions::from_mode(0o755)).unwrap();
        Manager { run, is_of_machine: false }
    }

    #[test]
    fn a_scope_is_asked_for_what_it_gives() {
        let place = tempfile::tempdir().unwrap();
        let wanted = [Resource::Memory, Resource::Io];
        manager(place.path(), "echo cpu io memory pids").gives(&wanted).unwrap();
        let called = std::fs::read_to_string(place.path().join("called")).unwrap();
        assert!(called.starts_with("--user --scope --quiet --collect --no-ask-password"), "{called}");
        assert!(
            called.contains(&format!("--unit=prony-probe-{} -- /bin/sh -c", std::process::id())),
            "{called}"
        );

        let error = manager(place.path(), "echo cpu memory pids").gives(&wanted).unwrap_err().to_string();
        assert!(
            error.starts_with(
                "I/O of disks cannot be limited on this machine: systemd does not delegate `io` to your user"
            ),
            "{error}"
        );
        let mute = "echo noise >&2; echo 'Failed to connect to bus: No medium found' >&2; exit 1";
        let error = manager(place.path(), mute).gives(&wanted).unwrap_err().to_string();
        assert!(
            error.contains("refused to create one: Failed to connect to bus: No medium found; run as root"),
            "{error}"
        );
        let none = Manager { run: place.path().join("none"), is_of_machine: true };
        let error = none.gives(&wanted).unwrap_err().to_string();
        assert!(error.contains("systemd-run cannot be run: No such file"), "{error}");
    }

    #[test]
    fn systemd_is_asked_where_it_manages_the_machine_and_we_have_no_scope_yet() {
        let root = tempfile::tempdir().unwrap();
        let ours = |path: &str| {
            std::fs::create_dir_all(root.path().join("proc/self")).unwrap();
            std::fs::write(root.path().join("proc/self/cgroup"), format!("0::{path}\n")).unwrap();
            Manager::of(root.path()).is_some()
        };
        assert!(!ours("/user.slice/session-1.scope"));
        std::fs::create_dir_all(root.path().join("run/systemd/system")).unwrap();
        assert!(!ours("/user.slice/session-1.scope"), "of the first version it gives none away");
        std::fs::create_dir_all(root.path().join("sys/fs/cgroup")).unwrap();
        std::fs::write(root.path().join("sys/fs/cgroup/cgroup.controllers"), "cpu io memory").unwrap();
        assert!(ours("/user.slice/session-1.scope"));
        assert!(!ours("/user.slice/app.slice/prony-run-17.scope"));
        assert!(!ours("/system.slice/prony-run-17.scope/prony-itself"));
    }

    #[test]
    fn who_is_alone_in_a_group_steps_aside_and_nobody_else_is_moved() {
        let group = tempfile::tempdir().unwrap();
        let processes = group.path().join("cgroup.procs");
        let us = std::process::id().to_string();
        std::fs::write(&processes, format!("{us}\n1\n")).unwrap();
        assert!(!step_aside(group.path()).unwrap());
        assert!(!group.path().join(ASIDE).exists());
        std::fs::write(&processes, format!("{us}\n")).unwrap();
        assert!(step_aside(group.path()).unwrap());
        let aside = group.path().join(ASIDE);
        assert_eq!(std::fs::read_to_string(aside.join("cgroup.procs")).unwrap(), us);
        assert_eq!(stood_in(&aside), group.path());
        assert_eq!(stood_in(group.path()), group.path());
    }
}
