//! Modules are named after what they hold, some names hold anything; and a module with a folder stands in it.

use std::collections::BTreeSet;

use super::Finding;
use super::source::Source;

const EMPTY_NAMES: [&str; 6] = ["utils", "common", "helpers", "manager", "misc", "imp"];

pub(crate) fn check(sources: &[Source]) -> Vec<Finding> {
    let paths: BTreeSet<&str> = sources.iter().map(|source| source.path.as_str()).collect();
    let beside = sources.iter().filter_map(|source| beside_its_folder(source, &paths));
    sources.iter().flat_map(|source| by_path(source).chain(by_declaration(source))).chain(beside).collect()
}

/// A module's file that stands beside the folder of its parts: two styles make one look in two places.
fn beside_its_folder(source: &Source, paths: &BTreeSet<&str>) -> Option<Finding> {
    let folder = format!("{}/", source.path.strip_suffix(".rs")?);
    let next = paths.range(folder.as_str()..).next()?;
    let message = format!("stands beside its folder: move it to `{folder}mod.rs`");
    next.starts_with(&folder).then(|| Finding::new(&source.path, 0, message))
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
    fn a_module_stands_in_its_folder() {
        let found = |paths: &[&str]| {
            let sources: Vec<Source> = paths.iter().map(|path| Source::parse(path, "").unwrap()).collect();
            check(&sources).iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        let beside = found(&["crates/disk/src/engine.rs", "crates/disk/src/engine/null.rs"]);
        assert!(beside.len() == 1 && beside[0].contains("crates/disk/src/engine/mod.rs"), "{beside:?}");
        assert_eq!(found(&["crates/disk/src/engine/mod.rs", "crates/disk/src/engine/null.rs"]), [""; 0]);
        assert_eq!(found(&["crates/disk/src/engine.rs", "crates/disk/src/engine_tests.rs"]), [""; 0]);
    }

    #[test]
    fn longer_names_and_crates_may_contain_these_words() {
        assert_eq!(lines("crates/common/src/import.rs", "fn utils() {} mod common_prefix {}"), [0_usize; 0]);
    }
}
