//! Studies: what is to be measured, and the plan of trials it comes to.
//!
//! A study is data: it can be written to a file, read back, and gives the same plan every time. Nothing here touches
//! a disk, reads a clock, or depends on the machine.

mod axis;
mod bounds;
mod check;
mod disk;
mod effect;
mod expand;
mod file;
mod historian;
mod lab;
mod library;
mod mistake;
mod must_hold;
mod order;
mod orders;
mod plan;
mod quick;
mod read;
mod register;
mod reporting;
mod script;
mod search;
mod settings;
mod single;
mod study;
mod tables;
mod target;
mod target_check;
mod work;

pub use axis::Axis;
pub use file::{Mistake, StudyFile};
pub use lab::{GivenLab, LabFileSystem, LabKind, LabVolume, Laboratory, MountedVolume};
pub use library::{AVAILABILITY_STUDIES, DISK_PROFILES, HISTORIAN_PROFILES, PUBLISHED_STUDIES, ReadyStudy};
pub use mistake::{Place as MistakePlace, StudyError, StudyErrors, toml_problem};
pub use plan::{LOOKS, Plan, Stop, Trial};
pub use search::{Search, StepLengths};
pub use study::{Configuration, Needs, Order, Place, Steady, Study};
pub use target::{
    At, Cluster, Cycle, Database, Engine, Failover, Fault, FaultError, FaultKind, FaultNode, Faults, Pair,
    Pristine, Quiet, Restore, Server, StartedServer, Target, WantedDatabase,
};
pub use work::{AnyWork, Asked, Given, Known, Work};
