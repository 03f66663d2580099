//! `prony historian`: the record rate of a database, of one test, a search, or a published study.

use anyhow::anyhow;
use database::{Existing, Url};
use study::{Database, Plan, Study, Target, Trial, WantedDatabase};
use workload::historian::{Job, Rate, Settings, SourceChoice};

use super::measuring::{Asks, fate};
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
        self.must.of(&mut study)?;
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

/// What historians write, as rows: how many bytes that is depends on the engine.
pub(super) fn written(study: &Study, plan: &Plan, database: &WantedDatabase) -> String {
    let uses = |trial: &&Trial| trial.databases().iter().any(|other| other.is_same(database));
    let jobs = plan.trials.iter().filter(uses).filter_map(|trial| trial.work.job::<Settings>());
    let rows = |job: &Job| Some(job.rate_per_s_max()? * job.phases.end_ns() as f64 / 1e9);
    let is_most = jobs.clone().any(|job| job.rate_per_s().is_none());
    let known: Option<f64> = jobs.map(rows).sum();
    let at_most = if is_most { "at most " } else { "" };
    let amount = match known.filter(|_| study.search.is_none()) {
        Some(rows) => format!("{at_most}{} rows", report::format::grouped(rows.round() as u64)),
        None => "rows as fast as they are taken".to_owned(),
    };
    let name = database.url.file().map_or_else(|| database.name.clone(), |file| file.display().to_string());
    format!("{amount} into {name}, {}", fate(database))
}
