//! The rules of verdicts: a name, and what `prony explain` says of each.
//!
//! The texts are data beside this file, one file for each part of a report. A rule that a verdict uses must be here.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::format;

/// The texts, in the order in which `prony explain` lists them.
const TEXTS: [&str; 4] = [
    include_str!("trials.toml"),
    include_str!("disk.toml"),
    include_str!("databases.toml"),
    include_str!("comparisons.toml"),
];

/// What a rule means, how it is computed, and what a reader can do.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// The word that stays the same between versions: `noisy`.
    pub id: String,
    /// One to three words: `Noisy`.
    pub name: String,
    /// What it means for the figures.
    pub means: String,
    /// How it is computed, with its limit.
    pub computed: String,
    /// The source of the formula or of the limit, if it has one outside of prony.
    pub source: Option<String>,
    /// What to do.
    pub action: Option<String>,
}

/// The rules of one file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    rule: Vec<Rule>,
}

static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    let rules = |text: &&str| toml::from_str::<File>(text).map(|file| file.rule);
    // The files are part of the program, and a test reads them.
    TEXTS.iter().flat_map(rules).flatten().collect()
});

/// All rules, in the order of their texts.
#[must_use]
pub fn all() -> &'static [Rule] {
    &RULES
}

/// The rule of an id.
#[must_use]
pub fn of(id: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.id == id)
}

/// The name of a rule. An id without a text is its own name.
pub(crate) fn name(id: &str) -> String {
    of(id).map_or_else(|| format::capital(&id.replace('_', " ")), |rule| rule.name.clone())
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::path::{Path, PathBuf};

    use super::*;

    #[test]
    fn every_text_can_be_read_and_every_id_is_there_once() {
        for text in TEXTS {
            let file: File = toml::from_str(text).unwrap();
            assert!(!file.rule.is_empty());
        }
        let ids: BTreeSet<&str> = all().iter().map(|rule| rule.id.as_str()).collect();
        assert_eq!(ids.len(), all().len(), "an id is there twice");
    }

    #[test]
    fn names_have_one_to_three_words_and_begin_with_a_capital() {
        for rule in all() {
            let words = rule.name.split(' ').count();
            assert!((1..=4).contains(&words), "{rule:?}");
            assert!(rule.name.starts_with(char::is_uppercase), "{rule:?}");
        }
    }

    /// Production code of this crate, by file.
    fn sources(directory: &Path) -> Vec<(PathBuf, String)> {
        let mut found = Vec::new();
        for entry in std::fs::read_dir(directory).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if path.file_stem().unwrap_or_default().to_string_lossy().ends_with("tests") {
                continue;
            }
            if path.is_dir() {
                found.extend(sources(&path));
            } else if path.extension().is_some_and(|kind| kind == "rs") {
                let source = std::fs::read_to_string(&path).unwrap();
                let source = source.split("#[cfg(test)]").next().unwrap_or_default().to_owned();
                found.push((path, source));
            }
        }
        found
    }

    /// The values of constants such as `const DAMAGED: &str = "damaged"`, by name. Two files can use the same name.
    fn constants(sources: &[(PathBuf, String)]) -> BTreeMap<&str, BTreeSet<&str>> {
        let mut constants: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for rest in sources.iter().flat_map(|(_, source)| source.split("const ").skip(1)) {
            if let Some((name, value)) = rest.split_once(": &str = \"") {
                constants.entry(name).or_default().extend(value.split('"').next());
            }
        }
        constants
    }

    /// Ids directly after a level whose verdicts are printed with their rule. They are literals, or names of constants.
    fn printed_ids<'a>(source: &'a str, constants: &BTreeMap<&str, BTreeSet<&'a str>>) -> BTreeSet<&'a str> {
        let is_id = |text: &&str| text.chars().all(|c| c.is_ascii_lowercase() || c == '_');
        let levels = ["Level::Failure,", "Level::Warning,", "Level::Note,"];
        let behind = levels.into_iter().flat_map(|level| source.split(level).skip(1)).map(str::trim_start);
        let ids = |rest: &'a str| match rest.strip_prefix('"') {
            Some(literal) => literal.split('"').next().into_iter().collect(),
            None => {
                let name = rest.split([',', ')']).next().unwrap_or_default();
                let name = name.rsplit("::").next().unwrap_or_default();
                constants.get(name).cloned().unwrap_or_default()
            }
        };
        behind.flat_map(ids).filter(is_id).collect()
    }

    /// A report once printed `[registers_hold]`, but `prony explain registers_hold` did not know this rule.
    #[test]
    fn every_rule_that_a_report_prints_has_a_text() {
        let sources = sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
        let constants = constants(&sources);
        let printed: Vec<(&Path, &str)> = sources
            .iter()
            .flat_map(|(path, source)| {
                printed_ids(source, &constants).into_iter().map(move |id| (path.as_path(), id))
            })
            .collect();
        let ids: BTreeSet<&str> = printed.iter().map(|(_, id)| *id).collect();
        assert!(ids.len() >= 40 && ids.contains("noisy") && ids.contains("same_rows"), "{ids:?}");
        let unknown: Vec<_> = printed.iter().filter(|(_, id)| of(id).is_none()).collect();
        assert!(unknown.is_empty(), "{unknown:#?}");
    }

    /// The text of a rule states the same limit as the code.
    #[test]
    fn limits_in_texts_are_those_of_the_code() {
        let per_cent = |share: f64| format!("{}%", share * 100.0);
        for (id, limit) in [
            ("background_io", crate::background::SHARE_MAX),
            ("other_load", crate::verdict::generator::OTHERS_SHARE_MAX),
        ] {
            let rule = of(id).unwrap_or_else(|| panic!("{id}"));
            assert!(rule.computed.contains(&per_cent(limit)), "{rule:?}");
        }
    }

    #[test]
    fn a_rule_without_a_text_is_named_by_its_id() {
        assert_eq!(name("no_such_rule"), "No such rule");
    }
}
