//! prony measures a database server, from the disk up to the application, and says what limits it.
//!
//! The program is thin: arguments in, a study out, events to the terminal and to the results directory. It is the one
//! crate that prints and exits.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "the one crate that talks to the terminal")]

/// A line on stderr. A reader that is gone costs no result.
macro_rules! tell {
    ($($argument:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), $($argument)*);
    }};
}

mod arguments;
mod commands;
mod compat;
mod exit;
mod interrupt;
mod lacks;
mod memory;
mod progress;
mod session;
mod sqlio;
mod ticker;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};

fn main() -> ExitCode {
    interrupt::listen();
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let called_sqlio = arguments
        .first()
        .and_then(|name| Path::new(name).file_stem())
        .is_some_and(|name| name.eq_ignore_ascii_case("sqlio"));
    let result = if called_sqlio {
        sqlio::run(&arguments[1..])
    } else {
        let matches = arguments::with_environment(arguments::Arguments::command()).get_matches();
        match arguments::Arguments::from_arg_matches(&matches) {
            Ok(arguments) => commands::run(arguments),
            Err(error) => error.exit(),
        }
    };
    match result {
        Ok(code) => code.into(),
        Err(failure) => {
            let name = if called_sqlio { "sqlio" } else { "prony" };
            // All mistakes are told at once, a line each.
            failure.message().lines().for_each(|line| tell!("{name}: {line}"));
            failure.code().into()
        }
    }
}
