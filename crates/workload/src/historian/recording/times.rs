//! Times of a recording: with an offset, as numbers since some moment, or local ones of a zone that the user gives.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::fmt::temporal::DateTimeParser;
use jiff::tz::Offset;

use super::time_format::{self, MICROSECONDS, MILLISECONDS, NANOSECONDS, Numbers, SECONDS};
use super::zone::{Instant, Zone};

/// Numbers from here on are milliseconds, microseconds or nanoseconds. As seconds they would be the years 5138, 3170843 and later.
const MILLISECONDS_FROM: u64 = 100_000_000_000;
const MICROSECONDS_FROM: u64 = 100_000_000_000_000;
const NANOSECONDS_FROM: u64 = 100_000_000_000_000_000;

/// How a file writes its times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimeForm {
    Rfc3339,
    /// Without an offset.
    Local,
    Number(&'static Numbers),
    /// As a pattern says that the user gives.
    Pattern,
}

impl TimeForm {
    /// Whether it can show the clocks of a zone.
    pub(super) fn is_local(self) -> bool {
        match self {
            Self::Local | Self::Pattern => true,
            Self::Number(numbers) => numbers.is_local,
            Self::Rfc3339 => false,
        }
    }
}

/// What reading a time depends on besides its text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clocks<'a> {
    /// Of local times.
    pub(super) zone: Option<&'a Zone>,
    /// Whether a number may have a decimal comma.
    pub(super) comma: bool,
    /// The pattern of [`TimeForm::Pattern`].
    pub(super) pattern: Option<&'a str>,
}

/// A time that was understood, in nanoseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Time {
    Once(i64),
    /// Clocks went back and showed it at both moments.
    Twice([i64; 2]),
}

/// Why a time was not understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoTime {
    /// It has another form.
    Form,
    /// It is one and has no number of nanoseconds.
    Beyond,
    /// Clocks went forward over it.
    Skipped,
    /// It is local, and nobody said where.
    NoZone,
}

static PARSER: DateTimeParser = DateTimeParser::new();

/// The form that a time has, by itself.
pub(super) fn form_of(time: &[u8], comma: bool) -> Option<TimeForm> {
    if let Some((whole, _)) = decimal(time, comma) {
        return Some(number_form(whole));
    }
    if PARSER.parse_timestamp(time).is_ok() {
        return Some(TimeForm::Rfc3339);
    }
    local(time).map(|_| TimeForm::Local)
}

/// The form of a number since 1970, by its size.
pub(super) fn number_form(whole: u64) -> TimeForm {
    TimeForm::Number(match whole {
        ..MILLISECONDS_FROM => &SECONDS,
        MILLISECONDS_FROM..MICROSECONDS_FROM => &MILLISECONDS,
        MICROSECONDS_FROM..NANOSECONDS_FROM => &MICROSECONDS,
        _ => &NANOSECONDS,
    })
}

/// Reads a time of this form.
pub(super) fn parse(time: &[u8], form: TimeForm, clocks: Clocks<'_>) -> Result<Time, NoTime> {
    match form {
        TimeForm::Rfc3339 => once(PARSER.parse_timestamp(time).map_err(|_| NoTime::Form)?.as_nanosecond()),
        TimeForm::Number(numbers) => {
            let (whole, fraction_e9) = decimal(time, clocks.comma).ok_or(NoTime::Form)?;
            let ns = numbers.ns(whole, fraction_e9);
            if !numbers.is_local {
                return once(ns);
            }
            let shown = Timestamp::from_nanosecond(ns).map_err(|_| NoTime::Beyond)?;
            of_zone(Offset::UTC.to_datetime(shown), clocks)
        }
        TimeForm::Local => of_zone(local(time).ok_or(NoTime::Form)?, clocks),
        TimeForm::Pattern => {
            match time_format::by_pattern(clocks.pattern.unwrap_or_default(), time).ok_or(NoTime::Form)? {
                Ok(ns) => once(ns),
                Err(local) => of_zone(local, clocks),
            }
        }
    }
}

fn once(ns: i128) -> Result<Time, NoTime> {
    i64::try_from(ns).map(Time::Once).map_err(|_| NoTime::Beyond)
}

