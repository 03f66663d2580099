//! Tests neither wait nor are left out: both hide what they should show.

use super::Finding;
use super::source::{Source, Token};

const IGNORED: [&[&str]; 2] = [&["#", "[", "ignore", "]"], &["#", "[", "ignore", "="]];
const SLEEP: &[&str] = &["thread", ":", ":", "sleep"];

pub(crate) fn check(sources: &[Source]) -> Vec<Finding> {
    sources.iter().flat_map(check_source).collect()
}

fn check_source(source: &Source) -> Vec<Finding> {
    let finding = |token: &Token, message| Finding::new(&source.path, token.line, message);
    let ignored = IGNORED
        .iter()
        .flat_map(|pattern| source.find(pattern))
        .map(|token| finding(token, "ignored test: mend it, or remove it and say why in the commit"));
    let sleeps = source
        .find(SLEEP)
        .filter(|token| token.in_test)
        .map(|token| finding(token, "a test that sleeps is slow or flaky: pass a simulated clock in"));
    ignored.chain(sleeps).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, text: &str) -> Vec<usize> {
        let source = Source::parse(path, text).unwrap();
        check(&[source]).iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn an_ignored_test_is_found_with_and_without_a_reason() {
        let text = "#[test]\n#[ignore]\nfn a() {}\n#[test]\n#[ignore = \"slow\"]\nfn b() {}";
        assert_eq!(lines("crates/disk/src/lib.rs", text), [2, 5]);
    }

    #[test]
    fn a_test_that_sleeps_is_found_by_call_and_by_import() {
        let call = "#[cfg(test)]\nmod tests {\n fn a() { std::thread::sleep(SECOND) }\n}";
        assert_eq!(lines("crates/disk/src/lib.rs", call), [3]);
        assert_eq!(lines("crates/disk/tests/a.rs", "use std::thread::sleep;"), [1]);
    }

    #[test]
    fn code_that_is_no_test_may_sleep() {
        assert_eq!(lines("crates/disk/src/lib.rs", "fn a() { std::thread::sleep(SECOND) }"), [0_usize; 0]);
    }
}
