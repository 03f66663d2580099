//! The system, its processors and its memory.

use std::path::Path;

use record::{Cpu, Memory};

use super::attribute::{Known, attribute, reading};

pub(super) fn system(root: &Path) -> Known<String> {
    let path = root.join("etc/os-release");
    let text = attribute(&path)?;
    parse_os_release(&text).ok_or_else(|| format!("{} has no PRETTY_NAME", path.display()))
}

fn parse_os_release(text: &str) -> Option<String> {
    let value = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?.trim();
    let bare = value.trim_matches(['"', '\'']);
    (!bare.is_empty()).then(|| bare.to_owned())
}

pub(super) fn cpu(root: &Path) -> Cpu {
    let path = root.join("proc/cpuinfo");
    let info = attribute(&path).map(|text| parse_cpuinfo(&text));
    let virtual_machine = info.as_ref().ok().and_then(|info| info.virtual_machine);
    let model =
        info.and_then(|info| info.model.ok_or_else(|| format!("{} contains no model", path.display())));
    Cpu {
        model: reading(model),
        usable: std::thread::available_parallelism()
            .map_or(1, |usable| u32::try_from(usable.get()).unwrap_or(u32::MAX)),
        hypervisor: hypervisor(root, virtual_machine),
        governor: reading(attribute(&root.join("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"))),
    }
}

#[derive(Debug, PartialEq)]
struct CpuInfo {
    model: Option<String>,
    /// Whether the processor says that a hypervisor runs below; only x86 has such a flag.
    virtual_machine: Option<bool>,
}

fn parse_cpuinfo(text: &str) -> CpuInfo {
    let value = |wanted: &str| {
        text.lines()
            .filter_map(|line| line.split_once(':'))
            .find(|(key, _)| key.trim() == wanted)
            .map(|(_, value)| value.trim())
    };
    // "cpu" is POWER's name for it. 64-bit ARM gives numbers alone, which are no model to a reader.
    let model = value("model name").or_else(|| value("cpu")).filter(|model| !model.is_empty());
    let virtual_machine =
        value("flags").map(|flags| flags.split_ascii_whitespace().any(|flag| flag == "hypervisor"));
    CpuInfo { model: model.map(str::to_owned), virtual_machine }
}

fn hypervisor(root: &Path, virtual_machine: Option<bool>) -> Option<String> {
    if virtual_machine == Some(false) {
        return None;
    }
    let text = |path: &str| attribute(&root.join(path)).unwrap_or_default();
    let firmware =
        hypervisor_by_firmware(&text("sys/class/dmi/id/sys_vendor"), &text("sys/class/dmi/id/product_name"));
    let clocks = text("sys/devices/system/clocksource/clocksource0/available_clocksource");
    firmware
        .or_else(|| hypervisor_by_clock(&clocks))
        .or((virtual_machine == Some(true)).then_some("unnamed"))
        .map(str::to_owned)
}

/// The hypervisor that names itself in the firmware; bare servers' names are not in this list.
fn hypervisor_by_firmware(vendor: &str, product: &str) -> Option<&'static str> {
    const NAMES: [(&str, &str, &str); 10] = [
        ("QEMU", "", "QEMU"),
        ("VMware", "", "VMware"),
        ("Microsoft", "Virtual Machine", "Hyper-V"),
        ("Xen", "", "Xen"),
        ("innotek", "", "VirtualBox"),
        ("Oracle", "VirtualBox", "VirtualBox"),
        ("Google", "Google Compute Engine", "Google Compute Engine"),
        ("Red Hat", "KVM", "KVM"),
        ("OpenStack", "", "OpenStack"),
        ("Parallels", "", "Parallels"),
    ];
    if vendor.starts_with("Amazon EC2") {
        return (!product.contains("metal")).then_some("Amazon EC2");
    }
    NAMES
        .iter()
        .find(|(maker, machine, _)| vendor.starts_with(maker) && product.contains(machine))
        .map(|(_, _, name)| *name)
}

/// The hypervisor whose clock the kernel found.
fn hypervisor_by_clock(clocks: &str) -> Option<&'static str> {
    [("kvm-clock", "KVM"), ("hyperv", "Hyper-V"), ("xen", "Xen")]
        .iter()
        .find(|(clock, _)| clocks.contains(clock))
        .map(|(_, name)| *name)
}

