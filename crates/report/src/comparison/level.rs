//! Levels of an axis as numbers, where they are numbers: counts, sizes such as `8KiB`, times such as `20ms`.

use serde::Serialize;

use crate::format;

/// What the numbers of an axis are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// Numbers without a unit.
    Count,
    /// Bytes.
    Bytes,
    /// Seconds.
    Seconds,
}

/// Units as a study file spells them, and what one of them comes to.
const UNITS: [(&str, Quantity, f64); 19] = [
    ("", Quantity::Count, 1.0),
    ("B", Quantity::Bytes, 1.0),
    ("KiB", Quantity::Bytes, 1024.0),
    ("MiB", Quantity::Bytes, 1_048_576.0),
    ("GiB", Quantity::Bytes, 1_073_741_824.0),
    ("TiB", Quantity::Bytes, 1_099_511_627_776.0),
    ("kB", Quantity::Bytes, 1e3),
    ("KB", Quantity::Bytes, 1e3),
    ("MB", Quantity::Bytes, 1e6),
    ("GB", Quantity::Bytes, 1e9),
    ("TB", Quantity::Bytes, 1e12),
    ("us", Quantity::Seconds, 1e-6),
    ("µs", Quantity::Seconds, 1e-6),
    ("ms", Quantity::Seconds, 1e-3),
    ("s", Quantity::Seconds, 1.0),
    ("m", Quantity::Seconds, 60.0),
    ("min", Quantity::Seconds, 60.0),
    ("h", Quantity::Seconds, 3600.0),
    ("d", Quantity::Seconds, 86_400.0),
];

impl Quantity {
    /// A value of the axis that was fitted and not set, in its unit.
    pub(crate) fn print(self, value: f64) -> String {
        match self {
            Self::Count => format::figure(value),
            Self::Bytes => format::bytes(value.max(0.0).round() as u64),
            Self::Seconds if value < 120.0 => format::latency(value * 1e6),
            Self::Seconds => format::duration(value),
        }
    }
}

/// All levels as numbers of one quantity; none if one of them is no number, or they differ in what they are.
pub(crate) fn numbers(levels: &[String]) -> Option<(Quantity, Vec<f64>)> {
    let parsed: Vec<(Quantity, f64)> = levels.iter().map(|level| number(level)).collect::<Option<_>>()?;
    let (quantity, _) = *parsed.first()?;
    let same = parsed.iter().all(|(other, _)| *other == quantity);
    same.then(|| (quantity, parsed.into_iter().map(|(_, value)| value).collect()))
}

fn number(text: &str) -> Option<(Quantity, f64)> {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let value: f64 = digits.replace('_', "").parse().ok()?;
    let (_, quantity, factor) = UNITS.into_iter().find(|(name, ..)| *name == unit.trim())?;
    Some((quantity, value * factor)).filter(|(_, value)| value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_numbers_only_if_all_of_them_are_of_one_kind() {
        let of = |levels: &[&str]| numbers(&levels.iter().map(|&l| l.to_owned()).collect::<Vec<_>>());
        assert_eq!(of(&["1", "2", "1_000"]), Some((Quantity::Count, vec![1.0, 2.0, 1000.0])));
        assert_eq!(of(&["8KiB", "1 MiB"]), Some((Quantity::Bytes, vec![8192.0, 1_048_576.0])));
        assert_eq!(of(&["20ms", "2m", "1s"]), Some((Quantity::Seconds, vec![0.02, 120.0, 1.0])));
        for none in [&["bulk", "1"][..], &["8KiB", "20ms"], &["4", "8KiB"], &[""], &[], &["-3"], &["1.2.3"]] {
            assert_eq!(of(none), None, "{none:?}");
        }
    }

    #[test]
    fn a_level_is_printed_in_its_unit() {
        assert_eq!(Quantity::Bytes.print(34_359_738_368.0), "32 GiB");
        assert_eq!(Quantity::Seconds.print(0.0213), "21.3 ms");
        assert_eq!(Quantity::Seconds.print(120.0), "2 min");
        assert_eq!(Quantity::Count.print(5000.0), "5,000");
    }
}
