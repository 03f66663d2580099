//! What MariaDB and MySQL are sent for databases of our own.

use crate::own::{Administration, Commenting, Way};
use crate::{Dialect, Value};

pub(crate) static ADMINISTRATION: Administration = Administration {
    dialect: Dialect::Mysql,
    count_marks: "SELECT count(*) FROM information_schema.tables WHERE table_schema = database() \
                       AND table_name = 'prony_mark'",
    exists: "SELECT schema_name FROM information_schema.schemata WHERE schema_name = ?",
    sessions: "SELECT id FROM information_schema.processlist WHERE db = ? AND id <> connection_id()",
    end_session: "KILL {id}",
    lock_name: "SELECT get_lock(concat('prony-make:', md5(?)), 0)",
    lock_key: |name| Value::Text(name.to_owned()),
    lock: "SELECT get_lock(concat('prony:', md5(database())), 0)",
    waits_for_locks: false,
    is_held: "SELECT coalesce(is_used_lock(concat('prony:', md5(database()))) = {id}, 0)",
    stay: Some("SET SESSION wait_timeout = 31536000"),
    stay_may_be_unknown: false,
    layout: None,
    way: Way::Commenting(Commenting {
        create: "CREATE DATABASE {name} CHARACTER SET utf8mb4{comment}",
        comment: " COMMENT '{text}'",
        // MySQL, and MariaDB before 10.5, know none.
        has_comments: "SELECT count(*) FROM information_schema.columns WHERE table_schema = 'information_schema' \
                       AND table_name = 'SCHEMATA' AND column_name = 'SCHEMA_COMMENT'",
        read_comment: "SELECT schema_comment FROM information_schema.schemata WHERE schema_name = ?",
        tables: "SELECT table_name FROM information_schema.tables WHERE table_schema = ?",
        // Without the first of these a forgotten transaction would be waited for for a day.
        drop_marked: "SET SESSION lock_wait_timeout = 10; \
                      SET @prony = (SELECT if(count(*) = 1, '{drop}', 'DO 0') FROM {name}.prony_mark \
                      WHERE tool = 'prony'{of_run}); \
                      PREPARE prony FROM @prony; EXECUTE prony; DEALLOCATE PREPARE prony",
    }),
};
