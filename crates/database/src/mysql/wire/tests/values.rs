//! Values and parameters, against the ones of `mysql_common`.

use futures_util::FutureExt as _;
use mysql_common::constants::{ColumnFlags, ColumnType};
use mysql_common::io::ParseBuf;
use mysql_common::packets::{ComStmtExecuteRequestBuilder, NullBitmap};
use mysql_common::proto::MySerialize as _;
use mysql_common::value::{BinValue, ServerSide, Value, ValueDeserializer};
use proptest::prelude::*;

use super::super::execute::put_execute;
use super::super::{AnswerKind, Parameters, Raw};
use super::peer::{Answers, Style, conn};
use crate::Cell;

const STYLES: [Style; 3] = [
    Style { without_eof: true, caches_columns: true },
    Style { without_eof: true, caches_columns: false },
    Style { without_eof: false, caches_columns: false },
];

/// A value with a type that it is sent as.
fn value() -> impl Strategy<Value = (Value, ColumnType, bool)> {
    let bytes = || prop::collection::vec(any::<u8>(), 0..300).prop_map(Value::Bytes);
    prop_oneof![
        any::<i64>().prop_map(|number| (Value::Int(number), ColumnType::MYSQL_TYPE_LONGLONG, false)),
        any::<u64>().prop_map(|number| (Value::UInt(number), ColumnType::MYSQL_TYPE_LONGLONG, true)),
        any::<f64>().prop_map(|number| (Value::Double(number), ColumnType::MYSQL_TYPE_DOUBLE, false)),
        any::<f32>().prop_map(|number| (Value::Float(number), ColumnType::MYSQL_TYPE_FLOAT, false)),
        bytes().prop_map(|bytes| (bytes, ColumnType::MYSQL_TYPE_VAR_STRING, false)),
        bytes().prop_map(|bytes| (bytes, ColumnType::MYSQL_TYPE_NEWDECIMAL, false)),
        Just((Value::NULL, ColumnType::MYSQL_TYPE_LONG, false)),
        (any::<u16>(), any::<[u8; 5]>(), any::<u32>()).prop_map(|(year, [a, b, c, d, e], us)| {
            (Value::Date(year, a, b, c, d, e, us), ColumnType::MYSQL_TYPE_DATETIME, false)
        }),
        (any::<u16>(), any::<[u8; 2]>()).prop_map(|(year, [month, day])| {
            (Value::Date(year, month, day, 0, 0, 0, 0), ColumnType::MYSQL_TYPE_DATE, false)
        }),
        (any::<bool>(), 0u32..1 << 27, any::<[u8; 3]>(), any::<u32>()).prop_map(
            |(sign, days, [a, b, c], us)| {
                (Value::Time(sign, days, a, b, c, us), ColumnType::MYSQL_TYPE_TIME, false)
            }
        ),
    ]
}

/// A row in the binary protocol.
fn row(values: &[(Value, ColumnType, bool)]) -> Vec<u8> {
    let mut nulls = NullBitmap::<ServerSide>::new(values.len());
    let mut bytes = Vec::new();
    for (number, (value, ..)) in values.iter().enumerate() {
        match value {
            Value::NULL => nulls.set(number, true),
            value => value.serialize(&mut bytes),
        }
    }
    [&[0], nulls.as_ref(), &bytes].concat()
}

/// As `mysql_common` reads it again, and as texts tell it.
fn same(value: &Value, kind: ColumnType, is_unsigned: bool, ours: Raw<'_>) -> bool {
    let mut bytes = Vec::new();
    value.serialize(&mut bytes);
    let flags = if is_unsigned { ColumnFlags::UNSIGNED_FLAG } else { ColumnFlags::empty() };
    let read = ParseBuf(&bytes).parse::<ValueDeserializer<BinValue>>((kind, flags));
    match (value, ours) {
        (Value::NULL, ours) => ours == Raw::Null,
        (_, ours) => match (read.unwrap().0, ours) {
            (Value::Int(theirs), Raw::Int(ours)) => theirs == ours,
            (Value::UInt(theirs), Raw::UInt(ours)) => theirs == ours,
            (Value::Double(theirs), Raw::Double(ours)) => theirs.to_bits() == ours.to_bits(),
            (Value::Float(theirs), Raw::Float(ours)) => theirs.to_bits() == ours.to_bits(),
            (Value::Bytes(theirs), Raw::Bytes(ours)) => theirs == ours,
            (theirs, Raw::Moment(ours)) => theirs.as_sql(true).trim_matches('\'') == ours.to_string(),
            _ => false,
        },
    }
}

