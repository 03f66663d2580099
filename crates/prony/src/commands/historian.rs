//! `prony historian`: the record rate of a database, of one test, a search, or a published study.

use anyhow::anyhow;
use database::{Existing, Url};
use study::{Database, Plan, Study, Target, Trial, WantedDatabase};
use workload::historian::{Job, Rate, Settings, SourceChoice};

use super::managed::{self, Given};
use super::measuring::{Asks, Written, fate};
use crate::arguments::Historian;
use crate::exit::Failure;

impl Asks for Historian {
    fn study(&self) -> Result<Study, Failure> {
        let mut study = match &self.profile {
            Some(name) => Study { target: target(self)?, ..super::profile(name, self.quick)? },
            None => one(self, target(self)?),
        };
        study.blocks = self.repeats.unwrap_or(study.blocks);
        study.cool_down = self.pause.unwrap_or(study.cool_down);
        study.disk_size = self.disk_size;
        study.narrow(&self.settings).map_err(Failure::usage)?;
        self.must.of(&mut study)?;
        Ok(study)
    }
}

/// What is loaded: a database at an address, or on a server that is started.
fn target(historian: &Historian) -> Result<Target, Failure> {
    let Historian { keep, reuse, replace, .. } = *historian;
    let idle = [("--keep", keep), ("--reuse", reuse), ("--replace", replace)];
    let url: Url = match managed::given(historian.target.as_deref(), &historian.managed, &idle)? {
        Given::Started(server) if server.instances.is_some_and(|instances| instances > 1) => {
            return Err(Failure::usage(anyhow!(
                "--instances does not apply to a historian, which uses one database. Remove it"
            )));
        }
        Given::Started(server) => {
            let mut target = managed::started(*server, historian.database.as_deref())?;
            target.database.iter_mut().for_each(|database| laid(historian, database));
            return Ok(target);
        }
        // Read here and not by clap, whose message would show a password.
        Given::At(address) => address.parse().map_err(Failure::usage)?,
    };
    if let (Some(name), Some(_)) = (&historian.database, url.file()) {
        return Err(Failure::usage(anyhow!(
            "--database {name} does not apply to SQLite: the address names the file. Remove --database"
        )));
    }
    let existing = match (reuse, replace) {
        (true, _) => Some(Existing::Reuse),
        (false, true) => Some(Existing::Replace),
        (false, false) => None,
    };
    let mut database = Database::at(url).named(historian.database.as_deref());
    (database.existing, database.keep) = (existing, keep.then_some(true));
    laid(historian, &mut database);
    Ok(Target::of_databases(vec![database]))
}

/// Says where the files of a database lie and how it logs; that some take no such is told with the plan.
fn laid(historian: &Historian, database: &mut Database) {
    historian.files.of(database);
    historian.log.of(database);
}

fn one(historian: &Historian, target: Target) -> Study {
    let mut study = Study::of_historian(target);
    if historian.find_max {
        study.search_rate(historian.quick);
    } else if historian.quick {
        study.hasten();
    }
    if let Some(search) = &mut study.search {
        search.start_per_s = historian.start_rate.unwrap_or(search.start_per_s);
        search.confirm = historian.confirm.or(search.confirm);
        search.confirm_for = historian.confirm_for;
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
        (_, Some(Rate::Max)) => "Historian at full speed".to_owned(),
        (Some(source @ (SourceChoice::Modbus { .. } | SourceChoice::Csv(_))), _) => {
            format!("Historian from {source}")
        }
        _ => "Historian".to_owned(),
    })
}

/// What a row takes at least, its header included.
const ROW_BYTES_LEAST: f64 = 40.0;

/// The least that historians write to a database; none where nobody knows the rate.
fn least_bytes(plan: &Plan, database: &WantedDatabase) -> Option<u64> {
    // Tables are emptied before each trial, so that the largest counts.
    let rows = jobs(plan, database).map(rows_at_most).reduce(|a, b| Some(a?.max(b?)))??;
    let is_known = jobs(plan, database).all(|job| job.rate_per_s().is_some());
    is_known.then_some((rows * ROW_BYTES_LEAST) as u64)
}

fn jobs<'a>(plan: &'a Plan, database: &'a WantedDatabase) -> impl Iterator<Item = &'a Job> + Clone {
    let uses = move |trial: &&Trial| trial.databases().iter().any(|other| other.is_same(database));
    plan.trials.iter().filter(uses).filter_map(|trial| trial.work.job::<Settings>())
}

/// Rows of a job, where its rate has a bound.
fn rows_at_most(job: &Job) -> Option<f64> {
    Some(job.rate_per_s_max()? * job.phases.end_ns() as f64 / 1e9)
}

/// What historians write, as rows: how many bytes that is depends on the engine.
pub(super) fn written(study: &Study, plan: &Plan, database: &WantedDatabase) -> Written {
    let jobs = jobs(plan, database);
    let is_most = jobs.clone().any(|job| job.rate_per_s().is_none());
    let known: Option<f64> = jobs.map(rows_at_most).sum();
    let at_most = if is_most { "at most " } else { "" };
    let amount = match known.filter(|_| study.search.is_none()) {
        Some(rows) => format!("{at_most}{} records", report::format::grouped(rows.round() as u64)),
        None => "as many records as the database accepts".to_owned(),
    };
    let name = database.url.file().map_or_else(|| database.name.clone(), |file| file.display().to_string());
    let least_bytes = least_bytes(plan, database).filter(|_| study.search.is_none());
    Written { words: format!("{amount} to {name} ({})", fate(database)), least_bytes }
}
