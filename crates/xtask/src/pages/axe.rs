//! axe-core on a page: whether a reader without eyes, a mouse or all colours can use it.

use std::fs;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::json;

use super::browser::Browser;
use super::view::View;
use crate::ci::npm::Package;
use crate::workspace::Workspace;

const PACKAGE: Package<'_> = Package { name: "axe-core@4.14.1", file: "axe.min.js" };
/// Below the target directory.
const DIRECTORY: &str = "axe";
const SCRIPT: &str = include_str!("accessibility.js");
/// Faults of these kinds keep somebody from reading a page.
const FAILING: [&str; 2] = ["serious", "critical"];
/// Elements that a fault names.
const SELECTORS_MOST: usize = 3;

/// A fault that axe-core has found.
#[derive(Debug, Deserialize)]
struct Violation {
    rule: String,
    /// None if axe-core does not judge it.
    impact: Option<String>,
    help: String,
    selectors: Vec<String>,
}

/// The script of axe-core; none where npm is not, which fetches it.
pub(super) fn fetch(workspace: &Workspace) -> Result<Option<String>> {
    let Some(path) = PACKAGE.fetch(&workspace.target_directory().join(DIRECTORY))? else { return Ok(None) };
    let script = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(Some(script))
}

/// Serious faults of the page that the browser shows, with the elements that have them.
pub(super) fn faults(browser: &mut Browser, view: &View, axe: &str) -> Result<Vec<String>> {
    browser.evaluate::<()>(&format!("{axe};null"))?;
    let found: Vec<Violation> = browser.run(SCRIPT, &json!(view.is_dark()))?;
    Ok(found.iter().filter_map(Violation::fault).collect())
}

impl Violation {
    fn fault(&self) -> Option<String> {
        let Self { rule, help, selectors, .. } = self;
        let impact = self.impact.as_deref().filter(|impact| FAILING.contains(impact))?;
        let named = selectors[..selectors.len().min(SELECTORS_MOST)].join(", ");
        let more = match selectors.len().saturating_sub(SELECTORS_MOST) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        Some(format!("{rule} ({impact}): {help}: {named}{more}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn violation(impact: Option<&str>, elements: usize) -> Violation {
        Violation {
            rule: "color-contrast".to_owned(),
            impact: impact.map(str::to_owned),
            help: "Elements must have enough contrast".to_owned(),
            selectors: (1..=elements).map(|number| format!("li:nth-child({number})")).collect(),
        }
    }

    #[test]
    fn serious_faults_are_told_with_rule_page_and_elements() {
        assert_eq!(
            violation(Some("serious"), 1).fault().unwrap(),
            "color-contrast (serious): Elements must have enough contrast: li:nth-child(1)"
        );
        let many = violation(Some("critical"), 5).fault().unwrap();
        assert!(many.ends_with("li:nth-child(3) and 2 more"), "{many}");
        for impact in [Some("minor"), Some("moderate"), None] {
            assert_eq!(violation(impact, 1).fault(), None);
        }
    }
}
