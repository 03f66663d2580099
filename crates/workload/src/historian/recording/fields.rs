//! The fields of a line of a recording: time, tag, value, quality.

use csv::ByteRecord;

use super::columns::Places;
use super::times::{self, Clocks, NoTime, Time, TimeForm};
use super::zone::Zone;
use crate::historian::parameter;

/// Quality of a value by the numbers of OPC (OPC DA 3.0, 6.8: the two upper bits).
pub(super) const GOOD: u8 = 192;
const UNCERTAIN: u8 = 64;
const BAD: u8 = 0;

/// Longest name of a tag, in characters: what the tables of tags have room for.
const TAG_CHARACTERS_MAX: usize = 200;
/// Longest text of a mistake, in characters.
const TEXT_CHARACTERS_MAX: usize = 60;

/// What stands where no value was taken, besides nothing at all; in any capitals.
const NO_VALUES: [&[u8]; 3] = [b"nan", b"-nan", b"null"];

/// What stands between the whole part of a value and its fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Point,
    Comma,
}

/// How the lines of a file are written, as far as it is known.
#[derive(Clone, Debug)]
pub(super) struct Form {
    pub(super) places: Places,
    /// Of local times.
    pub(super) zone: Option<Zone>,
    /// Whether commas are no delimiters, and can be decimal marks.
    pub(super) comma: bool,
    /// That of the first event.
    pub(super) time: Option<TimeForm>,
    /// That of the first value that has one.
    pub(super) mark: Option<Mark>,
}

/// A line that was understood.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Line<'a> {
    pub(super) form: TimeForm,
    pub(super) time: Time,
    pub(super) tag: &'a str,
    /// None where no value was taken.
    pub(super) value: Option<f64>,
    /// The mark of the value, if it has one.
    pub(super) mark: Option<Mark>,
    pub(super) quality: u8,
}

/// What cannot be understood of a line, and what should stand there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) text: String,
    pub(super) remedy: String,
    /// Whether it is a local time without a zone, as all lines of its file will be.
    pub(super) lacks_zone: bool,
}

/// Reads a line of a file of this form, after an event of this time.
pub(super) fn parse<'a>(
    record: &'a ByteRecord,
    form: &Form,
    previous_ns: Option<i64>,
) -> Result<Line<'a>, Fault> {
    let places = form.places;
    if record.len() < places.fields_min() || (places.only_these && record.len() > 4) {
        return Err(wrong_fields(record, places));
    }
    let [time, tag, value] = [places.time, places.tag, places.value].map(|place| field(record, place));
    let quality = places.quality.map_or(&b""[..], |place| field(record, place));
    let (time_form, time) = time_of(time, form, previous_ns)?;
    let tag = tag_of(tag)?;
    let (value, mark) = value_of(value, form).ok_or_else(|| fault(value, value_remedy(value, form)))?;
    let quality = quality_of(quality).ok_or_else(|| {
        fault(quality, "give a quality from 0 to 255, or good, uncertain or bad, or nothing")
    })?;
    Ok(Line { form: time_form, time, tag, value, mark, quality })
}

/// Whether the first line of a file names its columns. One with a value has a mistake in its time instead.
pub(super) fn is_header(record: &ByteRecord, form: &Form) -> bool {
    let places = form.places;
    record.len() >= places.fields_min()
        && times::form_of(field(record, places.time), form.comma).is_none()
        && value_of(field(record, places.value), form).is_none()
}

/// Whether a line is an event of these fields: what tells one delimiter from another.
pub(super) fn is_event(record: &ByteRecord) -> bool {
    let form = Form { places: Places::IN_ORDER, zone: None, comma: true, time: None, mark: None };
    (3..=4).contains(&record.len())
        && times::form_of(field(record, 0), true).is_some()
        && matches!(value_of(field(record, 2), &form), Some((Some(_), _)))
}

fn wrong_fields(record: &ByteRecord, places: Places) -> Fault {
    let whole: Vec<_> = record.iter().map(String::from_utf8_lossy).collect();
    let remedy = if places.only_these {
        let columns = parameter("columns").of("time=1,tag=2,value=3");
        format!(
            "give time, tag and value, and quality if there is one, or say which columns they are: {columns}"
        )
    } else {
        format!("give at least {} fields, up to the last of time, tag and value", places.fields_min())
    };
    fault(whole.join(" ").as_bytes(), remedy)
}

/// Without the blanks around it; empty if it is not there.
fn field(record: &ByteRecord, index: usize) -> &[u8] {
    record.get(index).unwrap_or_default().trim_ascii()
}

fn fault(text: &[u8], remedy: impl Into<String>) -> Fault {
    let text = String::from_utf8_lossy(text);
    let mut short: String = text.chars().take(TEXT_CHARACTERS_MAX).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    Fault { text: short, remedy: remedy.into(), lacks_zone: false }
}

fn time_of(text: &[u8], form: &Form, previous_ns: Option<i64>) -> Result<(TimeForm, Time), Fault> {
    let clocks = Clocks { zone: form.zone.as_ref(), comma: form.comma, previous_ns };
    let own = times::form_of(text, form.comma);
    let Some(time_form) = form.time.or(own) else {
        return Err(fault(
            text,
            "give a time as 2026-03-01T07:00:00Z or 2026-03-01 07:00:00, or as seconds, milliseconds or microseconds since 1970",
        ));
    };
    let read = times::parse(text, time_form, clocks);
    // What cannot be stored is told as that, whatever its form.
    let beyond = || own.is_some_and(|own| times::parse(text, own, clocks) == Err(NoTime::Beyond));
    let no_time = match read {
        Ok(time) => return Ok((time_form, time)),
        Err(NoTime::Form) if beyond() => NoTime::Beyond,
        Err(no_time) => no_time,
    };
    let lacks_zone = no_time == NoTime::NoZone;
    Err(Fault { lacks_zone, ..fault(text, time_remedy(no_time, time_form, form.zone.as_ref())) })
}

