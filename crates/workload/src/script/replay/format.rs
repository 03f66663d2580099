//! The formats of logs, and which of them a file is.

use std::fmt;
use std::str::FromStr;

use super::{general, postgres, sqlserver};

/// A format of logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// PostgreSQL's `log_destination = csvlog`.
    PostgresCsv,
    /// The general log of MariaDB and MySQL.
    MariadbGeneral,
    /// Events of SQL Server as `sys.fn_xe_file_target_read_file` gives them: XML.
    SqlserverEvents,
}

/// A text that is no format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown log format `{0}`: use postgres-csv, mariadb-general or sqlserver-events")]
pub struct LogFormatError(String);

impl LogFormat {
    const ALL: [Self; 3] = [Self::PostgresCsv, Self::MariadbGeneral, Self::SqlserverEvents];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::PostgresCsv => "postgres-csv",
            Self::MariadbGeneral => "mariadb-general",
            Self::SqlserverEvents => "sqlserver-events",
        }
    }

    /// What a line looks like, if it is one by which a format is known.
    pub(super) fn of_line(line: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| match format {
            Self::PostgresCsv => postgres::is_begin(line),
            Self::MariadbGeneral => general::is_begin(line),
            Self::SqlserverEvents => sqlserver::is_begin(line),
        })
    }
}

impl FromStr for LogFormat {
    type Err = LogFormatError;

    fn from_str(text: &str) -> Result<Self, LogFormatError> {
        let text = text.trim();
        Self::ALL
            .into_iter()
            .find(|format| format.name() == text)
            .ok_or_else(|| LogFormatError(text.to_owned()))
    }
}

impl fmt::Display for LogFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

load::serde_as_text!(LogFormat);
