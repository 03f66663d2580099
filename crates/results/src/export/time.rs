//! When something was, on the clock of the wall.

use jiff::{SignedDuration, Timestamp};

/// So many seconds after a time of RFC 3339, in UTC to the millisecond: `2026-11-21T07:30:01.250Z`. None where either is no time.
pub(super) fn at(started: &str, seconds: f64) -> Option<String> {
    let started: Timestamp = started.parse().ok()?;
    let time = started.checked_add(SignedDuration::try_from_secs_f64(seconds).ok()?).ok()?;
    Some(format!("{:.3}", time.round(jiff::Unit::Millisecond).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_rounded_to_the_millisecond_and_none_is_made_up() {
        let started = "2026-12-31T23:59:59.1234567Z";
        assert_eq!(at(started, 1.0).as_deref(), Some("2027-01-01T00:00:00.123Z"));
        assert_eq!(at(started, 0.8764).as_deref(), Some("2027-01-01T00:00:00.000Z"));
        assert_eq!(at("yesterday", 1.0), None);
        for never in [f64::NAN, f64::INFINITY, 1e300, 1e12] {
            assert_eq!(at(started, never), None, "{never}");
        }
    }
}
