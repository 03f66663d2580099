//! What the kernel is set to, as far as it decides how fast and how safe a database is.

use std::path::Path;

use record::{Reading, Tuning};

use super::attribute::{Known, attribute, names, number, reading};

/// The first field of the kernel's times of processors that counts time stolen, and how many fields add up to all time:
/// user, nice, system, idle, iowait, irq, softirq, steal (proc(5)); those of guests are part of user.
const STEAL: usize = 7;

pub(super) fn tuning(root: &Path) -> Tuning {
    let vm = |name: &str| reading(number(&root.join("proc/sys/vm").join(name)));
    let clock =
        |name: &str| reading(attribute(&root.join("sys/devices/system/clocksource/clocksource0").join(name)));
    let meminfo = attribute(&root.join("proc/meminfo"));
    let line = |name: &str| {
        let text = meminfo.as_ref().map_err(Clone::clone)?;
        let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        let value = value.and_then(|value| value.split_ascii_whitespace().next()?.parse::<u64>().ok());
        value.ok_or_else(|| format!("{} has no {name}", root.join("proc/meminfo").display()))
    };
    let kib = |name: &str| reading(line(name).map(|kib| kib.saturating_mul(1024)));
    Tuning {
        transparent_huge_pages: reading(chosen(&root.join("sys/kernel/mm/transparent_hugepage/enabled"))),
        huge_page_bytes: kib("Hugepagesize"),
        huge_pages: reading(line("HugePages_Total")),
        swappiness: vm("swappiness"),
        swap_bytes: kib("SwapTotal"),
        overcommit: vm("overcommit_memory"),
        numa_nodes: reading(numa_nodes(root)),
        numa_balancing: reading(number(&root.join("proc/sys/kernel/numa_balancing"))),
        zone_reclaim: vm("zone_reclaim_mode"),
        clock_source: clock("current_clocksource"),
        clock_sources: clock("available_clocksource"),
        steal_share: steal_share(root),
    }
}

/// `always [madvise] never`: the one in brackets.
fn chosen(path: &Path) -> Known<String> {
    let text = attribute(path)?;
    let chosen = text.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map(|(chosen, _)| chosen);
    chosen.map(str::to_owned).ok_or_else(|| format!("{} says {text:?}", path.display()))
}

fn numa_nodes(root: &Path) -> Known<u64> {
    let directory = root.join("sys/devices/system/node");
    let is_node = |name: &String| {
        name.strip_prefix("node")
            .is_some_and(|n| !n.is_empty() && n.bytes().all(|byte| byte.is_ascii_digit()))
    };
    match names(&directory).iter().filter(|name| is_node(name)).count() {
        0 => Err(format!("{} contains no node", directory.display())),
        nodes => Ok(nodes as u64),
    }
}

/// The uppermost line of `/proc/stat` counts since the machine began.
fn steal_share(root: &Path) -> Reading<f64> {
    let path = root.join("proc/stat");
    let share = |text: String| {
        let all = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
        let ticks: Vec<f64> = all.split_ascii_whitespace().map_while(|ticks| ticks.parse().ok()).collect();
        let whole: f64 = ticks.get(..=STEAL)?.iter().sum();
        (whole > 0.0).then(|| ticks[STEAL] / whole)
    };
    let share = attribute(&path).and_then(|text| {
        share(text).ok_or_else(|| format!("{} does not contain this value", path.display()))
    });
    reading(share)
}

#[cfg(test)]
mod tests {
    use super::super::machine::{Machine, known, why};
    use super::*;

    #[test]
    fn what_the_kernel_is_set_to_is_read() {
        let machine = Machine::new();
        machine
            .file("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never")
            .file(
                "proc/meminfo",
                "MemTotal: 8 kB\nSwapTotal:  2097148 kB\nHugePages_Total:   12\nHugepagesize: 2048 kB",
            )
            .file("proc/sys/vm/swappiness", "60")
            .file("proc/sys/vm/overcommit_memory", "2")
            .file("proc/sys/vm/zone_reclaim_mode", "0")
            .file("proc/sys/kernel/numa_balancing", "1")
            .file("sys/devices/system/node/node0/cpulist", "0-7")
            .file("sys/devices/system/node/node1/cpulist", "8-15")
            .file("sys/devices/system/node/possible", "0-1")
            .file("sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet")
            .file("sys/devices/system/clocksource/clocksource0/available_clocksource", "tsc hpet acpi_pm")
            .file("proc/stat", "cpu  50 0 20 20 5 2 1 2 9 0\ncpu0 1 2 3 4 5 6 7 8");
        let read = tuning(&machine.root);
        assert_eq!(known(&read.transparent_huge_pages), "madvise");
        assert_eq!((known(&read.huge_page_bytes), known(&read.huge_pages)), (2 << 20, 12));
        assert_eq!((known(&read.swappiness), known(&read.swap_bytes)), (60, 2_097_148 << 10));
        assert_eq!((known(&read.overcommit), known(&read.zone_reclaim)), (2, 0));
        assert_eq!((known(&read.numa_nodes), known(&read.numa_balancing)), (2, 1));
        assert_eq!(known(&read.clock_source), "hpet");
        assert!((known(&read.steal_share) - 0.02).abs() < 1e-12, "guests are part of what users used");
    }

    #[test]
    fn what_is_missing_or_damaged_says_where() {
        let machine = Machine::new();
        let read = tuning(&machine.root);
        assert!(why(&read.transparent_huge_pages).ends_with("transparent_hugepage/enabled does not exist"));
        assert!(why(&read.swap_bytes).ends_with("proc/meminfo does not exist"));
        machine.file("sys/kernel/mm/transparent_hugepage/enabled", "always").file("proc/stat", "cpu 1 2 3");
        machine.file("proc/meminfo", "MemTotal: 8 kB");
        let read = tuning(&machine.root);
        assert!(why(&read.transparent_huge_pages).ends_with("says \"always\""));
        assert!(why(&read.steal_share).ends_with("proc/stat does not contain this value"));
        assert!(why(&read.huge_pages).ends_with("proc/meminfo has no HugePages_Total"));
    }
}
