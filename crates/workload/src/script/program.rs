//! What the files of a job hold: scripts that were read and checked, before anything is connected to.

use std::collections::BTreeSet;
use std::path::Path;

use database::Dialect;
use load::{Pacing, Size, Span};
use record::Parameter;
use serde::{Deserialize, Serialize};

use super::job::CLIENTS_MAX;
use super::language::{
    Counting, Kind, Known, KnownVariables, Names, Script, Statement, Step, Value, analyse,
};
use super::parameters::Parameters;
use super::places::without_parameter;
use super::procedure::Body;
use super::replay::{Logged, Logs};
use super::settings::{Protocol, ScriptFile};
use super::text::sendable;
use super::workload::name;
use super::{Job, Replay, init};
use crate::{TrialError, given_file};

/// Largest script that is read.
const SCRIPT_MAX: Size = Size(1 << 20);
/// Largest file of plain SQL that makes tables and rows.
const INIT_MAX: Size = Size(64 << 20);

/// Variables that every client has: its number from 0; the seed of its random numbers and of hashes; 1, for scripts that are written for a
/// scale. What is defined wins.
pub(super) const GIVEN: [&str; 4] = ["client_id", "random_seed", "default_seed", "scale"];

/// All scripts of a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Program {
    pub(super) names: Names,
    pub(super) scripts: Vec<Drawn>,
    pub(super) parameters: Option<Parameters>,
    /// What makes tables and rows: the name of its file, and what is sent at once, with its line.
    pub(super) init: Option<(String, Vec<(usize, String)>)>,
}

/// A script, and how often it is drawn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Drawn {
    pub(super) script: Script,
    pub(super) weight: u32,
    pub(super) text: String,
}

impl Program {
    /// Whether a file makes tables and rows of a database that is made.
    #[must_use]
    pub fn has_init(&self) -> bool {
        self.init.is_some()
    }
}

/// Reads the files of a job, for a database that speaks this dialect; a log only unless it is among those that were read already.
///
/// # Errors
/// All mistakes of all files, each with its file and line; and what cannot be had with this engine.
pub fn check(job: &Job, dialect: Dialect, logs: &mut Logs) -> Result<Job, TrialError> {
    let job = &match &job.replay {
        Some(replay) => with_log(job, replay, dialect, logs)?,
        None => job.clone(),
    };
    let mut names = Names::default();
    let mut mistakes = Vec::new();
    let scripts = read_all(job, dialect, &mut names, &mut mistakes)?;
    let parameters = job
        .parameters
        .as_ref()
        .and_then(|file| Parameters::read(file, &mut names).map_err(|wrong| mistakes.push(wrong)).ok());
    for Drawn { script, .. } in &scripts {
        mistakes.extend(not_sent(job, script, dialect));
    }
    mistakes.extend(too_many(job, &scripts));
    mistakes.extend(of_variables(job, &scripts, &names, parameters.as_ref()));
    mistakes.extend(without_parameters(job, &scripts, &names, dialect));
    mistakes.extend(of_constants(job, &scripts, &names, parameters.as_ref()));
    let init = job.init.as_ref().map(|file| read_init(file, dialect)).transpose()?;
    let init = init.and_then(|(file, parts)| match parts {
        Ok(parts) => Some((file, parts)),
        Err(wrong) => {
            mistakes.extend(located(&file, wrong));
            None
        }
    });
    if !mistakes.is_empty() {
        return Err(TrialError::Mistakes(mistakes));
    }
    let program = Program { names, scripts, parameters, init };
    Ok(Job { program: Some(program), ..job.clone() })
}

