//! Files of named statements: each follows a line `-- name: NAME`.
//!
//! They are looked up while the program is compiled, so that one that is missing does not compile. What is not in every
//! dialect's file is on the list of what that dialect lacks, which tests hold against the files.

const HEADER: &str = "-- name: ";

/// The statement of this name. To be called in constants only.
pub(crate) const fn named(file: &'static str, name: &str) -> &'static str {
    let mut at = 0;
    while at < file.len() {
        let begin = line_end(file, at);
        if is_header_of(file, at, begin, name) {
            let mut end = begin;
            while end < file.len() && !has_at(file, end, HEADER) {
                end = line_end(file, end);
            }
            return file.split_at(end).0.split_at(begin).1.trim_ascii();
        }
        at = begin;
    }
    panic!("the file has no statement of this name")
}

/// The statement of this name, unless it is one of those that the file lacks.
pub(crate) const fn named_unless(lacks: &[&str], file: &'static str, name: &str) -> Option<&'static str> {
    if has(lacks, name) { None } else { Some(named(file, name)) }
}

/// Whether a name is one of those that a file lacks.
pub(crate) const fn has(lacks: &[&str], name: &str) -> bool {
    let mut index = 0;
    while index < lacks.len() {
        if lacks[index].len() == name.len() && has_at(lacks[index], 0, name) {
            return true;
        }
        index += 1;
    }
    false
}

/// Where the line after this one begins.
const fn line_end(file: &str, mut at: usize) -> usize {
    let bytes = file.as_bytes();
    while at < bytes.len() && bytes[at] != b'\n' {
        at += 1;
    }
    if at < bytes.len() { at + 1 } else { at }
}

const fn is_header_of(file: &str, at: usize, end: usize, name: &str) -> bool {
    let after = at + HEADER.len();
    // The name is followed by the end of its line.
    has_at(file, at, HEADER) && has_at(file, after, name) && after + name.len() + 1 == end
}

const fn has_at(file: &str, at: usize, text: &str) -> bool {
    let (bytes, text) = (file.as_bytes(), text.as_bytes());
    let mut index = 0;
    while index < text.len() {
        if at + index >= bytes.len() || bytes[at + index] != text[index] {
            return false;
        }
        index += 1;
    }
    true
}

/// A dialect of an engine that keeps tables by columns: a plan has one for those workloads alone that say so
/// (`TargetNeeds::Databases::columns`).
pub(crate) const fn by_columns() -> ! {
    panic!("the plan refused an engine that keeps tables by columns")
}

/// Tests that every dialect has every statement that any has, or lacks it by the list, and that `code` uses each.
#[cfg(test)]
pub(crate) fn check_files(
    files: &[(database::Dialect, &'static str)],
    lacks: impl Fn(database::Dialect) -> Vec<&'static str>,
    code: &str,
) {
    use std::collections::BTreeSet;

    let names = |file: &'static str| -> Vec<&str> {
        file.lines().filter_map(|line| line.strip_prefix(HEADER)).collect()
    };
    let all: BTreeSet<&str> = files.iter().flat_map(|(_, file)| names(file)).collect();
    for &(dialect, file) in files {
        let here: BTreeSet<&str> = names(file).into_iter().collect();
        assert_eq!(names(file).len(), here.len(), "{dialect:?} has a name twice");
        let missing: BTreeSet<&str> = all.difference(&here).copied().collect();
        let listed: BTreeSet<&str> = lacks(dialect).into_iter().collect();
        assert_eq!(missing, listed, "what {dialect:?} lacks");
    }
    for name in all {
        assert!(code.contains(&format!("\"{name}\"")), "nothing uses `{name}`");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "-- Two statements.\n\n-- name: first_of\nSELECT 0;\n\n-- name: first\n-- Why.\nSELECT\n  1\n\n-- name: last\nSELECT 2";

    #[test]
    fn a_statement_reaches_to_the_next_name() {
        assert_eq!(named(FILE, "first"), "-- Why.\nSELECT\n  1");
        assert_eq!((named(FILE, "first_of"), named(FILE, "last")), ("SELECT 0;", "SELECT 2"));
    }

    #[test]
    #[should_panic(expected = "no statement of this name")]
    fn a_statement_that_is_missing_is_not_made_up() {
        named(FILE, "irst");
    }
}
