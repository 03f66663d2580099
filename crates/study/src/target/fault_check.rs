//! What cannot be of a server's faults, and what to write instead.

use load::Span;

use super::fault::{Fault, FaultKind, FaultNode};
use super::server::{Engine, Pair, Server};
use crate::read;

/// That a fault would outlast the load, if it would.
pub(super) fn late(fault: &Fault, load_end: Span) -> Option<String> {
    (fault.ends_ns() >= load_end.ns).then(|| {
        format!(
            "`{fault}` would outlast the load, which ends after {load_end}. Start it earlier, or measure \
             longer"
        )
    })
}

impl Server {
    /// Whether a command of the study's does it: one that is called as prony calls something is taken for that.
    #[must_use]
    pub fn is_by_command(&self, fault: &Fault) -> bool {
        matches!(fault.what, FaultKind::Command(_)) || self.fault.contains_key(fault.what.name())
    }

    /// What prony itself does to it.
    pub fn own_faults(&self) -> impl Iterator<Item = &FaultKind> {
        self.all_faults().iter().filter(|fault| !self.is_by_command(fault)).map(|fault| &fault.what)
    }

    /// What cannot be of its faults, under a load that ends so long after it began.
    pub(crate) fn impossible_faults(&self, load_end: Span) -> Vec<String> {
        let impossible = |fault: &Fault| {
            let form = || if self.is_by_command(fault) { own_affair(fault) } else { impossible_form(fault) };
            self.impossible_subject(fault).or_else(form).or_else(|| late(fault, load_end))
        };
        self.all_faults().iter().filter_map(impossible).collect()
    }

    /// That it cannot be done to such a server.
    fn impossible_subject(&self, fault: &Fault) -> Option<String> {
        let what = fault.what.name();
        Some(match &fault.what {
            FaultKind::Command(name) if !self.fault.contains_key(name) => {
                let known = FaultKind::BUILT_IN.iter().map(FaultKind::name);
                let known: Vec<&str> = known.chain(self.fault.keys().map(String::as_str)).collect();
                let meant = read::likely(name, known.iter().copied());
                let meant = meant.map_or_else(String::new, |meant| format!("Did you mean `{meant}`? "));
                format!(
                    "unknown fault `{name}`. {meant}Faults: {}. A study file can define others by a \
                     command, as fault.{name}",
                    known.join(", ")
                )
            }
            _ if self.is_by_command(fault) => return None,
            _ if self.runs() => {
                format!(
                    "`{what}` needs a server that prony starts, but this one runs already. Define a command as fault.NAME, and write its name here"
                )
            }
            built_in if built_in.needs_pair() && self.pair().is_none() => {
                format!("`{what}` needs more than one node. Add `pair`, for example pair = \"sync\"")
            }
            built_in if built_in.is_of_volume() && self.pair().is_some() && self.nodes.is_empty() => {
                format!(
                    "`{what}` needs a separate volume for each node. Give each node its own, for example \
                     nodes = [\"/volume1\", \"/volume2\"] (`prony lab create` creates volumes)"
                )
            }
            _ if self.impossible_of_pair(fault).is_some() => return self.impossible_of_pair(fault),
            _ if fault.node.is_some() && self.pair().is_none() => {
                format!(
                    "`{fault}` names a node, but this server has only one. Remove the node name, or add `pair`"
                )
            }
            _ => return None,
        })
    }

    /// That it cannot be done to such a kind of pair.
    fn impossible_of_pair(&self, fault: &Fault) -> Option<String> {
        let (what, pair) = (fault.what.name(), self.pair()?);
        let is_galera = self.engine == Some(Engine::Mariadb) && pair == Pair::Sync;
        Some(match &fault.what {
            FaultKind::Promote if pair == Pair::Sync => format!(
                "`{what}` needs a pair without automatic failover, but this one has it. Use \"kill-node at \
                 20s\", or give pair = \"async\""
            ),
            what if fault.node == Some(FaultNode::All) && *what != FaultKind::PowerCut => format!(
                "`{fault}` cannot apply to all nodes; only power-cut can. Write `of primary` or `of standby`, or omit the node"
            ),
            FaultKind::Promote if !fault.is_of_primary() => {
                format!(
                    "`{fault}` names a standby, but the standby is the node that takes over. Remove the node name"
                )
            }
            FaultKind::FreezeReceiver if is_galera => format!(
                "`{what}` needs a log receiver, which Galera nodes do not have. Use \"freeze of standby \
                 for 2s at 20s\", or give pair = \"async\""
            ),
            _ => return None,
        })
    }
}

/// That it says of a command what that decides.
pub(super) fn own_affair(fault: &Fault) -> Option<String> {
    let says_more = fault.lasts.is_some() || fault.node.is_some() || fault.by.is_some();
    says_more.then(|| {
        let what = fault.what.name();
        format!(
            "`{what}` is a command, which sets its own duration, amount and node. Give only its name \
             and time"
        )
    })
}

/// That it says too little of itself, or too much.
fn impossible_form(fault: &Fault) -> Option<String> {
    let what = fault.what.name();
    Some(match &fault.what {
        built_in if built_in.needs_length() && fault.lasts.is_none() => {
            format!("`{what}` needs a duration. Write, for example, \"{what} for 2s at 20s\"")
        }
        built_in if built_in.needs_measure() != fault.by.is_some() => match fault.by {
            None => {
                format!("`{what}` needs an amount. Write, for example, \"{what} by 20ms for 10s at 20s\"")
            }
            Some(by) => format!("`{what}` does not accept an amount. Remove `by {by}`"),
        },
        FaultKind::Delay if fault.by.is_some_and(|by| by.is_back) => {
            format!("the delay in `{fault}` cannot be negative. Remove the minus sign")
        }
        built_in if !built_in.takes_length() && fault.lasts.is_some() => {
            format!("`{what}` does not accept a duration. Remove the part that begins with `for`")
        }
        _ => return None,
    })
}
