//! The user's labels of a run: a name to find it again, tags to distinguish runs, and a title and a comment for its reports.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{escaped, holds_password};

/// Longest name, and longest key of a tag, in bytes. With the time before it, it is the name of a directory.
const NAME_BYTES_MAX: usize = 60;
/// Longest value of a tag, in bytes.
const VALUE_BYTES_MAX: usize = 200;
/// Longest title in bytes: a heading of a few lines.
const TITLE_BYTES_MAX: usize = 200;
/// Longest comment in bytes: half a page of text.
const COMMENT_BYTES_MAX: usize = 2_000;

/// Stands for the run that was begun last wherever a run is named.
pub const LATEST: &str = "latest";

/// Name, tags, title and comment of a run, as they are stored and shown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Labels {
    /// Name; none if the user gave none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Values of the tags by their keys.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: BTreeMap<String, String>,
    /// The user's title; none if the user gave none. A study also has its own title.
    #[serde(default, rename = "user_title", skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The user's comment, of one or several lines; none if the user gave none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
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

/// The user's title of a run: one line of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunTitle(String);

/// The user's comment on a run: one or several lines of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunComment(String);

/// Why a text cannot be a name, tag, title or comment.
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
    /// It cannot be a title. The message omits the text, which can be long.
    #[error("the title {0}")]
    Title(String),
    /// It cannot be a comment.
    #[error("the comment {0}")]
    Comment(String),
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
        let mut labels = Self { name: name.map(ToString::to_string), ..Self::default() };
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

    /// The same labels with this title and this comment, if given, instead of the present ones.
    #[must_use]
    pub fn described(self, title: Option<&RunTitle>, comment: Option<&RunComment>) -> Self {
        let title = title.map(ToString::to_string).or(self.title);
        let comment = comment.map(ToString::to_string).or(self.comment);
        Self { title, comment, ..self }
    }

    /// The lines of the comment. Without a comment there are no lines.
    pub fn comment_lines(&self) -> impl Iterator<Item = &str> {
        self.comment.iter().flat_map(|comment| comment.lines())
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

impl FromStr for RunTitle {
    type Err = LabelError;

    fn from_str(text: &str) -> Result<Self, LabelError> {
        let text = text.trim();
        let is_several = text.contains(['\n', '\r']);
        let problem = is_several
            .then(|| "has several lines; use one line, and put the rest into the comment".to_owned())
            .or_else(|| problem_of_text(text, TITLE_BYTES_MAX));
        problem.map_or_else(|| Ok(Self(text.to_owned())), |problem| Err(LabelError::Title(problem)))
    }
}

impl fmt::Display for RunTitle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for RunComment {
    type Err = LabelError;

    fn from_str(text: &str) -> Result<Self, LabelError> {
        let text = text.trim();
        let problem = problem_of_text(text, COMMENT_BYTES_MAX);
        problem.map_or_else(|| Ok(Self(text.to_owned())), |problem| Err(LabelError::Comment(problem)))
    }
}

impl fmt::Display for RunComment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The fault of a text for reports, and the remedy. Line breaks are allowed.
fn problem_of_text(text: &str, bytes_max: usize) -> Option<String> {
    let bytes = text.len();
    match text.chars().find(|&c| c.is_control() && c != '\n') {
        _ if text.is_empty() => Some("is empty; give a text, or omit the option".to_owned()),
        _ if bytes > bytes_max => Some(format!("is {bytes} bytes long; shorten it to {bytes_max} bytes")),
        Some('\r') => Some(
            "has a carriage return (\\r) of a Windows line end; remove it, for example with tr -d '\\r'"
                .to_owned(),
        ),
        Some('\t') => Some("has a tab (\\t); use spaces".to_owned()),
        Some(control) => Some(format!(
            "has the control character {}; remove it",
            escaped(control.encode_utf8(&mut [0; 4]))
        )),
        None if holds_password(text) => {
            Some("has a password in it, and reports show this text; remove the password".to_owned())
        }
        None => None,
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

    #[test]
    fn a_title_is_one_line_and_a_comment_may_be_several() {
        let title: RunTitle = " Old <b>controller</b> & cache ".parse().unwrap();
        let comment: RunComment = "Firmware 3.1.\n\n  Größe: 4 TB\n".parse().unwrap();
        let labels = Labels::default().described(Some(&title), Some(&comment));
        assert_eq!(labels.title.as_deref(), Some("Old <b>controller</b> & cache"));
        assert_eq!(labels.comment_lines().collect::<Vec<_>>(), ["Firmware 3.1.", "", "  Größe: 4 TB"]);
        let other = labels.clone().described(Some(&"New".parse().unwrap()), None);
        assert_eq!((other.title.as_deref(), &other.comment), (Some("New"), &labels.comment));
        assert_eq!(labels.clone().described(None, None), labels);
        assert!(
            "t".repeat(200).parse::<RunTitle>().is_ok() && "c".repeat(2_000).parse::<RunComment>().is_ok()
        );
    }

    #[test]
    fn what_is_no_title_or_comment_is_told_with_the_remedy() {
        let title = |text: &str| text.parse::<RunTitle>().unwrap_err().to_string();
        let comment = |text: &str| text.parse::<RunComment>().unwrap_err().to_string();
        for told in [title("").replace("title", "comment"), comment(" \n ")] {
            assert_eq!(told, "the comment is empty; give a text, or omit the option");
        }
        // The limits are in bytes, not in characters.
        assert_eq!(title(&"ö".repeat(101)), "the title is 202 bytes long; shorten it to 200 bytes");
        assert_eq!(comment(&"c".repeat(2_001)), "the comment is 2001 bytes long; shorten it to 2000 bytes");
        assert!(
            title("a\nb").ends_with("has several lines; use one line, and put the rest into the comment")
        );
        assert!(title("a\u{1b}[2Jb").ends_with("has the control character \\x1b; remove it"));
        assert!(comment("a\u{9b}b").ends_with("has the control character \\u{9b}; remove it"));
        assert!(comment("a\tb").ends_with("has a tab (\\t); use spaces"));
        assert!(comment("a\r\nb").contains("tr -d '\\r'"));
        for told in [title("x postgres://me:secret@h/x"), comment("a\npassword=secret")] {
            assert!(told.ends_with("remove the password") && !told.contains("secret"), "{told}");
        }
    }

    #[test]
    fn labels_of_before_are_read_and_those_without_texts_are_stored_as_before() {
        let before = r#"{"name":"before","tags":{"disk":"nvme"}}"#;
        let labels: Labels = serde_json::from_str(before).unwrap();
        assert_eq!((&labels.title, &labels.comment), (&None, &None));
        assert_eq!(serde_json::to_string(&labels).unwrap(), before);
        let labels = labels.described(Some(&"Old".parse().unwrap()), Some(&"a\nb".parse().unwrap()));
        let stored = serde_json::to_string(&labels).unwrap();
        assert!(stored.ends_with(r#""user_title":"Old","comment":"a\nb"}"#), "{stored}");
        assert_eq!(serde_json::from_str::<Labels>(&stored).unwrap(), labels);
    }
}
