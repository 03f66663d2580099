//! Breaks servers that were started for a study, and mends them again.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use instance::{Filling, Instance, InstanceError, Pair, Part, Seen, Watch};
use study::{Fault, FaultKind, FaultNode};

use super::locked;
use crate::faults::{Breaks, Stands, Watches};

/// What is left of a disk that hardly answers.
const THROTTLED_IOPS: u64 = 1;

/// One server of its own.
pub(super) struct OneServer {
    instance: Arc<Mutex<Instance>>,
    /// What takes the room of its volume.
    filling: Option<Filling>,
}

impl OneServer {
    pub(super) fn new(instance: Arc<Mutex<Instance>>) -> Self {
        Self { instance, filling: None }
    }

    fn do_it(&mut self, fault: &Fault) -> Result<(), InstanceError> {
        let mut instance = locked(&self.instance);
        match &fault.what {
            FaultKind::Kill => instance.kill(),
            FaultKind::Freeze => instance.freeze(),
            FaultKind::Throttle => instance.throttle(Some(THROTTLED_IOPS)),
            FaultKind::Restart => instance.stop(),
            FaultKind::Fill => {
                self.filling = Some(instance.fill()?);
                Ok(())
            }
            FaultKind::PowerCut => instance.cut_power(),
            FaultKind::Clock => instance.set_clock(difference_s(fault)),
            FaultKind::KillNode
            | FaultKind::FreezeReceiver
            | FaultKind::Cut
            | FaultKind::Isolate
            | FaultKind::Delay
            | FaultKind::Switchover
            | FaultKind::Promote
            | FaultKind::Command(_) => {
                unreachable!("a study asks none of this of one server")
            }
        }
    }

    fn undo(&mut self, what: &FaultKind) -> Result<(), InstanceError> {
        let mut instance = locked(&self.instance);
        match what {
            FaultKind::Kill | FaultKind::Restart => instance.start_again(),
            FaultKind::Freeze => instance.thaw(),
            FaultKind::Throttle => instance.throttle(None),
            FaultKind::PowerCut => instance.restore_power(),
            FaultKind::Clock => instance.set_clock(0),
            FaultKind::Fill => {
                self.filling = None;
                // A server that ends when its log has no room is started again.
                if instance.pid().is_none() { instance.start_again() } else { Ok(()) }
            }
            FaultKind::KillNode
            | FaultKind::FreezeReceiver
            | FaultKind::Cut
            | FaultKind::Isolate
            | FaultKind::Delay
            | FaultKind::Switchover
            | FaultKind::Promote
            | FaultKind::Command(_) => {
                unreachable!("a study asks none of this of one server")
            }
        }
    }
}

impl Breaks for OneServer {
    /// What lies on its volume when the load begins is to be there after a power cut: what is lost is what the load wrote.
    fn load_begins(&mut self, fault: &Fault) -> Result<(), String> {
        if fault.what != FaultKind::PowerCut {
            return Ok(());
        }
        locked(&self.instance).settle().map_err(|error| error.to_string())
    }

    fn break_it(&mut self, fault: &Fault) -> Result<Option<String>, String> {
        self.do_it(fault).map(|()| None).map_err(|error| error.to_string())
    }

    fn mend(&mut self, fault: &Fault) -> Result<(), String> {
        self.undo(&fault.what).map_err(|error| error.to_string())
    }
}

/// By how much a clock is to differ.
fn difference_s(fault: &Fault) -> i64 {
    let Some(shift) = fault.by else { return 0 };
    let by_s = i64::try_from(shift.by.ns / 1_000_000_000).unwrap_or(i64::MAX);
    if shift.is_back { -by_s } else { by_s }
}

/// The nodes of a pair.
pub(super) struct Nodes {
    instance: Arc<Mutex<Instance>>,
    /// What was done to which nodes, until it is undone.
    broken: Vec<(Fault, Vec<String>)>,
    /// What takes the room of the volumes of which nodes.
    fillings: Vec<(String, Filling)>,
}

impl Nodes {
    pub(super) fn new(instance: Arc<Mutex<Instance>>) -> Self {
        Self { instance, broken: Vec::new(), fillings: Vec::new() }
    }
}

/// The nodes that a fault is of: one, or all that have data.
fn nodes_of(pair: &mut Pair, fault: &Fault) -> Result<Vec<String>, String> {
    if fault.node != Some(FaultNode::All) {
        return node_of(pair, fault).map(|node| vec![node]);
    }
    let nodes = pair.nodes().into_iter().filter(|node| !node.is_witness);
    Ok(nodes.map(|node| node.name).collect())
}

