//! `prony instance`: servers for hand work, and those that a killed prony left.

use std::os::unix::process::CommandExt as _;

use anyhow::{Context as _, anyhow};
use instance::{Known, Standing};
use jiff::Timestamp;
use record::Lines;
use serde_json::{Value, json};

use crate::arguments::{Instance, ListInstances, LogOfInstance, StartInstance};
use crate::exit::{Exit, Failure};
use crate::terminal;

pub(crate) fn run(instance: &Instance) -> Result<Exit, Failure> {
    match instance {
        Instance::Start(start) => self::start(start),
        Instance::List(list) => self::list(list),
        Instance::Stop(stop) => self::stop(&stop.name),
        Instance::Shell(shell) => self::shell(&shell.name),
        Instance::Log(log) => self::log(log),
    }
}

fn start(start: &StartInstance) -> Result<Exit, Failure> {
    let server = super::managed::server_of(Some(start.engine), &start.server);
    let wrong = server.impossible();
    if !wrong.is_empty() {
        let told = wrong.into_iter().map(|(key, problem)| format!("--{}: {problem}", key.replace('_', "-")));
        return Err(Failure::mistakes(told.collect()));
    }
    let started = runner::start_to_stay(&server, &start.name)?;
    let set: Vec<String> =
        started.chosen.iter().map(|setting| format!("{}={}", setting.name, setting.value)).collect();
    announce!("started {} with {}", start.name, set.join(", "));
    if let Some(by) = &started.limited_by {
        announce!("limits enforced by {by}");
    }
    announce!("server {0} keeps running. To stop and delete it: prony instance stop {0}", start.name);
    // The password is that of a server which only this machine reaches, and is needed.
    terminal::print(&Lines::of(&(started.url + "\n")))?;
    Ok(Exit::Pass)
}

fn list(list: &ListInstances) -> Result<Exit, Failure> {
    let all = Known::all().map_err(Failure::runtime)?;
    if list.json {
        let all: Vec<Value> = all.iter().map(document).collect();
        let text = serde_json::to_string_pretty(&json!({ "instances": all })).map_err(Failure::runtime)?;
        terminal::print_json(&(text + "\n"))?;
    } else if all.is_empty() {
        tell!("prony has no servers here");
    } else {
        terminal::print(&Lines::each(all.iter().flat_map(entry)))?;
    }
    Ok(Exit::Pass)
}

fn told(standing: Standing) -> String {
    match standing {
        Standing::Running => "running".to_owned(),
        Standing::Held(pid) => format!("running until prony process {pid} ends"),
        Standing::Stopped => "not running".to_owned(),
        Standing::Left => "left behind by a prony that was killed".to_owned(),
    }
}

fn made(known: &Known) -> String {
    let at = i64::try_from(known.made_s).ok().and_then(|seconds| Timestamp::from_second(seconds).ok());
    at.map(|at| at.to_string()).unwrap_or_default()
}

/// Name, what it is, how it stands; where it is.
fn entry(known: &Known) -> Vec<String> {
    let home = known.home().map(|home| home.display().to_string()).unwrap_or_default();
    vec![
        format!("{}  {}  {}  {}", known.name, known.engine, made(known), told(known.standing())),
        format!("    {}", if known.url.is_empty() { "not started yet" } else { &known.url }),
        format!("    {home}"),
    ]
}

fn document(known: &Known) -> Value {
    let standing = match known.standing() {
        Standing::Running => "running",
        Standing::Held(_) => "held",
        Standing::Stopped => "stopped",
        Standing::Left => "left",
    };
    json!({
        "name": known.name,
        "engine": known.engine,
        "made": made(known),
        "standing": standing,
        "pid": known.pid(),
        "url": known.url,
        "home": known.home().map(|home| home.display().to_string()),
        "log": known.log.display().to_string(),
    })
}

/// The one of that name.
fn named(name: &str) -> Result<Known, Failure> {
    let all = Known::all().map_err(Failure::runtime)?;
    let names: Vec<String> = all.iter().map(|known| known.name.clone()).collect();
    let there_are = match names.as_slice() {
        [] => "there are none".to_owned(),
        names => format!("servers: {}", names.join(", ")),
    };
    all.into_iter()
        .find(|known| known.name == name)
        .ok_or_else(|| Failure::usage(anyhow!("no server named {name} ({there_are})")))
}

fn stop(name: &str) -> Result<Exit, Failure> {
    let known = named(name)?;
    known.remove().map_err(Failure::runtime)?;
    announce!("deleted server {name} and its data");
    Ok(Exit::Pass)
}

fn log(log: &LogOfInstance) -> Result<Exit, Failure> {
    let text = named(&log.name)?.log_text().map_err(Failure::runtime)?;
    let lines: Vec<&str> = text.lines().collect();
    let last = &lines[lines.len().saturating_sub(log.lines)..];
    terminal::print(&Lines::each(last.iter().map(|line| (*line).to_owned())))?;
    Ok(Exit::Pass)
}

/// Becomes the client, which has the terminal to itself.
fn shell(name: &str) -> Result<Exit, Failure> {
    let known = named(name)?;
    if known.pid().is_none() {
        return Err(Failure::runtime(anyhow!(
            "server {name} is not running. See its log: prony instance log {name}"
        )));
    }
    let parts =
        address_parts(&known.url).ok_or_else(|| Failure::runtime(anyhow!("server {name} has no address")))?;
    let (client, mut command) = client(&known.engine, &parts);
    let error = command.exec();
    let package = match known.engine.as_str() {
        "postgres" => "postgresql-client",
        "mysql" => "mysql-client",
        _ => "mariadb-client",
    };
    Err(error)
        .with_context(|| format!("cannot start {client} (to install it: apt-get install {package})"))
        .map_err(Failure::runtime)
}

/// User, password, host, port and database of `scheme://user:password@host:port/database`.
fn address_parts(url: &str) -> Option<[&str; 5]> {
    let (_, rest) = url.split_once("://")?;
    let (login, place) = rest.split_once('@')?;
    let (user, password) = login.split_once(':')?;
    let (host, database) = place.split_once('/')?;
    let (host, port) = host.split_once(':')?;
    Some([user, password, host, port, database])
}

/// The client of an engine with its name; the password is no argument, which every user of the machine could read.
fn client(
    engine: &str,
    [user, password, host, port, database]: &[&str; 5],
) -> (&'static str, std::process::Command) {
    let of_both = ["-h", host, "-P", port, "-u", user, "-D", database];
    let (client, secret, arguments) = match engine {
        "postgres" => ("psql", "PGPASSWORD", ["-h", host, "-p", port, "-U", user, "-d", database]),
        "mysql" => ("mysql", "MYSQL_PWD", of_both),
        _ => ("mariadb", "MYSQL_PWD", of_both),
    };
    let mut command = std::process::Command::new(client);
    command.args(arguments).env(secret, password);
    (client, command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_gets_the_address_and_no_password_as_an_argument() {
        let parts = address_parts("postgres://prony:secret@127.0.0.1:20001/postgres").unwrap();
        let (name, command) = client("postgres", &parts);
        let arguments: Vec<_> = command.get_args().map(|word| word.to_string_lossy().into_owned()).collect();
        assert_eq!(
            (name, arguments.join(" ").as_str()),
            ("psql", "-h 127.0.0.1 -p 20001 -U prony -d postgres")
        );
        let (name, command) = client("mariadb", &parts);
        assert!(name == "mariadb" && command.get_args().all(|word| word != "secret"));
        assert!(command.get_envs().any(|(key, _)| key == "MYSQL_PWD"));
        assert_eq!(address_parts("postgres://nobody"), None);
    }
}
