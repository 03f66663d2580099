//! Which of several servers of MariaDB is taken.

use super::*;

/// Where a session is, by a variable that each server has for itself.
async fn taken(url: &Url) -> Result<String, Error> {
    let mut session = Session::open(url).await?;
    let rows = session.query("SELECT @@server_id", &[]).await?;
    assert_eq!(rows.len(), 1);
    Ok(match &rows[0][0] {
        Value::I64(id) => id.to_string(),
        other => format!("{other:?}"),
    })
}

async fn set(server: &Url, what: &str) {
    Session::open(server).await.unwrap().script(&format!("SET GLOBAL {what}")).await.unwrap();
}

/// A list whose order alone decides would have some sessions at a node that came back, and others at the one that took over.
#[tokio::test]
async fn of_several_the_one_that_can_be_written_to_is_taken_and_kept() {
    let (mut first, second) = (Running::start(Engine::Mysql), Running::start(Engine::Mysql));
    let places = [first.url().host().unwrap(), second.url().host().unwrap()];
    set(&first.url(), "server_id = 71").await;
    set(&second.url(), "server_id = 72").await;
    let both: Url = first.text().replace(&places[0], &places.join(",")).parse().unwrap();
    assert_eq!(taken(&both).await.unwrap(), "71");
    set(&first.url(), "read_only = 1").await;
    assert_eq!(taken(&both).await.unwrap(), "72");
    set(&first.url(), "read_only = 0").await;
    assert_eq!(taken(&both).await.unwrap(), "72", "it is kept as long as it can be written to");
    let link = Session::open(&both).await.unwrap().server().await.unwrap().link.unwrap();
    let says = format!("{} of 2 hosts", places[1]);
    assert!(link.taken.iter().any(|told| told.starts_with(&says)), "{:?}", link.taken);

    set(&second.url(), "read_only = 1").await;
    assert_eq!(taken(&both).await.unwrap(), "71");
    set(&first.url(), "read_only = 1").await;
    let told = taken(&both).await.unwrap_err();
    let says = |text: &str| told.to_string().contains(text);
    assert!(matches!(told, Error::Refused(_)), "{told}");
    assert!(places.iter().all(|place| says(&format!("{place} is read-only (read_only)"))), "{told}");
    first.kill();
    let told = taken(&both).await.unwrap_err().to_string();
    assert!(told.contains(&format!("{}: ", places[0])) && told.contains("is read-only"), "{told}");
    set(&second.url(), "read_only = 0").await;
    assert_eq!(taken(&both).await.unwrap(), "72");
}
