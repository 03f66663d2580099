//! Times of a recording: with an offset, as numbers since 1970, or local ones of a zone that the user gives.

use jiff::civil::DateTime;
use jiff::fmt::temporal::DateTimeParser;

use super::zone::{Instant, Zone};

/// Numbers from here on are milliseconds or microseconds. As seconds they would be the years 5138 and 3170843.
const MILLISECONDS_FROM: u64 = 100_000_000_000;
const MICROSECONDS_FROM: u64 = 100_000_000_000_000;

/// How a file writes its times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimeForm {
    Rfc3339,
    /// Without an offset.
    Local,
    /// A number since 1970, in units of so many nanoseconds.
    Unix {
        unit_ns: u64,
    },
}

/// What reading a time depends on besides its text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clocks<'a> {
    /// Of local times.
    pub(super) zone: Option<&'a Zone>,
    /// Whether a number may have a decimal comma.
    pub(super) comma: bool,
    /// Time of the event before, in nanoseconds since 1970.
    pub(super) previous_ns: Option<i64>,
}

/// A time that was understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Time {
    /// Since 1970.
    pub(super) ns: i64,
    /// Whether clocks showed it twice, so that the event before had to decide.
    pub(super) is_twice: bool,
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
        let unit_ns = if whole < MILLISECONDS_FROM {
            1_000_000_000
        } else if whole < MICROSECONDS_FROM {
            1_000_000
        } else {
            1_000
        };
        return Some(TimeForm::Unix { unit_ns });
    }
    if PARSER.parse_timestamp(time).is_ok() {
        return Some(TimeForm::Rfc3339);
    }
    local(time).map(|_| TimeForm::Local)
}

/// Reads a time of this form.
pub(super) fn parse(time: &[u8], form: TimeForm, clocks: Clocks<'_>) -> Result<Time, NoTime> {
    let once =
        |ns: i128| i64::try_from(ns).map(|ns| Time { ns, is_twice: false }).map_err(|_| NoTime::Beyond);
    match form {
        TimeForm::Rfc3339 => once(PARSER.parse_timestamp(time).map_err(|_| NoTime::Form)?.as_nanosecond()),
        TimeForm::Unix { unit_ns } => {
            let (whole, fraction_e9) = decimal(time, clocks.comma).ok_or(NoTime::Form)?;
            let fraction_ns = u64::from(fraction_e9) * unit_ns / 1_000_000_000;
            once(i128::from(whole) * i128::from(unit_ns) + i128::from(fraction_ns))
        }
        TimeForm::Local => {
            let local = local(time).ok_or(NoTime::Form)?;
            match clocks.zone.ok_or(NoTime::NoZone)?.instant(local).ok_or(NoTime::Beyond)? {
                Instant::One(ns) => once(ns),
                Instant::Twice(both_ns) => {
                    let nearer = once(nearer(both_ns, clocks.previous_ns))?;
                    Ok(Time { is_twice: true, ..nearer })
                }
                Instant::Never => Err(NoTime::Skipped),
            }
        }
    }
}

/// Of two moments that clocks showed alike, the one that is nearer to the event before; the first without one.
fn nearer([first_ns, second_ns]: [i128; 2], previous_ns: Option<i64>) -> i128 {
    let Some(previous_ns) = previous_ns.map(i128::from) else { return first_ns };
    if second_ns.abs_diff(previous_ns) < first_ns.abs_diff(previous_ns) { second_ns } else { first_ns }
}

/// A date and a time of day without offset, zone or calendar.
fn local(time: &[u8]) -> Option<DateTime> {
    // With an offset or a zone it would be read all the same, and these passed over.
    let of_day = time.get(10..)?;
    let is_plain = of_day.contains(&b':') && !of_day.iter().any(|byte| b"+-zZ[".contains(byte));
    is_plain.then(|| PARSER.parse_datetime(time).ok())?
}

