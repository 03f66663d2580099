//! What a workload tells while a trial runs, and what it is told in return.

use record::{Interval, Mark, Preparation, Setup};
use serde::{Deserialize, Serialize};

/// Hears how far something is that takes long.
pub type Tell<'a> = dyn FnMut(Preparation) + 'a;

/// What is told while a trial runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Progress {
    /// What comes before the load or after it, and how far it is. The answer is not looked at.
    Preparing(Preparation),
    /// Everything is set up; the load begins now.
    SetUp(Setup),
    /// Something else goes on, or has ended.
    Mark(Mark),
    /// An interval of each part of a load has ended, such as each of several stores; none of a part that did nothing more.
    /// What they come to together is told next. Told of several parts only.
    Parts(Vec<Option<Interval>>),
    /// An interval has ended.
    Interval(Interval),
}

/// Whether a trial goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Go {
    /// It does.
    On,
    /// It drains and ends.
    Stop,
}
