//! The fields of a line of a recording: time, tag, value, quality.

use csv::ByteRecord;
use jiff::fmt::temporal::DateTimeParser;

/// Quality of a value by the numbers of OPC (OPC DA 3.0, 6.8: the two upper bits).
pub(super) const GOOD: u8 = 192;
const UNCERTAIN: u8 = 64;
const BAD: u8 = 0;

/// Longest name of a tag, in characters: what the tables of tags have room for.
const TAG_CHARACTERS_MAX: usize = 200;
/// Longest text of a mistake, in characters.
const TEXT_CHARACTERS_MAX: usize = 60;

/// Numbers from here on are milliseconds or microseconds. As seconds they would be the years 5138 and 3170843.
const MILLISECONDS_FROM: u64 = 100_000_000_000;
const MICROSECONDS_FROM: u64 = 100_000_000_000_000;

/// How a file writes its times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimeForm {
    Rfc3339,
    /// A number since 1970, in units of so many nanoseconds.
    Unix {
        unit_ns: u64,
    },
}

/// A line that was understood.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Line<'a> {
    pub(super) form: TimeForm,
    /// Since 1970.
    pub(super) time_ns: i64,
    pub(super) tag: &'a str,
    pub(super) value: f64,
    pub(super) quality: u8,
}

/// What cannot be understood of a line, and what should stand there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) text: String,
    pub(super) remedy: &'static str,
}

/// Reads a line whose times have the form of the file, or any form if it is the first.
pub(super) fn parse(record: &ByteRecord, form: Option<TimeForm>) -> Result<Line<'_>, Fault> {
    if !(3..=4).contains(&record.len()) {
        let whole: Vec<_> = record.iter().map(String::from_utf8_lossy).collect();
        return Err(fault(
            whole.join(" ").as_bytes(),
            "give time, tag and value, and quality if there is one",
        ));
    }
    let [time, tag, value] = [0, 1, 2].map(|index| field(record, index));
    let quality = field(record, 3);
    let form = form.or_else(|| form_of(time));
    let form = form.ok_or_else(|| {
        fault(
            time,
            if is_beyond(time) {
                BEYOND
            } else {
                "give a time as 2026-03-01T07:00:00Z, or as seconds, milliseconds or microseconds since 1970"
            },
        )
    })?;
    let time_ns = time_ns(time, form).ok_or_else(|| {
        fault(
            time,
            match form {
                _ if is_beyond(time) => BEYOND,
                TimeForm::Rfc3339 => {
                    "give a time as 2026-03-01T07:00:00Z, as the first line does, with Z or an offset"
                }
                TimeForm::Unix { .. } => "give a time as a number since 1970, as the first line does",
            },
        )
    })?;
    Ok(Line {
        form,
        time_ns,
        tag: tag_of(tag)?,
        value: value_of(value)
            .ok_or_else(|| fault(value, "give a number with a decimal point, or true or false"))?,
        quality: quality_of(quality).ok_or_else(|| {
            fault(quality, "give a quality from 0 to 255, or good, uncertain or bad, or nothing")
        })?,
    })
}

/// Whether the first line of a file names its columns. One with a value has a mistake in its time instead.
pub(super) fn is_header(record: &ByteRecord) -> bool {
    record.len() >= 3 && form_of(field(record, 0)).is_none() && value_of(field(record, 2)).is_none()
}

/// Without the blanks around it; empty if it is not there.
fn field(record: &ByteRecord, index: usize) -> &[u8] {
    record.get(index).unwrap_or_default().trim_ascii()
}

fn fault(text: &[u8], remedy: &'static str) -> Fault {
    let text = String::from_utf8_lossy(text);
    let mut short: String = text.chars().take(TEXT_CHARACTERS_MAX).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    Fault { text: short, remedy }
}

/// The form that a time has, by itself.
fn form_of(time: &[u8]) -> Option<TimeForm> {
    if let Some((whole, _)) = decimal(time) {
        let unit_ns = if whole < MILLISECONDS_FROM {
            1_000_000_000
        } else if whole < MICROSECONDS_FROM {
            1_000_000
        } else {
            1_000
        };
        return Some(TimeForm::Unix { unit_ns });
    }
    time_ns(time, TimeForm::Rfc3339).map(|_| TimeForm::Rfc3339)
}

/// What is wrong with a time that is one and cannot be stored.
const BEYOND: &str = "times are counted in nanoseconds, from the year 1677 to 2262-04-11: give one within";

/// Whether a time is one, in whatever form, and has no number of nanoseconds.
fn is_beyond(time: &[u8]) -> bool {
    let form = match decimal(time) {
        Some(_) => form_of(time),
        None => PARSER.parse_timestamp(time).is_ok().then_some(TimeForm::Rfc3339),
    };
    form.is_some_and(|form| time_ns(time, form).is_none())
}

static PARSER: DateTimeParser = DateTimeParser::new();

/// Nanoseconds since 1970; `None` if the time has another form or does not fit (after the year 2262).
fn time_ns(time: &[u8], form: TimeForm) -> Option<i64> {
    match form {
        TimeForm::Rfc3339 => {
            let timestamp = PARSER.parse_timestamp(time).ok()?;
            i64::try_from(timestamp.as_nanosecond()).ok()
        }
        TimeForm::Unix { unit_ns } => {
            let (whole, fraction_e9) = decimal(time)?;
            let fraction_ns = u64::from(fraction_e9) * unit_ns / 1_000_000_000;
            i64::try_from(whole.checked_mul(unit_ns)?.checked_add(fraction_ns)?).ok()
        }
    }
}

