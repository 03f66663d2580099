//! The reader: screens that are opened in turn and show trends and latest values while rows are written.
//!
//! Reads are due at times that no answer moves. One that is late because the one before took too long counts from when it
//! was due.

use std::sync::Arc;

use database::{Error, Session, Value};
use load::Completed;

use super::job::Readers;
use super::running::{LATEST, Running, TREND};
use crate::backoff::Backoff;
use crate::clock::Clock;

#[derive(Debug)]
pub(crate) struct Reader {
    running: Arc<Running>,
    readers: Readers,
    clock: Clock,
    session: Session,
    /// Tags of each screen.
    screens: Vec<Vec<Value>>,
}

/// A read that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Due {
    due_ns: u64,
    screen: usize,
    /// Whether the screen is opened, or only kept up to date.
    opens: bool,
}

impl Reader {
    pub(crate) fn new(running: Arc<Running>, readers: Readers, clock: Clock, session: Session) -> Self {
        let screens =
            (0..readers.screens).map(|screen| screen_tags(&readers, running.job.tags, screen)).collect();
        Self { running, readers, clock, session, screens }
    }

    /// Reads until the load ends.
    pub(crate) async fn run(mut self) {
        let running = Arc::clone(&self.running);
        let mut schedule = schedule(self.readers).peekable();
        while let Some(due) = schedule.next_if(|due| due.due_ns < running.phases.end_ns()) {
            tokio::select! {
                () = self.clock.until(due.due_ns) => {}
                () = running.load_over.wait() => return,
            }
            let Err((kind, error)) = self.read(due).await else { continue };
            self.fail(kind, &error);
            if !error.is_lost() {
                continue;
            }
            tokio::select! {
                () = self.connect_again() => {}
                () = running.load_over.wait() => return,
            }
            // Nobody looks at what was due meanwhile: it was not served.
            let now_ns = self.clock.now_ns();
            while let Some(missed) = schedule.next_if(|due| due.due_ns < now_ns) {
                let missed = if missed.opens { TREND } else { LATEST };
                running.recorder.at(now_ns).fail(missed, 1);
            }
        }
    }

    async fn read(&mut self, due: Due) -> Result<(), (usize, Error)> {
        let tags = &self.screens[due.screen];
        let store = &self.running.store;
        let sent_ns = self.clock.now_ns();
        let rows = store.latest(&mut self.session, tags).await.map_err(|error| (LATEST, error))?;
        let read_ns = self.count(LATEST, due.due_ns, sent_ns, rows);
        if due.opens {
            let window_us = (self.readers.trend_window.ns / 1_000) as i64;
            let since_us = self.running.time_us(read_ns) - window_us;
            let tags = &self.screens[due.screen];
            let trend = self.running.store.trend(&mut self.session, tags, since_us).await;
            self.count(TREND, due.due_ns, read_ns, trend.map_err(|error| (TREND, error))?);
        }
        Ok(())
    }

    /// Counts a read that has just been answered, and gives when that was.
    fn count(&self, kind: usize, due_ns: u64, sent_ns: u64, rows: u64) -> u64 {
        let now_ns = self.clock.now_ns();
        let mut recording = self.running.recorder.at(now_ns);
        recording.complete(now_ns, Completed { kind, due_ns: Some(due_ns), sent_ns, bytes: 0 });
        recording.read_rows(kind, rows);
        now_ns
    }

    fn fail(&self, kind: usize, error: &Error) {
        self.running.recorder.at(self.clock.now_ns()).fail(kind, 1);
        if !error.is_lost() {
            self.running.ledger.note(format!("the query of a screen failed: {error}"));
        }
    }

    async fn connect_again(&mut self) {
        let mut backoff = Backoff::new();
        loop {
            backoff.pause().await;
            if let Ok(session) = self.running.session().await {
                self.session = session;
                return;
            }
        }
    }
}

/// All reads in the order in which they are due, without end. A screen that is opened is up to date.
fn schedule(readers: Readers) -> impl Iterator<Item = Due> {
    let screen = move |opened: u64| (opened % u64::from(readers.screens)) as usize;
    let (mut opened, mut refreshed) = (0, 1);
    std::iter::from_fn(move || {
        let opens_ns = opened * readers.screen_interval.ns;
        while refreshed * readers.latest_interval.ns == opens_ns && opens_ns > 0 {
            refreshed += 1;
        }
        let refresh_ns = refreshed * readers.latest_interval.ns;
        Some(if opens_ns <= refresh_ns {
            opened += 1;
            Due { due_ns: opens_ns, screen: screen(opened - 1), opens: true }
        } else {
            refreshed += 1;
            Due { due_ns: refresh_ns, screen: screen(opened - 1), opens: false }
        })
    })
}

/// Tags a screen shows: as many as there are, at most, each other, and spread over the whole plant.
fn screen_tags(readers: &Readers, tags: u32, screen: u32) -> Vec<Value> {
    let shown = u64::from(screen_tag_count(readers, tags));
    let all = shown * u64::from(readers.screens);
    let place =
        |number: u64| (number * u64::from(readers.screens) + u64::from(screen)) * u64::from(tags) / all;
    (0..shown).map(|number| Value::I32(place(number) as i32)).collect()
}

/// Number of tags of a screen: there may be fewer in all.
pub(crate) fn screen_tag_count(readers: &Readers, tags: u32) -> u32 {
    readers.screen_tags.min(tags)
}

#[cfg(test)]
mod tests {
    use super::*;
    use load::Span;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn readers(screens: u32, screen_tags: u32) -> Readers {
        Readers {
            screens,
            screen_interval: Span::seconds(3),
            screen_tags,
            trend_window: Span::seconds(60),
            latest_interval: Span::seconds(2),
        }
    }

    #[test]
    fn screens_open_in_turn_and_are_kept_up_to_date_between() {
        let due: Vec<(u64, usize, bool)> = schedule(readers(2, 8))
            .take(9)
            .map(|due| (due.due_ns / 1_000_000_000, due.screen, due.opens))
            .collect();
        let (open, refresh) = (true, false);
        assert_eq!(
            due,
            [
                (0, 0, open),
                (2, 0, refresh),
                (3, 1, open),
                (4, 1, refresh),
                (6, 0, open),
                (8, 0, refresh),
                (9, 1, open),
                (10, 1, refresh),
                (12, 0, open)
            ]
        );
    }

    proptest! {
        #[test]
        fn every_screen_shows_different_tags_that_exist(
            screens in 1u32..50, screen_tags in 1u32..100, tags in 1u32..20_000,
        ) {
            let readers = readers(screens, screen_tags);
            for screen in 0..screens {
                let shown: Vec<i32> = super::screen_tags(&readers, tags, screen)
                    .into_iter()
                    .map(|tag| match tag { Value::I32(tag) => tag, other => panic!("{other:?}") })
                    .collect();
                prop_assert_eq!(shown.len(), screen_tags.min(tags) as usize);
                prop_assert!(shown.iter().all(|&tag| tag >= 0 && (tag as u32) < tags), "{:?}", shown);
                let different: BTreeSet<i32> = shown.iter().copied().collect();
                prop_assert_eq!(different.len(), shown.len());
            }
        }
    }
}
