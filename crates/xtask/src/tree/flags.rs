//! Only the program spells parameters as flags: libraries name them as `record::Parameter`, because they may have been given in
//! a study file.

use std::collections::BTreeSet;

use super::source::Source;
use super::{FLAGS, Finding};

/// Crates that are programs, or start others'.
const PROGRAMS: [&str; 3] = ["prony", "xtask", "instance"];

/// `tolerated` is the text of the list: a path a line, `#` before remarks.
pub(crate) fn check(sources: &[Source], tolerated: &str) -> Vec<Finding> {
    let tolerated: BTreeSet<&str> =
        tolerated.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    let spelled: Vec<(&Source, usize)> = sources
        .iter()
        .filter(|source| !PROGRAMS.contains(&source.crate_name()))
        .flat_map(|source| lines(source).map(move |line| (source, line)))
        .collect();
    let with_flags: BTreeSet<&str> = spelled.iter().map(|(source, _)| source.path.as_str()).collect();
    let breaches = spelled.iter().filter(|(source, _)| !tolerated.contains(source.path.as_str()));
    let found = breaches.map(|(source, line)| {
        let message = "only `prony` spells flags: name the parameter by its key, as a `record::Parameter`";
        Finding::new(&source.path, *line, message)
    });
    let obsolete = tolerated.iter().filter(|path| !with_flags.contains(**path)).map(|path| {
        Finding::new(FLAGS, 0, format!("`{path}` is gone or spells no flags any more: remove its line"))
    });
    found.chain(obsolete).collect()
}

/// Lines of literals with a flag in them, but for those of tests.
fn lines(source: &Source) -> impl Iterator<Item = usize> {
    source.texts().filter(|token| !token.in_test && has_flag(&token.text)).map(|token| token.line)
}

/// Two dashes that stand by themselves, and a letter.
fn has_flag(text: &str) -> bool {
    text.match_indices("--").any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + 2..].chars().next();
        after.is_some_and(|letter| letter.is_ascii_lowercase())
            && before.is_none_or(|letter| letter != '-' && !letter.is_alphanumeric())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str, tolerated: &str) -> Vec<String> {
        let sources = [Source::parse(path, text).unwrap()];
        check(&sources, tolerated).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_flag_in_a_literal_of_a_library_is_found() {
        let path = "crates/load/src/a.rs";
        for text in ["fn a() { b(\"use --cache direct\") }", "#[error(\"give `--rate`\")] struct A;"] {
            assert_eq!(found(path, text, "").len(), 1, "{text}");
            assert_eq!(found("crates/prony/src/a.rs", text, "").len(), 0, "{text}");
            assert_eq!(found(path, text, path).len(), 0, "{text}");
            assert_eq!(found(path, &format!("#[cfg(test)] mod tests {{ {text} }}"), "").len(), 0, "{text}");
        }
    }

    #[test]
    fn what_is_no_flag_is_none() {
        for text in [
            "/// `--cache` is spoken of here.\nfn a() {}",
            "fn a() { b(\"a--b\", \"-- name: x\", \"var(--{name})\", \"----x\", \"--\") }",
        ] {
            assert_eq!(found("crates/load/src/a.rs", text, "").len(), 0, "{text}");
        }
    }

    #[test]
    fn the_list_only_shrinks() {
        let obsolete =
            found("crates/load/src/a.rs", "fn a() {}", "# why\ncrates/load/src/a.rs\ncrates/gone.rs");
        assert_eq!(obsolete.len(), 2, "{obsolete:?}");
        assert!(obsolete[0].contains("remove its line"), "{obsolete:?}");
    }
}
