//! What a user calls a run: a name by which it is found again, and tags by which runs are told apart.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::holds_password;

/// Longest name, and longest key of a tag, in bytes. With the time before it, it is the name of a directory.
const NAME_BYTES_MAX: usize = 60;
/// Longest value of a tag, in bytes.
const VALUE_BYTES_MAX: usize = 200;

/// Stands for the run that was begun last wherever a run is named.
pub const LATEST: &str = "latest";

/// Name and tags of a run, as they are stored and shown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Labels {
    /// Name; none if the user gave none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Values of the tags by their keys.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: BTreeMap<String, String>,
}

/// The name of a run, such as `before-upgrade`: a part of its directory's name, so that it can lead nowhere else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunName(String);

/// A tag of a run, written `KEY=VALUE`, such as `disk=nvme`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tag {
    /// Key, of the characters that a name has.
    pub key: String,
    /// Value: any text of one line.
    pub value: String,
}

/// A text that is no name or tag.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LabelError {
    /// It is no name of a run.
    #[error(
        "`{given}` cannot be a name: {problem}; use letters from a to z, digits, and . _ - in between, {NAME_BYTES_MAX} at most"
    )]
    Name {
        /// What was given.
        given: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// It is no tag.
    #[error("invalid tag `{given}`: {problem}; use KEY=VALUE, such as disk=nvme")]
    Tag {
        /// What was given.
        given: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// Two values of one key.
    #[error("the tag {key} has two values, `{first}` and `{second}`: give one of them")]
    Twice {
        /// Key.
        key: String,
        /// The value given first.
        first: String,
        /// The value given then.
        second: String,
    },
}

impl Labels {
    /// A name and tags together. A tag that is given twice the same is one.
    ///
    /// # Errors
    /// When a key has two values.
    pub fn new(name: Option<&RunName>, tags: &[Tag]) -> Result<Self, LabelError> {
        let mut labels = Self { name: name.map(ToString::to_string), tags: BTreeMap::new() };
        for Tag { key, value } in tags {
            match labels.tags.insert(key.clone(), value.clone()) {
                Some(first) if first != *value => {
                    return Err(LabelError::Twice { key: key.clone(), first, second: value.clone() });
                }
                _ => {}
            }
        }
        Ok(labels)
    }

    /// Whether a run has this tag with this value.
    #[must_use]
    pub fn has(&self, tag: &Tag) -> bool {
        self.tags.get(&tag.key) == Some(&tag.value)
    }

    /// The tags in one line: `disk=nvme, rack=3`; empty without any.
    #[must_use]
    pub fn tags_in_words(&self) -> String {
        self.tags.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(", ")
    }

    /// Name and tags in one line, `before-upgrade (disk=nvme)`; none without either.
    #[must_use]
    pub fn in_words(&self) -> Option<String> {
        let tags = self.tags_in_words();
        match (&self.name, tags.is_empty()) {
            (Some(name), true) => Some(name.clone()),
            (Some(name), false) => Some(format!("{name} ({tags})")),
            (None, false) => Some(tags),
            (None, true) => None,
        }
    }
}

/// What is wrong with a name or the key of a tag.
fn problem(name: &str) -> Option<&'static str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    match name {
        "" => Some("it is empty"),
        _ if name.len() > NAME_BYTES_MAX => Some("it is too long"),
        _ if name.contains(char::is_whitespace) => Some("it has a space"),
        _ if !name.chars().all(is_plain) => Some("it has a character that some file systems do not accept"),
        _ if !name.starts_with(|c: char| c.is_ascii_alphanumeric()) => Some("it starts with . _ or -"),
        _ if name.ends_with(['.', '-']) => Some("it ends with . or -"),
        _ => None,
    }
}

impl FromStr for RunName {
    type Err = LabelError;

    fn from_str(text: &str) -> Result<Self, LabelError> {
        let is_latest = (text == LATEST).then_some("it stands for the run that was begun last");
        match problem(text).or(is_latest) {
            Some(problem) => Err(LabelError::Name { given: text.to_owned(), problem }),
            None => Ok(Self(text.to_owned())),
        }
    }
}

impl fmt::Display for RunName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Tag {
    type Err = LabelError;

    fn from_str(text: &str) -> Result<Self, LabelError> {
        let wrong = |problem| LabelError::Tag { given: crate::without_password(text).into_owned(), problem };
        let (key, value) = text.split_once('=').ok_or_else(|| wrong("it has no ="))?;
        let (key, value) = (key.trim(), value.trim());
        let of_value = match value {
            "" => Some("its value is empty"),
            _ if value.len() > VALUE_BYTES_MAX => Some("its value is longer than 200 bytes"),
            _ if value.contains(char::is_control) => Some("its value is more than a line of text"),
            _ if holds_password(value) => Some("its value has a password in it, and tags are shown"),
            _ => None,
        };
        match problem(key).or(of_value) {
            Some(problem) => Err(wrong(problem)),
            None => Ok(Self { key: key.to_owned(), value: value.to_owned() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_part_of_the_name_of_a_directory() {
        for name in ["before", "v1.2_raid10", "2026-11", "7"] {
            assert_eq!(name.parse::<RunName>().unwrap().to_string(), name);
        }
        let refused = |name: &str| name.parse::<RunName>().unwrap_err().to_string();
        for (name, problem) in [
            ("", "it is empty"),
            ("latest", "it stands for the run that was begun last"),
            ("two words", "it has a space"),
            ("../etc", "it has a character"),
            ("Größe", "it has a character"),
            ("-x", "it starts with"),
            (".hidden", "it starts with"),
            ("x-", "it ends with"),
            (&"x".repeat(61), "it is too long"),
        ] {
            let told = refused(name);
            assert!(told.contains(problem) && told.contains("use letters"), "{name}: {told}");
        }
    }

    #[test]
    fn a_tag_is_a_key_and_a_value() {
        let tag: Tag = "disk = Samsung 990 = PRO".parse().unwrap();
        assert_eq!((tag.key.as_str(), tag.value.as_str()), ("disk", "Samsung 990 = PRO"));
        for (text, problem) in [
            ("disk", "it has no ="),
            ("=nvme", "it is empty"),
            ("disk=", "its value is empty"),
            ("a b=c", "it has a space"),
            ("a=\u{1b}[2J", "more than a line of text"),
            ("db=postgres://me:secret@host/x", "has a password"),
        ] {
            let told = text.parse::<Tag>().unwrap_err().to_string();
            assert!(told.contains(problem) && !told.contains("secret"), "{text}: {told}");
        }
    }

    #[test]
    fn a_key_has_one_value() {
        let tags = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect::<Vec<Tag>>();
        let name = "before".parse().unwrap();
        let labels = Labels::new(Some(&name), &tags(&["rack=3", "disk=nvme", "rack=3"])).unwrap();
        assert_eq!(labels.in_words().unwrap(), "before (disk=nvme, rack=3)");
        assert!(labels.has(&"rack=3".parse().unwrap()) && !labels.has(&"rack=4".parse().unwrap()));
        let twice = Labels::new(None, &tags(&["rack=3", "rack=4"])).unwrap_err();
        assert_eq!(twice.to_string(), "the tag rack has two values, `3` and `4`: give one of them");
        assert_eq!(Labels::default().in_words(), None);
    }
}
