//! The cases as data: what limits, how it is made, and which causes are right.

use super::made::{Beside, Load, Own, Server};

/// Engines, as `--engine` names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub(in crate::bench) enum Engine {
    Postgres,
    Mariadb,
    Sqlite,
    /// A test of a file has none.
    None,
}

impl Engine {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Postgres => "PostgreSQL",
            Self::Mariadb => "MariaDB",
            Self::Sqlite => "SQLite",
            Self::None => "none",
        }
    }
}

/// One bottleneck on one engine.
pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) engine: Engine,
    /// How it is made, for people.
    pub(super) made: &'static str,
    pub(super) load: Load,
    pub(super) server: Server,
    pub(super) beside: Beside,
    /// Limit of prony itself.
    pub(super) own: Option<Own>,
    /// Causes that are right as the first.
    pub(super) right: &'static [&'static str],
}

impl Case {
    const fn of(name: &'static str, engine: Engine, server: Server, right: &'static [&'static str]) -> Self {
        let load = Load::Orders { clients: "8", size: "10MB", options: &[] };
        Self { name, engine, made: "", load, server, beside: Beside::Nothing, own: None, right }
    }

    const fn made(self, made: &'static str) -> Self {
        Self { made, ..self }
    }

    const fn load(self, load: Load) -> Self {
        Self { load, ..self }
    }

    const fn beside(self, beside: Beside) -> Self {
        Self { beside, ..self }
    }

    const fn own(self, limit: Own) -> Self {
        Self { own: Some(limit), ..self }
    }
}

use Engine::{Mariadb, Postgres, Sqlite};

const LARGE: Load = Load::Orders { clients: "8", size: "60MB", options: &[] };
/// A commit for each record: nearly all of its time is the log's.
const COMMITS: Load = Load::Historian { options: &["--rate", "max", "--batch-rows", "1", "--screens", "0"] };
/// More than the page cache of a small server holds, at random places: large orders, and few searches, which take processors.
const SCATTERED: Load = Load::Orders {
    clients: "2",
    size: "200MB",
    options: &["--n-searches", "1", "--n-line-items", "10", "--pct-newcustomers", "0"],
};
const HISTORIAN: Load =
    Load::Historian { options: &["--rate", "max", "--batch-rows", "500", "--writers", "4"] };
const PURGED: Load = Load::Historian {
    options: &[
        "--rate",
        "max",
        "--batch-rows",
        "500",
        "--maintenance-interval",
        "1s",
        "--retention",
        "1s",
        "--purge-rows",
        "1000",
    ],
};
/// Each purchase holds the one row of a table of ours for 2 ms, as one does that asks elsewhere meanwhile.
const HOT_POSTGRES: &str = "CREATE TABLE hot (n bigint); INSERT INTO hot VALUES (0); CREATE FUNCTION heat() RETURNS trigger LANGUAGE plpgsql \
     AS 'BEGIN UPDATE hot SET n = n + 1; PERFORM pg_sleep(0.002); RETURN NEW; END'; \
     CREATE TRIGGER heat BEFORE INSERT ON orders FOR EACH ROW EXECUTE FUNCTION heat()";
const HOT_MARIADB: &str = "CREATE TABLE hot (id int PRIMARY KEY, n bigint); INSERT INTO hot VALUES (1, 0); \
     CREATE TRIGGER heat BEFORE INSERT ON orders FOR EACH ROW UPDATE hot SET n = n + 1 + SLEEP(0.002) WHERE id = 1";
/// Two seconds at a time, so that the load gets between two of them.
const LOCK_POSTGRES: &str = "BEGIN; LOCK TABLE orders; SELECT pg_sleep(2); COMMIT";
const LOCK_MARIADB: &str = "LOCK TABLES orders WRITE; SELECT SLEEP(2); UNLOCK TABLES";
const VACUUM: &str =
    "VACUUM (FREEZE, DISABLE_PAGE_SKIPPING) customers, orders, orderlines, products, inventory, cust_hist";

pub(super) const CASES: &[Case] = &[
    Case::of("server CPU", Postgres, Server::Managed(&["--cpus", "0.2"]), &["server_cpu"]).made("--cpus 0.2"),
    Case::of("server CPU", Mariadb, Server::Managed(&["--cpus", "0.2"]), &["server_cpu"]).made("--cpus 0.2"),
    Case::of("server CPU", Sqlite, Server::File, &["server_cpu", "generator"])
        .made("one client; prony, in which SQLite runs, has 0.2 CPU")
        .load(Load::Orders { clients: "1", size: "10MB", options: &[] })
        .own(Own::Cpus(0.2)),
    Case::of(
        "read IOPS",
        Postgres,
        Server::Managed(&[
            "--read-iops",
            "200",
            "--memory",
            "64MiB",
            "--setting",
            "shared_buffers=8MB",
            "--cold",
        ]),
        &["reads"],
    )
    .made("--read-iops 200 --memory 64MiB, store of 60MB")
    .load(LARGE),
    Case::of(
        "read IOPS",
        Mariadb,
        Server::Managed(&[
            "--read-iops",
            "200",
            "--memory",
            "256MiB",
            "--setting",
            "innodb_buffer_pool_size=8M",
            "--setting",
            "innodb_flush_method=O_DIRECT",
            "--cold",
        ]),
        &["reads"],
    )
    .made("--read-iops 200, buffer of 8 MiB, store of 60MB")
    .load(LARGE),
    Case::of("log flushes", Postgres, Server::Managed(&["--write-iops", "60"]), &["log_flushes"])
        .made("--write-iops 60"),
    Case::of("log flushes", Mariadb, Server::Managed(&["--write-iops", "60"]), &["log_flushes"])
        .made("--write-iops 60"),
    Case::of("log flushes", Sqlite, Server::File, &["log_flushes"])
        .made("each commit synced; prony, in which SQLite runs, may write 60 times a second")
        .load(COMMITS)
        .own(Own::WriteIops(60)),
    Case::of("hot row", Postgres, Server::Attached { settings: &[], sql: HOT_POSTGRES }, &["locks"])
        .made("a trigger has each purchase hold one row for 2 ms"),
    Case::of("hot row", Mariadb, Server::Attached { settings: &[], sql: HOT_MARIADB }, &["locks"])
        .made("a trigger has each purchase hold one row for 2 ms"),
    Case::of("table lock", Postgres, Server::Attached { settings: &[], sql: "" }, &["locks"])
        .made("another session locks a table, for 2 s again and again")
        .beside(Beside::Sql(LOCK_POSTGRES)),
    Case::of("table lock", Mariadb, Server::Attached { settings: &[], sql: "" }, &["locks"])
        .made("another session locks a table, for 2 s again and again")
        .beside(Beside::Sql(LOCK_MARIADB)),
    Case::of("hot row", Sqlite, Server::File, &["locks"])
        .made("8 clients write, one at a time")
        .load(Load::Orders { clients: "8", size: "10MB", options: &[] }),
    Case::of(
        "memory",
        Postgres,
        Server::Managed(&["--memory", "64MiB", "--setting", "shared_buffers=8MB", "--cold"]),
        &["memory"],
    )
    .made("large orders of two clients, --memory 64MiB, store of 200MB")
    .load(SCATTERED),
    Case::of(
        "memory",
        Mariadb,
        Server::Managed(&[
            "--memory",
            "256MiB",
            "--setting",
            "innodb_buffer_pool_size=8M",
            "--setting",
            "innodb_flush_method=O_DIRECT",
            "--cold",
        ]),
        &["memory"],
    )
    .made("large orders of two clients, buffer of 8 MiB, store of 200MB")
    .load(SCATTERED),
    Case::of("client", Postgres, Server::Attached { settings: &[], sql: "" }, &["generator"])
        .made("prony has 0.1 CPU")
        .own(Own::Cpus(0.1)),
    Case::of("client", Mariadb, Server::Attached { settings: &[], sql: "" }, &["generator"])
        .made("prony has 0.1 CPU")
        .own(Own::Cpus(0.1)),
    Case::of(
        "connections",
        Postgres,
        Server::Managed(&["--setting", "max_connections=12"]),
        &["connections"],
    )
    .made("20 clients, max_connections=12")
    .load(Load::Orders { clients: "20", size: "10MB", options: &[] }),
    Case::of("connections", Mariadb, Server::Managed(&["--setting", "max_connections=12"]), &["connections"])
        .made("20 clients, max_connections=12")
        .load(Load::Orders { clients: "20", size: "10MB", options: &[] }),
    Case::of(
        "checkpoints",
        Postgres,
        Server::Managed(&[
            "--write-rate",
            "20MiB",
            "--setting",
            "max_wal_size=32MB",
            "--setting",
            "min_wal_size=32MB",
            "--setting",
            "checkpoint_completion_target=0",
        ]),
        &["checkpoints"],
    )
    .made("max_wal_size=32MB, --write-rate 20MiB")
    .load(HISTORIAN),
    Case::of(
        "checkpoints",
        Mariadb,
        Server::Managed(&["--write-iops", "300", "--setting", "innodb_log_file_size=4M"]),
        &["checkpoints"],
    )
    .made("innodb_log_file_size=4M, --write-iops 300")
    .load(HISTORIAN),
    Case::of(
        "vacuum or purge",
        Postgres,
        Server::Attached { settings: &[("shared_buffers", "8MB")], sql: "" },
        &["maintenance"],
    )
    .made("VACUUM again and again, store of 60MB")
    .load(LARGE)
    .beside(Beside::Sql(VACUUM)),
    Case::of("vacuum or purge", Mariadb, Server::Attached { settings: &[], sql: "" }, &["maintenance"])
        .made("a purge each second")
        .load(PURGED),
    Case::of("vacuum or purge", Sqlite, Server::File, &["maintenance"])
        .made("a purge each second")
        .load(PURGED),
    Case::of(
        "neighbour on CPU",
        Postgres,
        Server::Attached { settings: &[("synchronous_commit", "off")], sql: "" },
        &["neighbour_cpu"],
    )
    .made("six busy loops on two processors")
    .beside(Beside::Spin(6)),
    Case::of(
        "neighbour on CPU",
        Mariadb,
        Server::Attached { settings: &[("innodb_flush_log_at_trx_commit", "0")], sql: "" },
        &["neighbour_cpu"],
    )
    .made("six busy loops on two processors")
    .beside(Beside::Spin(6)),
    Case::of("neighbour on disk", Postgres, Server::Attached { settings: &[], sql: "" }, &["neighbour_disk"])
        .made("a record a commit; random writes of 64 KiB, 32 at a time, flushed after four each")
        .load(COMMITS)
        .beside(Beside::Writes),
    Case::of("neighbour on disk", Mariadb, Server::Attached { settings: &[], sql: "" }, &["neighbour_disk"])
        .made("a record a commit; random writes of 64 KiB, 32 at a time, flushed after four each")
        .load(COMMITS)
        .beside(Beside::Writes),
    Case::of("neighbour on disk", Sqlite, Server::File, &["neighbour_disk"])
        .made("a record a commit; random writes of 64 KiB, 32 at a time, flushed after four each")
        .load(COMMITS)
        .beside(Beside::Writes),
    Case::of(
        "foreign reads",
        Postgres,
        Server::Managed(&["--memory", "64MiB", "--setting", "shared_buffers=8MB", "--cold"]),
        &["neighbour_disk"],
    )
    .made("as for memory; another program reads 64 KiB at random places, 32 at a time, past the page cache")
    .load(SCATTERED)
    .beside(Beside::Reads),
    Case::of(
        "foreign reads",
        Mariadb,
        Server::Managed(&[
            "--memory",
            "256MiB",
            "--setting",
            "innodb_buffer_pool_size=8M",
            "--setting",
            "innodb_flush_method=O_DIRECT",
            "--cold",
        ]),
        &["neighbour_disk"],
    )
    .made("as for memory; another program reads 64 KiB at random places, 32 at a time, past the page cache")
    .load(SCATTERED)
    .beside(Beside::Reads),
    Case::of("foreign reads", Engine::None, Server::Absent, &["neighbour_disk"])
        .made("8 KiB, one read at a time; another program reads 64 KiB, 32 at a time")
        .load(Load::Io {
            options: &[
                "--pattern",
                "random",
                "--block-size",
                "8KiB",
                "--outstanding",
                "1",
                "--file-size",
                "256MiB",
            ],
        })
        .beside(Beside::Reads),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_case_stands_once_for_an_engine_and_says_how_it_is_made() {
        let names: BTreeSet<(&str, Engine)> = CASES.iter().map(|case| (case.name, case.engine)).collect();
        assert_eq!(names.len(), CASES.len());
        assert!(CASES.iter().all(|case| !case.made.is_empty() && !case.right.is_empty()));
        for engine in [Engine::Postgres, Engine::Mariadb] {
            assert_eq!(CASES.iter().filter(|case| case.engine == engine).count(), 13, "{engine:?}");
        }
    }
}
