//! The zone of local times, which a recording does not tell.

use std::fmt;
use std::str::FromStr;

use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};

/// A time zone as a user gives it: `Europe/Berlin`, `UTC` or `+02:00`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zone {
    name: String,
    zone: TimeZone,
}

/// A text that is no time zone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown time zone `{given}`: use UTC, an offset such as +02:00, or a name such as Europe/Berlin (needs the package tzdata)"
)]
pub struct ZoneError {
    given: String,
}

/// What a local time is, in nanoseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Instant {
    /// One moment.
    One(i128),
    /// Clocks went back and showed it twice.
    Twice([i128; 2]),
    /// Clocks went forward and never showed it.
    Never,
}

impl Zone {
    /// What clocks of this zone showed at this time.
    pub(super) fn instant(&self, local: DateTime) -> Option<Instant> {
        let at = |offset: Offset| offset.to_timestamp(local).ok().map(jiff::Timestamp::as_nanosecond);
        Some(match self.zone.to_ambiguous_timestamp(local).offset() {
            AmbiguousOffset::Unambiguous { offset } => Instant::One(at(offset)?),
            AmbiguousOffset::Fold { before, after } => Instant::Twice([at(before)?, at(after)?]),
            AmbiguousOffset::Gap { .. } => Instant::Never,
        })
    }
}

impl FromStr for Zone {
    type Err = ZoneError;

    fn from_str(text: &str) -> Result<Self, ZoneError> {
        let name = text.trim();
        let fault = || ZoneError { given: name.to_owned() };
        let zone = match name.strip_prefix(['+', '-']) {
            Some(rest) => {
                let offset = minutes(rest).ok_or_else(fault)? * if name.starts_with('-') { -60 } else { 60 };
                TimeZone::fixed(Offset::from_seconds(offset).map_err(|_| fault())?)
            }
            None => TimeZone::get(name).map_err(|_| fault())?,
        };
        Ok(Self { name: name.to_owned(), zone })
    }
}

/// `02:00`, `0200` or `02`.
fn minutes(text: &str) -> Option<i32> {
    let (hours, minutes) = match text.len() {
        5 => text.split_once(':').filter(|(hours, _)| hours.len() == 2)?,
        4 if text.is_ascii() => text.split_at(2),
        2 => (text, "00"),
        _ => return None,
    };
    let number =
        |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse::<i32>().ok())?;
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    (hours <= 18 && minutes < 60).then_some(hours * 60 + minutes)
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

load::serde_as_text!(Zone);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_and_utc_need_no_data() {
        let noon = "2026-05-01T12:00:00".parse().unwrap();
        let utc_s = 1_777_636_800;
        for (zone, before_s) in
            [("UTC", 0), ("+02:00", 7_200), ("-0330", -12_600), ("+01", 3_600), ("-00:30", -1_800)]
        {
            let at = zone.parse::<Zone>().unwrap().instant(noon);
            assert_eq!(at, Some(Instant::One((utc_s - before_s) * 1_000_000_000)), "{zone}");
        }
        for wrong in ["", "+2", "+19:00", "+02:60", "+2:000", "02:00", "Europe/Nowhere", "+é0", "++1"] {
            assert!(wrong.parse::<Zone>().unwrap_err().to_string().contains("Europe/Berlin"), "{wrong}");
        }
    }
}
