//! Several servers in one address, of which one is taken: <https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-MULTIPLE-HOSTS>.

use serde::{Deserialize, Serialize};

use super::UrlError;

/// The option of an address that says which server is taken.
pub(super) const WANTED: &str = "target_session_attrs";

/// Which of several servers is taken, in the words of libpq.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Wanted {
    /// The first that lets us in.
    #[default]
    Any,
    /// One whose transactions write unless told otherwise.
    ReadWrite,
    ReadOnly,
    /// One that is no standby.
    Primary,
    Standby,
    /// A standby, and if there is none any.
    PreferStandby,
}

impl Wanted {
    const ALL: [Self; 6] =
        [Self::Any, Self::ReadWrite, Self::ReadOnly, Self::Primary, Self::Standby, Self::PreferStandby];

    /// As an address spells it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::ReadWrite => "read-write",
            Self::ReadOnly => "read-only",
            Self::Primary => "primary",
            Self::Standby => "standby",
            Self::PreferStandby => "prefer-standby",
        }
    }

    pub(crate) fn read(text: &str) -> Result<Self, UrlError> {
        Self::ALL.into_iter().find(|wanted| wanted.name() == text).ok_or_else(|| {
            let known = Self::ALL.map(Self::name).join(", ");
            UrlError(format!("unknown kind of session `{text}` ({WANTED}): use {known}"))
        })
    }

    /// Whether a server is one that is wanted.
    pub(crate) fn fits(self, is_standby: bool, only_reads: bool) -> bool {
        match self {
            Self::Any => true,
            Self::ReadWrite => !only_reads && !is_standby,
            Self::ReadOnly => only_reads || is_standby,
            Self::Primary => !is_standby,
            Self::Standby | Self::PreferStandby => is_standby,
        }
    }
}

/// The port of each host: one for all, or one each.
pub(crate) fn ports(hosts: usize, given: &[String], default: u16) -> Result<Vec<u16>, UrlError> {
    let number = |text: &String| match text.as_str() {
        "" => Ok(default),
        text => super::parse::port_number(text),
    };
    match given {
        [] => Ok(vec![default; hosts]),
        [one] => Ok(vec![number(one)?; hosts]),
        each if each.len() == hosts => each.iter().map(number).collect(),
        each => Err(UrlError(format!(
            "there are {hosts} hosts and {} ports: give one port for all, or one for each",
            each.len()
        ))),
    }
}