pub(super) fn memory(root: &Path) -> Memory {
    let text = attribute(&root.join("proc/meminfo")).unwrap_or_default();
    parse_meminfo(&text).unwrap_or_else(|| {
        let info = rustix::system::sysinfo();
        let unit_bytes = u64::from(info.mem_unit);
        #[allow(
            clippy::useless_conversion,
            reason = "the kernel's counters are 32 bits wide on some machines"
        )]
        let bytes = |units| u64::from(units).saturating_mul(unit_bytes);
        Memory { total_bytes: bytes(info.totalram), available_bytes: bytes(info.freeram) }
    })
}

fn parse_meminfo(text: &str) -> Option<Memory> {
    let bytes = |wanted: &str| {
        let value = text.lines().find_map(|line| line.strip_prefix(wanted)?.strip_prefix(':'))?;
        let kib: u64 = value.trim().strip_suffix("kB")?.trim().parse().ok()?;
        kib.checked_mul(1024)
    };
    Some(Memory { total_bytes: bytes("MemTotal")?, available_bytes: bytes("MemAvailable")? })
}

#[cfg(test)]
mod tests {
    use super::super::machine::Machine;
    use super::*;

    #[test]
    fn processors_are_read_as_far_as_they_tell() {
        let x86 = "processor\t: 0\nmodel name\t: AMD EPYC\nflags\t\t: fpu hypervisor lahf_lm\n\nmodel name\t: other";
        let metal = "model name : Xeon\nflags : fpu vme";
        let arm = "processor\t: 0\nBogoMIPS\t: 50.00\nCPU part\t: 0xd0c\n";
        for (text, model, virtual_machine) in [
            (x86, Some("AMD EPYC"), Some(true)),
            (metal, Some("Xeon"), Some(false)),
            ("cpu\t\t: POWER9, altivec supported", Some("POWER9, altivec supported"), None),
            (arm, None, None),
            ("", None, None),
        ] {
            assert_eq!(parse_cpuinfo(text), CpuInfo { model: model.map(str::to_owned), virtual_machine });
        }
    }

    #[test]
    fn hypervisors_are_named_where_there_is_one() {
        for (vendor, product, name) in [
            ("QEMU", "Standard PC (Q35 + ICH9, 2009)", Some("QEMU")),
            ("VMware, Inc.", "VMware Virtual Platform", Some("VMware")),
            ("Microsoft Corporation", "Virtual Machine", Some("Hyper-V")),
            ("Microsoft Corporation", "Surface Pro", None),
            ("Amazon EC2", "m7i.large", Some("Amazon EC2")),
            ("Amazon EC2", "m7i.metal-24xl", None),
            ("Dell Inc.", "PowerEdge R740", None),
        ] {
            assert_eq!(hypervisor_by_firmware(vendor, product), name, "{vendor} {product}");
        }
        let machine = Machine::new();
        assert_eq!(hypervisor(&machine.root, Some(true)).as_deref(), Some("unnamed"));
        machine.file("sys/devices/system/clocksource/clocksource0/available_clocksource", "tsc kvm-clock");
        assert_eq!(hypervisor(&machine.root, Some(true)).as_deref(), Some("KVM"));
        assert_eq!(hypervisor(&machine.root, Some(false)), None);
    }

    #[test]
    fn memory_and_system_are_read() {
        let text = "MemTotal:       24684092 kB\nMemFree: 1 kB\nMemAvailable:   24355000 kB\n";
        let memory = Memory { total_bytes: 24_684_092 << 10, available_bytes: 24_355_000 << 10 };
        assert_eq!(parse_meminfo(text), Some(memory));
        assert_eq!(parse_meminfo("MemTotal: many kB\n"), None);
        let text = "NAME=\"Debian\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n";
        assert_eq!(parse_os_release(text).as_deref(), Some("Debian GNU/Linux 12 (bookworm)"));
        assert_eq!(parse_os_release("PRETTY_NAME=Alpine").as_deref(), Some("Alpine"));
        assert_eq!(parse_os_release("PRETTY_NAME=\"\""), None);
    }
}
