//! Files of services of libpq: <https://www.postgresql.org/docs/current/libpq-pgservice.html>.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::Surroundings;
use crate::UrlError;

/// What is understood of a service; the rest is told.
const KEYS: [&str; 15] = [
    "host",
    "port",
    "dbname",
    "user",
    "password",
    "passfile",
    "sslmode",
    "sslrootcert",
    "sslcert",
    "sslkey",
    "ssl_min_protocol_version",
    "channel_binding",
    "require_auth",
    "target_session_attrs",
    "service",
];

/// What a file says of a service: a password too, so that it is not to be printed.
pub(super) struct Service {
    name: String,
    file: PathBuf,
    pub(super) values: HashMap<String, String>,
    /// Keys that nothing heeds.
    pub(super) unheeded: Vec<String>,
}

impl Service {
    /// Where it is from, in words.
    pub(super) fn told(&self) -> String {
        format!("the service {} of {}", self.name, self.file.display())
    }
}

/// Reads a service: of the user's file, else of the system's.
pub(super) fn read(name: &str, around: &Surroundings) -> Result<Service, UrlError> {
    let of_user = around.variable("PGSERVICEFILE").map(PathBuf::from);
    let of_user = of_user.or_else(|| around.at_home(".pg_service.conf"));
    let of_system: Vec<PathBuf> = match around.variable("PGSYSCONFDIR") {
        Some(directory) => vec![Path::new(directory).join("pg_service.conf")],
        None => around.service_files.clone(),
    };
    let files: Vec<PathBuf> = of_user.into_iter().chain(of_system).collect();
    for file in &files {
        let text = match std::fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(UrlError(format!("cannot read {}: {error}", file.display()))),
        };
        if let Some(service) = section(&text, name, file)? {
            return Ok(service);
        }
    }
    let looked: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    Err(UrlError(format!(
        "unknown service `{name}` in {}: add [{name}] to this file, or use another name",
        looked.join(", ")
    )))
}

fn section(text: &str, name: &str, file: &Path) -> Result<Option<Service>, UrlError> {
    let mut found: Option<Service> = None;
    for (number, line) in text.lines().map(str::trim).enumerate() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(group) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            if found.is_some() {
                break;
            }
            if group == name {
                let (name, file) = (name.to_owned(), file.to_owned());
                found = Some(Service { name, file, values: HashMap::new(), unheeded: Vec::new() });
            }
        } else if let Some(service) = &mut found {
            let at = || format!("{}, line {}", file.display(), number + 1);
            let Some((key, value)) = line.split_once('=') else {
                // What stands there could be a password.
                return Err(UrlError(format!("{}: expected `key=value`", at())));
            };
            match key {
                "service" => {
                    return Err(UrlError(format!("{}: a service cannot refer to another service", at())));
                }
                "hostaddr" => {
                    return Err(UrlError(format!("{}: hostaddr is not supported: use host", at())));
                }
                // As libpq: the first one counts.
                key if KEYS.contains(&key) => {
                    service.values.entry(key.to_owned()).or_insert_with(|| value.to_owned());
                }
                key => service.unheeded.push(key.to_owned()),
            }
        }
    }
    Ok(found)
}
