//! `prony reporting`: what a report over millions of messages takes.

use anyhow::anyhow;
use database::{Existing, Url};
use study::{Database, Pristine, Study, Target, WantedDatabase};
use workload::reporting::Job;

use super::managed::{self, Given};
use super::measuring::{Asks, Written, fate};
use crate::arguments::Reporting;
use crate::exit::Failure;

impl Asks for Reporting {
    fn study(&self) -> Result<Study, Failure> {
        let mut study = Study::of_reporting(target(self)?);
        if self.quick {
            study.hasten_reporting();
        }
        study.blocks = self.repeats.unwrap_or(1);
        study.cool_down = self.pause.unwrap_or(study.cool_down);
        study.narrow(&self.settings).map_err(Failure::usage)?;
        if self.settings.arrivals.is_none() {
            study.arrive_and_not();
        }
        self.must.of(&mut study)?;
        Ok(study)
    }
}

fn target(reporting: &Reporting) -> Result<Target, Failure> {
    let Reporting { keep, reuse, replace, .. } = *reporting;
    let idle = [("--keep", keep), ("--reuse", reuse), ("--replace", replace)];
    let url: Url = match managed::given(reporting.target.as_deref(), &reporting.managed, &idle)? {
        Given::Started(server) if server.instances.is_some_and(|instances| instances > 1) => {
            return Err(Failure::usage(anyhow!(
                "--instances does not apply to reports, which use one database. Remove it"
            )));
        }
        Given::Started(mut server) => {
            // The first report of a cycle is the cold one, unless something else is asked for.
            if server.between_trials.is_none() && server.cold.is_none() {
                (server.between_trials, server.cold) = (Some(Pristine::Restart), Some(true));
            }
            return managed::started(*server, reporting.database.as_deref());
        }
        // Read here and not by clap, whose message would show a password.
        Given::At(address) => address.parse().map_err(Failure::usage)?,
    };
    if let (Some(name), Some(_)) = (&reporting.database, url.file()) {
        return Err(Failure::usage(anyhow!(
            "--database {name} does not apply to SQLite: the address names the file. Remove --database"
        )));
    }
    let existing = match (reuse, replace) {
        (true, _) => Some(Existing::Reuse),
        (false, true) => Some(Existing::Replace),
        (false, false) => None,
    };
    let mut database = Database::at(url).named(reporting.database.as_deref());
    (database.existing, database.keep) = (existing, keep.then_some(true));
    Ok(Target::of_databases(vec![database]))
}

/// What a message takes at least, with its index: some 58 of SQLite, which takes the least.
const BYTES_OF_MESSAGE: u64 = 40;

/// What is written to a database of messages.
pub(super) fn written(database: &WantedDatabase, job: &Job) -> Written {
    let events = job.standing.events;
    let arriving = if job.arrivals.is_open() { " and arriving messages (deleted again)" } else { "" };
    let words = format!(
        "{} messages{arriving} to {} ({})",
        report::format::grouped(events),
        database.place(),
        fate(database)
    );
    Written { words, least_bytes: Some(events * (BYTES_OF_MESSAGE + u64::from(job.standing.subject_bytes))) }
}
