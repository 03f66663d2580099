//! What is taken up for a run, and what is refused with a remedy.

use std::sync::atomic::AtomicBool;

use instance::{MariaDb, Options, Postgres};

use super::*;
use crate::claims::{claim, run_id};
use crate::orders::StoreData;
use crate::orders::load::{load, runtime};
use crate::orders::store::{create_tables, mark_used, write_loaded};
use crate::waiting::Making;

fn wanted(size: Option<&str>, seed: Option<u64>) -> WantedStore {
    WantedStore { size: size.map(|size| size.parse().unwrap()), seed }
}

async fn refusal(url: &Url, wanted: WantedStore) -> String {
    let error = open_store(url, "orders", wanted, &run_id()).await.unwrap_err();
    assert!(error.is_usage(), "{error}");
    assert!(!error.to_string().contains("secret"), "{error}");
    error.to_string()
}

/// On a runtime of its own, with whose end every session is closed.
fn refused(url: &Url) -> String {
    runtime().unwrap().block_on(refusal(url, WantedStore::default()))
}

fn only_a_store_that_was_loaded_is_taken_up(url: &str) {
    let url: Url = url.parse().unwrap();
    let said = refused(&url);
    assert!(said.contains("has no order store: create one with ‹prony orders load›"), "{said}");
    // What was made to look for it is gone: a database that is there would not be made again.
    drop(runtime().unwrap().block_on(Own::make(&url, "orders", &claim(Existing::Refuse))).unwrap());
    let said = refused(&url);
    assert!(
        said.contains("has no complete order store (") && said.contains("‹prony orders load, replace true›"),
        "{said}"
    );
    let data = StoreData::new("1MB".parse().unwrap(), 7);
    let stop = AtomicBool::new(false);
    let mut loaded =
        load(Making::plain(&url, "orders", &claim(Existing::Replace)), &data, 1, &stop, &mut |_| {}).unwrap();
    runtime().unwrap().block_on(async {
        let (own, taken) = open_store(&url, "orders", wanted(Some("1MB"), Some(7)), &run_id()).await.unwrap();
        assert_eq!(taken, loaded);
        let said = refusal(&url, WantedStore::default()).await;
        assert!(said.contains("is in use by another run of prony"), "{said}");
        let mut session = own.session().await.unwrap();
        mark_used(&mut session).await.unwrap();
        drop(own);
        let said = refusal(&url, wanted(Some("1GB"), None)).await;
        let expected = "is a store of 1MB, not 1GB: omit ‹workload.orders.size›, or load it with \
                        ‹prony orders load, replace true, size 1GB, seed 7›, and the same ‹target› and ‹database›";
        assert!(said.ends_with(expected), "{said}");
        let said = refusal(&url, wanted(Some("1MB"), Some(42))).await;
        let expected = "is a store of seed 7, not 42: omit ‹workload.orders.store_seed›, or load it \
                        with ‹prony orders load, replace true, size 1MB, seed 42›, and the same ‹target› and \
                        ‹database›";
        assert!(said.ends_with(expected), "{said}");
        let (own, taken) = open_store(&url, "orders", WantedStore::default(), &run_id()).await.unwrap();
        assert_eq!(taken.state, State::Used);
        loaded.state = State::Loading;
        write_loaded(&mut session, &loaded).await.unwrap();
        mark_used(&mut session).await.unwrap();
        drop(own);
        let said = refusal(&url, WantedStore::default()).await;
        assert!(said.contains("the load of this store of 1MB was interrupted; load it again"), "{said}");
    });
}

#[test]
fn only_a_store_that_was_loaded_is_taken_up_on_sqlite() {
    let directory = tempfile::tempdir().unwrap();
    only_a_store_that_was_loaded_is_taken_up(&format!("sqlite:{}/o.db", directory.path().display()));
}

#[test]
fn only_a_store_that_was_loaded_is_taken_up_on_postgres() {
    only_a_store_that_was_loaded_is_taken_up(&Postgres::start(&Options::default()).unwrap().url());
}

#[test]
fn only_a_store_that_was_loaded_is_taken_up_on_mariadb() {
    only_a_store_that_was_loaded_is_taken_up(&MariaDb::start(&Options::default()).unwrap().url());
}

/// A load that was killed right at its beginning has made tables and said nothing yet.
#[test]
fn tables_that_nothing_is_said_of_are_no_store() {
    let directory = tempfile::tempdir().unwrap();
    let url: Url = format!("sqlite:{}/o.db", directory.path().display()).parse().unwrap();
    runtime().unwrap().block_on(async {
        let own = Own::make(&url, "orders", &claim(Existing::Refuse)).await.unwrap();
        create_tables(&mut own.session().await.unwrap(), crate::orders::StoreSize::DEFAULT).await.unwrap();
    });
    assert!(refused(&url).contains("has no complete order store: use another"));
}
