//! Reading a script into a flat program.

use serde::{Deserialize, Serialize};

use super::conditions::Conditions;
use super::cursor::Cursor;
use super::expression::Expression;
use super::meta::{self, Meta};
use super::names::{Names, Variables};
use super::operator::Comparison;
use super::sql::{self, End};
use super::statement::{Into, Statement};
use super::value::{Scalar, Wrong};

/// A script that was read: its commands, in order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Script {
    /// Of its file.
    pub(crate) name: String,
    pub(crate) commands: Vec<Command>,
}

/// A mistake of a script.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{file}:{line}: {words}")]
pub(crate) struct Mistake {
    /// The script.
    pub file: String,
    /// From 1.
    pub line: usize,
    /// What is wrong, and what to do.
    pub words: String,
}

/// One step of a script.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Command {
    /// Where it begins, from 1.
    pub(crate) line: usize,
    pub(crate) step: Step,
}

/// What is done. Steps that are gone on at are indices of commands; the one after the last ends the script.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Step {
    Sql(Statement),
    Set {
        variable: usize,
        expression: Expression,
    },
    Sleep {
        time: Operand,
        unit_ns: u64,
    },
    /// Goes on with the next step if the condition holds.
    Branch {
        condition: Expression,
        otherwise: usize,
    },
    Jump(usize),
    StartPipeline,
    SyncPipeline,
    EndPipeline,
    /// What the number of rows is, of the statement just before.
    Expect {
        comparison: Comparison,
        expression: Expression,
    },
}

/// A number, or a variable that holds one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Operand {
    Number(u64),
    Variable(usize),
}

impl Operand {
    /// So many nanoseconds. Of a double the whole part counts, as in pgbench; what is below 0 is nothing.
    pub(crate) fn ns(self, unit_ns: u64, variables: &Variables) -> Result<u64, Wrong> {
        let number = match self {
            Self::Number(number) => number,
            Self::Variable(variable) => match variables.scalar(variable)? {
                Scalar::Integer(number) => number.max(0).unsigned_abs(),
                // A cast saturates.
                Scalar::Double(number) => number as u64,
                value @ (Scalar::Null | Scalar::Boolean(_)) => {
                    let name = variables.names().name(variable);
                    return Err(Wrong::new(format!(
                        "variable `{name}` is {value}, not a time: use a number"
                    )));
                }
            },
        };
        Ok(number.saturating_mul(unit_ns))
    }
}

impl Script {
    /// Reads the text of a file. All of its mistakes are said at once. Names are added to those of other scripts.
    ///
    /// # Errors
    /// The mistakes, by line.
    pub(crate) fn read(name: &str, text: &str, names: &mut Names) -> Result<Self, Vec<Mistake>> {
        let mut reader = Reader {
            cursor: Cursor::new(text),
            names,
            commands: Vec::new(),
            conditions: Conditions::new(),
            is_after_sql: false,
            mistakes: Vec::new(),
        };
        reader.read();
        let Reader { commands, conditions, mut mistakes, .. } = reader;
        mistakes.extend(conditions.left());
        if commands.is_empty() && mistakes.is_empty() {
            mistakes.push((1, "the script has no command: give a statement, such as SELECT 1;".to_owned()));
        }
        if mistakes.is_empty() {
            return Ok(Self { name: name.to_owned(), commands });
        }
        mistakes.sort_by_key(|(line, _)| *line);
        Err(mistakes
            .into_iter()
            .map(|(line, words)| Mistake { file: name.to_owned(), line, words })
            .collect())
    }

    /// Whether a command may give a variable of this name another value.
    #[must_use]
    pub(crate) fn changes(&self, variable: usize, name: &str) -> bool {
        self.commands.iter().any(|command| match &command.step {
            Step::Set { variable: set, .. } => *set == variable,
            // What its columns are called, the server says.
            Step::Sql(statement) => {
                statement.then.as_ref().is_some_and(|into| name.starts_with(&into.prefix))
            }
            Step::Sleep { .. }
            | Step::Branch { .. }
            | Step::Jump(_)
            | Step::StartPipeline
            | Step::SyncPipeline
            | Step::EndPipeline
            | Step::Expect { .. } => false,
        })
    }

