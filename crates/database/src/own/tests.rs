//! Files of our own and of others.

use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;
use tempfile::TempDir;

use super::check_name;
use crate::samples::{SAMPLES, make_sql, plain_rows};
use crate::{Dialect, Error, Existing, Own, Session, Url, WriteMethod};

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

    async fn make(&self, existing: Existing) -> Result<Own, Error> {
        Own::make(&self.url(), "unused", existing).await
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
    assert!(refused.is_usage() && text.contains("--reuse") && text.contains("rm -f"), "{text}");
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
            if content.is_empty() && existing == Existing::Replace {
                // Nothing is lost with it; see the claim about leftovers.
                continue;
            }
            let place = Place::new();
            fs::write(place.file(), &content).unwrap();
            let refused = place.make(existing).await.unwrap_err();
            assert!(refused.to_string().contains("not made by prony"), "{refused}");
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

#[tokio::test]
async fn an_empty_leftover_is_replaced_and_nothing_else() {
    let place = Place::new();
    fs::write(place.file(), "").unwrap();
    let own = place.make(Existing::Replace).await.unwrap();
    fill(&own).await;
    drop(own);
    assert!(place.make(Existing::Reuse).await.unwrap().was_there());
}

/// A killed run leaves its lock's file, which nobody holds.
#[tokio::test]
async fn a_lock_that_nobody_holds_is_no_lock() {
    let place = Place::new();
    drop(place.make(Existing::Refuse).await.unwrap());
    fs::write(place.directory.path().join("a plant's %41?.db-prony"), "").unwrap();
    drop(place.make(Existing::Reuse).await.unwrap());
    assert_eq!(place.names().len(), 1);
}

#[tokio::test]
async fn a_missing_directory_is_named() {
    let url: Url = "sqlite:/no/such/place/h.db".parse().unwrap();
    let error = Own::make(&url, "unused", Existing::Refuse).await.unwrap_err();
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
