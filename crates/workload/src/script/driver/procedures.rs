//! The procedures of a running trial: made before its load, dropped after it, whatever became of it.
//!
//! A session holds a lock meanwhile, so that what stands under a name of ours without one is a leftover of a run that was killed. It is known
//! by its mark, and dropped; what has a name of ours and no mark is left alone, and refused where its name is needed.

use std::sync::atomic::AtomicBool;

use database::{Dialect, Error, Lease, Session, Value};
use record::Parameter;

use crate::TrialError;
use crate::script::Job;
use crate::script::language::Counting;
use crate::script::procedure::{Arguments, Body, MARK, Made, NAME, is_planned, kinds, made, name, type_of};
use crate::script::program::Program;
use crate::waiting::unless_stopped_for_long;

/// Oldest PostgreSQL that has procedures.
const POSTGRES_MIN: i64 = 110_000;

/// Those of a run.
#[derive(Debug)]
pub(super) struct Procedures {
    /// Holds the lock.
    session: Session,
    /// Of each script.
    pub(super) calls: Vec<Call>,
}

/// How a script is run by one call.
#[derive(Debug)]
pub(super) struct Call {
    /// Place of its first statement, where the call is.
    pub(super) at: usize,
    pub(super) sql: String,
    pub(super) variables: Vec<usize>,
}

/// A routine that has a name like ours.
struct Standing {
    name: String,
    /// What drops it.
    drops: String,
    is_ours: bool,
}

impl Procedures {
    /// Makes the procedure of each script.
    ///
    /// # Errors
    /// When the database does not have or take them, others use it so, or something else has their names; nothing is left then.
    pub(super) async fn made(
        job: &Job,
        program: &Program,
        lease: &Lease,
        stop: &AtomicBool,
    ) -> Result<Self, TrialError> {
        let mut session = locked(lease).await?;
        let making = unless_stopped_for_long(stop, make(&mut session, job, program)).await;
        match making {
            Some(Ok(calls)) => Ok(Self { session, calls }),
            Some(Err(error)) => match drop_ours(&mut session).await {
                Ok(()) => Err(error),
                Err(left) => Err(TrialError::Load(format!("{error}; {}", is_left(&left)))),
            },
            None => {
                // The session may be within an exchange that nobody waits for any more. What a server that does not answer keeps, the next
                // run drops.
                drop(session);
                if let Ok(mut session) = locked(lease).await {
                    _ = drop_ours(&mut session).await;
                }
                Err(TrialError::Interrupted)
            }
        }
    }

    /// Drops them, with another session if this one was lost. What is left is told.
    pub(super) async fn remove(mut self, lease: &Lease) -> Option<String> {
        let dropped = match drop_ours(&mut self.session).await {
            Err(error) if error.is_lost() => match locked(lease).await {
                Ok(mut session) => drop_ours(&mut session).await.map_err(TrialError::from),
                Err(error) => Err(error),
            },
            dropped => dropped.map_err(TrialError::from),
        };
        dropped.err().map(|error| is_left(&error))
    }
}

fn is_left(why: &dyn std::fmt::Display) -> String {
    format!(
        "the procedures of the run (`{NAME}1` and so on) are still in the database: {why}; the next run with procedures in this database drops them"
    )
}

/// A session that alone makes procedures in this database.
pub(super) async fn locked(lease: &Lease) -> Result<Session, TrialError> {
    let mut session = lease.session().await?;
    let lock = match session.dialect() {
        Dialect::Postgres => "SELECT CASE WHEN pg_try_advisory_lock(482956242554) THEN 1 ELSE 0 END::bigint",
        Dialect::Mysql => "SELECT get_lock(concat('prony-script:', md5(database())), 0)",
        Dialect::SqlServer => {
            "DECLARE @taken int; EXECUTE @taken = sp_getapplock @Resource = N'prony-script', @LockMode = 'Exclusive', \
             @LockOwner = 'Session', @LockTimeout = 0; SELECT CAST(CASE WHEN @taken >= 0 THEN 1 ELSE 0 END AS bigint) AS taken"
        }
        Dialect::Sqlite | Dialect::ClickHouse | Dialect::DuckDb => {
            return Err(TrialError::Load(format!("{} has no procedures", session.dialect().name())));
        }
    };
    let rows = session.query(lock, &[]).await?;
    match rows.first().and_then(|row| row.first()) {
        Some(Value::I64(1)) => Ok(session),
        _ => Err(TrialError::Load(format!(
            "another run has procedures of its scripts in this database: wait until it is over, or give {}",
            Parameter::new("workload.script.protocol").of("prepared")
        ))),
    }
}

async fn make(session: &mut Session, job: &Job, program: &Program) -> Result<Vec<Call>, TrialError> {
    let dialect = session.dialect();
    has_procedures(session).await?;
    let names: Vec<String> = (0..program.scripts.len()).map(name).collect();
    if let Some(theirs) =
        standing(session).await?.iter().find(|one| !one.is_ours && names.contains(&one.name))
    {
        return Err(TrialError::Load(format!(
            "`{}` exists already and was not created by prony. prony needs this name for the procedure of a script: rename the existing one",
            theirs.name
        )));
    }
    drop_ours(session).await?;
    let schema = schema(session).await?;
    let kinds = kinds(job, program);
    let mut calls = Vec::new();
    for (drawn, name) in program.scripts.iter().zip(&names) {
        let script = &drawn.script;
        let body = Body::of(script, dialect).map_err(|wrong| {
            let wrong = wrong.iter().map(|(line, words)| format!("{}:{line}: {words}", script.name));
            TrialError::Load(wrong.collect::<Vec<String>>().join("\n"))
        })?;
        let types = match dialect {
            Dialect::Postgres => types(session, &script.name, &body).await?,
            Dialect::Mysql | Dialect::SqlServer | Dialect::Sqlite | Dialect::ClickHouse | Dialect::DuckDb => {
                Vec::new()
            }
        };
        let type_of = |statement: usize, place: usize, variable: usize| {
            let told = types.get(statement).and_then(|types: &Vec<String>| types.get(place));
            told.cloned().unwrap_or_else(|| type_of(kinds[variable], dialect).to_owned())
        };
        let (arguments, statements) = Arguments::of(&body, dialect, &type_of);
        let Made { create, call, variables } =
            made((arguments, &statements), name, dialect, schema.as_deref());
        let created = session.script(&create).await;
        created.map_err(|error| error.at(&format!("{} as a procedure", script.name)))?;
        calls.push(Call { at: body.at, sql: call, variables });
    }
    Ok(calls)
}

