//! What the clients of a running trial share: the scripts as they are sent, and what went wrong.

use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex};

use database::{Dialect, Lease, Protocol, Wanted};
use load::{Counted, Kind};
use record::{ScriptInUse, StatementInUse, clients, script};

use super::procedures::Call;
use crate::clients::Late;
use crate::script::Job;
use crate::script::language::{Counting, Names, Script, Statement, Step};
use crate::script::parameters::Parameters;
use crate::script::program::{Drawn, Program};

/// Kind of operation: a whole transaction.
pub(super) const TRANSACTION: usize = 0;
/// Counter: transactions that were tried again.
pub(super) const RETRY: usize = 0;
/// Counter: time of transactions without what they slept.
pub(super) const NET_US: usize = 1;
/// Counter: transactions that failed.
pub(super) const FAILED: usize = 2;
/// Counter: what was expected and not found.
pub(super) const UNMET: usize = 3;
/// Counters of what is late, behind these.
pub(super) const LATE: Late = Late { late: 4, skipped: 5 };

/// Everything that is shared.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) job: Job,
    /// How each statement or call is sent.
    pub(super) protocol: Protocol,
    pub(super) lease: Lease,
    pub(super) names: Arc<Names>,
    pub(super) scripts: Vec<Sent>,
    /// The variable of this name.
    pub(super) scale: u32,
    pub(super) parameters: Option<Parameters>,
    /// The row that the next transaction takes, if they come in their turn.
    pub(super) next_row: AtomicUsize,
    pub(super) told: Mutex<Told>,
}

/// How scripts are sent.
#[derive(Clone, Copy, Debug)]
pub(super) enum How<'a> {
    /// Statement by statement.
    Statements(Protocol),
    /// A call for each.
    Calls(&'a [Call]),
}

impl How<'_> {
    /// Calls are prepared.
    pub(super) fn protocol(self) -> Protocol {
        match self {
            Self::Statements(protocol) => protocol,
            Self::Calls(_) => Protocol::Prepared,
        }
    }
}

/// A script as it is sent.
#[derive(Debug)]
pub(super) struct Sent {
    pub(super) script: Script,
    pub(super) weight: u32,
    /// Kind of its transactions, where there are several scripts.
    pub(super) kind: Option<usize>,
    /// Of each command that is a statement: how it is sent.
    pub(super) statements: Vec<Option<SentStatement>>,
}

impl Sent {
    /// How a command is sent that is a statement.
    pub(super) fn as_sent(&self, at: usize) -> &SentStatement {
        let Some(statement) = &self.statements[at] else {
            unreachable!("each statement is sent in some way")
        };
        statement
    }
}

/// A statement as it is sent.
#[derive(Debug)]
pub(super) struct SentStatement {
    /// Kind of operation; none of the call of a whole transaction.
    pub(super) kind: Option<usize>,
    /// With a place for each value; none where it is sent as one text.
    pub(super) sql: Option<String>,
    /// The variables whose values are beside it.
    pub(super) parameters: Vec<usize>,
    pub(super) wanted: Wanted,
}

/// The first of what went wrong, and how much was left without an answer.
#[derive(Debug, Default)]
pub(super) struct Told {
    pub(super) first_failure: Option<String>,
    pub(super) first_unmet: Option<String>,
    pub(super) unmet: u64,
    pub(super) unanswered: u64,
}