/// Reads all scripts that are drawn. What is wrong with them is added to `mistakes`.
fn read_all(
    job: &Job,
    dialect: Dialect,
    names: &mut Names,
    mistakes: &mut Vec<String>,
) -> Result<Vec<Drawn>, TrialError> {
    let mut scripts = Vec::new();
    let mut add = |name: &str, text: String, weight: u32| match read_script(name, &text, names) {
        Ok(script) => scripts.push(Drawn { script, weight, text }),
        Err(wrong) => mistakes.extend(wrong),
    };
    for file in job.files.iter().filter(|file| file.weight > 0) {
        add(&name(file), read(file)?, file.weight);
    }
    for one in job.builtin.iter().filter(|one| one.weight > 0) {
        add(one.builtin.name(), one.builtin.text(dialect), one.weight);
    }
    Ok(scripts)
}

fn read_script(name: &str, text: &str, names: &mut Names) -> Result<Script, Vec<String>> {
    let text = sendable(text).map_err(|wrong| located(name, wrong))?;
    Script::read(name, text, names).map_err(|wrong| wrong.iter().map(ToString::to_string).collect())
}

/// Mistakes of a file, by its lines.
fn located(file: &str, mistakes: Vec<(usize, String)>) -> Vec<String> {
    mistakes.into_iter().map(|(line, words)| format!("{file}:{line}: {words}")).collect()
}

/// Behind the last statement of a log a window goes on for so long, up to a whole second, so that what comes late is still in it.
const BEHIND_NS: u64 = 500_000_000;
const SECOND_NS: u64 = 1_000_000_000;

/// Reasons why a log cannot be replayed with a protocol that has separate parameters.
const NO_PARAMETERS: &str = "none of its statements has separate parameters, so prony sends each statement as one text: omit this option";
const ONLY_POSTGRES: &str = "for statements from a log, only PostgreSQL accepts separate parameters. Omit this option, and prony puts the \
    values into the statement text";

/// A job with the log that it replays, and the times and the sessions of that.
fn with_log(job: &Job, replay: &Replay, dialect: Dialect, logs: &mut Logs) -> Result<Job, TrialError> {
    let refused = |parameter: &str, value: &dyn std::fmt::Display, words: String| {
        let parameter = Parameter::new(parameter).of(value);
        Err(TrialError::Load(format!(
            "{parameter} does not work with the log {}: {words}",
            replay.file.display()
        )))
    };
    let log =
        logs.log(&replay.file, replay.format, replay.only_database.as_deref()).map_err(TrialError::Load)?;
    if let (Some(protocol), false) = (replay.protocol, log.has_values() && dialect == Dialect::Postgres) {
        let words = if log.has_values() { ONLY_POSTGRES } else { NO_PARAMETERS };
        return refused("workload.script.protocol", &Protocol::Statements(protocol), words.to_owned());
    }
    let last_ns = log.due_ns(log.last_us, replay.speed);
    let whole_ns = (last_ns + BEHIND_NS).div_ceil(SECOND_NS) * SECOND_NS;
    let length = Span { ns: whole_ns };
    let mut phases = job.phases;
    if phases.warm_up >= length {
        return refused(
            "workload.script.warm_up",
            &phases.warm_up,
            format!("the replay lasts only {length}; use a shorter warm-up"),
        );
    }
    phases.measure = replay.duration.unwrap_or(Span { ns: whole_ns - phases.warm_up.ns });
    if phases.end_ns() > whole_ns {
        let words = format!(
            "the replay lasts only {length}, including the warm-up; use a shorter duration, or omit it"
        );
        return refused("workload.script.duration", &phases.measure, words);
    }
    // What is offered within the window: a log may have been at rest before and behind it.
    let window = phases.warm_up.ns..phases.end_ns();
    let begins = |logged: &&Logged| logged.begins && window.contains(&log.due_ns(logged.at_us, replay.speed));
    let transactions = log.sessions.iter().flat_map(|session| &session.statements).filter(begins);
    let rate_per_s = transactions.count() as f64 / (phases.measure.ns as f64 / 1e9);
    let clients = u32::try_from(log.sessions.len()).unwrap_or(u32::MAX);
    if clients > CLIENTS_MAX {
        return refused(
            "workload.script.replay",
            &replay.file.display(),
            format!(
                "it has {clients} sessions, but the maximum is {CLIENTS_MAX}; give only a part of the log"
            ),
        );
    }
    let replay = Replay { log: Some(log), ..replay.clone() };
    Ok(Job { phases, clients, pacing: Pacing::Fixed { rate_per_s }, replay: Some(replay), ..job.clone() })
}

