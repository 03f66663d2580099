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

/// ClickHouse's server.
pub(crate) fn clickhouse_server() -> Result<PathBuf, InstanceError> {
    let packaged = ["/usr/sbin/clickhouse-server", "/usr/bin/clickhouse-server"].map(PathBuf::from);
    in_path("clickhouse-server").or_else(|| packaged.into_iter().find(|path| path.is_file())).ok_or(
        InstanceError::NotInstalled {
            program: "clickhouse-server",
            searched: "/usr/sbin, /usr/bin",
            package: "clickhouse-server",
        },
    )
}

/// A version of MySQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct MysqlVersion {
    pub(crate) major: u32,
    pub(crate) minor: u32,
    pub(crate) patch: u32,
}

/// The first version with all that a server of ours is started with.
const MYSQL_MIN: MysqlVersion = MysqlVersion { major: 8, minor: 0, patch: 0 };
/// Where packages of Debian's relatives, of Red Hat's and of Oracle put MySQL's server.
const MYSQL_PLACES: [&str; 3] = ["/usr/sbin/mysqld", "/usr/libexec/mysqld", "/usr/local/mysql/bin/mysqld"];

/// MySQL's server. MariaDB's packages have a program of that name too, which is left out.
pub(crate) fn mysqld() -> Result<(PathBuf, MysqlVersion), InstanceError> {
    let in_path = in_path("mysqld");
    mysqld_of(in_path.into_iter().chain(MYSQL_PLACES.map(PathBuf::from)))
}

fn mysqld_of(places: impl Iterator<Item = PathBuf>) -> Result<(PathBuf, MysqlVersion), InstanceError> {
    let mut other = None;
    for program in places.filter(|path| path.is_file()) {
        let said = said_of_itself(&program);
        match mysql_version(&said) {
            Some(version) if version >= MYSQL_MIN => return Ok((program, version)),
            _ => other = other.or(Some((program, said))),
        }
    }
    Err(match other {
        Some((program, said)) => InstanceError::NoMysql { program, said },
        None => InstanceError::NotInstalled {
            program: "mysqld",
            searched: "/usr/sbin, /usr/libexec, /usr/local/mysql/bin",
            package: "mysql-server",
        },
    })
}

/// What a server says that it is; what cannot be run says nothing.
fn said_of_itself(program: &Path) -> String {
    let mut asked = std::process::Command::new(program);
    let said = asked.args(["--no-defaults", "--version"]).stdin(std::process::Stdio::null()).output();
    said.map(|said| String::from_utf8_lossy(&said.stdout).trim().to_owned()).unwrap_or_default()
}

/// The version of `mysqld  Ver 8.0.36-0ubuntu0.22.04.1 for Linux on x86_64 ((Ubuntu))`; none of MariaDB's, which says so.
fn mysql_version(said: &str) -> Option<MysqlVersion> {
    let words = said.split_once(" Ver ").filter(|_| !said.contains("MariaDB"))?.1;
    let end = words.find(|sign: char| !sign.is_ascii_digit() && sign != '.').unwrap_or(words.len());
    let mut numbers = words[..end].split('.').map(str::parse);
    let mut next = || numbers.next()?.ok();
    Some(MysqlVersion { major: next()?, minor: next()?, patch: next()? })
}

/// The program that changes the user and binds a server's life to ours.
pub(crate) fn setpriv() -> Result<PathBuf, InstanceError> {
    in_path("setpriv").ok_or(InstanceError::NotInstalled {
        program: "setpriv",
        searched: "/usr/bin",
        package: "util-linux",
    })
}

/// MariaDB's client.
pub(crate) fn mariadb() -> Result<PathBuf, InstanceError> {
    in_path("mariadb").ok_or(InstanceError::NotInstalled {
        program: "mariadb",
        searched: "/usr/bin",
        package: "mariadb-client",
    })
}

/// What keeps the nodes of a pair of MariaDB servers together.
pub(crate) fn galera() -> Result<PathBuf, InstanceError> {
    let places =
        ["/usr/lib/galera/libgalera_smm.so", "/usr/lib64/galera-4/libgalera_smm.so"].map(PathBuf::from);
    places.into_iter().find(|path| path.is_file()).ok_or(InstanceError::NotInstalled {
        program: "libgalera_smm.so",
        searched: "/usr/lib/galera",
        package: "galera-4",
    })
}

/// The arbitrator of such a pair.
pub(crate) fn garbd() -> Result<PathBuf, InstanceError> {
    in_path("garbd").ok_or(InstanceError::NotInstalled {
        program: "garbd",
        searched: "/usr/bin",
        package: "galera-arbitrator-4",
    })
}

/// What brings a node of such a pair its data.
pub(crate) fn rsync() -> Result<PathBuf, InstanceError> {
    in_path("rsync").ok_or(InstanceError::NotInstalled {
        program: "rsync",
        searched: "/usr/bin",
        package: "rsync",
    })
}

/// The program that starts another in a session of its own.
pub(crate) fn setsid() -> Result<PathBuf, InstanceError> {
    in_path("setsid").ok_or(InstanceError::NotInstalled {
        program: "setsid",
        searched: "/usr/bin",
        package: "util-linux",
    })
}

