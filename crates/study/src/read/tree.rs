//! A TOML document as a tree that remembers lines: layers can be laid over it, and every mistake in it tells where it is.
//!
//! It exists because a reader of TOML stops at the first mistake. Here the value that is wrong is taken out and the rest is
//! read again, so that all mistakes of a file are told at once.

use toml::Value;
use toml::de::{DeTable, DeValue};

/// A value, with the line that it begins in; none if it came from the command line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) line: Option<usize>,
    pub(crate) kind: Kind,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    Table(Vec<(String, Node)>),
    Array(Vec<Node>),
    Scalar(Value),
}

/// A step from a value into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Key(String),
    Index(usize),
}

/// A text that is no TOML: where, and why.
pub(crate) struct SyntaxError {
    pub(crate) line: usize,
    pub(crate) problem: String,
}

impl Node {
    /// Reads a document, or tells all that is no TOML in it.
    pub(crate) fn parse(text: &str) -> Result<Self, Vec<SyntaxError>> {
        let lines = Lines::of(text);
        let (document, errors) = DeTable::parse_recoverable(text);
        if !errors.is_empty() {
            let error = |error: toml::de::Error| SyntaxError {
                line: lines.at(error.span().map_or(0, |span| span.start)),
                problem: error.message().to_owned(),
            };
            return Err(errors.into_iter().map(error).collect());
        }
        Ok(Self { line: Some(1), kind: table(document.get_ref(), &lines) })
    }

    /// A document with these entries.
    pub(crate) fn table(entries: Vec<(String, Self)>) -> Self {
        Self { line: None, kind: Kind::Table(entries) }
    }

    /// A document with one value, at a dotted key.
    pub(crate) fn at_key(key: &str, value: Value) -> Self {
        let value = Self::of_value(value, None);
        key.rsplit('.').fold(value, |inner, part| Self::table(vec![(part.to_owned(), inner)]))
    }

    fn of_value(value: Value, line: Option<usize>) -> Self {
        let kind = match value {
            Value::Table(table) => Kind::Table(
                table.into_iter().map(|(key, value)| (key, Self::of_value(value, line))).collect(),
            ),
            Value::Array(values) => {
                Kind::Array(values.into_iter().map(|value| Self::of_value(value, line)).collect())
            }
            scalar => Kind::Scalar(scalar),
        };
        Self { line, kind }
    }

    /// Lays another tree over this one: tables key by key, anything else as a whole.
    pub(crate) fn lay(&mut self, upper: Self) {
        match (&mut self.kind, upper) {
            (Kind::Table(lower), Self { kind: Kind::Table(upper), .. }) => {
                for (key, value) in upper {
                    match lower.iter_mut().find(|(own, _)| *own == key) {
                        Some((_, own)) => own.lay(value),
                        None => lower.push((key, value)),
                    }
                }
            }
            (_, upper) => *self = upper,
        }
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        match &self.kind {
            Kind::Table(entries) => entries.iter().find(|(own, _)| own == key).map(|(_, node)| node),
            Kind::Array(_) | Kind::Scalar(_) => None,
        }
    }

    /// The value at a dotted key.
    pub(crate) fn at(&self, key: &str) -> Option<&Self> {
        key.split('.').try_fold(self, Self::get)
    }

    pub(crate) fn get_mut(&mut self, key: &str) -> Option<&mut Self> {
        match &mut self.kind {
            Kind::Table(entries) => entries.iter_mut().find(|(own, _)| own == key).map(|(_, node)| node),
            Kind::Array(_) | Kind::Scalar(_) => None,
        }
    }

    /// Elements of an array; none of anything else.
    pub(crate) fn elements(&self) -> &[Self] {
        if let Kind::Array(elements) = &self.kind { elements } else { &[] }
    }

    /// Elements of an array; none of anything else.
    pub(crate) fn elements_mut(&mut self) -> &mut [Self] {
        if let Kind::Array(elements) = &mut self.kind { elements } else { &mut [] }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        if let Kind::Scalar(Value::String(text)) = &self.kind { Some(text) } else { None }
    }

