//! What a budget says for what limited a trial: names and devices.

use crate::budget::{Budget, Class, NO_PROCESSOR};
use crate::format;
use crate::limit::{Cause, Evidence};
use crate::machine::Part;
use record::DeviceLoad;

/// What speaks for a cause besides its share: how the server calls it, and what the device below did.
pub(crate) fn evidence(budget: &Budget, cause: Cause) -> Option<Evidence> {
    let class = class_of(budget, cause)?;
    let part = budget.parts.iter().find(|part| part.class == class)?;
    let below = |device: &Option<Part<DeviceLoad>>,
                 whose: &'static str,
                 time: fn(&DeviceLoad) -> Option<f64>| {
        let device = device.as_ref()?;
        let (in_flight, us) = (format::figure(device.mean.queue_depth), format::latency(time(&device.mean)?));
        Some(format!("{whose} {} had {in_flight} requests in flight, at {us} each", device.name))
    };
    let devices = &budget.devices;
    let device = match cause {
        Cause::LogFlushes => below(&devices.log, "the log's device", |load| load.write_latency_us),
        Cause::Reads | Cause::Memory => {
            below(&devices.data, "the data's device", |load| load.read_latency_us)
        }
        Cause::DataWrites => below(&devices.data, "the data's device", |load| load.write_latency_us),
        Cause::ServerCpu
        | Cause::NeighbourCpu
        | Cause::NeighbourDisk
        | Cause::Hypervisor
        | Cause::Checkpoints
        | Cause::Maintenance
        | Cause::Locks
        | Cause::Latches
        | Cause::Replicas
        | Cause::Generator
        | Cause::Clients
        | Cause::Connections
        | Cause::Device => None,
    };
    let names = Some(part.names()).filter(|names| names != NO_PROCESSOR);
    Some(Evidence { class, names, device, blocker: None })
}

/// The class that speaks for a cause most.
fn class_of(budget: &Budget, cause: Cause) -> Option<Class> {
    let classes: &[Class] = match cause {
        Cause::ServerCpu => &[Class::Throttled, Class::Cpu, Class::CpuWait],
        Cause::NeighbourCpu => &[Class::CpuWait],
        Cause::Reads | Cause::Memory => &[Class::Throttled, Class::Reads],
        Cause::LogFlushes => &[Class::Throttled, Class::Log],
        Cause::DataWrites => &[Class::Throttled, Class::Writes],
        Cause::Locks => &[Class::Locks],
        Cause::Latches => &[Class::Buffers, Class::Latches],
        Cause::Replicas => &[Class::Replicas],
        Cause::Generator | Cause::Clients => &[Class::Client],
        Cause::NeighbourDisk
        | Cause::Hypervisor
        | Cause::Checkpoints
        | Cause::Maintenance
        | Cause::Connections
        | Cause::Device => &[],
    };
    classes.iter().copied().max_by(|a, b| budget.share(*a).total_cmp(&budget.share(*b)))
}
