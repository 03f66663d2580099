//! The workspace as cargo describes it, and the commands that are run in it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use cargo_metadata::{Metadata, MetadataCommand};

/// The checkout that xtask was started from.
pub(crate) struct Workspace {
    pub(crate) metadata: Metadata,
}

impl Workspace {
    /// Asks cargo. The manifest is looked up at run time, so that a moved checkout needs no rebuild.
    pub(crate) fn open() -> Result<Self> {
        let manifest_directory =
            std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
        let metadata = MetadataCommand::new()
            .manifest_path(Path::new(&manifest_directory).join("Cargo.toml"))
            .no_deps()
            .exec()
            .context("cannot read the workspace; try `cargo metadata`")?;
        Ok(Self { metadata })
    }

    pub(crate) fn root(&self) -> &Path {
        self.metadata.workspace_root.as_std_path()
    }

    /// Where short-lived files go: on the disk that the build is on, which is rarely a memory file system.
    pub(crate) fn target_directory(&self) -> &Path {
        self.metadata.target_directory.as_std_path()
    }

    /// A cargo command in the root: the cargo that started us, so that one toolchain does everything.
    pub(crate) fn cargo(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.args(arguments).current_dir(self.root());
        // Cargo describes xtask to us in these. Build scripts that watch them, such as that of `ring`, would run again after each
        // command typed by hand, and all that depends on them would be compiled again.
        for (name, _) in std::env::vars_os().filter(|(name, _)| describes_a_package(name)) {
            command.env_remove(name);
        }
        command
    }

    /// Where `cargo test` leaves the program that its tests run.
    pub(crate) fn tested_prony(&self) -> PathBuf {
        self.target_directory().join("debug/prony")
    }

    /// Builds the program as users do and returns its path.
    pub(crate) fn build_prony(&self) -> Result<PathBuf> {
        run(&mut self.cargo(&["build", "--release", "--package", "prony"]))?;
        Ok(self.target_directory().join("release/prony"))
    }
}

/// Whether cargo sets the variable for a program of a package that it runs.
fn describes_a_package(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")
}

/// Runs a command with its output shown; an exit code other than 0 is an error.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let line = line_of(command);
    println!("$ {line}");
    let status = command.status().with_context(|| format!("cannot start `{line}`"))?;
    if !status.success() {
        bail!("`{line}` ended with {status}");
    }
    Ok(())
}

/// The command as one would type it, with the program's directory left out.
pub(crate) fn line_of(command: &Command) -> String {
    let program = Path::new(command.get_program());
    std::iter::once(program.file_name().unwrap_or(program.as_os_str()))
        .chain(command.get_args())
        .map(|word| word.to_string_lossy())
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_of_cargo_is_not_told_of_the_package_that_runs_it() {
        let command = Workspace::open().unwrap().cargo(&["build"]);
        let is_removed = |name: &OsStr| command.get_envs().any(|(key, value)| key == name && value.is_none());
        let told: Vec<_> =
            std::env::vars_os().map(|(name, _)| name).filter(|name| describes_a_package(name)).collect();
        assert!(told.contains(&"CARGO_MANIFEST_DIR".into()), "{told:?}");
        assert!(told.iter().all(|name| is_removed(name)), "{told:?}");
        for (name, describes) in [("CARGO_PKG_NAME", true), ("CARGO_TARGET_DIR", false), ("CARGO", false)] {
            assert_eq!(describes_a_package(OsStr::new(name)), describes, "{name}");
        }
    }
}
