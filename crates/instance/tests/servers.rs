//! Real servers: started, killed, started again, and gone without a trace.
#![expect(clippy::unwrap_used, reason = "a helper of a test fails as the test does")]

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;
use std::process::Command;

use instance::{Engine, Instance, InstanceError, Known, Limits, MariaDb, Options, Postgres, Standing};

/// First bytes that the server on `port` says: to PostgreSQL a client speaks first (protocol 3.0, user `prony`).
fn answer(port: u16, greeting: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    stream.write_all(greeting)?;
    let mut bytes = [0; 256];
    let count = stream.read(&mut bytes)?;
    Ok(bytes[..count].to_vec())
}

const POSTGRES_GREETING: &[u8] = b"\0\0\0\x14\0\x03\0\0user\0prony\0\0";

fn postgres_asks_for_scram(port: u16) {
    let answer = answer(port, POSTGRES_GREETING).unwrap();
    assert_eq!(answer[0], b'R', "{answer:?}");
    assert!(answer.windows(13).any(|word| word == b"SCRAM-SHA-256"), "{answer:?}");
}

fn mariadb_greets(port: u16) {
    let answer = answer(port, b"").unwrap();
    assert_eq!(answer[4], 10, "protocol version: {answer:?}");
    assert!(answer.windows(7).any(|word| word == b"MariaDB"), "{answer:?}");
}

/// The processes of a cluster: its command lines name its directory.
fn processes_of(directory: &Path) -> usize {
    let wanted = directory.to_str().unwrap();
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines.filter(|line| String::from_utf8_lossy(line).contains(wanted)).count()
}

#[test]
fn postgres_is_reached_killed_started_again_and_leaves_no_trace() {
    let mut server = Postgres::start(&Options::default()).unwrap();
    let (data, port) = (server.data_directory(), server.port());
    assert_eq!(server.url(), format!("postgres://prony:secret@127.0.0.1:{port}/postgres"));
    postgres_asks_for_scram(port);
    let pid = server.pid().unwrap();
    assert!(
        matches!(server.start_again(), Err(InstanceError::Running { pid: running, .. }) if running == pid)
    );

    server.kill().unwrap();
    assert_eq!((server.pid(), processes_of(&data)), (None, 0));
    assert!(answer(port, POSTGRES_GREETING).is_err());
    server.kill().unwrap();

    server.start_again().unwrap();
    assert_eq!(server.port(), port);
    assert_ne!(server.pid(), Some(pid));
    postgres_asks_for_scram(port);

    server.stop().unwrap();
    assert_eq!(server.pid(), None);
    assert!(!data.join("postmaster.pid").exists(), "it was not stopped in order");
    server.start_again().unwrap();
    drop(server);
    assert!(!data.parent().unwrap().exists());
    assert_eq!(processes_of(&data), 0);
}

#[test]
fn mariadb_is_reached_killed_started_again_and_leaves_no_trace() {
    let mut server = MariaDb::start(&Options::default()).unwrap();
    let (data, port) = (server.data_directory(), server.port());
    assert_eq!(server.url(), format!("mysql://prony:secret@127.0.0.1:{port}/mysql"));
    mariadb_greets(port);
    let pid = server.pid().unwrap();
    assert!(
        matches!(server.start_again(), Err(InstanceError::Running { pid: running, .. }) if running == pid)
    );

    server.kill().unwrap();
    assert_eq!((server.pid(), processes_of(&data)), (None, 0));
    assert!(answer(port, b"").is_err());

    server.start_again().unwrap();
    assert_eq!(server.port(), port);
    mariadb_greets(port);

    server.stop().unwrap();
    assert_eq!(server.pid(), None);
    server.start_again().unwrap();
    mariadb_greets(port);
    drop(server);
    assert!(!data.parent().unwrap().exists());
    assert_eq!(processes_of(&data), 0);
}

#[test]
fn two_servers_stand_side_by_side_in_a_directory_of_choice() {
    let parent = tempfile::tempdir().unwrap();
    open_to_all(parent.path());
    let options = Options::default().parent_directory(parent.path());
    let (first, second) = (MariaDb::start(&options).unwrap(), MariaDb::start(&options).unwrap());
    assert_ne!(first.port(), second.port());
    for server in [&first, &second] {
        assert!(server.data_directory().starts_with(parent.path()));
        mariadb_greets(server.port());
    }
    drop((first, second));
    assert_eq!(std::fs::read_dir(parent.path()).unwrap().count(), 0);
}

