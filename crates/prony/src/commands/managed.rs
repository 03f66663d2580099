//! Where a database workload gets its database: at an address, or on a server that is started for it.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use study::{At, Database, Engine, Faults, Server, Target};
use toml::Value;

use crate::arguments::{CheckedServer, Managed, ServerArguments};
use crate::exit::Failure;

/// What a server of the command line is called in its study.
const NAME: &str = "managed";

/// Where a command is to find its databases.
pub(super) enum Given<'a> {
    /// At an address, or several.
    At(&'a str),
    /// On a server that is started.
    Started(Box<Server>),
}

/// Reads what a command was given. Exactly one of both ways is.
///
/// # Errors
/// Both, neither, options of a server that is not started, and what has no meaning for one that is: each with what to do.
pub(super) fn given<'a>(
    target: Option<&'a str>,
    managed: &Managed,
    idle: &[(&str, bool)],
) -> Result<Given<'a>, Failure> {
    let refused = |sentence: String| Err(Failure::usage(anyhow!(sentence)));
    let own = managed.given();
    match (target, managed.managed) {
        (Some(_), Some(_)) => refused(
            "--target and --managed exclude each other. Use --target to load the server at that address, \
             or --managed to start one"
                .to_owned(),
        ),
        (None, None) if own.is_empty() => refused(
            "no target given. Give a database address with --target, or start a server with --managed \
             postgres, mariadb or mysql"
                .to_owned(),
        ),
        (_, None) if !own.is_empty() => Err(without_server(&own)),
        (Some(target), None) => Ok(Given::At(target)),
        (None, None) => unreachable!("both cases of no target and no server stand above"),
        (None, Some(_)) => match idle.iter().find(|(_, is_given)| *is_given) {
            Some((option, _)) => refused(format!(
                "{option} has no effect with --managed, because the server starts empty and is deleted at the end. Remove {option}"
            )),
            None => Ok(Given::Started(Box::new(server(managed)))),
        },
    }
}

/// Of options of a server that nobody starts.
fn without_server(own: &[&str]) -> Failure {
    let (need, them) = if own.len() == 1 { ("needs", "it") } else { ("need", "them") };
    Failure::usage(anyhow!(
        "{} {need} a managed server. Add --managed postgres, mariadb or mysql, or remove {them}",
        own.join(", "),
    ))
}

/// The server that a check starts, if it was asked for one: in this directory unless another one is given, so that the disk that is
/// checked is the one below it.
///
/// # Errors
/// Options of a server that is not started.
pub(super) fn checked(asked: &CheckedServer, directory: &Path) -> Result<Option<(Engine, Target)>, Failure> {
    let own = asked.server.given();
    let Some(engine) = asked.managed else {
        return if own.is_empty() { Ok(None) } else { Err(without_server(&own)) };
    };
    let mut server = server_of(Some(engine), &asked.server);
    server.data.get_or_insert_with(|| directory.to_owned());
    Ok(Some((engine, started(server, None)?)))
}

fn server(managed: &Managed) -> Server {
    Server {
        instances: managed.instances,
        pair: managed.pair,
        nodes: managed.node.clone(),
        failover: managed.failover,
        faults: faults(&managed.fault),
        between_trials: managed.between_trials,
        cold: (managed.cold || managed.warm).then_some(managed.cold),
        rest: managed.rest,
        quiet_below: managed.quiet_below,
        quiet_for: managed.quiet_for,
        quiet_within: managed.quiet_within,
        ..server_of(managed.managed, &managed.server)
    }
}

/// All faults of an option that may be repeated, each time with several; none if it was not given.
fn faults(given: &[Faults]) -> Option<Faults> {
    (!given.is_empty()).then(|| Faults(given.iter().flat_map(|faults| faults.0.iter().cloned()).collect()))
}

/// A server as its own arguments describe it.
pub(super) fn server_of(engine: Option<Engine>, asked: &ServerArguments) -> Server {
    let places = asked.tablespace.iter();
    let settings = asked.setting.iter();
    Server {
        engine,
        data: asked.data.clone(),
        log: asked.log.clone(),
        tablespaces: places.map(|(name, place)| (name.clone(), PathBuf::from(place))).collect(),
        memory: asked.memory,
        cpus: asked.cpus,
        cpu_set: asked.cpu_set.clone(),
        read_iops: asked.read_iops,
        write_iops: asked.write_iops,
        read_rate: asked.read_rate,
        write_rate: asked.write_rate,
        settings: settings.map(|(name, value)| (name.clone(), Value::String(value.clone()))).collect(),
        ..Server::default()
    }
}

/// A target of databases on a server that is started: one of each name, or with several servers one on each.
///
/// # Errors
/// Several names and several servers.
pub(super) fn started(server: Server, names: Option<&str>) -> Result<Target, Failure> {
    let names: Vec<&str> = names.map(|names| names.split(',').collect()).unwrap_or_default();
    let count = server.instances.filter(|&instances| instances > 1);
    if let (Some(count), [_, _, ..]) = (count, names.as_slice()) {
        return Err(Failure::usage(anyhow!(
            "--database {} names {} databases, but with --instances {count} there is only one on each server. Give one name; prony \
            appends the server's number",
            names.join(","),
            names.len()
        )));
    }
    let one = |name: Option<&str>| {
        let mut database = Database::default().named(name);
        (database.at, database.count) = (Some(At::Named(NAME.to_owned())), count);
        database
    };
    let databases = match names.as_slice() {
        [] => vec![one(None)],
        names => names.iter().copied().map(Some).map(one).collect(),
    };
    let mut target = Target::of_databases(databases);
    target.server.insert(NAME.to_owned(), server);
    Ok(target)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A page of ours shows several faults with a comma between them, and the option took one.
    #[test]
    fn faults_are_separated_by_commas_or_given_one_by_one() {
        let read = |texts: &[&str]| {
            let given: Vec<Faults> = texts.iter().map(|text| text.parse().unwrap()).collect();
            faults(&given).map(|all| all.to_string())
        };
        let both = Some("freeze-receiver for 3s at 20s, promote at 22s".to_owned());
        assert_eq!(read(&["freeze-receiver for 3s at 20s, promote at 22s"]), both);
        assert_eq!(read(&["freeze-receiver for 3s at 20s", "promote at 22s"]), both);
        assert_eq!(read(&[]), None);
    }
}