fn read(file: &ScriptFile) -> Result<String, TrialError> {
    let path = file.path.display();
    given_file::read_text(&file.path, SCRIPT_MAX)
        .map_err(|error| TrialError::Load(format!("cannot read the script {path}: {error}")))
}

type Parts = Result<Vec<(usize, String)>, Vec<(usize, String)>>;

/// The name of the file that makes tables and rows, and what is sent of it.
fn read_init(file: &Path, dialect: Dialect) -> Result<(String, Parts), TrialError> {
    let text = given_file::read_text(file, INIT_MAX)
        .map_err(|error| TrialError::Load(format!("cannot read {}: {error}", file.display())))?;
    let parts = sendable(&text).and_then(|text| init::parts(text, dialect).map_err(|wrong| vec![wrong]));
    Ok((file.display().to_string(), parts))
}

/// What of a script cannot be sent as asked: a sentence each.
fn not_sent(job: &Job, script: &Script, dialect: Dialect) -> Vec<String> {
    let told = |words: String, line: usize| format!("{}:{line}: {words}", script.name);
    let protocol = match job.protocol {
        Protocol::Statements(protocol) => protocol,
        Protocol::Procedure => {
            let wrong = Body::of(script, dialect).err().unwrap_or_default();
            return wrong.into_iter().map(|(line, words)| told(words, line)).collect();
        }
    };
    let wrong = |step| step_not_sent(step, protocol, dialect);
    let mut told: Vec<String> = script
        .commands
        .iter()
        .filter_map(|command| Some(told(wrong(&command.step)?, command.line)))
        .collect();
    // The three commands of one pipeline are one mistake.
    told.dedup_by(|later, first| later.contains("\\startpipeline") && first.contains("\\startpipeline"));
    told
}

/// Why a command cannot be sent so.
fn step_not_sent(step: &Step, protocol: database::Protocol, dialect: Dialect) -> Option<String> {
    let parameter = |value: &str| Parameter::new("workload.script.protocol").of(value);
    match step {
        Step::Sql(statement)
            if statement.statements_in_it() > 1 && protocol != database::Protocol::Simple =>
        {
            Some(format!(
                "`\\;` combines statements into one text, which cannot have separate parameters: use {}",
                parameter("simple")
            ))
        }
        Step::StartPipeline | Step::SyncPipeline | Step::EndPipeline => match dialect {
            Dialect::Postgres if protocol == database::Protocol::Simple => Some(format!(
                "`\\startpipeline`: a pipeline needs statements with separate parameters: use {} or {}",
                parameter("prepared"),
                parameter("extended")
            )),
            Dialect::Postgres => None,
            Dialect::Sqlite | Dialect::Mysql | Dialect::SqlServer | Dialect::ClickHouse | Dialect::DuckDb => Some(format!(
                "`\\startpipeline`: {} has no pipelines: remove the pipeline commands",
                dialect.name()
            )),
        },
        Step::Sql(statement)
            if is_two_results(statement.then.as_ref().map(|then| then.kind), statement.statements_in_it()) =>
        {
            Some("with `\\aset` after several statements, only the last row of the last statement would be kept: use \\gset".to_owned())
        }
        Step::Sql(_)
        | Step::Set { .. }
        | Step::Sleep { .. }
        | Step::Branch { .. }
        | Step::Jump(_)
        | Step::Expect { .. } => None,
    }
}

/// Statements that each connection keeps prepared.
const PREPARED_MAX: usize = 64;

