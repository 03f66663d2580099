//! `prony register`: how long a database is away, what it loses, and whether it does what a register does.

use anyhow::anyhow;
use database::{Existing, Url};
use study::{Database, Study, Target, WantedDatabase};
use workload::register::Job;

use super::managed::{self, Given};
use super::measuring::{self, Asks, Written};
use crate::arguments::Register;
use crate::exit::Failure;

impl Asks for Register {
    fn study(&self) -> Result<Study, Failure> {
        let mut study = Study::of_register(target(self)?);
        study.blocks = self.repeats.unwrap_or(study.blocks);
        study.cool_down = self.pause.unwrap_or(study.cool_down);
        study.narrow(&self.settings).map_err(Failure::usage)?;
        self.must.of(&mut study)?;
        Ok(study)
    }
}

fn target(register: &Register) -> Result<Target, Failure> {
    let idle = [("--replace", register.replace)];
    match managed::given(register.target.as_deref(), &register.managed, &idle)? {
        Given::Started(server) if server.instances.is_some_and(|instances| instances > 1) => {
            Err(Failure::usage(anyhow!(
                "--instances does not apply to registers, which use one database. Remove it"
            )))
        }
        Given::Started(server) => managed::started(*server, None),
        // Read here and not by clap, whose message would show a password.
        Given::At(address) => {
            let url: Url = address.parse().map_err(Failure::usage)?;
            let mut database = Database::at(url);
            database.existing = register.replace.then_some(Existing::Replace);
            Ok(Target::of_databases(vec![database]))
        }
    }
}

/// What registers write to a database.
pub(super) fn written(database: &WantedDatabase, job: &Job) -> Written {
    let words = format!(
        "a table of {} registers to {} ({})",
        report::format::grouped(job.keys.into()),
        database.place(),
        measuring::fate(database)
    );
    Written { words, least_bytes: None }
}
