//! Answers to commands, by their first bytes.
//!
//! - <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_basic_ok_packet.html>
//! - <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_basic_err_packet.html>
//! - <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_query_response.html>

use mysql_common::constants::StatusFlags;

use super::fields::Fields;
use super::packets::{ERROR, PART_BYTES};
use super::{DriverError, DriverResult, ServerError};

const OK: u8 = 0;
const FILE: u8 = 0xfb;
const END: u8 = 0xfe;
/// An end of the old kind is shorter than this. A row of so long a text begins with the same byte.
const OLD_END_BYTES: usize = 9;
/// Most columns of a row that are believed. Servers have at most 4,096.
const COLUMNS_MAX: u64 = 65_535;
/// Code of a report of MariaDB about the progress of a statement.
const PROGRESS: [u8; 3] = [ERROR, 0xff, 0xff];

/// The beginning of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Head {
    /// It is done.
    Done(Done),
    /// Rows of so many columns follow.
    Rows {
        columns: usize,
        /// Whether the columns are defined before the rows.
        are_defined: bool,
    },
    /// The server wants a file of this machine.
    File,
}

/// The end of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Done {
    pub(super) affected_rows: u64,
    /// The id that the server made; zero if it made none.
    pub(super) insert_id: u64,
    /// Whether another answer follows.
    pub(super) has_more: bool,
}

impl Done {
    /// Reads an OK packet.
    fn read(payload: &[u8]) -> DriverResult<Self> {
        let mut fields = Fields(payload);
        fields.u8()?;
        Ok(Self {
            affected_rows: fields.number()?,
            insert_id: fields.number()?,
            has_more: has_more(fields.u16()?),
        })
    }
}

fn has_more(status: u16) -> bool {
    StatusFlags::from_bits_truncate(status).contains(StatusFlags::SERVER_MORE_RESULTS_EXISTS)
}

/// Reads the first packet of an answer. Errors have been taken out before.
pub(super) fn head(payload: &[u8], has_cached_columns: bool) -> DriverResult<Head> {
    match payload {
        [OK, ..] => Done::read(payload).map(Head::Done),
        [FILE, ..] => Ok(Head::File),
        _ => {
            let mut fields = Fields(payload);
            let columns = fields.number()?;
            if columns > COLUMNS_MAX {
                return Err(DriverError::Protocol("a row has too many columns"));
            }
            let are_defined = !(has_cached_columns && fields.0.first() == Some(&0));
            Ok(Head::Rows { columns: columns as usize, are_defined })
        }
    }
}

/// Reads the packet behind the last row; none if it is a row.
#[inline]
pub(super) fn end(payload: &[u8], without_eof: bool) -> DriverResult<Option<Done>> {
    match payload {
        [END, ..] if without_eof && payload.len() < PART_BYTES => Done::read(payload).map(Some),
        [END, ..] if !without_eof && payload.len() < OLD_END_BYTES => {
            let mut fields = Fields(payload);
            let _header_and_warnings: [u8; 3] = fields.array()?;
            Ok(Some(Done { has_more: has_more(fields.u16()?), ..Done::default() }))
        }
        [] => Err(DriverError::Protocol("a row is empty")),
        _ => Ok(None),
    }
}

/// Whether a packet is the end of columns, which servers before MySQL 5.7 and MariaDB 10.2 send.
pub(super) fn is_old_end(payload: &[u8]) -> bool {
    payload.first() == Some(&END) && payload.len() < OLD_END_BYTES
}

pub(super) fn is_progress(payload: &[u8]) -> bool {
    payload.starts_with(&PROGRESS)
}

/// Reads an error. One before the log-in has no SQLSTATE.
pub(super) fn server_error(payload: &[u8]) -> DriverResult<ServerError> {
    let mut fields = Fields(payload);
    fields.u8()?;
    let code = fields.u16()?;
    let (state, message) = match fields.0 {
        [b'#', rest @ ..] if rest.len() >= 5 => rest.split_at(5),
        rest => (&b"HY000"[..], rest),
    };
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    Ok(ServerError { code, state: text(state), message: text(message) })
}
