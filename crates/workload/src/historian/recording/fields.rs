//! The fields of a line of a recording: time, tag, value, quality.

use std::collections::HashMap;

use csv::ByteRecord;

use super::columns::Places;
use super::hours::Earlier;
use super::quality::{self, Qualities, Quality};
use super::time_format::TimeFormat;
use super::times::{self, Clocks, NoTime, Time, TimeForm};
use super::zone::Zone;
use super::{Marks, Reading, readings};
use crate::historian::parameter;

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
    /// How times are written, if the user says it.
    pub(super) time_format: Option<TimeFormat>,
    /// That of the first event.
    pub(super) time: Option<TimeForm>,
    /// That of the first value that has one.
    pub(super) mark: Option<Mark>,
    /// What qualities mean, if the user says it.
    pub(super) quality: Option<Qualities>,
    /// What to do with lines that are marks, if the user says it.
    pub(super) marks: Option<Marks>,
}

/// A line that was understood.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Line<'a> {
    Event(Event<'a>),
    /// Another program's mark, which is skipped.
    Mark,
}

/// A line with an event, or one that could have had it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Event<'a> {
    pub(super) form: TimeForm,
    pub(super) ns: i64,
    /// Whether clocks showed its time twice, so that the lines before had to decide.
    pub(super) is_twice: bool,
    pub(super) tag: &'a str,
    /// None where no value was taken.
    pub(super) value: Option<f64>,
    /// The mark of the value, if it has one.
    pub(super) mark: Option<Mark>,
    pub(super) quality: Quality,
}

/// What cannot be understood of a line, and what should stand there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) text: String,
    pub(super) remedy: String,
    pub(super) kind: FaultKind,
}

/// What a fault is to the rest of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FaultKind {
    /// A mistake of its line.
    Line,
    /// A local time without a zone, as all lines of the file will have.
    NoZone,
    /// Something that the user has to say of the whole file.
    Unclear,
}

impl Form {
    /// As a user says it.
    pub(super) fn new(comma: bool, reading: &Reading) -> Self {
        Self {
            places: Places::IN_ORDER,
            zone: reading.time_zone.clone(),
            comma,
            time: reading.time_format.as_ref().map(TimeFormat::form),
            time_format: reading.time_format.clone(),
            mark: None,
            quality: reading.quality,
            marks: reading.marks,
        }
    }

    fn clocks(&self) -> Clocks<'_> {
        let pattern = self.time_format.as_ref().and_then(TimeFormat::pattern);
        Clocks { zone: self.zone.as_ref(), comma: self.comma, pattern }
    }

    /// Whether a text is a time of this file, be it one that is not clear.
    fn is_time(&self, text: &[u8]) -> bool {
        match &self.time_format {
            Some(format) => times::parse(text, format.form(), self.clocks()) != Err(NoTime::Form),
            None => times::form_of(text, self.comma).is_some() || readings::of(text, self.comma).is_some(),
        }
    }
}

/// Reads a line of a file of this form, whose tags have these numbers, after these events.
pub(super) fn parse<'a>(
    record: &'a ByteRecord,
    form: &Form,
    numbers: &HashMap<String, u32>,
    earlier: &Earlier,
) -> Result<Line<'a>, Fault> {
    let places = form.places;
    if is_mark(field(record, places.tag)) && form.marks != Some(Marks::Keep) {
        return match form.marks {
            Some(_) => Ok(Line::Mark),
            None => Err(mark_fault(field(record, places.tag))),
        };
    }
    if record.len() < places.fields_min() || (places.only_these && record.len() > 4) {
        return Err(wrong_fields(record, places));
    }
    let [time, tag, value] = [places.time, places.tag, places.value].map(|place| field(record, place));
    let (time_form, moment) = time_of(time, form)?;
    let (ns, is_twice) = match moment {
        Time::Once(ns) => (ns, false),
        Time::Twice(both) => {
            let number = tag_of(tag).ok().and_then(|tag| numbers.get(tag).copied());
            (earlier.choose(both, number).ok_or_else(|| hour_fault(time, form.zone.as_ref()))?, true)
        }
    };
    let tag = tag_of(tag)?;
    let (value, mark) = value_of(value, form).ok_or_else(|| fault(value, value_remedy(value, form)))?;
    let quality = places.quality.map_or(&b""[..], |place| field(record, place));
    let quality =
        quality::of(quality, form.quality).ok_or_else(|| fault(quality, quality::remedy(form.quality)))?;
    Ok(Line::Event(Event { form: time_form, ns, is_twice, tag, value, mark, quality }))
}

/// Whether the first line of a file names its columns. One with a value has a mistake in its time instead.
pub(super) fn is_header(record: &ByteRecord, form: &Form) -> bool {
    let places = form.places;
    record.len() >= places.fields_min()
        && !form.is_time(field(record, places.time))
        && value_of(field(record, places.value), form).is_none()
}

/// Whether a line is an event of these fields: what tells one delimiter from another.
pub(super) fn is_event(record: &ByteRecord) -> bool {
    let form = Form::new(true, &Reading::default());
    (3..=4).contains(&record.len())
        && form.is_time(field(record, 0))
        && matches!(value_of(field(record, 2), &form), Some((Some(_), _)))
}

/// What a line says that is not text in UTF-8.
pub(super) fn encoding_fault(record: &ByteRecord) -> Option<Fault> {
    record.iter().find(|field| std::str::from_utf8(field).is_err()).map(latin_1)
}

