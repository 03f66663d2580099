//! Takes up a store that was loaded, for a run or to look at it; what is no such store is refused before anything is done.

use database::{Claim, Error, Existing, Own, RunId, Session, Url};
use record::{Command, Parameter};

use super::size::StoreSize;
use super::store::{Loaded, State, read_loaded};
use super::{load_again, parameter, the_same_place};

/// Takes up the store `name` on the server of `url` (for SQLite: the file of `url`) for a run of prony. While what is given is held,
/// no other run can take it.
///
/// # Errors
/// When there is no store, or its size or seed is not the wanted one. Also when its load was interrupted, another program uses it, or
/// the database cannot be reached. [`Error::is_usage`] distinguishes mistakes of the user from failures.
pub async fn open_store(
    url: &Url,
    name: &str,
    wanted: WantedStore,
    run: &RunId,
) -> Result<(Own, Loaded), Error> {
    let Some((own, loaded)) = take_up(url, name, run).await? else { return Err(no_store(url, name)) };
    check_loaded(own.url(), &loaded, wanted)?;
    Ok((own, loaded))
}

/// Checks whether [`open_store`] would refuse a store, and does not claim it. For an incomplete store, only [`open_store`] finds out
/// whether a load is running or was interrupted.
///
/// # Errors
/// As there.
pub async fn look_at_store(url: &Url, name: &str, wanted: WantedStore, claim: &Claim) -> Result<(), Error> {
    let Some(mut session) = database::look_inside(url, name, claim).await? else {
        return Err(no_store(url, name));
    };
    let own = url.with_database(name);
    match read_store(&mut session, &own).await? {
        loaded if loaded.state == State::Loading => Ok(()),
        loaded => check_loaded(&own, &loaded, wanted),
    }
}

/// The size of the store that a place of prony's own holds, whoever may take it; none where it holds none, or nobody can look now.
/// Nothing is taken, and what a run that was killed left beside a file is left as it is.
pub async fn store_at(url: &Url, name: &str, run: &RunId) -> Option<String> {
    if !database::was_closed(url) {
        return None;
    }
    let mut session =
        database::look_inside(url, name, &Claim::new(run.clone(), Existing::Use)).await.ok()??;
    Some(read_loaded(&mut session).await.ok()??.size)
}

fn no_store(url: &Url, name: &str) -> Error {
    let place = if url.file().is_some() { url.to_string() } else { format!("{url}, database `{name}`") };
    Error::NoDatabase(format!("{place} has no order store: create one with {}", Command::new("orders load")))
}

/// Refuses a store that is not whole, or not the one that is wanted.
fn check_loaded(place: &Url, loaded: &Loaded, wanted: WantedStore) -> Result<(), Error> {
    let (size, seed) = (&loaded.size, loaded.seed);
    if loaded.state == State::Loading {
        return Err(Error::NoDatabase(format!(
            "{place}: the load of this store of {size} was interrupted; load it again with {}, and {}",
            load_again(size).with(Parameter::new("seed").of(seed)),
            the_same_place()
        )));
    }
    if let Some(wanted) = wanted.seed.filter(|&wanted| wanted != seed) {
        return Err(Error::NoDatabase(format!(
            "{place} is a store of seed {seed}, not {wanted}: omit {}, or load it with {}, and {}",
            parameter("store_seed"),
            load_again(size).with(Parameter::new("seed").of(wanted)),
            the_same_place()
        )));
    }
    match wanted.size.map(|size| size.to_string()) {
        Some(wanted) if wanted != *size => Err(Error::NoDatabase(format!(
            "{place} is a store of {size}, not {wanted}: omit {}, or load it with {}, and {}",
            parameter("size"),
            load_again(&wanted).with(Parameter::new("seed").of(seed)),
            the_same_place()
        ))),
        _ => Ok(()),
    }
}

/// What a store must have been loaded as; whatever it was where nothing is said.
#[derive(Clone, Copy, Debug, Default)]
pub struct WantedStore {
    /// Its size.
    pub size: Option<StoreSize>,
    /// Seed of its rows.
    pub seed: Option<u64>,
}

/// A store in whatever state; none if there is no database of this name, and then none is left.
pub(super) async fn take_up(url: &Url, name: &str, run: &RunId) -> Result<Option<(Own, Loaded)>, Error> {
    let own = Own::make(url, name, &Claim::new(run.clone(), Existing::Use)).await?;
    if !own.was_there() {
        return own.remove().await.map(|()| None);
    }
    let loaded = read_store(&mut own.session().await?, own.url()).await?;
    Ok(Some((own, loaded)))
}

/// What a database of ours says is loaded.
async fn read_store(session: &mut Session, place: &Url) -> Result<Loaded, Error> {
    let words = match read_loaded(session).await {
        Ok(Some(loaded)) => return Ok(loaded),
        Ok(None) => String::new(),
        // There is no such table in a database that something else of ours was made in.
        Err(Error::Statement(words)) => format!(" ({words})"),
        Err(error) => return Err(error),
    };
    Err(Error::NoDatabase(format!(
        "{place} has no complete order store{words}: use another, or replace it with {}",
        Command::new("orders load").with(Parameter::new("replace").of(true))
    )))
}

#[cfg(test)]
#[path = "open_store_tests.rs"]
mod tests;
