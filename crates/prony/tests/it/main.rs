//! The program as its users meet it: the real binary in directories of its own.
//!
//! Everything below the command line is tested in the crates. What a machine does not permit (loop devices, mounts) is
//! not tried, and the test says so on stderr.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test that cannot go on ends, and one that cannot be tried says so"
)]

mod attached;
mod availability;
mod check;
mod clusters;
mod config;
mod connecting;
mod device;
mod disk;
mod documents;
mod export;
mod faults;
mod help;
mod historian;
mod hostile;
mod inspect;
mod interrupt;
mod judged;
mod lab;
mod limits;
mod managed;
mod mistakes;
mod mounts;
mod named;
mod old_formats;
mod orders;
mod orders_run;
mod output;
mod pauses;
mod percentiles;
mod profiles;
mod refused;
mod register;
mod replay;
mod report;
mod reporting;
mod running;
mod safety;
mod sampling;
mod schema;
mod script;
mod secrets;
mod server_cpu;
mod servers;
mod silence;
mod sqlio;
mod sqlserver;
mod study;
mod tables;
mod told;
mod verify;
mod volumes;
mod workbench;