/// More statements than a connection keeps prepared would be parsed again and again.
fn too_many(job: &Job, scripts: &[Drawn]) -> Option<String> {
    let commands = scripts.iter().flat_map(|drawn| &drawn.script.commands);
    let statements = commands.filter(|command| matches!(command.step, Step::Sql(_))).count();
    let is_too_many = job.protocol == Protocol::default() && statements > PREPARED_MAX;
    is_too_many.then(|| {
        format!(
            "the scripts have {statements} statements, but a connection keeps only {PREPARED_MAX} prepared: use {}, or fewer statements",
            Parameter::new("workload.script.protocol").of("extended")
        )
    })
}

fn is_two_results(kind: Option<Kind>, statements: usize) -> bool {
    kind == Some(Kind::Aset) && statements > 1
}

/// Variables that stand where they have no value.
fn of_variables(job: &Job, scripts: &[Drawn], names: &Names, parameters: Option<&Parameters>) -> Vec<String> {
    let given = parameters.iter().flat_map(|parameters| &parameters.variables);
    let known = known(job, scripts, (names, given));
    let mut mistakes = within_quotes(job, scripts, (names, &known));
    // What a file that cannot be read would have given, nobody knows.
    if job.parameters.is_some() == parameters.is_some() {
        mistakes.extend(without_value(scripts, names, known));
    }
    mistakes
}

/// Variables that have a value from the beginning, or that a `\set` gives one.
fn known<'a>(
    job: &Job,
    scripts: &[Drawn],
    (names, given): (&Names, impl Iterator<Item = &'a usize>),
) -> BTreeSet<usize> {
    let mut known: BTreeSet<usize> = GIVEN.iter().filter_map(|name| names.find(name)).collect();
    known.extend(job.defined.iter().filter_map(|defined| names.find(&defined.name)));
    known.extend(given);
    let commands = scripts.iter().flat_map(|drawn| &drawn.script.commands);
    known.extend(commands.filter_map(|command| {
        let Step::Set { variable, .. } = &command.step else { return None };
        Some(*variable)
    }));
    known
}

/// Each statement with its script's name and its line.
fn statements(scripts: &[Drawn]) -> impl Iterator<Item = (&Statement, String)> {
    let commands = scripts
        .iter()
        .flat_map(|Drawn { script, .. }| script.commands.iter().map(move |command| (&script.name, command)));
    commands.filter_map(|(name, command)| {
        let Step::Sql(statement) = &command.step else { return None };
        Some((statement, format!("{name}:{}", command.line)))
    })
}

/// Variables within quotes, which a server would be sent by their names: a value beside a statement comes into no quotes.
fn within_quotes(job: &Job, scripts: &[Drawn], (names, known): (&Names, &BTreeSet<usize>)) -> Vec<String> {
    if job.protocol == Protocol::Statements(database::Protocol::Simple) {
        return Vec::new();
    }
    let simple = Parameter::new("workload.script.protocol").of("simple");
    let told = |(statement, place): (&Statement, String)| {
        let variable = statement.quoted().find(|variable| known.contains(variable))?;
        let name = names.name(variable);
        Some(format!(
            "{place}: `:{name}` is within quotes, where separate parameters do not work: use {simple}, or concatenate the text in SQL"
        ))
    };
    statements(scripts).filter_map(told).collect()
}

/// Variables in SQL that nothing gives a value.
fn without_value(scripts: &[Drawn], names: &Names, mut known: BTreeSet<usize>) -> Vec<String> {
    let results = statements(scripts).filter_map(|(statement, _)| statement.then.as_ref());
    let prefixes: Vec<&str> = results.map(|then| then.prefix.as_str()).collect();
    let mut told = Vec::new();
    for (statement, place) in statements(scripts) {
        for variable in statement.parameters(Counting::Variables) {
            let name = names.name(variable);
            // Of what column a result will have nobody knows.
            if known.insert(variable) && !prefixes.iter().any(|prefix| name.starts_with(prefix)) {
                let define = Parameter::new("workload.script.define").of(format!("{name}=VALUE"));
                told.push(format!(
                    "{place}: `:{name}` has no value: use \\set before this statement, or give {define}"
                ));
            }
        }
    }
    told
}

