//! The same reports on SQLite, PostgreSQL and MariaDB: each answers what the generator says.

use database::{Existing, Own, Session, Url};
use instance::{MariaDb, Options, Postgres};

use super::*;
use crate::claims::claim;

const EVENTS: u64 = 25_000;

async fn answers(session: &mut Session, report: &Report) -> Answer {
    ask(session, report).await.unwrap()
}

/// Loads, asks, changes what is there, and asks again.
async fn answers_what_was_generated(url: &str) {
    let (url, data): (Url, _) = (url.parse().unwrap(), MessageData::new(EVENTS, 11));
    let own = Own::make(&url, "reports", &claim(Existing::Refuse)).await.unwrap();
    let mut session = own.session().await.unwrap();
    create(&mut session).await.unwrap();
    let mut committed = 0;
    fill(&mut session, &data, &mut |more| committed += more).await.unwrap();
    assert_eq!(committed, EVENTS);
    for result in [ReportResult::Rows, ReportResult::Aggregate] {
        let published = Report::published(&data, result);
        for (department, classification) in
            [("%", "%"), ("sales-%", "%l"), ("_oard", "int_rnal"), ("%x%", "%")]
        {
            let [department, classification] = [department, classification].map(|text| text.parse().unwrap());
            let report = Report { department, classification, ..published.clone() };
            assert_eq!(answers(&mut session, &report).await, report.expected(&data), "{url} {report:?}");
        }
    }
    let report = Report::published(&data, ReportResult::Rows);
    let first = report.messages.start + 1;
    // What arrives after the dates changes nothing, one changed row within them does.
    let later = format!(
        "INSERT INTO messages VALUES ({0}, {1}, 1, 1, 1, 1, 1)",
        EVENTS + 1,
        data.message(EVENTS).sent_us
    );
    session.script(&later).await.unwrap();
    assert_eq!(answers(&mut session, &report).await, report.expected(&data), "{url}");
    let damage = format!("UPDATE messages SET size_bytes = size_bytes + 1 WHERE message_id = {first}");
    session.script(&damage).await.unwrap();
    let damaged = answers(&mut session, &report).await;
    assert_eq!(damaged.rows, report.expected(&data).rows, "{url}");
    assert_ne!(damaged.sum, report.expected(&data).sum, "{url}");
    drop(session);
    own.remove().await.unwrap();
}

#[tokio::test]
async fn sqlite_answers_what_was_generated() {
    let directory = tempfile::TempDir::new().unwrap();
    answers_what_was_generated(&format!("sqlite:{}/reports.db", directory.path().display())).await;
}

#[tokio::test]
async fn postgres_answers_what_was_generated() {
    let server = Postgres::start(&Options::default()).unwrap();
    answers_what_was_generated(&server.url()).await;
}

#[tokio::test]
async fn mariadb_answers_what_was_generated() {
    let server = MariaDb::start(&Options::default()).unwrap();
    answers_what_was_generated(&server.url()).await;
}
