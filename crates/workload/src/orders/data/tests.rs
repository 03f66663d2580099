//! The rows of a store: the same however they are made, and at one with each other.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::AtomicBool;

use database::{Kind, Rows, Value};
use proptest::prelude::*;

use super::{Piece, StoreData, StoreTable, Totals};
use crate::orders::csv::CsvRows;

pub(super) fn store(size: &str) -> StoreData {
    StoreData::new(size.parse().unwrap(), 42)
}

/// A whole table.
fn rows_of(data: &StoreData, table: StoreTable) -> Rows {
    let mut rows = Rows::with_capacity(table.table().columns.len(), 0);
    data.write(&Piece { table, numbers: data.numbers(table) }, &mut rows);
    rows
}

fn number(value: &Value) -> i64 {
    match *value {
        Value::I16(number) => number.into(),
        Value::I32(number) => number.into(),
        Value::I64(number) => number,
        ref other => panic!("{other:?} is no number"),
    }
}

/// Numbers of one column of a whole table.
pub(super) fn numbers(data: &StoreData, table: StoreTable, column: &str) -> Vec<i64> {
    let place = place(table, column);
    rows_of(data, table).iter().map(|row| number(&row[place])).collect()
}

/// Texts of one column of a whole table, without the nulls.
pub(super) fn texts(data: &StoreData, table: StoreTable, column: &str) -> Vec<String> {
    let place = place(table, column);
    let text = |row: Vec<Value>| match &row[place] {
        Value::Null => None,
        Value::Text(text) => Some(text.clone()),
        other => panic!("{other:?} is no text"),
    };
    rows_of(data, table).iter().filter_map(text).collect()
}

fn place(table: StoreTable, column: &str) -> usize {
    table.table().columns.iter().position(|other| other.name == column).unwrap()
}

fn lines_of(data: &StoreData, table: StoreTable, rows: u32) -> Vec<u8> {
    let mut lines = CsvRows::default();
    data.pieces(table, rows).for_each(|piece| data.write(&piece, &mut lines));
    lines.bytes().to_vec()
}

#[test]
fn the_first_rows_of_each_table() {
    let data = store("10MB");
    let mut text = String::new();
    for table in StoreTable::ALL {
        let mut lines = CsvRows::header(table.table());
        data.write(&Piece { table, numbers: 1..3 }, &mut lines);
        text += &format!("{}\n{}\n", table.table().name, std::str::from_utf8(lines.bytes()).unwrap());
    }
    insta::assert_snapshot!(text.replace('\r', ""));
}

#[test]
fn rows_are_the_same_in_pieces_of_any_length() {
    let data = store("1MB");
    for table in StoreTable::ALL {
        let whole = lines_of(&data, table, u32::MAX);
        assert_eq!(lines_of(&data, table, 1), whole, "{table:?}");
        assert_eq!(lines_of(&data, table, 97), whole, "{table:?}");
    }
}

#[test]
fn another_seed_makes_other_rows() {
    let other = StoreData::new("1MB".parse().unwrap(), 43);
    let data = store("1MB");
    for table in StoreTable::ALL.into_iter().filter(|table| *table != StoreTable::Categories) {
        assert_ne!(lines_of(&data, table, 1_000), lines_of(&other, table, 1_000), "{table:?}");
    }
}

#[test]
fn values_have_the_types_of_their_columns_and_nulls_stand_where_they_may() {
    let data = store("1MB");
    for table in StoreTable::ALL {
        for row in rows_of(&data, table).iter() {
            assert_eq!(row.len(), table.table().columns.len());
            for (column, value) in table.table().columns.iter().zip(row) {
                let is_right = match &value {
                    Value::Null => matches!(column.name, "address2" | "state"),
                    Value::I16(_) => column.kind == Kind::I16,
                    Value::I32(_) => column.kind == Kind::I32,
                    Value::I64(_) => column.kind == Kind::I64,
                    Value::F64(_) => column.kind == Kind::F64,
                    Value::Text(text) => column.kind == Kind::Text && text.len() <= 50,
                };
                assert!(is_right, "{table:?}: {column:?} is {value:?}");
            }
        }
    }
}

