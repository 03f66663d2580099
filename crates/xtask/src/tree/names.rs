//! Modules are named after what they hold; some names hold anything.

use super::Finding;
use super::source::Source;

const EMPTY_NAMES: [&str; 6] = ["utils", "common", "helpers", "manager", "misc", "imp"];

pub(crate) fn check(sources: &[Source]) -> Vec<Finding> {
    sources.iter().flat_map(|source| by_path(source).chain(by_declaration(source))).collect()
}

/// Names of files and of the directories that they are in.
fn by_path(source: &Source) -> impl Iterator<Item = Finding> {
    let modules = source.path.trim_end_matches(".rs").split('/').skip(3);
    modules.filter(|module| EMPTY_NAMES.contains(module)).map(|module| finding(source, 1, module))
}

/// Modules with their body in the file; those without one are found by their own path.
fn by_declaration(source: &Source) -> impl Iterator<Item = Finding> {
    EMPTY_NAMES.into_iter().flat_map(move |name| {
        let lines: Vec<usize> = source.find(&["mod", name, "{"]).map(|token| token.line).collect();
        lines.into_iter().map(move |line| finding(source, line, name))
    })
}

fn finding(source: &Source, line: usize, module: &str) -> Finding {
    let message = format!("module `{module}` may hold anything: name it after what it holds");
    Finding::new(&source.path, line, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, text: &str) -> Vec<usize> {
        let source = Source::parse(path, text).unwrap();
        check(&[source]).iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn a_file_with_an_empty_name_is_found() {
        assert_eq!(lines("crates/disk/src/utils.rs", ""), [1]);
    }

    #[test]
    fn a_directory_with_an_empty_name_is_found() {
        assert_eq!(lines("crates/disk/src/common/buffer.rs", ""), [1]);
    }

    #[test]
    fn a_module_within_a_file_is_found() {
        assert_eq!(lines("crates/disk/src/lib.rs", "mod buffer {}\nmod helpers {}"), [2]);
    }

    #[test]
    fn longer_names_and_crates_may_contain_these_words() {
        assert_eq!(lines("crates/common/src/import.rs", "fn utils() {} mod common_prefix {}"), [0_usize; 0]);
    }
}
