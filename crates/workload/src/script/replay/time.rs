//! Times as logs write them, in microseconds since 1970.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// `2024-01-15 10:00:00.123 CET` and `2024-01-15T10:00:00.123456+01:00`, and what stands behind the seconds. A zone whose name is not known
/// counts as UTC: what matters is how far times of one log are apart, and those that change their name twice a year are known.
pub(super) fn parsed(text: &str) -> Option<(i64, &str)> {
    let bytes = text.as_bytes();
    let is_date = bytes.len() >= 19
        && bytes[4] == b'-'
        && bytes[7] == b'-'
        && matches!(bytes[10], b' ' | b'T')
        && bytes[13] == b':'
        && bytes[16] == b':'
        && text.is_char_boundary(19);
    if !is_date {
        return None;
    }
    let part = |from: usize, to: usize| number(text.get(from..to)?);
    let date = [part(0, 4)?, part(5, 7)?, part(8, 10)?];
    let seconds = utc_us(date, [part(11, 13)?, part(14, 16)?, part(17, 19)?])?;
    let rest = &text[19..];
    let (fraction_us, zone) = match rest.strip_prefix('.') {
        Some(rest) => {
            let end = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
            let digits: String = rest[..end].chars().chain("000000".chars()).take(6).collect();
            (number(&digits)?, &rest[end..])
        }
        None => (0, rest),
    };
    let zone = zone.trim();
    Some((seconds + fraction_us - offset_us(zone).or_else(|| named_offset_us(zone)).unwrap_or(0), zone))
}

/// `240115  9:05:07`, the local time of MariaDB's log.
pub(super) fn short(text: &str) -> Option<i64> {
    let (date, clock) = text.split_once(' ')?;
    if date.len() != 6 || !date.is_ascii() {
        return None;
    }
    let mut clock = clock.trim_start().splitn(3, ':').map(number);
    let clock = [clock.next()??, clock.next()??, clock.next()??];
    let part = |from: usize| number(&date[from..from + 2]);
    utc_us([2000 + part(0)?, part(2)?, part(4)?], clock)
}

fn utc_us([year, month, day]: [i64; 3], [hour, minute, second]: [i64; 3]) -> Option<i64> {
    let small = |number: i64| i8::try_from(number).ok();
    let year = i16::try_from(year).ok()?;
    // A leap second counts as the one before it.
    let second = small(if second == 60 { 59 } else { second })?;
    let date =
        DateTime::new(year, small(month)?, small(day)?, small(hour)?, small(minute)?, second, 0).ok()?;
    Some(date.to_zoned(TimeZone::UTC).ok()?.timestamp().as_microsecond())
}

/// `+01`, `-03:30`, `+0530`, `Z`.
fn offset_us(zone: &str) -> Option<i64> {
    let sign = match zone.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let digits: String = zone[1..].chars().filter(|letter| *letter != ':').collect();
    let hours = number(digits.get(..2)?)?;
    let minutes = digits.get(2..4).map_or(Some(0), number)?;
    Some(sign * (hours * 60 + minutes) * 60_000_000)
}

/// Minutes before UTC of zones with winter and summer time. Other regions use some of the names too: of one log, which is of one region, the
/// difference between both is right, as PostgreSQL has them (share/timezonesets/Default; IST as in Ireland, and IDT an hour from it).
const ZONES: [(&str, i64); 36] = [
    ("UTC", 0),
    ("GMT", 0),
    ("BST", 60),
    ("IST", 60),
    ("IDT", 120),
    ("WET", 0),
    ("WEST", 60),
    ("CET", 60),
    ("CEST", 120),
    ("MET", 60),
    ("MEST", 120),
    ("EET", 120),
    ("EEST", 180),
    ("MSK", 180),
    ("NST", -210),
    ("NDT", -150),
    ("AST", -240),
    ("ADT", -180),
    ("EST", -300),
    ("EDT", -240),
    ("CST", -360),
    ("CDT", -300),
    ("MST", -420),
    ("MDT", -360),
    ("PST", -480),
    ("PDT", -420),
    ("AKST", -540),
    ("AKDT", -480),
    ("HST", -600),
    ("HDT", -540),
    ("AEST", 600),
    ("AEDT", 660),
    ("ACST", 570),
    ("ACDT", 630),
    ("NZST", 720),
    ("NZDT", 780),
];

fn named_offset_us(zone: &str) -> Option<i64> {
    let found = ZONES.iter().find(|(name, _)| zone.eq_ignore_ascii_case(name));
    found.map(|(_, minutes)| minutes * 60_000_000)
}

fn number(digits: &str) -> Option<i64> {
    (!digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit()))
        .then(|| digits.parse().ok())
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_all_logs_are_read_with_their_offsets() {
        let noon = 1_705_320_000_000_000;
        for (text, us, zone) in [
            ("2024-01-15 12:00:00.123 UTC", noon + 123_000, "UTC"),
            ("2024-01-15 12:00:00 XYZ", noon, "XYZ"),
            // An hour that a clock was put forward, or back, is none that passed.
            ("2024-01-15 13:00:00 CET", noon, "CET"),
            ("2024-01-15 14:00:00 CEST", noon, "CEST"),
            ("2024-01-15 07:00:00 EST", noon, "EST"),
            ("2024-01-15 08:00:00 EDT", noon, "EDT"),
            ("2024-01-15 13:00:00.000 +01", noon, "+01"),
            ("2024-01-15T08:30:00.000001-03:30", noon + 1, "-03:30"),
            ("2024-01-15T12:00:00.1234567Z", noon + 123_456, "Z"),
        ] {
            assert_eq!(parsed(text), Some((us, zone)), "{text}");
        }
        for (text, us) in
            [("240115 12:00:00", noon), ("240115  9:00:07", noon - 3 * 3_600_000_000 + 7_000_000)]
        {
            assert_eq!(short(text), Some(us), "{text}");
        }
        for wrong in ["", "2024-13-15 12:00:00", "2024-01-15 12-00-00", "2024-01-1é 12:00:00.0", "12:00"] {
            assert_eq!((parsed(wrong), short(wrong)), (None, None), "{wrong}");
        }
    }
}
