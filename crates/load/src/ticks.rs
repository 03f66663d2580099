//! Time of the machine's processors, as the kernel counts it.

/// Time of a processor since the machine began, or of several together, or a difference of such times, in ticks of 1/100 s
/// (USER_HZ, as the kernel tells it to programs whatever its own is).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ticks {
    /// Programs, also with a low priority; guests' time is in it already.
    pub user: u64,
    /// The kernel, for programs.
    pub system: u64,
    /// Nothing to do.
    pub idle: u64,
    /// Nothing to do but to wait for a disk.
    pub io_wait: u64,
    /// Interrupts of devices.
    pub interrupt: u64,
    /// What the kernel left to do later in an interrupt.
    pub soft_interrupt: u64,
    /// What a hypervisor took.
    pub steal: u64,
}

impl Ticks {
    /// The lines of `/proc/stat` that begin with `cpu`, each with the number of its processor, or without one for all of them:
    /// user, nice, system, idle, iowait, irq, softirq, steal, guest, guest_nice
    /// (<https://docs.kernel.org/filesystems/proc.html>). Kernels before 2.6.11 wrote fewer; a field that is not there counts
    /// nothing. A line with something else than numbers is left out.
    pub fn of_stat(text: &str) -> impl Iterator<Item = (Option<u32>, Self)> {
        text.lines().filter_map(Self::of_line)
    }

    fn of_line(line: &str) -> Option<(Option<u32>, Self)> {
        let (number, times) = line.strip_prefix("cpu")?.split_once(' ')?;
        let number = if number.is_empty() { None } else { Some(number.parse().ok()?) };
        let times = times.split_ascii_whitespace().map(str::parse);
        let times: Vec<u64> = times.collect::<Result<_, _>>().ok()?;
        let time = |field: usize| times.get(field).copied().unwrap_or(0);
        let ticks = Self {
            user: time(0) + time(1),
            system: time(2),
            idle: time(3),
            io_wait: time(4),
            interrupt: time(5),
            soft_interrupt: time(6),
            steal: time(7),
        };
        Some((number, ticks))
    }

    /// Time in which the processor worked for somebody on this machine.
    #[must_use]
    pub fn busy(&self) -> u64 {
        self.user + self.privileged()
    }

    /// Time of the kernel, interrupts included.
    #[must_use]
    pub fn privileged(&self) -> u64 {
        self.system + self.interrupts()
    }

    /// Time in hard and soft interrupts.
    #[must_use]
    pub fn interrupts(&self) -> u64 {
        self.interrupt + self.soft_interrupt
    }

    /// All of it.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.busy() + self.idle + self.io_wait + self.steal
    }

    /// What passed since an earlier reading. A counter of a kernel that stepped back counts nothing.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        self.with(before, u64::saturating_sub)
    }

    /// Together with another processor's.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        self.with(other, |one, other| one + other)
    }

    fn with(&self, other: &Self, each: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            user: each(self.user, other.user),
            system: each(self.system, other.system),
            idle: each(self.idle, other.idle),
            io_wait: each(self.io_wait, other.io_wait),
            interrupt: each(self.interrupt, other.interrupt),
            soft_interrupt: each(self.soft_interrupt, other.soft_interrupt),
            steal: each(self.steal, other.steal),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_and_all_together_are_told_apart() {
        let stat = "cpu  100 20 30 400 50 6 4 7 0 0\ncpu0 1 2 3 4\ncpu1 1 2 x\nintr 5\n";
        let all = Ticks {
            user: 120,
            system: 30,
            idle: 400,
            io_wait: 50,
            interrupt: 6,
            soft_interrupt: 4,
            steal: 7,
        };
        let first = Ticks { user: 3, system: 3, idle: 4, ..Ticks::default() };
        assert_eq!(Ticks::of_stat(stat).collect::<Vec<_>>(), [(None, all), (Some(0), first)]);
        assert_eq!((all.busy(), all.privileged(), all.interrupts(), all.total()), (160, 40, 10, 617));
        assert_eq!(first.since(&all), Ticks::default());
        assert_eq!(first.plus(&all).since(&all), first);
    }
}
