//! Which crate of the workspace may depend on which other.
//!
//! A crate is there to enforce a direction; this table is that direction. Dependencies on the rest of the world
//! are not judged here.

use std::collections::BTreeSet;

use cargo_metadata::{DependencyKind, Metadata};

use super::Finding;

/// Crate, and the crates of the workspace that it may depend on. ARCHITECTURE.md gives the reasons.
const MAY_DEPEND_ON: &[(&str, &[&str])] = &[
    ("stats", &[]),
    ("record", &["stats"]),
    ("ownership", &[]),
    ("load", &["record"]),
    ("disk", &["load", "ownership", "record"]),
    ("instance", &["ownership"]),
    ("database", &["instance", "ownership", "record"]),
    ("workload", &["database", "instance", "load", "ownership", "record"]),
    ("study", &["database", "disk", "workload", "load", "record"]),
    (
        "runner",
        &["study", "disk", "workload", "database", "instance", "load", "ownership", "record", "stats"],
    ),
    ("results", &["ownership", "record"]),
    ("report", &["record", "stats"]),
    (
        "prony",
        &[
            "study",
            "runner",
            "results",
            "report",
            "disk",
            "workload",
            "database",
            "instance",
            "load",
            "ownership",
            "record",
        ],
    ),
    ("xtask", &["instance", "stats"]),
];

/// A crate of the workspace and the others that it depends on.
#[derive(Clone, Debug)]
pub(crate) struct Crate {
    /// Package name without the prefix `prony-`.
    name: String,
    /// Manifest, relative to the root.
    manifest: String,
    /// Crates of the workspace that it depends on, with the kind of the dependency.
    dependencies: BTreeSet<(String, &'static str)>,
}

pub(crate) fn check(crates: &[Crate]) -> Vec<Finding> {
    let names: BTreeSet<&str> = crates.iter().map(|one| one.name.as_str()).collect();
    let gone = MAY_DEPEND_ON.iter().filter(|(name, _)| !names.contains(name)).map(|(name, _)| {
        let message =
            format!("`{name}` is in the table of dependencies but not in the workspace: remove its row");
        Finding::new(file!(), 0, message)
    });
    crates.iter().flat_map(check_crate).chain(gone).collect()
}

fn check_crate(one: &Crate) -> Vec<Finding> {
    let Some((_, allowed)) = MAY_DEPEND_ON.iter().find(|(name, _)| *name == one.name) else {
        let message = format!(
            "crate `{}` is not in the table of dependencies: say in {} what it may depend on",
            one.name,
            file!()
        );
        return vec![Finding::new(&one.manifest, 0, message)];
    };
    let breaches = one.dependencies.iter().filter(|(name, _)| !allowed.contains(&name.as_str()));
    breaches
        .map(|(name, kind)| {
            let message = format!("`{}` may not have `{name}` as a {kind}: see {}", one.name, file!());
            Finding::new(&one.manifest, 0, message)
        })
        .collect()
}

/// The crates as cargo sees them.
pub(crate) fn crates(metadata: &Metadata) -> Vec<Crate> {
    let packages = metadata.workspace_packages();
    let members: BTreeSet<&str> = packages.iter().map(|package| package.name.as_str()).collect();
    packages
        .iter()
        .map(|package| Crate {
            name: short_name(package.name.as_str()),
            manifest: package
                .manifest_path
                .strip_prefix(&metadata.workspace_root)
                .unwrap_or(&package.manifest_path)
                .to_string(),
            dependencies: package
                .dependencies
                .iter()
                .filter(|dependency| members.contains(dependency.name.as_str()))
                .map(|dependency| (short_name(&dependency.name), kind_text(dependency.kind)))
                .collect(),
        })
        .collect()
}

fn short_name(package: &str) -> String {
    package.strip_prefix("prony-").unwrap_or(package).to_owned()
}

fn kind_text(kind: DependencyKind) -> &'static str {
    match kind {
        DependencyKind::Development => "dev-dependency",
        DependencyKind::Build => "build-dependency",
        _ => "dependency",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The whole table with the given edges added, so that nothing is missing from the workspace.
    fn findings(added: &[(&str, &str, &'static str)]) -> Vec<String> {
        let mut names: BTreeSet<&str> = MAY_DEPEND_ON.iter().map(|(name, _)| *name).collect();
        names.extend(added.iter().map(|(from, ..)| *from));
        let crates: Vec<Crate> = names
            .into_iter()
            .map(|name| Crate {
                name: name.to_owned(),
                manifest: format!("crates/{name}/Cargo.toml"),
                dependencies: added
                    .iter()
                    .filter(|(from, ..)| *from == name)
                    .map(|(_, to, kind)| ((*to).to_owned(), *kind))
                    .collect(),
            })
            .collect();
        check(&crates).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn edges_of_the_table_pass() {
        assert_eq!(
            findings(&[("disk", "load", "dependency"), ("disk", "record", "dev-dependency")]),
            [""; 0]
        );
    }

    #[test]
    fn an_edge_against_the_direction_is_found() {
        let found = findings(&[("stats", "record", "dependency")]);
        assert!(
            found.len() == 1 && found[0].contains("`stats` may not have `record` as a dependency"),
            "{found:?}"
        );
    }

    #[test]
    fn tests_may_not_go_against_the_direction_either() {
        let found = findings(&[("record", "results", "dev-dependency")]);
        assert!(found.len() == 1 && found[0].contains("as a dev-dependency"), "{found:?}");
    }

    #[test]
    fn a_crate_outside_the_table_is_told_where_to_go() {
        let found = findings(&[("tariffs", "record", "dependency")]);
        assert!(found.len() == 1 && found[0].contains("say in"), "{found:?}");
    }

    #[test]
    fn a_row_without_a_crate_is_found() {
        assert_eq!(check(&[]).len(), MAY_DEPEND_ON.len());
    }
}
