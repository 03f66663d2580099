//! Files of our own and of others.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use tempfile::TempDir;

use super::{Lease, check_name};
use crate::samples::{SAMPLES, claim, make_sql, plain_rows};
use crate::{Claim, Dialect, Error, Existing, Held, Own, RunId, Session, Url, WriteMethod};

const ALL: [Existing; 3] = [Existing::Refuse, Existing::Reuse, Existing::Replace];

struct Place {
    directory: TempDir,
}

impl Place {
    fn new() -> Self {
        Self { directory: TempDir::new().unwrap() }
    }

    fn file(&self) -> PathBuf {
        self.directory.path().join("a plant's %41?.db")
    }

    fn url(&self) -> Url {
        format!("sqlite:{}", self.file().display()).parse().unwrap()
    }

    fn beside(&self, end: &str) -> PathBuf {
        crate::sqlite::beside(&self.file(), end)
    }

    async fn make(&self, existing: Existing) -> Result<Own, Error> {
        Own::make(&self.url(), "unused", &claim(existing)).await
    }

    fn names(&self) -> Vec<String> {
        let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
        let mut names: Vec<String> = fs::read_dir(self.directory.path()).unwrap().map(name).collect();
        names.sort();
        names
    }
}

async fn fill(own: &Own) {
    let mut session = own.session().await.unwrap();
    session.script(&make_sql(Dialect::Sqlite)).await.unwrap();
    session.append(&SAMPLES, &mut plain_rows(7), WriteMethod::Bulk).await.unwrap();
}

#[tokio::test]
async fn a_removed_database_leaves_no_file() {
    for existing in ALL {
        let place = Place::new();
        let own = place.make(existing).await.unwrap();
        assert!(!own.was_there());
        fill(&own).await;
        own.remove().await.unwrap();
        assert_eq!(place.names(), [""; 0], "{existing:?}");
    }
}

#[tokio::test]
async fn a_kept_database_is_refused_reused_or_replaced() {
    let place = Place::new();
    let own = place.make(Existing::Refuse).await.unwrap();
    fill(&own).await;
    drop(own);
    assert_eq!(place.names(), ["a plant's %41?.db"], "the lock is gone");
    let refused = place.make(Existing::Refuse).await.unwrap_err();
    let text = refused.to_string();
    assert!(
        refused.is_usage()
            && text.contains("‹target.database.existing reuse›")
            && text.contains("target.database.existing replace")
            && text.contains("rm -f"),
        "{text}"
    );
    // Who chose neither the place nor what happens there is told of no parameter.
    let refused = place.make(Existing::Leftover).await.unwrap_err().to_string();
    assert!(!refused.contains("target.database") && refused.contains("delete it with: rm -f"), "{refused}");
    let own = place.make(Existing::Reuse).await.unwrap();
    assert!(own.was_there());
    let rows = own.session().await.unwrap().count_rows("SELECT * FROM samples", &[]).await;
    assert_eq!(rows, Ok(7));
    drop(own);
    let own = place.make(Existing::Replace).await.unwrap();
    assert!(!own.was_there());
    own.session().await.unwrap().count_rows("SELECT * FROM samples", &[]).await.unwrap_err();
}

#[tokio::test]
async fn what_is_in_use_is_left_alone() {
    let place = Place::new();
    let own = place.make(Existing::Refuse).await.unwrap();
    fill(&own).await;
    for existing in ALL {
        let refused = place.make(existing).await.unwrap_err();
        assert!(refused.to_string().contains("in use"), "{refused}");
    }
    // It was said to be an earlier run's, with ways to take it.
    let looked = crate::look(&place.url(), Existing::Refuse, None).unwrap_err().to_string();
    assert!(looked.contains("in use by another run"), "{looked}");
    assert_eq!(own.session().await.unwrap().count_rows("SELECT * FROM samples", &[]).await, Ok(7));
    let clone = own.clone();
    drop(own);
    place.make(Existing::Reuse).await.unwrap_err();
    drop(clone);
    place.make(Existing::Reuse).await.unwrap();
}

#[tokio::test]
async fn what_others_made_is_never_touched() {
    let foreign = {
        let place = Place::new();
        let database = rusqlite::Connection::open(place.file()).unwrap();
        database.execute_batch("PRAGMA journal_mode = wal; CREATE TABLE theirs (x)").unwrap();
        drop(database);
        fs::read(place.file()).unwrap()
    };
    for content in [foreign, b"a letter".to_vec(), Vec::new()] {
        for existing in ALL {
            let place = Place::new();
            fs::write(place.file(), &content).unwrap();
            let refused = place.make(existing).await.unwrap_err();
            assert!(refused.to_string().contains("not created by prony"), "{refused}");
            assert_eq!(fs::read(place.file()).unwrap(), content);
            assert_eq!(place.names().len(), 1);
        }
    }
}

