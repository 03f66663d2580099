//! Links of built pages: each must lead to a file, and to an anchor in it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, ensure};

/// Pages that repeat others, or that a server shows from any place.
const REPEATED: [&str; 3] = ["print.html", "404.html", "toc.html"];

/// Links that lead nowhere, each with its page. Links to other hosts are not followed.
pub(super) fn broken(directory: &Path) -> Result<Vec<String>> {
    let mut pages = BTreeMap::new();
    read(directory, Path::new(""), &mut pages)?;
    ensure!(!pages.is_empty(), "{} has no pages", directory.display());
    let anchors: BTreeMap<&PathBuf, BTreeSet<&str>> =
        pages.iter().map(|(path, page)| (path, values(page, " id=\"").collect())).collect();
    let mut broken = Vec::new();
    for (path, page) in &pages {
        for link in values(page, " href=\"").chain(values(page, " src=\"")) {
            if !leads(directory, path, link, &anchors) {
                broken.push(format!("{}: {link}", path.display()));
            }
        }
    }
    Ok(broken)
}

/// Reads all pages below a directory.
fn read(root: &Path, below: &Path, pages: &mut BTreeMap<PathBuf, String>) -> Result<()> {
    let directory = root.join(below);
    for entry in fs::read_dir(&directory).with_context(|| format!("cannot list {}", directory.display()))? {
        let entry = entry?;
        let path = below.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            read(root, &path, pages)?;
        } else if path.extension().is_some_and(|kind| kind == "html")
            && !REPEATED.iter().any(|name| path == Path::new(name))
        {
            pages.insert(path, fs::read_to_string(entry.path())?);
        }
    }
    Ok(())
}

/// Values of an attribute.
fn values<'a>(page: &'a str, attribute: &'a str) -> impl Iterator<Item = &'a str> {
    page.split(attribute).skip(1).filter_map(|rest| rest.split('"').next())
}

fn leads(root: &Path, page: &Path, link: &str, anchors: &BTreeMap<&PathBuf, BTreeSet<&str>>) -> bool {
    let is_elsewhere =
        ["http:", "https:", "mailto:", "javascript:", "data:"].iter().any(|kind| link.starts_with(kind));
    if is_elsewhere {
        return true;
    }
    let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
    let target = match file {
        "" => page.to_owned(),
        file => normal(&page.parent().unwrap_or(Path::new("")).join(file)),
    };
    match anchors.get(&target) {
        Some(known) => anchor.is_empty() || known.contains(anchor),
        None => root.join(&target).is_file() && anchor.is_empty(),
    }
}

/// The path without `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                normal.pop();
            }
            Component::Normal(name) => normal.push(name),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_no_file_and_to_no_anchor_are_found() {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("docs")).unwrap();
        fs::write(directory.path().join("icon.svg"), "").unwrap();
        fs::write(
            directory.path().join("index.html"),
            r##"<a href="docs/a.html#b"></a><a href="docs/a.html#c"></a><a href="x.html"></a><a href="https://x.org"></a>"##,
        )
        .unwrap();
        fs::write(
            directory.path().join("docs/a.html"),
            r##"<h2 id="b"></h2><a href="#b"></a><a href="../index.html"></a><img src="../icon.svg"><img src="no.png">"##,
        )
        .unwrap();
        let broken = broken(directory.path()).unwrap();
        assert_eq!(broken, ["docs/a.html: no.png", "index.html: docs/a.html#c", "index.html: x.html"]);
    }
}
