//! `cargo xtask bench encryption`: what TLS costs a session, in turn with the same session without, to the same server on this machine.
//!
//! What is compared is a rate: flushes of 1,000 rows, calls of a prepared statement, sessions opened. On one machine both ends
//! of the encryption share the processors, so that over a network it costs the load less than it does here.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use instance::{MariaDb, Options, Postgres};

use super::program::numbers;
use super::{EncryptionOptions, ratio};
use crate::workspace::{Workspace, line_of, run as run_command};

/// Least rate of flushes to PostgreSQL over TLS, as a share of those without.
const GOAL: f64 = 0.8;
const KINDS: [(&str, &str); 3] = [
    ("flush", "flushes of 1,000 rows"),
    ("call", "calls of a prepared statement"),
    ("connect", "sessions opened"),
];

pub(super) fn run(options: &EncryptionOptions, workspace: &Workspace) -> Result<()> {
    let program = session_program(workspace)?;
    let place = tempfile::Builder::new().prefix("bench-").tempdir()?;
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755))?;
    let bench = Bench { options, program: &program };
    let postgres = postgres_with_tls(place.path())?;
    bench.compare("PostgreSQL", &postgres.url(), ["sslmode=disable", "sslmode=require"])?;
    drop(postgres);
    let (certificate, key) = certificate(place.path())?;
    let files = [("ssl-cert", &certificate), ("ssl-key", &key)];
    let settings = files.into_iter().fold(Options::default(), |all, (name, file)| all.setting(name, file));
    let mariadb = MariaDb::start(&settings)?;
    bench.compare("MariaDB", &mariadb.url(), ["ssl-mode=DISABLED", "ssl-mode=REQUIRED"])
}

/// A server that takes sessions with and without TLS. Its certificate is made in `place`.
pub(super) fn postgres_with_tls(place: &Path) -> Result<Postgres> {
    let (certificate, key) = certificate(place)?;
    let mut postgres = Postgres::start(&Options::default())?;
    let data = postgres.data_directory();
    let owner = fs::metadata(&data)?;
    for (from, to) in [(&certificate, "server.crt"), (&key, "server.key")] {
        let to = data.join(to);
        fs::copy(from, &to)?;
        fs::set_permissions(&to, fs::Permissions::from_mode(0o600))?;
        chown(&to, Some(owner.uid()), Some(owner.gid()))?;
    }
    postgres.stop()?;
    let settings = data.join("postgresql.auto.conf");
    fs::write(&settings, fs::read_to_string(&settings)? + "ssl = on\n")?;
    postgres.start_again()?;
    Ok(postgres)
}

/// The program that is measured, built.
pub(super) fn session_program(workspace: &Workspace) -> Result<PathBuf> {
    let build = ["build", "--release", "--package", "prony-database", "--example", "session"];
    run_command(&mut workspace.cargo(&build))?;
    Ok(workspace.target_directory().join("release/examples/session"))
}

struct Bench<'a> {
    options: &'a EncryptionOptions,
    program: &'a Path,
}

impl Bench<'_> {
    fn compare(&self, server: &str, url: &str, [plain, tls]: [&str; 2]) -> Result<()> {
        println!("\n{server}, TLS/plain, of {} pairs in turn", self.options.pairs);
        for (kind, name) in KINDS {
            let rate = |mode: &str| -> Result<f64> {
                let seconds = self.options.seconds.to_string();
                let [rate, _] =
                    numbers(Command::new(self.program).args([kind, &format!("{url}?{mode}"), &seconds]))?;
                Ok(rate)
            };
            let ratios: Result<Vec<f64>> = (0..self.options.pairs)
                .map(|_| {
                    let without = rate(plain)?;
                    Ok(rate(tls)? / without)
                })
                .collect();
            let is_judged = kind == "flush" && server == "PostgreSQL";
            let line =
                if is_judged { ratio::at_least(name, ratios?, GOAL) } else { ratio::told(name, ratios?) };
            println!("{line}");
        }
        Ok(())
    }
}

/// Files of a certificate that signs itself, and of its key, which everybody may read: both are gone with the bench.
fn certificate(place: &Path) -> Result<(String, String)> {
    let path = |name: &str| place.join(name).display().to_string();
    let (certificate, key) = (path("server.crt"), path("server.key"));
    let mut openssl = Command::new("openssl");
    openssl.args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]);
    openssl.args(["-out", &certificate, "-keyout", &key]);
    let made = openssl.output().with_context(|| format!("cannot start `{}`", line_of(&openssl)))?;
    ensure!(made.status.success(), "openssl: {}", String::from_utf8_lossy(&made.stderr));
    fs::set_permissions(&key, fs::Permissions::from_mode(0o644))?;
    Ok((certificate, key))
}
