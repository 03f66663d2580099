//! Whatever users and servers call things: no printer lets it do more than be read.
//!
//! Every text of a record is made hostile that can be: names, levels, paths, versions of servers, reasons, titles.

use record::{StudyRecord, csv_field};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{cdm, comparison, historian, orders, quick};
use crate::compare::Compare;
use crate::page::tests::without_script;
use crate::report::Report;

/// A terminal's colours and bell, a line that looks like one of ours, letters that run backwards.
const EVIL: &str = "\u{1b}[31m\u{7}\r\nfinding  forged: holds\u{9b}2J\u{7f}\u{202e}";
/// Its end as a reader of text sees it.
const SEEN: &str = "\\r\\nfinding  forged: holds\\u{9b}2J\\x7f\\u{202e}";

/// Puts a text behind every text of a value, so long as it stays what it was.
fn poisoned<T: Serialize + DeserializeOwned>(of: &T) -> T {
    let mut value = serde_json::to_value(of).unwrap();
    for place in texts(&value, String::new()) {
        let spot = value.pointer_mut(&place).unwrap();
        let before = spot.clone();
        *spot = Value::from(format!("{}{EVIL}", before.as_str().unwrap()));
        if serde_json::from_value::<T>(value.clone()).is_err() {
            *value.pointer_mut(&place).unwrap() = before;
        }
    }
    serde_json::from_value(value).unwrap()
}

/// Where the texts of a value stand, as JSON pointers.
fn texts(value: &Value, at: String) -> Vec<String> {
    match value {
        Value::String(_) => vec![at],
        Value::Array(values) => {
            let inner = values.iter().enumerate();
            inner.flat_map(|(index, value)| texts(value, format!("{at}/{index}"))).collect()
        }
        Value::Object(entries) => entries
            .iter()
            .filter(|(key, _)| !key.contains(['/', '~']))
            .flat_map(|(key, value)| texts(value, format!("{at}/{key}")))
            .collect(),
        _ => Vec::new(),
    }
}

fn hostile(mut study: StudyRecord) -> StudyRecord {
    study.manifest.labels.title = Some("title".to_owned());
    study.manifest.labels.comment = Some("comment".to_owned());
    study.manifest = poisoned(&study.manifest);
    study.environment = study.environment.as_ref().map(poisoned);
    for trial in &mut study.trials {
        trial.trial = poisoned(&trial.trial);
        // What one calls is the same in all.
        let levels = std::mem::take(&mut trial.trial.levels);
        trial.trial.levels = levels.into_iter().map(|(key, level)| (key + EVIL, level)).collect();
    }
    study.study_toml += EVIL;
    study.damage.push(EVIL.to_owned());
    study
}

fn studies() -> Vec<StudyRecord> {
    let all =
        [quick(), cdm()].into_iter().chain(historian::all()).chain(orders::all()).chain(comparison::all());
    // Those of many trials show nothing else and take long.
    all.filter(|study| study.trials.len() < 30).map(hostile).collect()
}

/// The characters of a text that do more than be read.
fn at_work(text: &str, ends: &[char]) -> Vec<char> {
    let is_at_work = |character: &char| character.is_control() || *character == '\u{202e}';
    text.chars().filter(is_at_work).filter(|character| !ends.contains(character)).collect()
}

/// A server's error text with an end of line made a line `finding  fake: holds` on the terminal, and escape sequences in
/// names were obeyed by it.
#[test]
fn nothing_that_is_printed_holds_a_control_character_of_others() {
    for study in studies() {
        let report = Report::of(&study);
        let (text, narrow) = (report.text(None), report.text(Some(80)));
        for text in [&text, &narrow] {
            assert_eq!(at_work(text, &['\n']), []);
            assert!(!text.lines().any(|line| line.starts_with("finding  forged")), "{text}");
        }
        assert!(text.contains(SEEN), "{text}");
        let csv = report.csv();
        assert_eq!(at_work(&csv.replace("\r\n", ""), &[]), []);
        assert!(csv.contains(SEEN), "{csv}");
        let json = report.json();
        assert_eq!(at_work(&json, &['\n']), []);
        let document: Value = serde_json::from_str(&json).unwrap();
        assert!(document["title"].as_str().unwrap().ends_with(EVIL), "JSON keeps what a text is");
        let page = without_script(&report.html());
        let (head, body) = page.split_once("</style>").unwrap();
        assert_eq!((at_work(body, &[]), at_work(head, &['\n'])), (vec![], vec![]));
        assert!(page.contains(SEEN));
        let sheet = report.sheet();
        let (_, body) = sheet.split_once("</style>").unwrap();
        assert_eq!(at_work(body, &[]), []);
    }
}

#[test]
fn a_comparison_of_hostile_studies_is_only_read() {
    let (one, mut other) = (hostile(quick()), hostile(quick()));
    other.manifest.title += "another";
    other.environment.iter_mut().for_each(|environment| environment.host = EVIL.repeat(2));
    let compared = Compare::of(&[(EVIL.to_owned(), &one), ("b".to_owned() + EVIL, &other)], None, None);
    let text = compared.text(None, crate::CompareRows::All);
    assert_eq!(at_work(&text, &['\n']), []);
    assert!(text.contains(SEEN) && !text.lines().any(|line| line.starts_with("finding")), "{text}");
    let page = without_script(&compared.html());
    assert_eq!(at_work(page.split_once("</style>").unwrap().1, &[]), []);
    assert_eq!(at_work(&compared.json(), &['\n']), []);
}

/// `=cmd|' /C calc'!A0` as a name was run by the spreadsheet that opened the figures.
#[test]
fn no_field_of_the_figures_is_a_formula() {
    const FORMULA: &str = "=cmd|' /C calc'!A0";
    let mut study = quick();
    for trial in &mut study.trials {
        (trial.trial.name, trial.trial.reason) = (FORMULA.to_owned(), Some(FORMULA.to_owned()));
    }
    let csv = Report::of(&study).csv();
    assert!(csv.contains(&csv_field(FORMULA)), "{csv}");
    assert!(!csv.contains(&format!(",{FORMULA}")) && !csv.contains(&format!(",\"{FORMULA}")), "{csv}");
}
