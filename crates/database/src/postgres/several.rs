//! One of several servers, as libpq chooses it: <https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-MULTIPLE-HOSTS>.
//! They are tried in their order; one that refuses the login ends the search, as there.

use record::Link;
use tokio_postgres::SimpleQueryMessage;

use super::connect::{Connected, one};
use super::fault;
use crate::Error;
use crate::error::{Attempt, remedy};
use crate::url::ServerAddress;
use crate::url::hosts::Wanted;

/// What a server is asked before it is taken.
const WHAT_IT_IS: &str = "SELECT pg_is_in_recovery(), current_setting('transaction_read_only')";

pub(super) async fn connect(
    address: &ServerAddress,
    attempt: Attempt<'_>,
) -> Result<(Connected, Link), Error> {
    let wanted = address.wanted;
    let rounds =
        if wanted == Wanted::PreferStandby { vec![Wanted::Standby, Wanted::Any] } else { vec![wanted] };
    let (mut passed, mut is_other_there) = (Vec::new(), false);
    for wanted in rounds {
        passed.clear();
        for host in address.hosts() {
            let target = host.to_string();
            match try_one(&address.at(host), wanted, Attempt { target: &target, ..attempt }).await {
                Ok(Tried::Taken(connected, mut link)) => {
                    let among = format!("{host} of {} hosts", address.hosts().count());
                    link.taken.push([vec![among], passed].concat().join("; "));
                    return Ok((*connected, link));
                }
                Ok(Tried::Other(what)) => {
                    passed.push(format!("{host} is {what}"));
                    is_other_there = true;
                }
                Err(error @ (Error::Unreachable(_) | Error::Lost(_))) => {
                    passed.push(briefly(&error, &target))
                }
                Err(error) => return Err(error),
            }
        }
    }
    let words = format!("none of its hosts can be taken: {}", passed.join("; "));
    if !is_other_there {
        return Err(Error::Unreachable(attempt.text(words, remedy::UNREACHABLE)));
    }
    let remedy = format!("name one that is {}, or give target_session_attrs=any", address.wanted.name());
    Err(Error::Refused(attempt.text(words, &remedy)))
}

/// What became of one host, without what is said of all in the end.
fn briefly(error: &Error, host: &str) -> String {
    let text = error.to_string();
    let words = text.strip_prefix(&format!("cannot connect to {host}: ")).unwrap_or(&text);
    let words = words.strip_suffix(remedy::UNREACHABLE).unwrap_or(words);
    format!("{host}: {}", words.trim_end_matches("; "))
}

enum Tried {
    Taken(Box<Connected>, Link),
    /// It is something else, in words.
    Other(&'static str),
}

async fn try_one(address: &ServerAddress, wanted: Wanted, attempt: Attempt<'_>) -> Result<Tried, Error> {
    let asking = async {
        let (connected, link) = one(address, attempt).await?;
        if wanted == Wanted::Any {
            return Ok(Tried::Taken(Box::new(connected), link));
        }
        let answer = connected.client.simple_query(WHAT_IT_IS).await;
        let answer = answer.map_err(|error| fault::at_connect(&error, None, attempt))?;
        let row = answer
            .iter()
            .find_map(|message| if let SimpleQueryMessage::Row(row) = message { Some(row) } else { None });
        let is =
            |column: usize, yes: &str| row.and_then(|row| row.get(column)).is_some_and(|told| told == yes);
        let (is_standby, only_reads) = (is(0, "t"), is(1, "on"));
        Ok(match wanted.fits(is_standby, only_reads) {
            true => Tried::Taken(Box::new(connected), link),
            false if is_standby => Tried::Other("a standby"),
            false if only_reads => Tried::Other("read-only"),
            false => Tried::Other("a primary server"),
        })
    };
    address.silence.let_in(attempt, asking).await
}
