//! What servers have used of their CPUs, asked of whoever can see them: that may be another process than those who load them.

use std::fmt;

use record::{CpuOf, CpuRead};
use serde::{Deserialize, Serialize};

use super::cpu::CpuUse;

/// Shortest time that a share is taken of, in seconds: control groups with a quota are let run in periods of 0.1 s.
const SHORTEST_S: f64 = 0.1;

/// What servers had used by some moment, as plain data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CpuReading {
    /// When it was read, in seconds since any moment that stays the same.
    pub at_s: f64,
    /// Time of processors since then, in seconds, all servers together.
    pub used_s: f64,
}

/// Tells what the servers of a trial have used, whenever it is asked.
pub struct ServerMeter {
    of: CpuOf,
    processors: f64,
    ask: Box<dyn FnMut() -> Option<CpuReading>>,
}

impl ServerMeter {
    /// Somebody who is asked so about servers that may use so many processors. None is a reading that could not be had.
    pub fn new(of: CpuOf, processors: f64, ask: impl FnMut() -> Option<CpuReading> + 'static) -> Self {
        assert!(processors > 0.0, "the number of CPUs must be positive: {processors}");
        Self { of, processors, ask: Box::new(ask) }
    }

    /// Whose CPU it tells.
    #[must_use]
    pub fn read(&self) -> CpuRead {
        CpuRead { of: self.of, processors: Some(self.processors) }
    }

    /// Asks.
    pub fn ask(&mut self) -> Option<CpuReading> {
        (self.ask)()
    }
}

impl fmt::Debug for ServerMeter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ServerMeter").field(&self.read()).finish()
    }
}

/// The share of their processors that servers use, from one reading to the next.
#[derive(Debug)]
pub(crate) struct OwnCpu {
    meter: ServerMeter,
    last: Option<CpuReading>,
}

impl OwnCpu {
    /// Begins to count.
    pub(crate) fn begin(mut meter: ServerMeter) -> Self {
        let last = meter.ask();
        Self { meter, last }
    }

    /// What they used since the last reading; none where one is missing, or hardly any time passed between.
    pub(crate) fn used(&mut self) -> Option<CpuUse> {
        let now = self.meter.ask()?;
        let Some(last) = self.last else {
            self.last = Some(now);
            return None;
        };
        let length_s = now.at_s - last.at_s;
        if length_s < SHORTEST_S {
            return None;
        }
        self.last = Some(now);
        let seconds = now.used_s - last.used_s;
        // Of one that counts anew nothing is known for once.
        let share = seconds / length_s / self.meter.processors;
        (seconds >= 0.0).then(|| CpuUse { share: share.min(1.0), seconds })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    fn own(readings: &[Option<(f64, f64)>], processors: f64) -> OwnCpu {
        let mut readings: VecDeque<_> = readings.iter().copied().collect();
        let ask = move || {
            let (at_s, used_s) = readings.pop_front().flatten()?;
            Some(CpuReading { at_s, used_s })
        };
        OwnCpu::begin(ServerMeter::new(CpuOf::Groups, processors, ask))
    }

    #[test]
    fn a_share_is_of_the_processors_that_the_server_may_use() {
        let readings = [(10.0, 3.0), (11.0, 3.3), (13.0, 4.3)].map(Some);
        let mut half = own(&readings, 0.5);
        let near = |used: Option<CpuUse>, share: f64, seconds: f64| {
            let used = used.unwrap();
            assert!((used.share - share).abs() < 1e-9 && (used.seconds - seconds).abs() < 1e-9, "{used:?}");
        };
        near(half.used(), 0.6, 0.3);
        near(half.used(), 1.0, 1.0);
        assert_eq!(half.used(), None, "nobody answers");
        let mut whole = own(&readings, 4.0);
        near(whole.used(), 0.075, 0.3);
    }

    #[test]
    fn a_missing_reading_is_made_up_by_the_next_and_one_that_counts_anew_tells_nothing() {
        let readings = [None, Some((1.0, 1.0)), None, Some((3.0, 2.0)), Some((3.05, 2.04)), Some((4.0, 0.5))];
        let mut own = own(&readings, 1.0);
        assert_eq!((own.used(), own.used()), (None, None), "a first one, and none");
        assert_eq!(own.used(), Some(CpuUse { share: 0.5, seconds: 1.0 }));
        assert_eq!(own.used(), None, "too short a time");
        assert_eq!(own.used(), None, "less than before");
    }
}
