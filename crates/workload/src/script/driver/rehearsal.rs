//! Has the server read each statement of the scripts once before the load, and runs none.
//!
//! Only statements that every way through their script sends are looked at. What is not there yet is no mistake where the scripts
//! may make it, or change where it is looked for.

use std::collections::BTreeSet;
use std::sync::Arc;

use database::{Dialect, Error, Mistake, Refusal, Session, Value};
use rand_core::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::given::{default_seed, of_client};
use super::running::placeholder;
use super::user::of_database;
use crate::script::language::{
    self, Chance, Counting, Names, Script, Statement, Step, Variables, plain_statements,
};
use crate::script::places;
use crate::script::program::Program;
use crate::script::{Job, Protocol};

/// First words of statements that make nothing and leave names as they are.
const MAKES_NOTHING: [&str; 23] = [
    "abort",
    "analyze",
    "begin",
    "commit",
    "delete",
    "end",
    "explain",
    "insert",
    "lock",
    "merge",
    "release",
    "replace",
    "rollback",
    "savepoint",
    "select",
    "set",
    "show",
    "start",
    "truncate",
    "update",
    "vacuum",
    "values",
    "with",
];
/// Words by which such a statement makes something after all, or changes where names are looked for.
const MAKES_AFTER_ALL: [&str; 5] = ["authorization", "into", "role", "search_path", "set_config"];
/// Settings by which a server reads texts in another way.
const READS_OTHERWISE: [&str; 4] =
    ["backslash_quote", "quoted_identifier", "sql_mode", "standard_conforming_strings"];

/// Looks at the statements of a job's scripts in the database in which they will run.
///
/// # Errors
/// Those of the connection. What is wrong with statements is given, each with its file and line.
pub async fn mistakes(job: &Job, session: &mut Session, makes_tables: bool) -> Result<Vec<String>, Error> {
    let Some(program) = &job.program else { return Ok(Vec::new()) };
    let dialect = session.dialect();
    limit_waits(session, dialect).await?;
    let mut refused = Vec::new();
    for (number, always_sent) in program.always_sent(job).into_iter().enumerate() {
        let texts =
            Rehearsal::new(job, program, dialect).texts(&program.scripts[number].script, &always_sent);
        for Text { at, line, sql, examples } in texts {
            let refusal = parsed(session, dialect, (&sql, &examples)).await?;
            refused.extend(refusal.map(|refusal| Refused { script: number, at, line, refusal }));
        }
    }
    let changes = Changes::of(program, dialect, &refused);
    refused.retain(|one| is_mistake(&one.refusal, job.protocol, (&changes, makes_tables)));
    let told = |Refused { script, line, refusal, .. }| {
        let line = line + refusal.lines_before;
        format!("{}:{line}: {}", program.scripts[script].script.name, refusal.words)
    };
    Ok(refused.into_iter().map(told).collect())
}

/// A table that somebody else has locked is no mistake: a statement that waits for it is not judged. The load then reports the lock.
async fn limit_waits(session: &mut Session, dialect: Dialect) -> Result<(), Error> {
    let setting = match dialect {
        Dialect::Mysql => "SET SESSION lock_wait_timeout = 1",
        Dialect::SqlServer => "SET LOCK_TIMEOUT 100",
        Dialect::Sqlite | Dialect::Postgres | Dialect::ClickHouse | Dialect::DuckDb => return Ok(()),
    };
    session.execute(setting, &[]).await.map(drop)
}

/// What the server says of a statement and examples of its parameters. It waits for locks only for a moment.
async fn parsed(
    session: &mut Session,
    dialect: Dialect,
    (sql, examples): (&str, &[Value]),
) -> Result<Option<Refusal>, Error> {
    if dialect != Dialect::Postgres {
        return session.parse(sql, examples).await;
    }
    // For one transaction only: a pooler may give the server's session to another client.
    session.execute("BEGIN", &[]).await?;
    session.execute("SET LOCAL lock_timeout = '100ms'", &[]).await?;
    let refusal = session.parse(sql, examples).await?;
    session.execute("ROLLBACK", &[]).await?;
    Ok(refusal)
}

/// A statement that the server refuses.
struct Refused {
    /// Number of its script.
    script: usize,
    /// Index of its command.
    at: usize,
    line: usize,
    refusal: Refusal,
}

fn is_mistake(refusal: &Refusal, protocol: Protocol, (changes, makes_tables): (&Changes, bool)) -> bool {
    match refusal.mistake {
        _ if changes.reading => false,
        Mistake::Missing => !changes.names && !makes_tables,
        // A procedure says of which types its parameters are.
        Mistake::Type => protocol != Protocol::Procedure,
        Mistake::Other => true,
    }
}

/// What the statements of all scripts may change of what the server knows.
#[derive(Debug, Default)]
struct Changes {
    /// What is there, or where it is looked for.
    names: bool,
    /// How texts are read.
    reading: bool,
}

