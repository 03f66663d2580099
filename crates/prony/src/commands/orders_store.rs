//! `prony orders load` and `verify`: a store in a database.

use std::time::Instant;

use anyhow::anyhow;
use database::{Claim, Existing, Layout, RunId, Url};
use record::{Event, Lines};
use report::format;
use study::Database;
use workload::orders::store::{Loaded, State};
use workload::orders::{self, Check, DATABASE, LoadError, StoreData, StoreTable};
use workload::waiting::Making;

use crate::arguments::{LoadOrders, Store, VerifyOrders};
use crate::exit::{Exit, Failure};
use crate::progress::Progress;
use crate::{interrupt, memory, terminal};

/// `prony orders load`.
pub(crate) fn load(arguments: &LoadOrders) -> Result<Exit, Failure> {
    let (data, threads) =
        (StoreData::new(arguments.rows.size, arguments.rows.seed), arguments.rows.threads());
    let rows: u64 = StoreTable::ALL.into_iter().map(|table| data.expected_rows(table)).sum();
    let (url, name) = place(&arguments.store)?;
    let claim = claim(arguments)?;
    orders::look((&url, &name), &claim).map_err(failure)?;
    announce!(
        "order store of {}, seed {}: about {} rows",
        data.size(),
        data.seed(),
        format::figure(rows as f64)
    );
    announce!(
        "Writes: to {} (kept)",
        url.file().map_or_else(|| name.clone(), |file| file.display().to_string())
    );
    memory::check(threads as u64)?;
    let stop = interrupt::flag_on_signal()?;
    let begin = Instant::now();
    let mut progress = Progress::new();
    let tell = &mut |at| progress.show(&Event::Preparing(at));
    let making = Making { url: &url, name: &name, claim: &claim, layout: &layout(arguments) };
    let result = orders::load(making, &data, threads, &stop, tell);
    progress.finish();
    let loaded = result.map_err(failure)?;
    terminal::print(&told(&loaded))?;
    let seconds = begin.elapsed().as_secs_f64();
    let rows: u64 = loaded.rows.iter().sum();
    let rate = format::figure(rows as f64 / seconds);
    announce!("took {} including keys and statistics: {rate} rows/s", format::duration(seconds));
    Ok(Exit::Pass)
}

/// `prony plan orders load`: how long it takes is the server's affair, and told as it goes on.
pub(crate) fn plan_load(arguments: &LoadOrders) -> Result<Exit, Failure> {
    let data = StoreData::new(arguments.rows.size, arguments.rows.seed);
    let (url, name) = place(&arguments.store)?;
    let claim = claim(arguments)?;
    database::look(&url, claim.existing, claim.instead).map_err(|error| failure(error.into()))?;
    let rows = StoreTable::ALL.map(|table| (table.table().name, data.expected_rows(table)));
    let tables = rows.into_iter().map(line);
    let total: u64 = rows.iter().map(|(_, rows)| rows).sum();
    let total = format::figure(total as f64);
    let what = format!("order store of {}, seed {}: about {total} rows", data.size(), data.seed());
    let writes = format!(
        "Writes: to {1} with {0} loaders (kept){2}",
        arguments.rows.threads(),
        url.file().map_or_else(|| name.clone(), |file| file.display().to_string()),
        if arguments.replace { "; an existing store of prony is deleted first" } else { "" }
    );
    let takes =
        "Time: depends on the database. `prony orders load` shows progress and the time left".to_owned();
    let all = [what, takes, writes, String::new()].into_iter().chain(tables);
    terminal::print(&Lines::each(all))?;
    Ok(Exit::Pass)
}

/// Where the files of the store lie and how it logs.
fn layout(arguments: &LoadOrders) -> Layout {
    let mut database = Database::default();
    arguments.files.of(&mut database);
    arguments.log.of(&mut database);
    database.layout()
}

/// What a load does with what is there. Nothing is taken up.
fn claim(arguments: &LoadOrders) -> Result<Claim, Failure> {
    let existing = if arguments.replace { Existing::Replace } else { Existing::Refuse };
    Ok(Claim { instead: None, ..Claim::new(RunId::new().map_err(Failure::runtime)?, existing) })
}

