//! Each source file opens with what it does.

use super::Finding;
use super::source::Source;

pub(crate) fn check(sources: &[Source]) -> Vec<Finding> {
    sources
        .iter()
        .filter(|source| !opens_with_documentation(&source.text))
        .map(|source| {
            let message = "does not open with `//!`: say in its first line what the module does";
            Finding::new(&source.path, 1, message)
        })
        .collect()
}

fn opens_with_documentation(text: &str) -> bool {
    text.lines().next().and_then(|line| line.strip_prefix("//!")).is_some_and(|said| !said.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(text: &str) -> usize {
        check(&[Source::parse("crates/disk/src/lib.rs", text).unwrap()]).len()
    }

    #[test]
    fn a_sentence_in_the_first_line_is_enough() {
        assert_eq!(findings("//! Patterns of offsets.\n\nfn a() {}\n"), 0);
    }

    #[test]
    fn a_file_without_documentation_is_found() {
        assert_eq!(findings("fn a() {}\n"), 1);
        assert_eq!(findings("use std::fs;\n// Patterns of offsets.\n"), 1);
    }

    #[test]
    fn an_empty_line_of_documentation_says_nothing() {
        assert_eq!(findings("//!\n//! Patterns of offsets.\n"), 1);
    }
}
