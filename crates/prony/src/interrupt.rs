//! Ctrl-C: the first one drains, saves and reports; the second one aborts.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

use crate::exit::{Exit, Failure};

/// A flag that the first signal sets; the second ends the process. Test files have no name by then, and a results
/// directory says how far it came; a database that was made for the run stays, is known by its mark, and is taken away or
/// up again by the next run. Nothing is printed here: that could wait for a
/// reader that does not read, and the second signal with it.
pub(crate) fn flag_on_signal() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // In this order: the conditional exit must see the flag as it was before this signal.
        flag::register_conditional_shutdown(signal, Exit::Interrupted as i32, Arc::clone(&stop))
            .and_then(|_| flag::register(signal, Arc::clone(&stop)))
            .map_err(Failure::runtime)?;
    }
    Ok(stop)
}