/// What clocks of the zone showed.
fn of_zone(local: DateTime, clocks: Clocks<'_>) -> Result<Time, NoTime> {
    let stored = |ns: i128| i64::try_from(ns).map_err(|_| NoTime::Beyond);
    match clocks.zone.ok_or(NoTime::NoZone)?.instant(local).ok_or(NoTime::Beyond)? {
        Instant::One(ns) => once(ns),
        Instant::Twice([first, second]) => Ok(Time::Twice([stored(first)?, stored(second)?])),
        Instant::Never => Err(NoTime::Skipped),
    }
}

/// A date and a time of day without offset, zone or calendar.
fn local(time: &[u8]) -> Option<DateTime> {
    // With an offset or a zone it would be read all the same, and these passed over.
    let of_day = time.get(10..)?;
    let is_plain = of_day.contains(&b':') && !of_day.iter().any(|byte| b"+-zZ[".contains(byte));
    is_plain.then(|| PARSER.parse_datetime(time).ok())?
}

/// A decimal number without sign: its whole part, and its fraction in billionths. Further digits are cut off.
pub(super) fn decimal(text: &[u8], comma: bool) -> Option<(u64, u32)> {
    let is_mark = |byte: &u8| *byte == b'.' || (comma && *byte == b',');
    let (whole, fraction) = match text.iter().position(is_mark) {
        Some(mark) => (&text[..mark], &text[mark + 1..]),
        None => (text, &b"0"[..]),
    };
    let digits_only = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    if !digits_only(whole) || !digits_only(fraction) {
        return None;
    }
    // A number that is too long for this is none of a time that can be stored.
    let whole = std::str::from_utf8(whole).ok()?.parse().unwrap_or(u64::MAX);
    let digit = |index| fraction.get(index).map_or(0, |digit| u32::from(digit - b'0'));
    Some((whole, (0..9).fold(0, |number, index| number * 10 + digit(index))))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const IN_SECONDS: TimeForm = TimeForm::Number(&SECONDS);
    const NOWHERE: Clocks<'static> = Clocks { zone: None, comma: false, pattern: None };

    fn ns(time: &str, clocks: Clocks<'_>) -> Result<i64, NoTime> {
        let form = form_of(time.as_bytes(), clocks.comma).ok_or(NoTime::Form)?;
        match parse(time.as_bytes(), form, clocks)? {
            Time::Once(ns) => Ok(ns),
            Time::Twice(both) => panic!("{both:?}"),
        }
    }

    #[test]
    fn unit_of_a_number_follows_from_its_size() {
        for (time, numbers, expected_ns) in [
            ("0", &SECONDS, 0),
            ("1700000000", &SECONDS, 1_700_000_000_000_000_000),
            ("1700000000.25", &SECONDS, 1_700_000_000_250_000_000),
            ("1700000000123", &MILLISECONDS, 1_700_000_000_123_000_000),
            ("1700000000123.5", &MILLISECONDS, 1_700_000_000_123_500_000),
            ("1700000000123456", &MICROSECONDS, 1_700_000_000_123_456_000),
            ("1700000000123456789", &NANOSECONDS, 1_700_000_000_123_456_789),
        ] {
            assert_eq!(form_of(time.as_bytes(), false), Some(TimeForm::Number(numbers)), "{time}");
            assert_eq!(ns(time, NOWHERE), Ok(expected_ns), "{time}");
        }
        assert_eq!(ns("1700000000,25", Clocks { comma: true, ..NOWHERE }), Ok(1_700_000_000_250_000_000));
    }

    #[test]
    fn rfc_3339_needs_an_offset() {
        assert_eq!(ns("1970-01-01T00:00:01.5Z", NOWHERE), Ok(1_500_000_000));
        assert_eq!(ns("1970-01-01 01:00:02+01:00", NOWHERE), Ok(2_000_000_000));
        assert_eq!(ns("1969-12-31T23:59:59Z", NOWHERE), Ok(-1_000_000_000));
        for wrong in
            ["1970-01-01", "01.03.2026 07:00", "", "-5", "1e9", "1.", ".5", "1,5", "1970-01-01T25:00:00"]
        {
            assert_eq!(ns(wrong, NOWHERE), Err(NoTime::Form), "{wrong}");
        }
    }

    #[test]
    fn local_times_need_a_zone() {
        let zone: Zone = "+02:00".parse().unwrap();
        let there = Clocks { zone: Some(&zone), ..NOWHERE };
        for time in ["1970-01-01T02:00:01.5", "1970-01-01 02:00:01.5", "1970-01-01 02:00:01,5"] {
            assert_eq!(ns(time, NOWHERE), Err(NoTime::NoZone), "{time}");
            assert_eq!(ns(time, there), Ok(1_500_000_000), "{time}");
        }
        // With an offset or a zone of its own it is no local time, whose offset would be passed over.
        for other in
            ["1970-01-01T02:00:01+05:00", "1970-01-01T02:00:01Z", "1970-01-01T02:00:01[Europe/Berlin]"]
        {
            assert_eq!(parse(other.as_bytes(), TimeForm::Local, there), Err(NoTime::Form), "{other}");
        }
    }

    /// Clocks of Berlin went back from 03:00 to 02:00 at 01:00 UTC on 2025-10-26, and forward from 02:00 on 2025-03-30.
    #[test]
    fn an_hour_that_clocks_show_twice_is_two_moments() {
        let Ok(zone) = "Europe/Berlin".parse::<Zone>() else { panic!("this test needs tzdata") };
        let at =
            |time: &str| parse(time.as_bytes(), TimeForm::Local, Clocks { zone: Some(&zone), ..NOWHERE });
        let ns_of = |time: &str| ns(time, NOWHERE).unwrap();
        let both = [ns_of("2025-10-26T00:30:00Z"), ns_of("2025-10-26T01:30:00Z")];
        assert_eq!(at("2025-10-26 02:30:00"), Ok(Time::Twice(both)));
        assert_eq!(at("2025-10-26 03:00:00"), Ok(Time::Once(ns_of("2025-10-26T02:00:00Z"))));
        assert_eq!(at("2025-03-30 02:30:00"), Err(NoTime::Skipped));
        assert_eq!(at("2025-03-30 03:00:00"), Ok(Time::Once(ns_of("2025-03-30T01:00:00Z"))));
    }

    #[test]
    fn times_that_do_not_fit_are_told_apart() {
        for beyond in ["9300000000", "99999999999999999999999", "9999-01-01T00:00:00Z"] {
            assert_eq!(ns(beyond, NOWHERE), Err(NoTime::Beyond), "{beyond}");
        }
        let zone: Zone = "UTC".parse().unwrap();
        assert_eq!(ns("9999-01-01 00:00:00", Clocks { zone: Some(&zone), ..NOWHERE }), Err(NoTime::Beyond));
        assert_eq!(parse(b"99999999999", IN_SECONDS, NOWHERE), Err(NoTime::Beyond));
    }

    proptest! {
        #[test]
        fn a_number_is_read_to_the_nanosecond(seconds in 0..9_000_000_000_u64, ns in 0..1_000_000_000_u32) {
            let text = format!("{seconds}.{ns:09}");
            let expected = seconds as i64 * 1_000_000_000 + i64::from(ns);
            prop_assert_eq!(parse(text.as_bytes(), IN_SECONDS, NOWHERE), Ok(Time::Once(expected)));
        }

        #[test]
        fn a_local_time_is_the_moment_at_which_clocks_showed_it(seconds in -2_000_000_000..4_000_000_000_i64, minutes in -1_080..=1_080_i64) {
            let offset = jiff::tz::Offset::from_seconds(minutes as i32 * 60).unwrap();
            let shown = offset.to_datetime(jiff::Timestamp::from_second(seconds).unwrap()).to_string();
            let sign = if minutes < 0 { '-' } else { '+' };
            let zone: Zone = format!("{sign}{:02}:{:02}", minutes.abs() / 60, minutes.abs() % 60).parse().unwrap();
            let clocks = Clocks { zone: Some(&zone), ..NOWHERE };
            prop_assert_eq!(ns(&shown, clocks), Ok(seconds * 1_000_000_000));
            prop_assert_eq!(ns(&shown.replace('T', " "), clocks), Ok(seconds * 1_000_000_000));
        }
    }
}