/// The program that enters a network namespace.
pub(crate) fn nsenter() -> Result<PathBuf, InstanceError> {
    in_path("nsenter").ok_or(InstanceError::NotInstalled {
        program: "nsenter",
        searched: "/usr/bin",
        package: "util-linux",
    })
}

/// A program that makes networks: `ip` or `tc`.
pub(crate) fn of_network(program: &'static str) -> Result<PathBuf, InstanceError> {
    in_path(program).ok_or(InstanceError::NotInstalled {
        program,
        searched: "/usr/bin, /usr/sbin",
        package: "iproute2",
    })
}

/// The library that stands between programs and the clock, in its form for programs of several threads.
pub(crate) fn faketime() -> Result<PathBuf, InstanceError> {
    const LIBRARY: &str = "libfaketimeMT.so.1";
    let below = |directory: PathBuf| directory.join("faketime").join(LIBRARY);
    let of_machines = std::fs::read_dir("/usr/lib").into_iter().flatten().flatten().map(|entry| entry.path());
    let all = [PathBuf::from("/usr/lib"), PathBuf::from("/usr/lib64")].into_iter().chain(of_machines);
    all.map(below).find(|path| path.is_file()).ok_or(InstanceError::NotInstalled {
        program: LIBRARY,
        searched: "/usr/lib/*/faketime",
        package: "libfaketime",
    })
}

/// The program that keeps the nodes of a pair of PostgreSQL servers.
pub(crate) fn pg_autoctl() -> Result<PathBuf, InstanceError> {
    in_path("pg_autoctl").ok_or(InstanceError::NotInstalled {
        program: "pg_autoctl",
        searched: "/usr/bin",
        package: "pg-auto-failover-cli",
    })
}

/// The directory of the newest PostgreSQL that has the extension of pg_auto_failover's monitor: the extension is of one version.
pub(crate) fn postgres_of_monitor() -> Result<PathBuf, InstanceError> {
    let versions = std::fs::read_dir(POSTGRES_VERSIONS).into_iter().flatten().flatten();
    let names = versions.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let place = |version: &String| Path::new(POSTGRES_VERSIONS).join(version);
    let has_all = |version: &String| {
        place(version).join("lib/pgautofailover.so").is_file()
            && place(version).join("bin/postgres").is_file()
    };
    let found = newest_first(names).into_iter().find(has_all);
    found.map(|version| place(&version).join("bin")).ok_or(InstanceError::NotInstalled {
        program: "pgautofailover.so",
        searched: "/usr/lib/postgresql/*/lib",
        package: "postgresql-15-auto-failover (of your version of PostgreSQL)",
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
pub(crate) fn in_path(program: &str) -> Option<PathBuf> {
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
    fn mysql_is_known_by_what_it_says_and_mariadb_is_none() {
        let version = |major, minor, patch| Some(MysqlVersion { major, minor, patch });
        for (said, found) in [
            ("mysqld  Ver 8.0.36-0ubuntu0.22.04.1 for Linux on x86_64 ((Ubuntu))", version(8, 0, 36)),
            ("/usr/libexec/mysqld  Ver 8.4.2 for Linux on x86_64 (Source distribution)", version(8, 4, 2)),
            ("mysqld  Ver 9.1.0 for Linux on x86_64 (MySQL Community Server - GPL)", version(9, 1, 0)),
            ("mysqld  Ver 10.11.6-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64 (Debian 12)", None),
            ("", None),
            ("mysqld  Ver eight", None),
        ] {
            assert_eq!(mysql_version(said), found, "{said}");
        }
        assert!(version(8, 0, 9) < version(8, 0, 30) && version(5, 7, 44) < version(8, 0, 0));
    }

    #[test]
    fn mysql_is_looked_for_until_one_is_found_and_what_was_found_instead_is_told() {
        let directory = tempfile::tempdir().unwrap();
        let program = |name: &str, says: &str| {
            use std::os::unix::fs::PermissionsExt as _;
            let path = directory.path().join(name);
            std::fs::write(&path, format!("#!/bin/sh\necho '{says}'\n")).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
            path
        };
        let mariadb = program("mariadbd", "mysqld  Ver 10.11.6-MariaDB for Linux");
        let old = program("old", "mysqld  Ver 5.7.44 for Linux on x86_64");
        let mysql =
            program("mysqld", "mysqld  Ver 8.0.41 for Linux on x86_64 (MySQL Community Server - GPL)");
        let nowhere = directory.path().join("nowhere");
        let found =
            mysqld_of([nowhere.clone(), mariadb.clone(), old.clone(), mysql.clone()].into_iter()).unwrap();
        assert_eq!(found, (mysql, MysqlVersion { major: 8, minor: 0, patch: 41 }));
        let error = mysqld_of([mariadb, old].into_iter()).unwrap_err().to_string();
        assert!(error.contains("MariaDB") && error.contains("8.0 or later"), "{error}");
        let error = mysqld_of([nowhere].into_iter()).unwrap_err().to_string();
        assert!(error.contains("mysql-server"), "{error}");
    }

    #[test]
    fn a_missing_program_names_its_package() {
        let error = of_postgres("no-such-program").unwrap_err().to_string();
        assert!(error.contains("no-such-program") && error.contains("apt-get install postgresql"), "{error}");
    }
}