/// Variables where the server takes no parameter, so that only a text with its values in it can have them.
fn without_parameters(job: &Job, scripts: &[Drawn], names: &Names, dialect: Dialect) -> Vec<String> {
    if job.protocol == Protocol::Statements(database::Protocol::Simple) {
        return Vec::new();
    }
    let simple = Parameter::new("workload.script.protocol").of("simple");
    let told = |(statement, place): (&Statement, String)| {
        let (variable, kind) = without_parameter(statement, names, dialect)?;
        let name = names.name(variable);
        Some(format!(
            "{place}: `:{name}` stands for {kind}, and this cannot be a separate parameter: use {simple}, so that prony puts the value into the text"
        ))
    };
    statements(scripts).filter_map(told).collect()
}

/// Expressions that fail every time, and scripts that never send a statement.
fn of_constants(job: &Job, scripts: &[Drawn], names: &Names, parameters: Option<&Parameters>) -> Vec<String> {
    let known = known_values(job, scripts, names, parameters);
    let mut mistakes = Vec::new();
    for Drawn { script, .. } in scripts {
        let analysis = analyse(script, names, &known);
        mistakes.extend(located(&script.name, analysis.mistakes));
        if !analysis.sends {
            let has_any = script.commands.iter().find(|command| matches!(command.step, Step::Sql(_)));
            let words = match has_any {
                None => {
                    "the script sends no statements, so nothing in a database would be measured: add one, such as SELECT 1;"
                }
                Some(_) => "the script can never reach its statements: change the conditions of its branches",
            };
            let line = has_any.or(script.commands.first()).map_or(1, |command| command.line);
            mistakes.push(format!("{}:{line}: {words}", script.name));
        }
    }
    mistakes
}

impl Program {
    /// The statements of each script that every way through it sends: indices of commands.
    pub(super) fn always_sent(&self, job: &Job) -> Vec<Vec<usize>> {
        let known = known_values(job, &self.scripts, &self.names, self.parameters.as_ref());
        let scripts = self.scripts.iter();
        scripts.map(|drawn| analyse(&drawn.script, &self.names, &known).always_sent).collect()
    }
}