async fn has_procedures(session: &mut Session) -> Result<(), TrialError> {
    if session.dialect() != Dialect::Postgres {
        return Ok(());
    }
    let rows = session.query("SELECT current_setting('server_version_num')::bigint", &[]).await?;
    match rows.first().and_then(|row| row.first()).and_then(Value::integer) {
        Some(version) if version < POSTGRES_MIN => Err(TrialError::Load(format!(
            "PostgreSQL supports procedures only from version 11 on, but this is version {}: use {}",
            version / 10_000,
            Parameter::new("workload.script.protocol").of("prepared")
        ))),
        _ => Ok(()),
    }
}

/// Where they are made, where that has to be said: a script may change where names are looked for.
async fn schema(session: &mut Session) -> Result<Option<String>, TrialError> {
    if session.dialect() != Dialect::Postgres {
        return Ok(None);
    }
    let rows = session.query("SELECT current_schema()::text", &[]).await?;
    match rows.first().and_then(|row| row.first()).and_then(Value::text) {
        Some(schema) => Ok(Some(schema.to_owned())),
        None => Err(TrialError::Load(
            "no schema in the search path exists, so procedures cannot be created: set search_path for this user".to_owned(),
        )),
    }
}

/// As what PostgreSQL takes the value at each place of each statement. A statement that it cannot plan is told with its line.
async fn types(session: &mut Session, file: &str, body: &Body<'_>) -> Result<Vec<Vec<String>>, TrialError> {
    const NAME: &str = "prony_script_statement";
    let mut all = Vec::new();
    for (line, statement) in &body.statements {
        let sql = statement.with_placeholders(Counting::Places, |number| format!("${number}"));
        if statement.parameters(Counting::Places).next().is_none() && !is_planned(&sql) {
            all.push(Vec::new());
            continue;
        }
        let prepared = session.script(&format!("PREPARE {NAME} AS {sql}")).await;
        prepared.map_err(|error| error.at(&format!("{file}:{line}")))?;
        let asked = format!(
            "SELECT kind::text FROM pg_prepared_statements, unnest(parameter_types) WITH ORDINALITY AS kinds (kind, place) \
             WHERE name = '{NAME}' ORDER BY place"
        );
        let rows = session.query(&asked, &[]).await?;
        let types = rows.iter().filter_map(|row| row.first()?.text().map(str::to_owned));
        all.push(types.collect());
        session.script(&format!("DEALLOCATE {NAME}")).await?;
    }
    Ok(all)
}

/// Drops what is ours, whose run is over.
async fn drop_ours(session: &mut Session) -> Result<(), Error> {
    for ours in standing(session).await?.iter().filter(|one| one.is_ours) {
        session.script(&ours.drops).await?;
    }
    Ok(())
}

/// What has names like ours.
async fn standing(session: &mut Session) -> Result<Vec<Standing>, Error> {
    let dialect = session.dialect();
    let asked = match dialect {
        Dialect::Postgres => {
            "SELECT proname::text, coalesce(obj_description(oid, 'pg_proc'), ''), 'DROP ROUTINE ' || oid::regprocedure::text \
             FROM pg_proc WHERE pronamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema()) \
             AND proname LIKE 'prony\\_script\\_%'"
        }
        Dialect::Mysql => {
            "SELECT routine_name, routine_comment, concat('DROP PROCEDURE `', routine_name, '`') FROM information_schema.routines \
             WHERE routine_schema = database() AND routine_type = 'PROCEDURE' AND routine_name LIKE 'prony\\_script\\_%'"
        }
        Dialect::SqlServer => {
            "SELECT CAST(o.name AS nvarchar(200)), CAST(coalesce(m.definition, N'') AS nvarchar(max)), \
             CAST(N'DROP PROCEDURE ' + QUOTENAME(o.name) AS nvarchar(400)) FROM sys.objects o \
             LEFT JOIN sys.sql_modules m ON m.object_id = o.object_id WHERE o.schema_id = SCHEMA_ID() AND o.name LIKE N'prony[_]script[_]%'"
        }
        Dialect::Sqlite | Dialect::ClickHouse | Dialect::DuckDb => return Ok(Vec::new()),
    };
    let rows = session.query(asked, &[]).await?;
    let text = |row: &[Value], at: usize| row.get(at).and_then(Value::text).unwrap_or_default().to_owned();
    let of_row = |row: Vec<Value>| {
        let mark = text(&row, 1);
        let is_ours = match dialect {
            // It stands in the text there.
            Dialect::SqlServer => mark.contains(MARK),
            Dialect::Postgres | Dialect::Mysql | Dialect::Sqlite | Dialect::ClickHouse | Dialect::DuckDb => {
                mark == MARK
            }
        };
        Standing { name: text(&row, 0), drops: text(&row, 2), is_ours }
    };
    Ok(rows.into_iter().map(of_row).collect())
}
