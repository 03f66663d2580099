//! `cargo xtask bench all`: every benchmark of a cost or a rate one after the other, each by the command that runs it alone.

use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use super::AllOptions;
use super::program::output;
use crate::workspace::Workspace;

/// Where the figures of main stand, from the root.
const PAGE: &str = "docs/benchmarks.md";

/// A benchmark of `all.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Benchmark {
    name: String,
    /// Arguments that make it quick.
    quick: String,
    /// An environment variable without which it does not run.
    needs: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Benchmarks {
    benchmark: Vec<Benchmark>,
}

fn benchmarks() -> Result<Vec<Benchmark>> {
    Ok(toml::from_str::<Benchmarks>(include_str!("all.toml")).context("all.toml")?.benchmark)
}

/// Runs all of them, whatever becomes of one, and tells whether none failed.
pub(super) fn run(options: &AllOptions, workspace: &Workspace) -> Result<bool> {
    let mut page = head(options)?;
    let mut failed = Vec::new();
    for Benchmark { name, quick, needs } in benchmarks()? {
        println!("\n== {name}");
        if let Some(needs) = needs.filter(|needs| std::env::var_os(needs).is_none()) {
            println!("not run: {needs} is not set");
            page += &format!("\n## {name}\nNot run.\n");
            continue;
        }
        let begin = Instant::now();
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["bench", &name]);
        if options.quick {
            command.args(quick.split_whitespace());
        }
        let ran = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output();
        let ran = ran.with_context(|| format!("cannot start the benchmark {name}"))?;
        // A path of this machine says nothing to others.
        let root = workspace.root().display().to_string();
        let printed = String::from_utf8_lossy(&ran.stdout).replace(&root, ".");
        println!("{}\n{name}: {:.0} s", printed.trim_end(), begin.elapsed().as_secs_f64());
        if !ran.status.success() {
            failed.push(name);
            continue;
        }
        let lines: Vec<&str> = printed.trim().lines().filter(|line| !line.starts_with("$ ")).collect();
        page += &format!("\n## {name}\n```text\n{}\n```\n", lines.join("\n"));
    }
    if options.write {
        ensure!(failed.is_empty(), "{PAGE} stays as it is: {} failed", failed.join(", "));
        std::fs::write(workspace.root().join(PAGE), page)?;
    }
    if !failed.is_empty() {
        println!("\nFAILED: {}", failed.join(", "));
    }
    Ok(failed.is_empty())
}

/// When, of what and on what the figures are.
fn head(options: &AllOptions) -> Result<String> {
    let word = |program: &str, arguments: &[&str]| -> Result<String> {
        Ok(output(Command::new(program).args(arguments))?.trim().to_owned())
    };
    let date = word("date", &["-u", "+%Y-%m-%d"])?;
    let commit = word("git", &["rev-parse", "--short=8", "HEAD"])?;
    let kernel = word("uname", &["-r"])?;
    let processors = std::thread::available_parallelism()?;
    let model = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = model.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let model = model.map_or("unknown model", |(_, model)| model);
    let command =
        if options.quick { "cargo xtask bench all --quick --write" } else { "cargo xtask bench all --write" };
    Ok(format!(
        "# Benchmarks\n\n\
         `{command}` created this page on {date} at commit {commit}, on a machine with {processors} CPUs (`{model}`) \
         and Linux {kernel}. The programs that a ratio compares run in turn. The brackets after the median ratio contain the \
         smallest and the largest ratio.\n"
    ))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::Arguments;

    #[test]
    fn each_benchmark_takes_its_quick_arguments() {
        for Benchmark { name, quick, .. } in benchmarks().unwrap() {
            let words = ["xtask", "bench", &name].into_iter().chain(quick.split_whitespace());
            assert!(Arguments::try_parse_from(words).is_ok(), "{name} {quick}");
        }
    }
}
