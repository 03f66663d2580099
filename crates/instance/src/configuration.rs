//! Asks the programs of servers whether they take settings, before anything is made for a server.
//!
//! Not of MySQL, whose program was not there to be tried.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::{InstanceError, Options};

/// Refuses settings that PostgreSQL does not know, or whose values it does not take. The first option is known before the program looks
/// who runs it: <https://www.postgresql.org/docs/current/app-postgres.html>.
pub(crate) fn check_postgres(program: &Path, options: &Options) -> Result<(), InstanceError> {
    let mut command = Command::new(program);
    // No file of settings is read, and none of a cluster is looked for.
    command.args(["-C", "data_directory", "-D", "/", "-c", "config_file=/dev/null"]);
    command.args(["-c", "hba_file=/dev/null", "-c", "ident_file=/dev/null"]);
    for (name, value) in options.settings() {
        command.arg("-c").arg(format!("{name}={value}"));
    }
    let Some((told, has_failed)) = ended(command) else { return Ok(()) };
    let reason = told.lines().find_map(|line| Some(line.split_once("FATAL:")?.1.trim().to_owned()));
    refused("postgres", reason.filter(|_| has_failed))
}

/// Refuses settings that MariaDB does not know, or whose values it does not take. Those of an engine within it are told as errors, and it
/// goes on.
pub(crate) fn check_mariadb(program: &Path, options: &Options) -> Result<(), InstanceError> {
    let mut command = Command::new(program);
    command.args(["--no-defaults", "--datadir=/nonexistent"]);
    for (name, value) in options.settings() {
        command.arg(format!("--{name}={value}"));
    }
    command.args(["--help", "--verbose"]);
    let Some((told, _)) = ended(command) else { return Ok(()) };
    let is_of_setting = |line: &str| {
        ["unknown variable", "unknown option", "Error while setting value", "ambiguous option"]
            .iter()
            .any(|words| line.contains(words))
    };
    let reason = |line: &str| {
        let (_, words) = line.split_once("[ERROR]").filter(|_| is_of_setting(line))?;
        // The program's own name stands before.
        let words = words.trim();
        Some(
            words
                .split_once(": ")
                .filter(|(name, _)| name.starts_with('/'))
                .map_or(words, |(_, rest)| rest)
                .to_owned(),
        )
    };
    refused("mariadbd", told.lines().find_map(reason))
}

/// What a program says, and whether it failed; none if it cannot be run, which its start will tell.
fn ended(mut command: Command) -> Option<(String, bool)> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).env("LC_ALL", "C").current_dir("/");
    let ended = command.output().ok()?;
    Some((String::from_utf8_lossy(&ended.stderr).into_owned(), !ended.status.success()))
}

fn refused(program: &'static str, reason: Option<String>) -> Result<(), InstanceError> {
    match reason {
        None => Ok(()),
        Some(reason) => Err(InstanceError::Setting { program, reason }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program;

    fn told(
        check: fn(&Path, &Options) -> Result<(), InstanceError>,
        program: &Path,
        setting: [&str; 2],
    ) -> String {
        let [name, value] = setting;
        check(program, &Options::default().setting("max_connections", "50").setting(name, value))
            .map_or_else(|error| error.to_string(), |()| String::new())
    }

    #[test]
    fn postgresql_refuses_settings_before_a_cluster_is_made() {
        let program = program::of_postgres("postgres").unwrap();
        let told = |setting| told(check_postgres, &program, setting);
        assert_eq!(told(["work_mem", "1MB"]), "");
        assert_eq!(told(["extension.setting", "of its own"]), "");
        assert!(told(["wrok_mem", "1MB"]).contains("unrecognized configuration parameter \"wrok_mem\""));
        assert!(
            told(["work_mem", "banana"]).contains("invalid value for parameter \"work_mem\": \"banana\"")
        );
        assert!(told(["shared_buffers", "1"]).contains("outside the valid range"));
    }

    #[test]
    fn mariadb_refuses_settings_before_a_cluster_is_made() {
        let program = program::mariadbd().unwrap();
        let told = |setting| told(check_mariadb, &program, setting);
        assert_eq!(told(["innodb_buffer_pool_size", "64M"]), "");
        assert!(
            told(["inodb_buffer_pool_size", "64M"]).contains("unknown variable 'inodb_buffer_pool_size=64M'")
        );
        assert!(told(["innodb_flush_log_at_trx_commit", "banana"]).contains("'banana'"));
        assert!(told(["sync_binlog", "-5"]).contains("'-5'"));
    }
}
