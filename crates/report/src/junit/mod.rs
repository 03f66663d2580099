//! What became of a run as JUnit XML, which systems of continuous integration read: a suite for a run, a case for all that had to hold
//! and for each trial.
//!
//! Nothing passes that did not hold: a case fails where it was shown not to hold, and is an *error* where nobody knows, as the exit code
//! is not zero there either. *Skipped* is what was left out on purpose, and a verdict that nothing was asked of. The elements are those
//! that all readers know (<https://github.com/testmoapp/junitxml>).

mod of_study;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt::Write as _;

use record::shown;

use crate::comparison::{Outcome, ThresholdResult};

/// The cases of one run, or of one comparison.
pub(crate) struct Suite {
    /// What was run.
    pub(crate) name: String,
    /// Begin, RFC 3339 in UTC.
    pub(crate) started: String,
    /// Name of the machine, if it was recorded.
    pub(crate) host: Option<String>,
    /// What tells the run from others; a name may occur several times.
    pub(crate) properties: Vec<(&'static str, String)>,
    pub(crate) cases: Vec<Case>,
    /// What is to be read with all of it, a line each.
    pub(crate) told: Vec<String>,
}

/// Something that had to hold.
pub(crate) struct Case {
    /// What kind of thing it is.
    pub(crate) class: &'static str,
    /// What had to hold, in words that no other case of the suite has.
    pub(crate) name: String,
    /// How long it was measured, in seconds.
    pub(crate) measured_s: f64,
    pub(crate) end: End,
    /// The figures that decided, or the reason; may be empty.
    pub(crate) why: String,
}

/// What became of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// It held.
    Passed,
    /// It did not.
    Failed,
    /// That is not known, or was not measured as it should.
    Error,
    /// It was left out on purpose, or nothing was asked.
    Skipped,
}

impl Case {
    /// A threshold, a limit of a change, or a baseline.
    pub(crate) fn judged(class: &'static str, result: &ThresholdResult) -> Self {
        let (end, why) = match result.outcome {
            Outcome::Held => (End::Passed, result.why.clone()),
            Outcome::Failed => (End::Failed, result.why.clone()),
            Outcome::Inconclusive => (End::Error, format!("not judged: {}", result.why)),
        };
        Self { class, name: result.text.clone(), measured_s: 0.0, end, why }
    }
}

/// The document of these suites.
pub(crate) fn document(suites: &[Suite]) -> String {
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let all = || suites.iter().flat_map(|suite| &suite.cases);
    let _ = writeln!(xml, "<testsuites name=\"prony\"{}>", counts(all()));
    suites.iter().for_each(|suite| write_suite(&mut xml, suite));
    xml + "</testsuites>\n"
}

/// `tests="3" failures="1" errors="0" skipped="0" time="60.000"` of cases.
fn counts<'a>(cases: impl Iterator<Item = &'a Case> + Clone) -> String {
    let ended = |end: End| cases.clone().filter(|case| case.end == end).count();
    let measured_s: f64 = cases.clone().map(|case| case.measured_s).sum();
    format!(
        " tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{measured_s:.3}\"",
        cases.clone().count(),
        ended(End::Failed),
        ended(End::Error),
        ended(End::Skipped)
    )
}

fn write_suite(xml: &mut String, suite: &Suite) {
    let _ = write!(xml, "  <testsuite name=\"{}\"{}", escaped(&suite.name), counts(suite.cases.iter()));
    // Readers that follow the first schema take neither a fraction nor a zone: it is in UTC.
    let _ = write!(xml, " timestamp=\"{}\"", escaped(suite.started.get(..19).unwrap_or(&suite.started)));
    if let Some(host) = &suite.host {
        let _ = write!(xml, " hostname=\"{}\"", escaped(host));
    }
    xml.push_str(">\n    <properties>\n");
    for (name, value) in &suite.properties {
        let _ = writeln!(xml, "      <property name=\"{name}\" value=\"{}\"/>", escaped(value));
    }
    xml.push_str("    </properties>\n");
    suite.cases.iter().for_each(|case| write_case(xml, case));
    if !suite.told.is_empty() {
        let lines: Vec<Cow<'_, str>> = suite.told.iter().map(|line| escaped(line)).collect();
        let _ = writeln!(xml, "    <system-out>{}</system-out>", lines.join("\n"));
    }
    xml.push_str("  </testsuite>\n");
}

fn write_case(xml: &mut String, case: &Case) {
    let (name, why) = (escaped(&case.name), escaped(&case.why));
    let _ = write!(
        xml,
        "    <testcase classname=\"{}\" name=\"{name}\" time=\"{:.3}\"",
        case.class, case.measured_s
    );
    let inside = match case.end {
        End::Passed if why.is_empty() => {
            xml.push_str("/>\n");
            return;
        }
        End::Passed => format!("<system-out>{why}</system-out>"),
        End::Failed => format!("<failure message=\"{why}\" type=\"{}\">{name}: {why}</failure>", case.class),
        End::Error => format!("<error message=\"{why}\" type=\"{}\">{name}: {why}</error>", case.class),
        End::Skipped => format!("<skipped message=\"{why}\"/>"),
    };
    let _ = writeln!(xml, ">\n      {inside}\n    </testcase>");
}

/// A text as one line of an element or an attribute. XML 1.0 permits no control character, not even as a reference, and neither
/// U+FFFE nor U+FFFF: they are written as a reader sees them elsewhere, `\x1b`.
fn escaped(text: &str) -> Cow<'_, str> {
    let text = shown(text);
    let is_special = |c: char| matches!(c, '&' | '<' | '>' | '"' | '\u{fffe}' | '\u{ffff}');
    if !text.contains(is_special) {
        return text;
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => {
                let _ = write!(escaped, "\\u{{{:x}}}", u32::from(c));
            }
            plain => escaped.push(plain),
        }
    }
    Cow::Owned(escaped)
}
