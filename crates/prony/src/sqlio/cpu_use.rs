//! What `-U` tells: how the processors spent the time of the load, and how often they were interrupted.
//!
//! Windows' names on Linux's counters (proc(5)): a deferred procedure call is a soft interrupt, privileged time is the
//! kernel's with all interrupts. What a hypervisor took is in none of them.

use std::collections::BTreeMap;
use std::fs;
use std::time::Instant;

use load::Ticks;

use super::layout::{CpuColumn, CpuFigures};
use super::options::CpuUse;

/// Counters of the processors at one time.
#[derive(Clone, Debug)]
pub(super) struct Reading {
    at: Instant,
    /// By the processors' numbers.
    ticks: BTreeMap<u32, Ticks>,
    interrupts: BTreeMap<u32, u64>,
}

impl Reading {
    pub(super) fn now() -> Self {
        let text = |path: &str| fs::read_to_string(path).unwrap_or_default();
        Self::of(&text("/proc/stat"), &text("/proc/interrupts"), Instant::now())
    }

    fn of(stat: &str, interrupts: &str, at: Instant) -> Self {
        let ticks = Ticks::of_stat(stat).filter_map(|(processor, ticks)| Some((processor?, ticks))).collect();
        Self { at, ticks, interrupts: interrupts_by_processor(interrupts) }
    }

    /// What passed since an earlier reading; none if nothing was counted.
    pub(super) fn since(&self, before: &Self, wanted: CpuUse) -> Option<CpuFigures> {
        let length_s = self.at.duration_since(before.at).as_secs_f64();
        let since = |number: &u32| {
            let ticks = self.ticks[number].since(before.ticks.get(number)?);
            let earlier = before.interrupts.get(number).copied().unwrap_or(0);
            let interrupts = self.interrupts.get(number).map_or(0, |now| now.saturating_sub(earlier));
            Some((*number, ticks, interrupts))
        };
        let each: Vec<(u32, Ticks, u64)> = self.ticks.keys().filter_map(since).collect();
        let all = each.iter().fold(Ticks::default(), |all, (_, ticks, _)| all.plus(ticks));
        if all.total() == 0 || length_s <= 0.0 {
            return None;
        }
        let interrupts = each.iter().map(|(_, _, interrupts)| interrupts).sum();
        let mut columns = vec![column("ALL".to_owned(), &all, interrupts, length_s)];
        if wanted == CpuUse::EachCpu {
            let of = |(number, ticks, interrupts): &(u32, Ticks, u64)| {
                column(number.to_string(), ticks, *interrupts, length_s)
            };
            columns.extend(each.iter().map(of));
        }
        Some(CpuFigures { columns })
    }
}

fn column(processor: String, ticks: &Ticks, interrupts: u64, length_s: f64) -> CpuColumn {
    let per_cent = |part: u64| 100.0 * part as f64 / ticks.total().max(1) as f64;
    CpuColumn {
        processor,
        dpc_per_cent: per_cent(ticks.soft_interrupt),
        interrupt_per_cent: per_cent(ticks.interrupt),
        privileged_per_cent: per_cent(ticks.privileged()),
        busy_per_cent: per_cent(ticks.busy()),
        user_per_cent: per_cent(ticks.user),
        interrupts_per_s: interrupts as f64 / length_s,
    }
}

/// The sums of `/proc/interrupts`: a head of processors, and a line for each source with a count for each of them. Lines
/// with fewer counts are of no processor.
fn interrupts_by_processor(text: &str) -> BTreeMap<u32, u64> {
    let mut lines = text.lines();
    let head = lines.next().unwrap_or_default().split_ascii_whitespace();
    let numbers: Vec<u32> = head.filter_map(|name| name.strip_prefix("CPU")?.parse().ok()).collect();
    let mut sums = vec![0; numbers.len()];
    for line in lines {
        let counts = line.split_ascii_whitespace().skip(1).map_while(|word| word.parse::<u64>().ok());
        let counts: Vec<u64> = counts.take(numbers.len()).collect();
        if counts.len() == numbers.len() {
            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
    }
    numbers.into_iter().zip(sums).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn time_and_interrupts_are_told_by_processor_and_together() {
        let begin = Instant::now();
        let before = Reading::of(
            "cpu  1 1 1 1\ncpu0 100 0 0 100 0 0 0 0\ncpu2 0 0 0 0 0 0 0 0\n",
            "           CPU0       CPU2\n  0:        10          1   IO-APIC   2-edge  timer\nERR:  7\n",
            begin,
        );
        let now = Reading::of(
            "cpu  1 1 1 1\ncpu0 110 10 30 120 20 4 6 0\ncpu2 0 0 0 90 0 0 0 10\n",
            "           CPU0       CPU2\n  0:        30          1   IO-APIC   2-edge  timer\nLOC: 80 9 Local\nERR: 9\n",
            begin + Duration::from_secs(2),
        );
        let CpuFigures { columns } = now.since(&before, CpuUse::EachCpu).unwrap();
        let told: Vec<_> = columns
            .iter()
            .map(|column| {
                let CpuColumn { dpc_per_cent, interrupt_per_cent, privileged_per_cent, .. } = column;
                let shares = [*dpc_per_cent, *interrupt_per_cent, *privileged_per_cent];
                (
                    &*column.processor,
                    shares,
                    [column.busy_per_cent, column.user_per_cent],
                    column.interrupts_per_s,
                )
            })
            .collect();
        assert_eq!(
            told,
            [
                ("ALL", [3.0, 2.0, 20.0], [30.0, 10.0], 54.5),
                ("0", [6.0, 4.0, 40.0], [60.0, 20.0], 50.0),
                ("2", [0.0, 0.0, 0.0], [0.0, 0.0], 4.5),
            ]
        );
        assert_eq!(now.since(&before, CpuUse::Machine).unwrap().columns.len(), 1);
        assert_eq!(now.since(&now, CpuUse::Machine), None);
        assert!(Reading::now().ticks.len() == Reading::now().interrupts.len(), "this machine's own");
    }
}
