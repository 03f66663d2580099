//! What clients did to registers, and what of it no register does that is one.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a register holds before anybody wrote it. No write is of this value.
pub const FIRST_VALUE: u64 = 0;

/// One operation on one register. Times are in nanoseconds since the load began, by one clock for all clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operation {
    /// Client, counted from 0.
    pub client: u32,
    /// The register.
    pub key: u32,
    /// When it was sent.
    pub invoked_ns: u64,
    /// What it was, and what became of it.
    #[serde(flatten)]
    pub did: Did,
}

/// What an operation was, and what became of it. Each value is written once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "did", rename_all = "snake_case")]
pub enum Did {
    /// A write that was acknowledged.
    Wrote {
        /// What was written.
        value: u64,
        /// When it was acknowledged.
        at_ns: u64,
    },
    /// A write of which the server said that it was not done.
    Refused {
        /// What was to be written.
        value: u64,
        /// When that was said.
        at_ns: u64,
    },
    /// A write that was not answered: it may take effect at any time after it was sent, or never.
    Unanswered {
        /// What was to be written.
        value: u64,
        /// When its client stopped waiting.
        at_ns: u64,
    },
    /// A read that was answered.
    Read {
        /// What was found.
        value: u64,
        /// The value that its write replaced, where the register keeps that.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        replaced: Option<u64>,
        /// When it was answered.
        at_ns: u64,
    },
    /// A read that failed, or was not answered.
    ReadNothing {
        /// When its client stopped waiting.
        at_ns: u64,
    },
}

impl Operation {
    /// When its client had an answer, or stopped waiting for one.
    #[must_use]
    pub fn ended_ns(&self) -> u64 {
        match self.did {
            Did::Wrote { at_ns, .. }
            | Did::Refused { at_ns, .. }
            | Did::Unanswered { at_ns, .. }
            | Did::Read { at_ns, .. }
            | Did::ReadNothing { at_ns } => at_ns,
        }
    }

    /// Whether it did what it was to do.
    #[must_use]
    pub fn is_done(&self) -> bool {
        matches!(self.did, Did::Wrote { .. } | Did::Read { .. })
    }

    /// Whether it was to write.
    #[must_use]
    pub fn is_write(&self) -> bool {
        matches!(self.did, Did::Wrote { .. } | Did::Refused { .. } | Did::Unanswered { .. })
    }
}

/// `client 3 wrote 17 (1.201000–1.203000 s)`.
impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { client, invoked_ns, .. } = *self;
        write!(f, "client {} ", client + 1)?;
        match self.did {
            Did::Wrote { value, .. } => write!(f, "wrote {value}")?,
            Did::Refused { value, .. } => write!(f, "was refused the write of {value}")?,
            Did::Unanswered { value, .. } => write!(f, "had no answer to the write of {value}")?,
            Did::Read { value: FIRST_VALUE, .. } => write!(f, "read nothing that was written")?,
            Did::Read { value, replaced: None, .. } => write!(f, "read {value}")?,
            Did::Read { value, replaced: Some(FIRST_VALUE), .. } => {
                write!(f, "read {value} as the first value")?;
            }
            Did::Read { value, replaced: Some(replaced), .. } => {
                write!(f, "read {value}, which replaced {replaced}")?;
            }
            Did::ReadNothing { .. } => write!(f, "had no answer to a read")?,
        }
        let seconds = |ns: u64| ns as f64 / 1e9;
        write!(f, " ({:.6}–{:.6} s)", seconds(invoked_ns), seconds(self.ended_ns()))
    }
}

/// What a register did that is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnomalyKind {
    /// A write was acknowledged and is gone: an older value is there, and no later write explains it.
    LostUpdate,
    /// Two writes replaced the same value: each was done where the other was not.
    Fork,
    /// One write took effect twice: it replaced two values.
    DuplicateWrite,
    /// A value was read that its writer was told is not written.
    DirtyRead,
    /// A value was read that nobody wrote.
    UnwrittenValue,
    /// A value was read before its write was sent.
    ReadBeforeWrite,
    /// One client read a value, and then an older one.
    NonMonotonicRead,
    /// A read that began after a newer value was acknowledged, or read, returned an older one.
    StaleRead,
}

