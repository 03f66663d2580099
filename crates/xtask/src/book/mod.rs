//! The book: the documents of the tree and pages of reference, as HTML below the target directory.
//!
//! mdBook makes the pages. The program writes the reference: every command and every rule. Every link and every anchor is checked.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::ci::Outcome;
use crate::workspace::{Workspace, line_of, run};

mod links;
mod source;

/// The version of mdBook. It is compiled once, below the target directory.
const VERSION: &str = "0.5.4";
/// Below the target directory.
const TOOL: &str = "mdbook";
const BOOK: &str = "book";
/// Below the directory of the book.
const SOURCE: &str = "source";
const PAGES: &str = "html";
/// Pages of reference that no other one of them links to.
const FIRST_PAGES: [&str; 3] = ["commands", "exit-codes", "warnings"];

/// Builds the book with this program, and checks its links.
pub(crate) fn build(workspace: &Workspace, prony: &Path) -> Result<Outcome> {
    let book = workspace.target_directory().join(BOOK);
    let mdbook = tool(workspace)?;
    if book.exists() {
        fs::remove_dir_all(&book).with_context(|| format!("cannot delete {}", book.display()))?;
    }
    source::write(workspace.root(), &book, &reference(prony)?)?;
    run(Command::new(mdbook).arg("build").arg(&book))?;
    let pages = book.join(PAGES);
    let broken = links::broken(&pages)?;
    ensure!(broken.is_empty(), "{} broken links:\n{}", broken.len(), broken.join("\n"));
    println!("{}", pages.join("index.html").display());
    Ok(Outcome::Passed)
}

/// Pages that the program prints, by their names without `.md`. Each page is reached by links from the first one.
fn reference(prony: &Path) -> Result<BTreeMap<String, String>> {
    let mut pages = BTreeMap::new();
    let mut wanted: Vec<String> = FIRST_PAGES.map(str::to_owned).to_vec();
    while let Some(name) = wanted.pop() {
        if pages.contains_key(&name) {
            continue;
        }
        let words: &[&str] = if name == "commands" { &[] } else { &[&name] };
        let mut command = Command::new(prony);
        let output = command.args(["man", "--markdown"]).args(words).output();
        let output = output.with_context(|| format!("cannot start {}", prony.display()))?;
        let errors = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "`{}` ended with {}: {errors}", line_of(&command), output.status);
        let text = String::from_utf8(output.stdout).context("a page of reference is not UTF-8")?;
        wanted.extend(linked(&text));
        pages.insert(name, text);
    }
    Ok(pages)
}

/// Pages of the reference that a page links to.
fn linked(text: &str) -> impl Iterator<Item = String> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
    targets
        .filter(|target| !target.contains('/'))
        .filter_map(|target| Some(target.strip_suffix(".md")?.to_owned()))
}

/// mdBook of the pinned version. Without optimization it compiles in half the time, and a book takes a second.
fn tool(workspace: &Workspace) -> Result<PathBuf> {
    let root = workspace.target_directory().join(TOOL);
    let program = root.join("bin/mdbook");
    let said = Command::new(&program).arg("--version").output();
    if said.is_ok_and(|said| String::from_utf8_lossy(&said.stdout).trim().ends_with(VERSION)) {
        return Ok(program);
    }
    let mut install = workspace.cargo(&["install", "mdbook", "--locked", "--debug", "--version", VERSION]);
    install.args(["--no-default-features", "--features", "search", "--root"]).arg(&root);
    run(&mut install).context("cannot install mdBook")?;
    Ok(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_pages_of_reference_are_followed() {
        let text = "[a](orders-run.md), [b](disk.md#output), [c](../inspect.md), [d](https://x.org)";
        assert_eq!(linked(text).collect::<Vec<_>>(), ["orders-run", "disk"]);
    }
}
