//! What a server is waited for between its start and its trial: that it rested, and that its devices are quiet, since what went before
//! (a restore, a checkpoint, write caches that are emptied) goes on for a while.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use load::{Span, Tell};
use record::{DeviceLoad, Preparation, ServerStep};
use study::{Quiet, Server};

use crate::resources::Devices;
use crate::sampling::Sampler as _;

/// How often it is looked whether a wait is to end.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Waits as a server is to be waited for, from when it was ready. Gives what was done; a stop ends it at once.
pub(super) fn wait(
    called: &str,
    server: &Server,
    devices: &[String],
    ready: Instant,
    stop: &AtomicBool,
    tell: &mut Tell<'_>,
) -> Vec<ServerStep> {
    let mut steps = Vec::new();
    if let Some(rest) = server.rest {
        steps.push(rested(called, rest, ready, stop, tell));
    }
    if let Some(below) = server.quiet_below {
        let (quiet_for, within) = server.quiet_times();
        let waiting = Waiting::new(below, quiet_for, within);
        steps.push(quieted(called, waiting, devices, stop, tell));
    }
    steps
}

fn rested(called: &str, rest: Span, ready: Instant, stop: &AtomicBool, tell: &mut Tell<'_>) -> ServerStep {
    let end = ready + Duration::from_nanos(rest.ns);
    while !stop.load(Ordering::Relaxed) {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        tell(Preparation::waiting(format!("letting {called} rest for {rest}")));
        std::thread::sleep(left.min(LOOK_EVERY));
    }
    ServerStep::new("rested", ready.elapsed())
}

fn quieted(
    called: &str,
    mut waiting: Waiting,
    devices: &[String],
    stop: &AtomicBool,
    tell: &mut Tell<'_>,
) -> ServerStep {
    let begin = Instant::now();
    if devices.is_empty() {
        let remark =
            Some("the server's directories are not on a device with kernel I/O statistics".to_owned());
        return ServerStep { remark, ..ServerStep::new(ServerStep::NOT_QUIET, begin.elapsed()) };
    }
    let mut read = Devices::new(devices.to_vec());
    while !stop.load(Ordering::Relaxed) {
        tell(Preparation::waiting(format!(
            "{called}: waiting until its devices are idle ({})",
            devices.join(", ")
        )));
        let at_s = begin.elapsed().as_secs_f64();
        let loads = read.sample(at_s).map(|read| (read.devices, read.length_s));
        match waiting.heard(at_s, loads.as_ref().map(|(loads, length_s)| (loads, *length_s))) {
            Heard::GoesOn => std::thread::sleep(LOOK_EVERY),
            Heard::Quiet => return ServerStep::new(ServerStep::QUIET, begin.elapsed()),
            Heard::InVain(remark) => {
                let step = ServerStep::new(ServerStep::NOT_QUIET, begin.elapsed());
                return ServerStep { remark: Some(remark), ..step };
            }
        }
    }
    let remark = Some("interrupted".to_owned());
    ServerStep { remark, ..ServerStep::new(ServerStep::NOT_QUIET, begin.elapsed()) }
}

/// Devices that are waited for.
#[derive(Debug)]
struct Waiting {
    below: Quiet,
    for_s: f64,
    within_s: f64,
    /// For how long they have been quiet.
    quiet_s: f64,
    /// What was heard of them last, if that was not quiet.
    last: Option<String>,
}

/// What a reading of devices says.
#[derive(Clone, Debug, PartialEq)]
enum Heard {
    GoesOn,
    Quiet,
    /// The longest time is over; which device did what.
    InVain(String),
}

impl Waiting {
    fn new(below: Quiet, quiet_for: Span, within: Span) -> Self {
        let (for_s, within_s) = (quiet_for.as_seconds(), within.as_seconds());
        Self { below, for_s, within_s, quiet_s: 0.0, last: None }
    }

    /// Takes what devices did over so many seconds up to now, if that was read.
    fn heard(&mut self, at_s: f64, read: Option<(&BTreeMap<String, DeviceLoad>, f64)>) -> Heard {
        if let Some((loads, length_s)) = read {
            let loud = loads.iter().find_map(|(name, load)| Some(format!("{name} {}", self.too_much(load)?)));
            self.quiet_s = if loud.is_none() { self.quiet_s + length_s } else { 0.0 };
            self.last = loud.or(self.last.take());
        }
        if self.quiet_s >= self.for_s && self.quiet_s > 0.0 {
            return Heard::Quiet;
        }
        if at_s < self.within_s {
            return Heard::GoesOn;
        }
        Heard::InVain(
            self.last.take().unwrap_or_else(|| "the kernel reported nothing about these devices".to_owned()),
        )
    }

