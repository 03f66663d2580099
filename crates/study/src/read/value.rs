//! Reads typed values out of a tree. A mistake tells the path to the value that is wrong.

use std::fmt;

use serde::de::value::StrDeserializer;
use serde::de::{
    self, DeserializeSeed, Deserializer, Expected, IntoDeserializer, MapAccess, SeqAccess, Unexpected,
    Visitor,
};
use serde::forward_to_deserialize_any;
use toml::Value;

use super::tree::{Kind, Node, Step};

/// What is wrong with a value.
#[derive(Debug)]
pub(crate) struct Wrong {
    /// Where, from the outside in; filled in from the inside out.
    pub(crate) path: Vec<Step>,
    pub(crate) problem: Problem,
}

#[derive(Debug)]
pub(crate) enum Problem {
    /// There is no such key; keys that there are.
    UnknownKey(&'static [&'static str]),
    /// A key is missing.
    Missing(&'static str),
    /// Anything else, as a clause.
    Other(String),
}

impl Wrong {
    fn new(problem: Problem) -> Self {
        Self { path: Vec::new(), problem }
    }

    fn within(mut self, step: Step) -> Self {
        self.path.insert(0, step);
        self
    }
}

impl std::error::Error for Wrong {}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.problem {
            Problem::UnknownKey(_) => f.write_str("unknown key"),
            Problem::Missing(key) => write!(f, "`{key}` is missing"),
            Problem::Other(problem) => f.write_str(problem),
        }
    }
}

impl de::Error for Wrong {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(Problem::Other(message.to_string()))
    }

    fn unknown_field(_: &str, expected: &'static [&'static str]) -> Self {
        Self::new(Problem::UnknownKey(expected))
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new(Problem::Missing(field))
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        Self::custom(format!("invalid value \"{variant}\": must be {}", one_of(expected)))
    }

    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::custom(format!("invalid value {}: must be {}", said(unexpected), wanted(expected)))
    }

    fn invalid_value(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::custom(format!("invalid value {}: must be {}", said(unexpected), wanted(expected)))
    }
}

/// `"blocks", "abba" or "given"`.
fn one_of(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => String::new(),
    }
}

/// What was expected, without the names of types.
fn wanted(expected: &dyn Expected) -> String {
    match expected.to_string().as_str() {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number, 0 or more".to_owned(),
        "i8" | "i16" | "i32" | "i64" => "a whole number".to_owned(),
        "f32" | "f64" => "a number".to_owned(),
        "a string" | "path string" => "a text".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "a sequence" => "an array".to_owned(),
        "a map" => "a table".to_owned(),
        text if text.starts_with("struct ") => "a table".to_owned(),
        text => text.to_owned(),
    }
}

fn said(unexpected: Unexpected<'_>) -> String {
    match unexpected {
        Unexpected::Signed(number) => number.to_string(),
        Unexpected::Float(number) => number.to_string(),
        Unexpected::Bool(value) => value.to_string(),
        Unexpected::Str(text) => format!("\"{text}\""),
        Unexpected::Map => "a table".to_owned(),
        Unexpected::Seq => "an array".to_owned(),
        other => other.to_string(),
    }
}

impl<'de> Deserializer<'de> for &Node {
    type Error = Wrong;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        match &self.kind {
            Kind::Table(entries) => visitor.visit_map(Entries { entries: entries.iter(), value: None }),
            Kind::Array(elements) => visitor.visit_seq(Elements { elements: elements.iter().enumerate() }),
            Kind::Scalar(Value::String(text)) => visitor.visit_str(text),
            Kind::Scalar(Value::Integer(number)) => visitor.visit_i64(*number),
            Kind::Scalar(Value::Float(number)) => visitor.visit_f64(*number),
            Kind::Scalar(Value::Boolean(value)) => visitor.visit_bool(*value),
            Kind::Scalar(other) => visitor.visit_string(other.to_string()),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        match self.text() {
            Some(text) => visitor.visit_enum(text.into_deserializer()),
            None => Err(de::Error::custom(format!("must be {}", one_of(variants)))),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}

struct Entries<'a> {
    entries: std::slice::Iter<'a, (String, Node)>,
    value: Option<&'a (String, Node)>,
}

impl<'de> MapAccess<'de> for Entries<'_> {
    type Error = Wrong;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Wrong> {
        self.value = self.entries.next();
        let Some((key, _)) = self.value else { return Ok(None) };
        let reader: StrDeserializer<'_, Wrong> = key.as_str().into_deserializer();
        seed.deserialize(reader).map(Some).map_err(|wrong| wrong.within(Step::Key(key.clone())))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Wrong> {
        match self.value.take() {
            Some((key, node)) => seed.deserialize(node).map_err(|wrong| wrong.within(Step::Key(key.clone()))),
            None => unreachable!("a value is read after its key"),
        }
    }
}

struct Elements<'a> {
    elements: std::iter::Enumerate<std::slice::Iter<'a, Node>>,
}

impl<'de> SeqAccess<'de> for Elements<'_> {
    type Error = Wrong;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Wrong> {
        let Some((index, node)) = self.elements.next() else { return Ok(None) };
        seed.deserialize(node).map(Some).map_err(|wrong| wrong.within(Step::Index(index)))
    }
}
