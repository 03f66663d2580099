//! Has a live line move while nothing is told. indicatif's own ticker ends the program where the system gives no thread for it;
//! here the line then moves when there is something to tell.

use std::time::Duration;

use indicatif::ProgressBar;

const TICK: Duration = Duration::from_millis(120);

/// Moves a line until it is finished, or nobody else has it.
pub(crate) fn start(bar: &ProgressBar) {
    let weak = bar.downgrade();
    let tick = move || {
        while let Some(bar) = weak.upgrade().filter(|bar| !bar.is_finished()) {
            bar.tick();
            drop(bar);
            std::thread::sleep(TICK);
        }
    };
    let _ = std::thread::Builder::new().name("progress".to_owned()).spawn(tick);
}
