//! Ctrl-C: the first one is answered by a line at once, whatever goes on, and ends what runs; the second one aborts.
//!
//! A thread says the line, since the rest of the program may wait for a server or a disk. A limit of file sizes is made an
//! error of the write that meets it, as a full disk is.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, OnceLock};

use anyhow::anyhow;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;
use signal_hook::iterator::Signals;

use crate::exit::{Exit, Failure};
use crate::terminal;

const SIGNALS: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];

/// Whether the thread that answers is there.
static LISTENS: AtomicBool = AtomicBool::new(false);
/// What the first signal sets for what runs, which saves and clears up; while it is not there, a signal ends the program.
static STOP: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// To be called first. Without a thread for it, signals end the program as they do by themselves.
pub(crate) fn listen() {
    // With a handler of any kind, a write beyond the limit (`ulimit -f`) fails; without one, the signal ends the program.
    let _ = flag::register(SIGXFSZ, Arc::default());
    let _ = answer_signals();
}

/// A flag that the first signal sets; the second ends the process. Test files have no name by then, and a results
/// directory says how far it came; a database that was made for the run stays, is known by its mark, and is taken away or
/// up again by the next run.
pub(crate) fn flag_on_signal() -> Result<Arc<AtomicBool>, Failure> {
    if !LISTENS.load(Ordering::Relaxed) {
        answer_signals().map_err(|error| {
            Failure::runtime(anyhow!(
                "cannot start the thread that handles Ctrl-C: {error}. Raise this user's limits of threads \
                 and memory (`ulimit -u`, `ulimit -v`)"
            ))
        })?;
    }
    let stop = Arc::clone(STOP.get_or_init(Arc::default));
    // Apart from `stop`, which the thread sets too: it may do so while this signal is still being handled.
    let heard = Arc::new(AtomicBool::new(false));
    for signal in SIGNALS {
        // In this order: the conditional exit must see the flag as it was before this signal.
        if aborts(signal) {
            flag::register_conditional_shutdown(signal, Exit::Interrupted as i32, Arc::clone(&heard))
                .map_err(Failure::runtime)?;
        }
        for flag in [&heard, &stop] {
            flag::register(signal, Arc::clone(flag)).map_err(Failure::runtime)?;
        }
    }
    Ok(stop)
}

/// Starts the thread. Signals are taken over in it, since nothing would hear them if it could not be had.
fn answer_signals() -> std::io::Result<()> {
    let (sender, taken_over) = mpsc::channel();
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || match Signals::new(SIGNALS) {
        Ok(mut signals) => {
            LISTENS.store(true, Ordering::Relaxed);
            let _ = sender.send(Ok(()));
            hear(signals.forever(), answer, || signal_hook::low_level::exit(Exit::Interrupted as i32));
        }
        Err(error) => {
            let _ = sender.send(Err(error));
        }
    })?;
    taken_over.recv().unwrap_or_else(|_| Err(std::io::Error::other("the thread ended at once")))
}

/// Answers the first signal, and aborts at the next one that asks for it. As a rule a handler aborts before, also while the
/// answer waits for a reader; but a first signal that came before the handlers were there is known to this thread alone.
fn hear(signals: impl IntoIterator<Item = i32>, answer: impl FnOnce(), abort: impl FnOnce()) {
    let mut signals = signals.into_iter();
    if signals.next().is_some() {
        answer();
        if signals.any(aborts) {
            abort();
        }
    }
}

/// Whether a second signal ends the program. A terminal that is closed hangs up twice, by its shell and by the kernel, and nobody
/// is there who would want to abort.
fn aborts(signal: i32) -> bool {
    signal != SIGHUP
}

/// The line. It may wait for a reader that does not read, which keeps nothing else.
#[allow(clippy::exit, reason = "nothing runs that would have to be ended in order")]
fn answer() {
    terminal::clear_live_line();
    if let Some(stop) = STOP.get() {
        // A signal that came before the flag was registered has not set it.
        stop.store(true, Ordering::Relaxed);
        tell!(
            "interrupted: stopping and saving results. Press Ctrl-C again to quit now and leave the test \
             database behind"
        );
    } else {
        tell!("interrupted: no measurement was running");
        std::process::exit(Exit::Interrupted as i32);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// A signal that came while the handlers were being registered was answered, and the next one was taken for the first.
    #[test]
    fn the_second_signal_aborts_whenever_the_first_one_came() {
        let heard = |signals: &[i32]| {
            let (answered, aborted) = (Cell::new(0), Cell::new(false));
            hear(signals.iter().copied(), || answered.set(answered.get() + 1), || aborted.set(true));
            (answered.get(), aborted.get())
        };
        assert_eq!(heard(&[]), (0, false));
        assert_eq!(heard(&[SIGINT]), (1, false));
        assert_eq!(heard(&[SIGINT, SIGINT]), (1, true));
        assert_eq!(heard(&[SIGHUP, SIGHUP]), (1, false), "a terminal that is closed hangs up twice");
        assert_eq!(heard(&[SIGHUP, SIGHUP, SIGTERM]), (1, true));
    }
}
