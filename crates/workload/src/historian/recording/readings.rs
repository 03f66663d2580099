//! What a first time could mean where it does not tell by itself: days or seconds, the day or the month first.
//!
//! Nothing here reads a recording. A time with readings is refused, and each reading comes with the format that says so.

use jiff::Timestamp;
use jiff::tz::Offset;

use super::time_format::{self, FOREIGN, Numbers};
use super::times::{self, TimeForm};
use crate::historian::parameter;

/// One reading of a time.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Meaning {
    /// As clocks show it.
    shown: String,
    what: String,
    /// The value of the parameter.
    format: String,
}

/// Years that a plant has recordings of.
const YEARS: std::ops::Range<i16> = 1950..2100;

/// What a time could mean, as a sentence with its remedy; none of a time that is understood by itself, or not at all.
pub(super) fn of(time: &[u8], comma: bool) -> Option<String> {
    let meanings = match times::decimal(time, comma) {
        Some((whole, fraction_e9)) => of_number(time, whole, fraction_e9),
        None if times::form_of(time, comma).is_some() => Vec::new(),
        None => of_date(time),
    };
    let told: Vec<String> =
        meanings.iter().map(|Meaning { shown, what, .. }| format!("{shown} as {what}")).collect();
    let formats: Vec<String> = meanings
        .iter()
        .map(|meaning| parameter("time_format").of(quoted(&meaning.format)).to_string())
        .collect();
    let which = if formats.len() == 1 { "say so" } else { "say which" };
    (!told.is_empty())
        .then(|| format!("this can mean {}; {which} with {}", told.join(", or "), formats.join(" or ")))
}

/// As a shell takes it.
fn quoted(format: &str) -> String {
    if format.contains(' ') { format!("'{format}'") } else { format.to_owned() }
}

fn of_number(time: &[u8], whole: u64, fraction_e9: u32) -> Vec<Meaning> {
    let foreign = FOREIGN.iter().filter_map(|numbers| {
        let meaning = meaning(numbers, whole, fraction_e9)?;
        is_of_a_plant(&meaning.shown).then_some(meaning)
    });
    let compact = match time.len() {
        8 => Some(("%Y%m%d", "yyyymmdd")),
        12 => Some(("%Y%m%d%H%M", "yyyymmddhhmm")),
        14 => Some(("%Y%m%d%H%M%S", "yyyymmddhhmmss")),
        17 => Some(("%Y%m%d%H%M%S%f", "yyyymmddhhmmss and milliseconds")),
        _ => None,
    };
    let compact = compact.filter(|_| time.iter().all(u8::is_ascii_digit));
    let compact = compact.and_then(|(pattern, what)| by_pattern(time, pattern, what));
    let others: Vec<Meaning> =
        foreign.chain(compact.filter(|meaning| is_of_a_plant(&meaning.shown))).collect();
    if others.is_empty() {
        return others;
    }
    let usual = match times::number_form(whole) {
        TimeForm::Number(numbers) => meaning(numbers, whole, fraction_e9),
        TimeForm::Rfc3339 | TimeForm::Local | TimeForm::Pattern => None,
    };
    usual.into_iter().chain(others).collect()
}

/// None of a time that cannot be stored.
fn meaning(numbers: &Numbers, whole: u64, fraction_e9: u32) -> Option<Meaning> {
    let ns = i64::try_from(numbers.ns(whole, fraction_e9)).ok()?;
    let moment = Offset::UTC.to_datetime(Timestamp::from_nanosecond(ns.into()).ok()?);
    let zone = if numbers.is_local { "" } else { " UTC" };
    let shown = format!("{}{zone}", moment.strftime("%Y-%m-%d %H:%M:%S%.f"));
    Some(Meaning { shown, what: numbers.what.to_owned(), format: numbers.name.to_owned() })
}

fn is_of_a_plant(shown: &str) -> bool {
    shown.get(..4).and_then(|year| year.parse().ok()).is_some_and(|year: i16| YEARS.contains(&year))
}

fn by_pattern(time: &[u8], pattern: &str, what: &str) -> Option<Meaning> {
    let local = time_format::by_pattern(pattern, time)?.err()?;
    let shown = local.strftime("%Y-%m-%d %H:%M:%S%.f").to_string();
    Some(Meaning { shown, what: what.to_owned(), format: pattern.to_owned() })
}

/// A date whose parts stand in an order that only its country knows, or with other marks than those of ISO 8601.
fn of_date(time: &[u8]) -> Vec<Meaning> {
    let Ok(text) = std::str::from_utf8(time) else { return Vec::new() };
    let (date, between, of_day) = match text.find([' ', 'T']) {
        Some(at) => (&text[..at], &text[at..=at], &text[at + 1..]),
        None => (text, "", ""),
    };
    let Some(mark) = date.chars().find(|letter| "./-".contains(*letter)) else { return Vec::new() };
    let parts: Vec<&str> = date.split(mark).collect();
    let is_number =
        |part: &&str| (1..=4).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
    let ([first, _, last], true) = (parts.as_slice(), parts.iter().all(is_number)) else { return Vec::new() };
    let Some(of_day) = time_pattern(of_day) else { return Vec::new() };
    let layouts: Vec<(String, &str)> = match (first.len(), last.len()) {
        (4, _) => vec![(format!("%Y{mark}%m{mark}%d"), "year, month, day")],
        (_, year @ (2 | 4)) => {
            let year = if year == 4 { "%Y" } else { "%y" };
            vec![
                (format!("%d{mark}%m{mark}{year}"), "day, month, year"),
                (format!("%m{mark}%d{mark}{year}"), "month, day, year"),
            ]
        }
        _ => Vec::new(),
    };
    let patterns = layouts.into_iter().map(|(date, what)| (format!("{date}{between}{of_day}"), what));
    patterns.filter_map(|(pattern, what)| by_pattern(time, &pattern, what)).collect()
}

