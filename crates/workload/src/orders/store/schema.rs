//! Tables, keys and procedures of the store.

use database::{Error, Session};

use super::statements::Schema;

/// Makes the tables, empty. Keys that a table can get later are left to [`create_keys`].
///
/// # Errors
/// Those of the database, such as when there are tables of these names.
pub async fn create_tables(session: &mut Session) -> Result<(), Error> {
    session.script(Schema::of(session.dialect()).create).await
}

/// Makes a session ready to load rows: it does not look for the parents of rows.
///
/// # Errors
/// Those of the database.
pub async fn prepare_load(session: &mut Session) -> Result<(), Error> {
    run(session, Schema::of(session.dialect()).load_session).await
}

/// Makes keys, indexes, foreign keys, the restock rule and the procedures after a load; new customers and orders are
/// numbered from the largest ids that were loaded.
///
/// # Errors
/// Those of the database, such as rows that a key does not allow.
pub async fn create_keys(session: &mut Session) -> Result<(), Error> {
    let schema = Schema::of(session.dialect());
    session.script(schema.keys).await?;
    run(session, schema.procedures).await
}

/// Removes tables and procedures, if they are there.
///
/// # Errors
/// Those of the database.
pub async fn drop_tables(session: &mut Session) -> Result<(), Error> {
    session.script(Schema::of(session.dialect()).drop).await
}

/// Has the database look at its rows, so that it knows how to find them.
///
/// # Errors
/// Those of the database.
pub async fn refresh_statistics(session: &mut Session) -> Result<(), Error> {
    session.script(Schema::of(session.dialect()).statistics).await
}

pub(super) async fn run(session: &mut Session, script: Option<&str>) -> Result<(), Error> {
    match script {
        Some(script) => session.script(script).await,
        None => Ok(()),
    }
}
