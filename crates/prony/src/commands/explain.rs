//! `prony explain`: the texts of the rules behind warnings and behind the advice of `prony inspect`.

use anyhow::anyhow;
use report::SettingRule;
use report::rules::{self, Rule};

use crate::arguments::Explain;
use crate::exit::{Exit, Failure};
use crate::terminal;

/// Columns of the list.
const LIST_WIDTH: usize = 100;
/// Columns of a text.
const TEXT_WIDTH: usize = 80;
/// The least likeness of a name that is suggested, from 0 to 1.
const LIKENESS_LEAST: f64 = 0.75;

pub(crate) fn run(explain: &Explain) -> Result<Exit, Failure> {
    let text = match &explain.rule {
        None => list(),
        Some(asked) => {
            // As a report prints it, in brackets.
            let id = asked.trim_matches(['[', ']']);
            explained(id).ok_or_else(|| unknown(id))?
        }
    };
    terminal::print(&record::Lines::of(&text))?;
    Ok(Exit::Pass)
}

/// The text of a rule, or of the rules of settings with this name, which several products may have.
fn explained(id: &str) -> Option<String> {
    if let Some(rule) = rules::of(id) {
        return Some(text(rule));
    }
    let of_settings: Vec<String> =
        report::setting_rules().iter().filter(|rule| rule.name == id).map(setting_text).collect();
    (!of_settings.is_empty()).then(|| of_settings.join("\n"))
}

fn unknown(id: &str) -> Failure {
    let settings = report::setting_rules();
    let ids = rules::all().iter().map(|rule| rule.id.as_str()).chain(settings.iter().map(|rule| rule.name));
    let likely = ids.map(|known| (strsim::jaro_winkler(known, id), known)).max_by(|a, b| a.0.total_cmp(&b.0));
    let likely = likely.filter(|(likeness, _)| *likeness >= LIKENESS_LEAST);
    let hint = likely.map(|(_, known)| format!(" Did you mean {known}?")).unwrap_or_default();
    Failure::usage(anyhow!("unknown rule `{id}`.{hint} To list all rules: prony explain"))
}

/// A line for each rule.
fn list() -> String {
    let settings = report::setting_rules();
    let of_figures = rules::all().iter().map(|rule| (rule.id.as_str(), rule.means.clone()));
    let of_settings = settings.iter().map(|rule| (rule.name, format!("{}: {}.", rule.subject, rule.why)));
    let widest =
        of_figures.clone().map(|(id, _)| id.len()).chain(settings.iter().map(|rule| rule.name.len()));
    let widest = widest.max().unwrap_or(0);
    let line = |(id, means): (&str, String)| {
        let lines = report::wrapped(&means, LIST_WIDTH.saturating_sub(widest + 2));
        let first = |index: usize| if index == 0 { id } else { "" };
        let lines =
            lines.iter().enumerate().map(|(index, line)| format!("{:<widest$}  {line}\n", first(index)));
        lines.collect::<String>()
    };
    let figures: String = of_figures.map(line).collect();
    let settings: String = of_settings.map(line).collect();
    format!("Warnings and notes of reports\n\n{figures}\nAdvice of prony inspect\n\n{settings}")
}

fn setting_text(rule: &SettingRule) -> String {
    let paragraph = |text: &str| report::wrapped(text, TEXT_WIDTH).join("\n");
    let why = paragraph(&format!("{}.", rule.why));
    let source = paragraph(&format!("Source: {}.", rule.source));
    format!("{} [{}]\n\n{why}\n\n{source}\n", rule.subject, rule.name)
}

/// Everything on one rule.
fn text(rule: &Rule) -> String {
    let parts =
        [("Computed", Some(&rule.computed)), ("Source", rule.source.as_ref()), ("Do", rule.action.as_ref())];
    let paragraph = |text: &str| report::wrapped(text, TEXT_WIDTH).join("\n");
    let mut whole = format!("{} [{}]\n\n{}\n", rule.name, rule.id, paragraph(&rule.means));
    for (label, part) in parts {
        if let Some(part) = part {
            whole += &format!("\n{}\n", paragraph(&format!("{label}: {part}")));
        }
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_explained_with_name_limit_and_action() {
        let text = text(rules::of("noisy").unwrap());
        assert!(text.starts_with("Noisy [noisy]\n\n"), "{text}");
        assert!(text.contains("\nComputed: ") && text.contains("10%") && text.contains("\nDo: "), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= TEXT_WIDTH), "{text}");
    }

    #[test]
    fn the_list_has_every_rule() {
        let list = list();
        let has = |id: &str| list.lines().any(|line| line.split(' ').next() == Some(id));
        assert!(rules::all().iter().all(|rule| has(&rule.id)), "{list}");
        assert!(report::setting_rules().iter().all(|rule| has(rule.name)), "{list}");
    }

    #[test]
    fn a_rule_of_several_products_is_explained_for_each() {
        let text = explained("connections-memory").unwrap();
        assert!(text.starts_with("PostgreSQL [connections-memory]\n"), "{text}");
        assert!(text.contains("\nMariaDB and MySQL [connections-memory]\n"), "{text}");
        assert_eq!(explained("no-such-rule"), None);
    }

    #[test]
    fn only_a_likely_rule_is_suggested() {
        assert!(unknown("noisi").message().contains("Did you mean noisy?"));
        assert!(!unknown("xyz").message().contains("Did you mean"), "{}", unknown("xyz").message());
    }
}
