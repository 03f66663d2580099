//! What PostgreSQL is sent for databases of our own.

use crate::own::{Administration, Renaming, Way, hash};
use crate::{Dialect, Value};

pub(crate) static ADMINISTRATION: Administration = Administration {
    dialect: Dialect::Postgres,
    count_marks: "SELECT count(*) FROM pg_tables WHERE tablename = 'prony_mark'",
    exists: "SELECT datname FROM pg_database WHERE datname = $1",
    sessions: "SELECT pid FROM pg_stat_activity WHERE datname = $1 AND backend_type = 'client backend' \
               AND pid <> pg_backend_pid()",
    end_session: "SELECT pg_terminate_backend({id})",
    lock_name: "SELECT pg_try_advisory_lock($1)",
    // Locks are numbers.
    lock_key: |name| Value::I64(hash(name).cast_signed()),
    // A number of the database; these are the letters `prony`.
    lock: "SELECT pg_try_advisory_lock(482956242553)",
    waits_for_locks: false,
    is_held: "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted AND pid = {id}",
    stay: Some("SET idle_session_timeout = 0"),
    stay_may_be_unknown: true,
    layout: None,
    way: Way::Renaming(Renaming {
        // The template that nobody is connected to.
        create: "CREATE DATABASE {name} TEMPLATE template0",
        rename: "ALTER DATABASE {name} RENAME TO {other}",
        // `template0` has none.
        count_relations: "SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
                          WHERE n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%' \
                          AND c.relname <> 'prony_mark'",
    }),
};
