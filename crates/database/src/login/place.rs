//! Where a server is that an address leaves open, from where the clients of the engine have it. An address that names a host or a port is complete:
//! it means the same wherever it is read again, and a record of it shows where it was.
//!
//! - <https://www.postgresql.org/docs/current/libpq-envars.html>
//! - <https://dev.mysql.com/doc/refman/8.4/en/environment-variables.html>

use std::str::FromStr;

use super::{Surroundings, options, service};
use crate::url::hosts::{Wanted, ports};
use crate::url::{Address, Host, ServerAddress};
use crate::{Url, UrlError};

impl FromStr for Url {
    type Err = UrlError;

    /// What the text says, and where the server is that it leaves open.
    fn from_str(text: &str) -> Result<Self, UrlError> {
        located(Self::read(text)?, &Surroundings::here())
    }
}

pub(super) fn located(mut url: Url, around: &Surroundings) -> Result<Url, UrlError> {
    match &mut url.0 {
        Address::Postgres(server) => of_postgres(server, around)?,
        Address::Mysql(server) if server.is_open => of_mysql(server, around)?,
        Address::Mysql(_)
        | Address::Sqlite(_)
        | Address::SqlServer(_)
        | Address::ClickHouse(_)
        | Address::DuckDb(_)
        | Address::Fake(_) => {}
    }
    Ok(url)
}

/// A place as it is found, with what says where.
struct Found {
    what: &'static str,
    value: String,
    from: String,
}

fn of_postgres(server: &mut ServerAddress, around: &Surroundings) -> Result<(), UrlError> {
    if server.is_open && server.service.is_none() {
        server.service = around.variable("PGSERVICE").map(str::to_owned);
        server.taken.extend(server.service.iter().map(|_| "service from PGSERVICE".to_owned()));
    }
    let service = server.service.as_ref().map(|name| service::read(name, around)).transpose()?;
    if !server.is_open {
        return Ok(());
    }
    if around.variable("PGHOSTADDR").is_some() {
        return Err(UrlError(
            "PGHOSTADDR is set, but prony does not support this variable: unset it, or name the host in the address"
                .to_owned(),
        ));
    }
    let look = |what: &'static str, key: &str, variable: &str| {
        let of_service = service.as_ref().and_then(|service| {
            let value = service.values.get(key)?;
            Some(Found { what, value: value.clone(), from: service.told() })
        });
        let of_variable = || {
            let value = around.variable(variable)?;
            Some(Found { what, value: value.to_owned(), from: variable.to_owned() })
        };
        of_service.or_else(of_variable)
    };
    let host = look("host", "host", "PGHOST");
    let port = look("port", "port", "PGPORT");
    let database = look("database", "dbname", "PGDATABASE").filter(|_| server.database.is_none());
    let wanted = look("target_session_attrs", "target_session_attrs", "PGTARGETSESSIONATTRS")
        .filter(|_| server.wanted == Wanted::Any);
    set_hosts(server, host.as_ref(), port.as_ref())?;
    if let Some(found) = &database {
        server.database = Some(found.value.clone());
    }
    if let Some(found) = &wanted {
        server.wanted = Wanted::read(&found.value)
            .map_err(|error| UrlError(format!("{} of {}: {error}", found.what, found.from)))?;
    }
    tell(server, [host, port, database, wanted]);
    Ok(())
}

fn of_mysql(server: &mut ServerAddress, around: &Surroundings) -> Result<(), UrlError> {
    let found = options::read(around.files_of_options());
    let look = |what: &'static str, variable: &str| {
        let of_file = found.values.get(what).map(|(value, file)| Found {
            what,
            value: value.clone(),
            from: file.display().to_string(),
        });
        let of_variable = || {
            let value = around.variable(variable)?;
            Some(Found { what, value: value.to_owned(), from: variable.to_owned() })
        };
        of_file.or_else(of_variable)
    };
    let host = look("host", "MYSQL_HOST");
    // As the client: the socket is for this machine alone.
    let is_here = host.as_ref().is_none_or(|host| host.value.eq_ignore_ascii_case("localhost"));
    let socket = look("socket", "MYSQL_UNIX_PORT").filter(|_| is_here);
    if let Some(found) = socket {
        server.host = Host::of(found.value.clone(), crate::url::port_of(&server.host));
        tell(server, [Some(found), None, None, None]);
        return Ok(());
    }
    let port = look("port", "MYSQL_TCP_PORT");
    set_hosts(server, host.as_ref(), port.as_ref())?;
    tell(server, [host, port, None, None]);
    Ok(())
}

/// Sets what was found; of PostgreSQL there may be several hosts.
fn set_hosts(server: &mut ServerAddress, host: Option<&Found>, port: Option<&Found>) -> Result<(), UrlError> {
    if host.is_none() && port.is_none() {
        return Ok(());
    }
    let own = crate::url::port_of(&server.host);
    let names: Vec<String> = match host {
        Some(found) => found.value.split(',').map(|name| name.trim().to_owned()).collect(),
        None => vec![String::new()],
    };
    let given: Vec<String> = match port {
        Some(found) => found.value.split(',').map(|port| port.trim().to_owned()).collect(),
        None => Vec::new(),
    };
    let ports = ports(names.len(), &given, own).map_err(|error| {
        let of = port.map_or("", |found| found.from.as_str());
        UrlError(format!("{of}: {error}"))
    })?;
    let mut hosts = names.into_iter().zip(ports).map(|(name, port)| Host::of(name, port));
    if let Some(first) = hosts.next() {
        server.host = first;
        server.others = hosts.collect();
    }
    Ok(())
}

fn tell(server: &mut ServerAddress, found: [Option<Found>; 4]) {
    let told = found.into_iter().flatten().map(|found| format!("{} from {}", found.what, found.from));
    server.taken.extend(told);
    server.is_open = false;
}
