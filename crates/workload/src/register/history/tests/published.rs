//! Anomalies that were published of real systems, as histories.

use super::found;

/// A name, a history, and what is found in it.
type Case = (&'static str, &'static str, &'static [&'static str]);

const CASES: &[Case] = &[
    (
        // Kingsbury, "Call me maybe: MongoDB stale reads" (2015): a primary that is cut off goes on answering reads.
        "stale read of a partitioned primary",
        "1 w1 0-10
         2 r1 20-30
         1 w2 1000-1010
         3 r1 1100-1105
         2 r2 1200-1210
         3 r2 9000-9010",
        &["stale read: 1 w1 0-10, 1 w2 1000-1010, 3 r1 1100-1105"],
    ),
    (
        // The same: a write that was read through one primary is not there through the other one.
        "stale read of a write that only a read had seen",
        "1 w1 0-10
         1 w2? 1000-6000
         2 r2 1200-1210
         3 r1 1300-1305
         2 r2 7000-7010",
        &["stale read: 1 w1 0-10, 2 r2 1200-1210, 3 r1 1300-1305"],
    ),
    (
        // A primary acknowledges what its standby has not got yet and dies: PostgreSQL with asynchronous replication, Redis Sentinel
        // ("Call me maybe: Redis", 2013).
        "lost update after failover with asynchronous replication",
        "1 w1 0-10
         2 r1 20-30
         1 w2 100-110
         2 r2 120-130
         1 w3 132-138
         1 w4? 140-5140
         2 r? 150-5150
         2 r1 8000-8010
         3 r1 8100-8110
         1 w5 8200-8210
         3 r1 8202-8204
         3 r5 8300-8310",
        &[
            "lost update: 1 w1 0-10, 1 w2 100-110, 2 r1 8000-8010",
            "lost update: 1 w1 0-10, 1 w3 132-138, 2 r1 8000-8010",
        ],
    ),
    (
        // The same where the first thing after the failover is a write: only what it replaced tells.
        "lost update that a later write covers",
        "1 w1 0-10
         2 r1<0 20-30
         1 w2 100-110
         1 w3 200-210
         2 w4 8200-8210
         3 r4<1 8300-8310",
        &[
            "lost update: 1 w1 0-10, 1 w2 100-110, 2 w4 8200-8210, 3 r4<1 8300-8310",
            "lost update: 1 w1 0-10, 1 w3 200-210, 2 w4 8200-8210, 3 r4<1 8300-8310",
        ],
    ),
    (
        // Terry et al., "Session Guarantees for Weakly Consistent Replicated Data" (1994): reads go to one replica, then to another.
        "non-monotonic reads from replicas",
        "1 w1 0-10
         1 w2 100-110
         2 r2 150-160
         2 r1 170-180
         2 r2 300-310",
        &["non-monotonic read: 1 w1 0-10, 2 r2 150-160, 1 w2 100-110, 2 r1 170-180"],
    ),
    (
        // Kingsbury, "Jepsen: VoltDB 6.3" (2016): a primary that is cut off shows what is never committed.
        "dirty read",
        "1 w1 0-10
         1 w2! 100-900
         2 r2 150-160
         2 r1 1000-1010",
        &["dirty read: 1 w2! 100-900, 2 r2 150-160"],
    ),
    (
        // Two primaries at once, each with clients of its own, and then one of them again.
        "split brain",
        "1 w1 0-10
         3 r1<0 20-30
         1 w2 100-110
         2 w3 105-120
         1 r2<1 130-140
         2 r3<1 130-140
         3 r3<1 9000-9010",
        &[
            "fork: 1 w2 100-110, 1 r2<1 130-140, 2 w3 105-120, 2 r3<1 130-140",
            "stale read: 2 w3 105-120, 1 r2<1 130-140, 1 w2 100-110, 2 r3<1 130-140",
            "stale read: 2 w3 105-120, 1 r2<1 130-140, 1 w2 100-110, 3 r3<1 9000-9010",
        ],
    ),
    (
        // A pooler or a driver sends again what had no answer: the value comes back after another one replaced it.
        "a write that was sent again",
        "1 w1? 0-500
         2 r1<0 100-110
         2 w2 200-210
         3 r2<1 220-230
         3 r1<2 600-610",
        &[
            "write that took effect twice: 1 w1? 0-500, 2 r1<0 100-110, 3 r1<2 600-610",
            "lost update: 2 r1<0 100-110, 2 w2 200-210, 3 r1<2 600-610",
        ],
    ),
    (
        // No anomaly: what was under way when the server died may be there or not.
        "an answer that was lost with the server",
        "1 w1 0-10
         1 w2? 100-5100
         2 w3? 110-5110
         2 r3 8000-8010
         1 r3 8000-8010",
        &[],
    ),
];

#[test]
fn published_anomalies_are_found_by_their_names() {
    for (name, history, expected) in CASES {
        let mut told = found(history);
        let mut expected = expected.to_vec();
        told.sort();
        expected.sort_unstable();
        assert_eq!(told, expected, "{name}");
    }
}
