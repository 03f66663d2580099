//! Undoes what clients did: removes the orders and customers that they made and empties the inventory, and has new ids
//! follow given ones again. What was loaded is left as it is, but for the inventory, which every purchase changes.

use database::{Error, Session, Transaction};

use super::abilities::Abilities;
use super::schema::run;
use super::statements::{Schema, Undo};
use crate::orders::number::number;

/// Rows that one transaction removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::orders) struct Removed {
    /// How many.
    pub(in crate::orders) rows: u64,
    /// The largest id of them.
    pub(in crate::orders) last: u64,
}

/// Makes a session ready to undo: what others hold is waited for for a minute and no longer.
pub(in crate::orders) async fn prepare_undo(session: &mut Session) -> Result<(), Error> {
    run(session, Undo::of(session.dialect()).session).await
}

/// Clears away what removed rows leave behind, so that the next clients are not slowed by it, and has the database look at
/// its rows. SQLite leaves pages that are used again.
pub(in crate::orders) async fn finish_undo(session: &mut Session) -> Result<(), Error> {
    let dialect = session.dialect();
    if Schema::of(dialect).differs.is_some() && !Abilities::of(session).await?.samples {
        return Ok(());
    }
    run(session, Undo::of(dialect).finish).await
}

/// Removes the first so many orders beyond an id, with their lines and history, in one transaction; none if there are none.
pub(in crate::orders) async fn remove_orders(
    session: &mut Session,
    after: u64,
    most: u32,
) -> Result<Option<Removed>, Error> {
    let history = Undo::of(session.dialect()).history;
    let of_orders = last_of_first(session, "orders", "orderid", after, most);
    let mut transaction = session.begin().await?;
    let last = last_of(&mut transaction, &of_orders).await?;
    if last == 0 {
        return transaction.rollback().await.map(|()| None);
    }
    let history = history.replace("{after}", &after.to_string()).replace("{last}", &last.to_string());
    transaction.execute(&history, &[]).await?;
    let these = format!("WHERE orderid > {after} AND orderid <= {last}");
    transaction.execute(&format!("DELETE FROM orderlines {these}"), &[]).await?;
    let rows = transaction.execute(&format!("DELETE FROM orders {these}"), &[]).await?;
    transaction.commit().await?;
    Ok(Some(Removed { rows, last }))
}

/// Removes the first so many customers beyond an id, in one transaction; none if there are none. To be called when their
/// orders are gone.
pub(in crate::orders) async fn remove_customers(
    session: &mut Session,
    after: u64,
    most: u32,
) -> Result<Option<Removed>, Error> {
    let of_customers = last_of_first(session, "customers", "customerid", after, most);
    let mut transaction = session.begin().await?;
    let last = last_of(&mut transaction, &of_customers).await?;
    if last == 0 {
        return transaction.rollback().await.map(|()| None);
    }
    let sql = format!("DELETE FROM customers WHERE customerid > {after} AND customerid <= {last}");
    let rows = transaction.execute(&sql, &[]).await?;
    transaction.commit().await?;
    Ok(Some(Removed { rows, last }))
}

/// Removes all rows of `inventory` and `reorder`.
pub(in crate::orders) async fn empty_inventory(session: &mut Session) -> Result<(), Error> {
    session.script(Undo::of(session.dialect()).inventory).await
}

/// The next new customer and order get the ids after these.
pub(in crate::orders) async fn reset_ids(
    session: &mut Session,
    customerid_max: u64,
    orderid_max: u64,
) -> Result<(), Error> {
    let Some(script) = Undo::of(session.dialect()).ids else { return Ok(()) };
    let script = [
        ("{customerid_max}", customerid_max),
        ("{customerid_next}", customerid_max + 1),
        ("{orderid_max}", orderid_max),
        ("{orderid_next}", orderid_max + 1),
    ]
    .into_iter()
    .fold(script.to_owned(), |script, (name, id)| script.replace(name, &id.to_string()));
    session.script(&script).await
}

/// Selects the last of the first so many ids beyond one.
fn last_of_first(session: &Session, table: &str, id: &str, after: u64, most: u32) -> String {
    [("{table}", table), ("{id}", id), ("{after}", &after.to_string()), ("{most}", &most.to_string())]
        .into_iter()
        .fold(Undo::of(session.dialect()).last.to_owned(), |sql, (name, value)| sql.replace(name, value))
}

/// The id that such a query answers with; 0 if there is none.
async fn last_of(transaction: &mut Transaction<'_>, sql: &str) -> Result<u64, Error> {
    let rows = transaction.query(sql, &[]).await?;
    number(sql, &rows).map(i64::cast_unsigned)
}
