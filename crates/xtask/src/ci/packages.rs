//! Debian packages: looks for what is needed of them, and installs those that are not there where that may be done without
//! asking; else they are named.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

use super::Outcome;
use crate::workspace::run;

/// A Debian package and what is needed of it.
pub(crate) struct Package {
    pub(crate) name: &'static str,
    pub(crate) needs: &'static [Need],
    pub(crate) why: &'static str,
}

/// Something that a package brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    Program(&'static str),
    /// That servers load.
    Library(&'static str),
    /// Of the system's Python.
    PythonModule(&'static str),
    /// A file of a font.
    Font(&'static str),
}

/// Looks for what is needed and installs the packages of what is not there.
pub(crate) fn require(packages: &[Package]) -> Result<Outcome> {
    let missing = missing(packages, Need::is_met);
    if missing.is_empty() {
        return Ok(Outcome::Passed);
    }
    for package in &missing {
        let needs: Vec<&str> = package.needs.iter().map(|need| need.name()).collect();
        println!("not installed: {} ({})", needs.join(", "), package.why);
    }
    if !may_install() {
        bail!("{}", advice(&missing));
    }
    install(&missing)?;
    let still_missing = self::missing(packages, Need::is_met);
    if !still_missing.is_empty() {
        bail!("they are still not found; {}", advice(&still_missing));
    }
    Ok(Outcome::Passed)
}

fn missing(packages: &[Package], is_met: impl Fn(Need) -> bool) -> Vec<&Package> {
    let complete = |package: &&Package| package.needs.iter().all(|need| is_met(*need));
    packages.iter().filter(|package| !complete(package)).collect()
}

impl Need {
    fn name(self) -> &'static str {
        match self {
            Self::Program(name) | Self::Library(name) | Self::PythonModule(name) | Self::Font(name) => name,
        }
    }

    fn is_met(self) -> bool {
        match self {
            Self::Program(name) => is_installed(name),
            Self::Library(name) => is_library(name),
            Self::Font(name) => font(name).is_some(),
            Self::PythonModule(name) => {
                let found = Command::new("python3").args(["-c", &format!("import {name}")]).output();
                found.is_ok_and(|output| output.status.success())
            }
        }
    }
}

fn advice(missing: &[&Package]) -> String {
    let names: Vec<&str> = missing.iter().map(|package| package.name).collect();
    format!(
        "install them, on Debian by `apt-get install --no-install-recommends {}` as root",
        names.join(" ")
    )
}

/// Where Debian keeps what PostgreSQL and MariaDB load.
fn is_library(name: &str) -> bool {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let of_machines = std::fs::read_dir("/usr/lib").into_iter().flatten().flatten();
    let mut places = versions
        .map(|version| version.path().join("lib"))
        .chain([PathBuf::from("/usr/lib/galera")])
        .chain(of_machines.map(|machine| machine.path().join("faketime")));
    places.any(|directory| directory.join(name).is_file())
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

/// Where a file of a font is.
pub(crate) fn font(file: &str) -> Option<PathBuf> {
    ["/usr/share/fonts", "/usr/local/share/fonts"].iter().find_map(|root| found_below(Path::new(root), file))
}

fn found_below(directory: &Path, file: &str) -> Option<PathBuf> {
    let path = directory.join(file);
    if path.is_file() {
        return Some(path);
    }
    let mut entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries.find_map(|entry| {
        let is_directory = entry.file_type().is_ok_and(|of| of.is_dir());
        is_directory.then(|| found_below(&entry.path(), file)).flatten()
    })
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
    use super::Need::Program;
    use super::*;

    const PACKAGES: [Package; 2] = [
        Package { name: "brewery", needs: &[Program("malt"), Program("mash")], why: "beer" },
        Package { name: "bakery", needs: &[Program("knead"), Need::PythonModule("oven")], why: "bread" },
    ];

    fn missing_without(gone: &[&str]) -> Vec<&'static Package> {
        missing(&PACKAGES, |need| !gone.contains(&need.name()))
    }

    #[test]
    fn a_package_is_missing_if_anything_of_it_is() {
        let names = |gone: &[&str]| -> Vec<&str> {
            missing_without(gone).iter().map(|package| package.name).collect()
        };
        assert_eq!(names(&[]), [""; 0]);
        assert_eq!(names(&["malt"]), ["brewery"]);
        assert_eq!(names(&["oven"]), ["bakery"]);
        assert_eq!(names(&["malt", "mash", "knead"]), ["brewery", "bakery"]);
    }

    #[test]
    fn advice_names_the_packages_that_are_missing_and_no_other() {
        assert_eq!(
            advice(&missing_without(&["mash"])),
            "install them, on Debian by `apt-get install --no-install-recommends brewery` as root"
        );
    }

    #[test]
    fn a_shell_is_installed_and_a_made_up_program_is_not() {
        assert!(Program("sh").is_met());
        assert!(!Program("no-such-program").is_met());
        assert!(!Need::PythonModule("no_such_module").is_met());
    }

    #[test]
    fn a_file_is_found_below_a_directory() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("truetype/dejavu")).unwrap();
        let file = root.path().join("truetype/dejavu/Sans.ttf");
        std::fs::write(&file, "").unwrap();
        assert_eq!(found_below(root.path(), "Sans.ttf"), Some(file));
        assert_eq!(found_below(root.path(), "Serif.ttf"), None);
        assert_eq!(found_below(Path::new("/nowhere"), "Sans.ttf"), None);
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
