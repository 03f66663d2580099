//! A workload is named in its own files, and elsewhere in fewer and fewer lines.
//!
//! Shared code that names one workload has to be found and changed for the next one. The list says how many lines of which
//! shared files do; it only shrinks. Test code may name what it likes.

use std::collections::{BTreeMap, BTreeSet};

use super::source::{Source, Token};
use super::{Finding, WORKLOAD_NAMES};

/// Where workloads are listed: the enum `Workload`.
const LISTED_IN: &str = "crates/record/src/workload.rs";

/// Names that are words of the code besides: every session runs scripts, and what is listed is registered. They name a workload in a path alone.
const ORDINARY: [&str; 2] = ["script", "register"];

/// Names that are words of everything besides: every workload of databases has tables, in modules, types and texts that are called so. They
/// name a workload as a variant, and as the begin of a parameter's key.
const EVERYDAY: [&str; 1] = ["tables"];

/// A workload as its folders are called and as its types are.
struct Workload {
    name: String,
    of_type: String,
}

/// `listed` is the text of the list: a number of lines and a path a line, `#` before remarks.
pub(crate) fn check(sources: &[Source], listed: &str) -> Vec<Finding> {
    let lines = listed.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let (mut allowed, mut findings) = (BTreeMap::new(), Vec::new());
    let workloads = workloads(sources);
    if workloads.is_empty() {
        findings.push(Finding::new(
            LISTED_IN,
            0,
            "has no enum `Workload`: say in this check where workloads are listed",
        ));
    }
    for line in lines {
        match line.split_once(' ').and_then(|(number, path)| Some((number.parse::<usize>().ok()?, path))) {
            Some((number, path)) => drop(allowed.insert(path, number)),
            None => {
                findings.push(Finding::new(WORKLOAD_NAMES, 0, format!("`{line}` is no number and a path")))
            }
        }
    }
    for source in sources {
        let found = lines_with_names(source, &workloads);
        let allowed = allowed.remove(source.path.as_str()).unwrap_or(0);
        findings.extend(judge(source, &found, allowed));
    }
    let gone = |path: &str| Finding::new(WORKLOAD_NAMES, 0, format!("`{path}` is gone: remove its line"));
    findings.extend(allowed.into_keys().map(gone));
    findings
}

fn workloads(sources: &[Source]) -> Vec<Workload> {
    let items =
        sources.iter().filter(|source| source.path == LISTED_IN).flat_map(|source| &source.syntax.items);
    let listed = items.filter_map(|item| match item {
        syn::Item::Enum(listed) if listed.ident == "Workload" => Some(&listed.variants),
        _ => None,
    });
    let named = |of_type: String| Workload { name: of_type.to_lowercase(), of_type };
    listed.flatten().map(|variant| named(variant.ident.to_string())).collect()
}

fn judge(source: &Source, found: &BTreeSet<usize>, allowed: usize) -> Option<Finding> {
    let number = found.len();
    let message = if number > allowed {
        format!(
            "{number} lines name a workload, and {allowed} are listed in {WORKLOAD_NAMES}, which only shrinks: ask the \
             workload, or let its own file say it"
        )
    } else if number < allowed {
        format!("{number} lines name a workload and {allowed} are listed: write {number} in {WORKLOAD_NAMES}")
    } else {
        return None;
    };
    Some(Finding::new(&source.path, found.last().copied().unwrap_or(0), message))
}

/// Lines of a file that name a workload which the file is not of.
fn lines_with_names(source: &Source, workloads: &[Workload]) -> BTreeSet<usize> {
    let others: Vec<_> = workloads.iter().filter(|workload| !is_of(&source.path, &workload.name)).collect();
    let tokens = &source.tokens;
    let names = |index: usize| {
        let around = (index.checked_sub(1).map(|before| &tokens[before]), tokens.get(index + 1));
        others.iter().any(|workload| names(&tokens[index], around, workload))
    };
    let named = (0..tokens.len()).filter(|&index| !tokens[index].in_test && names(index));
    named.map(|index| tokens[index].line).collect()
}

/// Whether a file is a workload's own: it, a folder of it, or its crate is called so.
fn is_of(path: &str, workload: &str) -> bool {
    let parts = path.trim_end_matches(".rs").split('/').skip(1);
    parts.flat_map(|part| part.split('_')).any(|word| word == workload)
}

