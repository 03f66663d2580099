//! A table within this program that is changed until the program is killed with -9. Prony calls itself so, and nobody else.

use std::io::{self, BufRead as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::anyhow;
use workload::tables::{CHANGES, change_until_killed};

use crate::exit::{Exit, Failure};
use crate::terminal;

/// Does what stdin says, and tells on stdout of each change that was acknowledged. It ends where its stdin does: whoever called it is gone.
pub(crate) fn run() -> Result<Exit, Failure> {
    let mut work = String::new();
    let read = io::stdin().lock().read_line(&mut work);
    read.map_err(|error| Failure::usage(anyhow!("{CHANGES} is for internal use by prony: {error}")))?;
    let is_over = Arc::new(AtomicBool::new(false));
    let ends = Arc::clone(&is_over);
    let listen = move || {
        // What is read is of no interest; that there is no more is.
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        ends.store(true, Ordering::Relaxed);
    };
    std::thread::Builder::new().spawn(listen).map_err(Failure::runtime)?;
    let said = |line: &str| {
        // Nobody is left who could be told.
        let _ = terminal::print_file(format!("{line}\n").as_bytes());
    };
    change_until_killed(&work, &is_over, said).map_err(Failure::runtime)?;
    Ok(Exit::Pass)
}
