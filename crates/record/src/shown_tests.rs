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

#[test]
fn passwords_are_not_shown() {
    for (text, seen) in [
        ("postgres://me:secret@h/x", "postgres://me:…@h/x"),
        ("is \"mysql://me:se:c/r@et@h:1/x\", and", "is \"mysql://me:…@h:1/x\", and"),
        ("postgres://a:s1@h,postgres://b:s2@i/x", "postgres://a:…@h,postgres://b:…@i/x"),
        ("postgres://u:s1://s2@h", "postgres://u:…@h"),
        ("postgres://:s@h to http://h/ready", "postgres://:…@h to http://h/ready"),
        ("mysql://h/x?password=s&port=1", "mysql://h/x?password=…&port=1"),
        ("postgres://me:my secret@h/x of me@home", "postgres://me:…@h/x of me@home"),
        ("modbus://h:502", "modbus://h:502"),
        (
            "Server=h,1433;User Id=a;Password=my s:e@c/r=t;Database=x",
            "Server=h,1433;User Id=a;Password=…;Database=x",
        ),
        ("Driver={ODBC};UID=a;PWD={a;b}}c};Encrypt=yes", "Driver={ODBC};UID=a;PWD=…;Encrypt=yes"),
        ("Server=h; password = \"a;b\" ;Pwd='c';", "Server=h; password = … ;Pwd=…;"),
        ("Password=secret", "Password=…"),
        ("Server=h;Password={never closed", "Server=h;Password=…"),
        ("the password = wrong, says the server", "the password = wrong, says the server"),
        ("http://h:80/ready, says me@home", "http://h:80/ready, says me@home"),
        ("postgres://me@h:5432/x mail me@h", "postgres://me@h:5432/x mail me@h"),
        ("12:30 by me@home", "12:30 by me@home"),
    ] {
        assert_eq!(shown(text), seen);
        assert_eq!(holds_password(text), seen != text, "{text}");
        assert!(!holds_password(seen), "{seen} is masked once");
    }
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

    #[test]
    fn no_password_is_left(
        user in "[a-z]{0,4}", password in "[!-~]{1,12}", before in "[a-z \"]{0,4}", after in "[a-z /]{0,4}",
    ) {
        let text = format!("{before}postgres://{user}:0{password}0@h{after}");
        prop_assert_eq!(without_password(&text), format!("{before}postgres://{user}:…@h{after}"));
    }

    #[test]
    fn no_password_of_a_connection_string_is_left(
        password in "[!-:<-z|~][!-:<-~ ]{0,12}", key in "(Password|PWD|password )",
    ) {
        prop_assume!(!password.starts_with(['"', '\'']));
        let text = format!("Server=h;{key}={password};Database=x");
        let shown = without_password(&text).into_owned();
        prop_assert_eq!(shown, format!("Server=h;{key}=…;Database=x"));
    }
}
