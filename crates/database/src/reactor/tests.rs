//! On pairs of sockets: what one end sends, the other one is told of once.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Wake;

use super::*;

const SOON: Duration = Duration::from_secs(10);

/// Counts how often it was woken.
#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

struct Tested {
    reactor: Reactor,
    line: Line<UnixStream>,
    there: UnixStream,
    woken: Arc<Count>,
    waker: Waker,
}

/// A line of this thread, and its other end.
fn tested() -> Tested {
    let reactor = Reactor::here().unwrap();
    let (here, there) = UnixStream::pair().unwrap();
    let Ok(line) = Line::of(here).unwrap() else { panic!("there is a reactor") };
    let woken = Arc::new(Count::default());
    let waker = Waker::from(Arc::clone(&woken));
    Tested { reactor, line, there, woken, waker }
}

impl Tested {
    fn receive(&mut self) -> Poll<Vec<u8>> {
        let mut room = [0; 16];
        let received = self.line.receive(&Context::from_waker(&self.waker), &mut room);
        received.map(|bytes| room[..bytes.unwrap()].to_vec())
    }

    /// Sends until no more can be sent.
    fn fill(&mut self) -> usize {
        let mut sent = 0;
        while let Poll::Ready(more) = self.line.send(&Context::from_waker(&self.waker), &[0; 1_000]) {
            sent += more.unwrap();
        }
        sent
    }

    fn woken(&self) -> usize {
        self.woken.0.load(Ordering::Relaxed)
    }
}

#[test]
fn who_awaits_what_comes_is_woken_once() {
    let mut tested = tested();
    assert_eq!((tested.receive(), tested.reactor.awaited()), (Poll::Pending, 1));
    assert!(!tested.reactor.wait(Duration::ZERO).unwrap(), "that it can be written to is no news");
    assert_eq!(
        (tested.receive(), tested.receive(), tested.reactor.awaited()),
        (Poll::Pending, Poll::Pending, 1)
    );
    let before = tested.woken();
    tested.there.write_all(b"one").unwrap();
    assert!(tested.reactor.wait(SOON).unwrap());
    assert_eq!((tested.woken(), tested.reactor.awaited()), (before + 1, 0));
    assert_eq!(tested.receive(), Poll::Ready(b"one".to_vec()));
    assert!(!tested.reactor.wait(Duration::ZERO).unwrap());
    assert_eq!((tested.receive(), tested.woken()), (Poll::Pending, before + 1));
}

#[test]
fn what_comes_while_nobody_awaits_it_is_found_later() {
    let mut tested = tested();
    tested.there.write_all(b"one").unwrap();
    assert_eq!(tested.receive(), Poll::Ready(b"one".to_vec()));
    tested.there.write_all(b"two").unwrap();
    assert!(!tested.reactor.wait(SOON).unwrap(), "it is told, and nobody is woken");
    assert_eq!(tested.receive(), Poll::Ready(b"two".to_vec()));
    tested.there.write_all(&[7; 20]).unwrap();
    assert_eq!(tested.receive(), Poll::Pending, "it was not told yet");
    tested.reactor.wait(SOON).unwrap();
    assert_eq!(tested.receive(), Poll::Ready(vec![7; 16]));
    assert_eq!(tested.receive(), Poll::Ready(vec![7; 4]), "what did not fit is still there");
}

#[test]
fn who_sends_and_who_receives_are_both_told() {
    let mut tested = tested();
    let sent = tested.fill();
    assert_eq!(tested.receive(), Poll::Pending);
    let mut all = vec![0; sent];
    tested.there.read_exact(&mut all).unwrap();
    tested.there.write_all(b"read").unwrap();
    tested.reactor.wait(SOON).unwrap();
    assert_eq!(tested.receive(), Poll::Ready(b"read".to_vec()));
    assert!(tested.fill() > 0);
}

#[test]
fn an_end_is_told_again_and_again() {
    let mut tested = tested();
    while tested.receive().is_ready() || tested.reactor.wait(Duration::ZERO).unwrap() {}
    let (there, _) = UnixStream::pair().unwrap();
    drop(std::mem::replace(&mut tested.there, there));
    assert!(tested.reactor.wait(SOON).unwrap());
    assert_eq!((tested.receive(), tested.receive()), (Poll::Ready(Vec::new()), Poll::Ready(Vec::new())));
}

/// A server that ends says why, and both come at once: of the end nothing is told that was not told with the words.
#[test]
fn an_end_that_comes_with_the_last_words_is_found_behind_them() {
    let mut tested = tested();
    assert_eq!(tested.receive(), Poll::Pending);
    let (other, _) = UnixStream::pair().unwrap();
    let mut there = std::mem::replace(&mut tested.there, other);
    there.write_all(b"FATAL").unwrap();
    drop(there);
    assert!(tested.reactor.wait(SOON).unwrap());
    assert_eq!(
        (tested.receive(), tested.receive()),
        (Poll::Ready(b"FATAL".to_vec()), Poll::Ready(Vec::new()))
    );
}

#[test]
fn a_socket_that_was_given_back_is_not_waited_for() {
    let mut tested = tested();
    assert_eq!(tested.receive(), Poll::Pending);
    let Tested { mut reactor, line, mut there, woken, .. } = tested;
    let mut socket = line.into_socket().unwrap();
    assert_eq!(reactor.awaited(), 0);
    there.write_all(b"later").unwrap();
    assert!(!reactor.wait(Duration::ZERO).unwrap());
    assert_eq!(woken.0.load(Ordering::Relaxed), 0);
    let mut room = [0; 5];
    socket.read_exact(&mut room).unwrap();
    assert_eq!(&room, b"later");
    let Ok(again) = Line::of(socket).unwrap() else { panic!("there is a reactor") };
    assert_eq!(again.place.number, 0, "its place was free");
    drop(reactor);
    assert!(!is_here());
    assert!(Line::of(again.into_socket().unwrap()).unwrap().is_err(), "no reactor, no line");
}