impl AnomalyKind {
    /// Whether it is seen where acknowledged writes were lost, and nothing else is wrong: a register that went back to an older value.
    #[must_use]
    pub fn is_of_loss(self) -> bool {
        matches!(self, Self::LostUpdate | Self::NonMonotonicRead | Self::StaleRead)
    }

    /// All of them, the worst first.
    pub const ALL: [Self; 8] = [
        Self::LostUpdate,
        Self::Fork,
        Self::DuplicateWrite,
        Self::DirtyRead,
        Self::UnwrittenValue,
        Self::ReadBeforeWrite,
        Self::NonMonotonicRead,
        Self::StaleRead,
    ];

    /// Its name for one and for several.
    #[must_use]
    pub fn names(self) -> [&'static str; 2] {
        match self {
            Self::LostUpdate => ["lost update", "lost updates"],
            Self::Fork => ["fork", "forks"],
            Self::DuplicateWrite => ["write that took effect twice", "writes that took effect twice"],
            Self::DirtyRead => ["dirty read", "dirty reads"],
            Self::UnwrittenValue => ["value that nobody wrote", "values that nobody wrote"],
            Self::ReadBeforeWrite => ["read before its write", "reads before their writes"],
            Self::NonMonotonicRead => ["non-monotonic read", "non-monotonic reads"],
            Self::StaleRead => ["stale read", "stale reads"],
        }
    }

    /// What it means, in words that follow its name.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        match self {
            Self::LostUpdate => "a write was acknowledged, and is gone",
            Self::Fork => "two writes replaced the same value: each was done where the other was not",
            Self::DuplicateWrite => "one write replaced two values",
            Self::DirtyRead => "a read returned a value, but its writer received an error",
            Self::UnwrittenValue => "a value was read that no client wrote to this register",
            Self::ReadBeforeWrite => "a value was read before its write was sent",
            Self::NonMonotonicRead => "one client read a value, and then an older one",
            Self::StaleRead => {
                "a read that began after a newer value was acknowledged or read returned an older one"
            }
        }
    }
}

impl fmt::Display for AnomalyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.names()[0])
    }
}

/// One thing that a register did and should not have, with what proves it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Anomaly {
    /// What it is.
    pub kind: AnomalyKind,
    /// The register.
    pub key: u32,
    /// The operations that prove it, in the order in which they are told.
    pub operations: Vec<Operation>,
}

/// `lost update of register 5: client 3 wrote 17 (1.201000–1.203000 s); client 1 read 16 (1.500000–1.501000 s)`.
impl fmt::Display for Anomaly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let told: Vec<String> = self.operations.iter().map(ToString::to_string).collect();
        write!(f, "{} of register {}: {}", self.kind, self.key, told.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_anomaly_is_told_with_the_operations_that_prove_it() {
        let wrote = Operation {
            client: 2,
            key: 5,
            invoked_ns: 1_201_000_000,
            did: Did::Wrote { value: 17, at_ns: 1_203_000_000 },
        };
        let did = Did::Read { value: FIRST_VALUE, replaced: None, at_ns: 1_501_000_000 };
        let read = Operation { client: 0, key: 5, invoked_ns: 1_500_000_000, did };
        let anomaly = Anomaly { kind: AnomalyKind::LostUpdate, key: 5, operations: vec![wrote, read] };
        assert_eq!(
            anomaly.to_string(),
            "lost update of register 5: client 3 wrote 17 (1.201000–1.203000 s); client 1 read nothing that was written \
             (1.500000–1.501000 s)"
        );
        let stored = serde_json::to_string(&anomaly).unwrap();
        assert!(stored.contains(r#""did":"wrote","value":17"#), "{stored}");
        assert_eq!(serde_json::from_str::<Anomaly>(&stored).unwrap(), anomaly);
    }
}
