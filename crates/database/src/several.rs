//! One of several servers of an address, as libpq chooses it: <https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-MULTIPLE-HOSTS>.
//! They are tried in their order; one that refuses the login ends the search, as there. What makes a server the wanted one is the engine's affair.

use record::Link;

use crate::Error;
use crate::error::{Attempt, remedy};
use crate::url::Host;

/// What became of one host that let us in.
pub(crate) enum Tried<C> {
    /// It is the one.
    Taken(C, Link),
    /// It is something else, in words.
    Other(String),
}

/// Hosts that were passed over, and why.
#[derive(Default)]
pub(crate) struct Passed {
    told: Vec<String>,
    is_other_there: bool,
}

impl Passed {
    /// Takes a host, or passes it over.
    ///
    /// # Errors
    /// What ends the search.
    pub(crate) fn take<C>(
        &mut self,
        (host, hosts): (&Host, usize),
        tried: Result<Tried<C>, Error>,
    ) -> Result<Option<(C, Link)>, Error> {
        match tried {
            Ok(Tried::Taken(connected, mut link)) => {
                let told = std::mem::take(&mut self.told);
                link.taken.push([vec![format!("{host} of {hosts} hosts")], told].concat().join("; "));
                return Ok(Some((connected, link)));
            }
            Ok(Tried::Other(what)) => {
                self.told.push(format!("{host} is {what}"));
                self.is_other_there = true;
            }
            Err(error @ (Error::Unreachable(_) | Error::Lost(_))) => {
                self.told.push(briefly(&error, &host.to_string()));
            }
            Err(error) => return Err(error),
        }
        Ok(None)
    }

    /// Begins a further round over all hosts.
    pub(crate) fn forget(&mut self) {
        self.told.clear();
    }

    /// None of them can be taken.
    pub(crate) fn nobody(&self, attempt: Attempt<'_>, remedy: &str) -> Error {
        let words = format!("none of its hosts can be used: {}", self.told.join("; "));
        match self.is_other_there {
            true => Error::Refused(attempt.text(words, remedy)),
            false => Error::Unreachable(attempt.text(words, remedy::UNREACHABLE)),
        }
    }
}

/// What became of one host, without what is said of all in the end.
fn briefly(error: &Error, host: &str) -> String {
    let text = error.to_string();
    let words = text.strip_prefix(&format!("cannot connect to {host}: ")).unwrap_or(&text);
    let words = words.strip_suffix(remedy::UNREACHABLE).unwrap_or(words);
    format!("{host}: {}", words.trim_end_matches("; "))
}
