//! Which sessions of a server are this program's, by the numbers that the server knows them by: a server shows the sessions of all
//! programs alike.
//!
//! A number is known as long as its session is open here. What a pooler does behind our back is not seen.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// How many sessions are open of each server and number. A server gives a number again before the old session is dropped here.
static OPEN: Mutex<Option<Servers>> = Mutex::new(None);

type Servers = HashMap<String, HashMap<u64, u32>>;

fn with_open<T>(act: impl FnOnce(&mut Servers) -> T) -> T {
    act(OPEN.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default())
}

/// A session that is known as ours until this is dropped.
#[derive(Debug)]
pub(crate) struct Registered {
    server: String,
    id: u64,
}

impl Registered {
    /// The session of this number at a server, by its hosts.
    pub(crate) fn new(server: String, id: u64) -> Self {
        with_open(|servers| *servers.entry(server.clone()).or_default().entry(id).or_default() += 1);
        Self { server, id }
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        with_open(|servers| {
            let Some(ids) = servers.get_mut(&self.server) else { return };
            if let Some(count) = ids.get_mut(&self.id) {
                *count -= 1;
                if *count == 0 {
                    ids.remove(&self.id);
                }
            }
            if ids.is_empty() {
                servers.remove(&self.server);
            }
        });
    }
}

/// How many of these numbers are of sessions of ours at a server.
pub(crate) fn count(server: &str, ids: impl Iterator<Item = u64>) -> u64 {
    with_open(|servers| match servers.get(server) {
        Some(open) => ids.filter(|id| open.contains_key(id)).count() as u64,
        None => 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_ours_as_long_as_it_is_open_here() {
        let count = |ids: &[u64]| count("ours:1", ids.iter().copied());
        assert_eq!(count(&[7]), 0, "nothing is known of this server");
        let (seven, eight) =
            (Registered::new("ours:1".to_owned(), 7), Registered::new("ours:1".to_owned(), 8));
        let again = Registered::new("ours:1".to_owned(), 7);
        assert_eq!(count(&[7, 8, 9]), 2);
        drop(seven);
        assert_eq!(count(&[7, 8, 9]), 2, "the number was given again");
        drop(again);
        assert_eq!(count(&[7, 8, 9]), 1);
        drop(eight);
        assert_eq!(count(&[8]), 0);
    }
}
