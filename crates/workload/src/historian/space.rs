//! The room that a database takes at one moment.

use database::{Error, Session, Sizes};
use record::UsedBytes;

/// Sizes, and the pages that are in use.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Space {
    pub(crate) sizes: Sizes,
    /// None where the server does not report it.
    pub(crate) used: Option<UsedBytes>,
}

impl Space {
    /// That of the database of a session.
    ///
    /// # Errors
    /// Only if the session is lost.
    pub(crate) async fn of(session: &mut Session) -> Result<Self, Error> {
        // Looking for pages in use refreshes what some servers report as sizes.
        let used = used_bytes(session).await?;
        Ok(Self { sizes: session.sizes().await?, used })
    }
}

/// Pages of a session's database that are in use; none where the server does not report it.
///
/// # Errors
/// Only if the session is lost.
pub(crate) async fn used_bytes(session: &mut Session) -> Result<Option<UsedBytes>, Error> {
    let used = session.used_space().await?;
    Ok(used.map(|used| UsedBytes { bytes: used.bytes, uncertain_bytes: used.uncertain_bytes }))
}