    /// What a device does that is not quiet.
    fn too_much(&self, load: &DeviceLoad) -> Option<String> {
        let moved = load.read_bytes_per_s + load.write_bytes_per_s;
        match self.below {
            // A kernel that does not count the time is asked by the queue: one request at a time is all of it.
            Quiet::Busy(share) => {
                let busy = load.busy_share.unwrap_or(load.queue_depth.min(1.0));
                (busy >= share).then(|| format!("was busy {:.1}% of the time", busy * 100.0))
            }
            Quiet::Bytes(size) => {
                (moved >= size.0 as f64).then(|| format!("moved {:.2} MiB/s", moved / f64::from(1 << 20)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use load::Size;

    /// What one device did in each half second, and when the wait ended and how.
    fn ends(below: &str, times: [u64; 2], readings: impl Iterator<Item = (f64, f64)>) -> (f64, Heard) {
        let [quiet_for, within] = times.map(Span::seconds);
        let mut waiting = Waiting::new(below.parse().unwrap(), quiet_for, within);
        for (place, (busy, bytes)) in readings.enumerate() {
            let load =
                DeviceLoad { busy_share: Some(busy), write_bytes_per_s: bytes, ..DeviceLoad::default() };
            let at_s = (place + 1) as f64 / 2.0;
            match waiting.heard(at_s, Some((&BTreeMap::from([("vda".to_owned(), load)]), 0.5))) {
                Heard::GoesOn => {}
                heard => return (at_s, heard),
            }
        }
        panic!("the readings ended first");
    }

    #[test]
    fn a_device_is_quiet_once_it_was_for_the_whole_time() {
        // Busy for three seconds, a short burst at five, quiet from then on.
        let busy = |place: usize| if place < 6 || place == 10 { 0.4 } else { 0.01 };
        let readings = || (0..100).map(|place| (busy(place), 0.0));
        assert_eq!(ends("5%", [2, 60], readings()), (5.0, Heard::Quiet), "two seconds from the third on");
        assert_eq!(ends("5%", [4, 60], readings()), (9.5, Heard::Quiet), "the burst begins it anew");
        assert_eq!(
            ends("0.5%", [2, 8], readings()),
            (8.0, Heard::InVain("vda was busy 1.0% of the time".to_owned()))
        );
    }

    #[test]
    fn bytes_are_counted_whatever_time_they_take() {
        let falling = || (0..40).map(|place| (0.0, f64::from(4 << 20) / f64::from(1 << place.min(30))));
        assert_eq!(ends("1MiB", [1, 60], falling()), (2.5, Heard::Quiet));
        let steady = (0..40).map(|_| (0.0, f64::from(3 << 20)));
        assert_eq!(
            ends(&Size::mib(1).to_string(), [1, 3], steady),
            (3.0, Heard::InVain("vda moved 3.00 MiB/s".to_owned()))
        );
    }

    #[test]
    fn a_kernel_that_tells_nothing_is_no_quiet_device() {
        let mut waiting = Waiting::new(Quiet::Busy(0.05), Span::seconds(1), Span::seconds(2));
        assert_eq!(waiting.heard(1.9, None), Heard::GoesOn);
        assert!(matches!(waiting.heard(2.0, None), Heard::InVain(why) if why.contains("nothing")));
    }

    #[test]
    fn a_server_on_no_device_is_told_and_a_stop_ends_a_rest() {
        let server = Server {
            rest: Some(Span::seconds(3_600)),
            quiet_below: Some(Quiet::Busy(0.05)),
            ..Server::default()
        };
        let steps = wait("pg", &server, &[], Instant::now(), &AtomicBool::new(true), &mut |_| {});
        let told: Vec<&str> = steps.iter().map(|step| step.what.as_str()).collect();
        assert_eq!(told, ["rested", ServerStep::NOT_QUIET]);
        assert!(steps[0].took_s < 60.0 && steps[1].remark.as_deref().unwrap().contains("not on a device"));
    }
}