/// The scripts of a program as a dialect takes them; what is counted of them; and how they are recorded.
pub(super) fn sent(
    program: &Program,
    (how, dialect): (How<'_>, Dialect),
    (is_open, has_limit): (bool, bool),
) -> (Vec<Sent>, Counted, Vec<ScriptInUse>) {
    let mut kinds = vec![Kind { name: script::TRANSACTION.to_owned(), open: is_open }];
    let several = program.scripts.len() > 1;
    let (mut all, mut recorded) = (Vec::new(), Vec::new());
    for (number, drawn) in program.scripts.iter().enumerate() {
        let name = unique_name(&program.scripts, number);
        let kind = several.then(|| new_kind(&mut kinds, name.clone()));
        let mut in_use = Vec::new();
        let (script, statements) = match how {
            How::Statements(protocol) => {
                let mut new = |line: usize, statement: &Statement| {
                    let label = format!("{name}:{line}");
                    let begins = statement.first_words(&program.names);
                    in_use.push(StatementInUse { kind: label.clone(), begins });
                    new_kind(&mut kinds, label)
                };
                (drawn.script.clone(), sent_statements(&drawn.script, (protocol, dialect), &mut new))
            }
            How::Calls(calls) => called(&drawn.script, &calls[number]),
        };
        recorded.push(ScriptInUse {
            name: name.clone(),
            weight: drawn.weight,
            text: drawn.text.clone(),
            kind: kind.map(|_| name),
            statements: in_use,
        });
        all.push(Sent { script, weight: drawn.weight, kind, statements });
    }
    let counters =
        [clients::RETRIES, script::NET_US, script::FAILED, script::UNMET, script::LATE, script::SKIPPED];
    let counters = counters[..if has_limit { counters.len() } else { LATE.late }].iter();
    (all, Counted { kinds, counters: counters.map(|&name| name.to_owned()).collect() }, recorded)
}

/// How each command of a script is sent that is a statement. `new` makes its kind of operation.
fn sent_statements(
    script: &Script,
    sent: (Protocol, Dialect),
    new: &mut dyn FnMut(usize, &Statement) -> usize,
) -> Vec<Option<SentStatement>> {
    let commands = &script.commands;
    let mut all = Vec::with_capacity(commands.len());
    for (at, command) in commands.iter().enumerate() {
        let Step::Sql(statement) = &command.step else {
            all.push(None);
            continue;
        };
        let is_expected = matches!(commands.get(at + 1).map(|next| &next.step), Some(Step::Expect { .. }));
        let wanted = match (&statement.then, is_expected) {
            (Some(_), _) => Wanted::Last,
            (None, true) => Wanted::Count,
            (None, false) => Wanted::Nothing,
        };
        all.push(Some(sent_statement(statement, new(command.line, statement), sent, wanted)));
    }
    all
}

/// A script up to its first statement, in whose place its procedure is called.
fn called(script: &Script, call: &Call) -> (Script, Vec<Option<SentStatement>>) {
    let mut script = script.clone();
    script.commands.truncate(call.at + 1);
    let mut statements: Vec<Option<SentStatement>> = script.commands.iter().map(|_| None).collect();
    statements[call.at] = Some(SentStatement {
        kind: None,
        sql: Some(call.sql.clone()),
        parameters: call.variables.clone(),
        wanted: Wanted::Nothing,
    });
    (script, statements)
}

/// A script's name as one of a kind of operations; of several of one name with its number.
fn unique_name(scripts: &[Drawn], number: usize) -> String {
    let name = kind_name(&scripts[number].script.name);
    // That of all transactions together is taken.
    let is_alone = name != script::TRANSACTION
        && scripts.iter().filter(|other| kind_name(&other.script.name) == name).count() == 1;
    if is_alone { name } else { format!("{name}#{}", number + 1) }
}

/// A file's name with `_` for what a kind of operations cannot have in histogram logs: spaces, commas, letters that are not ASCII, and the
/// ends that stand for other histograms there.
fn kind_name(file: &str) -> String {
    let plain = |sign: char| if sign.is_ascii_graphic() && sign != ',' { sign } else { '_' };
    let name: String = file.chars().map(plain).collect();
    if name.ends_with(".service") || name.ends_with(".lag") { format!("{name}_") } else { name }
}

/// A kind of its own, or the one of this name that there is already: two statements may stand in one line.
fn new_kind(kinds: &mut Vec<Kind>, name: String) -> usize {
    kinds.iter().position(|kind| kind.name == name).unwrap_or_else(|| {
        kinds.push(Kind { name, open: false });
        kinds.len() - 1
    })
}

fn sent_statement(
    statement: &Statement,
    kind: usize,
    (protocol, dialect): (Protocol, Dialect),
    wanted: Wanted,
) -> SentStatement {
    let kind = Some(kind);
    if protocol == Protocol::Simple {
        return SentStatement { kind, sql: None, parameters: Vec::new(), wanted };
    }
    let (counting, place) = placeholder(dialect);
    SentStatement {
        kind,
        sql: Some(statement.with_placeholders(counting, place)),
        parameters: statement.parameters(counting).collect(),
        wanted,
    }
}

/// What of a statement is a parameter of its own, and how the place of one is written.
pub(super) fn placeholder(dialect: Dialect) -> (Counting, fn(usize) -> String) {
    match dialect {
        Dialect::Postgres => (Counting::Places, |number| format!("${number}")),
        Dialect::SqlServer => (Counting::Variables, |number| format!("@P{number}")),
        Dialect::Sqlite | Dialect::Mysql => (Counting::Places, |_| "?".to_owned()),
        Dialect::ClickHouse | Dialect::DuckDb => crate::named_sql::by_columns(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A space in a file's name ended the program once its first second was stored.
    #[test]
    fn a_kind_has_a_name_that_a_histogram_log_takes() {
        for (file, kind) in [
            ("select.sql", "select.sql"),
            ("my script, again.sql", "my_script__again.sql"),
            ("schön.sql", "sch_n.sql"),
            ("x.lag", "x.lag_"),
            ("x.service", "x.service_"),
        ] {
            assert_eq!(kind_name(file), kind);
        }
    }
}
