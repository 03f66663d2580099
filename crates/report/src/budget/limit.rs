//! What a budget says of what set a trial's figures.

use crate::budget::{Budget, Class};
use crate::format;
use crate::limit::{Evidence, Limit};
use crate::machine::Part;
use record::DeviceLoad;

/// Share of the time of sessions from which on what they waited for may be what limits.
const WAIT_SHARE: f64 = 0.3;
/// The same of what they did themselves, or their clients.
const WORK_SHARE: f64 = 0.5;

/// What most of the time of sessions went to, if that is much.
pub(crate) fn limit(budget: &Budget) -> Option<Limit> {
    let most = budget.most()?;
    let waited = [", for which sessions waited ", " of their time"];
    let took = [", which took ", " of the time of sessions"];
    let (who, says, least) = match most.class {
        Class::Client => ("the clients' side", took, WORK_SHARE),
        Class::Cpu => ("the server's work on its CPUs", took, WORK_SHARE),
        Class::CpuWait => ("the processors", waited, WAIT_SHARE),
        Class::Log => ("log flushes", waited, WAIT_SHARE),
        Class::Reads => ("reads of data", waited, WAIT_SHARE),
        Class::Writes => ("writes of data", waited, WAIT_SHARE),
        Class::Locks => ("locks", waited, WAIT_SHARE),
        Class::Buffers => ("buffers that others used", waited, WAIT_SHARE),
        Class::Latches => ("the server's latches", waited, WAIT_SHARE),
        Class::Replicas => ("replicas", waited, WAIT_SHARE),
        Class::Unknown => return None,
    };
    let below = |device: &Option<Part<DeviceLoad>>,
                 whose: &'static str,
                 time: fn(&DeviceLoad) -> Option<f64>| {
        let device = device.as_ref()?;
        let (in_flight, us) = (format::figure(device.mean.queue_depth), format::latency(time(&device.mean)?));
        Some(format!("{whose} {} had {in_flight} in flight at {us}", device.name))
    };
    let devices = &budget.devices;
    let device = match most.class {
        Class::Log => below(&devices.log, "the log's device", |load| load.write_latency_us),
        Class::Reads => below(&devices.data, "the data's device", |load| load.read_latency_us),
        Class::Writes => below(&devices.data, "the data's device", |load| load.write_latency_us),
        Class::Client
        | Class::Cpu
        | Class::CpuWait
        | Class::Locks
        | Class::Buffers
        | Class::Latches
        | Class::Replicas
        | Class::Unknown => None,
    };
    let found = Limit::of(who, Some(most.share), least, says)?;
    Some(found.with(Evidence { class: most.class, names: most.names(), device }))
}
