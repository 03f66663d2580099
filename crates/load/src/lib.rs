//! Clients: units of their parameters, mistakes in these, clock, phases, arrivals, the meter that each load thread writes to,
//! and the watch that knows when all of them stood still. And what all workloads have in common, for whoever plans them.
//!
//! This crate knows neither disks nor databases: whoever sends operations asks it when the next one is due and
//! tells it when one was answered.

mod arrivals;
mod calibration;
mod clock;
mod lock;
mod merge;
mod meter;
mod numbers;
mod pause;
mod phases;
mod problems;
mod progress;
mod recorder;
mod silence;
mod ticks;
mod units;
mod workload;

pub use arrivals::{Arrivals, Pacing};
pub use calibration::undisturbed_ns;
pub use clock::{Clock, MonotonicClock};
pub use lock::lock;
pub use merge::Merge;
pub use meter::{Completed, Meter, ThreadInterval, intervals_max};
pub use numbers::{factor, number, per_cent, per_minute, per_second};
pub use pause::PauseWatch;
pub use phases::Phases;
pub use problems::{JobError, Problems, short};
pub use progress::{Go, Progress, Tell};
pub use recorder::{Counted, Cut, Kind, Recorder, Recording};
pub use silence::{SILENCE_MIN_NS, Silence, Silences};
pub use ticks::Ticks;
pub use units::{Size, Span, UnitError};
pub use workload::{Around, Searched, TargetNeeds, Workload};
