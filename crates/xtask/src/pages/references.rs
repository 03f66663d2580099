//! Reference pictures in the tree, and how today's pictures are held against them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::Page;
use super::difference::{SHARE_MOST, changed_share};
use super::grey::Grey;
use super::view::{VIEWS, View};

/// Relative to the root.
const DIRECTORY: &str = "crates/xtask/pages";
/// Stores what differs.
const UPDATE: &str = "`cargo xtask pages --update`";

/// The references of all pages.
pub(super) struct References {
    root: PathBuf,
    /// Whether what differs becomes the reference.
    update: bool,
}

impl References {
    pub(super) fn new(root: &Path, update: bool) -> Self {
        Self { root: root.to_owned(), update }
    }

    /// Whether a picture agrees with its reference. One that lacks a reference and gets none is not compared.
    pub(super) fn agrees(&self, page: &Page, view: &View, now: &Grey) -> Result<bool> {
        Ok(self.changed(page, view, now)?.map_or(!self.update, |share| share <= SHARE_MOST))
    }

    /// Holds a picture against its reference: a fault, or none if they agree or the picture is now the reference.
    pub(super) fn check(&self, page: &Page, view: &View, now: &Grey) -> Result<Option<String>> {
        let share = self.changed(page, view, now)?;
        if share.is_some_and(|share| share <= SHARE_MOST) {
            return Ok(None);
        }
        if self.update {
            self.store(page, view, now, share)?;
            return Ok(None);
        }
        let seen = page.beside(&format!("{}.png", view.name));
        let Some(share) = share else {
            return Ok(Some(format!("no reference: look at {}, then run {UPDATE}", seen.display())));
        };
        let [small, before] =
            ["small", "reference"].map(|what| page.beside(&format!("{}-{what}.png", view.name)));
        now.write(&small)?;
        let path = self.path(page, view);
        fs::copy(&path, &before).with_context(|| format!("cannot copy {}", path.display()))?;
        Ok(Some(format!(
            "{} of its cells changed, and {} may. Look at {}, and at both small pictures, {} and {}. If the change is \
             wanted, run {UPDATE}",
            per_cent(share),
            per_cent(SHARE_MOST),
            seen.display(),
            small.display(),
            before.display(),
        )))
    }

    /// The share of cells that changed; none without a reference.
    fn changed(&self, page: &Page, view: &View, now: &Grey) -> Result<Option<f64>> {
        let path = self.path(page, view);
        if !path.is_file() {
            return Ok(None);
        }
        let bytes = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let reference = Grey::decoded(&bytes).with_context(|| format!("cannot read {}", path.display()))?;
        Ok(Some(changed_share(&reference, now)))
    }

    fn store(&self, page: &Page, view: &View, now: &Grey, changed: Option<f64>) -> Result<()> {
        fs::create_dir_all(self.root.join(DIRECTORY))?;
        now.write(&self.path(page, view))?;
        let what = changed.map_or_else(|| "new".to_owned(), |share| format!("{} changed", per_cent(share)));
        println!("stored {DIRECTORY}/{}: {what}", file_name(&page.name, view));
        Ok(())
    }

    fn path(&self, page: &Page, view: &View) -> PathBuf {
        self.root.join(DIRECTORY).join(file_name(&page.name, view))
    }

    /// References of pages that are not there any more: removed, or told.
    pub(super) fn obsolete(&self, pages: &[Page]) -> Result<Vec<String>> {
        let directory = self.root.join(DIRECTORY);
        let wanted: BTreeSet<String> =
            pages.iter().flat_map(|page| VIEWS.iter().map(|view| file_name(&page.name, view))).collect();
        let mut faults = Vec::new();
        if !directory.is_dir() {
            return Ok(faults);
        }
        for entry in fs::read_dir(&directory).with_context(|| format!("cannot list {DIRECTORY}"))? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if wanted.contains(&name) {
                continue;
            }
            if self.update {
                fs::remove_file(directory.join(&name))?;
                println!("removed {DIRECTORY}/{name}");
            } else {
                faults.push(format!("{DIRECTORY}/{name} is of no page: remove it, or run {UPDATE}"));
            }
        }
        Ok(faults)
    }
}

fn file_name(page: &str, view: &View) -> String {
    format!("{page}-{}.png", view.name)
}

/// With two digits, since few cells are many.
fn per_cent(share: f64) -> String {
    format!("{:.2}%", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A page in an empty tree, and the references of that.
    fn tree() -> (tempfile::TempDir, Page, impl Fn(bool) -> References) {
        let tree = tempfile::tempdir().unwrap();
        let pages = tree.path().join("target");
        fs::create_dir_all(&pages).unwrap();
        let page = Page { name: "check".to_owned(), path: pages.join("check.html") };
        let root = tree.path().to_owned();
        (tree, page, move |update| References::new(&root, update))
    }

    fn files(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_picture_without_a_reference_is_told_and_stored_on_request() {
        let (tree, page, references) = tree();
        let picture = Grey::blank(40, 30, 170);
        let check = |update, picture: &Grey| references(update).check(&page, &VIEWS[3], picture).unwrap();
        let told = check(false, &picture).unwrap();
        assert!(told.starts_with("no reference: look at "), "{told}");
        assert!(told.contains("check-dark.png") && told.contains("cargo xtask pages --update"), "{told}");
        assert_eq!(check(true, &picture), None);
        assert_eq!(files(&tree.path().join(DIRECTORY)), ["check-dark.png"]);
        assert_eq!(check(false, &picture), None);
        assert!(references(false).agrees(&page, &VIEWS[3], &picture).unwrap());
    }

    #[test]
    fn a_difference_names_measure_and_remedy_and_leaves_both_pictures() {
        let (tree, page, references) = tree();
        let check =
            |update, level| references(update).check(&page, &VIEWS[1], &Grey::blank(40, 30, level)).unwrap();
        assert_eq!(check(true, 170), None);
        let told = check(false, 0).unwrap();
        assert!(told.starts_with("100.00% of its cells changed, and 0.10% may."), "{told}");
        assert!(told.ends_with("If the change is wanted, run `cargo xtask pages --update`"), "{told}");
        let left = ["check-400-reference.png", "check-400-small.png"];
        assert_eq!(files(&tree.path().join("target")), left);
        assert!(left.iter().all(|name| told.contains(name)), "{told}");
    }

    /// A reference that differs too little to matter is kept, so that an update changes few files.
    #[test]
    fn an_update_keeps_what_agrees_and_removes_what_is_of_no_page() {
        let (tree, page, references) = tree();
        let directory = tree.path().join(DIRECTORY);
        let update = references(true);
        update.check(&page, &VIEWS[0], &Grey::blank(40, 30, 170)).unwrap();
        let before = fs::read(directory.join("check-1280.png")).unwrap();
        update.check(&page, &VIEWS[0], &Grey::blank(40, 30, 180)).unwrap();
        assert_eq!(fs::read(directory.join("check-1280.png")).unwrap(), before);
        fs::write(directory.join("gone-1280.png"), "").unwrap();
        let pages = [page];
        let told = references(false).obsolete(&pages).unwrap();
        assert!(told.len() == 1 && told[0].contains("gone-1280.png is of no page"), "{told:?}");
        assert_eq!(update.obsolete(&pages).unwrap(), [""; 0]);
        assert_eq!(files(&directory), ["check-1280.png"]);
    }
}
