//! The language of scripts: pgbench's, read into a flat program, and the evaluation of its expressions.
//!
//! Written after what PostgreSQL's documentation of pgbench says. Nothing here runs a statement, reads a clock or draws randomness
//! that is not passed in. Where we differ from pgbench:
//! - A variable within comments of SQL stays text; pgbench puts its value there too. One within quotes has its value where a
//!   statement is one text with its values in it, and nowhere else.
//! - A variable without a value is an error; pgbench leaves its `:name` in such a text, and sends NULL beside another.
//! - `permute` makes permutations of our own, and random numbers come from a generator of our own.
//! - `\expect` is ours; `\shell` and `\setshell` are refused.

mod analysis;
mod chance;
mod conditions;
mod cursor;
mod distance;
mod expression;
#[cfg(test)]
mod expression_tests;
mod functions;
#[cfg(test)]
mod functions_tests;
mod hashes;
mod kinds;
mod lexer;
mod meta;
mod names;
mod operator;
mod parser;
mod script;
#[cfg(test)]
mod script_tests;
mod sql;
mod statement;
mod value;

pub(crate) use {
    analysis::{Known, KnownVariables, analyse},
    chance::Chance,
    kinds::ValueKind,
    names::{Names, Variables, is_name},
    operator::as_expected,
    script::{Command, Script, Step},
    sql::plain_statements,
    statement::{Counting, Kind, Statement},
    value::{Value, Wrong},
};