    /// Takes a key out of a table.
    pub(crate) fn take(&mut self, key: &str) -> Option<Self> {
        let Kind::Table(entries) = &mut self.kind else { return None };
        let position = entries.iter().position(|(own, _)| own == key)?;
        Some(entries.remove(position).1)
    }

    /// The value at the end of a path, or as near to it as there is one.
    pub(crate) fn nearest(&self, path: &[Step]) -> &Self {
        let inner = path.split_first().and_then(|(step, rest)| match (step, &self.kind) {
            (Step::Key(key), _) => self.get(key).map(|node| (node, rest)),
            (Step::Index(index), Kind::Array(elements)) => elements.get(*index).map(|node| (node, rest)),
            (Step::Index(_), _) => None,
        });
        inner.map_or(self, |(node, rest)| node.nearest(rest))
    }

    /// Takes out what a path leads to. Whether there was something.
    pub(crate) fn remove(&mut self, path: &[Step]) -> bool {
        match path {
            [] => false,
            [Step::Key(key)] => self.take(key).is_some(),
            [Step::Index(index)] => match &mut self.kind {
                Kind::Array(elements) if *index < elements.len() => {
                    elements.remove(*index);
                    true
                }
                _ => false,
            },
            [Step::Key(key), rest @ ..] => self.get_mut(key).is_some_and(|node| node.remove(rest)),
            [Step::Index(index), rest @ ..] => {
                self.elements_mut().get_mut(*index).is_some_and(|node| node.remove(rest))
            }
        }
    }

    /// Calls a function with every text in it, for it to be changed.
    pub(crate) fn each_text(&mut self, change: &mut dyn FnMut(&mut String)) {
        match &mut self.kind {
            Kind::Table(entries) => entries.iter_mut().for_each(|(_, node)| node.each_text(change)),
            Kind::Array(elements) => elements.iter_mut().for_each(|node| node.each_text(change)),
            Kind::Scalar(Value::String(text)) => change(text),
            Kind::Scalar(_) => {}
        }
    }
}

fn table(entries: &DeTable<'_>, lines: &Lines) -> Kind {
    let entry = |(key, value): (&toml::Spanned<std::borrow::Cow<'_, str>>, &toml::Spanned<DeValue<'_>>)| {
        // A table under a header begins where its name stands, whatever stands before the header.
        let line = lines.at(key.span().start);
        (key.get_ref().to_string(), Node { line: Some(line), kind: kind(value, lines) })
    };
    Kind::Table(entries.iter().map(entry).collect())
}

fn kind(value: &toml::Spanned<DeValue<'_>>, lines: &Lines) -> Kind {
    match value.get_ref() {
        DeValue::Table(entries) => table(entries, lines),
        DeValue::Array(elements) => Kind::Array(
            elements
                .iter()
                .map(|element| Node {
                    line: Some(lines.at(element.span().start)),
                    kind: kind(element, lines),
                })
                .collect(),
        ),
        DeValue::String(text) => Kind::Scalar(Value::String(text.to_string())),
        DeValue::Boolean(value) => Kind::Scalar(Value::Boolean(*value)),
        DeValue::Datetime(value) => Kind::Scalar(Value::Datetime(*value)),
        DeValue::Integer(number) => {
            let parsed = i64::from_str_radix(number.as_str(), number.radix());
            // Past 64 bits it is kept as its text, which no number is read from.
            Kind::Scalar(parsed.map_or_else(|_| Value::String(number.as_str().to_owned()), Value::Integer))
        }
        DeValue::Float(number) => {
            let parsed = number.as_str().parse();
            Kind::Scalar(parsed.map_or_else(|_| Value::String(number.as_str().to_owned()), Value::Float))
        }
    }
}

/// Where the lines of a text begin.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        Self(std::iter::once(0).chain(text.match_indices('\n').map(|(position, _)| position + 1)).collect())
    }

    /// Number of the line, from 1, that a byte is in.
    fn at(&self, byte: usize) -> usize {
        self.0.partition_point(|&begin| begin <= byte)
    }
}
