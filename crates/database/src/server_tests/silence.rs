//! Servers that fall silent, and those that only take long.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use instance::Proxy;
use tokio::time::{Instant, timeout};

use super::{COUNT, METHODS, Running, shared};
use crate::samples::{SAMPLES, claim, make_sql, plain_rows};
use crate::{Engine, Error, Existing, Own, Session, Url};

/// Of the servers here. The busiest machine lets somebody in within half of it.
const SILENCE: Duration = Duration::from_secs(1);
/// Of those that are silent.
fn short(engine: Engine) -> Duration {
    // What stands for SQL Server takes its time to let somebody in.
    if engine == Engine::SqlServer { Duration::from_millis(1600) } else { Duration::from_millis(400) }
}

/// Far longer than any set-up here takes to end, with everything that it tries to clear up.
fn bound(engine: Engine) -> Duration {
    Duration::from_secs(if engine == Engine::SqlServer { 60 } else { 20 })
}

/// Moments at which a server falls silent: every other word of it, or more.
const POINTS: usize = 36;

fn before(server: &Running, bytes: u64) -> Proxy {
    let port = server.url().host().unwrap().rsplit_once(':').unwrap().1.parse().unwrap();
    Proxy::before(port, bytes).unwrap()
}

fn through(proxy: &Proxy, server: &Running, silence: Duration) -> Url {
    proxy.url(&server.text()).parse::<Url>().unwrap().with_silence(silence)
}

/// Everything that a set-up does.
async fn set_up(url: &Url, name: &str) -> Result<(), Error> {
    let own = Own::make(url, name, &claim(Existing::Refuse)).await?;
    let mut session = own.session().await?;
    session.script(&make_sql(url.engine().dialect())).await?;
    for method in METHODS {
        session.append(&SAMPLES, &mut plain_rows(100), method).await?;
    }
    session.query(COUNT, &[]).await?;
    session.count_rows("SELECT * FROM samples", &[]).await?;
    let mut transaction = session.begin().await?;
    transaction.execute("DELETE FROM samples", &[]).await?;
    transaction.commit().await?;
    session.server().await?;
    session.sizes().await?;
    let mut second = own.session().await?;
    second.end(session.connection()).await?;
    own.is_held().await?;
    drop((session, second));
    own.remove().await
}

/// Time limits were those of connecting and of the end of a run alone: of twelve set-ups before which a proxy stopped after so
/// many bytes, ten hung for ever.
pub(super) async fn a_server_that_falls_silent_anywhere_ends_the_set_up(engine: Engine) {
    let server = shared(engine);
    let whole = before(&server, u64::MAX);
    set_up(&through(&whole, &server, bound(engine)), "prony_set_up").await.unwrap();
    let pieces = whole.pieces();
    // Ends of messages, and a byte before some of them, but for the last words, which nobody waits for.
    let ends = &pieces[..pieces.len() - 3];
    let end = |number: usize| ends[number * ends.len() / POINTS];
    let points = (0..POINTS).map(|number| (number, end(number) - number as u64 % 2));
    let silenced = points.map(|(number, bytes)| {
        let server = Arc::clone(&server);
        async move {
            let name = format!("prony_silent_{number}");
            let proxy = before(&server, bytes);
            let ended = timeout(bound(engine), set_up(&through(&proxy, &server, short(engine)), &name)).await;
            let error = ended.unwrap_or_else(|_| panic!("it hangs after {bytes} bytes")).unwrap_err();
            let text = error.to_string();
            assert!(error.is_lost(), "after {bytes} bytes: {text}");
            let says_why = ["did not answer for", "no answer within", "did not answer within"];
            assert!(says_why.iter().any(|words| text.contains(words)), "after {bytes} bytes: {text}");
            assert!(text.contains("127.0.0.1"), "{text}");
        }
    });
    // A server lets in a hundred connections together.
    futures_util::stream::iter(silenced).buffer_unordered(8).collect::<()>().await;
}

/// The server is well and answers others; what it says to this connection does not arrive.
pub(super) async fn an_answer_that_is_swallowed_is_known_by_asking_the_server(engine: Engine) {
    let server = shared(engine);
    let proxy = before(&server, u64::MAX);
    let mut session = Session::open(&through(&proxy, &server, SILENCE)).await.unwrap();
    session.query("SELECT 1", &[]).await.unwrap();
    proxy.fall_silent();
    proxy.spare_new_connections();
    let error = timeout(bound(engine), session.query("SELECT 2", &[])).await.unwrap().unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, Error::Lost(_)) && text.contains("it is not working on this request"), "{text}");
    assert!(text.contains("`SELECT 2`") && text.contains("drops its answers"), "{text}");
}

/// Several times as long as a server may be silent.
pub(super) async fn a_statement_that_the_server_works_on_is_awaited(engine: Engine) {
    let server = shared(engine);
    let sleep = if engine == Engine::Postgres { "SELECT pg_sleep(4)" } else { "SELECT sleep(4)" };
    let begin = Instant::now();
    let mut session = Session::open(&server.url().with_silence(SILENCE)).await.unwrap();
    timeout(bound(engine), session.query(sleep, &[])).await.unwrap().unwrap();
    assert!(begin.elapsed() >= 4 * SILENCE);
    // One that is not watched is not asked about.
    let mut session = Session::open(&server.url().with_silence(SILENCE)).await.unwrap().without_limit();
    session.query(sleep, &[]).await.unwrap();
}
