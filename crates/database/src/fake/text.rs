//! A fake's speed and faults as the options of an address.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use super::Fake;
use crate::UrlError;

impl FromStr for Fake {
    type Err = UrlError;

    /// Reads what stands after `fake:`.
    fn from_str(text: &str) -> Result<Self, UrlError> {
        let mut fake = Self::default();
        let options = match text.strip_prefix('?') {
            Some(options) => options,
            None if text.is_empty() => "",
            None => return Err(UrlError("after `fake:` come options: give fake:?append=2ms".to_owned())),
        };
        for pair in options.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            match name {
                "append" => fake.append = duration(name, value)?,
                "row" => fake.row = duration(name, value)?,
                "query" => fake.query = duration(name, value)?,
                "down" => fake.down = duration(name, value)?,
                "lose_committed_at" => fake.lose_committed_at = Some(number(name, value)?),
                "lose_at" => fake.lose_at = Some(number(name, value)?),
                "full_at" => fake.full_at = Some(number(name, value)?),
                "room" => fake.room = Some(number(name, value)?),
                "discard" => fake.discard = truth(name, value)?,
                _ => {
                    return Err(UrlError(format!(
                        "the option `{name}` is not known: give append, row, query, down, lose_committed_at, lose_at, \
                         full_at, room or discard"
                    )));
                }
            }
        }
        Ok(fake)
    }
}

/// Units, the longest first.
const UNITS: [(&str, u64); 4] = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000), ("ns", 1)];

fn duration(name: &str, value: &str) -> Result<Duration, UrlError> {
    let wrong = || UrlError(format!("invalid duration `{name}={value}`: use a number with s, ms, us or ns"));
    let digits = value.find(|character: char| !character.is_ascii_digit()).ok_or_else(wrong)?;
    let (number, unit) = value.split_at(digits);
    let number: u64 = number.parse().map_err(|_| wrong())?;
    let (_, unit_ns) = UNITS.into_iter().find(|(known, _)| *known == unit).ok_or_else(wrong)?;
    number.checked_mul(unit_ns).map(Duration::from_nanos).ok_or_else(wrong)
}

fn number(name: &str, value: &str) -> Result<u64, UrlError> {
    let wrong = || UrlError(format!("invalid `{name}={value}`: use a count of 1 or more"));
    value.parse().ok().filter(|&number| number > 0).ok_or_else(wrong)
}

fn truth(name: &str, value: &str) -> Result<bool, UrlError> {
    value.parse().map_err(|_| UrlError(format!("`{name}={value}`: give true or false")))
}

impl fmt::Display for Fake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let durations =
            [("append", self.append), ("row", self.row), ("query", self.query), ("down", self.down)];
        let numbers = [
            ("lose_committed_at", self.lose_committed_at),
            ("lose_at", self.lose_at),
            ("full_at", self.full_at),
            ("room", self.room),
        ];
        let mut options: Vec<String> = Vec::new();
        for (name, duration) in durations.into_iter().filter(|(_, duration)| !duration.is_zero()) {
            let ns = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
            let (unit, unit_ns) =
                UNITS.into_iter().find(|(_, unit_ns)| ns.is_multiple_of(*unit_ns)).unwrap_or(("ns", 1));
            options.push(format!("{name}={}{unit}", ns / unit_ns));
        }
        options.extend(numbers.into_iter().filter_map(|(name, number)| Some(format!("{name}={}", number?))));
        if self.discard {
            options.push("discard=true".to_owned());
        }
        f.write_str(if options.is_empty() { "fake:" } else { "fake:?" })?;
        f.write_str(&options.join("&"))
    }
}
