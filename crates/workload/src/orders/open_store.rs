//! Takes up a store that was loaded, for a run or to look at it; what is no such store is refused before anything is done.

use database::{Claim, Error, Existing, Own, RunId, Url};
use record::{Command, Parameter};

use super::size::StoreSize;
use super::store::{Loaded, State, read_loaded};
use super::{load_again, parameter, the_same_place};

/// Takes up the store `name` on the server of `url` (for SQLite: the file of `url`) for a run of prony. While what is given is held,
/// no other run can take it.
///
/// # Errors
/// When there is no store, it is of another size or seed than is wanted, its load was broken off, somebody else uses
/// it, or the database cannot be reached; [`Error::is_usage`] tells these from what failed.
pub async fn open_store(
    url: &Url,
    name: &str,
    wanted: WantedStore,
    run: &RunId,
) -> Result<(Own, Loaded), Error> {
    let Some((own, loaded)) = take_up(url, name, run).await? else {
        let place = if url.file().is_some() { url.to_string() } else { format!("{url}, database `{name}`") };
        return Err(Error::NoDatabase(format!(
            "{place}: there is no order store; make one with {}",
            Command::new("orders load")
        )));
    };
    let (place, size, seed) = (own.url(), &loaded.size, loaded.seed);
    if loaded.state == State::Loading {
        return Err(Error::NoDatabase(format!(
            "{place}: the load of this store of {size} was broken off; load it again with {}, and {}",
            load_again(size).with(Parameter::new("seed").of(seed)),
            the_same_place()
        )));
    }
    if let Some(wanted) = wanted.seed.filter(|&wanted| wanted != seed) {
        return Err(Error::NoDatabase(format!(
            "{place} is a store of seed {seed}, and {wanted} was asked for: leave out {}, or load it with {}, and {}",
            parameter("store_seed"),
            load_again(size).with(Parameter::new("seed").of(wanted)),
            the_same_place()
        )));
    }
    match wanted.size.map(|size| size.to_string()) {
        Some(wanted) if wanted != *size => Err(Error::NoDatabase(format!(
            "{place} is a store of {size}, and {wanted} was asked for: leave out {}, or load it with {}, and {}",
            parameter("size"),
            load_again(&wanted).with(Parameter::new("seed").of(seed)),
            the_same_place()
        ))),
        _ => Ok((own, loaded)),
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
    let mut session = own.session().await?;
    let read = match read_loaded(&mut session).await {
        Ok(Some(loaded)) => Ok(loaded),
        Ok(None) => Err(String::new()),
        // There is no such table in a database that something else of ours was made in.
        Err(Error::Statement(words)) => Err(format!(" ({words})")),
        Err(error) => return Err(error),
    };
    drop(session);
    let loaded = read.map_err(|words| {
        Error::NoDatabase(format!(
            "{} holds no whole order store{words}: give another, or load a store in place of what is there with {}",
            own.url(),
            Command::new("orders load").with(Parameter::new("replace").of(true))
        ))
    })?;
    Ok(Some((own, loaded)))
}

#[cfg(test)]
#[path = "open_store_tests.rs"]
mod tests;