/// What a full disk leaves: only a part of the WAL came into the file.
#[tokio::test]
async fn a_file_that_was_cut_short_is_still_ours() {
    let place = Place::new();
    let own = place.make(Existing::Refuse).await.unwrap();
    fill(&own).await;
    drop(own);
    let length = fs::metadata(place.file()).unwrap().len();
    fs::OpenOptions::new().write(true).open(place.file()).unwrap().set_len(length - 4096).unwrap();
    let refused = place.make(Existing::Refuse).await.unwrap_err().to_string();
    assert!(refused.contains("from an earlier run"), "{refused}");
    place.make(Existing::Replace).await.unwrap();
}

/// A killed run leaves its lock's file, which nobody holds.
#[tokio::test]
async fn a_lock_that_nobody_holds_is_no_lock() {
    let place = Place::new();
    let own = place.make(Existing::Refuse).await.unwrap();
    let lock = fs::read(place.beside("-prony")).unwrap();
    drop(own);
    fs::write(place.beside("-prony"), lock).unwrap();
    drop(place.make(Existing::Reuse).await.unwrap());
    assert_eq!(place.names().len(), 1);
}

/// A file of that name was taken for a lock and removed.
#[tokio::test]
async fn what_is_no_lock_is_left() {
    for content in ["", "a letter", "The lock of prony on the database beside it."] {
        let place = Place::new();
        fs::write(place.beside("-prony"), content).unwrap();
        for existing in ALL {
            let refused = place.make(existing).await.unwrap_err().to_string();
            assert!(refused.contains("is not a lock of prony"), "{refused}");
        }
        assert_eq!(fs::read_to_string(place.beside("-prony")).unwrap(), content);
        assert_eq!(place.names().len(), 1);
    }
}

/// The log of a database that was moved away holds what was committed; it was removed with the new database.
#[tokio::test]
async fn what_lies_beside_is_left() {
    for end in ["-wal", "-shm", "-journal"] {
        let place = Place::new();
        fs::write(place.beside(end), "committed").unwrap();
        for existing in ALL {
            let refused = place.make(existing).await.unwrap_err().to_string();
            assert!(refused.contains(end) && refused.contains("move it away"), "{refused}");
        }
        fs::remove_file(place.beside(end)).unwrap();
        drop(place.make(Existing::Refuse).await.unwrap());
        fs::write(place.beside(end), "committed").unwrap();
        for existing in ALL {
            let refused = place.make(existing).await.unwrap_err().to_string();
            assert!(refused.contains("which SQLite did not create for this database"), "{refused}");
        }
        assert_eq!(fs::read_to_string(place.beside(end)).unwrap(), "committed");
    }
}

/// A database whose run was killed has its log beside it.
#[tokio::test]
async fn the_log_of_a_database_of_ours_goes_with_it() {
    let place = Place::new();
    let own = place.make(Existing::Refuse).await.unwrap();
    fill(&own).await;
    let mut session = own.session().await.unwrap();
    session.append(&SAMPLES, &mut plain_rows(7), WriteMethod::Bulk).await.unwrap();
    let (log, index) = (fs::read(place.beside("-wal")).unwrap(), fs::read(place.beside("-shm")).unwrap());
    drop((session, own));
    fs::write(place.beside("-wal"), log).unwrap();
    fs::write(place.beside("-shm"), index).unwrap();
    place.make(Existing::Replace).await.unwrap().remove().await.unwrap();
    assert_eq!(place.names(), [""; 0]);
}

/// What was renamed over the database was removed at the end.
#[tokio::test]
async fn a_file_that_took_the_name_is_left() {
    let place = Place::new();
    let own = place.make(Existing::Refuse).await.unwrap();
    fill(&own).await;
    let theirs = place.directory.path().join("theirs");
    fs::write(&theirs, "theirs").unwrap();
    fs::rename(&theirs, place.file()).unwrap();
    assert!(matches!(own.is_held().await.unwrap(), Held::Lost(_)));
    for refused in [own.session().await, own.lease().session().await] {
        assert!(refused.unwrap_err().to_string().contains("another file has its name now"));
    }
    let left = own.remove().await.unwrap_err().to_string();
    assert!(left.contains("this run did not create it"), "{left}");
    assert_eq!(fs::read_to_string(place.file()).unwrap(), "theirs");
}

/// The lock's file says when it may be removed; another run then took the database up, and the first removed it at its end.
#[tokio::test]
async fn a_database_whose_lock_was_removed_is_left_to_whoever_took_it_up() {
    let place = Place::new();
    let own = place.make(Existing::Refuse).await.unwrap();
    fs::remove_file(place.beside("-prony")).unwrap();
    assert_eq!(own.is_held().await.unwrap(), Held::TakenAgain);
    fs::remove_file(place.beside("-prony")).unwrap();
    let other = place.make(Existing::Reuse).await.unwrap();
    assert!(matches!(own.is_held().await.unwrap(), Held::Lost(_)));
    let refused = own.lease().session().await.unwrap_err().to_string();
    assert!(refused.contains("another run is using it now"), "{refused}");
    other.lease().session().await.unwrap();
    drop(other);
    assert!(matches!(own.is_held().await.unwrap(), Held::Lost(_)), "kept by the other one");
    let left = own.remove().await.unwrap_err().to_string();
    assert!(left.contains("another run of prony reused it"), "{left}");
    assert!(place.file().exists());
}

