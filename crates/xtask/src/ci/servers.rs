//! What the tests need of the system besides Rust: database servers, which they start themselves, what makes file systems, and a C
//! compiler for SQLite.

use anyhow::Result;

use super::Outcome;
use super::packages::Need::{Library, Program};
use super::packages::{Package, require};

/// The extension of the monitor of a pair is one of each version of PostgreSQL; this is Debian 12's.
const EXTENSION: &str = "postgresql-15-auto-failover";

const PACKAGES: [Package; 16] = [
    Package {
        name: "postgresql",
        needs: &[Program("initdb"), Program("postgres"), Program("psql")],
        why: "tests start PostgreSQL servers of their own",
    },
    Package {
        name: "mariadb-server",
        needs: &[Program("mariadbd")],
        why: "tests start MariaDB servers of their own",
    },
    Package {
        name: "clickhouse-server",
        needs: &[Program("clickhouse-server")],
        why: "tests start ClickHouse servers of their own",
    },
    Package {
        name: "pg-auto-failover-cli",
        needs: &[Program("pg_autoctl")],
        why: "it keeps the nodes of synchronous pairs of PostgreSQL",
    },
    Package {
        name: EXTENSION,
        needs: &[Library("pgautofailover.so")],
        why: "the monitor of such a pair is PostgreSQL with it",
    },
    Package {
        name: "galera-4",
        needs: &[Library("libgalera_smm.so")],
        why: "it keeps the nodes of synchronous pairs of MariaDB",
    },
    Package { name: "galera-arbitrator-4", needs: &[Program("garbd")], why: "such a pair has an arbitrator" },
    Package { name: "rsync", needs: &[Program("rsync")], why: "a node of such a pair gets its data by it" },
    Package { name: "pgbouncer", needs: &[Program("pgbouncer")], why: "tests connect through it" },
    Package {
        name: "util-linux",
        needs: &[Program("setpriv")],
        why: "servers are started by it, without privileges and bound to the life of the test",
    },
    Package {
        name: "e2fsprogs",
        needs: &[Program("mkfs.ext4")],
        why: "tests make laboratories of loop devices, where these are permitted",
    },
    Package {
        name: "xfsprogs",
        needs: &[Program("mkfs.xfs"), Program("xfs_io")],
        why: "of XFS too, and their power is cut",
    },
    Package {
        name: "iproute2",
        needs: &[Program("ip"), Program("tc")],
        why: "nodes of pairs get networks of their own that are cut, where these are permitted",
    },
    Package { name: "libfaketime", needs: &[Library("libfaketimeMT.so.1")], why: "clocks of servers jump" },
    Package {
        name: "btrfs-progs",
        needs: &[Program("mkfs.btrfs")],
        why: "and of btrfs, which joins several devices",
    },
    Package { name: "gcc", needs: &[Program("cc")], why: "SQLite is compiled, and rustc links with it" },
];

/// Looks for the programs and installs the packages of those that are not there.
pub(super) fn check() -> Result<Outcome> {
    require(&PACKAGES)
}
