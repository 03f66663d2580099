//! What servers tell of themselves while a trial runs: what sessions of the load do, ten times a second, and the servers' own
//! counters, over a session of our own.
//!
//! A server that does not answer, is away or does not let us look is a note; the load and the end of a trial wait for nothing
//! here.

use std::collections::BTreeMap;
use std::time::Duration;

use database::{Activity, Error, Told, Url};
use jiff::{SignedDuration, Timestamp, Unit};
use record::{Blocker, Resources, ServerTold, doing};
use tokio::runtime::Runtime;

use crate::sampling::Sampler;

/// Time from one look to the next.
const EVERY: Duration = Duration::from_millis(100);
/// Time that looks are added up over. A look may be a little early.
const TOGETHER_S: f64 = 0.95;
/// How long a server may take for an answer before its session counts as lost.
const ANSWER_WITHIN: Duration = Duration::from_secs(2);
/// Time until a server that was lost is tried again.
const AGAIN_S: f64 = 1.0;
/// Looks in a row in which sessions wait for a table and nobody is named, until that is a note.
const IN_VAIN_MOST: u32 = 3;
/// Share of the looks that may be missing without a word: each second says of how many it is.
const MISSING_SHARE: f64 = 0.5;

/// A server that is to be looked at.
#[derive(Clone, Debug)]
pub(crate) struct Looked {
    /// Name of the first of the databases, as readings of processes have it.
    pub(crate) name: String,
    /// Where we log in: not to one of the databases, which have to be removed whatever still looks.
    pub(crate) url: Url,
    pub(crate) databases: Vec<String>,
}

/// Looks at a server.
pub(crate) struct Looks {
    of: Looked,
    /// Made on the thread that looks.
    runtime: Option<Runtime>,
    state: State,
    /// What was found since readings were given last.
    found: ServerTold,
    given_s: f64,
    /// The counters when they were read last, and when that was.
    counted: Option<(f64, Told)>,
    notes: Vec<String>,
    /// Looks in a row in which sessions waited for locks and nobody was named.
    blocked_in_vain: u32,
    is_hidden_told: bool,
    is_untracked_told: bool,
    is_untold_told: bool,
}

enum State {
    /// To be connected, from a time on.
    Apart { from_s: f64 },
    /// Connected.
    Open(Box<Activity>),
    /// Nothing more can be had.
    Over,
}

impl Looks {
    pub(crate) fn new(of: Looked) -> Self {
        Self {
            of,
            runtime: None,
            state: State::Apart { from_s: 0.0 },
            found: ServerTold::default(),
            given_s: 0.0,
            counted: None,
            notes: Vec::new(),
            blocked_in_vain: 0,
            is_hidden_told: false,
            is_untracked_told: false,
            is_untold_told: false,
        }
    }

    /// Looks once, and counts where that is due. Ends what cannot go on.
    fn look(&mut self, at_s: f64) {
        let runtime = match self.runtime.take().map_or_else(runtime, Ok) {
            Ok(runtime) => runtime,
            Err(error) => return self.give_up(&error.to_string()),
        };
        let is_due = at_s - self.given_s >= TOGETHER_S || self.counted.is_none();
        let looked = runtime.block_on(async {
            let within = tokio::time::timeout(ANSWER_WITHIN, self.found_now(at_s, is_due)).await;
            within.unwrap_or_else(|_| {
                let words = format!("no answer within {} s", ANSWER_WITHIN.as_secs());
                Err(Error::Lost(words))
            })
        });
        self.runtime = Some(runtime);
        match looked {
            Ok(()) => {}
            Err(error) if error.is_lost() => self.lost(at_s, &error),
            Err(error) => self.give_up(&error.to_string()),
        }
    }

    async fn found_now(&mut self, at_s: f64, is_due: bool) -> Result<(), Error> {
        if let State::Apart { from_s } = self.state {
            if at_s < from_s {
                return Ok(());
            }
            match Activity::open(&self.of.url, &self.of.databases).await? {
                Some(activity) => self.opened(activity, from_s, at_s),
                None => {
                    self.state = State::Over;
                    return Ok(());
                }
            }
        }
        let State::Open(activity) = &mut self.state else { return Ok(()) };
        let found = activity.look().await?;
        self.found.looks += 1;
        add(&mut self.found.sessions, found.sessions);
        add(&mut self.found.beside, found.beside);
        if is_due && found.lock_waits > 0 {
            // Only then, and once a second: asking who blocks whom is work for a server.
            let blockers = activity.blockers().await?;
            let is_vain = blockers.is_empty() && found.table_lock_waits > 0;
            self.blocked_in_vain = if is_vain { self.blocked_in_vain + 1 } else { 0 };
            if self.blocked_in_vain == IN_VAIN_MOST {
                activity.miss_blockers();
                self.is_untold_told = false;
            }
            self.found.blockers =
                blockers.into_iter().map(|blocker| dated(blocker, Timestamp::now())).collect();
        }
        if is_due {
            let told = activity.told().await?;
            if let Some((before_s, before)) = &self.counted {
                self.found.counters_per_s = told.rises(before, at_s - before_s);
            }
            self.found.replicas.clone_from(&told.replicas);
            self.counted = Some((at_s, told));
        }
        Ok(())
    }

    fn opened(&mut self, activity: Activity, from_s: f64, at_s: f64) {
        self.found.session = activity.session();
        if from_s > 0.0 {
            self.notes.push(format!("Session data of {} is available again from {at_s:.1} s.", self.of.name));
        }
        self.state = State::Open(Box::new(activity));
    }

