//! What goes wrong with pairs beyond what goes wrong with servers.

use std::path::PathBuf;

/// Why something could not be done with a pair.
#[derive(Debug, thiserror::Error)]
pub enum PairError {
    /// An engine has no such pair.
    #[error("{engine} cannot be started as `pair = \"{kind}\"`: take {instead}")]
    NoSuchPair {
        /// The engine.
        engine: &'static str,
        /// The kind of pair.
        kind: &'static str,
        /// What there is instead.
        instead: &'static str,
    },
    /// A pair's nodes cannot be placed or limited so.
    #[error("a pair of servers does not support {what}: omit this setting, or measure a single server")]
    NotOfPairs {
        /// What was asked for.
        what: &'static str,
    },
    /// A timeout is not known.
    #[error("unknown timeout `{key}` of this pair's failover: use {known}")]
    NoTimeout {
        /// What was given.
        key: String,
        /// What could be given.
        known: String,
    },
    /// A timeout is no number.
    #[error("invalid value `{value}` of {key}: use {form}")]
    TimeoutValue {
        /// The timeout.
        key: String,
        /// What was given.
        value: String,
        /// What can be given.
        form: &'static str,
    },
    /// Its nodes cannot have a network of their own.
    #[error("prony cannot create a separate network for the pair, and a network fault needs one: {why}")]
    NoNetwork {
        /// What is in its way.
        why: String,
    },
    /// It has no network that could be cut.
    #[error(
        "the nodes of this pair use the loopback interface, which cannot be cut: start the pair with its own network"
    )]
    OnLoopback,
    /// Nodes that are to have volumes of their own have too few, or too many.
    #[error(
        "{given} directories are given for the data of {nodes} nodes: give one directory for each node, each on a separate volume"
    )]
    VolumesOf {
        /// What was given.
        given: usize,
        /// Nodes of the pair.
        nodes: usize,
    },
    /// Two nodes would lie on one volume.
    #[error(
        "{first} and {second} are on one volume, but each node of a pair needs its own: use another directory, such as a volume of \
        `prony lab create`",
        first = first.display(), second = second.display()
    )]
    OneVolume {
        /// A directory of a node.
        first: PathBuf,
        /// That of another.
        second: PathBuf,
    },
    /// What lies in the pair's directory cannot fail alone.
    #[error("{node} has no separate volume that could fail: start the pair with one directory per node")]
    NoVolume {
        /// The node.
        node: String,
    },
    /// A node is not there.
    #[error("the pair has no node `{name}`: it has {known}")]
    NoNode {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// It did not get into a state in time.
    #[error("the pair is still not {what} after {limit_s} s; its nodes: {state}{logs}")]
    NotReached {
        /// What it was to be.
        what: &'static str,
        /// How long was waited.
        limit_s: u64,
        /// What each node is.
        state: String,
        /// The ends of the logs.
        logs: String,
    },
    /// Whoever waited was told to end.
    #[error("the wait for the pair was interrupted")]
    Interrupted,
    /// A program of the pair ended that keeps a node.
    #[error("{program} of {node} ended with {status}{logs}")]
    Ended {
        /// The program.
        program: &'static str,
        /// Its node.
        node: String,
        /// How it ended.
        status: String,
        /// The ends of the logs.
        logs: String,
    },
    /// Nothing runs that a signal could be sent to.
    #[error("cannot {action} {what} of {node}: it is not running")]
    NotRunning {
        /// What was to be done.
        action: &'static str,
        /// To what.
        what: &'static str,
        /// Of which node.
        node: String,
    },
    /// A client program did not do what it was asked for.
    #[error("{program} at {node} failed: {said}")]
    Asked {
        /// The client program.
        program: &'static str,
        /// The node.
        node: String,
        /// What it said.
        said: String,
    },
    /// A server did not answer its client program.
    #[error("{node} did not answer {program} within {limit_s} s")]
    Silent {
        /// The client program.
        program: &'static str,
        /// The node.
        node: String,
        /// How long was waited.
        limit_s: u64,
    },
    /// More than one node accepts writes.
    #[error("two primaries at once: {nodes} accept writes")]
    SeveralPrimaries {
        /// Their names.
        nodes: String,
    },
    /// No node accepts writes.
    #[error("cannot {action}: no node accepts writes")]
    NoPrimary {
        /// What was to be done.
        action: &'static str,
    },
    /// Nothing could take over.
    #[error("cannot {action}: {why}")]
    NoSwitchover {
        /// What was to be done.
        action: &'static str,
        /// What is in its way.
        why: String,
    },
}