    /// Works out what expressions, or parts of them, come to that ask for nothing but these variables, which keep their values.
    pub(crate) fn fold(&mut self, fixed: &Variables) {
        for Command { step, .. } in &mut self.commands {
            if let Step::Set { expression, .. }
            | Step::Branch { condition: expression, .. }
            | Step::Expect { expression, .. } = step
            {
                *expression = expression.folded(fixed);
            }
        }
    }
}

struct Reader<'text, 'names> {
    cursor: Cursor<'text>,
    names: &'names mut Names,
    commands: Vec<Command>,
    conditions: Conditions,
    /// Whether a statement is the last that was read, but for what is expected of it.
    is_after_sql: bool,
    /// With their lines.
    mistakes: Vec<(usize, String)>,
}

impl Reader<'_, '_> {
    fn read(&mut self) {
        loop {
            let scanned = sql::scan(&mut self.cursor, self.names);
            self.mistakes.extend(scanned.problem);
            if let Some((line, statement)) = scanned.command {
                self.push(line, Step::Sql(statement));
                self.is_after_sql = true;
            }
            match scanned.end {
                End::Semicolon => {}
                End::Backslash => self.meta(),
                End::Text => break,
            }
        }
    }

    fn push(&mut self, line: usize, step: Step) {
        self.commands.push(Command { line, step });
    }

    fn meta(&mut self) {
        let line = self.cursor.line();
        let text = &self.cursor.take_continued_line()[1..];
        let mut problems = Vec::new();
        let meta = meta::read(text, self.names, &mut problems);
        if let Some(meta) = meta {
            problems.extend(self.add(line, meta).err());
        }
        self.mistakes.extend(problems.into_iter().map(|words| (line, words)));
    }

    fn add(&mut self, line: usize, meta: Meta) -> Result<(), String> {
        let is_after_sql = std::mem::take(&mut self.is_after_sql);
        match meta {
            Meta::Set { variable, expression } => self.push(line, Step::Set { variable, expression }),
            Meta::Sleep { time, unit_ns } => self.push(line, Step::Sleep { time, unit_ns }),
            Meta::If(condition) => {
                self.push(line, Step::Branch { condition, otherwise: 0 });
                self.conditions.opened(line, &self.commands);
            }
            Meta::Elif(condition) => {
                self.conditions.otherwise("elif", line, &mut self.commands)?;
                self.push(line, Step::Branch { condition, otherwise: 0 });
                self.conditions.branched(&self.commands);
            }
            Meta::Else => {
                self.conditions.otherwise("else", line, &mut self.commands)?;
                self.conditions.has_else();
            }
            Meta::Endif => self.conditions.closed(&mut self.commands)?,
            Meta::StartPipeline => {
                self.conditions.starts_pipeline(line)?;
                self.push(line, Step::StartPipeline);
            }
            Meta::SyncPipeline => {
                self.conditions.in_pipeline("syncpipeline")?;
                self.push(line, Step::SyncPipeline);
            }
            Meta::EndPipeline => {
                self.conditions.in_pipeline("endpipeline")?;
                self.conditions.ended_pipeline();
                self.push(line, Step::EndPipeline);
            }
            Meta::Into(into) => self.into(into, is_after_sql)?,
            Meta::Expect { comparison, expression } => {
                self.expect(line, comparison, expression, is_after_sql)?;
            }
        }
        Ok(())
    }

    fn into(&mut self, into: Into, is_after_sql: bool) -> Result<(), String> {
        let word = into.kind.word();
        let last = self.commands.last_mut().map(|command| &mut command.step);
        let Some(Step::Sql(statement)) = last.filter(|_| is_after_sql) else {
            return Err(format!(
                "`\\{word}` without a statement: put it where the statement ends, in the place of ;"
            ));
        };
        if statement.then.is_some() {
            return Err(format!(
                "`\\{word}` follows a statement that already stores its result: remove one of the two"
            ));
        }
        self.conditions.has_result(word)?;
        statement.then = Some(into);
        self.is_after_sql = true;
        Ok(())
    }

    fn expect(
        &mut self,
        line: usize,
        comparison: Comparison,
        expression: Expression,
        is_after_sql: bool,
    ) -> Result<(), String> {
        if !is_after_sql {
            return Err(
                "`\\expect` without a statement: put it directly after the statement to check".to_owned()
            );
        }
        self.conditions.has_result("expect")?;
        self.push(line, Step::Expect { comparison, expression });
        self.is_after_sql = true;
        Ok(())
    }
}