/// The node that a fault is of.
fn node_of(pair: &mut Pair, fault: &Fault) -> Result<String, String> {
    let is_primary = fault.is_of_primary();
    let nodes = pair.nodes();
    let primaries = nodes.iter().filter(|node| node.is_primary).count();
    if primaries > 1 {
        let names: Vec<&str> =
            nodes.iter().filter(|node| node.is_primary).map(|node| node.name.as_str()).collect();
        return Err(format!("{} accept writes at the same time", names.join(" and ")));
    }
    let found = nodes.into_iter().find(|node| !node.is_witness && node.is_primary == is_primary);
    let missing = if is_primary { "no node accepts writes" } else { "no standby node exists" };
    found.map(|node| node.name).ok_or_else(|| missing.to_owned())
}

impl Breaks for Nodes {
    /// As of one server.
    fn load_begins(&mut self, fault: &Fault) -> Result<(), String> {
        if fault.what != FaultKind::PowerCut {
            return Ok(());
        }
        let mut instance = locked(&self.instance);
        let Some(pair) = instance.pair() else { unreachable!("only pairs have nodes") };
        pair.settle().map_err(|error| error.to_string())
    }

    fn break_it(&mut self, fault: &Fault) -> Result<Option<String>, String> {
        let mut instance = locked(&self.instance);
        let Some(pair) = instance.pair() else { unreachable!("only pairs have nodes") };
        let nodes = nodes_of(pair, fault)?;
        let node = nodes.first().cloned().unwrap_or_default();
        let done = match &fault.what {
            FaultKind::Kill => pair.kill_server(&node),
            FaultKind::KillNode => pair.kill_node(&node),
            FaultKind::Freeze => pair.freeze(&node, Part::Server),
            FaultKind::FreezeReceiver => pair.freeze(&node, Part::WalReceiver),
            FaultKind::Restart => pair.stop(),
            FaultKind::Switchover => pair.switchover(),
            // Who is gone is replaced by whoever has the most of what it wrote.
            FaultKind::Promote => pair.kill_node(&node).and_then(|()| pair.switchover()),
            FaultKind::Cut => pair.cut(&node, true),
            FaultKind::Isolate => pair.cut(&node, false),
            FaultKind::Delay => pair.delay(&node, fault.by.map(|by| Duration::from_nanos(by.by.ns))),
            FaultKind::Clock => pair.set_clock(&node, difference_s(fault)),
            FaultKind::Throttle => pair.throttle(&node, Some(THROTTLED_IOPS)),
            FaultKind::Fill => pair.fill(&node).map(|filling| self.fillings.push((node.clone(), filling))),
            FaultKind::PowerCut => pair.cut_power(&nodes),
            FaultKind::Command(_) => unreachable!("a study asks none of this of a pair"),
        };
        done.map_err(|error| error.to_string())?;
        let told = nodes.join(" and ");
        self.broken.push((fault.clone(), nodes));
        Ok(Some(told))
    }

    fn mend(&mut self, fault: &Fault) -> Result<(), String> {
        let Some(at) = self.broken.iter().position(|(broken, _)| broken == fault) else { return Ok(()) };
        let (_, nodes) = self.broken.remove(at);
        let node = nodes.first().cloned().unwrap_or_default();
        let mut instance = locked(&self.instance);
        let Some(pair) = instance.pair() else { unreachable!("only pairs have nodes") };
        let runs = |pair: &mut Pair| {
            pair.nodes().iter().any(|one| one.name == node && (one.server_pid.or(one.keeper_pid)).is_some())
        };
        let mended = match &fault.what {
            // A keeper starts it again by itself.
            FaultKind::Kill | FaultKind::KillNode | FaultKind::Promote if runs(pair) => Ok(()),
            FaultKind::Kill | FaultKind::KillNode | FaultKind::Promote => pair.restart_node(&node),
            FaultKind::Freeze => pair.thaw(&node, Part::Server),
            FaultKind::FreezeReceiver => pair.thaw(&node, Part::WalReceiver),
            FaultKind::Restart => pair.start_again(),
            FaultKind::Cut | FaultKind::Isolate => pair.join(&node),
            FaultKind::Delay => pair.delay(&node, None),
            FaultKind::Clock => pair.set_clock(&node, 0),
            FaultKind::Throttle => pair.throttle(&node, None),
            FaultKind::Fill => {
                self.fillings.retain(|(filled, _)| *filled != node);
                // A server that ends when its log has no room is started again, if no keeper does so.
                if runs(pair) { Ok(()) } else { pair.restart_node(&node) }
            }
            FaultKind::PowerCut => pair.restore_power(&nodes),
            FaultKind::Switchover | FaultKind::Command(_) => Ok(()),
        };
        mended.map_err(|error| error.to_string())
    }
}

/// Looks at the nodes of a pair.
pub(super) struct Watched(pub(super) Watch);

impl Watches for Watched {
    fn stands(&self) -> Stands {
        let Seen { primaries, is_redundant, is_noticed } = self.0.look();
        Stands { primaries, is_redundant, is_noticed }
    }
}
