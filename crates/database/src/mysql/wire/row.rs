//! Rows and their values.
//!
//! - <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_binary_resultset.html>
//! - <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_query_response_text_resultset_row.html>

use std::fmt;

use mysql_common::constants::ColumnType;

use super::column::ColumnDefinition;
use super::fields::Fields;
use super::{DriverError, DriverResult};

/// How values are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// All of them as text: answers to statements that were sent as text.
    Text,
    /// By their types: answers to prepared statements.
    Binary,
}

/// A row, as it came.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row<'r> {
    pub(super) payload: &'r [u8],
    pub(super) columns: &'r [ColumnDefinition],
    pub(super) encoding: Encoding,
}

/// A value of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Raw<'r> {
    Null,
    Int(i64),
    UInt(u64),
    Float(f32),
    Double(f64),
    Bytes(&'r [u8]),
    Moment(Moment),
}

/// A date with a time, or a length of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    Date { year: u16, month: u8, day: u8, time: ClockTime },
    Length { is_negative: bool, days: u32, time: ClockTime },
}

/// A time of day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ClockTime {
    pub(crate) hours: u8,
    pub(crate) minutes: u8,
    pub(crate) seconds: u8,
    pub(crate) us: u32,
}

impl<'r> Row<'r> {
    pub(crate) fn columns(&self) -> &'r [ColumnDefinition] {
        self.columns
    }

    /// Copies it, in place of another one.
    pub(crate) fn keep_in(&self, kept: &mut Vec<u8>) {
        kept.clear();
        kept.extend_from_slice(self.payload);
    }

    /// Its values with their columns.
    ///
    /// # Errors
    /// The row is shorter or longer than its columns say.
    #[inline]
    pub(crate) fn values(self) -> DriverResult<Values<'r>> {
        let mut fields = Fields(self.payload);
        let nulls: &[u8] = match self.encoding {
            Encoding::Text => &[],
            Encoding::Binary => {
                if fields.u8()? != 0 {
                    return Err(DriverError::Protocol("expected a row"));
                }
                fields.bytes((self.columns.len() + NULLS_OFFSET).div_ceil(8))?
            }
        };
        Ok(Values { fields, nulls, columns: self.columns, index: 0, encoding: self.encoding })
    }
}

/// The first bits of those that say which values are null mean nothing.
const NULLS_OFFSET: usize = 2;
const NULL_TEXT: u8 = 0xfb;

/// The values of a row, one after the other.
pub(crate) struct Values<'r> {
    fields: Fields<'r>,
    nulls: &'r [u8],
    columns: &'r [ColumnDefinition],
    index: usize,
    encoding: Encoding,
}

impl<'r> Iterator for Values<'r> {
    type Item = DriverResult<(Raw<'r>, &'r ColumnDefinition)>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let Some(column) = self.columns.get(self.index) else {
            let rest = std::mem::take(&mut self.fields.0);
            return (!rest.is_empty())
                .then_some(Err(DriverError::Protocol("a row is longer than its columns")));
        };
        let value = match self.encoding {
            Encoding::Binary => {
                let bit = self.index + NULLS_OFFSET;
                let is_null = self.nulls[bit / 8] >> (bit % 8) & 1 == 1;
                if is_null { Ok(Raw::Null) } else { binary(&mut self.fields, column) }
            }
            Encoding::Text => match self.fields.0 {
                [NULL_TEXT, ..] => self.fields.u8().map(|_| Raw::Null),
                _ => self.fields.text().map(Raw::Bytes),
            },
        };
        self.index += 1;
        Some(value.map(|value| (value, column)))
    }
}

