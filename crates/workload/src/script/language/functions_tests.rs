//! Functions that draw and hash, as an expression calls them.

use std::sync::Arc;

use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::chance::Chance;
use super::expression::Expression;
use super::names::{Names, Variables};
use super::value::Value;

/// What an expression comes to, time after time.
fn values(text: &str, default_seed: i64, times: usize) -> Vec<i64> {
    let mut names = Names::default();
    let expression = Expression::read(text, &mut names).unwrap();
    let variables = Variables::new(Arc::new(names));
    let mut chance = Chance { random: Xoshiro256PlusPlus::seed_from_u64(11), default_seed };
    let mut once = || match expression.value(&variables, &mut chance).unwrap() {
        Value::Integer(number) => number,
        other => panic!("{text} is {other}"),
    };
    (0..times).map(|_| once()).collect()
}

#[test]
fn each_distribution_keeps_to_its_range() {
    for text in [
        "random(-5, 5)",
        "random_exponential(-5, 5, 3)",
        "random_gaussian(-5, 5, 2.5)",
        "random_zipfian(-5, 5, 1.2)",
    ] {
        let drawn = values(text, 0, 20_000);
        assert_eq!((drawn.iter().min(), drawn.iter().max()), (Some(&-5), Some(&5)), "{text}");
    }
}

/// Each bound is four standard errors of the mean.
#[test]
fn means_are_where_the_distributions_put_them() {
    const DRAWS: usize = 100_000;
    for (text, mean, deviation) in [
        ("random(1, 100)", 50.5, 28.9),
        ("random_gaussian(1, 100, 5)", 50.5, 10.0),
        // 100 (1 / 5 - 1 / (e^5 - 1)), and half of a number more.
        ("random_exponential(1, 100, 5)", 19.82, 18.6),
    ] {
        let drawn = values(text, 0, DRAWS).iter().sum::<i64>() as f64 / DRAWS as f64;
        assert!((drawn - mean).abs() < 4.0 * deviation / (DRAWS as f64).sqrt() + 0.02, "{text}: {drawn}");
    }
}

/// `pgbench` of PostgreSQL 15 gives these.
#[test]
fn hashes_are_those_of_pgbench() {
    for (text, hash) in [
        ("hash(10, 5432)", -5_817_877_081_768_721_676),
        ("hash_murmur2(10, 5432)", -5_817_877_081_768_721_676),
        ("hash_fnv1a(10, 5432)", -7_793_829_335_365_542_153),
        ("hash(0, 0)", 8_217_090_173_679_840_641),
        ("hash_fnv1a(0, 0)", -6_284_781_860_667_377_211),
        ("hash(-1, -1)", 1_317_380_444_104_773_032),
        ("hash_fnv1a(-1, -1)", 9_116_541_788_052_886_162),
        ("hash(9223372036854775807, 42)", -6_957_805_175_083_691_830),
        ("hash_fnv1a(9223372036854775807, 42)", 5_527_032_554_282_044_647),
    ] {
        assert_eq!(values(text, 1234, 1), [hash], "{text}");
    }
}

#[test]
fn the_clients_seed_is_taken_where_none_is_given() {
    for function in ["hash", "hash_fnv1a", "hash_murmur2"] {
        let given = values(&format!("{function}(10, 77)"), 0, 1);
        assert_eq!(values(&format!("{function}(10)"), 77, 1), given, "{function}");
        assert_ne!(values(&format!("{function}(10)"), 78, 1), given, "{function}");
    }
    let permuted = values("permute(10, 1000000, 77)", 0, 1);
    assert_eq!(values("permute(10, 1000000)", 77, 1), permuted);
}

#[test]
fn hash_is_murmur2() {
    assert_eq!(values("hash(10, 5432)", 0, 1), values("hash_murmur2(10, 5432)", 0, 1));
}
