//! A field of a CSV file (RFC 4180) that a spreadsheet takes for what it is: text, not a formula.
//!
//! A spreadsheet runs a cell that begins like a formula, quoted or not, and a CSV file has no sign that says "text" and is
//! none of the text. So the two wishes, that it is not run and that every reader finds the same text, contradict each
//! other for such texts, and safety wins: an apostrophe is put before the sign that would be run. That can be undone, by a
//! reader's one expression ([`UNDO`]) or by [`text_of`]; a text that began with an apostrophe before the same sign gets
//! another one. Numbers are left alone. Control characters are escaped as on a terminal, which cannot be undone.

use crate::shown::shown;

/// The regular expression of what was put in, and what to put in its place: the first group. It is what DuckDB's
/// `regexp_replace(…, 'g')` and pandas' `str.replace(…, regex=True)` take.
pub const UNDO: (&str, &str) = (r#"(^|;)'([ "']*[=+\-@＝＋－＠])"#, r"\1\2");

/// A field as it stands in the file, quotation marks included where it needs them.
#[must_use]
pub fn csv_field(text: &str) -> String {
    let shown = shown(text);
    let guarded = if is_number(&shown) { shown.into_owned() } else { guarded(&shown) };
    // One that begins with an apostrophe is quoted too: a reader that guesses would else take that for the quotation mark.
    if guarded.contains(['"', ',', ';', '\'']) || guarded.starts_with(' ') || guarded.ends_with(' ') {
        format!("\"{}\"", guarded.replace('"', "\"\""))
    } else {
        guarded
    }
}

/// The text of a field as a reader finds it: without what [`csv_field`] put in against spreadsheets.
#[must_use]
pub fn text_of(field: &str) -> String {
    let part = |part: &str| match part.strip_prefix('\'') {
        Some(rest) if begins_formula(rest) => rest.to_owned(),
        _ => part.to_owned(),
    };
    field.split(';').map(part).collect::<Vec<String>>().join(";")
}

/// Where lists are separated by semicolons, a spreadsheet begins a new cell after each, in quotation marks or not.
fn guarded(text: &str) -> String {
    let part = |part: &str| if begins_formula(part) { format!("'{part}") } else { part.to_owned() };
    text.split(';').map(part).collect::<Vec<String>>().join(";")
}

/// Whether a spreadsheet could run a cell: it begins with a sign of a formula, also a full-width one, also behind spaces
/// and quotation marks, which some leave out.
fn begins_formula(cell: &str) -> bool {
    let begin = cell.trim_start_matches([' ', '"', '\'']);
    begin.starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠'])
}

/// Whether a cell is a number as programs print them, `-5` or `-1e-9`: nothing to run, and nothing that is a text.
fn is_number(cell: &str) -> bool {
    let digits = |character: char| character.is_ascii_digit() || "+-.eE".contains(character);
    cell.chars().all(digits) && cell.parse::<f64>().is_ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What a reader of CSV makes of one field.
    fn read(field: &str) -> String {
        match field.strip_prefix('"').and_then(|field| field.strip_suffix('"')) {
            Some(quoted) => quoted.replace("\"\"", "\""),
            None => field.to_owned(),
        }
    }

    #[test]
    fn what_would_be_run_stands_behind_an_apostrophe() {
        for (text, field) in [
            ("=cmd|' /C calc'!A0", "\"'=cmd|' /C calc'!A0\""),
            ("+1+1", "\"'+1+1\""),
            ("@SUM(A1)", "\"'@SUM(A1)\""),
            ("-2+3", "\"'-2+3\""),
            ("＝1+1", "\"'＝1+1\""),
            (" =1", "\"' =1\""),
            ("\"=1\"", "\"'\"\"=1\"\"\""),
            ("'=1", "\"''=1\""),
            ("a;=1", "\"a;'=1\""),
            ("\t=1", "\\t=1"),
            ("\r=1", "\\r=1"),
        ] {
            assert_eq!(csv_field(text), field, "{text:?}");
        }
    }

    #[test]
    fn numbers_and_plain_texts_stay() {
        for text in ["-5", "-1e-9", "+3.5", "8KiB", "page read", "a=b", "5100/s", "C:\\x", "it's"] {
            assert_eq!(read(&csv_field(text)), text);
        }
        assert_eq!(csv_field("a, \"b\""), "\"a, \"\"b\"\"\"");
    }

    proptest! {
        #[test]
        fn a_field_is_no_formula_and_is_read_back(text in "[-+=@＝＋－＠;,\"' a1.e]{0,10}") {
            let found = read(&csv_field(&text));
            for cell in found.split(';') {
                prop_assert!(!cell.starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']) || is_number(&found), "{}", found);
            }
            prop_assert_eq!(text_of(&found), text);
        }

        #[test]
        fn a_field_is_one_line_whatever_the_text(text in any::<String>()) {
            prop_assert!(!csv_field(&text).contains(char::is_control));
        }
    }
}