#[tokio::test]
async fn what_another_run_made_or_took_up_is_left() {
    let place = Place::new();
    drop(place.make(Existing::Refuse).await.unwrap());
    let own = place.make(Existing::Reuse).await.unwrap();
    fill(&own).await;
    let left = own.remove().await.unwrap_err().to_string();
    assert!(left.contains("another run of prony reused it"), "{left}");
    let this = Claim::new(RunId::new().unwrap(), Existing::Refuse);
    let refused = Own::make(&place.url(), "unused", &this).await.unwrap_err().to_string();
    assert!(refused.contains("from an earlier run"), "{refused}");
    drop(place.make(Existing::Replace).await.unwrap());
    // A run that was interrupted takes what it made itself.
    fs::remove_file(place.file()).unwrap();
    drop(Own::make(&place.url(), "unused", &this).await.unwrap());
    assert!(!Own::make(&place.url(), "unused", &this).await.unwrap().was_there());
}

/// Who works in another process opens sessions by what was told over a pipe, in which the password is; it is in nothing that is
/// shown.
#[tokio::test]
async fn a_lease_travels_whole_and_is_shown_without_its_password() {
    let place = Place::new();
    let own = place.make(Existing::Refuse).await.unwrap();
    fill(&own).await;
    let told = serde_json::to_string(&own.lease()).unwrap();
    let lease: Lease = serde_json::from_str(&told).unwrap();
    assert_eq!(lease, own.lease());
    let rows = lease.session().await.unwrap().count_rows("SELECT * FROM samples", &[]).await;
    assert_eq!(rows, Ok(7));
    let url: Url = "postgres://ann:Hush77@h/x?sslmode=disable".parse().unwrap();
    let lease = Lease::new((&url, "x"), &RunId::new().unwrap(), None, false);
    let told = serde_json::to_string(&lease).unwrap();
    assert!(told.contains("Hush77") && !format!("{lease:?} {}", lease.url()).contains("Hush77"));
    assert_eq!(serde_json::from_str::<Lease>(&told).unwrap(), lease);
}

/// Nodes, sockets and links were unlinked, since their length is 0.
#[tokio::test]
async fn nothing_but_a_file_is_replaced() {
    type Plant = fn(&Path);
    let socket: Plant = |path| drop(std::os::unix::net::UnixListener::bind(path).unwrap());
    let pipe: Plant = |path| {
        rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0)
            .unwrap();
    };
    let dangling: Plant = |path| symlink("/no/such/file", path).unwrap();
    let device: Plant = |path| symlink("/dev/null", path).unwrap();
    let empty: Plant = |path| fs::write(path, "").unwrap();
    let directory: Plant = |path| fs::create_dir(path).unwrap();
    for plant in [socket, pipe, dangling, device, empty, directory] {
        let place = Place::new();
        plant(&place.file());
        let before = fs::symlink_metadata(place.file()).unwrap();
        for existing in ALL {
            place.make(existing).await.unwrap_err();
        }
        let after = fs::symlink_metadata(place.file()).unwrap();
        assert_eq!((before.ino(), before.mode(), before.len()), (after.ino(), after.mode(), after.len()));
        assert_eq!(place.names().len(), 1);
    }
}

#[tokio::test]
async fn a_database_behind_a_link_is_the_one_that_is_locked() {
    let place = Place::new();
    let link = place.directory.path().join("link.db");
    symlink(place.file(), &link).unwrap();
    let own = place.make(Existing::Refuse).await.unwrap();
    let url: Url = format!("sqlite:{}", link.display()).parse().unwrap();
    let refused = Own::make(&url, "unused", &claim(Existing::Reuse)).await.unwrap_err().to_string();
    assert!(refused.contains("in use"), "{refused}");
    drop(own);
    Own::make(&url, "unused", &claim(Existing::Replace)).await.unwrap().remove().await.unwrap();
    assert_eq!(place.names(), ["link.db"]);
}

#[tokio::test]
async fn a_missing_directory_is_named() {
    let url: Url = "sqlite:/no/such/place/h.db".parse().unwrap();
    let error = Own::make(&url, "unused", &claim(Existing::Refuse)).await.unwrap_err();
    assert!(matches!(&error, Error::NoDatabase(text) if text.contains("mkdir -p /no/such/place")), "{error}");
    assert!(matches!(Session::open(&url).await, Err(Error::NoDatabase(_))));
}

proptest! {
    #[test]
    fn a_name_that_passes_can_stand_in_a_statement(name in "\\PC{0,70}") {
        let passes = check_name(&name).is_ok();
        let is_plain = !name.is_empty() && name.len() <= 63
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        prop_assert_eq!(passes, is_plain);
    }

    #[test]
    fn plain_names_pass(name in "[A-Za-z0-9_]{1,63}") {
        prop_assert!(check_name(&name).is_ok());
    }
}
