//! Executes a prepared statement:
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_stmt_execute.html>.
//!
//! Values are written into the packet as they are handed over. Their types are sent again only if they changed.

use mysql_common::constants::ColumnType;

use super::fields::put_number;
use super::{DriverError, DriverResult};
use crate::Cell;

const EXECUTE: u8 = 0x17;
/// Bytes of a parameter's type: its number, and whether it has a sign.
const TYPE_BYTES: usize = 2;

/// The parameters of an execution, while they are written.
pub(crate) struct Parameters<'a> {
    bytes: &'a mut Vec<u8>,
    /// Where the bits begin that say which parameters are null.
    nulls: usize,
    /// The types that the server knows of the last execution.
    types: &'a mut [u8],
    have_types_changed: bool,
    count: usize,
}

impl Parameters<'_> {
    /// Adds a value.
    #[inline]
    pub(crate) fn put(&mut self, cell: Cell<'_>) {
        match cell {
            Cell::Null => {
                self.set_type(ColumnType::MYSQL_TYPE_NULL);
                if let Some(bits) = self.bytes.get_mut(self.nulls + self.count / 8)
                    && self.count < self.types.len()
                {
                    *bits |= 1 << (self.count % 8);
                }
            }
            Cell::I16(number) => self.put_integer(i64::from(number)),
            Cell::I32(number) => self.put_integer(i64::from(number)),
            Cell::I64(number) => self.put_integer(number),
            Cell::F64(number) => {
                self.set_type(ColumnType::MYSQL_TYPE_DOUBLE);
                self.bytes.extend_from_slice(&number.to_le_bytes());
            }
            Cell::Text(text) => {
                self.set_type(ColumnType::MYSQL_TYPE_VAR_STRING);
                put_number(text.len() as u64, self.bytes);
                self.bytes.extend_from_slice(text.as_bytes());
            }
        }
        self.count += 1;
    }

    #[inline]
    fn put_integer(&mut self, number: i64) {
        self.set_type(ColumnType::MYSQL_TYPE_LONGLONG);
        self.bytes.extend_from_slice(&number.to_le_bytes());
    }

    #[inline]
    fn set_type(&mut self, kind: ColumnType) {
        let kind = kind as u8;
        if let Some(known) = self.types.get_mut(self.count)
            && *known != kind
        {
            *known = kind;
            self.have_types_changed = true;
        }
    }
}

/// Writes an execution of a statement. `types` are those of its last execution, and are replaced.
///
/// # Errors
/// There are not as many values as types.
pub(super) fn put_execute(
    bytes: &mut Vec<u8>,
    (statement, types, are_types_known): (u32, &mut [u8], bool),
    put: impl FnOnce(&mut Parameters<'_>),
) -> DriverResult<()> {
    bytes.push(EXECUTE);
    bytes.extend_from_slice(&statement.to_le_bytes());
    // No cursor, and once.
    bytes.extend_from_slice(&[0, 1, 0, 0, 0]);
    let wanted = types.len();
    let nulls = bytes.len();
    if wanted > 0 {
        bytes.resize(nulls + wanted.div_ceil(8), 0);
        bytes.push(0);
    }
    let values = bytes.len();
    let mut parameters = Parameters { bytes, nulls, types, have_types_changed: !are_types_known, count: 0 };
    put(&mut parameters);
    let Parameters { bytes, types, have_types_changed, count, .. } = parameters;
    if count != wanted {
        return Err(DriverError::Parameters { wanted, given: count });
    }
    if have_types_changed && wanted > 0 {
        bytes[values - 1] = 1;
        let values_bytes = bytes.len() - values;
        bytes.resize(bytes.len() + TYPE_BYTES * wanted, 0);
        bytes.copy_within(values..values + values_bytes, values + TYPE_BYTES * wanted);
        for (place, kind) in bytes[values..].chunks_exact_mut(TYPE_BYTES).zip(types.iter()) {
            place.copy_from_slice(&[*kind, 0]);
        }
    }
    Ok(())
}
