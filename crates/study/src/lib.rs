//! Studies: what is to be measured, and the plan of trials it comes to.
//!
//! A study is data: it can be written to a file, read back, and gives the same plan every time. Nothing here touches
//! a disk, reads a clock, or depends on the machine.

mod expand;
mod plan;
mod profile;
mod settings;
mod study;

pub use plan::{Plan, Stop, Trial};
pub use profile::{Profile, profiles};
pub use settings::{conflicts, overlay};
pub use study::{Axis, Configuration, Order, Steady, Study, StudyError, StudyErrors, Target, Workload};
