//! How the times of a recording are written, as a user says it: numbers since some moment, or a pattern of strftime.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use jiff::civil::{DateTime, Time};
use jiff::fmt::strtime::BrokenDownTime;
use jiff::tz::Offset;

use super::times::TimeForm;

/// How times are written: `unix-s`, `excel` and others, or a pattern such as `%d.%m.%Y %H:%M:%S%.f`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeFormat {
    form: TimeForm,
    /// Of strftime; none of numbers.
    pattern: Option<String>,
}

/// Times that are numbers of one unit since one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Numbers {
    pub(super) name: &'static str,
    /// In words.
    pub(super) what: &'static str,
    unit_ns: u64,
    /// The moment from which they count.
    before_1970_s: i64,
    /// Whether they show the clocks of a zone.
    pub(super) is_local: bool,
}

const SPREADSHEET_S: i64 = 25_569 * 86_400;

pub(super) static SECONDS: Numbers = unix("unix-s", "seconds since 1970", 1_000_000_000);
pub(super) static MILLISECONDS: Numbers = unix("unix-ms", "milliseconds since 1970", 1_000_000);
pub(super) static MICROSECONDS: Numbers = unix("unix-us", "microseconds since 1970", 1_000);
pub(super) static NANOSECONDS: Numbers = unix("unix-ns", "nanoseconds since 1970", 1);

/// Numbers of other programs, which look like some of the others. FILETIME counts from 1601-01-01, .NET from 0001-01-01, a
/// spreadsheet by days from 1899-12-30, and the column `Time_ms` of WinCC by millionths of these.
pub(super) static FOREIGN: [Numbers; 4] = [
    Numbers {
        name: "filetime",
        what: "FILETIME of Windows (100 ns since 1601)",
        unit_ns: 100,
        before_1970_s: 11_644_473_600,
        is_local: false,
    },
    Numbers {
        name: "dotnet-ticks",
        what: "ticks of .NET (100 ns since the year 1)",
        unit_ns: 100,
        before_1970_s: 62_135_596_800,
        is_local: false,
    },
    Numbers {
        name: "excel",
        what: "days of a spreadsheet",
        unit_ns: 86_400_000_000_000,
        before_1970_s: SPREADSHEET_S,
        is_local: true,
    },
    Numbers {
        name: "wincc",
        what: "Time_ms of WinCC (millionths of a spreadsheet day)",
        unit_ns: 86_400_000,
        before_1970_s: SPREADSHEET_S,
        is_local: true,
    },
];

const fn unix(name: &'static str, what: &'static str, unit_ns: u64) -> Numbers {
    Numbers { name, what, unit_ns, before_1970_s: 0, is_local: false }
}

impl Numbers {
    /// Nanoseconds from 1970 to a number with this fraction, in billionths. Spreadsheets round to milliseconds, so these do too.
    pub(super) fn ns(&self, whole: u64, fraction_e9: u32) -> i128 {
        let unit_ns = i128::from(self.unit_ns);
        let since_ns = i128::from(whole) * unit_ns + i128::from(fraction_e9) * unit_ns / 1_000_000_000;
        let ns = since_ns - i128::from(self.before_1970_s) * 1_000_000_000;
        if self.is_local { (ns + 500_000).div_euclid(1_000_000) * 1_000_000 } else { ns }
    }
}

impl TimeFormat {
    pub(super) fn form(&self) -> TimeForm {
        self.form
    }

    pub(super) fn pattern(&self) -> Option<&str> {
        self.pattern.as_deref()
    }
}

/// What a pattern makes of a time: a moment where it has an offset, else what clocks showed. None where the time is another one.
pub(super) fn by_pattern(pattern: &str, time: &[u8]) -> Option<Result<i128, DateTime>> {
    let read = BrokenDownTime::parse(pattern, with_point(pattern, time)).ok()?;
    if read.offset().is_some() {
        return read.to_timestamp().ok().map(|timestamp| Ok(timestamp.as_nanosecond()));
    }
    let time = if read.hour().is_some() { read.to_time().ok()? } else { Time::midnight() };
    Some(Err(read.to_date().ok()?.to_datetime(time)))
}

/// A fraction of seconds behind a comma, with a point in its place: `%.f` knows only that.
fn with_point<'a>(pattern: &str, time: &'a [u8]) -> Cow<'a, [u8]> {
    let comma = time.iter().rposition(|byte| *byte == b',').filter(|comma| {
        time.get(comma + 1).is_some_and(u8::is_ascii_digit)
            && pattern.contains("%.f")
            && !pattern.contains(',')
    });
    match comma {
        None => Cow::Borrowed(time),
        Some(comma) => {
            let mut time = time.to_vec();
            time[comma] = b'.';
            Cow::Owned(time)
        }
    }
}

