//! What of a script is a procedure.

use database::Dialect;
use record::Parameter;

use super::words::{Transaction, transaction};
use crate::script::language::{Counting, Script, Statement, Step};

/// The statements of a script that are its procedure.
#[derive(Debug)]
pub(in crate::script) struct Body<'a> {
    /// Place of the first of them; the commands before it are the client's.
    pub(in crate::script) at: usize,
    /// With their lines.
    pub(in crate::script) statements: Vec<(usize, &'a Statement)>,
}

impl<'a> Body<'a> {
    /// Of a script that can be one.
    ///
    /// # Errors
    /// What cannot be in one, a line and a sentence each.
    pub(in crate::script) fn of(script: &'a Script, dialect: Dialect) -> Result<Self, Vec<(usize, String)>> {
        let first_line = script.commands.first().map_or(1, |command| command.line);
        if matches!(dialect, Dialect::Sqlite | Dialect::ClickHouse | Dialect::DuckDb) {
            return Err(vec![(first_line, no_procedure(&format!("{} has no procedures", dialect.name())))]);
        }
        let at = script.commands.iter().position(|command| matches!(command.step, Step::Sql(_)));
        let Some(at) = at else {
            return Err(vec![(
                first_line,
                no_procedure("the script has no statement that a procedure could contain"),
            )]);
        };
        let mut wrong = Vec::new();
        let mut statements = Vec::new();
        for (number, command) in script.commands.iter().enumerate() {
            let refused = if number < at { before(&command.step, at) } else { behind(&command.step) };
            if let Some(words) = refused {
                wrong.push((command.line, no_procedure(words)));
            }
            if let Step::Sql(statement) = &command.step {
                statements.push((command.line, statement));
            }
        }
        if dialect == Dialect::Postgres {
            wrong.extend(transactions(&statements));
        }
        // A condition is more than one command.
        wrong.dedup_by(|later, first| later.1 == first.1);
        if wrong.is_empty() { Ok(Self { at, statements }) } else { Err(wrong) }
    }
}

/// What is wrong, and what to do.
fn no_procedure(words: &str) -> String {
    let prepared = Parameter::new("workload.script.protocol").of("prepared");
    format!("{words}: give {prepared}")
}

/// Why a command that stands before the first statement cannot.
fn before(step: &Step, first: usize) -> Option<&'static str> {
    match step {
        Step::Branch { otherwise: to, .. } | Step::Jump(to) if *to > first => Some(CONDITION),
        Step::StartPipeline | Step::SyncPipeline | Step::EndPipeline => Some(PIPELINE),
        Step::Branch { .. }
        | Step::Jump(_)
        | Step::Set { .. }
        | Step::Sleep { .. }
        | Step::Sql(_)
        | Step::Expect { .. } => None,
    }
}

const CONDITION: &str =
    "`\\if` around statements cannot be used in a procedure, because a procedure call passes only values";
const PIPELINE: &str =
    "a pipeline cannot be used in a procedure, because the client sends only one statement: the call";

/// Why a command cannot be where a procedure is.
fn behind(step: &Step) -> Option<&'static str> {
    Some(match step {
        Step::Sql(statement) if statement.then.is_some() => {
            "`\\gset` and `\\aset` need a result, but a procedure returns none to its client"
        }
        Step::Sql(statement) if statement.statements_in_it() > 1 => {
            "`\\;` combines statements into one text, and this cannot be used in a procedure: end each statement with `;`"
        }
        Step::Sql(_) => return None,
        Step::Set { .. } => {
            "`\\set` after a statement cannot be used in a procedure, because the call passes all values at once: put it before the first statement"
        }
        Step::Sleep { .. } => {
            "`\\sleep` behind a statement cannot be in a procedure, which the server runs at once"
        }
        Step::Branch { .. } | Step::Jump(_) => CONDITION,
        Step::StartPipeline | Step::SyncPipeline | Step::EndPipeline => PIPELINE,
        Step::Expect { .. } => {
            "`\\expect` needs the rows of a statement, but a procedure returns none to its client"
        }
    })
}

/// What of transactions a procedure of PostgreSQL cannot do.
fn transactions(statements: &[(usize, &Statement)]) -> Vec<(usize, String)> {
    let mut wrong = Vec::new();
    let mut begun = None;
    for (line, statement) in statements {
        let sql = statement.with_placeholders(Counting::Places, |number| format!("${number}"));
        match transaction(&sql, Dialect::Postgres) {
            Transaction::No => {}
            Transaction::Begins => begun = begun.or(Some(*line)),
            Transaction::Commits | Transaction::RollsBack => begun = None,
            Transaction::Other => {
                let words = "a PostgreSQL procedure cannot use savepoints, AND CHAIN, or settings for a single transaction";
                wrong.push((*line, no_procedure(words)));
            }
        }
    }
    if let Some(line) = begun {
        let words = "the transaction that begins here does not end: COMMIT or ROLLBACK it".to_owned();
        wrong.push((line, words));
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::Builtin;
    use crate::script::language::Names;

    fn told(text: &str, dialect: Dialect) -> Vec<(usize, String)> {
        let script = Script::read("a.sql", text, &mut Names::default()).unwrap();
        Body::of(&script, dialect).map(|_| ()).err().unwrap_or_default()
    }

    #[test]
    fn statements_behind_what_sets_their_values_are_a_procedure() {
        for text in [
            "SELECT 1;\n",
            "\\set a 1\n\\if :a > 0\n\\set b 2\n\\else\n\\set b 3\n\\endif\n\\sleep 1 ms\nBEGIN;\nSELECT :b;\nCOMMIT;\nSELECT 2;\n",
        ] {
            for dialect in [Dialect::Postgres, Dialect::Mysql, Dialect::SqlServer] {
                assert_eq!(told(text, dialect), [], "{text}");
            }
        }
        for builtin in Builtin::ALL {
            for dialect in [Dialect::Postgres, Dialect::Mysql, Dialect::SqlServer] {
                assert_eq!(told(&builtin.text(dialect), dialect), [], "{builtin:?}");
            }
        }
    }

    #[test]
    fn what_cannot_be_a_procedure_is_told_by_name_and_line() {
        for (text, line, part) in [
            ("SELECT 1 AS a \\gset\n", 1, "\\gset"),
            ("SELECT 1;\n\\expect rows = 1\n", 2, "\\expect"),
            ("SELECT 1;\n\\set a 1\nSELECT :a;\n", 2, "\\set"),
            ("SELECT 1;\n\\sleep 1 ms\nSELECT 2;\n", 2, "\\sleep"),
            ("\\set a 1\n\\if :a\nSELECT 1;\n\\endif\n", 2, "\\if"),
            ("SELECT 1;\n\\if 1\nSELECT 2;\n\\endif\n", 2, "\\if"),
            ("\\startpipeline\nSELECT 1;\n\\endpipeline\n", 1, "pipeline"),
            ("SELECT 1 \\; SELECT 2;\n", 1, "\\;"),
            ("\\set a 1\n", 1, "no statement"),
            ("SELECT 1;\nSAVEPOINT a;\n", 2, "savepoints"),
            ("SELECT 1;\nBEGIN;\nSELECT 2;\n", 2, "does not end"),
        ] {
            let told = told(text, Dialect::Postgres);
            assert!(told[0].0 == line && told[0].1.contains(part), "{text}: {told:?}");
            assert!(part == "does not end" || told[0].1.contains("prepared"), "{told:?}");
        }
        assert!(told("SELECT 1;\n", Dialect::Sqlite)[0].1.contains("SQLite has no procedures"));
    }
}
