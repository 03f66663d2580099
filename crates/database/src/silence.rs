//! How long a server may be silent. What is under way is awaited as long as the server works on it, and no longer.
//!
//! Neither protocol has a sign of life, and a proxy that takes everything and answers nothing deceives the kernel's own: so
//! the server is asked over a second connection whether it still works on the first one's statement. A load that is measured
//! is not watched: there a silence is what is measured, and whoever drives the load ends it.

use std::pin::Pin;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::time::{Instant, timeout};

use crate::clickhouse::ClickHouseSession;
use crate::error::{Attempt, Doing, remedy};
use crate::mysql::MysqlSession;
use crate::postgres::PostgresSession;
use crate::sqlserver::SqlServerSession;
use crate::url::Address;
use crate::{Connection, Error, Url};

/// How long data may stay unacknowledged by the other machine, and a connection be silent before that is asked whether it is
/// there.
pub(crate) const UNACKNOWLEDGED: Duration = Duration::from_secs(10);
/// How long a connection that is made to end may take to, and how often is looked.
pub(crate) const END_TIMEOUT: Duration = Duration::from_secs(10);
pub(crate) const END_INTERVAL: Duration = Duration::from_millis(10);
/// Looks in a row at which the server does nothing for a connection before its answer counts as swallowed: one look may
/// fall between two statements.
const IDLE_LOOKS: u32 = 3;
/// What can be done about it.
const REMEDY: &str = "the outcome is unknown: check whether the server hangs, or whether a proxy, tunnel or firewall drops its \
answers, then start again";

/// How long a server may say nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Silence(pub(crate) Duration);

impl Default for Silence {
    fn default() -> Self {
        Self(Duration::from_secs(10))
    }
}

impl Silence {
    /// How long a server may take to let somebody in.
    pub(crate) fn connect(self) -> Duration {
        self.0 / 2
    }

    /// What comes of a try to be let in.
    pub(crate) async fn let_in<T>(
        self,
        attempt: Attempt<'_>,
        connecting: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        self.let_in_or(attempt, remedy::UNREACHABLE, connecting).await
    }

    /// The same, where something else is to be looked at if there is no answer.
    pub(crate) async fn let_in_or<T>(
        self,
        attempt: Attempt<'_>,
        remedy: &str,
        connecting: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        let limit = self.connect();
        timeout(limit, connecting).await.unwrap_or_else(|_| {
            let words = format!("no answer within {}", seconds(limit));
            Err(Error::Unreachable(attempt.text(words, remedy)))
        })
    }

    /// How long it may take to let somebody in and to say whom.
    pub(crate) fn open(self) -> Duration {
        self.0
    }

    /// How long it may take to say over a connection of its own what it does: less than to connect, which is part of it.
    fn ask(self) -> Duration {
        self.0 * 2 / 5
    }

    /// Time between two looks at a statement that the server works on.
    fn working(self) -> Duration {
        self.0 * 2
    }

    /// Time between two looks at a connection for which it does nothing.
    fn idle(self) -> Duration {
        self.0 / 5
    }
}

/// Watches what is under way on one connection to a server.
#[derive(Debug)]
pub(crate) struct Watch {
    url: Url,
    silence: Silence,
}

impl Watch {
    pub(crate) fn new(url: &Url, silence: Silence) -> Self {
        Self { url: url.clone(), silence }
    }

    /// The end of an exchange, or that the server is silent.
    pub(crate) async fn over<T>(
        &self,
        connection: &Connection,
        doing: Doing<'_>,
        mut exchange: Pin<&mut impl Future<Output = Result<T, Error>>>,
    ) -> Result<T, Error> {
        let begin = Instant::now();
        let (mut pause, mut idle_looks) = (self.silence.0, 0);
        loop {
            if let Ok(result) = timeout(pause, exchange.as_mut()).await {
                return result;
            }
            let asked = tokio::select! {
                biased;
                result = exchange.as_mut() => return result,
                asked = self.asked(connection) => asked,
            };
            let why = match asked {
                Ok(true) => {
                    (pause, idle_looks) = (self.silence.working(), 0);
                    continue;
                }
                Ok(false) if idle_looks + 1 < IDLE_LOOKS => {
                    (pause, idle_looks) = (self.silence.idle(), idle_looks + 1);
                    continue;
                }
                Ok(false) => {
                    "but reports over another connection that it is not working on this request".to_owned()
                }
                Err(why) => why,
            };
            let target = self.url.to_string();
            let words = format!("the server did not answer for {}, {why}", seconds(begin.elapsed()));
            return Err(Error::Lost(Attempt { doing, target: &target }.text(words, REMEDY)));
        }
    }

    /// Whether the server works for a connection. One that answers with a refusal is there, and is believed to.
    ///
    /// # Errors
    /// That it does not answer, in words.
    async fn asked(&self, connection: &Connection) -> Result<bool, String> {
        let limit = self.silence.ask();
        match timeout(limit, ask(&self.url, connection)).await {
            Ok(Ok(works)) => Ok(works),
            Ok(Err(error)) if error.is_lost() => {
                Err(format!("and the reason is unknown, because another connection failed ({error})"))
            }
            Ok(Err(_)) => Ok(true),
            Err(_) => {
                Err(format!("and did not answer over another connection within {} either", seconds(limit)))
            }
        }
    }
}

/// Whether a server works for a connection.
pub(crate) async fn ask(url: &Url, connection: &Connection) -> Result<bool, Error> {
    match &url.0 {
        Address::Postgres(server) => {
            let (mut session, _) = PostgresSession::open(server, url.to_string()).await?;
            session.works_for(connection).await
        }
        Address::Mysql(server) => {
            let (mut session, _) = MysqlSession::open(server, url.to_string()).await?;
            session.works_for(connection).await
        }
        Address::SqlServer(server) => {
            let (mut session, _) = SqlServerSession::open(server, url.to_string()).await?;
            session.works_for(connection).await
        }
        Address::ClickHouse(server) => {
            let (mut session, _) = ClickHouseSession::open(server, url.to_string()).await?;
            session.works_for(connection).await
        }
        // They are in this process.
        Address::Sqlite(_) | Address::DuckDb(_) | Address::Fake(_) => Ok(true),
    }
}

/// A time as messages tell it.
pub(crate) fn seconds(time: Duration) -> String {
    if time.as_secs() > 0 {
        format!("{:.0} s", time.as_secs_f64())
    } else {
        format!("{} ms", time.as_millis())
    }
}
