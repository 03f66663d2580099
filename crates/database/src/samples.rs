//! A table and rows for tests, the same for every engine.

use crate::{Claim, Column, Dialect, Existing, Kind, Rows, RunId, Table, Value};

/// What a run of its own wants of a name.
pub(crate) fn claim(existing: Existing) -> Claim {
    Claim::new(RunId::new().unwrap(), existing)
}

const COLUMNS: &[Column] = &[
    Column { name: "tag", kind: Kind::I32 },
    Column { name: "time", kind: Kind::I64 },
    Column { name: "value", kind: Kind::F64 },
    Column { name: "quality", kind: Kind::I16 },
    Column { name: "note", kind: Kind::Text },
];

/// The table.
pub(crate) const SAMPLES: Table = Table { name: "samples", columns: COLUMNS };

/// Its columns of numbers.
pub(crate) const NUMBERS: Table = Table { name: "samples", columns: COLUMNS.split_at(4).0 };

/// Its rows in the order of time.
pub(crate) const READ: &str = "SELECT tag, time, value, quality, note FROM samples ORDER BY time";

/// Makes it. The number of a row comes from the engine, so that rows do not give all columns.
pub(crate) fn make_sql(dialect: Dialect) -> String {
    let (number, text) = match dialect {
        Dialect::Sqlite => ("integer PRIMARY KEY", "text"),
        Dialect::Postgres => ("bigint GENERATED ALWAYS AS IDENTITY", "text"),
        Dialect::Mysql => ("bigint AUTO_INCREMENT PRIMARY KEY", "varchar(2000)"),
        Dialect::ClickHouse | Dialect::DuckDb => unreachable!("no test makes it there"),
        Dialect::SqlServer => ("bigint IDENTITY PRIMARY KEY", "nvarchar(2000)"),
    };
    format!(
        "CREATE TABLE samples (number {number}, tag integer, time bigint, value double precision, quality smallint, \
         note {text})"
    )
}

/// So many rows without surprises.
pub(crate) fn plain_rows(count: i64) -> Rows {
    let mut rows = Rows::with_capacity(COLUMNS.len(), usize::try_from(count).unwrap());
    for number in 0..count {
        rows.push([
            Value::I32(i32::try_from(number % 5_000).unwrap()),
            Value::I64(number),
            Value::F64(number as f64 * 0.1),
            Value::I16(192),
            Value::Null,
        ]);
    }
    rows
}

/// Numbers that lose something where they go through too few digits.
const ODD_NUMBERS: [f64; 13] = [
    0.0,
    -0.0,
    0.1,
    -1.0 / 3.0,
    1.5e-323,
    f64::MIN_POSITIVE,
    f64::MAX,
    f64::MIN,
    f64::EPSILON,
    123_456_789.012_345_67,
    1e22,
    1e23,
    9_007_199_254_740_993.0,
];

/// Texts that mean something else where they are not sent as they are.
const ODD_TEXTS: [&str; 15] = [
    "",
    " ",
    "-1",
    "\\",
    "\\N",
    "\\.",
    "NULL",
    "tab\there",
    "line\nfeed",
    "carriage\rreturn\r\n",
    "\\t \\n \\\\",
    "quote ' double \" back ` % ?",
    "µ → 漢字 🏭",
    "\u{8}\u{1a}\u{7f}\u{1}",
    "trailing\\",
];

/// Rows with everything that could go wrong on its way.
pub(crate) fn odd_rows() -> Rows {
    let mut rows = Rows::with_capacity(COLUMNS.len(), 64);
    let mut time = i64::MIN;
    for (index, value) in ODD_NUMBERS.into_iter().enumerate() {
        let tag = if index % 2 == 0 { i32::MIN } else { i32::MAX };
        let quality = if index % 2 == 0 { i16::MAX } else { i16::MIN };
        rows.push([Value::I32(tag), Value::I64(time), Value::F64(value), Value::I16(quality), Value::Null]);
        time += 1;
    }
    for text in ODD_TEXTS {
        rows.push([Value::Null, Value::I64(time), Value::Null, Value::Null, Value::Text(text.to_owned())]);
        time += 1;
    }
    rows.push([Value::I32(-1), Value::I64(-1), Value::F64(-1.0), Value::I16(-1), Value::Null]);
    let long = Value::Text("x".repeat(2_000));
    rows.push([Value::I32(0), Value::I64(i64::MAX), Value::F64(0.0), Value::I16(0), long]);
    rows
}

/// Rows as a query gives them.
pub(crate) fn as_stored(rows: &Rows) -> Vec<Vec<Value>> {
    let wide = |value: Value| match value {
        Value::I16(number) => Value::I64(i64::from(number)),
        Value::I32(number) => Value::I64(i64::from(number)),
        other => other,
    };
    rows.iter().map(|row| row.into_iter().map(wide).collect()).collect()
}
