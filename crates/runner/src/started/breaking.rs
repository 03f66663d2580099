//! Breaks servers that were started for a study, and mends them again.

use std::sync::{Arc, Mutex};

use instance::{Filling, Instance, InstanceError};
use study::{Fault, FaultKind};

use super::locked;
use crate::faults::{Breaks, Stands};

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

    fn do_it(&mut self, what: &FaultKind) -> Result<(), InstanceError> {
        let mut instance = locked(&self.instance);
        match what {
            FaultKind::Kill => instance.kill(),
            FaultKind::Freeze => instance.freeze(),
            FaultKind::Throttle => instance.throttle(Some(THROTTLED_IOPS)),
            FaultKind::Restart => instance.stop(),
            FaultKind::Fill => {
                self.filling = Some(instance.fill()?);
                Ok(())
            }
            FaultKind::KillNode
            | FaultKind::FreezeReceiver
            | FaultKind::Switchover
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
            FaultKind::Fill => {
                self.filling = None;
                // A server that ends when its log has no room is started again.
                if instance.pid().is_none() { instance.start_again() } else { Ok(()) }
            }
            FaultKind::KillNode
            | FaultKind::FreezeReceiver
            | FaultKind::Switchover
            | FaultKind::Command(_) => {
                unreachable!("a study asks none of this of one server")
            }
        }
    }
}

impl Breaks for OneServer {
    fn break_it(&mut self, fault: &Fault) -> Result<Option<String>, String> {
        self.do_it(&fault.what).map(|()| None).map_err(|error| error.to_string())
    }

    fn mend(&mut self, fault: &Fault) -> Result<(), String> {
        self.undo(&fault.what).map_err(|error| error.to_string())
    }

    fn stands(&mut self) -> Option<Stands> {
        None
    }
}
