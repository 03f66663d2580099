//! Where the programs of a server are: in PATH, or where Debian's packages put them.

use std::path::{Path, PathBuf};

use crate::InstanceError;

const POSTGRES_VERSIONS: &str = "/usr/lib/postgresql";

/// A program of PostgreSQL. Debian keeps them out of PATH, a directory for each version: the newest is taken.
pub(crate) fn of_postgres(program: &'static str) -> Result<PathBuf, InstanceError> {
    let newest = || {
        let versions = std::fs::read_dir(POSTGRES_VERSIONS).ok()?;
        let names = versions.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
        let path = |version: String| Path::new(POSTGRES_VERSIONS).join(version).join("bin").join(program);
        newest_first(names).into_iter().map(path).find(|path| path.is_file())
    };
    in_path(program).or_else(newest).ok_or(InstanceError::NotInstalled {
        program,
        searched: "/usr/lib/postgresql/*/bin",
        package: "postgresql",
    })
}

/// MariaDB's server.
pub(crate) fn mariadbd() -> Result<PathBuf, InstanceError> {
    let packaged = ["/usr/sbin/mariadbd", "/usr/libexec/mariadbd"].map(PathBuf::from);
    in_path("mariadbd").or_else(|| packaged.into_iter().find(|path| path.is_file())).ok_or(
        InstanceError::NotInstalled { program: "mariadbd", searched: "/usr/sbin", package: "mariadb-server" },
    )
}

/// The program that changes the user and binds a server's life to ours.
pub(crate) fn setpriv() -> Result<PathBuf, InstanceError> {
    in_path("setpriv").ok_or(InstanceError::NotInstalled {
        program: "setpriv",
        searched: "/usr/bin",
        package: "util-linux",
    })
}

/// The program that copies directories with everything that a file system knows of them.
pub(crate) fn cp() -> Result<PathBuf, InstanceError> {
    in_path("cp").ok_or(InstanceError::NotInstalled {
        program: "cp",
        searched: "/usr/bin",
        package: "coreutils",
    })
}

/// The user's PATH, and then the system's own directories, which a reduced PATH may lack.
fn in_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let system = ["/usr/bin", "/usr/sbin", "/bin", "/sbin"].map(PathBuf::from);
    std::env::split_paths(&path)
        .chain(system)
        .map(|directory| directory.join(program))
        .find(|file| file.is_file())
}

/// Versions such as `9.6` and `15`, newest first; other names are left out.
fn newest_first(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut versions: Vec<(Vec<u32>, String)> = names
        .filter_map(|name| {
            let numbers = name.split('.').map(str::parse).collect::<Result<_, _>>().ok()?;
            Some((numbers, name))
        })
        .collect();
    versions.sort_by(|a, b| b.cmp(a));
    versions.into_iter().map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newest_version_is_first_by_number_and_not_by_text() {
        let names = ["9.6", "15", "lib", "9.10", "17", ""].map(String::from);
        assert_eq!(newest_first(names.into_iter()), ["17", "15", "9.10", "9.6"]);
    }

    #[test]
    fn a_missing_program_names_its_package() {
        let error = of_postgres("no-such-program").unwrap_err().to_string();
        assert!(error.contains("no-such-program") && error.contains("apt-get install postgresql"), "{error}");
    }
}
