//! Bits against a set of numbers, and pages of any size. What is found of real runs is tested with the restore.

use std::collections::BTreeSet;

use database::{Existing, Own};
use proptest::prelude::*;

use super::*;
use crate::claims::claim;
use crate::orders::StoreSize;
use crate::orders::load::runtime;
use crate::orders::store::{State, create_tables};

fn loaded(orderid_max: u64) -> Loaded {
    Loaded {
        size: "1MB".to_owned(),
        seed: 7,
        state: State::Used,
        rows: [0; 7],
        ids_max: [0, orderid_max, 0],
        quan_in_stock_sum: 0,
        sales_sum: 0,
    }
}

proptest! {
    #[test]
    fn bits_are_a_set_of_the_orders_beyond_those_that_were_loaded(
        orderid_max in 0..200_u64,
        orderids in prop::collection::vec(-3..700_i32, 0..300),
    ) {
        let mut acknowledged = Acknowledged::new(&loaded(orderid_max));
        let mut expected = BTreeSet::new();
        for &orderid in &orderids {
            acknowledged.add(orderid);
            if i64::from(orderid) > orderid_max.cast_signed() {
                expected.insert(orderid);
            }
        }
        let found: BTreeSet<i32> = (-10..1_000).filter(|&orderid| acknowledged.contains(orderid)).collect();
        prop_assert_eq!(found, expected);
        prop_assert_eq!(acknowledged.len(), orderids.len() as u64);
    }
}

#[test]
fn the_largest_and_the_smallest_id_have_their_place() {
    let mut acknowledged = Acknowledged::new(&loaded(i32::MAX as u64 - 2));
    for orderid in [i32::MAX, i32::MIN, 0] {
        acknowledged.add(orderid);
        assert_eq!(acknowledged.contains(orderid), orderid == i32::MAX);
    }
    assert_eq!((acknowledged.len(), acknowledged.bits.len()), (3, 1));
}

#[test]
fn every_order_is_on_one_page_whatever_its_size() {
    let directory = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", directory.path().join("o.db").display()).parse().unwrap();
    runtime().unwrap().block_on(async {
        let own = Own::make(&url, "", &claim(Existing::Refuse)).await.unwrap();
        let mut session = own.session().await.unwrap();
        create_tables(&mut session, StoreSize::DEFAULT).await.unwrap();
        let mut acknowledged = Acknowledged::new(&loaded(10));
        // Ids have gaps: what is rolled back takes one too.
        for orderid in [9, 10, 11, 12, 15, 16, 40, 41] {
            let sql = format!("INSERT INTO orders VALUES ({orderid}, 5, NULL, 1, 1, 2)");
            session.script(&sql).await.unwrap();
            if orderid != 15 {
                acknowledged.add(orderid);
            }
        }
        for page_rows in [1, 2, 3, 5, 6, 7, 100] {
            let counted = count_orders(&mut session, &acknowledged, page_rows).await;
            assert_eq!(counted, Ok((6, 5)), "{page_rows}");
        }
    });
}
