//! Report pages as a reader sees them: pictures, layout and accessibility of one page of each kind.
//!
//! A test of `report` writes the pages, and Chromium shows them. What the pages say is not judged here: tests of `report` do that.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::ci::packages::Need::Program;
use crate::ci::packages::{Package, require};
use crate::ci::{Outcome, watch};
use crate::workspace::Workspace;
use browser::Browser;
use grey::Grey;
use references::References;
use view::{PAPER, VIEWS, View};

mod axe;
mod browser;
mod difference;
mod fonts;
mod grey;
mod layout;
mod paper;
mod references;
mod view;

/// Below the target directory: the pages and their pictures.
const DIRECTORY: &str = "pages";
/// The test that writes the pages to the directory in the variable. Of the whole workspace, so that what the step of the tests compiled is
/// what runs.
const WRITE: [&str; 6] = [
    "test",
    "--workspace",
    "--lib",
    "--",
    "--exact",
    "page::pictures::a_page_of_each_kind_can_be_made_and_holds_something",
];
const VARIABLE: &str = "PRONY_PAGES";
/// Browsers at the same time. Each has several processes.
const AT_ONCE: usize = 2;
/// Pictures that are taken until two are alike.
const TAKES_MOST: u32 = 6;

/// As Debian calls it.
const CHROMIUM: Package =
    Package { name: "chromium", needs: &[Program("chromium")], why: "it shows the report pages" };

/// A page with a fault of each kind, and what is said of them. They are looked for first, since a script that finds nothing is silent.
const BROKEN: &str = include_str!("broken.html");
const BROKEN_FAULTS: [&str; 6] = [
    "the table `Wide` is 320 pixels wide and has 160",
    "the chart beside the answers ends at ",
    "it is 2000 pixels wide, in a window of 1280: #far",
    "`a figure that is too wide` is wider than its box",
    "`too far right` ends ",
    "a legend has one colour twice: ",
];
/// What axe-core says of it.
const BROKEN_COLOURS: &str = "color-contrast (serious)";

/// What `cargo xtask pages` may be asked for.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub(crate) struct PagesOptions {
    /// Store each picture that differs as its reference; look at it before
    #[arg(long)]
    update: bool,
    /// Only pages with this in their names
    #[arg(long, value_name = "NAME", default_value = "")]
    filter: String,
}

impl PagesOptions {
    /// All pages, and references stay as they are.
    pub(crate) const ALL: Self = Self { update: false, filter: String::new() };
}

/// A page that was written.
#[derive(Clone, Debug)]
struct Page {
    name: String,
    path: PathBuf,
}

/// What pages are looked at with.
struct Tools {
    chromium: PathBuf,
    /// Configuration of fontconfig.
    fonts: PathBuf,
    /// The script of axe-core, if npm could fetch it.
    axe: Option<String>,
    references: References,
}

/// Writes the pages, looks at each of them in every way, and prints all that is wrong.
pub(crate) fn check(workspace: &Workspace, options: &PagesOptions) -> Result<Outcome> {
    if browser::installed().is_none() {
        require(&[CHROMIUM])?;
    }
    let chromium = browser::installed().context("no Chromium in PATH")?;
    require(&[fonts::PACKAGE])?;
    let directory = workspace.target_directory().join(DIRECTORY);
    let pages = written(workspace, &directory)?;
    let tools = Tools {
        chromium,
        fonts: fonts::configure(&directory)?,
        axe: axe::fetch(workspace)?,
        references: References::new(workspace.root(), options.update),
    };
    prove(&tools, &directory)?;
    let mut faults = tools.references.obsolete(&pages)?;
    let pages: Vec<Page> = pages.into_iter().filter(|page| page.name.contains(&options.filter)).collect();
    ensure!(!pages.is_empty(), "no page has `{}` in its name", options.filter);
    println!("{} pages in {} views", pages.len(), VIEWS.len());
    faults.extend(faults_of(&pages, &tools));
    faults.iter().for_each(|fault| println!("{fault}"));
    ensure!(faults.is_empty(), "{} findings on {} pages", faults.len(), pages.len());
    Ok(match tools.axe {
        Some(_) => Outcome::Passed,
        None => Outcome::NotRun("accessibility, for npm is not installed, which brings axe-core".to_owned()),
    })
}

/// Has the test write the pages to an empty directory, and lists them.
fn written(workspace: &Workspace, directory: &Path) -> Result<Vec<Page>> {
    if directory.exists() {
        fs::remove_dir_all(directory).with_context(|| format!("cannot delete {}", directory.display()))?;
    }
    fs::create_dir_all(directory)?;
    let mut command = workspace.cargo(&WRITE);
    command.env(VARIABLE, directory);
    watch::run_within(watch::LIMIT, command)?;
    let mut pages = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let name = path.file_stem().map(|name| name.to_string_lossy().into_owned());
        pages.extend(name.map(|name| Page { name, path }));
    }
    ensure!(!pages.is_empty(), "the test of `report` that writes pages wrote none: is it called otherwise?");
    pages.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(pages)
}