impl Changes {
    /// What is refused changes nothing.
    fn of(program: &Program, dialect: Dialect, refused: &[Refused]) -> Self {
        let mut changes = Self::default();
        let scripts = program.scripts.iter().enumerate();
        let commands = scripts.flat_map(|(number, drawn)| {
            drawn.script.commands.iter().enumerate().map(move |one| (number, one))
        });
        for (script, (at, command)) in commands {
            let is_refused = |one: &Refused| (one.script, one.at) == (script, at);
            let Step::Sql(statement) = &command.step else { continue };
            if refused.iter().any(is_refused) {
                continue;
            }
            for words in places::words(&statement.source(&program.names), dialect) {
                let first = words.first().map_or("", String::as_str);
                let is_insert = matches!(first, "insert" | "replace" | "merge");
                changes.names |= !MAKES_NOTHING.contains(&first)
                    || !is_insert && words.iter().any(|word| MAKES_AFTER_ALL.contains(&word.as_str()));
                changes.reading |= words.iter().any(|word| READS_OTHERWISE.contains(&word.as_str()));
            }
        }
        changes
    }
}

/// A text that the server is to read.
struct Text {
    /// Index of its command.
    at: usize,
    line: usize,
    sql: String,
    examples: Vec<Value>,
}

/// Goes through scripts as a first client would, with answers of no server.
struct Rehearsal<'a> {
    protocol: Protocol,
    dialect: Dialect,
    names: &'a Names,
    variables: Variables,
    chance: Chance,
    /// Variables that a result gave, and others without a value that is known.
    unknown: BTreeSet<usize>,
}

impl<'a> Rehearsal<'a> {
    fn new(job: &Job, program: &'a Program, dialect: Dialect) -> Self {
        let scale = job.scale.unwrap_or(1);
        let mut variables = of_client(job, (&Arc::new(program.names.clone()), scale), 0);
        if let Some(parameters) = &program.parameters {
            for (&variable, value) in parameters.variables.iter().zip(parameters.row(0)) {
                variables.set(variable, language::Value::Text(value.clone()));
            }
        }
        let random = Xoshiro256PlusPlus::seed_from_u64(job.seed);
        let chance = Chance { random, default_seed: default_seed(job) };
        Self {
            protocol: job.protocol,
            dialect,
            names: &program.names,
            variables,
            chance,
            unknown: BTreeSet::new(),
        }
    }

    fn texts(mut self, script: &Script, always_sent: &[usize]) -> Vec<Text> {
        let mut texts = Vec::new();
        for (at, command) in script.commands.iter().enumerate() {
            match &command.step {
                Step::Set { variable, expression } => {
                    match expression.value(&self.variables, &mut self.chance) {
                        Ok(value) => {
                            self.variables.set(*variable, value);
                            self.unknown.remove(variable);
                        }
                        Err(_) => _ = self.unknown.insert(*variable),
                    }
                }
                Step::Sql(statement) => {
                    if always_sent.contains(&at) {
                        self.add(statement, (at, command.line), &mut texts);
                    }
                    if let Some(then) = &statement.then {
                        let given = |variable: &usize| self.names.name(*variable).starts_with(&then.prefix);
                        self.unknown.extend((0..self.names.len()).filter(given));
                    }
                }
                Step::Sleep { .. }
                | Step::Branch { .. }
                | Step::Jump(_)
                | Step::Expect { .. }
                | Step::StartPipeline
                | Step::SyncPipeline
                | Step::EndPipeline => {}
            }
        }
        texts
    }

    fn add(&self, statement: &Statement, (at, line): (usize, usize), texts: &mut Vec<Text>) {
        if self.protocol == Protocol::Statements(database::Protocol::Simple) {
            return self.add_substituted(statement, (at, line), texts);
        }
        let (counting, place) = placeholder(self.dialect);
        let example = |variable: usize| match self.variables.get(variable) {
            Ok(value) if !self.unknown.contains(&variable) => of_database(value),
            Ok(_) | Err(_) => Value::Null,
        };
        texts.push(Text {
            at,
            line,
            sql: statement.with_placeholders(counting, place),
            examples: statement.parameters(counting).map(example).collect(),
        });
    }

    /// With its values in the text; not where one of them is unknown.
    fn add_substituted(&self, statement: &Statement, (at, line): (usize, usize), texts: &mut Vec<Text>) {
        let is_unknown = statement.parameters(Counting::Variables).any(|one| self.unknown.contains(&one));
        let Ok(text) = statement.substituted(&self.variables) else { return };
        if is_unknown {
            return;
        }
        if statement.statements_in_it() == 1 {
            return texts.push(Text { at, line, sql: text, examples: Vec::new() });
        }
        for (own, sql) in plain_statements(&text).unwrap_or_default() {
            texts.push(Text { at, line: line + own - 1, sql, examples: Vec::new() });
        }
    }
}
