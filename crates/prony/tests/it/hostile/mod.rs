//! Hostile cases, a row each: what was there before, what is run, and that all of it is there afterwards, byte for byte, with
//! the same inode, owner and mode.
//!
//! A row says who runs it: root, who could harm anything, or a user who may change nothing but what is theirs. What this machine
//! does not permit is not tried, and said.

mod databases;
mod devices;
mod files;
mod results;
mod scene;

use std::collections::BTreeMap;

use crate::mounts::is_root;
use crate::running::Running;
use crate::workbench::{INVALID, Outcome};
use scene::{Scene, Seen};

/// Who runs a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    Root,
    User,
}

/// One hostile case.
pub(crate) struct Row {
    /// What is tried, as a claim of what must not happen.
    pub(crate) name: &'static str,
    pub(crate) by: &'static [By],
    /// Puts there what must stay. False if this machine does not permit it.
    pub(crate) before: fn(&mut Scene) -> bool,
    /// Words of the command line of prony; `{word}` stands for what `before` found out.
    pub(crate) command: &'static str,
    /// What somebody does while the program runs.
    pub(crate) meanwhile: Option<fn(&Scene, &mut Running)>,
    /// Files of prony's own among what was there, which may change.
    pub(crate) ours: &'static [&'static str],
    pub(crate) code: i32,
    /// What is on stderr.
    pub(crate) says: &'static str,
    /// What else must be true afterwards.
    pub(crate) after: fn(&Scene, &Outcome),
}

/// A row without surprises: both run it, nothing happens meanwhile, nothing that was there changes.
pub(crate) const ROW: Row = Row {
    name: "",
    by: &[By::Root, By::User],
    before: |_| true,
    command: "",
    meanwhile: None,
    ours: &[],
    code: 2,
    says: "",
    after: |_, _| {},
};

/// Runs all rows of a table, and shows all that fail.
pub(crate) fn run(rows: &[Row]) {
    let mut failures = Vec::new();
    for row in rows {
        for &by in row.by {
            failures.extend(run_row(row, by).err().map(|why| format!("{} (by {by:?}): {why}", row.name)));
        }
    }
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
}

fn run_row(row: &Row, by: By) -> Result<(), String> {
    let not_tried = |why: &str| {
        eprintln!("not tried: {} (by {by:?}): {why}", row.name);
        Ok(())
    };
    if by == By::Root && !is_root() {
        return not_tried("root is needed");
    }
    let mut scene = Scene::new(by);
    if !(row.before)(&mut scene) {
        return not_tried("this machine does not permit it");
    }
    if !scene.belongs_to_who_runs_it() {
        return not_tried("a user other than root cannot get at the program");
    }
    let before = scene.look();
    let outcome = scene.run(row);
    let after = scene.look();
    let lost = lost(row, &before, &after);
    if !lost.is_empty() {
        return Err(format!("{}\n{outcome:?}", lost.join("; ")));
    }
    // A busy machine can make a trial invalid.
    let is_invalid = row.code == 0 && outcome.code == Some(INVALID);
    if outcome.code != Some(row.code) && !is_invalid {
        return Err(format!("ended with {:?} and not with {}: {outcome:?}", outcome.code, row.code));
    }
    if !outcome.stderr.contains(row.says) {
        return Err(format!("`{}` is not in: {}", row.says, outcome.stderr));
    }
    (row.after)(&scene, &outcome);
    Ok(())
}

/// What was there and is not any more as it was.
fn lost(row: &Row, before: &BTreeMap<String, Seen>, after: &BTreeMap<String, Seen>) -> Vec<String> {
    let is_ours =
        |path: &str| row.ours.iter().any(|own| path == *own || path.starts_with(&format!("{own}/")));
    let theirs = before.iter().filter(|(path, _)| !is_ours(path));
    theirs
        .filter_map(|(path, seen)| match after.get(path) {
            None => Some(format!("{path} is gone")),
            Some(now) if now != seen => Some(format!("{path} was {seen:?} and is {now:?}")),
            Some(_) => None,
        })
        .collect()
}

#[test]
fn what_was_lost_is_found() {
    let scene = Scene::new(By::User);
    for name in ["kept", "changed", "replaced", "gone", "ours"] {
        scene.write(name, "precious");
    }
    let before = scene.look();
    scene.write("changed", "precious!");
    scene.write("new", "precious");
    std::fs::rename(scene.path("new"), scene.path("replaced")).unwrap();
    std::fs::remove_file(scene.path("gone")).unwrap();
    scene.write("ours", "other");
    let found = lost(&Row { ours: &["ours"], ..ROW }, &before, &scene.look());
    let names: Vec<&str> = found.iter().filter_map(|text| text.split(' ').next()).collect();
    assert_eq!(names, ["changed", "gone", "replaced"], "{found:?}");
}