/// A text that names no format of times.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{given}` {problem}. Give unix-s, unix-ms, unix-us, unix-ns, filetime, dotnet-ticks, excel, wincc, or a pattern such as \
     %d.%m.%Y %H:%M:%S%.f"
)]
pub struct TimeFormatError {
    given: String,
    problem: &'static str,
}

impl FromStr for TimeFormat {
    type Err = TimeFormatError;

    fn from_str(text: &str) -> Result<Self, TimeFormatError> {
        let text = text.trim();
        let mut known = [&SECONDS, &MILLISECONDS, &MICROSECONDS, &NANOSECONDS].into_iter().chain(&FOREIGN);
        if let Some(numbers) = known.find(|numbers| numbers.name == text) {
            return Ok(Self { form: TimeForm::Number(numbers), pattern: None });
        }
        let fault = |problem| TimeFormatError { given: text.to_owned(), problem };
        if !text.contains('%') {
            return Err(fault("is not a format of times"));
        }
        // A pattern that does not give back a time that it wrote would read others wrongly too.
        let sample = jiff::civil::date(2026, 11, 27).at(13, 45, 56, 0);
        let zoned = sample.to_zoned(jiff::tz::TimeZone::UTC);
        let written = zoned.ok().and_then(|zoned| BrokenDownTime::from(&zoned).to_string(text).ok());
        let written = written.ok_or_else(|| fault("has a part that prony does not know"))?;
        let read = match by_pattern(text, written.as_bytes()) {
            Some(Ok(ns)) => {
                jiff::Timestamp::from_nanosecond(ns).ok().map(|moment| Offset::UTC.to_datetime(moment))
            }
            Some(Err(local)) => Some(local),
            None => None,
        };
        let has = |parts: &[&str]| parts.iter().any(|part| text.contains(part));
        let whole = match (has(&["%H", "%I", "%M", "%R", "%k", "%l"]), has(&["%S", "%T"])) {
            (false, false) => sample.date().at(0, 0, 0, 0),
            (true, false) => sample.date().at(13, 45, 0, 0),
            _ => sample,
        };
        match read {
            Some(read) if read == sample || read == whole => {
                Ok(Self { form: TimeForm::Pattern, pattern: Some(text.to_owned()) })
            }
            Some(read) if read.date() == sample.date() => Err(fault("gives no whole time of day")),
            _ => Err(fault("gives no whole date")),
        }
    }
}

impl fmt::Display for TimeFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.pattern, self.form) {
            (Some(pattern), _) => f.write_str(pattern),
            (None, TimeForm::Number(numbers)) => f.write_str(numbers.name),
            (None, TimeForm::Rfc3339 | TimeForm::Local | TimeForm::Pattern) => Ok(()),
        }
    }
}

load::serde_as_text!(TimeFormat);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_read_as_they_are_written() {
        for text in [
            "unix-s",
            "unix-ns",
            "filetime",
            "dotnet-ticks",
            "excel",
            "wincc",
            "%d.%m.%Y %H:%M:%S%.f",
            "%Y%m%d",
            "%d/%m/%y %I:%M %p",
        ] {
            assert_eq!(text.parse::<TimeFormat>().map(|format| format.to_string()).as_deref(), Ok(text));
        }
        for (wrong, problem) in [
            ("seconds", "is not a format"),
            ("%d.%m. %H:%M", "gives no whole date"),
            ("%d.%m.%Y %I:%M:%S", "gives no whole time of day"),
            ("%d.%m.%Y %S", "gives no whole time of day"),
            ("%d.%m.%Y %J", "has a part that prony does not know"),
        ] {
            let told = wrong.parse::<TimeFormat>().unwrap_err().to_string();
            assert!(told.contains(problem) && told.contains("excel"), "{told}");
        }
    }

    #[test]
    fn numbers_count_from_where_their_programs_do() {
        let at = |name: &str, whole: u64, fraction_e9: u32| {
            let TimeForm::Number(numbers) = name.parse::<TimeFormat>().unwrap().form() else {
                panic!("{name}")
            };
            jiff::Timestamp::from_nanosecond(numbers.ns(whole, fraction_e9)).unwrap().to_string()
        };
        // 2026-06-01 06:00 as each of them has it.
        assert_eq!(at("excel", 46_174, 250_000_000), "2026-06-01T06:00:00Z");
        assert_eq!(at("excel", 46_174, 291_666_666), "2026-06-01T07:00:00Z", "rounded as it was written");
        assert_eq!(at("wincc", 46_174_250_000, 0), "2026-06-01T06:00:00Z");
        assert_eq!(at("filetime", 134_247_672_000_000_000, 0), "2026-06-01T06:00:00Z");
        assert_eq!(at("dotnet-ticks", 639_158_904_000_000_000, 0), "2026-06-01T06:00:00Z");
        assert_eq!(at("unix-ns", 1_780_293_600_000_000_000, 0), "2026-06-01T06:00:00Z");
    }
}
