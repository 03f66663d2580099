//! Odd names of SQLite files, and things that others planted in their place or beside them.
//!
//! Whatever prony does with such an address, each planted thing has the same inode, mode and content afterwards.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use nix::sys::stat::{Mode, SFlag, mknod};

use super::lab::Lab;
use super::process;
use super::random::Random;
use super::tally::{Findings, Tally};
use super::things::Things;

/// A database that cannot be written is tried for a minute.
const LIMIT: Duration = Duration::from_secs(90);

/// What stands behind `sqlite:`.
const ADDRESSES: [&str; 20] = [
    "w.db",
    "./w.db",
    "file:w.db",
    "file:./w.db",
    "file:w.db?mode=memory",
    "file:w.db?mode=rwc",
    "w.db?mode=memory",
    "w%00.db",
    "%77.db",
    "a space.db",
    "a'quote.db",
    "\"quotes\".db",
    "-dash.db",
    "--replace",
    "w.db#part",
    "sub/../w.db",
    ":memory:",
    "größe.db",
    "w.db-wal",
    "*.db",
];

const ENDS: [&str; 4] = ["-wal", "-shm", "-journal", "-prony"];

/// Begins of what SQLite itself puts beside a database: log, index of it, journal.
const MAGIC: [&[u8]; 3] = [b"\x37\x7f\x06\x82", b"\x18\xe2\x2d\x00", b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"];

#[derive(Clone, Copy, Debug)]
enum Kind {
    Text,
    Magic,
    Empty,
    Database,
    Link,
    LinkToNothing,
    LinkToDatabase,
    HardLink,
    Fifo,
    Socket,
    Directory,
}

const KINDS: [Kind; 11] = [
    Kind::Text,
    Kind::Magic,
    Kind::Empty,
    Kind::Database,
    Kind::Link,
    Kind::LinkToNothing,
    Kind::LinkToDatabase,
    Kind::HardLink,
    Kind::Fifo,
    Kind::Socket,
    Kind::Directory,
];

const COMMANDS: [&str; 6] = [
    "historian --rate 100 --warm-up 0s --duration 200ms --screens 0",
    "historian --rate 100 --warm-up 0s --duration 200ms --screens 0 --replace",
    "historian --rate 100 --warm-up 0s --duration 200ms --screens 0 --reuse --keep",
    "orders load --size 1MB",
    "orders load --size 1MB --replace",
    "orders verify",
];

pub(super) fn run(lab: &Lab) -> Result<Tally> {
    let database = lab.place().join("database");
    make_database(&database)?;
    let mut tally = Tally::default();
    for number in 0..lab.cases() {
        let mut random = lab.random(number);
        let (case, found) = case(lab, &database, &mut random)?;
        tally.count(&format!("case {}: {case}", number + 1), found);
    }
    Ok(tally)
}

/// A database of the user's.
fn make_database(path: &Path) -> Result<()> {
    let sql = "CREATE TABLE samples(x); INSERT INTO samples VALUES('a year of data'); CREATE TABLE orders(x)";
    let status = Command::new("sqlite3").arg(path).arg(sql).stdin(Stdio::null()).status();
    let status = status.context("cannot start sqlite3; `apt-get install sqlite3` brings it")?;
    ensure!(status.success(), "sqlite3 ended with {status}");
    Ok(())
}

fn case(lab: &Lab, database: &Path, random: &mut Random) -> Result<(String, Findings)> {
    let place = lab.fresh("work")?;
    let users = place.join("users");
    for directory in [&users, &place.join("sub")] {
        fs::create_dir(directory)?;
    }
    fs::write(users.join("file"), "a year of data")?;
    fs::copy(database, users.join("w.db"))?;
    let address = *random.pick(&ADDRESSES);
    let told = plant_around(&place, address, database, random)?;
    let words = *random.pick(&COMMANDS);
    let before = Things::below(&place)?;
    let mut command = lab.prony(words, &place);
    command.arg("--target").arg(format!("sqlite:{address}"));
    let ended = process::run(command, LIMIT)?;
    let mut found = ended.faults();
    let harmed = before.harmed(&Things::below(&place)?);
    if !harmed.is_empty() {
        found.extend(harmed);
        found.add(ended.shown());
    }
    Ok((format!("`{words} --target 'sqlite:{address}'`, planted: {}", told.join(", ")), found))
}

/// Plants things under the address' own name and under that which a reader of URIs may see in it, and beside both.
fn plant_around(place: &Path, address: &str, database: &Path, random: &mut Random) -> Result<Vec<String>> {
    let mut told = Vec::new();
    let plain = "w.db";
    let names: &[&str] = if address == plain { &[plain] } else { &[plain, address] };
    for name in names {
        for end in [""].into_iter().chain(ENDS) {
            let path = place.join(format!("{name}{end}"));
            // The database itself is mostly left to prony, or no companion would ever matter.
            let is_wanted = if end.is_empty() { random.one_in(3) } else { random.one_in(4) };
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            // One of the names may be the other one with an end.
            if is_wanted && fs::symlink_metadata(&path).is_err() {
                let kind = *random.pick(&KINDS);
                plant(kind, &path, &place.join("users"), database, random)
                    .with_context(|| format!("cannot plant {kind:?} at {}", path.display()))?;
                told.push(format!("{kind:?} {name}{end}"));
            }
        }
    }
    Ok(told)
}

fn plant(kind: Kind, path: &Path, users: &Path, database: &Path, random: &mut Random) -> Result<()> {
    let link = |to: PathBuf| std::os::unix::fs::symlink(to, path);
    match kind {
        Kind::Text => fs::write(path, "a year of data")?,
        Kind::Magic => fs::write(path, [random.pick(&MAGIC), &b" a year of data".repeat(40)[..]].concat())?,
        Kind::Empty => fs::write(path, "")?,
        Kind::Database => drop(fs::copy(database, path)?),
        Kind::Link => link(users.join("file"))?,
        Kind::LinkToNothing => link(users.join("nothing"))?,
        Kind::LinkToDatabase => link(users.join("w.db"))?,
        Kind::HardLink => fs::hard_link(users.join("file"), path)?,
        Kind::Fifo => mknod(path, SFlag::S_IFIFO, Mode::S_IRUSR | Mode::S_IWUSR, 0)?,
        Kind::Socket => mknod(path, SFlag::S_IFSOCK, Mode::S_IRUSR | Mode::S_IWUSR, 0)?,
        Kind::Directory => fs::create_dir(path)?,
    }
    Ok(())
}
