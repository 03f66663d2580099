//! Licences of everything that is built, against the list in `deny.toml`.
//!
//! cargo-deny judges the same list, and bans and sources besides, but is not installed everywhere; a licence that nobody
//! allowed must not come in because of that.

use anyhow::{Context, Result, ensure};
use cargo_metadata::{CargoOpt, MetadataCommand};
use spdx::{Expression, ParseMode};
use toml::{Table, Value};

use super::Outcome;
use crate::workspace::Workspace;

const RULES: &str = "deny.toml";

/// Looks at all packages for all targets that `deny.toml` names.
pub(super) fn check(workspace: &Workspace) -> Result<Outcome> {
    let text = std::fs::read_to_string(workspace.root().join(RULES))
        .with_context(|| format!("cannot read {RULES}"))?;
    let rules = Rules::of(&text)?;
    let packages = packages(workspace, &rules.targets)?;
    let refused: Vec<String> = packages.iter().filter_map(|package| rules.refusal(package)).collect();
    refused.iter().for_each(|refusal| println!("{refusal}"));
    ensure!(refused.is_empty(), "{} of {} packages", refused.len(), packages.len());
    println!("licences of {} packages are on the list", packages.len());
    Ok(Outcome::Passed)
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Package {
    name: String,
    version: String,
    /// An SPDX expression.
    licence: Option<String>,
}

/// What is built for any of the targets, each version once.
fn packages(workspace: &Workspace, targets: &[String]) -> Result<Vec<Package>> {
    let mut packages = Vec::new();
    for target in targets {
        let metadata = MetadataCommand::new()
            .manifest_path(workspace.root().join("Cargo.toml"))
            .features(CargoOpt::AllFeatures)
            .other_options(["--filter-platform".to_owned(), target.clone()])
            .exec()
            .with_context(|| format!("cannot read what is built for {target}"))?;
        packages.extend(metadata.packages.into_iter().map(|package| Package {
            name: package.name.to_string(),
            version: package.version.to_string(),
            licence: package.license,
        }));
    }
    packages.sort();
    packages.dedup();
    Ok(packages)
}

/// The part of `deny.toml` that is about licences.
#[derive(Debug)]
struct Rules {
    targets: Vec<String>,
    allowed: Vec<String>,
    /// Crates with what is allowed for them alone.
    exceptions: Vec<(String, Vec<String>)>,
}

impl Rules {
    fn of(text: &str) -> Result<Self> {
        let table: Table = text.parse().with_context(|| format!("{RULES} is no TOML"))?;
        let texts = |value: Option<&Value>| -> Option<Vec<String>> {
            value?.as_array()?.iter().map(|text| text.as_str().map(str::to_owned)).collect()
        };
        let at = |section: &str, key: &str| table.get(section).and_then(|section| section.get(key));
        let exceptions = at("licenses", "exceptions").and_then(Value::as_array).map(Vec::as_slice);
        let exception = |exception: &Value| {
            let name = exception.get("crate")?.as_str()?.to_owned();
            Some((name, texts(exception.get("allow"))?))
        };
        let exceptions: Option<Vec<_>> = exceptions.unwrap_or_default().iter().map(exception).collect();
        Ok(Self {
            targets: texts(at("graph", "targets"))
                .with_context(|| format!("{RULES} names no targets of a graph"))?,
            allowed: texts(at("licenses", "allow"))
                .with_context(|| format!("{RULES} has no list of allowed licences"))?,
            exceptions: exceptions
                .with_context(|| format!("an exception in {RULES} lacks `crate` or `allow`"))?,
        })
    }

    /// Why a package may not be built, with the remedy.
    fn refusal(&self, package: &Package) -> Option<String> {
        let Package { name, version, licence } = package;
        let remedy = format!("take another crate, or allow it in {RULES}");
        let Some(licence) = licence else {
            return Some(format!("{name} {version} names no licence: {remedy}"));
        };
        // Crates of the early days wrote `MIT/Apache-2.0`.
        let expression = match Expression::parse_mode(licence, ParseMode::LAX) {
            Ok(expression) => expression,
            Err(error) => {
                return Some(format!("{name} {version} has the licence `{licence}`: {}", error.reason));
            }
        };
        let own = self.exceptions.iter().filter(|(of, _)| of == name).flat_map(|(_, allowed)| allowed);
        let allowed: Vec<&String> = self.allowed.iter().chain(own).collect();
        let holds = expression.evaluate(|requirement| {
            let wanted = requirement.to_string();
            allowed.iter().any(|allowed| **allowed == wanted)
        });
        (!holds).then(|| {
            format!("{name} {version} has the licence `{licence}`, which is not on the list: {remedy}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "[graph]\ntargets = [\"x86_64-unknown-linux-gnu\"]\n[licenses]\nallow = [\"MIT\", \"Apache-2.0\", \"Zlib\"]\n\
                        exceptions = [{ allow = [\"CC0-1.0\"], crate = \"odd\" }]\n";

    /// What is said of a crate with this licence.
    fn refusal(name: &str, licence: Option<&str>) -> String {
        let package = Package {
            name: name.to_owned(),
            version: "1.2.3".to_owned(),
            licence: licence.map(str::to_owned),
        };
        Rules::of(TEXT).unwrap().refusal(&package).unwrap_or_default()
    }

    #[test]
    fn a_crate_with_a_licence_that_is_not_on_the_list_is_refused() {
        let said = refusal("viral", Some("GPL-3.0-only"));
        assert_eq!(
            said,
            "viral 1.2.3 has the licence `GPL-3.0-only`, which is not on the list: take another crate, or allow it in deny.toml"
        );
        for licence in ["MIT AND MPL-2.0", "(MIT OR Apache-2.0) AND BSD-3-Clause", "CC0-1.0"] {
            assert!(refusal("viral", Some(licence)).contains("not on the list"), "{licence}");
        }
        assert!(refusal("viral", None).contains("names no licence"));
        assert!(refusal("viral", Some("whatever you like")).contains("`whatever you like`: "));
    }

    #[test]
    fn one_side_of_a_choice_is_enough() {
        for licence in
            ["MIT", "MIT OR GPL-2.0-only", "MIT/Apache-2.0", "Zlib AND (MIT OR CC0-1.0)", "Apache-2.0"]
        {
            assert_eq!(refusal("free", Some(licence)), "", "{licence}");
        }
    }

    /// `WITH` an exception is another text than the licence without it.
    #[test]
    fn a_licence_with_an_exception_is_a_licence_of_its_own() {
        assert_ne!(refusal("compiler", Some("Apache-2.0 WITH LLVM-exception")), "");
    }

    #[test]
    fn an_exception_is_for_one_crate() {
        assert_eq!(refusal("odd", Some("CC0-1.0")), "");
        assert_ne!(refusal("even", Some("CC0-1.0")), "");
    }

    #[test]
    fn rules_that_cannot_be_read_are_no_rules_without_an_entry() {
        assert!(Rules::of("[licenses]\nallow = []\n").unwrap_err().to_string().contains("targets"));
        let half = TEXT.replace(", crate = \"odd\"", "");
        assert!(Rules::of(&half).unwrap_err().to_string().contains("lacks `crate`"));
    }
}
