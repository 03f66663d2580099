//! What is drawn has the distributions that it should: chi-squared for few classes, Kolmogorov–Smirnov for many values.
//!
//! Critical values are those of a significance of 0.001: of chi-squared from the NIST/SEMATECH e-Handbook of Statistical
//! Methods, section 1.3.6.7.4; of Kolmogorov–Smirnov `sqrt(-ln(0.001 / 2) / 2) / sqrt(n)` (Smirnov 1948), which for values
//! of steps errs on the side of passing. Seeds are fixed: a test passes always or never.

use std::collections::{BTreeMap, HashSet};

use super::StoreTable::{CustHist, Customers, Inventory, OrderLines, Orders, Products};
use super::tests::{numbers, store, texts};

/// Degrees of freedom and the critical value of chi-squared.
const CRITICAL: [(usize, f64); 12] = [
    (1, 10.828),
    (2, 13.816),
    (4, 18.467),
    (8, 26.124),
    (9, 27.877),
    (11, 31.264),
    (15, 37.697),
    (20, 45.315),
    (25, 52.620),
    (30, 59.703),
    (50, 86.661),
    (80, 124.839),
];

/// Whether counts may come from these shares, by Pearson's chi-squared.
#[track_caller]
fn fits(counts: &[u64], shares: &[f64]) -> bool {
    let total = counts.iter().sum::<u64>() as f64;
    assert_eq!(counts.len(), shares.len());
    assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    let parts = counts.iter().zip(shares).map(|(&count, share)| {
        assert!(share * total >= 5.0, "too few for chi-squared");
        (count as f64 - share * total).powi(2) / (share * total)
    });
    let (_, critical) =
        CRITICAL.into_iter().find(|(freedom, _)| *freedom == counts.len() - 1).expect("a critical value");
    parts.sum::<f64>() <= critical
}

/// Whether values may be uniform in so many classes; each class has to be there, and no other.
#[track_caller]
fn is_uniform<T: Ord>(values: impl IntoIterator<Item = T>, classes: usize) -> bool {
    let mut counts: BTreeMap<T, u64> = BTreeMap::new();
    values.into_iter().for_each(|value| *counts.entry(value).or_default() += 1);
    assert_eq!(counts.len(), classes, "classes");
    let counts: Vec<u64> = counts.into_values().collect();
    fits(&counts, &vec![1.0 / classes as f64; classes])
}

/// Whether values may be uniform whole numbers of a range with both ends, by Kolmogorov–Smirnov.
#[track_caller]
fn is_uniform_from(mut values: Vec<i64>, least: i64, greatest: i64) -> bool {
    values.sort_unstable();
    let (first, last) = (values[0], values[values.len() - 1]);
    assert!(least <= first && last <= greatest, "{first} to {last}");
    let (n, classes) = (values.len() as f64, (greatest - least + 1) as f64);
    let distance = values.chunk_by(PartialEq::eq).scan(0.0, |below, equal| {
        let expected = |value: i64| (value - least + 1) as f64 / classes;
        // The steps of both functions are at whole numbers: just before this one and at it.
        let before = (*below / n - expected(equal[0] - 1)).abs();
        *below += equal.len() as f64;
        Some((*below / n - expected(equal[0])).abs().max(before))
    });
    let critical = (-(0.001_f64 / 2.0).ln() / 2.0).sqrt() / n.sqrt();
    distance.fold(0.0, f64::max) <= critical
}

#[test]
fn the_tests_find_what_is_not_uniform() {
    let fair: Vec<i64> = (0..9_000).map(|number| number % 9).collect();
    let loaded: Vec<i64> = (0..9_000).map(|number| if number % 10 == 0 { 0 } else { number % 9 }).collect();
    assert!(is_uniform(fair.iter().copied(), 9) && is_uniform_from(fair, 0, 8));
    assert!(!is_uniform(loaded.iter().copied(), 9) && !is_uniform_from(loaded, 0, 8));
    // The lower half of the range only: a distance of 0.5, where 0.195 is the limit for a hundred values.
    assert!(!is_uniform_from((0..100).map(|number| number / 2).collect(), 0, 99));
}

#[test]
fn orders_have_one_to_nine_lines_of_one_to_three_each() {
    let data = store("10MB");
    let orders = numbers(&data, OrderLines, "orderid");
    let lengths: Vec<usize> = orders.chunk_by(PartialEq::eq).map(<[i64]>::len).collect();
    assert_eq!(lengths.len(), 12_000);
    assert!(is_uniform(lengths.iter().copied(), 9));
    assert!(is_uniform(lengths.windows(2).map(|pair| (pair[0], pair[1])), 81), "neighbours are independent");
    assert!(is_uniform(numbers(&data, OrderLines, "quantity"), 3));
    assert!(is_uniform_from(numbers(&data, OrderLines, "prod_id"), 1, 10_000));
}

