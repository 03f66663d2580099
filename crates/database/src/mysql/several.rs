//! Which of several servers is taken: the first that can be written to. One only reads if its variables say so, whatever a login with more
//! rights may do there; a node of Galera takes nothing while it is no member of the group's majority.
//!
//! All sessions of this program go to one of them as long as that can be written to: two nodes of Galera that are written to at once meet
//! each other's locks only at commit, and a node that comes back stands first in the list again.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use record::Link;

use super::connect::one;
use super::wire::{Conn, DriverResult};
use super::{fault, text, values};
use crate::Error;
use crate::error::Attempt;
use crate::several::{Passed, Tried};
use crate::url::{Host, ServerAddress};

/// SHOW is answered by a node that is no member, too, where a SELECT is not.
const VARIABLES: &str =
    "SHOW GLOBAL VARIABLES WHERE variable_name IN ('read_only', 'innodb_read_only', 'wsrep_on')";
const GALERA: &str = "SHOW GLOBAL STATUS WHERE variable_name IN ('wsrep_ready', 'wsrep_cluster_status')";
/// Waits until a node has done all that the group had agreed upon: another one may have acknowledged it, and be gone.
/// <https://mariadb.com/docs/galera-cluster/reference/galera-cluster-system-variables#wsrep_sync_wait>
const CATCH_UP: &str =
    "SET SESSION wsrep_sync_wait = 1; SELECT 1; SET SESSION wsrep_sync_wait = @@GLOBAL.wsrep_sync_wait";
const REMEDY: &str = "set read_only = 0 on one of them (with Galera: on a member of the primary component), or name only the node to measure";

pub(super) async fn connect(address: &ServerAddress, attempt: Attempt<'_>) -> Result<(Conn, Link), Error> {
    // As often as all may move to each of them meanwhile.
    for _ in address.hosts() {
        if let Some(taken) = look(address, attempt).await? {
            return Ok(taken);
        }
    }
    let words = "the server that accepts writes changed repeatedly";
    Err(Error::Unreachable(attempt.text(words, "wait until the servers have settled who takes writes")))
}

/// Takes the first that can be written to; none if all others moved to another one meanwhile.
async fn look(address: &ServerAddress, attempt: Attempt<'_>) -> Result<Option<(Conn, Link)>, Error> {
    let list: Vec<String> = address.hosts().map(ToString::to_string).collect();
    let list = list.join(",");
    let mut hosts: Vec<&Host> = address.hosts().collect();
    // A sort that is stable: all others stay in their order.
    let last = last_taken(&list);
    hosts.sort_by_key(|host| last.as_ref() != Some(host));
    let mut passed = Passed::default();
    for host in &hosts {
        let target = host.to_string();
        let tried = try_one(&address.at(host), Attempt { target: &target, ..attempt }).await;
        if let Some((conn, link)) = passed.take((host, hosts.len()), tried)? {
            if note(list, last.as_ref(), host) {
                return Ok(Some((conn, link)));
            }
            return Ok(None);
        }
    }
    Err(passed.nobody(attempt, REMEDY))
}

async fn try_one(address: &ServerAddress, attempt: Attempt<'_>) -> Result<Tried<Conn>, Error> {
    let failed = |error| fault::at_connect(&error, attempt);
    let asking = async {
        let (mut conn, link) = one(address, attempt).await?;
        let variables = Told::of(&mut conn, VARIABLES).await.map_err(failed)?;
        let of_group = match variables.is("wsrep_on", "ON") {
            true => Some(Told::of(&mut conn, GALERA).await.map_err(failed)?),
            false => None,
        };
        if let Some(what) = variables.only_reads().or(of_group.as_ref().and_then(Told::is_apart)) {
            return Ok(Tried::Other(what));
        }
        if of_group.is_some() {
            conn.query_drop(CATCH_UP).await.map_err(failed)?;
        }
        Ok(Tried::Taken(conn, link))
    };
    address.silence.let_in(attempt, asking).await
}

/// Names and values, as a server tells them.
struct Told(Vec<(String, String)>);