/// The pattern of a time of day; empty of none.
fn time_pattern(of_day: &str) -> Option<String> {
    if of_day.is_empty() {
        return Some(String::new());
    }
    let half = of_day.to_ascii_uppercase().ends_with('M');
    let clock = of_day.trim_end_matches(|letter: char| letter.is_ascii_alphabetic() || letter == ' ');
    let seconds = match clock.split(':').count() {
        2 => "",
        3 => ":%S%.f",
        _ => return None,
    };
    let blank = if of_day.len() > clock.len() + 2 { " " } else { "" };
    let (hour, end) = if half { ("%I", format!("{blank}%p")) } else { ("%H", String::new()) };
    Some(format!("{hour}:%M{seconds}{end}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(time: &str) -> String {
        of(time.as_bytes(), true)
            .unwrap_or_default()
            .replace(['‹', '›'], "")
            .replace("workload.historian.", "")
    }

    #[test]
    fn times_of_two_readings_have_both() {
        insta::assert_snapshot!(
            ["46174,25", "46174.25", "46174250000,5", "134247672000000000", "639158904000000000", "20260601060000",
             "202606010600", "20260601", "20260601060000123", "01.05.2026 08:00:00,123", "13.05.2026 08:00", "5/1/2026 8:00:00 AM",
             "05/13/26 08:00:00", "2026/05/01 08:00:00", "01.05.2026"]
                .map(|time| format!("{time}: {}", told(time))).join("\n"), @r"
                46174,25: this can mean 1970-01-01 12:49:34.25 UTC as seconds since 1970, or 2026-06-01 06:00:00 as days of a spreadsheet; say which with time_format unix-s or time_format excel
                46174.25: this can mean 1970-01-01 12:49:34.25 UTC as seconds since 1970, or 2026-06-01 06:00:00 as days of a spreadsheet; say which with time_format unix-s or time_format excel
                46174250000,5: this can mean 2026-06-01 06:00:00.043 as Time_ms of WinCC (millionths of a spreadsheet day); say so with time_format wincc
                134247672000000000: this can mean 1974-04-03 19:01:12 UTC as nanoseconds since 1970, or 2026-06-01 06:00:00 UTC as FILETIME of Windows (100 ns since 1601); say which with time_format unix-ns or time_format filetime
                639158904000000000: this can mean 1990-04-03 16:08:24 UTC as nanoseconds since 1970, or 2026-06-01 06:00:00 UTC as ticks of .NET (100 ns since the year 1); say which with time_format unix-ns or time_format dotnet-ticks
                20260601060000: this can mean 2026-06-01 06:00:00 as yyyymmddhhmmss; say so with time_format %Y%m%d%H%M%S
                202606010600: this can mean 1976-06-02 23:26:50.6 UTC as milliseconds since 1970, or 2026-06-01 06:00:00 as yyyymmddhhmm; say which with time_format unix-ms or time_format %Y%m%d%H%M
                20260601: this can mean 1970-08-23 11:56:41 UTC as seconds since 1970, or 2026-06-01 00:00:00 as yyyymmdd; say which with time_format unix-s or time_format %Y%m%d
                20260601060000123: this can mean 2026-06-01 06:00:00.123 as yyyymmddhhmmss and milliseconds; say so with time_format %Y%m%d%H%M%S%f
                01.05.2026 08:00:00,123: this can mean 2026-05-01 08:00:00.123 as day, month, year, or 2026-01-05 08:00:00.123 as month, day, year; say which with time_format '%d.%m.%Y %H:%M:%S%.f' or time_format '%m.%d.%Y %H:%M:%S%.f'
                13.05.2026 08:00: this can mean 2026-05-13 08:00:00 as day, month, year; say so with time_format '%d.%m.%Y %H:%M'
                5/1/2026 8:00:00 AM: this can mean 2026-01-05 08:00:00 as day, month, year, or 2026-05-01 08:00:00 as month, day, year; say which with time_format '%d/%m/%Y %I:%M:%S%.f %p' or time_format '%m/%d/%Y %I:%M:%S%.f %p'
                05/13/26 08:00:00: this can mean 2026-05-13 08:00:00 as month, day, year; say so with time_format '%m/%d/%y %H:%M:%S%.f'
                2026/05/01 08:00:00: this can mean 2026-05-01 08:00:00 as year, month, day; say so with time_format '%Y/%m/%d %H:%M:%S%.f'
                01.05.2026: this can mean 2026-05-01 00:00:00 as day, month, year, or 2026-01-05 00:00:00 as month, day, year; say which with time_format %d.%m.%Y or time_format %m.%d.%Y
                ");
    }

    #[test]
    fn times_of_one_reading_are_not_asked_about() {
        for plain in [
            "0",
            "1",
            "5.5",
            "86400",
            "1700000000",
            "1700000000,25",
            "1700000000123",
            "1700000000123456",
            "1780293600000000000",
            "99999999999999999999",
            "2026-05-01T08:00:00Z",
            "yesterday",
            "",
            "time",
            "1.2.3.4",
            "31.31.2026 08:00",
            "a.b.c 08:00",
        ] {
            assert_eq!(told(plain), "", "{plain}");
        }
    }
}
