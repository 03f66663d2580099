//! Throwaway servers that several tests share; each makes databases of its own names there.

use std::sync::LazyLock;

use instance::{MariaDb, Options, Postgres};

static POSTGRES: LazyLock<Postgres> = LazyLock::new(|| Postgres::start(&Options::default()).unwrap());
static MARIADB: LazyLock<MariaDb> = LazyLock::new(|| MariaDb::start(&Options::default()).unwrap());

pub(crate) fn postgres() -> &'static Postgres {
    &POSTGRES
}

pub(crate) fn mariadb() -> &'static MariaDb {
    &MARIADB
}
