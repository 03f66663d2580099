//! Registers: values that clients write and read by keys.

mod operation;

pub use operation::{Anomaly, AnomalyKind, Did, FIRST_VALUE, Operation};
