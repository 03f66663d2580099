//! What a trial is of. Everything stored says it; nothing infers it, least of all from the names of operations, which are free.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::verify::Verified;
use crate::{
    Calibration, DiskEngine, DiskOutcome, DiskSetup, HistorianOutcome, HistorianSetup, Loop, Mark, Offered,
    OrdersOutcome, OrdersSetup, RegisterOutcome, RegisterSetup, ReportingOutcome, ReportingSetup,
    ScriptOutcome, ScriptSetup, SetUpDatabase, TablesOutcome, TablesSetup,
};
use crate::{disk, historian, orders, reporting, script, tables};

/// What a trial puts its load on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Workload {
    /// Files and devices.
    Disk,
    /// A historian.
    Historian,
    /// An order store.
    Orders,
    /// SQL of the user's own.
    Script,
    /// Reports over messages.
    Reporting,
    /// Registers whose history is checked.
    Register,
    /// A table of some kind.
    Tables,
}

impl Workload {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Disk,
        Self::Historian,
        Self::Orders,
        Self::Script,
        Self::Reporting,
        Self::Register,
        Self::Tables,
    ];

    /// Its name in study files and records.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Disk => "disk",
            Self::Historian => "historian",
            Self::Orders => "orders",
            Self::Script => "script",
            Self::Reporting => "reporting",
            Self::Register => "register",
            Self::Tables => "tables",
        }
    }

    /// The operations that its trials are about where their names are not the user's.
    #[must_use]
    pub fn main(self) -> Main {
        match self {
            Self::Disk => Main::AllBut(vec![disk::FLUSH.to_owned()]),
            Self::Historian => Main::Kind(historian::RECORD.to_owned()),
            Self::Orders => Main::Kind(orders::ORDER.to_owned()),
            Self::Script => Main::Kind(script::TRANSACTION.to_owned()),
            Self::Reporting => Main::Kind(reporting::REPORT.to_owned()),
            // Each operation is one of them.
            Self::Register => Main::AllBut(Vec::new()),
            Self::Tables => Main::Kind(tables::POINT_UPDATE.to_owned()),
        }
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The operations that a trial's rate and latency are of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Main {
    /// One kind; the others carry it, read it or are parts of it, and are never added up.
    Kind(String),
    /// All kinds together but these.
    AllBut(Vec<String>),
}

impl Main {
    /// Whether it is about operations of this kind.
    #[must_use]
    pub fn has(&self, kind: &str) -> bool {
        match self {
            Self::Kind(main) => main == kind,
            Self::AllBut(others) => !others.iter().any(|other| other == kind),
        }
    }

    /// Those of several kinds that it is about.
    pub fn among<'a, T>(
        &'a self,
        kinds: &'a BTreeMap<String, T>,
    ) -> impl Iterator<Item = (&'a String, &'a T)> {
        kinds.iter().filter(|(kind, _)| self.has(kind))
    }
}

/// The setup of a trial, by workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "workload", rename_all = "snake_case")]
pub enum Setup {
    /// Disk workload.
    Disk(Box<DiskSetup>),
    /// Historian workload.
    Historian(Box<HistorianSetup>),
    /// Order store.
    Orders(Box<OrdersSetup>),
    /// Scripts.
    Script(Box<ScriptSetup>),
    /// Reports.
    Reporting(Box<ReportingSetup>),
    /// Registers.
    Register(Box<RegisterSetup>),
    /// A table.
    Tables(Box<TablesSetup>),
}

impl Setup {
    /// What it is of.
    #[must_use]
    pub fn workload(&self) -> Workload {
        match self {
            Self::Disk(_) => Workload::Disk,
            Self::Historian(_) => Workload::Historian,
            Self::Orders(_) => Workload::Orders,
            Self::Script(_) => Workload::Script,
            Self::Reporting(_) => Workload::Reporting,
            Self::Register(_) => Workload::Register,
            Self::Tables(_) => Workload::Tables,
        }
    }

    /// What the load generator does without a target, where that was measured.
    #[must_use]
    pub fn calibration(&self) -> Option<Calibration> {
        match self {
            Self::Disk(setup) => setup.calibration,
            Self::Historian(setup) => setup.calibration,
            Self::Orders(_) | Self::Script(_) | Self::Reporting(_) | Self::Register(_) | Self::Tables(_) => {
                None
            }
        }
    }

