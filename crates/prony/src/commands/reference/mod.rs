//! Reference pages in Markdown: commands, exit codes, and rules of warnings.
//!
//! The pages use the same definitions as `--help` and `prony explain`.

mod command;
mod rules;

use anyhow::anyhow;

use crate::arguments;
use crate::exit::{Exit, Failure};
use crate::terminal;

/// A page of the reference. Links between pages use the name with `.md`.
struct Page {
    name: String,
    text: String,
}

/// Name of the default page: the list of all commands.
const INDEX: &str = "commands";
/// Name of the page of all rules.
const WARNINGS: &str = "warnings";

/// Prints the page of a command, given as words, or the page `warnings` or `exit-codes`.
pub(crate) fn print(words: &[String]) -> Result<Exit, Failure> {
    let asked = if words.is_empty() { INDEX.to_owned() } else { words.join("-").replace(' ', "-") };
    let pages = pages();
    let Some(page) = pages.iter().find(|page| page.name == asked) else {
        let names: Vec<&str> = pages.iter().map(|page| page.name.as_str()).collect();
        return Err(Failure::usage(anyhow!("unknown page `{asked}`. Pages: {}", names.join(", "))));
    };
    terminal::print_file(page.text.as_bytes())?;
    Ok(Exit::Pass)
}

fn pages() -> Vec<Page> {
    let mut program = arguments::command();
    program.build();
    let mut pages = command::pages(&program);
    pages.push(Page { name: WARNINGS.to_owned(), text: rules::page() });
    pages
}

/// Escapes a text for Markdown. It is then shown unchanged. Code between backticks stays code.
fn escaped(text: &str) -> String {
    let mut is_code = false;
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        is_code ^= c == '`';
        if !is_code && matches!(c, '\\' | '<' | '>' | '*' | '_' | '[' | ']' | '#' | '|' | '~') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_command_and_every_rule_has_its_place() {
        let pages = pages();
        let names: BTreeSet<&str> = pages.iter().map(|page| page.name.as_str()).collect();
        assert_eq!(names.len(), pages.len());
        for command in arguments::command().get_subcommands() {
            assert!(names.contains(command.get_name()), "{names:?}");
        }
        let warnings = pages.iter().find(|page| page.name == WARNINGS).unwrap();
        for rule in report::rules::all() {
            assert!(warnings.text.contains(&format!("\n## {} {{#{}}}\n", rule.name, rule.id)), "{}", rule.id);
        }
    }

    #[test]
    fn links_between_pages_lead_to_pages() {
        let pages = pages();
        let names: BTreeSet<&str> = pages.iter().map(|page| page.name.as_str()).collect();
        let links = pages.iter().flat_map(|page| page.text.split("](").skip(1));
        let targets: Vec<&str> = links.filter_map(|link| link.split([')', '#']).next()).collect();
        assert!(targets.len() >= 30, "{targets:?}");
        let outside = |target: &str| target.starts_with("../") || target.is_empty();
        let broken: Vec<&&str> = targets
            .iter()
            .filter(|target| !outside(target) && !names.contains(target.trim_end_matches(".md")))
            .collect();
        assert!(broken.is_empty(), "{broken:?}");
    }

    #[test]
    fn signs_of_markdown_are_shown_and_code_stays_code() {
        assert_eq!(escaped("a <b> `c_<d>` e_f"), "a \\<b\\> `c_<d>` e\\_f");
    }

    #[test]
    fn a_page_that_there_is_not_is_refused_with_those_that_there_are() {
        let refused = print(&["nothing".to_owned()]).unwrap_err();
        assert!(refused.message().contains("orders-run") && refused.message().contains("warnings"));
    }
}
