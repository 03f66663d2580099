//! Commands that measure: what each of them asks for is a study, which is run, or whose plan is shown.

use std::path::PathBuf;

use clap::Args;
use database::Existing;
use study::{Plan, Study, WantedDatabase, Work};

use super::{historian, orders, plan, register, reporting, script, tables};
use crate::arguments::{Measured, Measuring, Output};
use crate::exit::{Exit, Failure};
use crate::session;

/// What a command asks for.
pub(crate) trait Asks {
    /// The study that the arguments describe.
    fn study(&self) -> Result<Study, Failure>;

    /// Runs it, and prints its report.
    fn run(&self, output: &Output) -> Result<Exit, Failure> {
        session::run(&self.study()?, output)
    }
}

/// What a command asks for, and what becomes of the results.
pub(crate) type Asked<'a> = (&'a dyn Asks, &'a Output);

pub(crate) fn run((asked, output): Asked<'_>) -> Result<Exit, Failure> {
    asked.run(output)
}

pub(crate) fn plan((asked, output): Asked<'_>) -> Result<Exit, Failure> {
    plan::print(&asked.study()?, None, output.format)
}

impl Measuring {
    pub(crate) fn asked(&self) -> Asked<'_> {
        match self {
            Self::Check(check) => check.asked(),
            Self::Disk(disk) => disk.asked(),
            Self::Verify(verify) => verify.asked(),
            Self::Historian(historian) => historian.asked(),
            Self::Script(script) => script.asked(),
            Self::Analytics(analytics) => analytics.asked(),
            Self::Failover(failover) => failover.asked(),
            Self::Tables(tables) => tables.asked(),
        }
    }
}

impl<W: Asks + Args> Measured<W> {
    pub(crate) fn asked(&self) -> Asked<'_> {
        (&self.asked, &self.output)
    }
}

/// What a plan writes to one of its databases.
pub(super) struct Written {
    /// For whoever reads the plan.
    pub(super) words: String,
    /// The least that it comes to; none where nobody knows.
    pub(super) least_bytes: Option<u64>,
}

/// What a plan writes to one of its databases for this work.
pub(super) fn written_by(
    work: &Work,
    study: &Study,
    plan: &Plan,
    database: &WantedDatabase,
) -> Option<Written> {
    match work {
        Work::Disk(_) => None,
        Work::Historian(_) => Some(historian::written(study, plan, database)),
        Work::Orders(asked) => Some(orders::written(database, &asked.job)),
        Work::Script(asked) => Some(script::written(database, &asked.job)),
        Work::Reporting(asked) => Some(reporting::written(database, &asked.job)),
        Work::Register(asked) => Some(register::written(database, &asked.job)),
        Work::Tables(_) => Some(tables::written(plan, database)),
    }
}

/// The least that a plan writes to a server that is started for it, by its name, as far as that is known.
pub(crate) fn least_written(study: &Study, plan: &Plan, server: &str) -> Option<u64> {
    let databases = plan.databases().into_iter();
    let on_it = databases.filter(|(it, _)| it.server.as_ref().is_some_and(|of| of.called() == server));
    on_it.map(|(it, trial)| written_by(&trial.work, study, plan, &it)?.least_bytes).sum()
}

/// Files that a plan makes and loads on this machine, and the least that it writes to each, as far as that is known. Of what has phases
/// and no load nobody knows it: a rate may not be reached, and rows may be purged.
pub(crate) fn least_in_files(study: &Study, plan: &Plan) -> Vec<(PathBuf, u64)> {
    let databases = plan.databases().into_iter();
    let least = |(it, trial): (WantedDatabase, &study::Trial)| {
        let file = it.url.file()?.to_owned();
        trial.work.any().besides()?;
        Some((file, written_by(&trial.work, study, plan, &it)?.least_bytes?))
    };
    databases.filter_map(least).collect()
}

/// What becomes of a database that is made.
pub(super) fn fate(database: &WantedDatabase) -> &'static str {
    match (database.is_transient(), database.existing) {
        (true, _) => "deleted at the end",
        (false, Existing::Reuse) if !database.keep => {
            "kept if it exists already, otherwise deleted at the end"
        }
        (false, _) => "kept",
    }
}