/// A line of this thread that is polled for, and its other end.
fn polled() -> Tested {
    let mut tested = tested();
    tested.reactor.use_poll().unwrap();
    tested
}

#[test]
fn who_awaits_what_is_polled_for_is_woken_once() {
    let mut tested = polled();
    assert_eq!((tested.receive(), tested.reactor.awaited()), (Poll::Pending, 1));
    assert!(!tested.reactor.wait(Duration::ZERO).unwrap(), "that it can be written to is no news");
    tested.there.write_all(b"one").unwrap();
    assert!(tested.reactor.wait(SOON).unwrap());
    assert_eq!((tested.woken(), tested.reactor.awaited()), (1, 0));
    tested.there.write_all(b"two").unwrap();
    assert!(!tested.reactor.wait(Duration::ZERO).unwrap(), "nobody awaits it");
    assert_eq!(tested.receive(), Poll::Ready(b"onetwo".to_vec()));
    tested.there.write_all(b"three").unwrap();
    assert_eq!(tested.receive(), Poll::Pending, "nobody looked");
    assert!(tested.reactor.wait(SOON).unwrap());
    assert_eq!((tested.receive(), tested.woken()), (Poll::Ready(b"three".to_vec()), 2));
}

#[test]
fn who_sends_more_than_fits_is_polled_for_until_it_does() {
    let mut tested = polled();
    let sent = tested.fill();
    assert!(!tested.reactor.wait(Duration::ZERO).unwrap());
    tested.there.read_exact(&mut vec![0; sent]).unwrap();
    assert!(tested.reactor.wait(SOON).unwrap());
    assert!(tested.fill() > 0);
    assert_eq!(tested.receive(), Poll::Pending);
    drop(std::mem::replace(&mut tested.there, UnixStream::pair().unwrap().0));
    assert!(tested.reactor.wait(SOON).unwrap());
    assert!(tested.reactor.poller.lines().all[0].as_ref().unwrap().is_ended);
}

#[test]
fn what_was_not_polled_for_is_told_by_the_epoll_afterwards() {
    let mut tested = polled();
    let (mut idle, mut other) = UnixStream::pair().unwrap();
    let Ok(mut second) = Line::of(other.try_clone().unwrap()).unwrap() else { panic!("there is a reactor") };
    assert_eq!(tested.receive(), Poll::Pending);
    idle.write_all(b"before").unwrap();
    tested.there.write_all(b"one").unwrap();
    tested.reactor.use_epoll().unwrap();
    let descriptor = tested.reactor.descriptor().unwrap();
    let mut told = [PollFd::new(&descriptor, PollFlags::IN)];
    assert_eq!(poll(&mut told, Some(&Timespec { tv_sec: 10, tv_nsec: 0 })).unwrap(), 1);
    assert!(tested.reactor.wait(SOON).unwrap());
    assert_eq!(tested.receive(), Poll::Ready(b"one".to_vec()));
    let mut room = [0; 16];
    let context = Context::from_waker(&tested.waker);
    assert!(matches!(second.receive(&context, &mut room), Poll::Ready(Ok(6))));
    drop(second);
    other.set_nonblocking(true).unwrap();
    assert_eq!(other.read(&mut room).unwrap_err().kind(), io::ErrorKind::WouldBlock, "all was received");
}

#[test]
fn only_a_few_are_polled_for() {
    let mut tested = polled();
    assert_eq!(tested.receive(), Poll::Pending);
    let add = || {
        let (here, there) = UnixStream::pair().unwrap();
        let Ok(line) = Line::of(here).unwrap() else { panic!("there is a reactor") };
        (line, there)
    };
    let few: Vec<_> = (1..FEW).map(|_| add()).collect();
    assert!(tested.reactor.poller.lines().is_polled);
    let more = add();
    assert!(!tested.reactor.poller.lines().is_polled);
    tested.reactor.use_poll().unwrap();
    assert!(!tested.reactor.poller.lines().is_polled, "they are too many");
    tested.there.write_all(b"one").unwrap();
    assert!(tested.reactor.wait(SOON).unwrap());
    assert_eq!(tested.receive(), Poll::Ready(b"one".to_vec()));
    drop((few, more));
    tested.reactor.use_poll().unwrap();
    assert!(tested.reactor.poller.lines().is_polled);
}

#[test]
fn an_alarm_ends_a_wait_from_another_thread_and_only_one() {
    for mut tested in [tested(), polled()] {
        assert_eq!(tested.receive(), Poll::Pending);
        let alarm = tested.reactor.alarm();
        let raising = std::thread::spawn(move || {
            alarm.raise();
            alarm.raise();
        });
        assert!(tested.reactor.wait(SOON).unwrap());
        raising.join().unwrap();
        tested.reactor.wait(Duration::ZERO).unwrap();
        assert!(!tested.reactor.wait(Duration::ZERO).unwrap(), "that it was raised twice is one");
        assert_eq!(tested.woken(), 0, "nobody awaited it");
        tested.there.write_all(b"one").unwrap();
        assert!(tested.reactor.wait(SOON).unwrap());
        assert_eq!(tested.receive(), Poll::Ready(b"one".to_vec()));
    }
}