fn time_remedy(no_time: NoTime, form: TimeForm, zone: Option<&Zone>) -> String {
    let as_first = match (no_time, form) {
        (NoTime::Beyond, _) => {
            "times are counted in nanoseconds, from the year 1677 to 2262-04-11: give one within"
        }
        (NoTime::Skipped, _) => {
            let zone = zone.map(ToString::to_string).unwrap_or_default();
            return format!(
                "clocks of {zone} went forward over this time and never showed it: give the zone that these times are of, \
                 such as {}",
                parameter("time_zone").of("UTC")
            );
        }
        (NoTime::NoZone, _) => {
            return format!("give the zone of local times with {}", parameter("time_zone"));
        }
        (NoTime::Form, TimeForm::Rfc3339) => {
            "give a time as 2026-03-01T07:00:00Z, as the first line does, with Z or an offset"
        }
        (NoTime::Form, TimeForm::Local) => {
            "give a time as 2026-03-01 07:00:00, as the first line does, without an offset"
        }
        (NoTime::Form, TimeForm::Unix { .. }) => "give a time as a number since 1970, as the first line does",
    };
    as_first.to_owned()
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

/// A finite number with its mark, 1 and 0 for true and false, or no value where none was taken.
fn value_of(text: &[u8], form: &Form) -> Option<(Option<f64>, Option<Mark>)> {
    let is = |word: &[u8]| text.eq_ignore_ascii_case(word);
    if text.is_empty() || NO_VALUES.into_iter().any(is) {
        return Some((None, None));
    }
    if is(b"true") || is(b"false") {
        return Some((Some(f64::from(u8::from(is(b"true")))), None));
    }
    let text = std::str::from_utf8(text).ok()?;
    let mark = match (text.contains('.'), text.contains(',')) {
        (true, false) => Some(Mark::Point),
        (false, true) if form.comma => Some(Mark::Comma),
        (false, false) => None,
        (_, true) => return None,
    };
    if mark.is_some() && form.mark.is_some() && mark != form.mark {
        return None;
    }
    let value: f64 =
        if mark == Some(Mark::Comma) { text.replacen(',', ".", 1).parse() } else { text.parse() }.ok()?;
    value.is_finite().then_some((Some(value), mark))
}

fn value_remedy(text: &[u8], form: &Form) -> &'static str {
    let unmarked = Form { mark: None, ..form.clone() };
    match form.mark {
        Some(Mark::Comma) if value_of(text, &unmarked).is_some() => {
            "give a decimal comma, as the values before, and nothing between thousands"
        }
        Some(Mark::Point) if value_of(text, &unmarked).is_some() => {
            "give a decimal point, as the values before, and nothing between thousands"
        }
        _ if form.comma => "give a number with a decimal point or comma, true or false, or nothing",
        _ => {
            "give a number with a decimal point, true or false, or nothing; with a decimal comma, separate fields by ; or tabs"
        }
    }
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

    fn form(comma: bool, mark: Option<Mark>) -> Form {
        Form { places: Places::IN_ORDER, zone: None, comma, time: None, mark }
    }

    #[test]
    fn values_are_finite_numbers_or_truths_or_none() {
        let commas = form(true, None);
        let points = form(false, None);
        for (text, value) in [("1.5", 1.5), ("-2e3", -2e3), ("TRUE", 1.0), ("false", 0.0), ("7", 7.0)] {
            for form in [&commas, &points] {
                assert_eq!(value_of(text.as_bytes(), form).unwrap().0, Some(value), "{text}");
            }
        }
        for none in ["", "NaN", "nan", "-NaN", "NULL"] {
            assert_eq!(value_of(none.as_bytes(), &points), Some((None, None)), "{none}");
        }
        for wrong in ["1,5", "inf", "on", "1.5 bar", "n/a", "."] {
            assert_eq!(value_of(wrong.as_bytes(), &points), None, "{wrong}");
        }
        assert_eq!(value_of(b"-1,5e3", &commas), Some((Some(-1_500.0), Some(Mark::Comma))));
        for wrong in ["1,234,5", "1.234,5", "1,234.5", ","] {
            assert_eq!(value_of(wrong.as_bytes(), &commas), None, "{wrong}");
        }
    }

    #[test]
    fn one_mark_is_that_of_the_whole_file() {
        assert_eq!(value_of(b"1.234", &form(true, Some(Mark::Comma))), None);
        assert_eq!(value_of(b"1,234", &form(true, Some(Mark::Point))), None);
        assert_eq!(value_of(b"1234", &form(true, Some(Mark::Comma))), Some((Some(1_234.0), None)));
        assert!(value_remedy(b"1.234", &form(true, Some(Mark::Comma))).contains("decimal comma, as"));
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
        fn no_line_makes_the_parser_fail(fields in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..30), 0..6), comma in any::<bool>()) {
            let record = ByteRecord::from(fields);
            let form = form(comma, None);
            let _ = (is_header(&record, &form), is_event(&record));
            if let Ok(line) = parse(&record, &form, None) {
                prop_assert!(line.value.is_none_or(f64::is_finite) && !line.tag.is_empty());
            }
        }

        #[test]
        fn a_value_is_the_same_with_a_comma(value in -1e12..1e12_f64) {
            let text = value.to_string();
            let read = |text: &str| value_of(text.as_bytes(), &form(true, None)).and_then(|(value, _)| value);
            prop_assert_eq!(read(&text), Some(value));
            prop_assert_eq!(read(&text.replace('.', ",")), Some(value));
        }
    }
}
