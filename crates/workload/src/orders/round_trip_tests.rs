//! How many round trips an operation takes of which there must be few.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use database::{Existing, Url};
use instance::{Proxy, TdsServer};

use crate::claims::{claim, run_id};
use crate::orders::load::{load, runtime};
use crate::orders::store::{Amounts, Client, Purchased, Style};
use crate::orders::{StoreData, WantedStore, open_store};
use crate::waiting::Making;

const AMOUNTS: Amounts = Amounts { net_cents: 10_000, tax_cents: 825, total_cents: 10_825 };
const NOW_US: i64 = 1_700_000_000_000_001;
/// A call, among the kinds of messages of SQL Server's protocol.
const CALL: u8 = 3;

#[test]
fn a_purchase_by_a_procedure_of_sql_server_is_one_call() {
    let Some(server) = TdsServer::start(&[]).unwrap() else {
        eprintln!(
            "not run: round trips of a purchase, for which PRONY_TDS_SERVER names no server that speaks T-SQL"
        );
        return;
    };
    let whole = server.url();
    let port = whole.rsplit_once(':').unwrap().1.split('/').next().unwrap().parse().unwrap();
    let proxy = Proxy::before(port, u64::MAX).unwrap();
    let url: Url = proxy.url(&whole).parse().unwrap();
    let data = StoreData::new("1MB".parse().unwrap(), 7);
    load(
        Making::plain(&url, "trips", &claim(Existing::Refuse)),
        &data,
        1,
        &AtomicBool::new(false),
        &mut |_| {},
    )
    .unwrap();
    runtime().unwrap().block_on(async {
        let opened = Box::pin(open_store(&url, "trips", WantedStore::default(), &run_id())).await;
        let (own, _) = opened.unwrap();
        let mut client = Client::new(own.session().await.unwrap(), Style::Procedures).unwrap();
        let mut bought = 0;
        for items in [&[(1, 1)][..], &[(2, 1), (3, 2), (4, 1)]] {
            let before = proxy.said();
            let purchase = client.purchase(1, items, AMOUNTS, NOW_US).await.unwrap();
            bought += u32::from(matches!(purchase, Purchased::Order(_)));
            let now = proxy.said().into_iter();
            let since: BTreeMap<u8, u64> = now
                .map(|(kind, count)| (kind, count - before.get(&kind).unwrap_or(&0)))
                .filter(|(_, count)| *count > 0)
                .collect();
            assert_eq!(since, [(CALL, 1)].into(), "{} products", items.len());
        }
        assert!(bought > 0, "all of it was sold out");
    });
}
