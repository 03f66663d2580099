//! `prony script`: a load of the user's own SQL, or of a log that is replayed.

use anyhow::anyhow;
use database::{Existing, Url};
use study::{Database, Study, Target, WantedDatabase};
use workload::script::{Job, Protocol};

use super::managed::{self, Given};
use super::measuring::{self, Asks, Written};
use crate::arguments::Script;
use crate::exit::Failure;
use crate::hints;

impl Asks for Script {
    fn study(&self) -> Result<Study, Failure> {
        let mut study = Study::of_script(target(self)?);
        study.blocks = self.repeats.unwrap_or(study.blocks);
        study.cool_down = self.pause.unwrap_or(study.cool_down);
        study.narrow(&self.settings).map_err(Failure::usage)?;
        self.must.of(&mut study)?;
        Ok(study)
    }
}

fn target(script: &Script) -> Result<Target, Failure> {
    if script.managed.managed.is_none() && script.managed.server.log.is_some() {
        return Err(Failure::usage(anyhow!(
            "--log is {}. Add --managed postgres, mariadb or mysql, or remove --log",
            hints::LOG
        )));
    }
    match managed::given(script.target.as_deref(), &script.managed, &[])? {
        Given::Started(server) if server.instances.is_some_and(|instances| instances > 1) => {
            Err(Failure::usage(anyhow!(
                "--instances does not apply to a script, which uses one database. Remove it"
            )))
        }
        Given::Started(server) => managed::started(*server, None),
        Given::At(_) if script.settings.init.is_some() => Err(Failure::usage(anyhow!(
            "--init FILE needs --managed: prony uses the database of --target as it is. Create your tables \
             there yourself and remove --init. To create the tables of --builtin there, add --initialize"
        ))),
        // Read here and not by clap, whose message would show a password.
        Given::At(address) => {
            let url: Url = address.parse().map_err(Failure::usage)?;
            Ok(Target::of_databases(vec![Database::at(url)]))
        }
    }
}

/// What pgbench's tables take for each unit of their scale, with an index.
const BYTES_OF_SCALE: u64 = 15 << 20;

/// What scripts write to a database.
pub(super) fn written(database: &WantedDatabase, job: &Job) -> Written {
    let place = database.place();
    let changed =
        if job.replay.is_some() { "changes by the statements of the log" } else { "changes by the scripts" };
    let changed = match job.protocol {
        Protocol::Procedure => {
            format!("the scripts' procedures (dropped at the end) and {changed}")
        }
        Protocol::Statements(_) => changed.to_owned(),
    };
    let nothing = match job.protocol {
        Protocol::Procedure => "nothing else",
        Protocol::Statements(_) => "nothing",
    };
    let made = || format!("pgbench's tables of scale {}", job.scale.unwrap_or(1));
    let words = match (database.existing, &job.init) {
        (Existing::AsItIs, _) if job.initialise => {
            format!("{} if missing, and {changed}, to {place} (the tables are kept)", made())
        }
        (_, None) if !job.builtin.is_empty() && database.existing != Existing::AsItIs => {
            format!("{} and {changed}, to {place} ({})", made(), measuring::fate(database))
        }
        (Existing::AsItIs, _) => {
            format!("{changed}, to {place} (prony itself changes {nothing} there)")
        }
        (_, Some(init)) => format!(
            "the tables of {} to {place} ({}), and {changed}",
            init.display(),
            measuring::fate(database)
        ),
        (_, None) if job.replay.is_some() => format!("{changed}, to {place} ({})", measuring::fate(database)),
        (_, None) => format!("everything that the scripts write to {place} ({})", measuring::fate(database)),
    };
    let is_made = !job.builtin.is_empty() && (job.initialise || database.existing != Existing::AsItIs);
    let least_bytes = is_made.then(|| u64::from(job.scale.unwrap_or(1)) * BYTES_OF_SCALE);
    Written { words, least_bytes }
}
