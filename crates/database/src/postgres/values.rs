//! Values to and from PostgreSQL's binary forms.

use std::error::Error as StdError;

use bytes::BytesMut;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

use crate::Value;
use crate::rows::Cell;

type Failure = Box<dyn StdError + Sync + Send>;

/// A value of a row that was received.
#[derive(Debug)]
pub(super) struct Received(pub(super) Value);

impl ToSql for Cell<'_> {
    /// The server says what a parameter is; a number becomes that, if it fits.
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, Failure> {
        match *self {
            Self::Null => Ok(IsNull::Yes),
            Self::I16(number) => integer(i64::from(number), ty, out),
            Self::I32(number) => integer(i64::from(number), ty, out),
            Self::I64(number) => integer(number, ty, out),
            Self::F64(number) => floating(number, ty, out),
            Self::Text(text) if is_text(ty) => text.to_sql(ty, out),
            Self::Text(_) => Err(unsuited("text", ty)),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

fn integer(number: i64, ty: &Type, out: &mut BytesMut) -> Result<IsNull, Failure> {
    match *ty {
        Type::INT8 => number.to_sql(ty, out),
        Type::INT4 => i32::try_from(number)?.to_sql(ty, out),
        Type::INT2 => i16::try_from(number)?.to_sql(ty, out),
        Type::OID => u32::try_from(number)?.to_sql(ty, out),
        Type::FLOAT8 => (number as f64).to_sql(ty, out),
        _ => Err(unsuited("an integer", ty)),
    }
}

fn floating(number: f64, ty: &Type, out: &mut BytesMut) -> Result<IsNull, Failure> {
    match *ty {
        Type::FLOAT8 => number.to_sql(ty, out),
        Type::FLOAT4 => (number as f32).to_sql(ty, out),
        _ => Err(unsuited("a floating point number", ty)),
    }
}

/// A value of a type, by its number in PostgreSQL's `pg_type.dat`, as the server holds it.
///
/// # Errors
/// Of one that is not read, or is none of its type.
#[inline]
pub(super) fn cell(kind: u32, raw: &[u8]) -> Result<Cell<'_>, String> {
    match (kind, raw.len()) {
        // int8, int4, int2
        (20, 8) => raw.first_chunk().map(|raw| Cell::I64(i64::from_be_bytes(*raw))),
        (23, 4) => raw.first_chunk().map(|raw| Cell::I64(i32::from_be_bytes(*raw).into())),
        (21, 2) => raw.first_chunk().map(|raw| Cell::I64(i16::from_be_bytes(*raw).into())),
        // text, varchar, bpchar, name, unknown, json
        (25 | 1043 | 1042 | 19 | 705 | 114, _) => std::str::from_utf8(raw).ok().map(Cell::Text),
        // oid, bool
        (26, 4) => raw.first_chunk().map(|raw| Cell::I64(u32::from_be_bytes(*raw).into())),
        (16, 1) => Some(Cell::I64(i64::from(raw[0] != 0))),
        // float8, float4, numeric
        (701, 8) => raw.first_chunk().map(|raw| Cell::F64(f64::from_be_bytes(*raw))),
        (700, 4) => raw.first_chunk().map(|raw| Cell::F64(f32::from_be_bytes(*raw).into())),
        (1700, _) => numeric(raw).map(Cell::F64),
        // void
        (2278, _) => Some(Cell::Null),
        _ => {
            let kind = Type::from_oid(kind).map_or_else(|| kind.to_string(), |kind| kind.to_string());
            return Err(format!("prony does not read values of type {kind}: cast the value to text"));
        }
    }
    .ok_or_else(|| "the server sent an invalid value".to_owned())
}

fn is_text(ty: &Type) -> bool {
    matches!(*ty, Type::TEXT | Type::VARCHAR | Type::BPCHAR | Type::NAME | Type::UNKNOWN)
}

fn unsuited(what: &str, ty: &Type) -> Failure {
    format!("{what} cannot be a parameter of type {ty}: cast the parameter, such as $1::bigint").into()
}

impl<'a> FromSql<'a> for Received {
    fn from_sql(ty: &Type, raw: &'a [u8]) -> Result<Self, Failure> {
        Ok(Self(cell(ty.oid(), raw)?.into()))
    }

    fn from_sql_null(_: &Type) -> Result<Self, Failure> {
        Ok(Self(Value::Null))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

/// A decimal number in groups of four digits, as `numeric_send` of PostgreSQL's `numeric.c` gives it: number of groups,
/// weight of the first, sign, digits shown, groups.
fn numeric(raw: &[u8]) -> Option<f64> {
    let mut words = raw.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]]));
    let count = words.next()?;
    let weight = words.next()?.cast_signed();
    let sign = match words.next()? {
        0x0000 => "",
        0x4000 => "-",
        0xD000 => return Some(f64::INFINITY),
        0xF000 => return Some(f64::NEG_INFINITY),
        _ => return Some(f64::NAN),
    };
    words.next()?;
    let groups: Vec<u16> = words.collect();
    if groups.len() != usize::from(count) {
        return None;
    }
    let digits: String = groups.iter().map(|group| format!("{group:04}")).collect();
    let exponent = (i32::from(weight) + 1 - i32::from(count)) * 4;
    format!("{sign}0{digits}e{exponent}").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(words: &[u16]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_be_bytes()).collect()
    }

    #[test]
    fn decimal_numbers_are_read() {
        for (words, expected) in [
            (&[0u16, 0, 0, 0][..], 0.0),
            (&[1, 0, 0, 0, 7], 7.0),
            (&[2, 1, 0x4000, 0, 12, 3456], -123_456.0),
            (&[1, 1, 0, 0, 5], 50_000.0),
            (&[2, 0, 0, 2, 3, 2500], 3.25),
            (&[1, 0xffff, 0, 4, 25], 0.0025),
        ] {
            assert_eq!(numeric(&bytes(words)), Some(expected), "{words:?}");
        }
        assert_eq!(numeric(&bytes(&[2, 0, 0, 0, 1])), None);
        assert!(numeric(&bytes(&[0, 0, 0xC000, 0])).is_some_and(f64::is_nan));
    }

    #[test]
    fn a_value_is_read_as_the_server_holds_it() {
        for (kind, raw, expected) in [
            (20, &(-7_i64).to_be_bytes()[..], Cell::I64(-7)),
            (23, &(-7_i32).to_be_bytes(), Cell::I64(-7)),
            (21, &(-7_i16).to_be_bytes(), Cell::I64(-7)),
            (26, &u32::MAX.to_be_bytes(), Cell::I64(u32::MAX.into())),
            (16, &[1], Cell::I64(1)),
            (701, &1.5_f64.to_be_bytes(), Cell::F64(1.5)),
            (700, &1.5_f32.to_be_bytes(), Cell::F64(1.5)),
            (1700, &bytes(&[1, 0, 0, 0, 7]), Cell::F64(7.0)),
            (1043, "é".as_bytes(), Cell::Text("é")),
            (2278, &[], Cell::Null),
        ] {
            assert_eq!(cell(kind, raw), Ok(expected), "{kind}");
        }
        assert!(
            cell(1114, &[0; 8]).unwrap_err().contains("values of type timestamp: cast the value to text")
        );
        for (kind, raw) in [(20, &[0; 4][..]), (25, &[0xff]), (16, &[]), (1700, &[0])] {
            assert!(cell(kind, raw).is_err(), "{kind}");
        }
    }

    #[test]
    fn a_parameter_becomes_what_the_server_wants_if_it_fits() {
        let sent = |value: Cell<'_>, ty: Type| {
            let mut out = BytesMut::new();
            value.to_sql(&ty, &mut out).map(|_| out.to_vec()).map_err(|error| error.to_string())
        };
        assert_eq!(sent(Cell::I64(-2), Type::INT4), Ok(vec![0xff, 0xff, 0xff, 0xfe]));
        assert_eq!(sent(Cell::I16(1), Type::INT8), Ok(vec![0, 0, 0, 0, 0, 0, 0, 1]));
        assert!(sent(Cell::I64(70_000), Type::INT2).unwrap_err().contains("out of range"));
        assert!(sent(Cell::I64(1), Type::TIMESTAMPTZ).unwrap_err().contains("cast the parameter"));
        assert!(sent(Cell::F64(1.0), Type::INT4).unwrap_err().contains("int4"));
    }
}
