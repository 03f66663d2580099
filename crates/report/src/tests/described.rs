//! The user's title and comment in every form of a report, with the title of the measurement below them.

use record::StudyRecord;

use super::quick;
use crate::compare::Compare;
use crate::report::Report;

const TITLE: &str = "Old <script>alert(1)</script> & \"cache\"";
const COMMENT: &str = "Firmware 3.1.\n\n- *Größe*: <b>4 TB</b>";

fn described() -> StudyRecord {
    let mut study = quick();
    study.manifest.labels.name = Some("before".to_owned());
    study.manifest.labels.title = Some(TITLE.to_owned());
    study.manifest.labels.comment = Some(COMMENT.to_owned());
    study
}

/// The text between two texts.
fn between<'a>(text: &'a str, begin: &str, end: &str) -> &'a str {
    text.split_once(begin).and_then(|(_, rest)| rest.split_once(end)).unwrap().0
}

#[test]
fn a_page_and_a_sheet_stand_under_the_users_title() {
    const SHOWN: &str = "Old &lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;cache&quot;";
    let (plain, report) = (Report::of(&quick()), Report::of(&described()));
    let measured = between(&plain.html(), "<title>", " – prony").to_owned();
    for page in [report.html(), report.sheet()] {
        assert_eq!(between(&page, "<h1>", "</h1>"), SHOWN);
        assert_eq!(between(&page, "<title>", " – prony"), SHOWN);
        let (_, below) = page.split_once("</h1>").unwrap();
        let header = below.split_once("</header>").unwrap().0;
        assert!(header.contains(&format!("<p class=\"meta\">{measured}</p>")), "{measured} in {header}");
        let comment =
            "<div class=\"comment\"><p>Firmware 3.1.</p><p>- *Größe*: &lt;b&gt;4 TB&lt;/b&gt;</p></div>";
        assert!(header.contains(comment), "{header}");
        assert!(!page.contains("<script>alert") && !page.contains("<b>4"));
    }
    for page in [plain.html(), plain.sheet()] {
        assert!(!page.contains("<div class=\"comment\">"));
    }
}

#[test]
fn a_command_line_does_not_repeat_the_comment() {
    let mut study = described();
    let words =
        ["prony", "disk", "--comment", &format!(" {COMMENT}\n"), "/data", &format!("--comment={COMMENT}")];
    study.manifest.command = words.map(str::to_owned).to_vec();
    let report = Report::of(&study);
    let other = report.clone().described(None, Some(&"Other".parse().unwrap()));
    for page in [report.html(), report.sheet(), other.html()] {
        assert!(page.contains("<code>prony disk --comment '…' /data '--comment=…'</code>"), "{page}");
    }
    assert!(report.json().contains("--comment=Firmware 3.1."), "the record has all of it");
    study.manifest.labels.comment = Some("x".to_owned());
    study.manifest.command = ["prony", "--comment", "x", "--name=x"].map(str::to_owned).to_vec();
    assert!(Report::of(&study).html().contains("<code>prony --comment x --name=x</code>"));
}

#[test]
fn text_has_both_and_no_answer_less() {
    let (plain, report) = (Report::of(&quick()), Report::of(&described()));
    let brief = report.brief(Some(80));
    let lines: Vec<&str> = brief.lines().collect();
    assert_eq!(lines[0], TITLE);
    assert!(lines[1].starts_with(&format!("{} \"before\": ", plain.title)), "{brief}");
    assert_eq!(brief.matches("Comment").count(), 1, "{brief}");
    let comment = "Comment        Firmware 3.1.\n\n               - *Größe*: <b>4 TB</b>\n";
    assert!(brief.contains(comment), "{brief}");
    let (_, answers) = brief.split_once(comment).unwrap();
    assert!(plain.brief(Some(80)).ends_with(answers), "{answers}");
    for text in [report.text(None), report.text(Some(80))] {
        assert!(text.starts_with(&format!("{TITLE}\n{} \"before\": ", plain.title)), "{text}");
        assert!(text.contains(&format!("\n\n{comment}\n")), "{text}");
    }
}

#[test]
fn markdown_shows_both_as_text() {
    let report = Report::of(&described());
    let markdown = report.markdown();
    assert!(
        markdown.starts_with("### Old &lt;script&gt;alert(1)&lt;/script&gt; &amp; \"cache\"\n\n"),
        "{markdown}"
    );
    let measured = Report::of(&quick()).markdown().lines().next().unwrap().replacen("### ", "", 1);
    assert!(markdown.contains(&format!("\n\n{measured}.\n\nbefore.\n\n")), "{measured} in {markdown}");
    let comment = "\n\nFirmware 3.1.\n\n\\- \\*Größe\\*: &lt;b&gt;4 TB&lt;/b&gt;\n\n";
    assert!(markdown.contains(comment), "{markdown}");
    // Long text that others wrote is cut in tables; the user's own text is not.
    let long = "word ".repeat(399) + "end.";
    let report = report.described(None, Some(&long.parse().unwrap()));
    assert!(report.markdown().contains(&format!("\n\n{long}\n\n")));
}

#[test]
fn documents_keep_both_as_they_are_beside_what_was_measured() {
    let report = Report::of(&described());
    let document: serde_json::Value = serde_json::from_str(&report.json()).unwrap();
    assert_eq!((&document["user_title"], &document["comment"]), (&TITLE.into(), &COMMENT.into()));
    assert_eq!(document["title"], quick().manifest.title);
    let junit = report.junit();
    let title = "<property name=\"user_title\" value=\"Old &lt;script&gt;";
    assert!(junit.contains(title) && junit.contains("value=\"Firmware 3.1.\""), "{junit}");
    let plain = Report::of(&quick()).json();
    assert!(!plain.contains("user_title") && !plain.contains("\"comment\""));
}

#[test]
fn a_comparison_names_runs_with_their_titles() {
    let (before, after) = (quick(), described());
    let page = Compare::of(&[("a".to_owned(), &before), ("b".to_owned(), &after)], None, None).html();
    assert!(
        page.contains("b: &quot;Old &lt;script&gt;") || page.contains("before: &quot;Old &lt;script&gt;")
    );
    assert!(!page.contains("<script>alert"));
}

#[test]
fn given_texts_replace_the_stored_ones() {
    let report = Report::of(&described()).described(Some(&"New".parse().unwrap()), None);
    assert_eq!(report.labels.title.as_deref(), Some("New"));
    assert_eq!(report.labels.comment.as_deref(), Some(COMMENT));
}