#[test]
fn totals_and_sales_are_the_sums_of_the_rows() {
    let data = store("10MB");
    let totals = data.count(1, &AtomicBool::new(false)).unwrap();
    let sum = |table, column| numbers(&data, table, column).iter().sum::<i64>();
    let lines = numbers(&data, StoreTable::OrderLines, "quantity");
    let expected = Totals {
        lines: lines.len() as u64,
        quantity: lines.iter().sum::<i64>() as u64,
        net_cents: sum(StoreTable::Orders, "netamount_cents"),
        tax_cents: sum(StoreTable::Orders, "tax_cents"),
    };
    assert_eq!(totals, expected);
    assert_eq!(sum(StoreTable::Orders, "totalamount_cents"), totals.net_cents + totals.tax_cents);
    assert_eq!(rows_of(&data, StoreTable::CustHist).len() as u64, totals.lines);
    let mut sold: HashMap<i64, i64> = HashMap::new();
    for (product, quantity) in numbers(&data, StoreTable::OrderLines, "prod_id").into_iter().zip(lines) {
        *sold.entry(product).or_default() += quantity;
    }
    for (product, sales) in (1..).zip(numbers(&data, StoreTable::Inventory, "sales")) {
        assert_eq!(sales, sold.get(&product).copied().unwrap_or(0), "product {product}");
    }
}

#[test]
fn any_number_of_threads_counts_the_same() {
    let counted = |threads| {
        let data = store("10MB");
        (data.count(threads, &AtomicBool::new(false)), lines_of(&data, StoreTable::Inventory, 1_000))
    };
    let one = counted(1);
    assert_eq!(counted(3), one);
    assert_eq!(counted(0), one, "at least the thread that asks counts");
    assert_eq!(lines_of(&store("10MB"), StoreTable::Inventory, 1_000), one.1, "what was not asked for");
}

#[test]
fn a_count_that_is_stopped_has_no_result() {
    let data = store("10MB");
    assert_eq!(data.count(2, &AtomicBool::new(true)), None);
    assert!(data.count(2, &AtomicBool::new(false)).is_some(), "it can be done later");
}

#[test]
fn lines_and_history_mirror_each_other_and_belong_to_their_order() {
    let data = store("1MB");
    let (orders, lines) = (rows_of(&data, StoreTable::Orders), rows_of(&data, StoreTable::OrderLines));
    let history = rows_of(&data, StoreTable::CustHist);
    assert_eq!(lines.len(), history.len());
    let by_number: HashMap<i64, Vec<Value>> = orders.iter().map(|order| (number(&order[0]), order)).collect();
    let mut before = (0, 0);
    for (line, bought) in lines.iter().zip(history.iter()) {
        let order = &by_number[&number(&line[1])];
        assert_eq!(line[4], order[1], "the line has the order's time");
        assert_eq!(bought, [order[2].clone(), line[1].clone(), line[2].clone()]);
        let at = (number(&line[1]), number(&line[0]));
        assert!(at == (before.0, before.1 + 1) || at == (before.0 + 1, 1), "{at:?} after {before:?}");
        before = at;
    }
    assert_eq!(before.0, orders.len() as i64, "each order has lines");
}

#[test]
fn titles_and_user_names_are_unique() {
    let data = store("200MB");
    let titles = texts(&data, StoreTable::Products, "title");
    assert_eq!(titles.iter().collect::<HashSet<_>>().len(), 200_000);
    let names = texts(&store("10MB"), StoreTable::Customers, "username");
    let expected: Vec<String> = (1..=20_000).map(|number| format!("user{number}")).collect();
    assert_eq!(names, expected);
}

#[test]
fn references_are_to_rows_that_exist() {
    let data = store("1MB");
    for (table, column, referred) in [
        (StoreTable::Products, "category", StoreTable::Categories),
        (StoreTable::Products, "common_prod_id", StoreTable::Products),
        (StoreTable::Inventory, "prod_id", StoreTable::Products),
        (StoreTable::Orders, "customerid", StoreTable::Customers),
        (StoreTable::OrderLines, "prod_id", StoreTable::Products),
    ] {
        let there = data.numbers(referred);
        let range = i64::from(there.start)..i64::from(there.end);
        assert!(numbers(&data, table, column).iter().all(|number| range.contains(number)), "{column}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn pieces_are_the_whole_table_in_order(megabytes in 1..3_000_u32, rows in any::<u32>()) {
        let data = StoreData::new(format!("{megabytes}MB").parse().unwrap(), 1);
        for table in StoreTable::ALL {
            let rows = rows.max(data.numbers(table).end / 1_000);
            let mut next = 1;
            for piece in data.pieces(table, rows) {
                prop_assert!(piece.numbers.start == next && piece.numbers.end > next, "{:?}", piece);
                next = piece.numbers.end;
            }
            prop_assert_eq!(next, data.numbers(table).end);
        }
    }
}