/// What is known of variables when a script begins. One that a script changes, or a file of parameters, may have any value then.
fn known_values(
    job: &Job,
    scripts: &[Drawn],
    names: &Names,
    parameters: Option<&Parameters>,
) -> KnownVariables {
    // Of tables that are there the scale is counted.
    let scale = if job.builtin.is_empty() { Known::of(&Value::Integer(1)) } else { Known::Integer };
    let given = GIVEN.map(|name| (name, if name == "scale" { scale } else { Known::Integer }));
    let defined =
        job.defined.iter().map(|one| (one.name.as_str(), Known::of(&Value::Text(one.value.clone()))));
    let mut known = KnownVariables::new();
    // What is defined comes later, and counts.
    for (name, value) in given.into_iter().chain(defined) {
        let Some(variable) = names.find(name) else { continue };
        let is_of_file =
            parameters.map_or(job.parameters.is_some(), |file| file.variables.contains(&variable));
        if !is_of_file && !scripts.iter().any(|drawn| drawn.script.changes(variable, name)) {
            known.insert(variable, value);
        }
    }
    known
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::Settings;

    fn checked(scripts: &[&str], settings: &str, dialect: Dialect) -> Result<Job, String> {
        let directory = tempfile::tempdir().unwrap();
        let mut settings: Settings = toml::from_str(settings).unwrap();
        for (number, text) in scripts.iter().enumerate() {
            let path = directory.path().join(format!("{number}.sql"));
            std::fs::write(&path, text).unwrap();
            settings.files.push(ScriptFile { path, weight: 1 });
        }
        check(&Job::of(&settings).unwrap(), dialect, &mut Logs::default()).map_err(|error| error.to_string())
    }

    #[test]
    fn all_mistakes_of_all_files_are_told_with_file_and_line() {
        let told = checked(&["SELECT 1;\n\\shell ls\n", "\n\\set x\n\\nonsense\n"], "", Dialect::Postgres)
            .unwrap_err();
        for place in ["0.sql:2: ", "1.sql:2: ", "1.sql:3: "] {
            assert!(told.lines().any(|line| line.starts_with(place)), "{place} in {told}");
        }
        assert_eq!(told.lines().count(), 3, "{told}");
    }

    /// Each variable of a file with a mistake was told to have no value besides.
    #[test]
    fn a_mistake_in_a_file_of_parameters_is_one() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("p.csv");
        std::fs::write(&file, "id,name\n1,a\n2\n").unwrap();
        let settings = format!("parameters = {:?}", file.display().to_string());
        let told = checked(&["SELECT :id, :name;\n"], &settings, Dialect::Postgres).unwrap_err();
        assert!(told.lines().count() == 1 && told.contains("p.csv:3: this line has 1 values"), "{told}");
        std::fs::write(&file, "id\n1\n").unwrap();
        let told = checked(&["SELECT :id, :name;\n"], &settings, Dialect::Postgres).unwrap_err();
        assert!(told.lines().count() == 1 && told.contains("`:name` has no value"), "{told}");
    }

    #[test]
    fn a_variable_within_quotes_is_told_unless_values_are_put_into_the_text() {
        let script = "\\set days 7\nSELECT 'HH24:MI:SS', ':days days';\n";
        for protocol in ["prepared", "extended", "procedure"] {
            let told =
                checked(&[script], &format!("protocol = \"{protocol}\""), Dialect::Postgres).unwrap_err();
            assert!(told.starts_with("0.sql:2: `:days` is within quotes"), "{told}");
            assert_eq!(told.lines().count(), 1, "`:MI` is no variable: {told}");
        }
        assert!(checked(&[script], "protocol = \"simple\"", Dialect::Postgres).is_ok());
    }

    #[test]
    fn a_variable_that_nothing_gives_a_value_is_told_before_the_load() {
        let script = "\\set aid random(1, :n)\nSELECT :aid, :bid, :client_id, :scale;\nSELECT :bid;\n";
        let told = checked(&[script], "", Dialect::Postgres).unwrap_err();
        assert_eq!(told.lines().count(), 1, "{told}");
        assert!(told.starts_with("0.sql:2: `:bid` has no value"), "{told}");
        assert!(checked(&[script], "define = [\"bid=1\"]", Dialect::Postgres).is_ok());
        let other = "SELECT 1 AS bid \\gset\n";
        assert!(checked(&[script, other], "", Dialect::Postgres).is_ok(), "a result may give it");
        let prefixed = "SELECT 1 AS bid \\gset p_\n";
        assert!(checked(&[script, prefixed], "", Dialect::Postgres).is_err());
    }

    #[test]
    fn what_cannot_be_sent_so_is_told() {
        let both = "SELECT 1 \\; SELECT 2;\n";
        assert!(checked(&[both], "", Dialect::Postgres).unwrap_err().contains("protocol simple"));
        assert!(checked(&[both], "protocol = \"simple\"", Dialect::Postgres).is_ok());
        let piped = "\\startpipeline\nSELECT 1;\n\\endpipeline\n";
        let told = checked(&[piped], "", Dialect::Mysql).unwrap_err();
        assert!(told.starts_with("0.sql:1: ") && told.contains("no pipelines"), "{told}");
        assert!(checked(&[piped], "", Dialect::Postgres).is_ok());
        let told = checked(&[piped], "protocol = \"simple\"", Dialect::Postgres).unwrap_err();
        assert!(told.contains("protocol prepared"), "{told}");
    }

    /// A load of them stopped each of its clients, and ended as invalid.
    #[test]
    fn what_fails_every_time_is_told_before_the_load() {
        let script =
            "\\set tank random(1, :high)\n\\set pump random_zipfian(1, 500, 0.8)\nSELECT :tank, :pump;\n";
        let told = checked(&[script], "define = [\"high=-4\"]", Dialect::Postgres).unwrap_err();
        assert_eq!(told.lines().count(), 2, "{told}");
        for place in ["0.sql:1: empty range", "0.sql:2: the zipfian parameter"] {
            assert!(told.lines().any(|line| line.starts_with(place)), "{place} in {told}");
        }
        let told = checked(&[script], "define = [\"high=4\"]", Dialect::Postgres).unwrap_err();
        assert_eq!(told.lines().count(), 1, "{told}");
        let other = "\\set high 9\nSELECT 1;\n";
        let told = checked(&[script, other], "define = [\"high=-4\"]", Dialect::Postgres).unwrap_err();
        assert!(told.lines().count() == 1 && told.starts_with("0.sql:2: "), "{told}");
    }

    /// It was measured, and called a rate of the database.
    #[test]
    fn a_script_that_sends_nothing_is_refused() {
        for (script, words) in [
            ("\\set tank random(1, 40)\n", "0.sql:1: the script sends no statement"),
            ("\\sleep 1 ms\n", "0.sql:1: the script sends no statement"),
            ("\\if :scale > 1\nSELECT 1;\n\\endif\n", "0.sql:2: the script can never reach its statements"),
        ] {
            let told = checked(&["SELECT 1;\n", script], "", Dialect::Postgres).unwrap_err();
            assert!(told.starts_with(&words.replacen('0', "1", 1)), "{told}");
            assert!(checked(&[script], "", Dialect::Postgres).unwrap_err().starts_with(words));
        }
        let scaled = "\\if :scale > 1\nSELECT 1;\n\\endif\n";
        assert!(checked(&[scaled], "define = [\"scale=2\"]", Dialect::Postgres).is_ok());
        assert!(checked(&[scaled], "builtin = [\"select-only\"]", Dialect::Postgres).is_ok());
    }

    #[test]
    fn a_zero_byte_is_a_mistake_and_the_end_of_a_text_of_dos_is_none() {
        let told = checked(&["SELECT 1;\nSELECT '\0';\n"], "", Dialect::Postgres).unwrap_err();
        assert_eq!(told, "0.sql:2: a zero byte cannot be sent to a server: remove it");
        let job = checked(&["SELECT 1;\r\n\u{1a}"], "", Dialect::Postgres).unwrap();
        assert_eq!(job.program.unwrap().scripts[0].script.commands.len(), 1);
        let directory = tempfile::tempdir().unwrap();
        let init = directory.path().join("init.sql");
        std::fs::write(&init, "CREATE TABLE t (a int);\n\0").unwrap();
        let settings = format!("init = {:?}", init.display().to_string());
        let told = checked(&["SELECT 1;\n"], &settings, Dialect::Postgres).unwrap_err();
        assert!(told.contains("init.sql:2: a zero byte"), "{told}");
    }

    #[test]
    fn a_variable_where_no_parameter_can_be_is_told_unless_values_are_put_into_the_text() {
        let script = "\\set n random(1, 4)\nSELECT * FROM t_:n;\nSELECT a FROM t ORDER BY :n;\n";
        for protocol in ["prepared", "extended", "procedure"] {
            let settings = format!("protocol = \"{protocol}\"");
            let told = checked(&[script], &settings, Dialect::Postgres).unwrap_err();
            let places = ["0.sql:2: `:n` stands for a part of a name", "0.sql:3: `:n` stands for a column"];
            assert!(places.iter().all(|place| told.contains(place)), "{told}");
        }
        assert!(checked(&[script], "protocol = \"simple\"", Dialect::Postgres).is_ok());
    }

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let settings: Settings = toml::from_str("files = [\"/nowhere/a.sql\"]").unwrap();
        let error = check(&Job::of(&settings).unwrap(), Dialect::Sqlite, &mut Logs::default())
            .unwrap_err()
            .to_string();
        assert!(error.starts_with("cannot read the script /nowhere/a.sql: "), "{error}");
    }
}