#[test]
fn postgres_runs_with_the_settings_that_it_was_given_and_its_own_durability() {
    let server = Postgres::start(&Options::default().setting("max_connections", "17")).unwrap();
    let value = |name: &str| postgres_setting(&server, name);
    assert_eq!(value("max_connections"), "17");
    for name in ["fsync", "full_page_writes", "synchronous_commit"] {
        assert_eq!(value(name), "on", "{name}");
    }
}

#[test]
fn a_setting_that_a_server_does_not_know_is_told_with_its_log() {
    let options = Options::default().setting("no_such_setting", "1");
    for (server, error) in [
        ("postgres", Postgres::start(&options).unwrap_err().to_string()),
        ("mariadbd", MariaDb::start(&options).unwrap_err().to_string()),
    ] {
        assert!(error.starts_with(server), "{error}");
        assert!(error.contains("no_such_setting") || error.contains("no-such-setting"), "{error}");
    }
}

#[test]
fn a_parent_directory_that_is_not_there_or_too_deep_is_named() {
    let parent = tempfile::tempdir().unwrap();
    let error =
        |path: &Path| Postgres::start(&Options::default().parent_directory(path)).unwrap_err().to_string();
    let missing = parent.path().join("missing");
    assert!(error(&missing).contains(missing.to_str().unwrap()), "{}", error(&missing));
    let deep = parent.path().join("d".repeat(90));
    std::fs::create_dir(&deep).unwrap();
    assert!(error(&deep).contains("too long for a server's socket"), "{}", error(&deep));
}

