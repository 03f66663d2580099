//! Parameters and commands of the program, where a sentence for people names them.
//!
//! Only the program knows whether a parameter was given on the command line or in a study file, and how it is spelled there.
//! An error comes to it as a sentence, through threads, records and pipes; what that names stands in it in one neutral
//! spelling, by its key in a study file: `‹workload.disk.cache buffered›`, with signs in it that no user types. Nothing here knows which parameters there are.

use std::borrow::Cow;
use std::fmt;

/// Signs that no keyboard has stand within the quotation marks, so that no text of a user is taken for a mention.
const BEGIN: &str = "‹\u{2063}";
const END: &str = "\u{2063}›";
/// What a value may not hold, so that it cannot end its mention.
const SIGN: char = '\u{2063}';
/// What a command begins with.
const PROGRAM: &str = "prony ";
/// What stands between a command and its parameters.
const BETWEEN: &str = ", ";

/// A parameter, and perhaps the value that it is to have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter<'a> {
    /// Its key in a study file, such as `workload.disk.cache`. What can be given on the command line only has no dot.
    pub key: Cow<'a, str>,
    /// The value; `true` of what is on or off.
    pub value: Option<Cow<'a, str>>,
}

/// A command of the program, with the parameters that it is to have.
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
    Parameter(Parameter<'a>),
    /// A command.
    Command(Command<'a>),
}

impl<'a> Parameter<'a> {
    /// The parameter with this key.
    #[must_use]
    pub fn new(key: impl Into<Cow<'a, str>>) -> Self {
        Self { key: key.into(), value: None }
    }

    /// The same, which is to have this value.
    #[must_use]
    pub fn of(self, value: impl fmt::Display) -> Self {
        let value = value.to_string().replace(SIGN, "");
        Self { value: Some(value.into()), ..self }
    }

    fn parse(text: &'a str) -> Option<Self> {
        let (key, value) = text.split_once(' ').map_or((text, None), |(key, value)| (key, Some(value)));
        let is_key =
            !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.".contains(&byte));
        is_key.then(|| Self { key: key.into(), value: value.map(Cow::from) })
    }

    /// Its last part, which is its name beside others of the same table.
    #[must_use]
    pub fn name(&self) -> &str {
        self.key.rsplit('.').next().unwrap_or_default()
    }

    fn bare(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.key)?;
        self.value.as_ref().map_or(Ok(()), |value| write!(f, " {value}"))
    }
}

impl<'a> Command<'a> {
    /// The command of these words.
    #[must_use]
    pub fn new(name: impl Into<Cow<'a, str>>) -> Self {
        Self { name: name.into(), parameters: Vec::new() }
    }

    /// The same, with one more parameter.
    #[must_use]
    pub fn with(mut self, parameter: Parameter<'a>) -> Self {
        self.parameters.push(parameter);
        self
    }
}

impl<'a> Mention<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let Some(command) = text.strip_prefix(PROGRAM) else {
            return Parameter::parse(text).map(Self::Parameter);
        };
        let mut parts = command.split(BETWEEN);
        let name = parts.next()?.into();
        let parameters = parts.map(Parameter::parse).collect::<Option<_>>()?;
        Some(Self::Command(Command { name, parameters }))
    }
}

impl fmt::Display for Parameter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{BEGIN}")?;
        self.bare(f)?;
        write!(f, "{END}")
    }
}

impl fmt::Display for Command<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{BEGIN}{PROGRAM}{}", self.name)?;
        for parameter in &self.parameters {
            f.write_str(BETWEEN)?;
            parameter.bare(f)?;
        }
        write!(f, "{END}")
    }
}

/// A text in which everything that it names is spelled by `spell`. What is no mention stays as it is.
pub fn spelled(text: &str, spell: impl Fn(&Mention<'_>) -> String) -> Cow<'_, str> {
    if !text.contains(BEGIN) {
        return text.into();
    }
    let mut spelled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(BEGIN) {
        spelled.push_str(before);
        let mention = after.split_once(END).and_then(|(inside, end)| Some((Mention::parse(inside)?, end)));
        match mention {
            Some((mention, end)) => {
                spelled.push_str(&spell(&mention));
                rest = end;
            }
            None => {
                spelled.push_str(BEGIN);
                rest = after;
            }
        }
    }
    spelled.push_str(rest);
    spelled.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_named_is_found_again_in_a_sentence() {
        let cache = Parameter::new("workload.disk.cache").of("buffered");
        let threads = Parameter::new("threads");
        let load = Command::new("orders load")
            .with(Parameter::new("replace").of(true))
            .with(Parameter::new("size").of("10MB"));
        let text = format!("use {cache}, fewer {threads}, or load it by {load}; ‹so be it›, and ‹\u{2063}");
        assert_eq!(
            text,
            "use ‹\u{2063}workload.disk.cache buffered\u{2063}›, fewer ‹\u{2063}threads\u{2063}›, or load it by \
             ‹\u{2063}prony orders load, replace true, size 10MB\u{2063}›; ‹so be it›, and ‹\u{2063}"
        );
        let found = std::cell::RefCell::new(Vec::new());
        let again = spelled(&text, |mention| {
            found.borrow_mut().push(format!("{mention:?}"));
            "#".to_owned()
        });
        assert_eq!(again, "use #, fewer #, or load it by #; ‹so be it›, and ‹\u{2063}");
        let expected = [Mention::Parameter(cache), Mention::Parameter(threads), Mention::Command(load)];
        assert_eq!(found.into_inner(), expected.map(|mention| format!("{mention:?}")));
    }

    #[test]
    fn what_is_no_mention_stays() {
        for text in ["", "no mention", "‹", "›‹", "‹ ›", "‹ö›", "‹--cache›", "‹prony load, ›", "a ‹ b › c"]
        {
            let signed = text.replace('‹', BEGIN).replace('›', END);
            assert_eq!(spelled(&signed, |mention| panic!("{mention:?} in {text}")), signed);
            assert_eq!(spelled(text, |mention| panic!("{mention:?} in {text}")), text);
        }
    }

    /// A title of `‹threads 2›` was told as `--threads 2`.
    #[test]
    fn no_text_of_a_user_is_a_mention() {
        for text in ["‹threads 2›", "‹target.database›", "‹prony orders load, replace true›"] {
            assert_eq!(spelled(text, |mention| panic!("{mention:?} in {text}")), text);
        }
    }

    #[test]
    fn a_value_cannot_end_a_mention() {
        let text = Parameter::new("target.database").of("a\u{2063}›b‹\u{2063}c").to_string();
        assert_eq!(text, "‹\u{2063}target.database a›b‹c\u{2063}›");
    }
}
