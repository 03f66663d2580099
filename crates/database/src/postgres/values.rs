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

fn is_text(ty: &Type) -> bool {
    matches!(*ty, Type::TEXT | Type::VARCHAR | Type::BPCHAR | Type::NAME | Type::UNKNOWN)
}

fn unsuited(what: &str, ty: &Type) -> Failure {
    format!("{what} cannot be a parameter of type {ty}: cast the parameter, such as $1::bigint").into()
}

impl<'a> FromSql<'a> for Received {
    fn from_sql(ty: &Type, raw: &'a [u8]) -> Result<Self, Failure> {
        Ok(Self(match *ty {
            Type::INT8 => Value::I64(i64::from_sql(ty, raw)?),
            Type::INT4 => Value::I64(i64::from(i32::from_sql(ty, raw)?)),
            Type::INT2 => Value::I64(i64::from(i16::from_sql(ty, raw)?)),
            Type::OID => Value::I64(i64::from(u32::from_sql(ty, raw)?)),
            Type::BOOL => Value::I64(i64::from(bool::from_sql(ty, raw)?)),
            Type::FLOAT8 => Value::F64(f64::from_sql(ty, raw)?),
            Type::FLOAT4 => Value::F64(f64::from(f32::from_sql(ty, raw)?)),
            Type::NUMERIC => Value::F64(numeric(raw).ok_or("a numeric that is none")?),
            Type::VOID => Value::Null,
            _ if is_text(ty) || *ty == Type::JSON => Value::Text(<&str>::from_sql(ty, raw)?.to_owned()),
            _ => return Err(format!("a value of type {ty} is not read: cast it to text").into()),
        }))
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
