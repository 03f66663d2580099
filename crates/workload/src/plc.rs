//! A simulated PLC.
