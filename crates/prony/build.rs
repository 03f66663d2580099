//! Passes the commit and the build profile to the program, for `prony --version`, and the directory of DuckDB's library to the linker.
#![allow(clippy::print_stdout, reason = "cargo reads it")]

use std::path::Path;
use std::process::Command;

/// The root of the workspace, relative to this crate.
const ROOT: &str = "../..";

fn main() {
    println!("cargo:rustc-env=BUILT_FROM={}, profile {}", commit(), profile());
    // All crates, and the files that git changes on a commit or checkout. If a listed file does not exist, cargo always runs this script.
    println!("cargo:rerun-if-changed=..");
    let directory = git(&["rev-parse", "--absolute-git-dir"]);
    let files = directory
        .into_iter()
        .flat_map(|directory| ["HEAD", "logs/HEAD"].map(|file| format!("{directory}/{file}")));
    files.filter(|file| Path::new(file).exists()).for_each(|file| println!("cargo:rerun-if-changed={file}"));
    println!("cargo:rerun-if-env-changed=DUCKDB_LIB_DIR");
    link_duckdb();
}

/// The commit of the sources, if they have their own repository. Otherwise git would report the commit of the repository around them.
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

/// The output of git. Returns none without git or outside a repository. The command writes nothing, not even git's index.
fn git(arguments: &[&str]) -> Option<String> {
    let output =
        Command::new("git").arg("--no-optional-locks").args(arguments).current_dir(ROOT).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The profile, from the output directory: for our own profiles, only its path has the name, as in `target/dist/build/prony-…/out`.
fn profile() -> String {
    let directory = std::env::var("OUT_DIR").unwrap_or_default();
    let profile = Path::new(&directory).ancestors().nth(3).and_then(Path::file_name);
    profile.map_or_else(|| "unknown".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// Lets a program with DuckDB find the library in the directory where it was linked. The path is made absolute, because a relative
/// path would depend on the directory in which the program runs.
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