/// Whether a token names a workload: as a type, a variant, a module, a field or a text. A variable of this name does not.
fn names(token: &Token, around: (Option<&Token>, Option<&Token>), workload: &Workload) -> bool {
    let Workload { name, of_type } = workload;
    let is = |token: Option<&Token>, text: &str| token.is_some_and(|token| token.text == text);
    let text = token.text.as_str();
    if EVERYDAY.contains(&name.as_str()) {
        let key = text.trim_matches('"').strip_prefix("workload.");
        return key.is_some_and(|key| key.starts_with(name.as_str()))
            || text == of_type && is(around.0, ":") && !is(around.1, ":");
    }
    if let Some(rest) = text.strip_prefix(of_type.as_str()) {
        return rest.is_empty() || rest.starts_with(|next: char| next.is_uppercase());
    }
    if text.ends_with('"') {
        let spoken = text.trim_matches('"');
        return spoken == name
            || spoken.strip_prefix("workload.").is_some_and(|key| key.starts_with(name.as_str()));
    }
    if ORDINARY.contains(&name.as_str()) {
        return text == name && is(around.0, ":") && is(around.1, ":");
    }
    text == name && (is(around.0, ":") || is(around.0, ".") || is(around.1, ":"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHARED: &str = "crates/study/src/plan.rs";

    fn findings(path: &str, text: &str, listed: &str) -> Vec<String> {
        let list = Source::parse(LISTED_IN, "#[cfg(test)] enum Workload { Disk, Historian, Orders }");
        let sources = [list.unwrap(), Source::parse(path, text).unwrap()];
        check(&sources, listed).iter().map(ToString::to_string).collect()
    }

    #[track_caller]
    fn assert_one(found: &[String], part: &str) {
        assert!(found.len() == 1 && found[0].contains(part), "{part}: {found:?}");
    }

    #[test]
    fn shared_code_that_names_a_workload_is_found() {
        for text in [
            "fn a() { Workload::Orders; }",
            "fn a() { orders::run(); }",
            "fn a() { b(workload::orders); }",
            "fn a() { b.historian.is_some(); }",
            "fn a() { b(\"disk\"); }",
            "fn a() { b(\"workload.orders.run_time\"); }",
            "struct A { setup: HistorianSetup }",
            "struct A { orders: u32 }",
        ] {
            assert_one(&findings(SHARED, text, ""), "1 lines name a workload, and 0 are listed");
        }
    }

    /// Sessions had one long before there was such a workload.
    #[test]
    fn an_ordinary_word_names_a_workload_in_a_path_alone() {
        let found = |text: &str| {
            let list = Source::parse(LISTED_IN, "#[cfg(test)] enum Workload { Script }").unwrap();
            check(&[list, Source::parse(SHARED, text).unwrap()], "").len()
        };
        assert_eq!(found("fn a(script: u8) { b.script(c); }"), 0);
        assert_eq!(found("fn a() { workload::script::run(); }"), 1);
        assert_eq!(found("fn a() { b(\"workload.script.files\"); Workload::Script; }"), 1);
    }

    /// Each workload of databases has tables.
    #[test]
    fn an_everyday_word_names_a_workload_as_a_variant_and_in_keys_alone() {
        let found = |text: &str| {
            let list = Source::parse(LISTED_IN, "#[cfg(test)] enum Workload { Tables }").unwrap();
            check(&[list, Source::parse(SHARED, text).unwrap()], "").len()
        };
        assert_eq!(
            found("use a::tables::{Tables, make}; fn a() { Tables::None; b(\"tables\"); c.tables(); }"),
            0
        );
        assert_eq!(found("fn a() { Work::Tables(b); }"), 1);
        assert_eq!(found("fn a() { b(\"workload.tables.kind\"); }"), 1);
    }

    #[test]
    fn a_workloads_own_files_name_it_and_no_other() {
        for path in [
            "crates/disk/src/job.rs",
            "crates/report/src/disk/table.rs",
            "crates/record/src/disk.rs",
            "crates/prony/src/commands/run_disk.rs",
        ] {
            assert_eq!(findings(path, "fn a() { Setup::Disk; }", ""), [""; 0], "{path}");
            assert_one(&findings(path, "fn a() { Setup::Orders; }", ""), path);
        }
    }

    #[test]
    fn workloads_are_those_that_are_listed() {
        let source =
            Source::parse(LISTED_IN, "enum Workload { Scripts }\nfn a() { Setup::Scripts; b.scripts; }")
                .unwrap();
        assert!(
            check(&[source], "")
                .iter()
                .any(|finding| finding.to_string().contains("2 lines name a workload"))
        );
        assert_one(&check(&[], "").iter().map(ToString::to_string).collect::<Vec<_>>(), "has no enum");
    }

    #[test]
    fn words_that_are_no_names_pass() {
        for text in [
            "fn a() { let orders = 5; b(orders, disk); }",
            "fn a() { b(\"orders per minute\"); }",
            "struct Diskette;",
            "/// Workload::Orders\nfn a() {}",
            "#[cfg(test)]\nmod tests { fn a() { Workload::Orders; } }",
        ] {
            assert_eq!(findings(SHARED, text, ""), [""; 0], "{text}");
        }
    }

    #[test]
    fn what_is_listed_is_tolerated_and_has_to_be_true() {
        let text = "fn a() {\n Work::Disk;\n Work::Orders;\n}";
        assert_eq!(findings(SHARED, text, &format!("# remark\n\n2 {SHARED}\n")), [""; 0]);
        assert_one(
            &findings(SHARED, text, &format!("1 {SHARED}")),
            "2 lines name a workload, and 1 are listed",
        );
        assert_one(&findings(SHARED, text, &format!("3 {SHARED}")), "write 2");
        assert_one(&findings(SHARED, "", "1 crates/study/src/gone.rs"), "is gone");
        assert_one(&findings(SHARED, "", SHARED), "is no number and a path");
    }
}