/// Old programs of Windows write Windows-1252, which has the letters of Latin-1.
fn latin_1(text: &[u8]) -> Fault {
    let read: String = text.iter().map(|byte| char::from(*byte)).collect();
    let remedy =
        "it is Latin-1 or Windows-1252, not UTF-8; convert the file with `iconv -f WINDOWS-1252 -t UTF-8`";
    Fault { kind: FaultKind::Unclear, ..fault(read.as_bytes(), remedy) }
}

/// A line that WinCC writes among events, such as `$RT_OFF$` when it ends: it is called so in the column of tags.
fn is_mark(tag: &[u8]) -> bool {
    let name = tag.strip_prefix(b"$").and_then(|tag| tag.strip_suffix(b"$"));
    name.is_some_and(|name| {
        !name.is_empty() && name.iter().all(|byte| byte.is_ascii_uppercase() || *byte == b'_')
    })
}

fn mark_fault(tag: &[u8]) -> Fault {
    let [skip, keep] = ["skip", "keep"].map(|value| parameter("marks").of(value));
    let remedy = format!(
        "this is either a WinCC mark in the log or a tag with this name; choose with {skip} or {keep}"
    );
    Fault { kind: FaultKind::Unclear, ..fault(tag, remedy) }
}

fn hour_fault(time: &[u8], zone: Option<&Zone>) -> Fault {
    let zone = zone.map(ToString::to_string).unwrap_or_default();
    fault(
        time,
        format!(
            "this time occurred twice in {zone}, and earlier lines do not show which one is meant: use UTC, an offset, or lines sorted by time"
        ),
    )
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
    Fault { text: short, remedy: remedy.into(), kind: FaultKind::Line }
}

fn time_of(text: &[u8], form: &Form) -> Result<(TimeForm, Time), Fault> {
    let clocks = form.clocks();
    let own = times::form_of(text, form.comma);
    if form.time.is_none()
        && let Some(readings) = readings::of(text, form.comma)
    {
        return Err(Fault { kind: FaultKind::Unclear, ..fault(text, readings) });
    }
    let Some(time_form) = form.time.or(own) else {
        return Err(fault(
            text,
            format!(
                "use 2026-03-01T07:00:00Z, 2026-03-01 07:00:00 or a number since 1970 (seconds, milliseconds, microseconds or \
                nanoseconds), or give the format with {}",
                parameter("time_format")
            ),
        ));
    };
    let read = times::parse(text, time_form, clocks);
    // What cannot be stored is told as that, whatever its form.
    let beyond = || {
        form.time_format.is_none()
            && own.is_some_and(|own| times::parse(text, own, clocks) == Err(NoTime::Beyond))
    };
    let no_time = match read {
        Ok(time) => return Ok((time_form, time)),
        Err(NoTime::Form) if beyond() => NoTime::Beyond,
        Err(no_time) => no_time,
    };
    let kind = if no_time == NoTime::NoZone { FaultKind::NoZone } else { FaultKind::Line };
    Err(Fault { kind, ..fault(text, time_remedy(no_time, time_form, form)) })
}

fn time_remedy(no_time: NoTime, time: TimeForm, form: &Form) -> String {
    let as_first = match (no_time, time) {
        (NoTime::Beyond, _) => "this time cannot be stored: use times from the year 1677 to 2262-04-11",
        (NoTime::Skipped, _) => {
            let zone = form.zone.as_ref().map(ToString::to_string).unwrap_or_default();
            return format!(
                "this time does not exist in {zone}, because clocks went forward: give the time zone of these times, such as {}",
                parameter("time_zone").of("UTC")
            );
        }
        (NoTime::NoZone, _) => {
            return format!("give the zone of local times with {}", parameter("time_zone"));
        }
        (NoTime::Form, _) if form.time_format.is_some() => {
            let format = form.time_format.as_ref().map(ToString::to_string).unwrap_or_default();
            return format!(
                "give a time in the format that {} specifies",
                parameter("time_format").of(format)
            );
        }
        (NoTime::Form, TimeForm::Rfc3339) => {
            "give the time in the form of the first line, 2026-03-01T07:00:00Z, with Z or an offset"
        }
        (NoTime::Form, TimeForm::Local | TimeForm::Pattern) => {
            "give the time in the form of the first line, 2026-03-01 07:00:00, without an offset"
        }
        (NoTime::Form, TimeForm::Number(_)) => {
            "give the time in the form of the first line, a number since 1970"
        }
    };
    as_first.to_owned()
}

fn tag_of(text: &[u8]) -> Result<&str, Fault> {
    let tag = std::str::from_utf8(text).map_err(|_| latin_1(text))?;
    if tag.is_empty() {
        return Err(fault(text, "give the name of a tag"));
    }
    if tag.contains('\0') {
        return Err(fault(text, "remove the zero byte from the name of the tag"));
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
            "use a decimal comma, as in earlier values, and no thousands separator"
        }
        Some(Mark::Point) if value_of(text, &unmarked).is_some() => {
            "use a decimal point, as in earlier values, and no thousands separator"
        }
        _ if form.comma => "give a number with a decimal point or comma, true or false, or nothing",
        _ => {
            "use a number with a decimal point, true, false or nothing. With a decimal comma, separate fields by semicolons or tabs"
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn form(comma: bool, mark: Option<Mark>) -> Form {
        Form { mark, ..Form::new(comma, &Reading::default()) }
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

    proptest! {
        #[test]
        fn no_line_makes_the_parser_fail(fields in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..30), 0..6), comma in any::<bool>()) {
            let record = ByteRecord::from(fields);
            let form = form(comma, None);
            let _ = (is_header(&record, &form), is_event(&record));
            if let Ok(Line::Event(line)) = parse(&record, &form, &HashMap::new(), &Earlier::default()) {
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
