//! Hands the commit and the build profile to the program, for `prony --version`, and tells it where DuckDB's library is.
#![allow(clippy::print_stdout, reason = "cargo reads it")]

use std::path::Path;
use std::process::Command;

/// The root of the workspace, from the directory of this crate.
const ROOT: &str = "../..";

fn main() {
    println!("cargo:rustc-env=BUILT_FROM={}, profile {}", commit(), profile());
    // All crates, and what git changes when it commits or checks out. Cargo would run this always for a file that does not exist.
    println!("cargo:rerun-if-changed=..");
    let directory = git(&["rev-parse", "--absolute-git-dir"]);
    let files = directory
        .into_iter()
        .flat_map(|directory| ["HEAD", "logs/HEAD"].map(|file| format!("{directory}/{file}")));
    files.filter(|file| Path::new(file).exists()).for_each(|file| println!("cargo:rerun-if-changed={file}"));
    println!("cargo:rerun-if-env-changed=DUCKDB_LIB_DIR");
    link_duckdb();
}

/// The commit of the sources, if they are a repository of their own: a copy within another one has the commit of that one.
fn commit() -> String {
    let top = git(&["rev-parse", "--show-toplevel"]).and_then(|top| Path::new(&top).canonicalize().ok());
    let is_own = top.is_some() && top == Path::new(ROOT).canonicalize().ok();
    let Some(commit) = git(&["rev-parse", "--short=12", "HEAD"]).filter(|_| is_own) else {
        return "unknown commit".to_owned();
    };
    let changes =
        git(&["status", "--porcelain", "--untracked-files=no", "crates", "Cargo.toml", "Cargo.lock"]);
    let is_changed = changes.is_none_or(|files| !files.is_empty());
    format!("commit {commit}{}", if is_changed { " with changes" } else { "" })
}

/// What git answers. None without git, or outside of a repository. It writes nothing, not even its index.
fn git(arguments: &[&str]) -> Option<String> {
    let output =
        Command::new("git").arg("--no-optional-locks").args(arguments).current_dir(ROOT).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The profile: cargo names a profile of our own only by the directory, as in `target/dist/build/prony-…/out`.
fn profile() -> String {
    let directory = std::env::var("OUT_DIR").unwrap_or_default();
    let profile = Path::new(&directory).ancestors().nth(3).and_then(Path::file_name);
    profile.map_or_else(|| "unknown".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// Lets a program with DuckDB find the library where it was when it was linked. A relative path would be looked up where the
/// program runs, so it is made absolute.
fn link_duckdb() {
    let directory =
        std::env::var("DUCKDB_LIB_DIR").ok().filter(|_| std::env::var_os("CARGO_FEATURE_DUCKDB").is_some());
    if let Some(directory) = directory.and_then(|directory| Path::new(&directory).canonicalize().ok()) {
        for argument in ["-Xlinker", "-rpath", "-Xlinker"] {
            println!("cargo:rustc-link-arg-bins={argument}");
        }
        println!("cargo:rustc-link-arg-bins={}", directory.display());
    }
}
