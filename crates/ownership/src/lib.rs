//! What may be written, replaced or removed, and what not: the one place that decides it, for files, devices and databases.
//!
//! Whoever removes or replaces something needs a value that only a check here gives out: a [`Made`] file is known by its
//! inode, a device that may be written is a [`device::Claimed`], a database is known by a [`Permit`]. Nothing here knows what
//! is in a file or speaks to a server; where marks are kept, and how a database is dropped, is the affair of those who ask.

pub mod device;
mod directory;
mod draft;
mod file;
mod run;
mod standing;
mod tree;
mod walk;

pub use directory::Directory;
pub use draft::Draft;
pub use file::{Identity, Kind, Made, NotPlain, Removal, open_plain};
pub use run::RunId;
pub use standing::{Action, Claim, Existing, Mark, Permit, Refusal, Standing, action, may_remove};
pub use tree::{MadeDirectory, private_name};
pub use walk::{NotTrusted, make_path, open_trusted};
