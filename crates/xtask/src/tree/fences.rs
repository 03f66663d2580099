//! What only some crates or files may do: `unsafe` code, printing, ending the process, making, replacing and removing files,
//! dropping databases; and what pure crates may not: asking the machine for anything.
//!
//! The lints of the workspace forbid the same things, and an `allow` lifts them. This check is not lifted.

use super::Finding;
use super::source::{Source, Token};

/// Something that only some crates may do.
struct Fence {
    /// Sequences of tokens, any of which is a breach.
    patterns: &'static [&'static [&'static str]],
    /// Texts that no literal may hold, in capitals.
    texts: &'static [&'static str],
    /// Crates that it holds for; all if none is named.
    within: &'static [&'static str],
    /// Crates that may, by directory.
    crates: &'static [&'static str],
    /// Beginnings of paths that may.
    paths: &'static [&'static str],
    /// Whether test code of every crate may too.
    tests_may: bool,
    message: &'static str,
}

/// Crates that compute from what they are given, and from nothing else.
const PURE: &[&str] = &["stats", "study", "report", "record"];

const FENCES: [Fence; 6] = [
    Fence {
        patterns: &[&["unsafe"], &["unsafe_code"]],
        texts: &[],
        within: &[],
        crates: &[],
        paths: &[
            // Memory that the kernel writes into, and the ring that hands it over.
            "crates/disk/src/buffer.rs",
            "crates/disk/src/engine/uring.rs",
            // An ioctl for which there is no safe function.
            "crates/disk/src/target/loop_status.rs",
            // An instruction of the processor that takes an address.
            "crates/disk/src/prefetch.rs",
            // A system call that has no safe function: which pages of a file are cached.
            "crates/disk/src/residency.rs",
        ],
        tests_may: false,
        message: "only five modules of `disk` may contain unsafe code: put the call behind a safe function there",
    },
    Fence {
        patterns: &[
            &["std", ":", ":", "fs"],
            &["std", ":", ":", "net"],
            &["std", ":", ":", "env"],
            &["std", ":", ":", "process"],
            &["std", ":", ":", "thread"],
            &["stdin", "(", ")"],
            &["Instant"],
            &["SystemTime"],
            &["RandomState"],
            &["rustix"],
        ],
        texts: &[],
        within: PURE,
        crates: &[],
        paths: &[],
        tests_may: true,
        message: "this crate is pure: have files, times, numbers of processors and chance passed in",
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
        texts: &[],
        within: &[],
        crates: &["prony", "xtask"],
        paths: &[],
        tests_may: true,
        message: "only `prony` prints: return the text, or emit an event",
    },
    Fence {
        patterns: &[&["process", ":", ":", "exit"], &["process", ":", ":", "abort"]],
        texts: &[],
        within: &[],
        crates: &["prony", "xtask"],
        paths: &[],
        tests_may: false,
        message: "only `prony` ends the process: return an error",
    },
    Fence {
        patterns: &[
            &["File", ":", ":", "create"],
            &["File", ":", ":", "create_new"],
            &["File", ":", ":", "options"],
            &["OpenOptions"],
            &["DirBuilder"],
            &["fs", ":", ":", "write"],
            &["fs", ":", ":", "copy"],
            &["fs", ":", ":", "rename"],
            &["remove_file"],
            &["remove_dir"],
            &["remove_dir_all"],
            &["create_dir"],
            &["create_dir_all"],
            &["hard_link"],
            &["symlink"],
            &["set_permissions"],
            &["unlink"],
            &["unlinkat"],
            &["renameat"],
            &["renameat_with"],
            &["mkdir"],
            &["mkdirat"],
            &["linkat"],
            &["symlinkat"],
            &["mknodat"],
            &["mkfifoat"],
            &["OFlags", ":", ":", "CREATE"],
            &["OFlags", ":", ":", "TRUNC"],
            &["OFlags", ":", ":", "TMPFILE"],
            &["tempfile"],
        ],
        texts: &[],
        within: &[],
        crates: &["ownership", "xtask"],
        // Groups of the kernel, which are no files of anybody's.
        paths: &["crates/instance/src/limits/"],
        tests_may: true,
        message: "only `ownership` makes, replaces and removes files: use its Directory, Draft, Made or MadeDirectory",
    },
    Fence {
        patterns: &[],
        texts: &["DROP DATABASE", "DROP SCHEMA"],
        within: &[],
        crates: &["xtask"],
        paths: &["crates/database/src/own/"],
        tests_may: true,
        message: "only `database::own` drops databases, by a Permit of `ownership`",
    },
];