fn cell() -> impl Strategy<Value = (Cell<'static>, Value)> {
    prop_oneof![
        Just((Cell::Null, Value::NULL)),
        any::<i16>().prop_map(|number| (Cell::I16(number), Value::Int(number.into()))),
        any::<i32>().prop_map(|number| (Cell::I32(number), Value::Int(number.into()))),
        any::<i64>().prop_map(|number| (Cell::I64(number), Value::Int(number))),
        any::<f64>().prop_map(|number| (Cell::F64(number), Value::Double(number))),
        prop::sample::select(vec!["", "text", "über"])
            .prop_map(|text| (Cell::Text(text), Value::Bytes(text.into()))),
    ]
}

proptest! {
    #[test]
    fn binary_rows_are_read_as_by_mysql_common(
        values in prop::collection::vec(value(), 1..20),
        at_once in 1usize..200,
        style in prop::sample::select(STYLES.to_vec()),
    ) {
        let columns: Vec<_> = values.iter().map(|(_, kind, is_unsigned)| (*kind, *is_unsigned)).collect();
        let mut answers = Answers::new(style);
        answers.prepared(7, 0, &columns);
        for _ in 0..2 {
            answers.next_command();
            answers.head(&columns, true);
            answers.packet(&row(&values));
            answers.packet(&row(&values));
            answers.end(false);
        }
        let (mut conn, _) = conn(answers.bytes, at_once, style);
        let mut statement = conn.prepare("SELECT").now_or_never().unwrap().unwrap();
        for _ in 0..2 {
            let first = conn.execute(&mut statement, |_| {}).now_or_never().unwrap().unwrap();
            prop_assert_eq!(first, AnswerKind::Rows);
            for _ in 0..2 {
                prop_assert!(conn.next_row().now_or_never().unwrap().unwrap());
                let read: Vec<_> = conn.row().values().unwrap().map(Result::unwrap).collect();
                prop_assert_eq!(read.len(), values.len());
                for ((value, kind, is_unsigned), (ours, column)) in values.iter().zip(read) {
                    prop_assert!(same(value, *kind, *is_unsigned, ours), "{:?} {:?}", value, ours);
                    prop_assert!(column.name().starts_with("column"));
                }
            }
            prop_assert!(!conn.next_row().now_or_never().unwrap().unwrap());
            prop_assert_eq!(conn.next_answer().now_or_never().unwrap().unwrap(), None);
        }
    }

    #[test]
    fn parameters_are_written_as_by_mysql_common_and_their_types_once(
        cells in prop::collection::vec(cell(), 0..40),
        others in prop::collection::vec(cell(), 0..40),
    ) {
        let theirs = |cells: &[(Cell<'static>, Value)]| {
            let values: Vec<Value> = cells.iter().map(|(_, value)| value.clone()).collect();
            let (request, as_long_data) = ComStmtExecuteRequestBuilder::new(9).build(&values);
            assert!(!as_long_data);
            let mut bytes = Vec::new();
            request.serialize(&mut bytes);
            bytes
        };
        let count = cells.len().min(others.len());
        let mut types = vec![0; count];
        let mut ours = |cells: &[(Cell<'static>, Value)], are_known| {
            let mut bytes = Vec::new();
            let put = |put: &mut Parameters<'_>| cells.iter().for_each(|(cell, _)| put.put(*cell));
            put_execute(&mut bytes, (9, &mut types, are_known), put).unwrap();
            bytes
        };
        let (cells, others) = (&cells[..count], &others[..count]);
        let first = ours(cells, false);
        prop_assert_eq!(&first, &theirs(cells));
        let again = ours(cells, true);
        // The command, its statement, flags and count, and the bits of those that are null.
        let types = 10 + count.div_ceil(8);
        if count > 0 {
            prop_assert_eq!(again.len() + 2 * count, first.len());
            prop_assert_eq!((again[types], first[types]), (0, 1));
            prop_assert_eq!(&again[types + 1..], &first[types + 1 + 2 * count..]);
        }
        let with_new_types = ours(others, true);
        let kinds = |bytes: &[u8]| bytes.get(types + 1..types + 1 + 2 * count).map(<[u8]>::to_vec);
        if with_new_types.get(types) == Some(&1) {
            prop_assert_eq!(&with_new_types, &theirs(others));
        } else {
            prop_assert_eq!(kinds(&theirs(others)), kinds(&first));
        }
        prop_assert_eq!(ours(cells, false), first);
    }
}

#[test]
fn another_number_of_parameters_is_an_error() {
    for given in [0, 1, 3, 9] {
        let mut types = [0; 2];
        let put = |put: &mut Parameters<'_>| (0..given).for_each(|_| put.put(Cell::Null));
        let error = put_execute(&mut Vec::new(), (1, &mut types, true), put).unwrap_err();
        assert_eq!(error.to_string(), format!("the statement has 2 parameters, but {given} were given"));
    }
}
