//! The driver against servers that are none.

mod answers;
mod log_ins;
mod peer;
mod values;
