//! Rules of the machine: memory, processors, clock, and whoever shares them with it.

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
        why: "The kernel puts huge pages together behind the back of PostgreSQL, MariaDB and MySQL; looking for them and moving \
              memory holds sessions up at times that nobody can foresee",
        source: "PostgreSQL documentation, Resource Consumption: huge_pages",
        find: |subject| {
            let servers = &subject.environment.inspected;
            let only_others =
                !servers.is_empty() && servers.iter().all(|server| server.engine == "sqlserver");
            let always = known(&subject.tuning()?.transparent_huge_pages)? == "always";
            found_if(
                always && !only_others,
                "transparent huge pages are always on",
                "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled, and transparent_hugepage=madvise on the \
                     kernel's command line so that it stays",
            )
        },
    },
    Rule {
        name: "swappiness",
        severity: Costs,
        why: "The kernel swaps out buffers of a server to keep files in its cache, and the server takes its buffers for memory",
        source: "MariaDB documentation, Configuring Swappiness: Setting Swappiness on Linux",
        find: |subject| {
            let tuning = subject.tuning()?;
            let swappiness = *known(&tuning.swappiness)?;
            let swaps = *known(&tuning.swap_bytes)? > 0 && swappiness > SWAPPINESS_MOST;
            found_if(
                swaps,
                format!("vm.swappiness is {swappiness}, and there is swap"),
                "sysctl -w vm.swappiness=1, and vm.swappiness = 1 in a file of /etc/sysctl.d so that it stays",
            )
        },
    },
    Rule {
        name: "governor",
        severity: Costs,
        why: "A core that waits for I/O is slowed down, and each answer of the device finds it slow; latencies grow and scatter",
        source: "Linux kernel documentation, CPU Performance Scaling: Generic Scaling Governors",
        find: |subject| {
            let governor = known(&subject.environment.cpu.governor)?;
            found_if(
                SAVING.contains(&governor.as_str()),
                format!("the frequency governor is {governor}"),
                "cpupower frequency-set -g performance, and the power profile of the firmware likewise",
            )
        },
    },
    Rule {
        name: "clock-source",
        severity: Costs,
        why: "Servers read the time with each statement and wait; this clock takes many times as long to read as that of the processor",
        source: "PostgreSQL documentation, pg_test_timing: Changing Time Sources",
        find: |subject| {
            let tuning = subject.tuning()?;
            let clock = known(&tuning.clock_source)?;
            let there = known(&tuning.clock_sources).map_or("", String::as_str);
            let fast = FAST_CLOCKS.iter().find(|fast| there.split_whitespace().any(|one| one == **fast));
            let remedy = match fast {
                Some(fast) => format!(
                    "echo {fast} > /sys/devices/system/clocksource/clocksource0/current_clocksource, and clocksource={fast} \
                     on the kernel's command line so that it stays"
                ),
                None => "have firmware and hypervisor give the processor's own clock a steady rate; dmesg says why it was not \
                         taken"
                    .to_owned(),
            };
            found_if(SLOW_CLOCKS.contains(&clock.as_str()), format!("time is read from {clock}"), remedy)
        },
    },
    Rule {
        name: "zone-reclaim",
        severity: Costs,
        why: "A node whose memory is used up throws pages of its files away although other nodes have room, and reads them again",
        source: "Linux kernel documentation, Documentation for /proc/sys/vm: zone_reclaim_mode",
        find: |subject| {
            let tuning = subject.tuning()?;
            let (mode, nodes) = (*known(&tuning.zone_reclaim)?, *known(&tuning.numa_nodes)?);
            found_if(
                mode != 0 && nodes > 1,
                format!("vm.zone_reclaim_mode is {mode}, and memory has {nodes} nodes"),
                "sysctl -w vm.zone_reclaim_mode=0, and the same in a file of /etc/sysctl.d so that it stays",
            )
        },
    },
    Rule {
        name: "numa-balancing",
        severity: Note,
        why: "The kernel takes access to pages away to see who uses them, and moves them; a server that spreads its buffers over all \
              nodes pays for that and gains nothing",
        source: "SQL Server documentation, Performance best practices and configuration guidelines for SQL Server on Linux: Kernel \
                 and CPU settings",
        find: |subject| {
            let tuning = subject.tuning()?;
            let (balancing, nodes) = (*known(&tuning.numa_balancing)?, *known(&tuning.numa_nodes)?);
            found_if(
                balancing != 0 && nodes > 1,
                format!("memory has {nodes} nodes, and the kernel moves pages between them by itself"),
                "sysctl -w kernel.numa_balancing=0, and measure which is better",
            )
        },
    },
    Rule {
        name: "steal",
        severity: Costs,
        why: "While the hypervisor gives a processor to others, sessions stand still that hold locks",
        source: "Linux kernel documentation, The /proc Filesystem: Miscellaneous kernel statistics in /proc/stat",
        find: |subject| {
            let share = *known(&subject.tuning()?.steal_share)?;
            found_if(
                share > STEAL_MOST,
                format!(
                    "{} of the processors' time since the machine began went to others",
                    format::per_cent(share)
                ),
                "have the machine given processors of its own, or moved to a host that promises fewer",
            )
        },
    },
    Rule {
        name: "virtual",
        severity: Note,
        why: "Whether a flush comes to stable storage is decided by how the host caches this disk, and what else it serves is not \
              seen from here",
        source: "PostgreSQL documentation, Reliability and the Write-Ahead Log: Reliability",
        find: |subject| {
            let hypervisor = subject.environment.cpu.hypervisor.as_ref()?;
            let name = if hypervisor == "unnamed" { "a hypervisor" } else { hypervisor };
            found(
                format!("the machine is virtual, on {name}"),
                "ask whoever keeps the host how its disks are cached (in QEMU cache=none or cache=directsync) and whether \
                 processors or memory are promised more than once",
            )
        },
    },
    Rule {
        name: "overcommit",
        severity: Note,
        why: "When memory runs out the kernel ends a process, and with one of PostgreSQL's all sessions end",
        source: "PostgreSQL documentation, Managing Kernel Resources: Linux Memory Overcommit",
        find: |subject| {
            let overcommit = *known(&subject.tuning()?.overcommit)?;
            let mut servers = subject.environment.inspected.iter();
            let has_postgres = servers.any(|server| server.here && server.engine == "postgres");
            found_if(
                overcommit != 2 && has_postgres,
                format!("vm.overcommit_memory is {overcommit}"),
                "sysctl -w vm.overcommit_memory=2, with vm.overcommit_ratio for what swap and other programs need, and both in \
                     a file of /etc/sysctl.d so that they stay",
            )
        },
    },
];
