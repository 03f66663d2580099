//! `prony historian`: the record rate of a database, of one test, a search, or a published study.

use anyhow::anyhow;
use database::{Existing, Url};
use study::{Database, Study, Target};
use workload::historian::{Rate, SourceChoice};

use super::measuring::Asks;
use crate::arguments::Historian;
use crate::exit::Failure;

impl Asks for Historian {
    fn study(&self) -> Result<Study, Failure> {
        // Read here and not by clap, whose message would show a password.
        let target: Url = self.target.parse().map_err(Failure::usage)?;
        let mut study = match &self.profile {
            Some(name) => {
                let mut study = super::profile(name, self.quick)?;
                study.target = Target::of_databases(vec![Database::at(target.clone())]);
                study
            }
            None => one(self, target.clone()),
        };
        if let Some(name) = &self.database {
            if target.file().is_some() {
                return Err(Failure::usage(anyhow!(
                    "database `{name}` has no meaning for SQLite, where the address names the file; leave out --database"
                )));
            }
            study.target.database_mut().name = Some(name.clone());
        }
        let database = study.target.database_mut();
        database.keep = self.keep.then_some(true);
        database.existing = match (self.reuse, self.replace) {
            (true, _) => Some(Existing::Reuse),
            (false, true) => Some(Existing::Replace),
            (false, false) => None,
        };
        study.blocks = self.repeats.unwrap_or(study.blocks);
        study.cool_down = self.pause.unwrap_or(study.cool_down);
        study.disk_size = self.disk_size;
        study.narrow(&self.settings).map_err(Failure::usage)?;
        Ok(study)
    }
}

fn one(historian: &Historian, target: Url) -> Study {
    let mut study = Study::of_historian(target);
    if historian.find_max {
        study.search_rate(historian.quick);
    } else if historian.quick {
        study.hasten();
    }
    if let Some(search) = &mut study.search {
        search.start_per_s = historian.start_rate.unwrap_or(search.start_per_s);
        search.confirm = historian.confirm.or(search.confirm);
    }
    study.title = title(historian).unwrap_or(study.title);
    study
}

/// What is asked of the database, where it is one test.
fn title(historian: &Historian) -> Option<String> {
    if historian.find_max {
        return None;
    }
    let settings = &historian.settings;
    Some(match (&settings.source, settings.rate) {
        (None | Some(SourceChoice::Random), Some(Rate::PerSecond(rate))) => {
            format!("Historian at {}/s", report::format::figure(rate))
        }
        (_, Some(Rate::Max)) => "Historian, as fast as it goes".to_owned(),
        (Some(source @ (SourceChoice::Modbus { .. } | SourceChoice::Csv(_))), _) => {
            format!("Historian of {source}")
        }
        _ => "Historian".to_owned(),
    })
}
