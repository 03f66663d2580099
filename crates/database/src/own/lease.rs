//! A database of our own as those who work in it have it: where it is and whose, as plain data, and somebody to ask whether
//! that is still so.
//!
//! The lock is not theirs. Whoever holds it may be in another process than those who work.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use ownership::RunId;
use serde::{Deserialize, Serialize};

use super::file::Format;
use super::{Held, Own, file, server};
use crate::url::{Address, whole};
use crate::{Error, Session, Url};

/// A database that a run holds, as plain data.
///
/// Written out it has the address whole, with its password: it is for a pipe to another process of the same user, and neither
/// for a file nor for anybody's eyes. What is shown of it has no password.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    #[serde(with = "whole")]
    url: Url,
    name: String,
    run: RunId,
    /// Of an engine within this program: which file it is.
    file: Option<file::Leased>,
    /// Whether it is somebody else's, used as it is.
    #[serde(default)]
    is_others: bool,
}

/// Tells whether a database is still the run's own: asked of whoever holds its lock.
#[derive(Clone)]
pub struct Holder(Arc<dyn Fn() -> Answer + Send + Sync>);

type Answer = Pin<Box<dyn Future<Output = Result<Held, Error>>>>;

impl Lease {
    pub(super) fn new(
        (url, name): (&Url, &str),
        run: &RunId,
        file: Option<file::Leased>,
        is_others: bool,
    ) -> Self {
        Self { url: url.clone(), name: name.to_owned(), run: run.clone(), file, is_others }
    }

    /// Address of the database itself.
    #[must_use]
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// Its name; for SQLite the file.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A session in it, and not in one that has taken its name.
    ///
    /// # Errors
    /// Those of [`Session::open`], and when somebody took it up, removed it, or made another in its place.
    pub async fn session(&self) -> Result<Session, Error> {
        if self.is_others {
            return Box::pin(Session::open_as_it_is(&self.url)).await;
        }
        // On the heap: what opens a session is large, and is awaited deep within what a trial does on its stack.
        match (&self.url.0, &self.file) {
            (Address::Sqlite(_), Some(file)) => {
                Box::pin(file.session(Format::Sqlite, &self.url, &self.run)).await
            }
            (Address::DuckDb(_), Some(file)) => {
                Box::pin(file.session(Format::DuckDb, &self.url, &self.run)).await
            }
            (Address::Fake(_), _) => Box::pin(Session::open(&self.url)).await,
            (
                Address::Sqlite(_)
                | Address::Postgres(_)
                | Address::Mysql(_)
                | Address::SqlServer(_)
                | Address::ClickHouse(_)
                | Address::DuckDb(_),
                _,
            ) => Box::pin(server::session(&self.url, &self.name, &self.run)).await,
        }
    }
}

impl Holder {
    /// Somebody who is asked so.
    pub fn new<F: Future<Output = Result<Held, Error>> + 'static>(
        ask: impl Fn() -> F + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(move || Box::pin(ask())))
    }

    /// See [`Own::is_held`].
    ///
    /// # Errors
    /// Those of the database, and when nobody answers.
    pub async fn is_held(&self) -> Result<Held, Error> {
        (self.0)().await
    }
}

impl From<Own> for Holder {
    /// While this is there, the database is held.
    fn from(own: Own) -> Self {
        Self::new(move || {
            let own = own.clone();
            async move { own.is_held().await }
        })
    }
}

impl fmt::Debug for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Holder")
    }
}