/// Checks that faults are found where they are.
fn prove(tools: &Tools, directory: &Path) -> Result<()> {
    let path = directory.join("broken.html");
    fs::write(&path, BROKEN)?;
    let broken = Page { name: "broken".to_owned(), path };
    let mut browser = Browser::start(&tools.chromium, &tools.fonts)?;
    browser.show(&broken.path, &VIEWS[0])?;
    let found = faults_shown(&mut browser, &VIEWS[0], tools)?;
    let colours = tools.axe.as_ref().map(|_| BROKEN_COLOURS);
    for expected in BROKEN_FAULTS.into_iter().chain(colours) {
        let is_found = found.iter().any(|fault| fault.starts_with(expected));
        ensure!(is_found, "`{expected}` is not found in {}, but {found:#?}", broken.path.display());
    }
    Ok(())
}

/// Faults of layout and accessibility of the page that the browser shows.
fn faults_shown(browser: &mut Browser, view: &View, tools: &Tools) -> Result<Vec<String>> {
    // Dark colours change no layout.
    let mut faults = if view.is_dark() { Vec::new() } else { layout::faults(browser, view)? };
    if let Some(axe) = tools.axe.as_ref().filter(|_| view.is_desk()) {
        faults.extend(axe::faults(browser, view, axe)?);
    }
    Ok(faults)
}

/// Looks at several pages at a time, and returns all faults in the order of the pages.
fn faults_of(pages: &[Page], tools: &Tools) -> Vec<String> {
    let queue = Mutex::new(pages.iter().collect::<VecDeque<_>>());
    let found = Mutex::new(Vec::new());
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    let work = || {
        while let Some(page) = next() {
            let mut faults = Vec::new();
            // What could not be looked at is a fault too.
            if let Err(error) = page.look(tools, &mut faults) {
                faults.push(format!("{}: {error:#}", page.name));
            }
            found.lock().unwrap_or_else(PoisonError::into_inner).push((&page.name, faults));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(work);
        }
    });
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.sort();
    found.into_iter().flat_map(|(_, faults)| faults).collect()
}

impl Page {
    /// Looks at the page in every way, in a browser of its own, and adds what is wrong.
    fn look(&self, tools: &Tools, faults: &mut Vec<String>) -> Result<()> {
        let mut browser = Browser::start(&tools.chromium, &tools.fonts)?;
        for view in &VIEWS {
            let about = format!("{} {}", self.name, view.name);
            let found = self.look_in(view, &mut browser, tools).with_context(|| about.clone())?;
            faults.extend(found.into_iter().map(|fault| format!("{about}: {fault}")));
        }
        if let Some(most) = paper::limit(&self.name) {
            browser.show(&self.path, &PAPER)?;
            let pdf = browser.printed()?;
            fs::write(self.beside("print.pdf"), &pdf)?;
            faults.extend(paper::fault(&pdf, most)?.map(|fault| format!("{}: {fault}", self.name)));
        }
        Ok(())
    }

    fn look_in(&self, view: &View, browser: &mut Browser, tools: &Tools) -> Result<Vec<String>> {
        let take = || self.picture(view, browser);
        let picture = settled(take, |picture| tools.references.agrees(self, view, picture))?;
        let mut faults: Vec<String> = tools.references.check(self, view, &picture)?.into_iter().collect();
        faults.extend(faults_shown(browser, view, tools)?);
        Ok(faults)
    }

    /// Shows the page, leaves a picture beside it, and returns the picture reduced.
    fn picture(&self, view: &View, browser: &mut Browser) -> Result<Grey> {
        browser.show(&self.path, view)?;
        let png = browser.picture()?;
        fs::write(self.beside(&format!("{}.png", view.name)), &png)?;
        Ok(Grey::decoded(&png)?.reduced(view.cell))
    }

    /// A file about the page in its directory.
    fn beside(&self, what: &str) -> PathBuf {
        self.path.with_file_name(format!("{}-{what}", self.name))
    }
}

/// Takes pictures until one is as expected or two in a row are alike, and returns the last one. On a busy machine Chromium leaves
/// a part of one in thirty pictures out, or draws letters as boxes.
fn settled(
    mut take: impl FnMut() -> Result<Grey>,
    is_expected: impl Fn(&Grey) -> Result<bool>,
) -> Result<Grey> {
    let mut last = take()?;
    for _ in 1..TAKES_MOST {
        if is_expected(&last)? {
            return Ok(last);
        }
        let next = take()?;
        if next == last {
            return Ok(next);
        }
        last = next;
    }
    anyhow::bail!("no two of {TAKES_MOST} pictures in a row were alike")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many pictures are taken of a page that has these levels one after the other, and the one that counts.
    fn taken(levels: &[u8], expected: u8) -> (usize, Option<u8>) {
        let mut number = 0;
        let take = || {
            number += 1;
            Ok(Grey::blank(1, 1, levels[number - 1]))
        };
        let settled = settled(take, |now| Ok(now.levels == [expected]));
        (number, settled.ok().map(|picture| picture.levels[0]))
    }

    #[test]
    fn a_picture_that_is_as_expected_is_taken_once() {
        assert_eq!(taken(&[7], 7), (1, Some(7)));
        assert_eq!(taken(&[1, 7], 7), (2, Some(7)));
    }

    #[test]
    fn another_one_counts_only_if_it_is_seen_twice() {
        assert_eq!(taken(&[1, 1], 7), (2, Some(1)));
        assert_eq!(taken(&[1, 2, 3, 3], 7), (4, Some(3)));
        assert_eq!(taken(&[1, 2, 1, 2, 1, 2], 7), (6, None));
    }
}
