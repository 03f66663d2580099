//! The form of an argument: a file, a short option with its joined value, a long option.
//!
//! Only the form: which options exist is known to [`super::command_line`]. Arguments are bytes, as file names are.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// Word processors and browsers put these in the place of a hyphen.
const DASHES: &str = "-–—‑−‐―﹣-";

/// An argument by its form.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Argument<'a> {
    /// `-?`, `--help`, or `/?` as on Windows
    Help,
    /// `--`: only files follow.
    EndOfOptions,
    /// A dash and nothing else.
    LoneDash,
    /// No dash in front, and no slash that stands for one.
    File,
    /// `--name` or `--name=value`
    Long {
        /// Without the dashes.
        name: String,
        /// Behind an equals sign.
        value: Option<OsString>,
    },
    /// `-xvalue`
    Short {
        /// U+FFFD where the bytes are not UTF-8.
        letter: char,
        /// Empty where nothing is joined.
        value: &'a OsStr,
    },
}

/// The form of an argument. Any typographic dash counts as a hyphen, and one em dash in front of a long option's
/// name as two. A slash is a hyphen too, as on Windows, where no other follows: `/kR` is never a file in the root
/// directory, and `/dev/sdb` is no option.
pub(super) fn classify(argument: &OsStr) -> Argument<'_> {
    if let Some(after_slash) = lone_slash(argument) {
        return short(after_slash).unwrap_or(Argument::File);
    }
    let Some((dash, after_dash)) = split_dash(argument.as_bytes()) else { return Argument::File };
    if let Some((_, long)) = split_dash(after_dash) {
        return classify_long(long);
    }
    // Word processors make one em dash of two hyphens.
    if dash == '—' && is_long(&long_name(after_dash)) {
        return classify_long(after_dash);
    }
    short(after_dash).unwrap_or(Argument::LoneDash)
}

/// Whether an argument can be the value of the option before it: anything without a dash.
pub(super) fn is_value(argument: &OsStr) -> bool {
    split_dash(argument.as_bytes()).is_none()
}

/// What stands behind a slash in front that no other slash follows.
pub(super) fn lone_slash(argument: &OsStr) -> Option<&[u8]> {
    argument.as_bytes().strip_prefix(b"/").filter(|rest| !rest.contains(&b'/'))
}

/// A short option without its dash; none of nothing.
pub(super) fn short(bytes: &[u8]) -> Option<Argument<'_>> {
    first_char(bytes).map(|(letter, value)| match letter {
        '?' => Argument::Help,
        letter => Argument::Short { letter, value: OsStr::from_bytes(value) },
    })
}

fn classify_long(bytes: &[u8]) -> Argument<'_> {
    let equals = bytes.iter().position(|&byte| byte == b'=');
    let value = equals.map(|equals| OsString::from_vec(bytes[equals + 1..].to_vec()));
    match long_name(bytes).as_str() {
        "" if value.is_none() => Argument::EndOfOptions,
        "help" => Argument::Help,
        name => Argument::Long { name: name.to_owned(), value },
    }
}

fn split_dash(bytes: &[u8]) -> Option<(char, &[u8])> {
    first_char(bytes).filter(|(letter, _)| DASHES.contains(*letter))
}

/// The first character and the bytes behind it; bytes that are not UTF-8 begin with U+FFFD.
fn first_char(bytes: &[u8]) -> Option<(char, &[u8])> {
    let chunk = bytes.utf8_chunks().next()?;
    let letter = chunk.valid().chars().next();
    let length = letter.map_or(chunk.invalid().len(), char::len_utf8);
    Some((letter.unwrap_or(char::REPLACEMENT_CHARACTER), &bytes[length..]))
}

/// A long option's name up to an equals sign, its dashes made plain.
fn long_name(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let name = text.split('=').next().unwrap_or_default();
    name.chars().map(|letter| if DASHES.contains(letter) { '-' } else { letter }).collect()
}

fn is_long(name: &str) -> bool {
    matches!(name, "help" | "overwrite" | "no-results") || takes_value(name)
}

/// True if the value of a long option can follow as a separate argument.
pub(super) fn takes_value(name: &str) -> bool {
    matches!(name, "destroy" | "results" | "name" | "tag" | "title" | "comment")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(argument: &[u8], wanted: Argument<'_>) {
        assert_eq!(classify(OsStr::from_bytes(argument)), wanted);
    }

    fn long(name: &str, value: Option<&str>) -> Argument<'static> {
        Argument::Long { name: name.to_owned(), value: value.map(OsString::from) }
    }

    #[test]
    fn form_is_told_by_the_dash_alone() {
        check(b"-kW", Argument::Short { letter: 'k', value: OsStr::new("W") });
        check(b"-t", Argument::Short { letter: 't', value: OsStr::new("") });
        check(b"-F\xe9", Argument::Short { letter: 'F', value: OsStr::from_bytes(b"\xe9") });
        check(b"-\xe9x", Argument::Short { letter: '\u{fffd}', value: OsStr::new("x") });
        check(b"--results=a=b", long("results", Some("a=b")));
        check(b"--destroy", long("destroy", None));
        check(b"--", Argument::EndOfOptions);
        check(b"-", Argument::LoneDash);
        check(b"", Argument::File);
        check(b"a-b", Argument::File);
        check(b"\xff", Argument::File);
    }

    /// `sqlio /kR 1g` made a file /kR in the root directory.
    #[test]
    fn a_slash_is_a_dash_where_no_path_follows() {
        check(b"/kW", Argument::Short { letter: 'k', value: OsStr::new("W") });
        check(b"/swap.img", Argument::Short { letter: 's', value: OsStr::new("wap.img") });
        check(b"/dev/sdb", Argument::File);
        check(b"//swap.img", Argument::File);
        check(b"/", Argument::File);
        check(b"/?", Argument::Help);
        check(b"-?", Argument::Help);
        check(b"--help", Argument::Help);
    }

    #[test]
    fn typographic_dashes_are_hyphens() {
        for dash in DASHES.chars() {
            check(format!("{dash}kW").as_bytes(), Argument::Short { letter: 'k', value: OsStr::new("W") });
            check(format!("{dash}{dash}overwrite").as_bytes(), long("overwrite", None));
            check(format!("--no{dash}results").as_bytes(), long("no-results", None));
        }
        check("—overwrite".as_bytes(), long("overwrite", None));
        check("—results=x".as_bytes(), long("results", Some("x")));
        check("—o8".as_bytes(), Argument::Short { letter: 'o', value: OsStr::new("8") });
    }
}
