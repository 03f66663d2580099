//! Block devices, and files that devices stand on: whether anything uses them, decided by numbers and never by names.
//!
//! A device is its number, whatever node leads to it; a file is its device and inode, whatever its name. All that is looked
//! up in /sys, /proc and /dev goes through [`System`], whose root a test can replace. What a loop device stands on only an
//! ioctl tells for sure, and that takes unsafe code, which stays in `disk`: whoever asks brings [`AskLoop`] along.

mod claim;
mod loops;
mod system;
#[cfg(test)]
mod tests;
mod users;

pub use claim::{Claimed, DeviceError};
pub use loops::{AskLoop, Backing};
pub use system::{Number, System};
