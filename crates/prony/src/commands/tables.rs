//! `prony tables`: the same rows and operations on every kind of table that an engine has.

use anyhow::anyhow;
use database::{Dialect, Existing, Url};
use study::{Database, Engine, Plan, Server, Study, Target, WantedDatabase};
use workload::tables::{Job, Settings};

use super::managed::{self, Given};
use super::measuring::{Asks, Written, fate};
use crate::arguments::Tables;
use crate::exit::Failure;

/// Where nothing else is given: it is made here, and removed.
const EMBEDDED: &str = "sqlite:prony-tables.sqlite";

impl Asks for Tables {
    fn study(&self) -> Result<Study, Failure> {
        let (target, dialect) = target(self)?;
        let mut study = Study::of_tables(target, dialect);
        if self.quick {
            study.hasten_tables();
        }
        study.blocks = self.repeats.unwrap_or(study.blocks);
        // Of a single block nobody can tell how much it scatters.
        study.noise_floor = study.blocks > 1;
        study.cool_down = self.pause.unwrap_or(study.cool_down);
        study.narrow(&self.settings).map_err(Failure::usage)?;
        let rows = self.settings.rows.unwrap_or_default();
        if let Some(lacks) = self.settings.kind.and_then(|kind| workload::tables::lacks(kind, dialect, rows))
        {
            return Err(Failure::usage(anyhow!("--kind: {lacks}")));
        }
        self.must.of(&mut study)?;
        Ok(study)
    }
}

/// What is loaded, and what it speaks.
fn target(tables: &Tables) -> Result<(Target, Dialect), Failure> {
    if tables.target.is_none() && tables.managed.managed.is_none() && tables.managed.given().is_empty() {
        let mut database = at(tables, EMBEDDED)?;
        database.existing.get_or_insert(Existing::Leftover);
        return Ok((Target::of_databases(vec![database]), Dialect::Sqlite));
    }
    match managed::given(tables.target.as_deref(), &tables.managed, &[("--replace", tables.replace)])? {
        Given::Started(server) if server.instances.is_some_and(|instances| instances > 1) => {
            Err(Failure::usage(anyhow!(
                "--instances does not apply to tables, which use one database. Remove it"
            )))
        }
        Given::Started(server) => {
            let dialect = dialect(&server)?;
            let mut target = managed::started(*server, tables.database.as_deref())?;
            target.database.iter_mut().for_each(|database| laid(tables, database));
            Ok((target, dialect))
        }
        Given::At(address) => {
            let database = at(tables, address)?;
            // Read here and not by clap, whose message would show a password.
            let url: Url = address.parse().map_err(Failure::usage)?;
            Ok((Target::of_databases(vec![database]), url.engine().dialect()))
        }
    }
}

fn dialect(server: &Server) -> Result<Dialect, Failure> {
    match server.engine {
        Some(Engine::Postgres) => Ok(Dialect::Postgres),
        Some(Engine::Mariadb | Engine::Mysql) => Ok(Dialect::Mysql),
        Some(Engine::Sqlserver) => Ok(Dialect::SqlServer),
        None => Err(Failure::usage(anyhow!("no server to start. Add --managed postgres"))),
    }
}

fn at(tables: &Tables, address: &str) -> Result<Database, Failure> {
    let url: Url = address.parse().map_err(Failure::usage)?;
    if let (Some(name), Some(_)) = (&tables.database, url.file()) {
        return Err(Failure::usage(anyhow!(
            "--database {name} does not apply to {}: the address names the file. Remove --database",
            url.engine().dialect().name()
        )));
    }
    let mut database = Database::at(url).named(tables.database.as_deref());
    database.existing = tables.replace.then_some(Existing::Replace);
    laid(tables, &mut database);
    Ok(database)
}

/// Says where the files of a database lie and how it logs; that some take no such is told with the plan.
fn laid(tables: &Tables, database: &mut Database) {
    tables.files.of(database);
    tables.log.of(database);
}

/// What a row takes at least, its key included.
const ROW_BYTES_LEAST: u64 = 40;

/// What tables take of a database: one at a time is there, and dropped before the next one.
pub(super) fn written(plan: &Plan, database: &WantedDatabase) -> Written {
    let uses = |trial: &&study::Trial| trial.databases().iter().any(|other| other.is_same(database));
    let jobs = plan.trials.iter().filter(uses).filter_map(|trial| trial.work.job::<Settings>());
    let rows = |job: &Job| job.rows;
    let most = jobs.clone().map(rows).max().unwrap_or_default();
    let rows = report::format::grouped(most);
    let tables = match jobs.count() {
        1 => format!("a table of {rows} rows"),
        count => format!("{count} tables of up to {rows} rows, one at a time,"),
    };
    let words = format!("{tables} to {} ({})", database.place(), fate(database));
    Written { words, least_bytes: Some(most * ROW_BYTES_LEAST) }
}
