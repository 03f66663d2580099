//! Loads and their verification, on SQLite and on throwaway servers.

use database::Existing;
use instance::{MariaDb, Options, Postgres};

use super::*;
use crate::claims::claim;
use crate::orders::StoreSize;
use crate::orders::verify::{Check, verify};
use crate::waiting::Making;

fn data() -> StoreData {
    StoreData::new("1MB".parse::<StoreSize>().unwrap(), 7)
}

fn made(url: &Url, existing: Existing) -> Own {
    runtime().unwrap().block_on(Own::make(url, "orders", &claim(existing))).unwrap()
}

fn execute(url: &Url, sql: &str) {
    let own = made(url, Existing::Reuse);
    runtime().unwrap().block_on(async { own.session().await.unwrap().script(sql).await }).unwrap();
}

/// A load of three loaders is complete, and each kind of damage is found.
fn is_loaded_and_verified(url: &str) {
    let (url, data): (Url, _) = (url.parse().unwrap(), data());
    let mut told = Vec::new();
    let stop = AtomicBool::new(false);
    let place = (&url, "orders");
    let loaded =
        load(Making::plain(place.0, place.1, &claim(Existing::Refuse)), &data, 3, &stop, &mut |at| {
            told.push(at)
        })
        .unwrap();
    assert_eq!((loaded.state, loaded.size.as_str(), loaded.seed), (State::Loaded, "1MB", 7));
    assert_eq!(loaded.rows[..2], [2_000, 1_200]);
    is_told_from_the_first_row_to_the_last_index(&told, &loaded, &url);
    let verified = || verify(&url, "orders", &AtomicBool::new(false), &mut |_| {}).unwrap().unwrap();
    let (said, checks) = verified();
    assert_eq!(said, loaded);
    assert!(checks.iter().all(Check::holds), "{checks:#?}");
    for (damage, wrong) in [
        ("DELETE FROM products WHERE prod_id = 1000", vec!["products", "last product"]),
        ("UPDATE inventory SET sales = sales + 1 WHERE prod_id = 3", vec!["items sold"]),
        ("DELETE FROM inventory WHERE prod_id = 4", vec!["rows of inventory", "products without inventory"]),
    ] {
        let before = verified().1;
        execute(&url, damage);
        let after = verified().1;
        let changed: Vec<&str> = std::iter::zip(&before, &after)
            .filter(|(before, after)| before != after && !after.holds())
            .map(|(_, after)| after.what)
            .collect();
        assert!(wrong.iter().all(|what| changed.contains(what)), "{damage}: {changed:?}");
    }
    let again = load(Making::plain(place.0, place.1, &claim(Existing::Refuse)), &data, 1, &stop, &mut |_| {})
        .unwrap_err()
        .to_string();
    assert!(again.contains("replace"), "{again}");
    load(Making::plain(place.0, place.1, &claim(Existing::Replace)), &data, 1, &stop, &mut |_| {}).unwrap();
    assert!(verified().1.iter().all(Check::holds));
    runtime().unwrap().block_on(made(&url, Existing::Replace).remove()).unwrap();
    assert_eq!(verify(&url, "orders", &AtomicBool::new(false), &mut |_| {}).unwrap(), None);
}

/// An hour of loading for a study was told by nothing.
fn is_told_from_the_first_row_to_the_last_index(told: &[Preparation], loaded: &Loaded, url: &Url) {
    let rows: u64 = loaded.rows.iter().sum();
    let of = |unit| told.iter().filter(|at| at.unit == unit).collect::<Vec<_>>();
    let loading = of(Unit::Rows);
    assert!(loading.len() > 5 && loading.is_sorted_by_key(|at| at.done), "{loading:#?}");
    assert!(loading.iter().all(|at| at.what.starts_with("loading rows into ") && at.total == Some(rows)));
    assert_eq!(loading.last().map(|at| at.done), Some(rows));
    let indexes = of(Unit::Statements);
    let steps = store::after_load(url.engine().dialect(), store::Abilities::default()).len() as u64;
    assert_eq!(indexes.last().map(|at| (at.done, at.total)), Some((steps, Some(steps))));
    assert!(indexes[0].done == 0 && indexes.iter().all(|at| at.what.starts_with("building indexes of ")));
    let first = |what: &str| told.iter().position(|at| at.what.starts_with(what));
    assert!(first("preparing") < first("computing the checksums"), "{told:#?}");
    assert!(
        first("computing the checksums") < first("loading") && first("loading") < first("building"),
        "{told:#?}"
    );
}

#[test]
fn sqlite_is_loaded_and_verified() {
    let directory = tempfile::tempdir().unwrap();
    is_loaded_and_verified(&format!("sqlite:{}", directory.path().join("orders.db").display()));
}

#[test]
fn postgres_is_loaded_and_verified() {
    is_loaded_and_verified(&Postgres::start(&Options::default()).unwrap().url());
}

#[test]
fn mariadb_is_loaded_and_verified() {
    is_loaded_and_verified(&MariaDb::start(&Options::default()).unwrap().url());
}

#[test]
fn a_load_that_is_broken_off_is_removed_and_one_that_was_killed_is_known() {
    let directory = tempfile::tempdir().unwrap();
    let url: Url = format!("sqlite:{}", directory.path().join("orders.db").display()).parse().unwrap();
    let stop = AtomicBool::new(false);
    let stopping = &mut |at: Preparation| stop.store(at.unit == Unit::Rows, Ordering::Relaxed);
    let stopped = load(Making::plain(&url, "", &claim(Existing::Refuse)), &data(), 1, &stop, stopping);
    assert!(matches!(stopped, Err(LoadError::Interrupted)), "{stopped:?}");
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    // A kill leaves what was committed by then.
    stop.store(false, Ordering::Relaxed);
    let killed = fill(&made(&url, Existing::Refuse), &data(), 1, &stop, stopping);
    assert!(matches!(killed, Err(LoadError::Interrupted)), "{killed:?}");
    let (loaded, checks) = verify(&url, "", &AtomicBool::new(false), &mut |_| {}).unwrap().unwrap();
    assert_eq!(loaded.state, State::Loading);
    assert!(!checks.iter().all(Check::holds));
}
