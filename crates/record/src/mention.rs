//! Parameters and commands of the program, where a sentence for people names them.
//!
//! Only the program knows how its parameters are given: as options on the command line, or as keys in a study file. It calls [`spell_by`]
//! once, before it writes any sentence. Without this call, a sentence contains the key: `‹workload.disk.cache buffered›`.

use std::borrow::Cow;
use std::fmt;
use std::sync::OnceLock;

/// Writes a mention with the spelling that users type.
type Spell = fn(&Mention<'_>) -> String;

/// The spelling of this process.
static SPELL: OnceLock<Spell> = OnceLock::new();

/// Sets the spelling of all mentions in this process. Only the first call has an effect: a process runs one command.
pub fn spell_by(spell: Spell) {
    SPELL.get_or_init(|| spell);
}

/// A parameter, and perhaps the value that it is to have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter<'a> {
    /// Its key in a study file, such as `workload.disk.cache`. The key of a parameter that only the command line has contains no dot.
    pub key: Cow<'a, str>,
    /// The value. A switch has `true` or `false`.
    pub value: Option<Cow<'a, str>>,
}

/// A command of the program with its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command<'a> {
    /// Its words, such as `orders load`.
    pub name: Cow<'a, str>,
    /// Parameters in order.
    pub parameters: Vec<Parameter<'a>>,
}

/// What a sentence names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mention<'a> {
    /// A parameter.
    Parameter(&'a Parameter<'a>),
    /// A command.
    Command(&'a Command<'a>),
}

impl<'a> Parameter<'a> {
    /// The parameter with this key.
    #[must_use]
    pub fn new(key: impl Into<Cow<'a, str>>) -> Self {
        Self { key: key.into(), value: None }
    }

    /// The parameter with this value.
    #[must_use]
    pub fn of(self, value: impl fmt::Display) -> Self {
        Self { value: Some(value.to_string().into()), ..self }
    }

    /// The last part of its key.
    #[must_use]
    pub fn name(&self) -> &str {
        self.key.rsplit('.').next().unwrap_or_default()
    }

    fn bare(&self) -> String {
        self.value.as_ref().map_or_else(|| self.key.to_string(), |value| format!("{} {value}", self.key))
    }
}

impl<'a> Command<'a> {
    /// The command of these words.
    #[must_use]
    pub fn new(name: impl Into<Cow<'a, str>>) -> Self {
        Self { name: name.into(), parameters: Vec::new() }
    }

    /// The command with one more parameter.
    #[must_use]
    pub fn with(mut self, parameter: Parameter<'a>) -> Self {
        self.parameters.push(parameter);
        self
    }
}

impl Mention<'_> {
    /// The mention with its keys, in marks that show that no spelling was set.
    fn by_keys(&self) -> String {
        match self {
            Self::Parameter(parameter) => format!("‹{}›", parameter.bare()),
            Self::Command(command) => {
                let parameters = command.parameters.iter().map(|parameter| format!(", {}", parameter.bare()));
                format!("‹prony {}{}›", command.name, parameters.collect::<String>())
            }
        }
    }
}

impl fmt::Display for Mention<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&SPELL.get().map_or_else(|| self.by_keys(), |spell| spell(self)))
    }
}

impl fmt::Display for Parameter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Mention::Parameter(self).fmt(f)
    }
}

impl fmt::Display for Command<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Mention::Command(self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No test of this crate may call `spell_by`, because the call would affect all other tests.
    #[test]
    fn a_mention_that_nobody_spells_has_its_keys() {
        let cache = Parameter::new("workload.disk.cache").of("buffered");
        let load = Command::new("orders load")
            .with(Parameter::new("replace").of(true))
            .with(Parameter::new("size").of("10MB"));
        assert_eq!(
            format!("use {cache}, fewer {}, or load it with {load}", Parameter::new("threads")),
            "use ‹workload.disk.cache buffered›, fewer ‹threads›, or load it with ‹prony orders load, replace true, \
             size 10MB›"
        );
    }
}
