//! Sessions of DuckDB, and files of its that are ours or somebody else's.

use std::fs;
use std::path::PathBuf;

use ::duckdb::Connection;
use tempfile::TempDir;

use crate::samples::{READ, SAMPLES, as_stored, claim, odd_rows, plain_rows};
use crate::{Error, Existing, Held, Own, Protocol, Rows, Session, Url, Value, Wanted, WriteMethod};

const ALL: [Existing; 3] = [Existing::Refuse, Existing::Reuse, Existing::Replace];
const METHODS: [WriteMethod; 3] = [WriteMethod::Bulk, WriteMethod::Batch, WriteMethod::MultiRow];

struct Place {
    directory: TempDir,
}

impl Place {
    fn new() -> Self {
        Self { directory: TempDir::new().unwrap() }
    }

    fn file(&self) -> PathBuf {
        self.directory.path().join("a plant's %41.duckdb")
    }

    fn beside(&self, end: &str) -> PathBuf {
        crate::sqlite::beside(&self.file(), end)
    }

    fn url(&self) -> Url {
        format!("duckdb:{}", self.file().display()).parse().unwrap()
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

async fn session_of(own: &Own) -> Session {
    let mut session = own.session().await.unwrap();
    session
        .script("CREATE TABLE IF NOT EXISTS one (id bigint PRIMARY KEY, n bigint, t varchar)")
        .await
        .unwrap();
    session
}

#[tokio::test]
async fn values_come_as_they_were_put_and_counts_are_those_of_changes() {
    let place = Place::new();
    let own = place.make(Existing::Refuse).await.unwrap();
    let mut session = session_of(&own).await;
    let insert = "INSERT INTO one VALUES ($1, $2, $3)";
    for id in 1..=3 {
        let values = [Value::I64(id), Value::I32(7), Value::Text(format!("é{id}"))];
        assert_eq!(session.execute(insert, &values).await, Ok(1));
    }
    assert_eq!(session.execute("UPDATE one SET n = NULL WHERE id > $1", &[Value::I64(1)]).await, Ok(2));
    assert_eq!(session.execute("DELETE FROM one WHERE id = 9", &[]).await, Ok(0));
    let rows =
        session.query("SELECT *, n / 2, SUM(n) OVER (), true FROM one ORDER BY id", &[]).await.unwrap();
    let text = |text: &str| Value::Text(text.to_owned());
    let first = [Value::I64(1), Value::I64(7), text("é1"), Value::F64(3.5), Value::I64(7), Value::I64(1)];
    assert_eq!(rows[0], first);
    assert_eq!(rows[2][1], Value::Null);
    let told = session.query("SELECT DATE '2020-01-01'", &[]).await.unwrap_err().to_string();
    assert!(told.contains("cast the column to text"), "{told}");
    for protocol in [Protocol::Simple, Protocol::Extended, Protocol::Prepared] {
        let answer = session.statement("UPDATE one SET n = 0", &[], (protocol, Wanted::Count)).await.unwrap();
        assert_eq!(answer.rows, 3);
        let answer =
            session.statement("UPDATE one SET n = 0 WHERE id = 9", &[], (protocol, Wanted::Count)).await;
        assert_eq!(answer.unwrap().rows, 0);
        let answer =
            session.statement("SELECT id FROM one ORDER BY id", &[], (protocol, Wanted::Last)).await.unwrap();
        assert_eq!((answer.rows, answer.last), (3, vec![("id".to_owned(), Value::I64(3))]));
    }
    let told = session.execute(insert, &[Value::I64(5)]).await.unwrap_err().to_string();
    assert!(told.contains("Got 1, needed 3"), "{told}");
    assert_eq!(session.count_rows("SELECT * FROM one", &[]).await, Ok(3));
    drop(session);
    own.remove().await.unwrap();
    assert_eq!(place.names(), [""; 0]);
}

/// Also where the table has its columns in another order, or more of them.
#[tokio::test]
async fn rows_are_appended_as_a_whole_or_not_at_all() {
    let place = Place::new();
    let own = place.make(Existing::Refuse).await.unwrap();
    let mut session = own.session().await.unwrap();
    let columns = ["tag integer", "time bigint UNIQUE", "value double", "quality smallint", "note varchar"];
    let (mut reversed, mut more) = (columns.to_vec(), columns.to_vec());
    reversed.reverse();
    more.push("more integer");
    for made in [columns.to_vec(), reversed, more] {
        for method in METHODS {
            session.script(&format!("CREATE OR REPLACE TABLE samples ({})", made.join(", "))).await.unwrap();
            let (mut rows, given) = (odd_rows(), odd_rows());
            session.append(&SAMPLES, &mut rows, method).await.unwrap();
            assert_eq!(rows, given);
            session.append(&SAMPLES, &mut plain_rows(2_100), method).await.unwrap();
            let found = session.query(READ, &[]).await.unwrap();
            assert_eq!(found.len(), given.len() + 2_100);
            assert!(as_stored(&given).iter().all(|row| found.contains(row)), "{made:?} {method:?}");
            // All but the last of them are new.
            let mut twice = Rows::with_capacity(5, 2);
            for time in [5_000, 7] {
                twice.push([
                    Value::I32(1),
                    Value::I64(time),
                    Value::F64(0.5),
                    Value::Null,
                    Value::Text("x".to_owned()),
                ]);
            }
            session.append(&SAMPLES, &mut twice, method).await.unwrap_err();
            assert_eq!(session.count_rows(READ, &[]).await, Ok(found.len() as u64), "{made:?} {method:?}");
        }
    }
}

/// Two of its databases in one file destroy it, and its lock keeps other processes out alone.
#[tokio::test]
async fn sessions_of_one_file_see_each_other_and_the_last_closes_it() {
    let place = Place::new();
    let own = place.make(Existing::Refuse).await.unwrap();
    let (mut first, mut second) = (session_of(&own).await, session_of(&own).await);
    first.script("INSERT INTO one VALUES (1, 0, '')").await.unwrap();
    assert_eq!(second.count_rows("SELECT * FROM one", &[]).await, Ok(1));
    // The same row, changed by two at once.
    let mut transaction = first.begin().await.unwrap();
    transaction.execute("UPDATE one SET n = 1", &[]).await.unwrap();
    let conflict = second.script("UPDATE one SET n = 2").await.unwrap_err();
    assert!(matches!(conflict, Error::Conflict(_)), "{conflict}");
    transaction.commit().await.unwrap();
    second.script("UPDATE one SET n = n + 1").await.unwrap();
    drop(first.begin().await.unwrap());
    assert_eq!(first.query("SELECT n FROM one", &[]).await, Ok(vec![vec![Value::I64(2)]]));
    assert!(place.beside(".wal").exists());
    drop(first);
    assert!(place.beside(".wal").exists());
    drop(second);
    assert_eq!(place.names(), ["a plant's %41.duckdb", "a plant's %41.duckdb-prony"]);
    assert_eq!(session_of(&own).await.query("SELECT n FROM one", &[]).await, Ok(vec![vec![Value::I64(2)]]));
}

/// What nobody waits for any more ends, however long it would take.
#[tokio::test]
async fn a_session_that_is_given_up_ends_what_it_runs() {
    let place = Place::new();
    let own = place.make(Existing::Refuse).await.unwrap();
    let mut session = own.session().await.unwrap();
    let for_ever =
        "SELECT COUNT(*) FROM range(1000000000) a, range(1000000000) b WHERE a.range * b.range % 7 = 3";
    let waiting = session.query(for_ever, &[]);
    assert!(tokio::time::timeout(std::time::Duration::from_millis(50), waiting).await.is_err());
    drop(session);
    own.remove().await.unwrap();
}

#[tokio::test]
async fn a_kept_database_is_refused_reused_or_replaced() {
    let place = Place::new();
    let own = place.make(Existing::Refuse).await.unwrap();
    assert!(!own.was_there());
    drop(session_of(&own).await);
    for existing in ALL {
        let refused = place.make(existing).await.unwrap_err();
        assert!(refused.to_string().contains("in use by another run"), "{refused}");
    }
    drop(own);
    let refused = place.make(Existing::Refuse).await.unwrap_err();
    assert!(refused.is_usage() && refused.to_string().contains("from an earlier run of prony"), "{refused}");
    let own = place.make(Existing::Reuse).await.unwrap();
    assert!(own.was_there());
    assert_eq!(own.is_held().await, Ok(Held::Held));
    assert_eq!(session_of(&own).await.count_rows("SELECT * FROM one", &[]).await, Ok(0));
    drop(own);
    let own = place.make(Existing::Replace).await.unwrap();
    assert!(!own.was_there());
    own.session().await.unwrap().count_rows("SELECT * FROM one", &[]).await.unwrap_err();
    own.remove().await.unwrap();
    assert_eq!(place.names(), [""; 0]);
}

#[tokio::test]
async fn what_others_made_is_never_touched() {
    let foreign = |script: &str| {
        let place = Place::new();
        let database = Connection::open(place.file()).unwrap();
        database.execute_batch(script).unwrap();
        drop(database);
        fs::read(place.file()).unwrap()
    };
    let contents = [
        foreign("CREATE TABLE theirs (x int)"),
        // A table of this name that says something else.
        foreign(
            "CREATE TABLE prony_mark (tool varchar, made_by varchar, held_by varchar, is_transient smallint)",
        ),
        b"a letter".to_vec(),
        Vec::new(),
    ];
    for content in contents {
        for existing in ALL {
            let place = Place::new();
            fs::write(place.file(), &content).unwrap();
            for refused in [
                place.make(existing).await.unwrap_err(),
                crate::look_as(&place.url(), "unused", &claim(existing)).await.unwrap_err(),
            ] {
                assert!(refused.to_string().contains("not created by prony"), "{refused}");
            }
            assert_eq!(fs::read(place.file()).unwrap(), content);
            assert_eq!(place.names().len(), 1);
        }
    }
}

/// What was not put into their file yet stays beside it, and what lies where a log of ours would is nobody's to remove.
#[tokio::test]
async fn a_log_of_others_is_never_touched() {
    let place = Place::new();
    let database = Connection::open(place.file()).unwrap();
    database.execute_batch("CREATE TABLE theirs (x int)").unwrap();
    let copies = [place.file(), place.beside(".wal")].map(|file| fs::read(file).unwrap());
    drop(database);
    let [file, log] = &copies;
    assert!(!log.is_empty());
    for existing in ALL {
        fs::write(place.file(), file).unwrap();
        fs::write(place.beside(".wal"), log).unwrap();
        let refused = place.make(existing).await.unwrap_err();
        assert!(refused.to_string().contains("not created by prony"), "{refused}");
        assert_eq!((&fs::read(place.file()).unwrap(), &fs::read(place.beside(".wal")).unwrap()), (file, log));
    }
    let place = Place::new();
    fs::write(place.beside(".wal"), log).unwrap();
    let refused = place.make(Existing::Replace).await.unwrap_err();
    assert!(refused.to_string().contains("contain data of a database that was moved"), "{refused}");
    fs::remove_file(place.beside(".wal")).unwrap();
    drop(place.make(Existing::Refuse).await.unwrap());
    fs::write(place.beside(".wal"), "a letter").unwrap();
    let refused = place.make(Existing::Replace).await.unwrap_err();
    assert!(refused.to_string().contains("which DuckDB did not create for this database"), "{refused}");
    assert_eq!(fs::read(place.beside(".wal")).unwrap(), b"a letter");
}

#[tokio::test]
async fn another_file_under_its_name_is_not_opened() {
    let place = Place::new();
    let own = place.make(Existing::Refuse).await.unwrap();
    fs::rename(place.file(), place.beside(".away")).unwrap();
    drop(Connection::open(place.file()).unwrap());
    let theirs = fs::read(place.file()).unwrap();
    let told = own.session().await.unwrap_err().to_string();
    assert!(told.contains("another file has its name now"), "{told}");
    let told = own.lease().session().await.unwrap_err().to_string();
    assert!(told.contains("another file has its name now"), "{told}");
    own.remove().await.unwrap_err();
    assert_eq!(fs::read(place.file()).unwrap(), theirs);
}

/// DuckDB puts the log of such a file where nobody looks for it: it was left there.
#[tokio::test]
async fn a_name_with_a_question_mark_is_refused() {
    let place = Place::new();
    let url: Url = format!("duckdb:{}?", place.file().display()).parse().unwrap();
    for refused in [
        Own::make(&url, "unused", &claim(Existing::Refuse)).await.unwrap_err(),
        crate::look(&url, Existing::Refuse, None).unwrap_err(),
        Session::open(&url).await.unwrap_err(),
    ] {
        assert!(refused.is_usage() && refused.to_string().contains("has a ? in it"), "{refused}");
    }
    assert_eq!(place.names(), [""; 0]);
}

#[tokio::test]
async fn a_file_that_is_not_there_is_not_made() {
    let place = Place::new();
    let told = Session::open(&place.url()).await.unwrap_err();
    assert!(matches!(told, Error::NoDatabase(_)), "{told}");
    assert_eq!(place.names(), [""; 0]);
}

#[tokio::test]
async fn it_tells_its_version_its_settings_and_its_sizes() {
    let place = Place::new();
    let own = place.make(Existing::Refuse).await.unwrap();
    let mut session = session_of(&own).await;
    let server = session.server().await.unwrap();
    assert!(server.version.starts_with("DuckDB ") && server.is_durable, "{server:?}");
    let names: Vec<&str> = server.settings.iter().map(|setting| setting.name.as_str()).collect();
    assert_eq!(names, ["checkpoint_threshold", "memory_limit", "threads"]);
    let sizes = session.sizes().await.unwrap();
    assert!(sizes.database_bytes.unwrap() > 0 && sizes.log_bytes.unwrap() > 0, "{sizes:?}");
}
