//! A throwaway ClickHouse, for tests.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use rustix::process::Signal;

use crate::server::{PASSWORD, Server, USER, url};
use crate::user::User;
use crate::{InstanceError, Options, program};

/// How long an answer to a look is waited for.
const ANSWER_WAIT: Duration = Duration::from_secs(1);

/// A ClickHouse of its own. It is killed and its directory removed when this is dropped.
#[derive(Debug)]
pub struct ClickHouse {
    server: Server,
    program: PathBuf,
    /// Its configuration, but for the port.
    users: PathBuf,
}

impl ClickHouse {
    /// Starts a server on an empty directory and waits until it answers; takes about 1 s. Settings are of its tables of the MergeTree kind.
    ///
    /// # Errors
    /// ClickHouse or `setpriv` is not installed, the directory cannot be made, or the server does not start: then the end of its log is
    /// in the error.
    pub fn start(options: &Options) -> Result<Self, InstanceError> {
        if let Some(name) = options.tablespaces().keys().next() {
            return Err(InstanceError::NoTablespaces { engine: "ClickHouse", name: name.clone() });
        }
        let user = User::unprivileged("clickhouse")?;
        let server = Server::make(("clickhouse-server", "clickhouse"), options, user)?;
        let users = server.directory.write("users.xml", &users())?;
        let mut clickhouse = Self { server, program: program::clickhouse_server()?, users };
        clickhouse.server.limit()?;
        let (program, users) = (&clickhouse.program, &clickhouse.users);
        clickhouse.server.start_on_free_port(|server| run(server, program, users))?;
        Ok(clickhouse)
    }

    /// Where clients connect to, with a user who may do everything: `clickhouse://prony:secret@127.0.0.1:PORT/default`.
    #[must_use]
    pub fn url(&self) -> String {
        url("clickhouse", self.server.port, "default")
    }

    /// The server's process, or `None` while it does not run.
    pub fn pid(&mut self) -> Option<u32> {
        self.server.pid()
    }

    /// Ends the server at once. What it had given to the operating system to write survives, unlike in a power cut. No error if it does
    /// not run.
    ///
    /// # Errors
    /// The process cannot be waited for.
    pub fn kill(&mut self) -> Result<(), InstanceError> {
        self.server.end_process()
    }

    /// Stops the server in order. No error if it does not run.
    ///
    /// # Errors
    /// It is not down after 10 minutes.
    pub fn stop(&mut self) -> Result<(), InstanceError> {
        self.server.stop(Signal::TERM)
    }

    /// Starts the server again after [`Self::kill`] or [`Self::stop`], on the same port and data, and waits until it answers.
    ///
    /// # Errors
    /// It runs, or it does not start: then the end of its log is in the error.
    pub fn start_again(&mut self) -> Result<(), InstanceError> {
        run(&mut self.server, &self.program, &self.users)
    }
}

fn run(server: &mut Server, program: &Path, users: &Path) -> Result<(), InstanceError> {
    let name = format!("config-{}.xml", server.port);
    let path = server.directory.path().join(&name);
    if !path.is_file() {
        server.directory.write(&name, &configuration(server, users))?;
    }
    let mut command = server.command(program)?;
    command.arg(format!("--config-file={}", path.display())).stdin(Stdio::null());
    // It writes what it works with beside its configuration.
    command.current_dir(server.directory.path());
    let port = server.port;
    let url = url("clickhouse", port, "default");
    server.run(command, &url, |_| answers(port))
}

/// Only the HTTP interface listens, and nothing is logged but errors.
fn configuration(server: &Server, users: &Path) -> String {
    let place = server.directory.data();
    let place = place.display();
    let mut tables = String::new();
    for (name, value) in server.options.settings() {
        let _ = write!(tables, "<{name}>{value}</{name}>");
    }
    // The root element was called so before 20, and may still be.
    format!(
        "<yandex><logger><level>error</level><console>1</console></logger><listen_host>127.0.0.1</listen_host>\
         <http_port>{}</http_port><path>{place}/</path><tmp_path>{place}/tmp/</tmp_path>\
         <user_files_path>{place}/user_files/</user_files_path><format_schema_path>{place}/format_schemas/</format_schema_path>\
         <mark_cache_size>67108864</mark_cache_size><users_config>{}</users_config><default_profile>default</default_profile>\
         <default_database>default</default_database><timezone>UTC</timezone><merge_tree>{tables}</merge_tree></yandex>\n",
        server.port,
        users.display()
    )
}

/// One user, who may do everything and logs in from this machine.
fn users() -> String {
    format!(
        "<yandex><profiles><default/></profiles><quotas><default/></quotas><users><{USER}><password>{PASSWORD}</password>\
         <networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></{USER}></users></yandex>\n"
    )
}

/// Whether it answers as ClickHouse does: <https://clickhouse.com/docs/interfaces/http>.
fn answers(port: u16) -> bool {
    let place = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let asked = || -> std::io::Result<String> {
        let mut stream = TcpStream::connect_timeout(&place, ANSWER_WAIT)?;
        stream.set_read_timeout(Some(ANSWER_WAIT))?;
        stream.write_all(b"GET /ping HTTP/1.0\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    };
    asked().is_ok_and(|answer| answer.ends_with("Ok.\n"))
}
