//! Definitions of columns:
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_query_response_text_resultset_column_definition.html>.

use std::borrow::Cow;
use std::ops::Range;

use mysql_common::constants::{ColumnFlags, ColumnType};

use super::fields::Fields;
use super::{DriverError, DriverResult};

/// A column of rows.
#[derive(Clone, Debug)]
pub(crate) struct ColumnDefinition {
    /// The definition as it came: the same one needs not be read again.
    definition: Box<[u8]>,
    /// The name, in the definition.
    name: Range<usize>,
    pub(crate) kind: ColumnType,
    pub(crate) is_unsigned: bool,
}

impl ColumnDefinition {
    pub(super) fn read(payload: &[u8]) -> DriverResult<Self> {
        let mut fields = Fields(payload);
        // Catalog, schema, table, and the table behind an alias.
        for _ in 0..4 {
            fields.text()?;
        }
        let name_bytes = fields.text()?.len();
        let name_end = payload.len() - fields.0.len();
        let _name_behind_alias = fields.text()?;
        let _length_of_the_rest = fields.number()?;
        let _character_set = fields.u16()?;
        let _width = fields.u32()?;
        let kind = ColumnType::try_from(fields.u8()?)
            .map_err(|_| DriverError::Protocol("a column has an unknown type"))?;
        let flags = ColumnFlags::from_bits_truncate(fields.u16()?);
        Ok(Self {
            definition: payload.into(),
            name: name_end - name_bytes..name_end,
            kind,
            is_unsigned: flags.contains(ColumnFlags::UNSIGNED_FLAG),
        })
    }

    /// Whether a packet defines this column.
    pub(super) fn is_defined_by(&self, payload: &[u8]) -> bool {
        *self.definition == *payload
    }

    pub(crate) fn name(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.definition[self.name.clone()])
    }
}