pub(crate) fn check(sources: &[Source]) -> Vec<Finding> {
    FENCES.iter().flat_map(|fence| sources.iter().flat_map(|source| breaches(fence, source))).collect()
}

fn breaches(fence: &Fence, source: &Source) -> Vec<Finding> {
    // An example is a program of its own, which a benchmark runs for what it prints.
    let is_example = source.path.split('/').any(|part| part == "examples");
    let may = fence.crates.contains(&source.crate_name())
        || (!fence.within.is_empty() && !fence.within.contains(&source.crate_name()))
        || fence.paths.iter().any(|path| source.path.starts_with(path));
    if may || (fence.tests_may && is_example) {
        return Vec::new();
    }
    let patterns = fence.patterns.iter().flat_map(|pattern| found(source, pattern));
    let says = |token: &&Token| {
        let text = token.text.to_uppercase();
        let words: Vec<&str> = text.split_whitespace().collect();
        fence.texts.iter().any(|forbidden| words.join(" ").contains(forbidden))
    };
    let texts = source.texts().filter(says);
    patterns
        .chain(texts)
        .filter(|token| !(fence.tests_may && token.in_test))
        .map(|token| Finding::new(&source.path, token.line, fence.message))
        .collect()
}

/// Where a pattern stands, also if what it names of a module is imported in a list.
fn found<'a>(source: &'a Source, pattern: &'a [&'a str]) -> Vec<&'a Token> {
    let listed = match pattern {
        [module, ":", ":", name] => source.find_in_lists(module, name),
        _ => Vec::new(),
    };
    source.find(pattern).chain(listed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn breaches_in(crate_name: &str, text: &str) -> usize {
        check(&[Source::parse(&format!("crates/{crate_name}/src/lib.rs"), text).unwrap()]).len()
    }

    fn breaches_at(path: &str, text: &str) -> usize {
        check(&[Source::parse(path, text).unwrap()]).len()
    }

    #[test]
    fn unsafe_code_stays_in_five_modules_of_disk() {
        for text in [
            "fn a() { unsafe { b() } }",
            "unsafe impl Send for A {}",
            "a!(unsafe { b() });",
            "#![allow(unsafe_code)]",
        ] {
            assert_eq!((breaches_in("load", text), breaches_in("disk", text)), (1, 1), "{text}");
            assert_eq!(breaches_at("crates/disk/tests/buffer.rs", text), 1, "{text}");
            for module in ["buffer", "engine/uring", "target/loop_status", "prefetch", "residency"] {
                assert_eq!(breaches_at(&format!("crates/disk/src/{module}.rs"), text), 0, "{text}");
            }
        }
    }

    #[test]
    fn pure_crates_ask_the_machine_for_nothing() {
        for text in [
            "fn a() { std::fs::read(p); }",
            "use std::{fs, path::Path};",
            "fn a() { std::net::TcpStream::connect(p); }",
            "fn a() { std::env::var(p); }",
            "fn a() { std::process::id(); }",
            "fn a() { std::thread::available_parallelism(); }",
            "fn a() { std::io::stdin().lock(); }",
            "fn a() { Instant::now(); }",
            "fn a() { std::time::SystemTime::now(); }",
            "fn a() { RandomState::new(); }",
            "fn a() { rustix::fs::statvfs(p); }",
        ] {
            for pure in PURE {
                assert_eq!((breaches_in(pure, text), breaches_in("runner", text)), (1, 0), "{pure}: {text}");
            }
            assert_eq!(breaches_at("crates/stats/examples/a.rs", text), 0, "{text}");
            assert_eq!(breaches_in("stats", &format!("#[cfg(test)]\nmod tests {{ {text} }}")), 0, "{text}");
        }
        assert_eq!(breaches_in("report", "use std::io::{self, Write}; fn a(path: &std::path::Path) {}"), 0);
    }

    #[test]
    fn only_the_program_prints() {
        for text in [
            "fn a() { print!() }",
            "fn a() { println!() }",
            "fn a() { eprint!() }",
            "fn a() { eprintln!() }",
            "fn a() { std::io::stdout().lock(); }",
            "fn a() { std::io::stderr().lock(); }",
        ] {
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
        for text in ["fn a() { std::process::exit(1) }", "fn a() { std::process::abort() }"] {
            assert_eq!((breaches_in("results", text), breaches_in("prony", text)), (1, 0), "{text}");
        }
    }

    #[test]
    fn tests_may_print_and_children_have_outputs() {
        assert_eq!(breaches_in("load", "#[test] fn a() { println!() }"), 0);
        assert_eq!(breaches_in("load", "fn a(b: Command) { b.stdout(null()); }"), 0);
    }

    #[test]
    fn only_ownership_makes_replaces_and_removes_files() {
        for text in [
            "fn a() { File::create(p); }",
            "fn a() { std::fs::File::create_new(p); }",
            "fn a() { File::options().append(true); }",
            "fn a() { std::fs::OpenOptions::new().create(true).open(p); }",
            "fn a() { fs::DirBuilder::new(); }",
            "fn a() { fs::write(p, b); }",
            "fn a() { std::fs::copy(p, q); }",
            "fn a() { fs::rename(p, q); }",
            "use std::fs::{self, rename};",
            "use std::fs::{File, write};",
            "use std::fs::copy;",
            "fn a() { fs::remove_file(p); }",
            "fn a() { paths.map(fs::remove_dir); }",
            "fn a() { fs::remove_dir_all(p); }",
            "fn a() { fs::create_dir(p); }",
            "fn a() { fs::create_dir_all(p); }",
            "fn a() { fs::hard_link(p, q); }",
            "fn a() { symlink(p, q); }",
            "fn a() { fs::set_permissions(p, q); }",
            "fn a() { rustix::fs::unlink(p); }",
            "fn a() { unlinkat(d, p, f); }",
            "fn a() { rustix::fs::rename(p, q); }",
            "fn a() { renameat(d, p, d, q); }",
            "use rustix::fs::renameat_with;",
            "fn a() { rustix::fs::mkdir(p, m); }",
            "fn a() { mkdirat(d, p, m); }",
            "fn a() { linkat(d, p, d, q, f); }",
            "fn a() { symlinkat(p, d, q); }",
            "fn a() { mknodat(d, p, t, m, n); }",
            "fn a() { mkfifoat(d, p, m); }",
            "const A: OFlags = OFlags::CREATE;",
            "const A: OFlags = OFlags::TRUNC;",
            "const A: OFlags = OFlags::TMPFILE;",
            "fn a() { tempfile::tempdir(); }",
        ] {
            assert_eq!((breaches_in("results", text), breaches_in("ownership", text)), (1, 0), "{text}");
            let of_test = format!("#[cfg(test)]\nmod tests {{ {text} }}");
            assert_eq!(breaches_in("results", &of_test), 0, "{of_test}");
        }
    }

    #[test]
    fn every_pattern_of_a_fence_is_tried() {
        for fence in &FENCES {
            for pattern in fence.patterns {
                let text = pattern.concat();
                let own = include_str!("fences.rs");
                let tests = own.split_once("mod tests {").map(|(_, tests)| tests).unwrap_or_default();
                assert!(tests.contains(&text), "no test has `{text}`");
            }
        }
    }

    #[test]
    fn files_may_be_read_and_looked_at_everywhere() {
        for text in [
            "fn a() { File::open(p); fs::read(p); fs::read_to_string(p); p.symlink_metadata(); p.is_symlink(); }",
            "use std::fs::{self, File};",
            "#[serde(rename = \"a\")] struct A;",
            "fn a() { out.write(b); directory.create_new(n); directory.rename(a, b); }",
            "/// fs::remove_file and DROP DATABASE are spoken of here\nfn a() {}",
        ] {
            assert_eq!(breaches_in("results", text), 0, "{text}");
        }
    }

    #[test]
    fn only_the_owner_of_databases_drops_them() {
        for text in [
            "fn a() { b(\"DROP DATABASE x\") }",
            "fn a() { format!(\"drop  database {}\", x) }",
            "fn a() { b(r#\"DROP SCHEMA \"x\"\"#) }",
        ] {
            assert_eq!(breaches_at("crates/workload/src/a.rs", text), 1, "{text}");
            assert_eq!(breaches_at("crates/database/src/session.rs", text), 1, "{text}");
            assert_eq!(breaches_at("crates/database/src/own/server.rs", text), 0, "{text}");
            assert_eq!(breaches_at("crates/database/tests/own.rs", text), 0, "{text}");
        }
    }
}