/// By the client that PostgreSQL brings, as the user whom the address names.
/// A user who may make no groups is told so, and gets no server without its limits.
fn limited<S>(started: Result<S, InstanceError>) -> Option<S> {
    match started {
        Ok(server) => Some(server),
        Err(InstanceError::Limit(error)) if !rustix::process::geteuid().is_root() => {
            assert!(error.to_string().contains("cannot be limited"), "{error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_server_runs_within_its_limits_also_when_it_is_started_again() {
    let limits = Limits { memory_bytes: Some(512 << 20), cpus: Some(1.0), ..Limits::default() };
    let options = Options::default().setting("shared_buffers", "32MB").limits(limits.clone());
    let Some(mut postgres) = limited(Postgres::start(&options)) else { return };
    let pid = postgres.pid().unwrap();
    let group = postgres.group().unwrap();
    assert_eq!(group.limits(), &limits);
    let inside = group.processes().unwrap();
    assert!(inside.contains(&pid) && inside.len() > 3, "its children are in it too: {inside:?}");
    let usage = group.usage().unwrap();
    assert!(usage.cpu > std::time::Duration::ZERO && usage.memory_bytes > 1 << 20, "{usage:?}");
    postgres.kill().unwrap();
    assert!(postgres.group().unwrap().processes().unwrap().is_empty());
    postgres.start_again().unwrap();
    let pid = postgres.pid().unwrap();
    assert!(postgres.group().unwrap().processes().unwrap().contains(&pid));
    let place = std::fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap();
    let name = format!("prony-{}-", std::process::id());
    assert!(place.contains(&name), "{place}");
    drop(postgres);
    let mounts = std::fs::read_dir("/sys/fs/cgroup").unwrap().flatten();
    let left = mounts.filter_map(|mount| std::fs::read_dir(mount.path()).ok()).flatten().flatten();
    let left: Vec<_> = left.filter(|one| one.file_name().to_string_lossy().starts_with(&name)).collect();
    assert!(left.is_empty(), "{left:?}");

    let options = Options::default().limits(Limits { memory_bytes: Some(1 << 30), ..Limits::default() });
    let Some(mut mariadb) = limited(MariaDb::start(&options)) else { return };
    let pid = mariadb.pid().unwrap();
    assert!(mariadb.group().unwrap().processes().unwrap().contains(&pid));
}

fn postgres_setting(server: &Postgres, name: &str) -> String {
    let mut psql = Command::new("psql");
    psql.args(["--no-psqlrc", "--tuples-only", "--no-align", "--command", &format!("SHOW {name}")]);
    let output = psql.arg(server.url()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// So that the user of the servers may pass through it.
fn open_to_all(directory: &Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(directory, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// What a killed program leaves is known and can be removed; what lives on does, until it is removed by its name.
#[test]
fn a_server_that_lives_on_is_found_by_its_name_and_removed_with_all_that_it_has() {
    let place = tempfile::tempdir().unwrap();
    std::fs::set_permissions(place.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let name = format!("test-{}", std::process::id());
    for (engine, scheme) in [(Engine::Postgres, "postgres"), (Engine::MariaDb, "mysql")] {
        let options = Options::default().parent_directory(place.path()).log_parent(place.path());
        let options = options.registered(&name, true);
        let instance = Instance::start(engine, &options).unwrap();
        let again = Instance::start(engine, &options).unwrap_err().to_string();
        assert!(again.starts_with(&format!("there is a server called {name} already")), "{again}");
        instance.leave();
        let known = Known::all().unwrap().into_iter().find(|known| known.name == name).unwrap();
        assert_eq!(known.standing(), Standing::Running);
        assert!(known.url.starts_with(scheme) && known.pid().is_some());
        assert!(!known.log_text().unwrap().is_empty());
        assert!(known.home().unwrap().starts_with(place.path()));
        let port: u16 = known.url.rsplit(':').next().unwrap().split('/').next().unwrap().parse().unwrap();
        let greeting = if engine == Engine::Postgres { POSTGRES_GREETING } else { b"".as_slice() };
        assert!(answer(port, greeting).is_ok());

        known.remove().unwrap();
        assert_eq!((known.pid(), known.standing()), (None, Standing::Stopped));
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
        assert!(Known::all().unwrap().iter().all(|known| known.name != name));
    }
}

#[test]
fn a_server_that_is_held_is_left_to_its_program_and_one_without_a_name_is_refused() {
    let name = format!("held-{}", std::process::id());
    let instance = Instance::start(Engine::Postgres, &Options::default().registered(&name, false)).unwrap();
    let known = Known::all().unwrap().into_iter().find(|known| known.name == name).unwrap();
    assert_eq!(known.standing(), Standing::Held(std::process::id()));
    let refused = known.remove().unwrap_err().to_string();
    assert!(refused.starts_with(&format!("{name} belongs to a running prony, process")), "{refused}");
    let home = known.home().unwrap().to_owned();
    drop(instance);
    assert!(!home.exists() && Known::all().unwrap().iter().all(|known| known.name != name));

    let error = Instance::start(Engine::Postgres, &Options::default().registered("../a", false)).unwrap_err();
    assert!(error.to_string().starts_with("`../a` cannot be the name of a server"), "{error}");
}

/// Shared memory of a server's processes, as they map it.
fn shared_memory_of(home: &Path) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let stands = |entry: &std::fs::DirEntry| {
        std::fs::read_link(entry.path().join("cwd")).is_ok_and(|place| place.starts_with(home))
    };
    let maps =
        entries.filter(stands).filter_map(|entry| std::fs::read_to_string(entry.path().join("maps")).ok());
    let mut files: Vec<String> = maps
        .flat_map(|maps| {
            maps.lines()
                .filter_map(|line| Some(line[line.find("/dev/shm/")?..].to_owned()))
                .collect::<Vec<_>>()
        })
        .collect();
    files.sort();
    files.dedup();
    files
}

/// Ends all processes that stand in a directory as the kernel does with a program that is killed: nobody of them can remove anything.
fn kill_at_once(home: &Path) {
    let stand = |entry: &std::fs::DirEntry| {
        std::fs::read_link(entry.path().join("cwd")).is_ok_and(|place| place.starts_with(home))
    };
    let pids = || {
        let entries = std::fs::read_dir("/proc").unwrap().flatten();
        entries.filter(stand).map(|entry| entry.file_name().into_string().unwrap()).collect::<Vec<String>>()
    };
    // Stopped first: the first process would make everything anew once another is gone.
    for signal in ["-STOP", "-KILL"] {
        assert!(Command::new("kill").arg(signal).args(pids()).status().unwrap().success());
    }
    while !pids().is_empty() {
        std::thread::yield_now();
    }
}

/// A prony was killed with its server, and up to a megabyte of shared memory stayed that nobody knew any more.
#[test]
fn shared_memory_of_a_postgres_that_was_killed_at_once_is_removed_with_what_is_known_of_it() {
    let place = tempfile::tempdir().unwrap();
    open_to_all(place.path());
    let name = format!("killed-{}", std::process::id());
    let options = Options::default().parent_directory(place.path()).registered(&name, true);
    Instance::start(Engine::Postgres, &options).unwrap().leave();
    let known = Known::all().unwrap().into_iter().find(|known| known.name == name).unwrap();
    let files = shared_memory_of(known.home().unwrap());
    assert!(!files.is_empty(), "a PostgreSQL has shared memory in files");
    kill_at_once(known.home().unwrap());
    assert!(files.iter().any(|file| Path::new(file).exists()), "a killed one leaves it");
    known.remove().unwrap();
    let left: Vec<&String> = files.iter().filter(|file| Path::new(file).exists()).collect();
    assert!(left.is_empty(), "{left:?}");
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
    known.remove().unwrap();
}
