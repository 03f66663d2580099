//! What only some crates may do: `unsafe` code, printing, ending the process.
//!
//! The lints of the workspace forbid the same things, and an `allow` lifts them. This check is not lifted.

use super::Finding;
use super::source::Source;

/// Something that only some crates may do.
struct Fence {
    /// Sequences of tokens, any of which is a breach.
    patterns: &'static [&'static [&'static str]],
    /// Crates that may, by directory.
    crates: &'static [&'static str],
    /// Whether test code of every crate may too.
    tests_may: bool,
    message: &'static str,
}

const FENCES: [Fence; 3] = [
    Fence {
        patterns: &[&["unsafe"], &["unsafe_code"]],
        crates: &["disk"],
        tests_may: false,
        message: "only `disk` may contain unsafe code: put the call behind a safe function there",
    },
    Fence {
        patterns: &[
            &["print", "!"],
            &["println", "!"],
            &["eprint", "!"],
            &["eprintln", "!"],
            &["stdout", "(", ")"],
            &["stderr", "(", ")"],
        ],
        crates: &["prony", "xtask"],
        tests_may: true,
        message: "only `prony` prints: return the text, or emit an event",
    },
    Fence {
        patterns: &[&["process", ":", ":", "exit"], &["process", ":", ":", "abort"]],
        crates: &["prony", "xtask"],
        tests_may: false,
        message: "only `prony` ends the process: return an error",
    },
];

pub(crate) fn check(sources: &[Source]) -> Vec<Finding> {
    FENCES.iter().flat_map(|fence| sources.iter().flat_map(|source| breaches(fence, source))).collect()
}

fn breaches(fence: &Fence, source: &Source) -> Vec<Finding> {
    // An example is a program of its own, which a benchmark runs for what it prints.
    let is_example = source.path.split('/').any(|part| part == "examples");
    if fence.crates.contains(&source.crate_name()) || (fence.tests_may && is_example) {
        return Vec::new();
    }
    fence
        .patterns
        .iter()
        .flat_map(|pattern| source.find(pattern))
        .filter(|token| !(fence.tests_may && token.in_test))
        .map(|token| Finding::new(&source.path, token.line, fence.message))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn breaches_in(crate_name: &str, text: &str) -> usize {
        check(&[Source::parse(&format!("crates/{crate_name}/src/lib.rs"), text).unwrap()]).len()
    }

    #[test]
    fn unsafe_code_stays_in_disk() {
        for text in [
            "fn a() { unsafe { b() } }",
            "unsafe impl Send for A {}",
            "a!(unsafe { b() });",
            "#![allow(unsafe_code)]",
        ] {
            assert_eq!((breaches_in("load", text), breaches_in("disk", text)), (1, 0), "{text}");
        }
    }

    #[test]
    fn only_the_program_prints() {
        for text in ["fn a() { println!() }", "fn a() { std::io::stderr().lock(); }"] {
            assert_eq!((breaches_in("runner", text), breaches_in("prony", text)), (1, 0), "{text}");
        }
    }

    #[test]
    fn an_example_prints_and_does_nothing_else_that_is_fenced() {
        let example = |text| check(&[Source::parse("crates/load/examples/a.rs", text).unwrap()]).len();
        assert_eq!((example("fn main() { println!() }"), example("fn main() { unsafe { a() } }")), (0, 1));
    }

    #[test]
    fn only_the_program_exits() {
        let text = "fn a() { std::process::exit(1) }";
        assert_eq!((breaches_in("results", text), breaches_in("prony", text)), (1, 0));
    }

    #[test]
    fn tests_may_print_and_children_have_outputs() {
        assert_eq!(breaches_in("load", "#[test] fn a() { println!() }"), 0);
        assert_eq!(breaches_in("load", "fn a(b: Command) { b.stdout(null()); }"), 0);
    }
}
