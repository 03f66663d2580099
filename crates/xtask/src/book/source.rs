//! The source of the book: documents at their places in the tree, so that links between them lead on.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

/// Documents in the root of the tree.
const DOCUMENTS: [&str; 6] =
    ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"];
/// Directories with documents.
const DIRECTORIES: [&str; 3] = ["docs", "docs/schema", "studies"];
/// Where pages of reference go, and the line of the contents that they follow.
const REFERENCE: &str = "docs/reference";
const COMMANDS: &str = "(docs/reference/commands.md)";

/// Copies all documents, and writes the pages of reference, which are given by their names.
pub(super) fn write(root: &Path, book: &Path, reference: &BTreeMap<String, String>) -> Result<()> {
    let source = book.join(super::SOURCE);
    let mut pages = BTreeSet::new();
    fs::create_dir_all(&source)?;
    for name in DOCUMENTS {
        copy(&root.join(name), &source.join(name))?;
        pages.insert(name.to_owned());
    }
    for directory in DIRECTORIES {
        copy_all(&root.join(directory), &source, directory, &mut pages)?;
    }
    let mut commands = BTreeSet::new();
    fs::create_dir_all(source.join(REFERENCE))?;
    for (name, text) in reference {
        let place = format!("{REFERENCE}/{name}.md");
        fs::write(source.join(&place), text)?;
        commands.insert(place);
    }
    copy(&root.join("docs/book.toml"), &book.join("book.toml"))?;
    let contents = fs::read_to_string(root.join("docs/SUMMARY.md")).context("cannot read docs/SUMMARY.md")?;
    let contents = with_commands(&at_root(&contents), &commands)?;
    pages.extend(commands);
    let absent = absent(&contents, &pages);
    ensure!(absent.is_empty(), "docs/SUMMARY.md lacks {}", absent.join(", "));
    fs::write(source.join("SUMMARY.md"), contents)?;
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to).with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))?;
    Ok(())
}

/// Copies the files of a directory, without directories in it.
fn copy_all(from: &Path, source: &Path, place: &str, pages: &mut BTreeSet<String>) -> Result<()> {
    fs::create_dir_all(source.join(place))?;
    for entry in fs::read_dir(from).with_context(|| format!("cannot list {}", from.display()))? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            let Ok(name) = entry.file_name().into_string() else {
                bail!("{:?} is not UTF-8", entry.file_name())
            };
            let place = format!("{place}/{name}");
            copy(&entry.path(), &source.join(&place))?;
            pages.insert(place);
        }
    }
    Ok(())
}

/// The contents with paths from the root of the tree, instead of from `docs/`.
fn at_root(contents: &str) -> String {
    let line = |line: &str| match line.split_once("](") {
        Some((title, target)) => match target.strip_prefix("../") {
            Some(target) => format!("{title}]({target}\n"),
            None => format!("{title}](docs/{target}\n"),
        },
        None => format!("{line}\n"),
    };
    contents.lines().map(line).collect()
}

/// The contents with a line for each command, under that of their index.
fn with_commands(contents: &str, pages: &BTreeSet<String>) -> Result<String> {
    ensure!(contents.contains(COMMANDS), "docs/SUMMARY.md has no line for the commands");
    let commands = pages.iter().filter(|page| !contents.contains(&format!("({page})")));
    let mut commands: Vec<&String> = commands.collect();
    // A group before its commands.
    commands.sort_by_key(|page| page.trim_end_matches(".md"));
    let lines: String = commands
        .into_iter()
        .map(|page| {
            let name = page.trim_start_matches(REFERENCE).trim_matches('/').trim_end_matches(".md");
            format!("  - [prony {}]({page})\n", name.replace('-', " "))
        })
        .collect();
    Ok(contents.replacen(&format!("{COMMANDS}\n"), &format!("{COMMANDS}\n{lines}"), 1))
}

/// Pages that the contents lack.
fn absent(contents: &str, pages: &BTreeSet<String>) -> Vec<String> {
    let is_page = |page: &&String| page.ends_with(".md") && !page.ends_with("SUMMARY.md");
    pages.iter().filter(is_page).filter(|page| !contents.contains(&format!("({page})"))).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(pages: &[&str]) -> BTreeSet<String> {
        pages.iter().map(|page| (*page).to_owned()).collect()
    }

    #[test]
    fn contents_name_documents_from_the_root_and_every_command() {
        let contents = at_root(
            "# Start\n- [a](a.md)\n- [b](../b.md)\n- [Commands](reference/commands.md)\n- [c](c.md)\n",
        );
        assert!(contents.contains("[a](docs/a.md)\n- [b](b.md)\n"), "{contents}");
        let pages = set(&["docs/reference/commands.md", "docs/reference/orders-run.md"]);
        let contents = with_commands(&contents, &pages).unwrap();
        let expected =
            "commands.md)\n  - [prony orders run](docs/reference/orders-run.md)\n- [c](docs/c.md)\n";
        assert!(contents.contains(expected), "{contents}");
        assert!(with_commands("# Start\n", &pages).is_err());
    }

    #[test]
    fn a_page_that_the_contents_lack_is_named() {
        let pages = set(&["docs/a.md", "docs/b.md", "docs/SUMMARY.md", "docs/report.png"]);
        assert_eq!(absent("- [a](docs/a.md)\n", &pages), ["docs/b.md"]);
    }
}