    /// Whether clients wait for answers.
    #[must_use]
    pub fn pacing(&self) -> Loop {
        match self {
            Self::Disk(setup) => setup.pacing,
            Self::Historian(setup) => setup.pacing,
            Self::Orders(setup) => setup.pacing,
            Self::Script(setup) => setup.pacing,
            Self::Reporting(setup) => setup.pacing(),
            Self::Register(setup) => setup.pacing,
            Self::Tables(setup) => setup.pacing,
        }
    }

    /// Whether the trial runs in a time of its own, in which the machine's counters mean nothing.
    #[must_use]
    pub fn is_simulated(&self) -> bool {
        match self {
            Self::Disk(setup) => setup.engine == DiskEngine::Simulated,
            Self::Historian(setup) => setup.is_on_fake(),
            Self::Orders(_) | Self::Script(_) | Self::Reporting(_) | Self::Register(_) | Self::Tables(_) => {
                false
            }
        }
    }

    /// The databases that the trial found; none of a disk test.
    #[must_use]
    pub fn databases(&self) -> Vec<SetUpDatabase<'_>> {
        match self {
            Self::Disk(_) => Vec::new(),
            Self::Historian(setup) => vec![setup.database()],
            Self::Orders(setup) => setup.databases().collect(),
            Self::Script(setup) => vec![setup.database()],
            Self::Reporting(setup) => vec![setup.database()],
            Self::Register(setup) => vec![setup.database()],
            Self::Tables(setup) => vec![setup.database()],
        }
    }

    /// The setup of a disk trial, if it is one.
    #[must_use]
    pub fn disk(&self) -> Option<&DiskSetup> {
        if let Self::Disk(setup) = self { Some(setup) } else { None }
    }

    /// The setup of a historian trial, if it is one.
    #[must_use]
    pub fn historian(&self) -> Option<&HistorianSetup> {
        if let Self::Historian(setup) = self { Some(setup) } else { None }
    }

    /// The setup of a trial of the order store, if it is one.
    #[must_use]
    pub fn orders(&self) -> Option<&OrdersSetup> {
        if let Self::Orders(setup) = self { Some(setup) } else { None }
    }

    /// The setup of a trial of scripts, if it is one.
    #[must_use]
    pub fn script(&self) -> Option<&ScriptSetup> {
        if let Self::Script(setup) = self { Some(setup) } else { None }
    }

    /// The setup of a trial of reports, if it is one.
    #[must_use]
    pub fn reporting(&self) -> Option<&ReportingSetup> {
        if let Self::Reporting(setup) = self { Some(setup) } else { None }
    }

    /// The setup of a trial of registers, if it is one.
    #[must_use]
    pub fn register(&self) -> Option<&RegisterSetup> {
        if let Self::Register(setup) = self { Some(setup) } else { None }
    }

    /// The setup of a trial of a table, if it is one.
    #[must_use]
    pub fn tables(&self) -> Option<&TablesSetup> {
        if let Self::Tables(setup) = self { Some(setup) } else { None }
    }
}

/// What became of a trial's operations, by workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "workload", rename_all = "snake_case")]
pub enum Outcome {
    /// Disk workload.
    Disk(DiskOutcome),
    /// Historian workload.
    Historian(Box<HistorianOutcome>),
    /// Order store.
    Orders(Box<OrdersOutcome>),
    /// Scripts.
    Script(Box<ScriptOutcome>),
    /// Reports.
    Reporting(Box<ReportingOutcome>),
    /// Registers.
    Register(Box<RegisterOutcome>),
    /// A table.
    Tables(Box<TablesOutcome>),
}

/// The workload of each outcome, and the outcome from what the workload found.
macro_rules! outcomes {
    ($($workload:ident($found:ty)),* $(,)?) => {
        impl Outcome {
            /// Its workload.
            #[must_use]
            pub fn workload(&self) -> Workload {
                match self {
                    $(Self::$workload(_) => Workload::$workload,)*
                }
            }
        }

        $(impl From<$found> for Outcome {
            fn from(found: $found) -> Self {
                Self::$workload(found.into())
            }
        })*
    };
}

