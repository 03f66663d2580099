//! What the tests need of the system besides Rust: database servers, which they start themselves, and a C compiler for
//! SQLite. Installed where that may be done without asking; else the packages are named.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

use super::Outcome;
use crate::workspace::run;

/// A Debian package and the programs that are needed of it.
struct Package {
    name: &'static str,
    programs: &'static [&'static str],
    why: &'static str,
}

const PACKAGES: [Package; 4] = [
    Package {
        name: "postgresql",
        programs: &["initdb", "postgres", "psql"],
        why: "tests start PostgreSQL servers of their own",
    },
    Package {
        name: "mariadb-server",
        programs: &["mariadbd"],
        why: "tests start MariaDB servers of their own",
    },
    Package {
        name: "util-linux",
        programs: &["setpriv"],
        why: "servers are started by it, without privileges and bound to the life of the test",
    },
    Package { name: "gcc", programs: &["cc"], why: "SQLite is compiled, and rustc links with it" },
];

/// Looks for the programs and installs the packages of those that are not there.
pub(super) fn check() -> Result<Outcome> {
    let missing = missing(is_installed);
    if missing.is_empty() {
        return Ok(Outcome::Passed);
    }
    for package in &missing {
        println!("not installed: {} ({})", package.programs.join(", "), package.why);
    }
    if !may_install() {
        bail!("{}", advice(&missing));
    }
    install(&missing)?;
    let still_missing = self::missing(is_installed);
    if !still_missing.is_empty() {
        bail!("they are still not found; {}", advice(&still_missing));
    }
    Ok(Outcome::Passed)
}

fn missing(is_installed: impl Fn(&str) -> bool) -> Vec<&'static Package> {
    let complete = |package: &&Package| package.programs.iter().all(|program| is_installed(program));
    PACKAGES.iter().filter(|package| !complete(package)).collect()
}

fn advice(missing: &[&Package]) -> String {
    let names: Vec<&str> = missing.iter().map(|package| package.name).collect();
    format!(
        "install them, on Debian by `apt-get install --no-install-recommends {}` as root",
        names.join(" ")
    )
}

/// In PATH, in the system's directories that a user's PATH may lack, or where Debian keeps PostgreSQL's programs.
fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    std::env::split_paths(&path)
        .chain(["/usr/bin", "/usr/sbin"].map(PathBuf::from))
        .chain(versions.map(|version| version.path().join("bin")))
        .any(|directory| directory.join(program).is_file())
}

fn may_install() -> bool {
    // Our own entry in /proc belongs to the user that we act as.
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
    is_root && Path::new("/usr/bin/apt-get").is_file()
}

/// Without questions, and without starting the servers that the packages bring: nobody is to be served by them. Where
/// systemd runs they may start all the same; they are in nobody's way, for tests choose free ports.
fn install(packages: &[&Package]) -> Result<()> {
    run(&mut apt_get(&["update"]))?;
    let mut command = apt_get(&["install", "-y", "--no-install-recommends"]);
    command.args(packages.iter().map(|package| package.name));
    run(&mut command)
}

fn apt_get(arguments: &[&str]) -> Command {
    let mut command = Command::new("apt-get");
    // invoke-rc.d starts nothing in runlevel 1.
    command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive").env("RUNLEVEL", "1");
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing_without(gone: &[&str]) -> Vec<&'static str> {
        missing(|program| !gone.contains(&program)).iter().map(|package| package.name).collect()
    }

    #[test]
    fn a_package_is_missing_if_any_of_its_programs_is() {
        assert_eq!(missing_without(&[]), [""; 0]);
        assert_eq!(missing_without(&["initdb"]), ["postgresql"]);
        assert_eq!(missing_without(&["postgres", "mariadbd", "psql"]), ["postgresql", "mariadb-server"]);
        assert_eq!(missing_without(&["setpriv", "cc"]), ["util-linux", "gcc"]);
    }

    #[test]
    fn advice_names_the_packages_that_are_missing_and_no_other() {
        let missing = missing(|program| program != "mariadbd");
        assert_eq!(
            advice(&missing),
            "install them, on Debian by `apt-get install --no-install-recommends mariadb-server` as root"
        );
    }

    #[test]
    fn a_shell_is_installed_and_a_made_up_program_is_not() {
        assert!(is_installed("sh"));
        assert!(!is_installed("no-such-program"));
    }

    #[test]
    fn nothing_is_asked_and_no_service_started_by_an_installation() {
        let command = apt_get(&["update"]);
        let variables: Vec<_> = command.get_envs().map(|(name, value)| (name, value.unwrap())).collect();
        assert_eq!(
            variables,
            [("DEBIAN_FRONTEND".as_ref(), "noninteractive".as_ref()), ("RUNLEVEL".as_ref(), "1".as_ref())]
        );
    }
}
