//! The room that a database uses at one moment.

use serde::{Deserialize, Serialize};

/// Pages that rows and indexes used. Room that a server allocated ahead of rows is not part of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsedBytes {
    /// Bytes of these pages.
    pub bytes: u64,
    /// At most so many of these bytes may have been allocated ahead, where the server does not report each page.
    #[serde(default)]
    pub uncertain_bytes: u64,
}
