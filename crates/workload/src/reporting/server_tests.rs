//! The same reports on SQLite, PostgreSQL and MariaDB: each answers what the generator says, however it is asked.

use database::{Existing, Own, Session, Url};
use instance::{MariaDb, Options, Postgres, TdsServer};

use super::*;
use crate::claims::claim;

const EVENTS: u64 = 25_000;

/// Asks in every way that there is, which have to agree.
async fn answer(session: &mut Session, report: &Report, data: &MessageData) -> Answer {
    let mut answers = Vec::new();
    for access in [Access::Statement, Access::Procedure] {
        let Some(question) = Question::of(report, data, session.dialect(), access) else { continue };
        let answered = question.ask(session).await.unwrap();
        assert_eq!(answered.first_row.is_some(), answered.answer.rows > 0);
        answers.push(answered.answer);
    }
    answers.dedup();
    let [answer] = answers.as_slice() else { panic!("accesses differ: {answers:?}") };
    *answer
}

/// Loads, asks, changes what is there, and asks again.
async fn answers_what_was_generated(url: &str) {
    let (url, data): (Url, _) = (
        url.parse().unwrap(),
        MessageData::new(Standing { events: EVENTS, days: 30, subject_bytes: 0, seed: 11 }),
    );
    let own = Own::make(&url, "reports", &claim(Existing::Refuse)).await.unwrap();
    let mut session = own.session().await.unwrap();
    assert_eq!(standing(&mut session).await.unwrap(), None);
    create(&mut session).await.unwrap();
    assert_eq!(standing(&mut session).await.unwrap(), None, "not before all are there");
    assert!(!are_indexed(&mut session).await.unwrap(), "not before all are there");
    let mut committed = 0;
    let mut count = |more| {
        committed += more;
        true
    };
    assert!(fill(&mut session, &data, &mut count).await.unwrap());
    assert_eq!(committed, EVENTS);
    assert_eq!(standing(&mut session).await.unwrap(), Some(data.standing()));
    assert!(are_indexed(&mut session).await.unwrap());
    for result in [ReportResult::Rows, ReportResult::Aggregate] {
        let published = Report::of_share(&data, 0.1, result);
        for (department, classification) in
            [("%", "%"), ("sales-%", "%l"), ("_oard", "int_rnal"), ("%x%", "%")]
        {
            let [department, classification] = [department, classification].map(|text| text.parse().unwrap());
            let report = Report { department, classification, ..published.clone() };
            assert_eq!(
                answer(&mut session, &report, &data).await,
                report.expected(&data),
                "{url} {report:?}"
            );
        }
    }
    let report = Report::of_share(&data, 0.1, ReportResult::Rows);
    let first = report.messages.start + 1;
    // What arrives after the dates changes nothing, one changed row within them does.
    let later = format!(
        "INSERT INTO messages VALUES ({0}, {1}, 1, 1, 1, 1, 1, '')",
        EVENTS + 1,
        data.message(EVENTS).sent_us
    );
    session.script(&later).await.unwrap();
    assert_eq!(answer(&mut session, &report, &data).await, report.expected(&data), "{url}");
    let damage = format!("UPDATE messages SET size_bytes = size_bytes + 1 WHERE message_id = {first}");
    session.script(&damage).await.unwrap();
    let damaged = answer(&mut session, &report, &data).await;
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

#[tokio::test]
async fn what_speaks_t_sql_answers_what_was_generated() {
    let Some(server) = TdsServer::start(&[]).unwrap() else { return };
    answers_what_was_generated(&server.url()).await;
}
