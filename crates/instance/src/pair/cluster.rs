//! What each kind of pair does in its own way.

use std::fmt::Debug;

use super::ground::{Ground, Seat};
use super::watch::Asked;
use crate::InstanceError;

/// A way in which nodes are kept together. All of it is about the pair's [`Ground`].
pub(crate) trait Cluster: Debug + Send {
    /// Makes and starts all nodes, of which the second may still be catching up.
    fn assemble(&mut self, ground: &mut Ground) -> Result<(), InstanceError>;

    /// Does what can be done only once all nodes are there.
    fn started(&mut self, ground: &mut Ground) -> Result<(), InstanceError>;

    /// Starts a node that was started before, as whatever it is to be now.
    fn start_node(&mut self, ground: &mut Ground, number: usize) -> Result<(), InstanceError>;

    /// The node that others follow, where it has to be there before them.
    fn leader(&self) -> Option<usize> {
        None
    }

    /// Starts several that were started before, the one that others follow first.
    fn start_nodes(&mut self, ground: &mut Ground, numbers: &[usize]) -> Result<(), InstanceError> {
        let (leader, mut order) = (self.leader(), numbers.to_vec());
        order.sort_by_key(|&number| Some(number) != leader);
        order.into_iter().try_for_each(|number| self.start_node(ground, number))
    }

    /// Starts all that was stopped or killed, in the order in which it must be.
    fn start_all(&mut self, ground: &mut Ground) -> Result<(), InstanceError>;

    /// Ends all in order.
    fn stop_all(&mut self, ground: &mut Ground) -> Result<(), InstanceError>;

    /// Ends a node or the witness in order.
    fn stop_seat(&mut self, seat: &mut Seat) -> Result<(), InstanceError>;

    /// Which nodes take writes now, by their numbers.
    fn writers(&self, ground: &Ground) -> Vec<bool>;

    /// Whether every node is there and follows.
    fn is_redundant(&self, ground: &Ground) -> Result<bool, InstanceError>;

    /// What each node is, in one line.
    fn state(&self, ground: &Ground) -> String;

    /// Has another node take over, in order.
    fn switchover(&mut self, ground: &mut Ground) -> Result<(), InstanceError>;

    /// Has a node take writes, whatever the others do.
    fn promote(&mut self, ground: &mut Ground, number: usize) -> Result<(), InstanceError>;

    /// What decides how it behaves, and its versions, as they are read from it.
    fn settings(&self, ground: &Ground) -> Result<Vec<(String, String)>, InstanceError>;

    /// Who is asked how the nodes stand, whatever is done to them meanwhile.
    fn watch(&self) -> Asked;

    /// Has what receives the log of the primary stand still at a node, or go on, where that is no process of its own. Whether it could.
    fn hold_receiver(&mut self, _: &Ground, _: usize, _: bool) -> Result<bool, InstanceError> {
        Ok(false)
    }

    /// Where clients connect to.
    fn url(&self, ground: &Ground) -> String;

    /// The first process of a node's server, if it runs.
    fn server_pid(&self, seat: &mut Seat) -> Option<u32>;
}
