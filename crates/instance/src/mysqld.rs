//! How the servers of MariaDB and MySQL are started, which take the same options as far as these go.

use std::ffi::OsString;
use std::io::Read;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use crate::InstanceError;
use crate::server::{Server, url};

const GREETING_WAIT: Duration = Duration::from_millis(20);

/// Starts a server on its port and data, with options of its engine beside those of both, and waits until it answers.
pub(crate) fn run(server: &mut Server, program: &Path, own: &[OsString]) -> Result<(), InstanceError> {
    let mut command = server.command(program)?;
    let directory = &server.directory;
    let socket = directory.path().join("socket");
    command.arg("--no-defaults").args(redo_log(directory.placement.log())).args(own);
    for (name, value) in server.options.settings() {
        match directory.placement.log().filter(|_| matches!(name, "log_bin" | "log-bin")) {
            // A log of changes that is asked for is where the logs are.
            Some(log) => command.arg(argument("log-bin", &log.join("binary"))),
            None => command.arg(format!("--{name}={value}")),
        };
    }
    command.args(["--bind-address=127.0.0.1", "--skip-name-resolve", &format!("--port={}", server.port)]);
    for (name, path) in [
        ("datadir", directory.data()),
        ("socket", socket.clone()),
        ("tmpdir", directory.path().to_owned()),
        ("pid-file", directory.path().join("pid")),
    ] {
        command.arg(argument(name, &path));
    }
    command.stdin(Stdio::null());
    let mut connection = None;
    let url = url("mysql", server.port, "mysql");
    server.run(command, &url, |_| is_greeted(&socket, &mut connection))
}

/// Whether the server greets whoever connects. It listens before it recovers and greets afterwards, so that one
/// connection waits for both. The socket is asked and not the port, which another server may have taken.
pub(crate) fn is_greeted(socket: &Path, connection: &mut Option<UnixStream>) -> bool {
    if connection.is_none() {
        let connected = UnixStream::connect(socket)
            .and_then(|stream| stream.set_read_timeout(Some(GREETING_WAIT)).map(|()| stream));
        *connection = connected.ok();
    }
    let Some(stream) = connection else { return false };
    match stream.read(&mut [0; 256]) {
        Ok(0) => *connection = None,
        Ok(_) => return true,
        // Nothing yet.
        Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
        Err(_) => *connection = None,
    }
    false
}

/// Where the redo log is, if apart from the data.
pub(crate) fn redo_log(log: Option<&Path>) -> Option<OsString> {
    log.map(|log| argument("innodb-log-group-home-dir", log))
}

pub(crate) fn argument(name: &str, path: &Path) -> OsString {
    let mut argument = OsString::from(format!("--{name}="));
    argument.push(path);
    argument
}
