//! Variables: their names, which all scripts of a run share, and their values by index.

use std::cell::OnceCell;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::value::{Scalar, Value, Wrong};

/// Names of variables. A script knows a variable by its index in here, so that no text is looked up while it runs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Names(Vec<String>);

impl Names {
    /// The index of a name, which is added if it is new.
    pub(crate) fn index(&mut self, name: &str) -> usize {
        self.find(name).unwrap_or_else(|| {
            self.0.push(name.to_owned());
            self.0.len() - 1
        })
    }

    /// The index of a name, if any script has it. What is stored under another name, nobody reads.
    #[must_use]
    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        self.0.iter().position(|known| known == name)
    }

    /// The name of an index; `?` if there is no such name.
    #[must_use]
    pub(crate) fn name(&self, index: usize) -> &str {
        self.0.get(index).map_or("?", String::as_str)
    }

    /// How many there are.
    #[must_use]
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

/// Values of the variables of one client, by index.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Variables {
    names: Arc<Names>,
    values: Vec<Option<Held>>,
}

/// A value that a variable has.
#[derive(Debug, Clone, PartialEq)]
struct Held {
    value: Value,
    /// How it counts in an expression: a text is read once.
    scalar: OnceCell<Option<Scalar>>,
}

impl Variables {
    /// All without a value. The names must be complete: every script is read.
    #[must_use]
    pub(crate) fn new(names: Arc<Names>) -> Self {
        Self { values: vec![None; names.len()], names }
    }

    /// What the variables are called.
    #[must_use]
    pub(crate) fn names(&self) -> &Names {
        &self.names
    }

    /// Gives a variable a value.
    pub(crate) fn set(&mut self, variable: usize, value: Value) {
        self.values[variable] = Some(Held { value, scalar: OnceCell::new() });
    }

    /// The value of a variable.
    pub(crate) fn get(&self, variable: usize) -> Result<&Value, Wrong> {
        self.held(variable).map(|held| &held.value)
    }

    fn held(&self, variable: usize) -> Result<&Held, Wrong> {
        self.values.get(variable).and_then(Option::as_ref).ok_or_else(|| {
            let name = self.names.name(variable);
            Wrong::new(format!("variable `{name}` has no value: \\set it before, or define it"))
        })
    }

    /// The value of a variable as it counts in an expression.
    pub(super) fn scalar(&self, variable: usize) -> Result<Scalar, Wrong> {
        let Held { value, scalar } = self.held(variable)?;
        scalar.get_or_init(|| value.scalar()).ok_or_else(|| {
            let name = self.names.name(variable);
            Wrong::new(format!(
                "variable `{name}` is `{value}`, but an expression accepts only a bigint, a double, a boolean or NULL"
            ))
        })
    }
}

/// Whether a variable may have this name: letters, those outside ASCII too, digits and underscores, and no digit first.
#[must_use]
pub(crate) fn is_name(text: &str) -> bool {
    !text.is_empty() && name_length(text) == text.len()
}

/// Bytes of the name that a text begins with; none if it begins with no name.
#[must_use]
pub(super) fn name_length(text: &str) -> usize {
    if text.starts_with(|first: char| first.is_ascii_digit()) {
        return 0;
    }
    text.find(|letter: char| !is_of_name(letter)).unwrap_or(text.len())
}

/// Whether a name may have this letter, if not as its first.
#[must_use]
pub(super) fn is_of_name(letter: char) -> bool {
    letter == '_' || letter.is_ascii_alphanumeric() || !letter.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_letters_digits_and_underscores() {
        for name in ["a", "_", "a1", "größe", "A_b_2", "变量"] {
            assert!(is_name(name), "{name}");
        }
        for other in ["", "1", "1a", "a-b", "a b", ":a", "a$"] {
            assert!(!is_name(other), "{other}");
        }
    }

    #[test]
    fn a_name_has_one_index() {
        let mut names = Names::default();
        assert_eq!((names.index("a"), names.index("b"), names.index("a")), (0, 1, 0));
        assert_eq!((names.find("b"), names.find("c"), names.name(1), names.len()), (Some(1), None, "b", 2));
    }

    #[test]
    fn a_variable_without_a_value_is_named() {
        let mut names = Names::default();
        let index = names.index("aid");
        let mut variables = Variables::new(Arc::new(names));
        let wrong = variables.get(index).unwrap_err().to_string();
        assert_eq!(wrong, "variable `aid` has no value: \\set it before, or define it");
        variables.set(index, Value::Text("x y".to_owned()));
        assert!(variables.scalar(index).unwrap_err().to_string().contains("`aid` is `x y`"));
    }
}
