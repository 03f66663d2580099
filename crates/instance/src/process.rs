//! Processes of a server: started so that they die with us, signalled and awaited by handles that cannot mean another
//! process.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::{LazyLock, mpsc};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::user::User;
use crate::{Group, InstanceError, program};

/// A command for `program` that runs as `user` in a group, if there is one, and is killed when we end, however we end. Only in the
/// first milliseconds, until `setpriv` has done its work, would it outlive us.
pub(crate) fn command(
    program: &Path,
    user: Option<User>,
    group: Option<&Group>,
) -> Result<Command, InstanceError> {
    command_of(program, user, group, true)
}

/// The same of a command that may outlive us.
pub(crate) fn command_of(
    program: &Path,
    user: Option<User>,
    group: Option<&Group>,
    dies_with_us: bool,
) -> Result<Command, InstanceError> {
    let mut command = entering(group, None)?;
    if dies_with_us {
        command.args(["--pdeathsig", "KILL"]);
    } else {
        // What ends the terminal or its job is none of its business.
        command.process_group(0);
    }
    run_as(&mut command, user);
    command.arg(program);
    Ok(command)
}

/// A command of a node of a pair, in its network namespace if it has one: it has a session of its own, so that neither a terminal nor
/// its end reach it. The pair's guard ends it if we are killed: the kernel would end it before anybody sees what shared memory it has.
pub(crate) fn command_in_session(
    program: &Path,
    user: Option<User>,
    group: Option<&Group>,
    network: Option<&Path>,
) -> Result<Command, InstanceError> {
    let mut command = entering(group, network)?;
    run_as(&mut command, user);
    command.arg(program::setsid()?).arg(program);
    Ok(command)
}

/// The way into a group and a network namespace, and through `setpriv`.
fn entering(group: Option<&Group>, network: Option<&Path>) -> Result<Command, InstanceError> {
    let mut words: Vec<OsString> = Vec::new();
    if let Some(group) = group {
        let (entrance, arguments) = group.entrance();
        words.push(entrance.into_os_string());
        words.extend(arguments);
    }
    if let Some(network) = network {
        words.push(program::nsenter()?.into_os_string());
        words.push(argument_of("--net=", network));
        words.push("--".into());
    }
    words.push(program::setpriv()?.into_os_string());
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]);
    Ok(command)
}

fn argument_of(option: &str, path: &Path) -> OsString {
    let mut argument = OsString::from(option);
    argument.push(path);
    argument
}

/// Ends what `setpriv` is told; the program comes next. Nothing of our own environment is passed on.
fn run_as(command: &mut Command, user: Option<User>) {
    if let Some(user) = user {
        command.args([&format!("--reuid={}", user.uid), &format!("--regid={}", user.gid)]);
        command.arg("--clear-groups");
    }
    command.arg("--");
    command.env_clear().env("PATH", "/usr/bin:/bin:/usr/sbin:/sbin").env("LC_ALL", "C").current_dir("/");
}

/// Whether a server's user gets to a directory: who makes it is perhaps root.
///
/// # Errors
/// It does not.
pub(crate) fn passable(directory: &Path, user: Option<User>) -> Result<(), InstanceError> {
    if user.is_none() {
        return Ok(());
    }
    let mut test = command(Path::new("/usr/bin/test"), user, None)?;
    test.arg("-x").arg(directory);
    let run = spawn(test).and_then(|mut child| child.wait());
    match run {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(InstanceError::NotPassable { path: directory.to_owned() }),
        Err(source) => Err(InstanceError::Spawn { program: "test".to_owned(), source }),
    }
}

/// Starts a command made by [`command`].
///
/// The kernel binds the life of a process to the *thread* that made it (prctl(2), PR_SET_PDEATHSIG). A test's thread
/// ends with its test, so that a server which several tests share would be killed by the end of the first of them. All
/// servers are therefore made by one thread that lives as long as this process.
pub(crate) fn spawn(command: Command) -> io::Result<Child> {
    type Request = (Command, mpsc::Sender<io::Result<Child>>);
    static STARTER: LazyLock<mpsc::Sender<Request>> = LazyLock::new(|| {
        let (sender, requests) = mpsc::channel::<Request>();
        let serve = move || {
            for (mut command, answer) in requests {
                // Whoever asked has gone only if its thread was ended; the child then has nobody to belong to.
                if let Err(mpsc::SendError(Ok(mut child))) = answer.send(command.spawn()) {
                    let _ = child.kill().and_then(|()| child.wait());
                }
            }
        };
        // Without a thread the requests' receiver is gone, and each request says so.
        let _ = std::thread::Builder::new().name("server starter".to_owned()).spawn(serve);
        sender
    });
    let no_thread = || io::Error::other("the thread that starts servers could not be made");
    let (answer, child) = mpsc::channel();
    STARTER.send((command, answer)).map_err(|_| no_thread())?;
    child.recv().map_err(|_| no_thread())?
}

/// A process that another one may not take the place of while this is held.
#[derive(Debug)]
pub(crate) struct Handle {
    pid: u32,
    descriptor: OwnedFd,
}

