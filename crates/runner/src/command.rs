//! The commands that a study runs before and after its trials: restarting a server, dropping caches, whatever its user needs.
//!
//! A shell runs them, with the trial's number, block and levels in the environment. What they print is kept for the case that
//! they fail; what they leave running may go on printing. A stop ends the command before a trial, in order; the one after it
//! is awaited, since it may bring back what the first took away.

use std::collections::BTreeMap;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use load::Tell;
use record::{PlannedTrial, Preparation, Unit};
use rustix::process::{Pid, Signal, kill_process_group};

/// How often it is looked whether a command has ended, or is to end.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// So much of what a command printed last is told when it fails.
const TOLD_BYTES: usize = 2000;
/// How long it is waited for the end of what a failed command printed: something that it started may print on.
const TOLD_WITHIN: Duration = Duration::from_millis(500);
/// How long a command that is stopped may take to end in order.
const ENDS_WITHIN: Duration = Duration::from_secs(5);

/// Where in a trial a command stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    Before,
    After,
    /// For a fault of it.
    Fault,
}

/// A command that did not do what it was to do. It ends the study: a trial after it would measure something else.
#[derive(Debug, thiserror::Error)]
#[error(
    "the command {when} trial {number} ({command}) {how}. Fix the cause, or the command in study.toml of \
     the results, and continue with {}",
    record::Command::new("study resume")
)]
pub struct CommandError {
    when: &'static str,
    number: u32,
    command: String,
    how: String,
}

/// Runs `$0` with nothing to read. Beside it waits a watcher for the end of the pipe that only we hold: when we are killed,
/// it ends the whole group, in order and then by force. When the command has ended, so does the watcher, and what the
/// command left running goes on. (The kernel would kill a child with its parent by `PR_SET_PDEATHSIG`, but not what the
/// child has started, and it cannot be asked for without `unsafe`.)
const WATCHED: &str = "exec 3<&0 0</dev/null
{ read -r _ <&3; trap '' TERM; kill -TERM 0; sleep 5; kill -KILL 0; } >/dev/null 2>&1 &
sh -c \"$0\" 3<&-
ended=$?
kill $!
exit $ended";

/// Runs the command that stands `when` a trial is run.
pub(crate) fn run(
    command: &str,
    when: When,
    trial: &PlannedTrial,
    stop: &AtomicBool,
    tell: &mut Tell<'_>,
) -> Result<(), CommandError> {
    let words = match when {
        When::Before => "before",
        When::After => "after",
        When::Fault => "for a fault in",
    };
    let error =
        |how: String| CommandError { when: words, number: trial.number, command: command.to_owned(), how };
    let mut child = Command::new("sh")
        .args(["-c", WATCHED, command])
        .envs(variables(trial))
        // Held open by us and nobody else.
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(|cause| error(format!("cannot be started: {cause}")))?;
    let printed = match heard(&mut child) {
        Ok(printed) => printed,
        Err(cause) => {
            signal(&child, Signal::KILL);
            // It is ended, and so is the wait.
            let _ = child.wait();
            return Err(error(format!(
                "cannot be read: {cause}. Raise this user's limit of threads (`ulimit -u`)"
            )));
        }
    };
    let what = format!("command {words} trial {}: {command}", trial.number);
    let Some(how) = wait(&mut child, stop, when, &what, tell) else { return Ok(()) };
    let deadline = Instant::now() + TOLD_WITHIN;
    let printed: String = printed.into_iter().flatten().map(|lines| last_words(&lines, deadline)).collect();
    match how {
        how if printed.trim().is_empty() => Err(error(how)),
        how => Err(error(format!("{how} and printed: {}", printed.trim()))),
    }
}

/// What a command knows of its trial.
fn variables(trial: &PlannedTrial) -> BTreeMap<String, String> {
    let levels = trial
        .levels
        .iter()
        .map(|(name, level)| (format!("PRONY_LEVEL_{}", name.to_uppercase()), level.clone()));
    let mut variables: BTreeMap<String, String> = levels.collect();
    variables.insert("PRONY_TRIAL".to_owned(), trial.number.to_string());
    variables.insert("PRONY_BLOCK".to_owned(), trial.block.to_string());
    variables.insert("PRONY_CONFIGURATION".to_owned(), trial.configuration.clone());
    variables
}

/// Begins to read what a command prints.
fn heard(child: &mut Child) -> std::io::Result<[Option<Receiver<Vec<u8>>>; 2]> {
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    Ok([stdout.map(gather).transpose()?, stderr.map(gather).transpose()?])
}

/// Reads to the end, however long that is, so that no pipe fills up. What is read is handed over piece by piece.
fn gather(mut from: impl Read + Send + 'static) -> std::io::Result<Receiver<Vec<u8>>> {
    let (sender, pieces) = channel();
    std::thread::Builder::new().name("command".to_owned()).spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(read @ 1..) = from.read(&mut buffer) {
            // Nobody asks what a command said that succeeded.
            let _ = sender.send(buffer[..read].to_vec());
        }
    })?;
    Ok(pieces)
}

/// The end of what was printed until a deadline.
fn last_words(pieces: &Receiver<Vec<u8>>, deadline: Instant) -> String {
    let mut kept = Vec::new();
    while let Ok(piece) = pieces.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
        kept.extend(piece);
        kept.drain(..kept.len().saturating_sub(TOLD_BYTES));
    }
    let lines = String::from_utf8_lossy(&kept);
    lines.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" | ")
}

