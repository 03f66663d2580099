//! Sessions of DuckDB, within this process and by a library that whoever builds the program has: cargo's feature `duckdb`.
//!
//! A program without it knows the addresses of such files, and opens none. A file must be there already: [`crate::Own`] makes it.

// Tests use this module in every build.
#[cfg(any(test, not(feature = "duckdb")))]
#[cfg_attr(feature = "duckdb", allow(dead_code, reason = "its sessions cannot be opened"))]
mod absent;
#[cfg(feature = "duckdb")]
mod fault;
#[cfg(feature = "duckdb")]
mod handle;
#[cfg(feature = "duckdb")]
mod session;
#[cfg(feature = "duckdb")]
mod statements;
#[cfg(feature = "duckdb")]
#[cfg(test)]
mod tests;

use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use crate::Error;

#[cfg(not(feature = "duckdb"))]
pub(crate) use absent::{DuckDbSession, image};
#[cfg(feature = "duckdb")]
pub(crate) use session::{DuckDbSession, image};

/// Refuses a path for which DuckDB puts its log elsewhere than beside the file: it takes what follows a `?` for options
/// (`GetWALPath` of its `storage_manager.cpp`).
pub(crate) fn check_path(path: &Path) -> Result<(), Error> {
    if !path.as_os_str().as_bytes().contains(&b'?') {
        return Ok(());
    }
    Err(Error::NoDatabase(format!(
        "duckdb:{} has a ? in it, before which DuckDB would write the name of its log: give a file without, in a directory without",
        path.display()
    )))
}

/// Why this program has no DuckDB, a sentence without its end; `None` if it has.
pub(crate) const LEFT_OUT: Option<&str> = if cfg!(feature = "duckdb") { None } else { Some(HOW_TO_BUILD) };

/// How to build a program with DuckDB.
#[cfg_attr(
    all(feature = "duckdb", not(test)),
    allow(dead_code, reason = "only a program without DuckDB says it")
)]
const HOW_TO_BUILD: &str = "this program was built without DuckDB. Build it with the directory of a libduckdb.so, as docs/tables.md \
    shows: `DUCKDB_LIB_DIR=DIRECTORY cargo build -r -F duckdb`";
