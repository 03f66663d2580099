//! What SQL Server is sent for databases of our own.
//!
//! A lock of an application is held by a session, in the database in which it was asked for: that of a name is taken in `master`,
//! where every login may be. It is waited for by the server: what speaks T-SQL without being SQL Server ends a session that is refused it
//! several times. Of a lock nobody is told who holds it without rights to the server's state; so the session that was
//! given it is looked for, and that nobody else could have it.

use super::layout::LAYOUT;
use crate::own::{Administration, Renaming, Way};
use crate::{Dialect, Value};

pub(crate) static ADMINISTRATION: Administration = Administration {
    dialect: Dialect::SqlServer,
    count_marks: "SELECT count(*) FROM sys.tables WHERE name = 'prony_mark'",
    exists: "SELECT name FROM sys.databases WHERE name = @P1",
    sessions: "SELECT session_id FROM sys.dm_exec_sessions WHERE database_id = DB_ID(@P1) AND session_id <> @@SPID",
    end_session: "KILL {id}",
    lock_name: "USE master; DECLARE @taken int, @name nvarchar(255) = N'prony-make:' + @P1; \
                EXECUTE @taken = sp_getapplock @Resource = @name, @LockMode = 'Exclusive', @LockOwner = 'Session', \
                @LockTimeout = 5000; \
                SELECT CASE WHEN @taken >= 0 THEN 1 ELSE 0 END",
    lock_key: |name| Value::Text(name.to_owned()),
    lock: "DECLARE @taken int, @name nvarchar(255) = N'prony:' + DB_NAME(); \
           EXECUTE @taken = sp_getapplock @Resource = @name, @LockMode = 'Exclusive', @LockOwner = 'Session', \
           @LockTimeout = 1000; \
           SELECT CASE WHEN @taken >= 0 THEN 1 ELSE 0 END",
    waits_for_locks: true,
    is_held: "SELECT count(*) FROM sys.dm_exec_sessions WHERE session_id = {id} AND database_id = DB_ID() \
              AND APPLOCK_TEST('public', N'prony:' + DB_NAME(), 'Exclusive', 'Session') = 0",
    // It ends no session that does nothing.
    stay: None,
    stay_may_be_unknown: false,
    layout: Some(&LAYOUT),
    way: Way::Renaming(Renaming {
        create: "CREATE DATABASE {name}",
        rename: "ALTER DATABASE {name} MODIFY NAME = {other}",
        count_relations: "SELECT count(*) FROM sys.tables WHERE name <> 'prony_mark'",
    }),
};