#[test]
fn orders_are_spread_over_customers_amounts_and_days() {
    let data = store("10MB");
    assert!(is_uniform_from(numbers(&data, Orders, "customerid"), 1, 20_000));
    assert!(is_uniform_from(numbers(&data, Orders, "netamount_cents"), 1, 40_000));
    let dates = numbers(&data, Orders, "orderdate_us");
    assert!(is_uniform(dates[..1_000].iter().copied(), 31), "the days of January");
}

#[test]
fn stock_is_up_to_500_and_ten_times_that_of_each_ten_thousandth_product() {
    let data = store("200MB");
    let stock = numbers(&data, Inventory, "quan_in_stock");
    let popular: Vec<i64> = stock.iter().copied().skip(9_999).step_by(10_000).collect();
    assert_eq!(popular.len(), 20);
    assert!(popular.iter().all(|stock| stock % 10 == 0 && *stock <= 5_000), "{popular:?}");
    assert!(popular.iter().any(|stock| *stock > 500), "{popular:?}");
    let others = stock.into_iter().enumerate().filter(|(index, _)| (index + 1) % 10_000 != 0);
    assert!(is_uniform_from(others.map(|(_, stock)| stock).collect(), 0, 500));
}

#[test]
fn products_are_spread_over_categories_prices_and_partners() {
    let data = store("10MB");
    assert!(is_uniform(numbers(&data, Products, "category"), 16));
    let prices = numbers(&data, Products, "price_cents");
    assert_eq!((prices.iter().min(), prices.iter().max()), (Some(&999), Some(&2_999)));
    assert!(is_uniform(prices, 21));
    assert!(is_uniform_from(numbers(&data, Products, "common_prod_id"), 1, 10_000));
}

#[test]
fn specials_are_one_in_a_hundred_and_in_large_stores_one_in_ten_thousand() {
    for (size, products, share) in
        [("10MB", 10_000, 0.01), ("100MB", 100_000, 0.01), ("200MB", 200_000, 1e-4)]
    {
        let specials = numbers(&store(size), Products, "special").iter().sum::<i64>() as u64;
        assert!(fits(&[specials, products - specials], &[share, 1.0 - share]), "{specials} of {products}");
    }
}

#[test]
fn the_first_half_of_the_customers_lives_in_the_us() {
    let data = store("10MB");
    let regions = numbers(&data, Customers, "region");
    assert_eq!(regions, [vec![1; 10_000], vec![2; 10_000]].concat());
    let countries = texts(&data, Customers, "country");
    assert!(countries[..10_000].iter().all(|country| country == "US"));
    assert!(is_uniform(&countries[10_000..], 10));
    let states = texts(&data, Customers, "state");
    assert_eq!(states.len(), 10_000);
    assert!(is_uniform(states, 51));
    let zips = numbers(&data, Customers, "zip");
    assert!(is_uniform_from(zips[..10_000].to_vec(), 10_000, 99_999));
    assert!(zips[10_000..].iter().all(|zip| *zip == 0));
}

#[test]
fn customers_are_spread_over_ages_incomes_cards_and_genders() {
    let data = store("10MB");
    assert!(is_uniform_from(numbers(&data, Customers, "age"), 18, 90));
    let incomes = numbers(&data, Customers, "income");
    assert!(incomes.iter().all(|income| income % 20_000 == 0));
    assert!(is_uniform(incomes, 5));
    assert!(is_uniform(numbers(&data, Customers, "creditcardtype"), 5));
    assert!(is_uniform(texts(&data, Customers, "gender"), 2));
    let expirations = texts(&data, Customers, "creditcardexpiration");
    assert!(is_uniform(expirations.iter().map(|date| date[..4].to_owned()), 5));
    assert!(is_uniform(expirations.iter().map(|date| date[4..].to_owned()), 12));
}

#[test]
fn letters_and_digits_are_uniform_at_each_place() {
    let data = store("10MB");
    for (column, length, kinds) in [
        ("firstname", 6, 26),
        ("lastname", 10, 26),
        ("city", 7, 26),
        ("phone", 10, 10),
        ("creditcard", 16, 10),
    ] {
        let texts = texts(&data, Customers, column);
        assert!(texts.iter().all(|text| text.len() == length), "{column}");
        for place in 0..length {
            assert!(is_uniform(texts.iter().map(|text| text.as_bytes()[place]), kinds), "{column}[{place}]");
        }
    }
}

/// The figures of the 10 MB set that DVD Store ships.
#[test]
fn a_search_and_a_login_find_as_much_as_in_the_shipped_set() {
    let data = store("10MB");
    let actors: HashSet<String> = texts(&data, Products, "actor").into_iter().collect();
    let share = actors.len() as f64 / (200.0 * 200.0);
    assert!((0.20..0.24).contains(&share), "an actor is found in {share} of all cases");
    let buyers: HashSet<i64> = numbers(&data, CustHist, "customerid").into_iter().collect();
    let without = 1.0 - buyers.len() as f64 / 20_000.0;
    assert!((0.54..0.56).contains(&without), "{without} have no history");
    let lines = numbers(&data, CustHist, "customerid").len();
    assert!((59_000..61_000).contains(&lines), "{lines} rows of history");
}
