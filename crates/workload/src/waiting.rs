//! Waits that hear when the user asks for an end.
//!
//! The flag is set by a signal, which can wake nobody: so it is looked at.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use database::{Claim, Error, Layout, Own, Url};
use load::Tell;
use record::Preparation;
use tokio::time::sleep;

/// Time between two looks at the flag.
const LOOK: Duration = Duration::from_millis(50);
/// Time between two signs that something still goes on.
const SIGN: Duration = Duration::from_secs(1);
/// How long after that what is half done may take to be finished.
const FINISH_GRACE: Duration = Duration::from_secs(1);
/// How long it may take to be removed.
const REMOVE_GRACE: Duration = Duration::from_secs(10);

// Each of these is a future around another. Work is put on the heap where it comes in: a future keeps what it is given beside what it makes
// of it, so that each layer would double what the stack has to hold.

/// Awaits work, but not longer than until `stop` is set: none then, and the work is dropped where it stands.
pub fn unless_stopped<T>(
    stop: &AtomicBool,
    work: impl Future<Output = T>,
) -> impl Future<Output = Option<T>> {
    with_grace(stop, Duration::ZERO, work)
}

/// Awaits work, and for `grace` more once `stop` is set.
pub fn with_grace<T>(
    stop: &AtomicBool,
    grace: Duration,
    work: impl Future<Output = T>,
) -> impl Future<Output = Option<T>> {
    let work = Box::pin(work);
    async move {
        let given_up = async {
            while !stop.load(Ordering::Relaxed) {
                sleep(LOOK).await;
            }
            sleep(grace).await;
        };
        tokio::select! {
            biased;
            done = work => Some(done),
            () = given_up => None,
        }
    }
}

/// Awaits what would leave something behind if it were dropped half done: a server that answers is let finish it.
pub fn unless_stopped_for_long<T>(
    stop: &AtomicBool,
    work: impl Future<Output = T>,
) -> impl Future<Output = Option<T>> {
    with_grace(stop, FINISH_GRACE, work)
}

/// Awaits work of which nothing is heard meanwhile, and tells at its begin and every second that it goes on.
pub fn telling<T>(
    tell: &mut Tell<'_>,
    what: Preparation,
    work: impl Future<Output = T>,
) -> impl Future<Output = T> {
    let work = Box::pin(work);
    async move {
        tell(what.clone());
        going_on(tell, &what, work).await
    }
}

/// [`telling`] of what was told to begin.
pub fn going_on<T>(
    tell: &mut Tell<'_>,
    what: &Preparation,
    work: impl Future<Output = T>,
) -> impl Future<Output = T> {
    let mut work = Box::pin(work);
    async move {
        loop {
            tokio::select! {
                biased;
                done = &mut work => return done,
                () = sleep(SIGN) => tell(what.clone()),
            }
        }
    }
}

/// A database that is to be made or taken up.
#[derive(Clone, Copy, Debug)]
pub struct Making<'a> {
    /// Address of the server, or of the file.
    pub url: &'a Url,
    /// Its name on the server.
    pub name: &'a str,
    /// For whom, and what becomes of one that is there.
    pub claim: &'a Claim,
    /// How it lies and logs.
    pub layout: &'a Layout,
}

impl<'a> Making<'a> {
    /// One that lies and logs as its server has it.
    #[must_use]
    pub fn plain(url: &'a Url, name: &'a str, claim: &'a Claim) -> Self {
        static PLAIN: Layout = Layout::PLAIN;
        Self { url, name, claim, layout: &PLAIN }
    }
}

/// Makes or takes up a database of our own; none if the user asks for an end and it is not there soon.
pub async fn make(making: Making<'_>, stop: &AtomicBool, tell: &mut Tell<'_>) -> Option<Result<Own, Error>> {
    let Making { url, name, claim, layout } = making;
    let place = url.file().map_or_else(|| name.to_owned(), |file| file.display().to_string());
    let making = Own::make_laid(url, name, claim, layout);
    unless_stopped_for_long(stop, telling(tell, Preparation::waiting(format!("preparing {place}")), making))
        .await
}

/// Removes a database of our own, for which there is not much time once the user asks for an end.
///
/// # Errors
/// Names what is left and how to remove it.
pub async fn remove(own: Own, stop: &AtomicBool) -> Result<(), Error> {
    let place = own.url().to_string();
    with_grace(stop, REMOVE_GRACE, own.remove()).await.unwrap_or_else(|| {
        Err(Error::Lost(format!(
            "{place} could not be deleted within {} s of the interruption and may still exist: drop it later, or let the next run replace it",
            REMOVE_GRACE.as_secs()
        )))
    })
}

/// Removes the snapshot of a database of our own that stays, in as little time.
///
/// # Errors
/// Says what is left.
pub async fn forget_saved(own: &Own, stop: &AtomicBool) -> Result<(), Error> {
    with_grace(stop, REMOVE_GRACE, own.forget_saved()).await.unwrap_or_else(|| {
        Err(Error::Lost(format!(
            "the snapshot of {} could not be deleted within {} s of the interruption and may still exist. The next run with a snapshot replaces it",
            own.url(),
            REMOVE_GRACE.as_secs()
        )))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::Instant;

    #[tokio::test(start_paused = true)]
    async fn work_is_awaited_until_a_stop_and_its_grace() {
        let stop = AtomicBool::new(false);
        let begin = Instant::now();
        let hour = Duration::from_secs(3600);
        assert_eq!(unless_stopped(&stop, sleep(hour)).await, Some(()));
        assert!(begin.elapsed() >= hour);
        let stopping = async {
            sleep(Duration::from_secs(1)).await;
            stop.store(true, Ordering::Relaxed);
            std::future::pending::<()>().await
        };
        assert_eq!(unless_stopped(&stop, stopping).await, None);
        let grace = Duration::from_secs(3);
        assert_eq!(with_grace(&stop, grace, sleep(Duration::from_secs(2))).await, Some(()));
        let begin = Instant::now();
        assert_eq!(with_grace(&stop, grace, sleep(hour)).await, None);
        assert!(begin.elapsed() >= grace && begin.elapsed() < 2 * grace);
        assert_eq!(unless_stopped(&stop, async {}).await, Some(()), "what is done is done");
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_is_told_at_its_begin_and_every_second() {
        let mut told = Vec::new();
        let what = Preparation::waiting("preparing x.db");
        let work = sleep(Duration::from_millis(2_500));
        telling(&mut |sign| told.push(sign), what.clone(), work).await;
        assert_eq!(told, [what.clone(), what.clone(), what]);
    }
}