/// Waits for the end; none if it was a good one.
fn wait(child: &mut Child, stop: &AtomicBool, when: When, what: &str, tell: &mut Tell<'_>) -> Option<String> {
    let begin = Instant::now();
    let mut stopped: Option<Instant> = None;
    loop {
        // Announce it before the first check: the command may end at once.
        tell(Preparation::new(what, begin.elapsed().as_secs(), None, Unit::Seconds));
        match child.try_wait() {
            Ok(Some(_)) if stopped.is_some() => return Some("was interrupted".to_owned()),
            Ok(Some(status)) if status.success() => return None,
            Ok(Some(status)) => return Some(format!("ended with {status}")),
            Ok(None) => {}
            Err(error) => return Some(format!("cannot be waited for: {error}")),
        }
        match stopped {
            None if when == When::Before && stop.load(Ordering::Relaxed) => {
                signal(child, Signal::TERM);
                stopped = Some(Instant::now());
            }
            Some(since) if since.elapsed() > ENDS_WITHIN => signal(child, Signal::KILL),
            _ => {}
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

/// What a command started is in its group.
fn signal(child: &Child, signal: Signal) {
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    // It may have ended meanwhile.
    let _ = group.map(|group| kill_process_group(group, signal));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial() -> PlannedTrial {
        PlannedTrial {
            number: 7,
            name: "x".to_owned(),
            block: 2,
            levels: BTreeMap::from([("flush_rows".to_owned(), "40".to_owned())]),
            configuration: "RAID 10".to_owned(),
            aa: false,
        }
    }

    fn told(command: &str, stop: bool) -> String {
        run(command, When::Before, &trial(), &AtomicBool::new(stop), &mut |_| {})
            .map_or_else(|error| error.to_string(), |()| String::new())
    }

    #[test]
    fn a_command_knows_its_trial() {
        let test = "test $PRONY_TRIAL = 7 && test $PRONY_BLOCK = 2 && test $PRONY_LEVEL_FLUSH_ROWS = 40 \
                    && test \"$PRONY_CONFIGURATION\" = 'RAID 10'";
        assert_eq!(told(test, false), "");
        assert_ne!(told(&test.replace('7', "8"), false), "");
    }

    #[test]
    fn a_command_that_fails_is_told_with_what_it_said() {
        let told = told("echo no such server >&2; exit 3", false);
        assert!(
            told.starts_with("the command before trial 7 (echo no such server >&2; exit 3) ended with"),
            "{told}"
        );
        assert!(told.contains("exit status: 3 and printed: no such server. Fix the cause"), "{told}");
    }

    #[test]
    fn a_stop_ends_a_command_with_all_that_it_started() {
        let told = told("cat /dev/zero | tail -c 1000 & wait", true);
        assert!(told.contains("was interrupted"), "{told}");
    }

    #[test]
    fn what_a_command_leaves_running_is_not_awaited() {
        let begin = Instant::now();
        assert_eq!(told("sleep 20 &", false), "");
        assert!(told("sleep 20 & echo no; false", false).contains("printed: no"));
        assert!(begin.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn the_command_after_a_trial_is_awaited_in_spite_of_a_stop() {
        let ended = run(
            "head -c 1000000 /dev/zero | tail -c 1 | cat",
            When::After,
            &trial(),
            &AtomicBool::new(true),
            &mut |_| {},
        );
        assert!(ended.is_ok(), "{ended:?}");
    }

    /// Set in the environment of the process that a test starts of itself.
    const TO_BE_KILLED: &str = "PRONY_TEST_TO_BE_KILLED";

    /// After kill -9 of prony a `before` command went on, with all that it had started.
    #[test]
    fn a_command_ends_with_the_process_that_runs_it() {
        use rustix::event::{PollFd, PollFlags, poll};
        use rustix::process::{PidfdFlags, kill_process, pidfd_open};
        use std::io::{BufRead, BufReader};

        if let Some(file) = std::env::var_os(TO_BE_KILLED) {
            let command = format!("exec >{}; echo $$; sleep 1000 & echo $!; wait", file.display());
            let ended = run(&command, When::Before, &trial(), &AtomicBool::new(false), &mut |_| {});
            unreachable!("it ended with {ended:?}");
        }
        let directory = tempfile::tempdir().unwrap();
        let pipe = directory.path().join("pipe");
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        let name = "command::tests::a_command_ends_with_the_process_that_runs_it";
        let mut runner = Command::new(std::env::current_exe().unwrap());
        runner.args(["--exact", name]).env(TO_BE_KILLED, &pipe).stdout(Stdio::null());
        let mut runner = runner.spawn().unwrap();
        let lines = BufReader::new(std::fs::File::open(&pipe).unwrap()).lines().take(2);
        let numbers = lines.map(|line| Pid::from_raw(line.unwrap().parse().unwrap()).unwrap());
        let processes: Vec<_> =
            numbers.map(|number| (number, pidfd_open(number, PidfdFlags::empty()).unwrap())).collect();
        assert_eq!(processes.len(), 2);
        runner.kill().unwrap();
        runner.wait().unwrap();
        for (number, process) in &processes {
            let limit = rustix::event::Timespec { tv_sec: 30, tv_nsec: 0 };
            let has_ended = poll(&mut [PollFd::new(process, PollFlags::IN)], Some(&limit)).unwrap() > 0;
            if !has_ended {
                let _ = kill_process(*number, Signal::KILL);
            }
            assert!(has_ended, "{number:?} is still there");
        }
    }

    #[test]
    fn a_command_that_prints_a_lot_is_heard_to_its_end() {
        assert_eq!(told("head -c 1000000 /dev/zero", false), "");
        assert!(told("yes | head -c 1000000; echo the end; false", false).contains("the end"));
    }
}