outcomes! {
    Disk(DiskOutcome),
    Historian(HistorianOutcome),
    Orders(OrdersOutcome),
    Script(ScriptOutcome),
    Reporting(ReportingOutcome),
    Register(RegisterOutcome),
    Tables(TablesOutcome),
}

impl Outcome {
    /// The result of the page checks.
    #[must_use]
    pub fn verified(&self) -> Option<&Verified> {
        if let Self::Disk(outcome) = self { outcome.verified.as_deref() } else { None }
    }

    /// The marks that follow from it and the setup of its trial, for records of before there were any.
    #[must_use]
    pub fn marks(&self, setup: Option<&Setup>) -> Vec<Mark> {
        match self {
            // Registers tell each of their marks.
            Self::Disk(_) | Self::Reporting(_) | Self::Register(_) => Vec::new(),
            Self::Historian(outcome) => outcome.marks(setup.and_then(Setup::historian)),
            Self::Orders(outcome) => outcome.marks(),
            Self::Script(outcome) => outcome.marks(),
            Self::Tables(outcome) => outcome.marks(),
        }
    }

    /// Operations that were due and not sent when the window ended; of an open loop whose clients can all be busy.
    #[must_use]
    pub fn unsent(&self) -> u64 {
        self.open_loop().map_or(0, |(unsent, _)| unsent)
    }

    /// What an open loop offered; none of a closed one, and of what counts its events itself.
    #[must_use]
    pub fn offered(&self) -> Option<Offered> {
        self.open_loop()?.1
    }

    fn open_loop(&self) -> Option<(u64, Option<Offered>)> {
        match self {
            Self::Disk(outcome) => Some((outcome.unsent, outcome.offered)),
            Self::Historian(_) | Self::Reporting(_) | Self::Tables(_) => None,
            Self::Orders(outcome) => Some((outcome.unsent, outcome.offered)),
            Self::Script(outcome) => Some((outcome.unsent, outcome.offered)),
            Self::Register(outcome) => Some((outcome.unsent, outcome.offered)),
        }
    }

    /// The outcome of a historian trial, if it is one.
    #[must_use]
    pub fn historian(&self) -> Option<&HistorianOutcome> {
        if let Self::Historian(outcome) = self { Some(outcome) } else { None }
    }

    /// The outcome of a trial of the order store, if it is one.
    #[must_use]
    pub fn orders(&self) -> Option<&OrdersOutcome> {
        if let Self::Orders(outcome) = self { Some(outcome) } else { None }
    }

    /// The outcome of a trial of scripts, if it is one.
    #[must_use]
    pub fn script(&self) -> Option<&ScriptOutcome> {
        if let Self::Script(outcome) = self { Some(outcome) } else { None }
    }

    /// The outcome of a trial of reports, if it is one.
    #[must_use]
    pub fn reporting(&self) -> Option<&ReportingOutcome> {
        if let Self::Reporting(outcome) = self { Some(outcome) } else { None }
    }

    /// The outcome of a trial of registers, if it is one.
    #[must_use]
    pub fn register(&self) -> Option<&RegisterOutcome> {
        if let Self::Register(outcome) = self { Some(outcome) } else { None }
    }

    /// The outcome of a trial of a table, if it is one.
    #[must_use]
    pub fn tables(&self) -> Option<&TablesOutcome> {
        if let Self::Tables(outcome) = self { Some(outcome) } else { None }
    }
}

impl Setup {
    /// Removes the cycle, which older records lack. The trial is then judged like theirs.
    pub fn be_judged_as_before(&mut self) {
        if let Self::Historian(setup) = self {
            setup.cycle = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_what_is_stored() {
        for workload in Workload::ALL {
            assert_eq!(serde_json::to_value(workload).unwrap(), workload.name());
        }
    }

    #[test]
    fn a_trial_may_be_about_any_name() {
        let main = Main::Kind("login".to_owned());
        assert!(main.has("login") && !main.has("order") && !main.has("record"));
        let disk = Workload::Disk.main();
        assert!(disk.has("read") && disk.has("write") && !disk.has("flush"));
    }
}
