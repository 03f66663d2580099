//! CPU of the server, and how many clients hold it at a level.

use load::Ticks;

/// Length of a tick, 1/100 s.
const TICK_US: f64 = 10_000.0;

/// Fewest ticks of all processors together that a share is taken of.
const TICKS_MIN: u64 = 20;

/// Reads how much of this machine's CPU time was used, over all its processors.
#[derive(Debug)]
pub(crate) struct MachineCpu {
    last: Option<Ticks>,
    /// What the load used since then.
    load_us: u64,
}

/// CPU that servers used, or others than the load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CpuUse {
    /// Share (0–1) of the time of the processors that they may use.
    pub(crate) share: f64,
    /// Time in seconds, all processors together.
    pub(crate) seconds: f64,
}

/// Adjusts the number of active clients until the server's CPU is at a level.
#[derive(Debug)]
pub(super) struct Governor {
    target_share: f64,
    most: u32,
    /// With its fraction, so that small steps add up.
    clients: f64,
}

impl MachineCpu {
    /// Begins to count. None where the kernel does not tell.
    pub(crate) fn begin() -> Option<Self> {
        Some(Self { last: Some(now()?), load_us: 0 })
    }

    /// What others than the load used since the last reading; the load took so many microseconds since it was told last.
    /// None if there was hardly any time between.
    pub(crate) fn others(&mut self, load_us: u64) -> Option<CpuUse> {
        self.load_us += load_us;
        let (now, last) = (now()?, self.last?);
        let used = now.since(&last);
        // What a hypervisor took was not there to be used.
        let all = used.total() - used.steal;
        if all < TICKS_MIN {
            return None;
        }
        let load = std::mem::take(&mut self.load_us) as f64 / TICK_US;
        self.last = Some(now);
        let busy = (used.busy() as f64 - load).clamp(0.0, all as f64);
        Some(CpuUse { share: busy / all as f64, seconds: busy * TICK_US / 1e6 })
    }
}

/// Processors of this machine; none where the kernel does not tell.
pub fn processors() -> Option<u32> {
    let stat = std::fs::read_to_string("/proc/stat").ok()?;
    Some(Ticks::of_stat(&stat).filter(|(processor, _)| processor.is_some()).count() as u32)
        .filter(|all| *all > 0)
}

/// That of all processors together.
fn now() -> Option<Ticks> {
    let stat = std::fs::read_to_string("/proc/stat").ok()?;
    Ticks::of_stat(&stat).find_map(|(processor, ticks)| processor.is_none().then_some(ticks))
}

impl Governor {
    /// Begins with one client of at most `most`.
    pub(super) fn new(target_share: f64, most: u32) -> Self {
        Self { target_share, most, clients: 1.0 }
    }

    /// The number of clients after an interval in which the server used this share. CPU grows about as clients do: half of
    /// the difference is made up each time, so that one odd second does not upset it.
    pub(super) fn adjusted(&mut self, share: f64) -> u32 {
        let factor = (1.0 + 0.5 * (self.target_share / share.max(0.01) - 1.0)).clamp(0.5, 2.0);
        self.clients = (self.clients * factor).clamp(1.0, f64::from(self.most));
        self.clients.round() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn this_machine_tells() {
        let mut cpu = MachineCpu::begin().unwrap();
        let mut sum = 0u64;
        let others = loop {
            sum = sum.wrapping_mul(31).wrapping_add(7);
            if let Some(others) = cpu.others(0) {
                break others;
            }
        };
        assert!((0.0..=1.0).contains(&others.share) && others.seconds >= 0.0, "{others:?} {sum}");
    }

    proptest! {
        /// A server of which each client takes a share, up to all of it.
        #[test]
        fn the_level_is_found_and_held(
            a_client in 0.002f64..0.1, target in 0.2f64..0.9, noise in prop::collection::vec(-0.02f64..0.02, 200),
        ) {
            let mut governor = Governor::new(target, 1_000);
            let mut clients = 1;
            for (interval, noise) in noise.into_iter().enumerate() {
                let share = (f64::from(clients) * a_client).min(1.0);
                if interval > 40 {
                    prop_assert!((share - target).abs() < 0.04 + a_client, "{share} and not {target} in {interval}");
                }
                clients = governor.adjusted((share + noise).max(0.0));
            }
        }

        #[test]
        fn there_are_never_more_clients_than_there_may_be(most in 1u32..50, share in 0.0f64..1.0) {
            let mut governor = Governor::new(0.99, most);
            for _ in 0..50 {
                prop_assert!((1..=most).contains(&governor.adjusted(share)));
            }
        }
    }
}
