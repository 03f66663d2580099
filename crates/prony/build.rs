//! Hands the commit and the build profile to the program, for `prony --version`.
#![allow(clippy::print_stdout, reason = "cargo reads it")]

use std::path::Path;
use std::process::Command;

fn main() {
    let commit = match git(&["rev-parse", "--short=12", "HEAD"]) {
        Some(commit) => {
            let is_changed = git(&["status", "--porcelain", "--untracked-files=no", "."])
                .is_none_or(|files| !files.is_empty());
            format!("commit {commit}{}", if is_changed { " with changes" } else { "" })
        }
        None => "unknown commit".to_owned(),
    };
    println!("cargo:rustc-env=PRONY_BUILD={commit}, profile {}", profile());
    // A program with DuckDB finds the library where it was when it was linked.
    println!("cargo:rerun-if-env-changed=DUCKDB_LIB_DIR");
    if let (Some(_), Ok(directory)) =
        (std::env::var_os("CARGO_FEATURE_DUCKDB"), std::env::var("DUCKDB_LIB_DIR"))
    {
        println!("cargo:rustc-link-arg-bins=-Wl,-rpath,{directory}");
    }
    // All crates, and what git changes when it commits or checks out.
    println!("cargo:rerun-if-changed=..");
    if let Some(directory) = git(&["rev-parse", "--absolute-git-dir"]) {
        println!("cargo:rerun-if-changed={directory}/HEAD");
        println!("cargo:rerun-if-changed={directory}/logs/HEAD");
    }
}

/// What git answers in the directory of the crates. None without git, or outside of a repository.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).current_dir("..").output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The profile: cargo names a profile of our own only by the directory, as in `target/dist/build/prony-…/out`.
fn profile() -> String {
    let directory = std::env::var("OUT_DIR").unwrap_or_default();
    let profile = Path::new(&directory).ancestors().nth(3).and_then(Path::file_name);
    profile.map_or_else(|| "unknown".to_owned(), |name| name.to_string_lossy().into_owned())
}