impl Handle {
    /// `None` if there is no such process any more.
    pub(crate) fn open(pid: u32) -> Result<Option<Self>, InstanceError> {
        let Some(number) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return Ok(None) };
        match pidfd_open(number, PidfdFlags::empty()) {
            Ok(descriptor) => Ok(Some(Self { pid, descriptor })),
            Err(Errno::SRCH) => Ok(None),
            Err(error) => Err(fault("open", pid)(error)),
        }
    }

    /// Sends a signal. A process that has ended already is no error.
    pub(crate) fn signal(&self, signal: Signal) -> Result<(), InstanceError> {
        match pidfd_send_signal(&self.descriptor, signal) {
            Ok(()) | Err(Errno::SRCH) => Ok(()),
            Err(error) => Err(fault("signal", self.pid)(error)),
        }
    }

    /// Waits until the process has ended, or else returns false when `limit` is over.
    pub(crate) fn wait(&self, limit: Duration) -> Result<bool, InstanceError> {
        let deadline = Instant::now() + limit;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let timeout = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) };
            let mut descriptors = [PollFd::new(&self.descriptor, PollFlags::IN)];
            match poll(&mut descriptors, Some(&timeout)) {
                Ok(count) => return Ok(count > 0),
                Err(Errno::INTR) => {}
                Err(error) => return Err(fault("wait for", self.pid)(error)),
            }
        }
    }
}

fn fault(action: &'static str, pid: u32) -> impl FnOnce(Errno) -> InstanceError {
    move |error| InstanceError::Process { action, pid, source: error.into() }
}

/// Processes whose parent is `pid`. A process that ends meanwhile is left out.
pub(crate) fn children(pid: u32) -> Result<Vec<u32>, InstanceError> {
    let entries = std::fs::read_dir("/proc").map_err(InstanceError::file("list", "/proc"))?;
    let processes = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    Ok(processes.filter(|&process| parent(process) == Some(pid)).collect())
}

fn parent(pid: u32) -> Option<u32> {
    parent_in(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// Fourth field of `/proc/PID/stat`. The second is the name in brackets, which may hold blanks and brackets itself.
fn parent_in(stat: &str) -> Option<u32> {
    stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;

    use super::*;

    #[test]
    fn parent_is_read_whatever_the_name_holds() {
        assert_eq!(parent_in("20 (postgres) S 17 20 20 0 -1"), Some(17));
        assert_eq!(parent_in("20 (a) S 3 (b) S 17 20 20"), Some(17));
        assert_eq!(parent_in("20 (cut"), None);
    }

    #[test]
    fn a_process_that_is_no_more_has_no_handle() {
        let mut child = Command::new("true").spawn().unwrap();
        let pid = child.id();
        let handle = Handle::open(pid).unwrap().unwrap();
        assert!(handle.wait(Duration::from_secs(30)).unwrap());
        child.wait().unwrap();
        handle.signal(Signal::KILL).unwrap();
        assert!(Handle::open(pid).unwrap().is_none());
    }

    #[test]
    fn a_process_outlives_the_thread_that_asked_for_it() {
        let asked = std::thread::spawn(endless);
        let mut child = asked.join().unwrap();
        let handle = Handle::open(child.id()).unwrap().unwrap();
        assert!(!handle.wait(Duration::from_millis(300)).unwrap(), "it ended with the thread");
        assert!(children(std::process::id()).unwrap().contains(&child.id()));
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Set in the environment of the process that this test starts of itself.
    const TO_BE_KILLED: &str = "PRONY_TEST_TO_BE_KILLED";

    #[test]
    fn a_process_is_killed_with_the_process_that_started_it() {
        if std::env::var_os(TO_BE_KILLED).is_some() {
            return start_and_wait_to_be_killed();
        }
        let name = "process::tests::a_process_is_killed_with_the_process_that_started_it";
        let mut starter = Command::new(std::env::current_exe().unwrap());
        starter.args(["--exact", name, "--nocapture"]).env(TO_BE_KILLED, "1");
        let mut starter = starter.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(starter.stdout.take().unwrap()).lines();
        let pid = lines.map(Result::unwrap).find_map(|line| line.strip_prefix("started ")?.parse().ok());
        let handle = Handle::open(pid.unwrap()).unwrap().unwrap();
        starter.kill().unwrap();
        starter.wait().unwrap();
        assert!(handle.wait(Duration::from_secs(30)).unwrap(), "it is still there");
    }

    fn start_and_wait_to_be_killed() {
        let mut child = endless();
        std::io::stdin().read_line(&mut String::new()).unwrap();
        child.kill().and_then(|()| child.wait()).unwrap();
    }

    /// A process that does not end by itself, whatever becomes of its input. It tells its number when it is no longer
    /// `setpriv`: only from then on is its life bound to ours.
    fn endless() -> Child {
        let mut command = command(Path::new("/bin/sh"), None, None).unwrap();
        command.args(["-c", "echo; echo started $$; exec tail -f /dev/null >/dev/null"]).stdin(Stdio::null());
        spawn(command).unwrap()
    }
}
