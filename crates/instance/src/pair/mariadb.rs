//! What pairs of MariaDB have in common: their empty data, how their servers are started and what they are asked.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::ask::{LOOK_WITHIN, MariaDbClient};
use super::ground::{Ground, Seat};
use crate::mariadb::{bootstrap_args, statements_of_empty};
use crate::mysqld::{argument, is_greeted};
use crate::process::command;
use crate::server::{PASSWORD, STARTS_WITHIN, STOPS_WITHIN, USER};
use crate::{InstanceError, program};

const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// The server and its client.
#[derive(Clone, Debug)]
pub(crate) struct Programs {
    server: PathBuf,
    client: MariaDbClient,
}

impl Programs {
    pub(crate) fn find() -> Result<Self, InstanceError> {
        Ok(Self { server: program::mariadbd()?, client: MariaDbClient { program: program::mariadb()? } })
    }

    /// Makes an empty database of a node's empty directory.
    pub(crate) fn make_empty(&self, ground: &Ground, seat: &Seat) -> Result<(), InstanceError> {
        let path = ground.home.path().join("bootstrap.sql");
        if !path.is_file() {
            ground.home.write("bootstrap.sql", &statements_of_empty()?)?;
        }
        let input = std::fs::File::open(&path).map_err(InstanceError::file("open", path))?;
        let mut bootstrap = command(&self.server, ground.home.user(), None)?;
        bootstrap_args(&mut bootstrap, &seat.place, &seat.data());
        ground.prepare_from(seat, "mariadbd --bootstrap", bootstrap, input)
    }

    /// Starts a node's server with options of its kind of pair, before those of a user. It may not answer yet.
    pub(crate) fn start(
        &self,
        ground: &mut Ground,
        number: usize,
        own: &[OsString],
    ) -> Result<(), InstanceError> {
        let server = self.command(ground, &ground.nodes[number], own)?;
        ground.nodes[number].start("mariadbd", server)
    }

    /// How it is started.
    pub(crate) fn command(
        &self,
        ground: &Ground,
        seat: &Seat,
        own: &[OsString],
    ) -> Result<Command, InstanceError> {
        let mut server = ground.command(seat, &self.server)?;
        server.arg("--no-defaults").args(own);
        server.args(ground.options.node().settings().map(|(name, value)| format!("--{name}={value}")));
        server.arg(format!("--bind-address={}", seat.listens_at()));
        server.args(["--skip-name-resolve", &format!("--port={}", seat.port)]);
        let place = &seat.place;
        for (name, path) in [
            ("datadir", seat.data()),
            ("socket", socket(seat)),
            ("tmpdir", place.clone()),
            ("pid-file", place.join("pid")),
        ] {
            server.arg(argument(name, &path));
        }
        Ok(server)
    }

    /// Waits until a node's server greets whoever connects.
    pub(crate) fn await_greeting(&self, ground: &mut Ground, number: usize) -> Result<(), InstanceError> {
        let (socket, mut connection) = (socket(&ground.nodes[number]), None);
        let deadline = Instant::now() + STARTS_WITHIN;
        while !is_greeted(&socket, &mut connection) {
            ground.refuse_if_ended_at(number, "mariadbd")?;
            if Instant::now() > deadline {
                return Err(ground.not_reached(
                    "ready",
                    STARTS_WITHIN,
                    "a server does not answer".to_owned(),
                ));
            }
            std::thread::sleep(LOOK_AGAIN);
        }
        Ok(())
    }

    pub(crate) fn ask(&self, seat: &Seat, statement: &str, limit: Duration) -> Result<String, InstanceError> {
        self.client.ask((seat.name, &socket(seat)), statement, limit)
    }

    /// What it says of itself in one long row, each column in a line after its name.
    pub(crate) fn ask_of_row(&self, seat: &Seat, statement: &str) -> Result<String, InstanceError> {
        self.client.ask_of_row((seat.name, &socket(seat)), statement, LOOK_WITHIN)
    }

    /// Values of status or settings whose names are like a pattern, by their names in small letters.
    pub(crate) fn values(
        &self,
        seat: &Seat,
        what: &str,
        pattern: &str,
    ) -> Result<Vec<(String, String)>, InstanceError> {
        let told = self.ask(seat, &format!("SHOW GLOBAL {what} LIKE '{pattern}'"), LOOK_WITHIN)?;
        let pairs = told.lines().filter_map(|line| line.split_once('\t'));
        Ok(pairs.map(|(name, value)| (name.to_lowercase(), value.to_owned())).collect())
    }
}

fn socket(seat: &Seat) -> PathBuf {
    seat.place.join("socket")
}

/// Address of all nodes, the first of which is taken as long as it takes writes.
pub(crate) fn url_of(ground: &Ground) -> String {
    let hosts: Vec<String> = ground.nodes.iter().map(Seat::address).collect();
    format!("mysql://{USER}:{PASSWORD}@{}/mysql", hosts.join(","))
}

pub(crate) fn stop(seat: &mut Seat) -> Result<(), InstanceError> {
    seat.stop("mariadbd", Signal::TERM, STOPS_WITHIN)
}