/// A decimal number without sign: its whole part, and its fraction in billionths. Further digits are cut off.
fn decimal(text: &[u8]) -> Option<(u64, u32)> {
    let (whole, fraction) = match text.iter().position(|byte| *byte == b'.') {
        Some(point) => (&text[..point], &text[point + 1..]),
        None => (text, &b"0"[..]),
    };
    let digits_only = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    if !digits_only(whole) || !digits_only(fraction) {
        return None;
    }
    let whole = std::str::from_utf8(whole).ok()?.parse().ok()?;
    let digit = |index| fraction.get(index).map_or(0, |digit| u32::from(digit - b'0'));
    Some((whole, (0..9).fold(0, |number, index| number * 10 + digit(index))))
}

fn tag_of(text: &[u8]) -> Result<&str, Fault> {
    let tag = std::str::from_utf8(text).map_err(|_| fault(text, "save the file as UTF-8"))?;
    if tag.is_empty() {
        return Err(fault(text, "give the name of a tag"));
    }
    if tag.contains('\0') {
        return Err(fault(text, "leave the zero byte out of the name of the tag"));
    }
    if tag.chars().count() > TAG_CHARACTERS_MAX {
        return Err(fault(text, "give a name of at most 200 characters"));
    }
    Ok(tag)
}

/// A finite number; 1 and 0 for true and false.
fn value_of(text: &[u8]) -> Option<f64> {
    if text.eq_ignore_ascii_case(b"true") {
        return Some(1.0);
    }
    if text.eq_ignore_ascii_case(b"false") {
        return Some(0.0);
    }
    let value: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    value.is_finite().then_some(value)
}

fn quality_of(text: &[u8]) -> Option<u8> {
    let words: [(&[u8], u8); 4] = [(b"", GOOD), (b"good", GOOD), (b"uncertain", UNCERTAIN), (b"bad", BAD)];
    let word = words.iter().find(|(word, _)| text.eq_ignore_ascii_case(word));
    word.map(|(_, quality)| *quality).or_else(|| std::str::from_utf8(text).ok()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECONDS: TimeForm = TimeForm::Unix { unit_ns: 1_000_000_000 };

    #[test]
    fn unit_of_a_number_follows_from_its_size() {
        for (time, unit_ns, ns) in [
            ("0", 1_000_000_000, 0),
            ("1700000000", 1_000_000_000, 1_700_000_000_000_000_000),
            ("1700000000.25", 1_000_000_000, 1_700_000_000_250_000_000),
            ("1700000000123", 1_000_000, 1_700_000_000_123_000_000),
            ("1700000000123.5", 1_000_000, 1_700_000_000_123_500_000),
            ("1700000000123456", 1_000, 1_700_000_000_123_456_000),
        ] {
            let form = form_of(time.as_bytes()).unwrap();
            assert_eq!(form, TimeForm::Unix { unit_ns }, "{time}");
            assert_eq!(time_ns(time.as_bytes(), form), Some(ns), "{time}");
        }
    }

    #[test]
    fn rfc_3339_needs_an_offset() {
        let ns = |time: &str| form_of(time.as_bytes()).and_then(|form| time_ns(time.as_bytes(), form));
        assert_eq!(ns("1970-01-01T00:00:01.5Z"), Some(1_500_000_000));
        assert_eq!(ns("1970-01-01 01:00:02+01:00"), Some(2_000_000_000));
        assert_eq!(ns("1969-12-31T23:59:59Z"), Some(-1_000_000_000));
        for wrong in ["1970-01-01T00:00:00", "1970-01-01", "01.03.2026 07:00", "", "-5", "1e9", "1.", ".5"] {
            assert_eq!(ns(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn times_that_do_not_fit_are_none() {
        assert_eq!(time_ns(b"99999999999", SECONDS), None);
        assert_eq!(time_ns(b"99999999999999999999999", SECONDS), None);
        assert_eq!(time_ns(b"9999-01-01T00:00:00Z", TimeForm::Rfc3339), None);
    }

    #[test]
    fn values_are_finite_numbers_or_truths() {
        for (text, value) in [("1.5", 1.5), ("-2e3", -2e3), ("TRUE", 1.0), ("false", 0.0), ("7", 7.0)] {
            assert_eq!(value_of(text.as_bytes()), Some(value), "{text}");
        }
        for wrong in ["", "1,5", "NaN", "inf", "on", "1.5 bar"] {
            assert_eq!(value_of(wrong.as_bytes()), None, "{wrong}");
        }
    }

    #[test]
    fn qualities_are_words_numbers_or_nothing() {
        for (text, quality) in
            [("", 192), ("Good", 192), ("UNCERTAIN", 64), ("bad", 0), ("17", 17), ("255", 255)]
        {
            assert_eq!(quality_of(text.as_bytes()), Some(quality), "{text}");
        }
        for wrong in ["256", "-1", "fine", "1.0"] {
            assert_eq!(quality_of(wrong.as_bytes()), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn no_line_makes_the_parser_fail(fields in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..30), 0..6)) {
            let record = ByteRecord::from(fields);
            let _ = is_header(&record);
            if let Ok(line) = parse(&record, None) {
                prop_assert!(line.value.is_finite() && !line.tag.is_empty());
            }
        }

        #[test]
        fn a_number_is_read_to_the_nanosecond(seconds in 0..9_000_000_000_u64, ns in 0..1_000_000_000_u32) {
            let text = format!("{seconds}.{ns:09}");
            let expected = seconds as i64 * 1_000_000_000 + i64::from(ns);
            prop_assert_eq!(time_ns(text.as_bytes(), SECONDS), Some(expected));
        }
    }
}
