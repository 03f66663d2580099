//! The machine as a table of facts; what could not be read says why.

use maud::{Markup, html};
use record::{Device, Environment, MountPoint, Reading, ServerProcesses, Tuning};

use super::parts;
use crate::format;
use crate::report::Report;

pub(crate) fn environment(report: &Report) -> Markup {
    facts(report.environment.as_ref())
}

/// All that is recorded of a machine.
pub(crate) fn facts(environment: Option<&Environment>) -> Markup {
    let Some(environment) = environment else {
        return html! { p { "The machine was not recorded." } };
    };
    html! { div.columns {
        (parts::facts("Machine", &machine(environment)))
        @if let Some(tuning) = &environment.tuning { (parts::facts("Kernel", &kernel(tuning))) }
        @for (names, facts) in once(environment.volumes.iter().map(|(name, of)| (name, reading(&of.mount, mount)))) {
            (parts::facts(&format!("File system of {}", volume(environment, &names)), &facts))
        }
        @for (names, facts) in once(environment.volumes.iter().map(|(name, of)| (name, reading(&of.device, device)))) {
            (parts::facts(&format!("Block device of {}", volume(environment, &names)), &facts))
        }
        @for (name, server) in &environment.servers {
            (parts::facts(&format!("Server of {name}"), &reading(server, processes)))
        }
    } }
}

type Facts = Vec<(String, String)>;

/// Merges equal facts, and collects the names that they belong to.
fn once<'a>(all: impl Iterator<Item = (&'a String, Facts)>) -> Vec<(Vec<&'a str>, Facts)> {
    let mut distinct: Vec<(Vec<&str>, Facts)> = Vec::new();
    for (name, facts) in all {
        match distinct.iter_mut().find(|(_, known)| *known == facts) {
            Some((names, _)) => names.push(name),
            None => distinct.push((vec![name], facts)),
        }
    }
    distinct
}

/// A single volume is called the target, whatever its name is.
fn volume(environment: &Environment, names: &[&str]) -> String {
    if environment.volumes.len() == 1 { "the target".to_owned() } else { names.join(", ") }
}

pub(crate) fn inside(report: &Report) -> String {
    in_words(report.environment.as_ref())
}

/// `db7: Debian GNU/Linux 12, kernel 6.18, 16 processors, 64.0 GiB of memory`.
pub(crate) fn in_words(environment: Option<&Environment>) -> String {
    let Some(environment) = environment else { return "not recorded".to_owned() };
    let system = read(&environment.system, Clone::clone);
    let processors = format::counted(environment.cpu.usable as usize, "CPU", "CPUs");
    let memory = format::bytes(environment.memory.total_bytes);
    format!("{}: {system}, kernel {}, {processors}, {memory} of memory", environment.host, environment.kernel)
}

fn fact(name: &str, value: impl Into<String>) -> (String, String) {
    (name.to_owned(), value.into())
}

fn machine(environment: &Environment) -> Vec<(String, String)> {
    let cpu = &environment.cpu;
    vec![
        fact("host", &environment.host),
        fact("system", read(&environment.system, Clone::clone)),
        fact("kernel", &environment.kernel),
        fact("CPU", read(&cpu.model, Clone::clone)),
        fact("usable CPUs", cpu.usable.to_string()),
        fact("hypervisor", cpu.hypervisor.clone().unwrap_or_else(|| "none seen".to_owned())),
        fact("frequency governor", read(&cpu.governor, Clone::clone)),
        fact("memory", format::bytes(environment.memory.total_bytes)),
        fact("available memory at the start", format::bytes(environment.memory.available_bytes)),
        fact("taken", parts::instant_text(&environment.taken)),
        fact("measured by", format!("prony {}", environment.tool_version)),
    ]
}

fn kernel(tuning: &Tuning) -> Vec<(String, String)> {
    let number = |reading: &Reading<u64>| read(reading, |number| format::grouped(*number));
    vec![
        fact("transparent huge pages", read(&tuning.transparent_huge_pages, Clone::clone)),
        fact("reserved huge pages", number(&tuning.huge_pages)),
        fact("swappiness", number(&tuning.swappiness)),
        fact("swap", read(&tuning.swap_bytes, |bytes| format::bytes(*bytes))),
        fact("overcommit", number(&tuning.overcommit)),
        fact("nodes of memory", number(&tuning.numa_nodes)),
        fact("clock", read(&tuning.clock_source, Clone::clone)),
        fact("steal time since boot", read(&tuning.steal_share, |share| format::per_cent(*share))),
    ]
}

fn mount(mount: &MountPoint) -> Vec<(String, String)> {
    vec![
        fact("mounted at", &mount.path),
        fact("type", &mount.file_system),
        fact("source", &mount.source),
        fact("options", &mount.options),
        fact("block size", format::bytes(mount.block_bytes)),
        fact("free space at the start", format::bytes(mount.free_bytes)),
    ]
}

fn processes(server: &ServerProcesses) -> Vec<(String, String)> {
    vec![fact("process", server.pid.to_string()), fact("told by", &server.told_by)]
}

fn device(device: &Device) -> Vec<(String, String)> {
    let bytes = |value: &u64| format::bytes(*value);
    vec![
        fact("name", &device.name),
        fact("model", read(&device.model, Clone::clone)),
        fact("spinning disks", read(&device.rotational, |spins| format::yes(*spins))),
        fact("capacity", read(&device.capacity_bytes, bytes)),
        fact("interface", read(&device.interface, Clone::clone)),
        fact(
            "interface maximum",
            read(&device.interface_bytes_per_s, |bytes| {
                format!("{} MB/s in one direction", format::figure(*bytes as f64 / 1e6))
            }),
        ),
        fact("scheduler", read(&device.scheduler, Clone::clone)),
        fact("requests in the queue", read(&device.queue_requests, |count| format::grouped(*count))),
        fact("logical block", read(&device.logical_block_bytes, bytes)),
        fact("physical block", read(&device.physical_block_bytes, bytes)),
        fact("write cache", read(&device.write_cache, Clone::clone)),
        fact("RAID", device.raid.clone().unwrap_or_else(|| "no md array".to_owned())),
    ]
}

fn reading<T>(reading: &Reading<T>, known: impl Fn(&T) -> Vec<(String, String)>) -> Vec<(String, String)> {
    match reading {
        Reading::Known(value) => known(value),
        Reading::Unknown(reason) => vec![fact("unknown", reason)],
    }
}

fn read<T>(reading: &Reading<T>, print: impl Fn(&T) -> String) -> String {
    match reading {
        Reading::Known(value) => print(value),
        Reading::Unknown(reason) => format!("unknown: {reason}"),
    }
}