/// A decimal number without sign: its whole part, and its fraction in billionths. Further digits are cut off.
fn decimal(text: &[u8], comma: bool) -> Option<(u64, u32)> {
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

    const SECONDS: TimeForm = TimeForm::Unix { unit_ns: 1_000_000_000 };
    const NOWHERE: Clocks<'static> = Clocks { zone: None, comma: false, previous_ns: None };

    fn ns(time: &str, clocks: Clocks<'_>) -> Result<i64, NoTime> {
        let form = form_of(time.as_bytes(), clocks.comma).ok_or(NoTime::Form)?;
        parse(time.as_bytes(), form, clocks).map(|time| time.ns)
    }

    #[test]
    fn unit_of_a_number_follows_from_its_size() {
        for (time, unit_ns, expected_ns) in [
            ("0", 1_000_000_000, 0),
            ("1700000000", 1_000_000_000, 1_700_000_000_000_000_000),
            ("1700000000.25", 1_000_000_000, 1_700_000_000_250_000_000),
            ("1700000000123", 1_000_000, 1_700_000_000_123_000_000),
            ("1700000000123.5", 1_000_000, 1_700_000_000_123_500_000),
            ("1700000000123456", 1_000, 1_700_000_000_123_456_000),
        ] {
            assert_eq!(form_of(time.as_bytes(), false), Some(TimeForm::Unix { unit_ns }), "{time}");
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
    fn an_hour_that_clocks_show_twice_goes_on_from_the_event_before() {
        let Ok(zone) = "Europe/Berlin".parse::<Zone>() else { panic!("this test needs tzdata") };
        let second_ns = 1_000_000_000;
        let at = |time: &str, previous_ns| {
            parse(time.as_bytes(), TimeForm::Local, Clocks { zone: Some(&zone), comma: false, previous_ns })
        };
        let ns_of = |time: &str| ns(time, NOWHERE).unwrap();
        let first = at("2025-10-26 02:59:59", None).unwrap();
        assert_eq!(first, Time { ns: ns_of("2025-10-26T00:59:59Z"), is_twice: true });
        let second = at("2025-10-26 02:00:00", Some(first.ns)).unwrap();
        assert_eq!(second.ns, first.ns + second_ns);
        assert_eq!(at("2025-10-26 02:00:01", Some(second.ns)).unwrap().ns, second.ns + second_ns);
        // One that comes a little late is not moved by an hour.
        assert_eq!(at("2025-10-26 02:59:58", Some(first.ns)).unwrap().ns, first.ns - second_ns);
        assert_eq!(
            at("2025-10-26 03:00:00", Some(first.ns)),
            Ok(Time { ns: ns_of("2025-10-26T02:00:00Z"), is_twice: false })
        );
        assert_eq!(at("2025-03-30 02:30:00", None), Err(NoTime::Skipped));
        assert_eq!(at("2025-03-30 03:00:00", None).unwrap().ns, ns_of("2025-03-30T01:00:00Z"));
    }

    #[test]
    fn times_that_do_not_fit_are_told_apart() {
        for beyond in ["9300000000", "99999999999999999999999", "9999-01-01T00:00:00Z"] {
            assert_eq!(ns(beyond, NOWHERE), Err(NoTime::Beyond), "{beyond}");
        }
        let zone: Zone = "UTC".parse().unwrap();
        assert_eq!(ns("9999-01-01 00:00:00", Clocks { zone: Some(&zone), ..NOWHERE }), Err(NoTime::Beyond));
        assert_eq!(parse(b"99999999999", SECONDS, NOWHERE), Err(NoTime::Beyond));
    }

    proptest! {
        #[test]
        fn a_number_is_read_to_the_nanosecond(seconds in 0..9_000_000_000_u64, ns in 0..1_000_000_000_u32) {
            let text = format!("{seconds}.{ns:09}");
            let expected = seconds as i64 * 1_000_000_000 + i64::from(ns);
            prop_assert_eq!(parse(text.as_bytes(), SECONDS, NOWHERE).map(|time| time.ns), Ok(expected));
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
