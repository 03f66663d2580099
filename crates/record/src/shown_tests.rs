//! Tests of [`shown`](super::shown).

use proptest::prelude::*;

use super::*;

#[test]
fn control_characters_are_seen() {
    for (text, seen) in [
        ("page read 8KiB Q1 – µs 10 %", "page read 8KiB Q1 – µs 10 %"),
        ("C:\\test\\new.dat", "C:\\test\\new.dat"),
        ("\u{1b}[31mred\u{7}", "\\x1b[31mred\\x07"),
        ("a\nfinding  b: holds\r\t", "a\\nfinding  b: holds\\r\\t"),
        ("\0\u{7f}\u{85}\u{9b}", "\\x00\\x7f\\u{85}\\u{9b}"),
        ("\u{202e}gnp.exe\u{2066}\u{2028}\u{feff}", "\\u{202e}gnp.exe\\u{2066}\\u{2028}\\u{feff}"),
    ] {
        assert_eq!(shown(text), seen);
    }
}

#[test]
fn lines_keep_their_ends_and_nothing_else() {
    assert_eq!(Lines::each(["a\nb", "c"]).as_str(), "a\\nb\nc\n");
    assert_eq!(Lines::of("a\nb\u{1b}[2J\r\n").as_str(), "a\nb\\x1b[2J\\r\n");
}

proptest! {
    #[test]
    fn nothing_shown_is_hidden(text in any::<String>()) {
        prop_assert!(!shown(&text).contains(is_hidden));
        let once = shown(&text);
        prop_assert_eq!(shown(&once), once.as_ref());
        prop_assert!(!Lines::of(&text).as_str().replace('\n', "").contains(is_hidden));
    }

    #[test]
    fn plain_text_stays_as_it_is(text in "[ -9;-~µ–éß漢😀]{0,40}") {
        prop_assert_eq!(shown(&text), text.as_str());
    }

    #[test]
    fn a_json_document_says_the_same(text in any::<String>(), more in "[\u{7f}-\u{9f}\u{2028}-\u{202e}\n\r\u{1b}]{0,4}") {
        let value = serde_json::json!({ "text": format!("{text}{more}") });
        let document = shown_json(&serde_json::to_string_pretty(&value).unwrap());
        prop_assert!(!document.replace('\n', "").contains(is_hidden));
        prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&document).unwrap(), value);
    }
}