impl Told {
    async fn of(conn: &mut Conn, sql: &str) -> DriverResult<Self> {
        let mut told = Vec::new();
        conn.query(sql).await?;
        while conn.next_row().await? {
            let mut texts = values::received(conn.row())?.into_iter().map(|value| text(&value));
            told.extend(texts.next().zip(texts.next()));
        }
        conn.drop_answers().await?;
        Ok(Self(told))
    }

    fn value(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(told, _)| told.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    fn is(&self, name: &str, value: &str) -> bool {
        self.value(name).is_some_and(|told| told.eq_ignore_ascii_case(value))
    }

    /// The variable by which it takes no writes; all of its values but OFF do that.
    fn only_reads(&self) -> Option<String> {
        let names = ["read_only", "innodb_read_only"];
        let set = names.into_iter().find(|name| self.value(name).is_some() && !self.is(name, "OFF"));
        set.map(|name| format!("read-only ({name})"))
    }

    /// Why a node of Galera takes nothing, from its status.
    fn is_apart(&self) -> Option<String> {
        let status = self.value("wsrep_cluster_status").unwrap_or("unknown");
        if !status.eq_ignore_ascii_case("Primary") {
            return Some(format!("no member of the primary component (wsrep_cluster_status is {status})"));
        }
        (!self.is("wsrep_ready", "ON")).then(|| "not ready (wsrep_ready is not ON)".to_owned())
    }
}

/// The host that was taken last of each list.
static TAKEN: Mutex<Option<HashMap<String, Host>>> = Mutex::new(None);

fn with_taken<T>(act: impl FnOnce(&mut HashMap<String, Host>) -> T) -> T {
    act(TAKEN.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default())
}

fn last_taken(list: &str) -> Option<Host> {
    with_taken(|taken| taken.get(list).cloned())
}

/// Notes that a host was taken by one who knew of the last one, unless others took another one meanwhile. Whether it is to be taken.
fn note(list: String, last: Option<&Host>, host: &Host) -> bool {
    with_taken(|taken| {
        let now = taken.get(&list);
        let is_moved = now != last && now != Some(host);
        if !is_moved {
            taken.insert(list, host.clone());
        }
        !is_moved
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(values: &[(&str, &str)]) -> Told {
        Told(values.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    #[test]
    fn a_server_only_reads_if_a_variable_says_so() {
        for (values, expected) in [
            (vec![("read_only", "OFF"), ("innodb_read_only", "OFF")], None),
            (vec![("Read_only", "ON")], Some("read-only (read_only)")),
            // MariaDB 12 has more values than these two.
            (vec![("read_only", "NO_LOCK")], Some("read-only (read_only)")),
            (vec![("read_only", "OFF"), ("innodb_read_only", "ON")], Some("read-only (innodb_read_only)")),
            (vec![], None),
        ] {
            assert_eq!(told(&values).only_reads().as_deref(), expected, "{values:?}");
        }
    }

    /// A session that was on its way to a node while all others left it came there last, and had those after it follow.
    #[test]
    fn who_comes_late_to_a_host_that_all_left_looks_again() {
        let host = |name: &str| Host::of(name.to_owned(), 3306);
        let (first, second, list) = (host("a"), host("b"), || "a:3306,b:3306 of this test".to_owned());
        assert!(note(list(), None, &first) && note(list(), None, &first), "all at once");
        assert!(note(list(), Some(&first), &second) && note(list(), Some(&first), &second));
        assert!(!note(list(), Some(&first), &first), "all others went to the second");
        assert!(last_taken(&list()) == Some(second.clone()));
        assert!(note(list(), Some(&second), &first), "it was gone then");
    }

    #[test]
    fn a_node_of_galera_takes_writes_as_a_member_of_the_majority_alone() {
        let of = |status, ready| {
            told(&[("wsrep_cluster_status", status), ("wsrep_ready", ready)]).is_apart().unwrap_or_default()
        };
        assert_eq!(of("Primary", "ON"), "");
        assert!(of("non-Primary", "OFF").contains("wsrep_cluster_status is non-Primary"));
        assert!(of("Primary", "OFF").contains("wsrep_ready"));
        assert!(told(&[]).is_apart().is_some(), "a node that says nothing is none");
    }
}
