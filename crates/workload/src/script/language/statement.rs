//! A statement of SQL: its text with places for variables.

use serde::{Deserialize, Serialize};

use super::names::{Names, Variables};
use super::value::{Value, Wrong};

/// What is sent to a server as one: a statement, or several that `\;` puts together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Statement {
    pub(crate) pieces: Vec<Piece>,
    /// Where its result goes, if anywhere.
    pub(crate) then: Option<Into>,
    /// How many statements it is.
    pub(super) count: usize,
}

/// A part of a statement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Piece {
    Text(String),
    /// The value of a variable.
    Variable(usize),
    /// A colon and a name within quotes, which are what they are, unless a text is filled in in which the variable has a value: pgbench looks
    /// at no quotes there.
    Quoted {
        variable: usize,
        name: String,
    },
}

/// Where a result goes: into variables that are called as its columns are, after a prefix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Into {
    pub(crate) kind: Kind,
    pub(crate) prefix: String,
}

/// Which result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Kind {
    /// The one row of the last statement.
    Gset,
    /// The last row of each statement that has any.
    Aset,
}

impl Kind {
    /// The meta-command that says so.
    #[must_use]
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Gset => "gset",
            Self::Aset => "aset",
        }
    }
}

/// What is a parameter of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counting {
    /// Each variable, however often it stands there.
    Variables,
    /// Each place where a variable stands. pgbench counts so: each place has a type of its own.
    Places,
}

impl Statement {
    /// Its text with the values of the variables in it.
    pub(crate) fn substituted(&self, variables: &Variables) -> Result<String, Wrong> {
        let mut text = String::with_capacity(self.pieces.len() * 32);
        for piece in &self.pieces {
            match piece {
                Piece::Text(piece) => text.push_str(piece),
                Piece::Variable(variable) => add_value(&mut text, variables.get(*variable)?),
                Piece::Quoted { variable, name } => match variables.get(*variable) {
                    Ok(value) => add_value(&mut text, value),
                    Err(_) => add_colon(&mut text, name),
                },
            }
        }
        Ok(text)
    }

    /// Its text with a placeholder for each parameter, which is made of its number from 1.
    #[must_use]
    pub(crate) fn with_placeholders(&self, counting: Counting, placeholder: fn(usize) -> String) -> String {
        let parameters: Vec<usize> = self.parameters(counting).collect();
        let mut places = 0;
        self.joined(|variable| {
            places += 1;
            match counting {
                Counting::Places => placeholder(places),
                Counting::Variables => {
                    let earlier = parameters.iter().position(|parameter| *parameter == variable);
                    placeholder(earlier.map_or(places, |index| index + 1))
                }
            }
        })
    }

    /// The variables that are its parameters, in order.
    pub(crate) fn parameters(&self, counting: Counting) -> impl Iterator<Item = usize> {
        let mut parameters = Vec::with_capacity(self.pieces.len());
        for piece in &self.pieces {
            if let Piece::Variable(variable) = piece
                && (counting == Counting::Places || !parameters.contains(variable))
            {
                parameters.push(*variable);
            }
        }
        parameters.into_iter()
    }

    /// What begins it, in one line, to name it by.
    #[must_use]
    pub(crate) fn first_words(&self, names: &Names) -> String {
        const LETTERS_MAX: usize = 60;
        let text = self.source(names);
        let line = text.split_whitespace().collect::<Vec<&str>>().join(" ");
        match line.char_indices().nth(LETTERS_MAX) {
            None => line,
            Some((end, _)) => format!("{}…", line[..end].trim_end()),
        }
    }

    /// How many statements it is.
    #[must_use]
    pub(crate) fn statements_in_it(&self) -> usize {
        self.count
    }

    /// Its text as the script has it.
    #[must_use]
    pub(crate) fn source(&self, names: &Names) -> String {
        self.joined(|variable| format!(":{}", names.name(variable)))
    }

    /// Its text with something in the place of each variable.
    pub(crate) fn joined(&self, mut of_variable: impl FnMut(usize) -> String) -> String {
        let mut text = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(piece) => text.push_str(piece),
                Piece::Variable(variable) => text.push_str(&of_variable(*variable)),
                Piece::Quoted { name, .. } => add_colon(&mut text, name),
            }
        }
        text
    }

    /// The variables whose names stand behind a colon within its quotes.
    pub(crate) fn quoted(&self) -> impl Iterator<Item = usize> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Quoted { variable, .. } => Some(*variable),
            Piece::Text(_) | Piece::Variable(_) => None,
        })
    }
}

fn add_value(text: &mut String, value: &Value) {
    use std::fmt::Write as _;
    match value {
        Value::Text(value) => text.push_str(value),
        value @ (Value::Null | Value::Boolean(_) | Value::Integer(_) | Value::Double(_)) => {
            // A text takes whatever is written to it.
            let _ = write!(text, "{value}");
        }
    }
}

fn add_colon(text: &mut String, name: &str) {
    text.push(':');
    text.push_str(name);
}
