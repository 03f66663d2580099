//! The layout of a page, measured in the browser by a script: nothing is cut, and the answer is in the first screen.

use anyhow::Result;
use serde_json::json;

use super::browser::Browser;
use super::view::View;

const SCRIPT: &str = include_str!("layout.js");

/// What is wrong with the layout of the page that the browser shows. What is folded may be open afterwards.
pub(super) fn faults(browser: &mut Browser, view: &View) -> Result<Vec<String>> {
    let View { width, height, .. } = view;
    let (desk, paper) = (view.is_desk(), view.is_paper());
    let window = json!({ "width": width, "height": height, "isDesk": desk, "isPaper": paper });
    browser.run(SCRIPT, &window)
}
