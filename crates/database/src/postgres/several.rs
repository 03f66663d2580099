//! Which of several servers is taken, in the words of libpq (`target_session_attrs`).

use record::Link;
use tokio_postgres::SimpleQueryMessage;

use super::connect::{Connected, one};
use super::fault;
use crate::Error;
use crate::error::Attempt;
use crate::several::{Passed, Tried};
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
    let (mut passed, hosts) = (Passed::default(), address.hosts().count());
    for wanted in rounds {
        passed.forget();
        for host in address.hosts() {
            let target = host.to_string();
            let tried = try_one(&address.at(host), wanted, Attempt { target: &target, ..attempt }).await;
            if let Some((connected, link)) = passed.take((host, hosts), tried)? {
                return Ok((*connected, link));
            }
        }
    }
    let remedy = format!("name a host that is {}, or use target_session_attrs=any", wanted.name());
    Err(passed.nobody(attempt, &remedy))
}

async fn try_one(
    address: &ServerAddress,
    wanted: Wanted,
    attempt: Attempt<'_>,
) -> Result<Tried<Box<Connected>>, Error> {
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
        let other = |what: &str| Tried::Other(what.to_owned());
        Ok(match wanted.fits(is_standby, only_reads) {
            true => Tried::Taken(Box::new(connected), link),
            false if is_standby => other("a standby"),
            false if only_reads => other("read-only"),
            false => other("a primary server"),
        })
    };
    address.silence.let_in(attempt, asking).await
}