/// Reads a value by its type.
#[inline]
#[expect(clippy::wildcard_enum_match_arm, reason = "other types are not sent")]
fn binary<'r>(fields: &mut Fields<'r>, column: &ColumnDefinition) -> DriverResult<Raw<'r>> {
    let is_unsigned = column.is_unsigned;
    match column.kind {
        ColumnType::MYSQL_TYPE_LONGLONG => {
            let bytes = fields.array()?;
            Ok(if is_unsigned {
                unsigned(u64::from_le_bytes(bytes))
            } else {
                Raw::Int(i64::from_le_bytes(bytes))
            })
        }
        ColumnType::MYSQL_TYPE_LONG | ColumnType::MYSQL_TYPE_INT24 => {
            let number = fields.u32()?;
            Ok(Raw::Int(if is_unsigned { i64::from(number) } else { i64::from(number as i32) }))
        }
        ColumnType::MYSQL_TYPE_SHORT | ColumnType::MYSQL_TYPE_YEAR => {
            let number = fields.u16()?;
            Ok(Raw::Int(if is_unsigned { i64::from(number) } else { i64::from(number as i16) }))
        }
        ColumnType::MYSQL_TYPE_TINY => {
            let number = fields.u8()?;
            Ok(Raw::Int(if is_unsigned { i64::from(number) } else { i64::from(number as i8) }))
        }
        ColumnType::MYSQL_TYPE_DOUBLE => fields.array().map(|bytes| Raw::Double(f64::from_le_bytes(bytes))),
        ColumnType::MYSQL_TYPE_FLOAT => fields.array().map(|bytes| Raw::Float(f32::from_le_bytes(bytes))),
        ColumnType::MYSQL_TYPE_STRING
        | ColumnType::MYSQL_TYPE_VAR_STRING
        | ColumnType::MYSQL_TYPE_VARCHAR
        | ColumnType::MYSQL_TYPE_BLOB
        | ColumnType::MYSQL_TYPE_TINY_BLOB
        | ColumnType::MYSQL_TYPE_MEDIUM_BLOB
        | ColumnType::MYSQL_TYPE_LONG_BLOB
        | ColumnType::MYSQL_TYPE_DECIMAL
        | ColumnType::MYSQL_TYPE_NEWDECIMAL
        | ColumnType::MYSQL_TYPE_ENUM
        | ColumnType::MYSQL_TYPE_SET
        | ColumnType::MYSQL_TYPE_BIT
        | ColumnType::MYSQL_TYPE_JSON
        | ColumnType::MYSQL_TYPE_GEOMETRY
        | ColumnType::MYSQL_TYPE_VECTOR => fields.text().map(Raw::Bytes),
        ColumnType::MYSQL_TYPE_DATE
        | ColumnType::MYSQL_TYPE_NEWDATE
        | ColumnType::MYSQL_TYPE_DATETIME
        | ColumnType::MYSQL_TYPE_TIMESTAMP => date(fields).map(Raw::Moment),
        ColumnType::MYSQL_TYPE_TIME => length_of_time(fields).map(Raw::Moment),
        ColumnType::MYSQL_TYPE_NULL => Ok(Raw::Null),
        _ => Err(DriverError::Protocol("a value has a type that is never sent")),
    }
}

fn unsigned(number: u64) -> Raw<'static> {
    i64::try_from(number).map_or(Raw::UInt(number), Raw::Int)
}

/// What is zero at its end is left out.
fn date(fields: &mut Fields<'_>) -> DriverResult<Moment> {
    let length = fields.u8()?;
    let (mut year, mut month, mut day, mut time) = (0, 0, 0, ClockTime::default());
    if !matches!(length, 0 | 4 | 7 | 11) {
        return Err(DriverError::Protocol("a date has a wrong length"));
    }
    if length >= 4 {
        (year, month, day) = (fields.u16()?, fields.u8()?, fields.u8()?);
    }
    if length >= 7 {
        time = clock_time(fields, length == 11)?;
    }
    Ok(Moment::Date { year, month, day, time })
}

fn length_of_time(fields: &mut Fields<'_>) -> DriverResult<Moment> {
    match fields.u8()? {
        0 => Ok(Moment::Length { is_negative: false, days: 0, time: ClockTime::default() }),
        length @ (8 | 12) => {
            let is_negative = fields.u8()? == 1;
            let days = fields.u32()?;
            Ok(Moment::Length { is_negative, days, time: clock_time(fields, length == 12)? })
        }
        _ => Err(DriverError::Protocol("a time has a wrong length")),
    }
}

fn clock_time(fields: &mut Fields<'_>, has_us: bool) -> DriverResult<ClockTime> {
    let [hours, minutes, seconds] = fields.array()?;
    Ok(ClockTime { hours, minutes, seconds, us: if has_us { fields.u32()? } else { 0 } })
}

impl fmt::Display for Moment {
    /// As a literal of SQL: a date whose time is midnight is a date alone.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = match *self {
            Self::Date { year, month, day, time } => {
                write!(f, "{year:04}-{month:02}-{day:02}")?;
                if time == ClockTime::default() {
                    return Ok(());
                }
                write!(f, " {:02}", time.hours)?;
                time
            }
            Self::Length { is_negative, days, time } => {
                let sign = if is_negative { "-" } else { "" };
                write!(f, "{sign}{:03}", u64::from(days) * 24 + u64::from(time.hours))?;
                time
            }
        };
        write!(f, ":{:02}:{:02}", time.minutes, time.seconds)?;
        if time.us > 0 { write!(f, ".{:06}", time.us) } else { Ok(()) }
    }
}
