//! Waits that end when they are to.
//!
//! A runtime's timers are of milliseconds, and end up to two of them later. Who sends what is due then sends it late, and the response time, which
//! counts from when it was due, has what was the load generator's: 1.4 ms instead of 0.5 ms, of statements of 0.2 ms at 1,000/s. What is left of a
//! wait in the end is a timer of the kernel, <https://man7.org/linux/man-pages/man2/timerfd_create.2.html>.

use std::cell::RefCell;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rustix::io::Errno;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::task::coop::consume_budget;
use tokio::task::yield_now;
use tokio::time::{Instant, sleep_until};

/// What of a wait the kernel's timer is for: more than a runtime is late.
const LAST: Duration = Duration::from_millis(3);

/// Waits that may be over before anybody looks.
const SHORT: Duration = Duration::from_micros(50);

/// How many more timers this process may have.
static LEFT: AtomicUsize = AtomicUsize::new(usize::MAX);

thread_local! {
    static HERE: RefCell<Option<Vec<Timer>>> = const { RefCell::new(None) };
}

/// This process may have so many timers from now on, so that they leave room for other files.
pub(crate) fn allow(count: usize) {
    LEFT.store(count, Ordering::Relaxed);
}

/// Keeps the timers of this thread and its runtime for the next waits, for as long as it lives: to make one takes three times as long as to set
/// it.
#[derive(Debug)]
pub(crate) struct Kept(());

impl Kept {
    pub(crate) fn here() -> Self {
        HERE.set(Some(Vec::new()));
        Self(())
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        HERE.set(None);
    }
}

/// Waits until a moment; not at all if it is past.
pub(crate) async fn until(moment: Instant) {
    if moment.saturating_duration_since(Instant::now()) > LAST {
        sleep_until(moment - LAST).await;
    }
    let left = moment.saturating_duration_since(Instant::now());
    if left.is_zero() {
        // Who is always late leaves others their turn, where the runtime counts how much each does.
        return consume_budget().await;
    }
    if pass(left).await.is_err() {
        // No more files may be opened: late is better than never.
        sleep_until(moment).await;
    }
}

/// Waits for so long, which is not zero.
async fn pass(time: Duration) -> io::Result<()> {
    if time < SHORT {
        // It may be over before it is looked at, and others have their turn all the same.
        yield_now().await;
    }
    let kept = HERE.with_borrow_mut(|here| here.as_mut().and_then(Vec::pop));
    let timer = kept.map_or_else(Timer::new, Ok)?;
    timer.pass(time).await?;
    // One whose wait was given up is not kept.
    HERE.with_borrow_mut(|here| {
        if let Some(here) = here {
            here.push(timer);
        }
    });
    Ok(())
}

#[derive(Debug)]
struct Timer(AsyncFd<OwnedFd>);

impl Drop for Timer {
    fn drop(&mut self) {
        LEFT.fetch_add(1, Ordering::Relaxed);
    }
}

impl Timer {
    fn new() -> io::Result<Self> {
        let take = |left: usize| left.checked_sub(1);
        if LEFT.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_err() {
            return Err(Errno::MFILE.into());
        }
        Self::open().inspect_err(|_| _ = LEFT.fetch_add(1, Ordering::Relaxed))
    }

    fn open() -> io::Result<Self> {
        let timer =
            timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK)?;
        #[expect(
            deprecated,
            reason = "the descriptor is owned, which is all that its successor wants to be promised"
        )]
        let timer = AsyncFd::with_interest(timer, Interest::READABLE)?;
        Ok(Self(timer))
    }

    async fn pass(&self, time: Duration) -> io::Result<()> {
        let it_value = Timespec { tv_sec: time.as_secs().cast_signed(), tv_nsec: time.subsec_nanos().into() };
        let once = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value };
        timerfd_settime(&self.0, TimerfdTimerFlags::empty(), &once)?;
        loop {
            // How often it expired is read, so that it tells the next time too.
            let mut readable = self.0.readable().await?;
            if let Ok(read) = readable.try_io(|timer| Ok(rustix::io::read(timer, &mut [0; 8])?)) {
                return read.map(drop);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The longest of twenty short waits.
    async fn longest() -> Duration {
        let mut longest = Duration::ZERO;
        for number in 0..20 {
            let moment = Instant::now() + Duration::from_micros(100 + number);
            until(moment).await;
            let now = Instant::now();
            assert!(now >= moment, "it ended before its time");
            longest = longest.max(now - moment);
        }
        longest
    }

    /// The runtime's own are longer by half a millisecond and more in three of five, however idle the machine is.
    #[tokio::test]
    async fn waits_end_soon_after_their_time_whenever_the_machine_lets_them() {
        for round in 0..200 {
            let _kept = (round % 2 == 1).then(Kept::here);
            if longest().await < Duration::from_micros(500) {
                return;
            }
        }
        panic!("among twenty waits there is always one that ends late");
    }

    #[tokio::test]
    async fn a_timer_is_kept_and_tells_each_of_its_waits() {
        let kept = Kept::here();
        let count = || HERE.with_borrow(|here| here.as_ref().map(Vec::len));
        for _ in 0..3 {
            longest().await;
            assert_eq!(count(), Some(1));
        }
        // A wait that is given up takes its timer with it: it may expire yet.
        let given_up = pass(Duration::from_secs(60));
        assert!(futures_util::FutureExt::now_or_never(given_up).is_none());
        assert_eq!(count(), Some(0));
        let together = || pass(Duration::from_millis(20));
        let (one, other) = tokio::join!(together(), together());
        assert!(one.and(other).is_ok());
        assert_eq!(count(), Some(2));
        drop(kept);
        assert_eq!(count(), None);
    }

    #[tokio::test]
    async fn what_is_past_is_not_waited_for() {
        let begin = Instant::now();
        assert!(futures_util::FutureExt::now_or_never(until(begin)).is_some());
    }

    #[tokio::test]
    async fn who_is_always_late_leaves_others_their_turn() {
        let past = Instant::now();
        let late = async {
            loop {
                until(past).await;
            }
        };
        tokio::select! {
            biased;
            () = late => {}
            () = tokio::task::yield_now() => {}
        }
    }
}