    /// It is tried again, and only the first loss in a row is told.
    fn lost(&mut self, at_s: f64, error: &Error) {
        let was_apart = matches!(self.state, State::Apart { from_s } if from_s > 0.0);
        if !was_apart {
            let name = &self.of.name;
            self.notes.push(format!("Session waits of {name} are unknown since {at_s:.1} s: {error}."));
        }
        self.counted = None;
        self.state = State::Apart { from_s: at_s + AGAIN_S };
    }

    fn give_up(&mut self, why: &str) {
        self.notes.push(format!("Session waits of {} are unknown: {why}.", self.of.name));
        self.state = State::Over;
    }

    /// That a login does not see what others do, once.
    fn tell_hidden(&mut self) {
        let State::Open(activity) = &self.state else { return };
        if self.is_hidden_told || !self.found.sessions.contains_key(doing::HIDDEN) {
            return;
        }
        self.is_hidden_told = true;
        let remedy = activity
            .remedy()
            .map(|remedy| format!(". As an administrator, run: {remedy}"))
            .unwrap_or_default();
        let name = &self.of.name;
        self.notes
            .push(format!("This login cannot see the waits of other users' sessions on {name}{remedy}."));
    }

    /// That a server does not track what sessions do, once.
    fn tell_untracked(&mut self) {
        if self.is_untracked_told || !self.found.sessions.contains_key(doing::UNTRACKED) {
            return;
        }
        self.is_untracked_told = true;
        self.notes.push(format!(
            "The server of {} does not track its sessions, so their waits are unknown. Set \
             track_activities = on.",
            self.of.name
        ));
    }

    /// What the server does not tell of itself, once.
    fn tell_untold(&mut self) {
        let State::Open(activity) = &self.state else { return };
        let Some(untold) = activity.untold().filter(|_| !self.is_untold_told) else { return };
        self.is_untold_told = true;
        self.notes.push(format!("The server of {} does not report {untold}.", self.of.name));
    }
}

impl Sampler for Looks {
    fn name(&self) -> &'static str {
        "sessions"
    }

    fn every(&self) -> Duration {
        EVERY
    }

    fn sample(&mut self, at_s: f64) -> Option<Resources> {
        if matches!(self.state, State::Over) {
            return None;
        }
        self.look(at_s);
        let length_s = at_s - self.given_s;
        if length_s < TOGETHER_S {
            return None;
        }
        self.tell_hidden();
        self.tell_untracked();
        self.tell_untold();
        self.given_s = at_s;
        let session = self.found.session;
        let found = std::mem::replace(&mut self.found, ServerTold { session, ..ServerTold::default() });
        let told = BTreeMap::from([(self.of.name.clone(), found)]);
        (told.values().any(|told| told.looks > 0)).then(|| Resources {
            end_s: at_s,
            length_s,
            told,
            ..Resources::default()
        })
    }

    fn notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    fn missing_share_told(&self) -> f64 {
        MISSING_SHARE
    }
}

/// A blocker with the time from which it has been one at most.
fn dated(blocker: Blocker, now: Timestamp) -> Blocker {
    let ago = |seconds: f64| SignedDuration::try_from_secs_f64(seconds.round()).ok();
    let since = blocker.open_s.and_then(ago).and_then(|ago| now.checked_sub(ago).ok());
    let whole = |time: Timestamp| time.round(Unit::Second).unwrap_or(time);
    Blocker { since: since.map(|time| whole(time).to_string()), ..blocker }
}

fn add(sum: &mut BTreeMap<String, u64>, more: BTreeMap<String, u64>) {
    for (what, count) in more {
        *sum.entry(what).or_default() += count;
    }
}

fn runtime() -> std::io::Result<Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looks(url: &str) -> Looks {
        let url = url.parse().unwrap();
        Looks::new(Looked { name: "store (postgres)".to_owned(), url, databases: vec!["store".to_owned()] })
    }

    /// Nobody listens on a port that was free a moment ago.
    #[test]
    fn a_server_that_is_away_is_a_note_once_and_tried_again() {
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut looks = looks(&format!("postgres://127.0.0.1:{port}/postgres"));
        assert_eq!(looks.sample(0.0), None);
        let notes = looks.notes();
        assert_eq!(notes.len(), 1, "{notes:?}");
        assert!(notes[0].starts_with("Session waits of store (postgres) are unknown since 0.0 s: cannot"));
        assert_eq!((looks.sample(0.5), looks.sample(1.5)), (None, None), "no reading of nothing");
        assert_eq!(looks.notes(), [""; 0]);
        assert!(matches!(looks.state, State::Apart { from_s } if from_s == 2.5), "it was tried at 1.5 s");
    }

    #[test]
    fn a_blocker_has_the_time_at_which_its_transaction_began() {
        let now: Timestamp = "2026-03-01T12:00:41.9Z".parse().unwrap();
        let since = |open_s| dated(Blocker { open_s, ..Blocker::default() }, now).since;
        assert_eq!(since(Some(41.4)).as_deref(), Some("2026-03-01T12:00:01Z"));
        assert_eq!((since(None), since(Some(f64::MAX))), (None, None));
    }

    #[test]
    fn an_engine_in_this_process_tells_nothing_and_nothing_is_said_of_that() {
        let mut looks = looks("sqlite:nowhere.db");
        assert_eq!((looks.sample(0.0), looks.sample(1.0)), (None, None));
        assert_eq!(looks.notes(), [""; 0]);
        assert!(matches!(looks.state, State::Over));
    }
}