/// `prony orders verify`.
pub(crate) fn verify(arguments: &VerifyOrders) -> Result<Exit, Failure> {
    let (url, name) = place(&arguments.store)?;
    let stop = interrupt::flag_on_signal()?;
    let mut progress = Progress::new();
    let verified = orders::verify(&url, &name, &stop, &mut |at| progress.show(&Event::Preparing(at)));
    progress.finish();
    let Some((loaded, checks)) = verified.map_err(failure)? else {
        return Err(Failure::usage(anyhow!(
            "{url}: no order store found. Create one with prony orders load"
        )));
    };
    terminal::print(&checked(&checks, loaded.state))?;
    let wrong = checks.iter().filter(|check| !check.holds()).count();
    match (loaded.state, wrong) {
        (State::Loading, _) => Err(Failure::runtime(anyhow!(
            "{url}: the load of this store of {} was interrupted. Load it again: prony orders load \
             --replace --size {} --seed {}, with the same --target and --database",
            loaded.size,
            loaded.size,
            loaded.seed
        ))),
        (State::Loaded | State::Used, 0) => {
            let used = match loaded.state {
                State::Used => " (a run has used it since the load)",
                State::Loading | State::Loaded => "",
            };
            tell!(
                "order store of {}, seed {}: all counts and sums match the loaded data{used}",
                loaded.size,
                loaded.seed
            );
            Ok(Exit::Pass)
        }
        (State::Used, others) => Err(Failure::runtime(anyhow!(
            "{url}: a run has used this store of {} since the load, and {others} of {} counts differ. That \
             is normal: a run adds rows. The next run deletes the added rows, and rejects the store if a loaded row is missing",
            loaded.size,
            checks.len()
        ))),
        (State::Loaded, wrong) => Err(Failure::runtime(anyhow!(
            "{url}: {wrong} of {} counts of this store of {} do not match the loaded data. Load it again: \
             prony orders load --replace --size {} --seed {}, with the same --target and --database",
            checks.len(),
            loaded.size,
            loaded.size,
            loaded.seed
        ))),
    }
}

/// Address and database of a store. Read here and not by clap, whose message would show a password.
fn place(store: &Store) -> Result<(Url, String), Failure> {
    let url: Url = store.target.parse().map_err(Failure::usage)?;
    match (&store.database, url.file()) {
        _ if url.engine().is_by_columns() => Err(Failure::usage(anyhow!(
            "{url} cannot hold order stores: {} supports only prony tables. Give another address, for \
             example postgres://localhost",
            url.engine().dialect().name()
        ))),
        (Some(name), Some(_)) => Err(Failure::usage(anyhow!(
            "--database {name} does not apply to SQLite: the address names the file. Remove --database"
        ))),
        (name, _) => Ok((url, name.clone().unwrap_or_else(|| DATABASE.to_owned()))),
    }
}

fn failure(error: LoadError) -> Failure {
    match error {
        LoadError::Interrupted => Failure::interrupted(error),
        LoadError::Left { ref why, .. } if matches!(**why, LoadError::Interrupted) => {
            Failure::interrupted(error)
        }
        LoadError::Database(error) if error.is_usage() => Failure::usage(error),
        error => Failure::runtime(error),
    }
}

/// A line a table, in the order in which they are stored of a load.
fn told(loaded: &Loaded) -> Lines {
    let names = ["customers", "orders", "orderlines", "cust_hist", "products", "inventory", "categories"];
    Lines::each(names.into_iter().zip(loaded.rows).map(line))
}

fn line((table, rows): (&str, u64)) -> String {
    format!("{table:<10}  {:>13} rows", format::grouped(rows))
}

/// A line a count, with what was loaded where it is another. Of a store that was used that is no fault.
fn checked(checks: &[Check], state: State) -> Lines {
    let width = checks.iter().map(|check| check.what.len()).max().unwrap_or(0);
    let line = |check: &Check| {
        let found = format::grouped(check.found);
        let expected = format::grouped(check.expected);
        let wrong = match state {
            _ if check.holds() => String::new(),
            State::Used => format!("  loaded: {expected}"),
            State::Loading | State::Loaded => format!("  wrong: {expected} expected"),
        };
        format!("{:<width$}  {found:>13}{wrong}", check.what)
    };
    Lines::each(checks.iter().map(line))
}
