//! How databases of our own are made and removed where a packet is worked through, as on MariaDB and MySQL.
//!
//! MariaDB takes a comment in the statement that makes a database, which is its mark before there can be a table. MySQL has
//! no such comment: there the table is made in the same packet, which the server works through whatever becomes of the client.
//! What removes a database reads its mark in the same packet, in the session that alone may make or remove one of this name: a
//! server goes on with a removal whose client was killed, and whoever comes next waits for it.

use ownership::{Mark, Permit, Refusal, Standing};

use super::administration::filled;
use super::keeper::take_lock;
use super::server::{Decision, Place, Removing};
use super::{Commenting, mark};
use crate::{Claim, Error, Session, Value};

/// Begin of a comment that is a mark; who made it, who holds it and whether it is transient follow.
const COMMENT: &str = "prony";

/// What stands in a place where something does.
pub(super) async fn standing(
    place: &Place,
    sql: &Commenting,
    admin: &mut Session,
) -> Result<Standing, Error> {
    if let Some(mark) = place.mark().await? {
        return Ok(Standing::Ours(mark));
    }
    let Some(commented) = comment(place, sql, admin).await? else { return Ok(Standing::Foreign) };
    // Its table is not there yet, or is gone already because the server was killed while it removed the database.
    let is_empty = count_tables(place, sql, admin).await? == 0;
    Ok(if is_empty { Standing::HalfMade } else { Standing::Ours(commented) })
}

/// What the comment of a database says, if it is a mark.
async fn comment(place: &Place, sql: &Commenting, admin: &mut Session) -> Result<Option<Mark>, Error> {
    let rows = match admin.query(sql.read_comment, &[Value::Text(place.name.clone())]).await {
        // Not every server knows comments.
        Err(Error::Statement(_) | Error::Denied(_)) => return Ok(None),
        rows => rows?,
    };
    let Some(Value::Text(text)) = rows.first().and_then(|row| row.first()) else { return Ok(None) };
    Ok(parse(text))
}

fn parse(comment: &str) -> Option<Mark> {
    let mut words = comment.split(' ');
    let (COMMENT, run, transient, None) = (words.next()?, words.next()?, words.next()?, words.next()) else {
        return None;
    };
    let run = Some(run.parse().ok()?);
    Some(Mark { made_by: run.clone(), held_by: run, is_transient: transient == "transient" })
}

async fn count_tables(place: &Place, sql: &Commenting, admin: &mut Session) -> Result<u64, Error> {
    admin.count_rows(sql.tables, &[Value::Text(place.name.clone())]).await
}

/// Makes a database with its mark.
pub(super) async fn create(
    place: &Place,
    sql: &Commenting,
    admin: &mut Session,
    claim: &Claim,
) -> Result<(), Error> {
    let name = place.quoted();
    let kind = if claim.is_transient { "transient" } else { "kept" };
    let comment = match admin.query(sql.has_comments, &[]).await? == [[Value::I64(1)]] {
        true => filled(sql.comment, &[("text", &format!("{COMMENT} {} {kind}", claim.run))]),
        false => String::new(),
    };
    let create = filled(sql.create, &[("name", &name), ("comment", &comment)]);
    let mark = mark::made(place.administration.dialect, &format!("{name}.{}", mark::TABLE), &Mark::of(claim));
    admin.script(&format!("{create}; {mark}")).await
}

/// Removes a database that nobody of us holds.
pub(super) async fn remove(
    place: &Place,
    sql: &Commenting,
    admin: &mut Session,
    decide: Decision<'_>,
) -> Result<(), Removing> {
    let mut inside = Session::open(&place.own()).await?;
    if !take_lock(place.administration, &mut inside).await? {
        return Err(Removing::InUse);
    }
    let standing = place.standing(admin).await?;
    let permit = decide(&standing)?;
    let mark = match standing {
        Standing::Ours(mark) => mark,
        // It holds nothing; the step that removes it looks for this.
        Standing::HalfMade | Standing::Absent | Standing::Foreign => {
            Mark { made_by: None, held_by: None, is_transient: true }
        }
    };
    if place.mark().await?.is_none() {
        inside.script(&mark::made(place.administration.dialect, mark::TABLE, &mark)).await?;
    }
    remove_permitted(place, sql, admin, &mark, permit).await?;
    if place.is_there(admin).await? { Err(Refusal::OfAnotherRun.into()) } else { Ok(()) }
}

/// Removes it in the packet that reads its mark.
async fn remove_permitted(
    place: &Place,
    sql: &Commenting,
    admin: &mut Session,
    mark: &Mark,
    _permit: Permit,
) -> Result<(), Error> {
    let of_run = match (&mark.made_by, &mark.held_by) {
        // An older mark names no run and has no columns for it.
        (None, None) => String::new(),
        (made_by, held_by) => {
            format!(" AND made_by = '{}' AND held_by = '{}'", mark::text(made_by), mark::text(held_by))
        }
    };
    let values = [("drop", &*place.removal()), ("name", &place.quoted()), ("of_run", &of_run)];
    admin.script(&filled(sql.drop_marked, &values)).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use ownership::RunId;

    #[test]
    fn only_a_comment_of_ours_is_a_mark() {
        let run = RunId::from(7);
        let mark = parse(&format!("prony {run} transient")).unwrap();
        assert_eq!((mark.made_by, mark.is_transient), (Some(run.clone()), true));
        assert!(!parse(&format!("prony {run} kept")).unwrap().is_transient);
        for comment in [
            "",
            "prony",
            "prony kept",
            "prony 12 kept",
            "our plant, with prony",
            &format!("prony {run} kept so"),
        ] {
            assert_eq!(parse(comment), None, "{comment}");
        }
    }
}
