//! Rules of the machine: memory, CPUs, clock, and the host that shares them.

use super::Severity::{Costs, Note};
use super::rule::{Rule, found, found_if, known};
use crate::format;

/// A share of swappiness up to which processes keep their memory while files can give theirs.
const SWAPPINESS_MOST: u64 = 10;
/// A share of the processors' time that a host may keep for itself.
const STEAL_MOST: f64 = 0.01;
/// Clocks that take a way out of the processor to read.
const SLOW_CLOCKS: [&str; 5] = ["hpet", "acpi_pm", "jiffies", "pit", "xen"];
/// Clocks that a processor reads by itself, the best first.
const FAST_CLOCKS: [&str; 4] = ["tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter"];
/// Governors that lower the frequency of a processor that has little to do.
const SAVING: [&str; 3] = ["powersave", "ondemand", "conservative"];

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "transparent-huge-pages",
        severity: Costs,
        why: "PostgreSQL, MariaDB and MySQL do not expect the kernel to merge their memory into huge pages. The merge stalls sessions at unpredictable times",
        source: "PostgreSQL documentation, Resource Consumption: huge_pages",
        find: |subject| {
            let servers = &subject.environment.inspected;
            let only_others =
                !servers.is_empty() && servers.iter().all(|server| server.engine == "sqlserver");
            let always = known(&subject.tuning()?.transparent_huge_pages)? == "always";
            found_if(
                always && !only_others,
                "transparent huge pages are always on",
                "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled. To keep it, add transparent_hugepage=madvise to the kernel command line",
            )
        },
    },
    Rule {
        name: "swappiness",
        severity: Costs,
        why: "The kernel swaps out server buffers to keep file pages, and the server believes that its buffers are in memory",
        source: "MariaDB documentation, Configuring Swappiness: Setting Swappiness on Linux",
        find: |subject| {
            let tuning = subject.tuning()?;
            let swappiness = *known(&tuning.swappiness)?;
            let swaps = *known(&tuning.swap_bytes)? > 0 && swappiness > SWAPPINESS_MOST;
            found_if(
                swaps,
                format!("vm.swappiness is {swappiness}, with swap enabled"),
                "sysctl -w vm.swappiness=1. To keep it, write vm.swappiness = 1 to a file in /etc/sysctl.d",
            )
        },
    },
    Rule {
        name: "governor",
        severity: Costs,
        why: "A CPU that waits for I/O runs slower, so it handles each answer of the device late. Latencies grow and scatter",
        source: "Linux kernel documentation, CPU Performance Scaling: Generic Scaling Governors",
        find: |subject| {
            let governor = known(&subject.environment.cpu.governor)?;
            found_if(
                SAVING.contains(&governor.as_str()),
                format!("the frequency governor is {governor}"),
                "cpupower frequency-set -g performance, and set the power profile of the firmware to performance",
            )
        },
    },
    Rule {
        name: "clock-source",
        severity: Costs,
        why: "Servers read the clock for each statement and each wait. Reading this clock takes many times as long as reading that of the CPU",
        source: "PostgreSQL documentation, pg_test_timing: Changing Time Sources",
        find: |subject| {
            let tuning = subject.tuning()?;
            let clock = known(&tuning.clock_source)?;
            let there = known(&tuning.clock_sources).map_or("", String::as_str);
            let fast = FAST_CLOCKS.iter().find(|fast| there.split_whitespace().any(|one| one == **fast));
            let remedy = match fast {
                Some(fast) => format!(
                    "echo {fast} > /sys/devices/system/clocksource/clocksource0/current_clocksource. To keep it, add clocksource={fast} to the kernel command line"
                ),
                None => "configure firmware and hypervisor for a constant rate of the CPU's own clock. dmesg has the reason why the kernel rejected it"
                    .to_owned(),
            };
            found_if(SLOW_CLOCKS.contains(&clock.as_str()), format!("the clock source is {clock}"), remedy)
        },
    },
    Rule {
        name: "zone-reclaim",
        severity: Costs,
        why: "A NUMA node without free memory drops file pages and reads them again, although other nodes have free memory",
        source: "Linux kernel documentation, Documentation for /proc/sys/vm: zone_reclaim_mode",
        find: |subject| {
            let tuning = subject.tuning()?;
            let (mode, nodes) = (*known(&tuning.zone_reclaim)?, *known(&tuning.numa_nodes)?);
            found_if(
                mode != 0 && nodes > 1,
                format!("vm.zone_reclaim_mode is {mode}, with {nodes} NUMA nodes"),
                "sysctl -w vm.zone_reclaim_mode=0. To keep it, write it to a file in /etc/sysctl.d",
            )
        },
    },
    Rule {
        name: "numa-balancing",
        severity: Note,
        why: "The kernel unmaps pages to see who uses them, and moves them. A server that spreads its buffers over all nodes pays for that and gains nothing",
        source: "SQL Server documentation, Performance best practices and configuration guidelines for SQL Server on Linux: Kernel \
                 and CPU settings",
        find: |subject| {
            let tuning = subject.tuning()?;
            let (balancing, nodes) = (*known(&tuning.numa_balancing)?, *known(&tuning.numa_nodes)?);
            found_if(
                balancing != 0 && nodes > 1,
                format!("the kernel moves pages between {nodes} NUMA nodes"),
                "sysctl -w kernel.numa_balancing=0, and compare both settings",
            )
        },
    },
    Rule {
        name: "steal",
        severity: Costs,
        why: "While the hypervisor runs other guests on a CPU, sessions that hold locks stop",
        source: "Linux kernel documentation, The /proc Filesystem: Miscellaneous kernel statistics in /proc/stat",
        find: |subject| {
            let share = *known(&subject.tuning()?.steal_share)?;
            found_if(
                share > STEAL_MOST,
                format!("other guests took {} of the CPU time since boot", format::per_cent(share)),
                "ask for dedicated CPUs, or for a host with fewer shared CPUs",
            )
        },
    },
    Rule {
        name: "virtual",
        severity: Note,
        why: "The host decides how it caches this disk, so a flush may not reach stable storage. The guest cannot see other load of the host",
        source: "PostgreSQL documentation, Reliability and the Write-Ahead Log: Reliability",
        find: |subject| {
            let hypervisor = subject.environment.cpu.hypervisor.as_ref()?;
            let name = if hypervisor == "unnamed" { "a hypervisor" } else { hypervisor };
            found(
                format!("the machine is virtual ({name})"),
                "ask the owner of the host how it caches disks (QEMU: cache=none or cache=directsync is safe), and whether CPUs or memory are overcommitted",
            )
        },
    },
    Rule {
        name: "overcommit",
        severity: Note,
        why: "When memory runs out, the kernel kills a process. If it kills one of PostgreSQL's, all sessions end",
        source: "PostgreSQL documentation, Managing Kernel Resources: Linux Memory Overcommit",
        find: |subject| {
            let overcommit = *known(&subject.tuning()?.overcommit)?;
            let mut servers = subject.environment.inspected.iter();
            let has_postgres = servers.any(|server| server.here && server.engine == "postgres");
            found_if(
                overcommit != 2 && has_postgres,
                format!("vm.overcommit_memory is {overcommit}"),
                "sysctl -w vm.overcommit_memory=2, and set vm.overcommit_ratio for swap and other programs. To keep both, write them to a file in /etc/sysctl.d",
            )
        },
    },
];
