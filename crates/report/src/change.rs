//! What a figure gains or loses against another one, in text: the one convention of words, tables and charts.
//!
//! A sign is always that of the gain: positive is better, of a latency too. Both ends of an interval have one, with "to" between
//! them: `−17 % (−35 to +9 %)`. From twice as much on per cent say little, of latencies nothing at all (−8,164 %), and a factor is
//! told: `5.4 × slower (4.9 to 6.0 ×)`.

use record::Direction;
use stats::Effect;

use crate::format::{self, UNKNOWN, figure, points};

/// From so many times on a change is told as a factor.
const FACTOR: f64 = 2.0;
/// The same of an end of its interval.
const END_FACTOR: f64 = 4.0;

/// What a metric is, as far as its changes are told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Sense {
    /// More of it is better.
    #[default]
    More,
    /// Less of it is better.
    Less,
    /// It is a time.
    Time,
}

impl Sense {
    pub(crate) fn of(better: Direction, unit: &str) -> Self {
        match (better, unit) {
            (Direction::Higher, _) => Self::More,
            (Direction::Lower, "µs" | "ms" | "s") => Self::Time,
            (Direction::Lower, _) => Self::Less,
        }
    }
}

/// A change in per cent with its interval; positive is better.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Change {
    pub(crate) gain_pct: f64,
    /// Lower and upper end.
    pub(crate) ends: Option<(f64, f64)>,
    pub(crate) sense: Sense,
    /// Of the interval, where it is not the usual one.
    pub(crate) confidence: Option<f64>,
}

impl Change {
    pub(crate) fn of(
        gain_pct: Option<f64>,
        ends: Option<(f64, f64)>,
        sense: Sense,
        effect: Option<&Effect>,
    ) -> Option<Self> {
        let confidence = effect.map(|effect| effect.confidence).filter(|&confidence| confidence < 0.95);
        Some(Self { gain_pct: gain_pct?, ends, sense, confidence })
    }

    /// How many times as good: 2 of a throughput that doubles, and of a latency that halves.
    pub(crate) fn times(&self, gain_pct: f64) -> f64 {
        match self.sense {
            Sense::More => (1.0 + gain_pct / 100.0).max(0.0),
            Sense::Less | Sense::Time => 1.0 / (1.0 - gain_pct / 100.0).max(0.0),
        }
    }

    /// Whether it is told as a factor.
    pub(crate) fn is_factor(&self) -> bool {
        let beyond = |pct: f64, most: f64| {
            let times = self.times(pct);
            !(1.0 / most < times && times < most)
        };
        let ends = self.ends.into_iter().flat_map(|(low, high)| [low, high]);
        beyond(self.gain_pct, FACTOR) || ends.into_iter().any(|end| beyond(end, END_FACTOR))
    }

    /// `−17 % (−35 to +9 %)`, or `5.4 × slower (4.9 to 6.0 ×)`.
    pub(crate) fn told(&self) -> String {
        if self.is_factor() { self.factor() } else { self.per_cent(signed_per_cent(self.gain_pct)) }
    }

    /// The same beside a limit in per cent: always in per cent, with the digits that a figure has.
    pub(crate) fn beside_limit(&self) -> String {
        let ends = self.ends.map(|(low, high)| {
            format!(" ({} to {} %{})", with_sign(low), with_sign(high), self.confidence())
        });
        format!("{} %{}", with_sign(self.gain_pct), ends.unwrap_or_default())
    }

    /// As part of a sentence whose subject is the level: `gains 17 % (+9 to +35 %)`, `is 12 % lower (gain +10 to +14 %)`,
    /// `gives 2.4 × as much (2.3 to 2.5 ×)`, `is 5.4 × slower (4.9 to 6.0 ×)`.
    pub(crate) fn says(&self) -> String {
        let (size, is_loss) = (format!("{} %", points(self.gain_pct.abs())), self.gain_pct < 0.0);
        match (self.is_factor(), self.sense) {
            (true, Sense::More) => format!("gives {}", self.factor()),
            (true, Sense::Less | Sense::Time) => format!("is {}", self.factor()),
            (false, Sense::More) => {
                self.per_cent(format!("{} {size}", if is_loss { "loses" } else { "gains" }))
            }
            (false, Sense::Less | Sense::Time) => {
                let head = format!("is {size} {}", if is_loss { "higher" } else { "lower" });
                self.per_cent(head).replacen(" (", " (gain ", 1)
            }
        }
    }

    /// The part of [`Change::says`] that is its figure: `17 %`, `5.4 ×`.
    pub(crate) fn figure(&self) -> Option<String> {
        let says = self.says();
        let number = says.split(' ').find(|word| word.starts_with(|letter: char| letter.is_ascii_digit()))?;
        Some(format!("{number} {}", if self.is_factor() { "×" } else { "%" }))
    }

    fn per_cent(&self, head: String) -> String {
        let ends = self.ends.map(|(low, high)| format!(" ({}{})", gain_range(low, high), self.confidence()));
        head + &ends.unwrap_or_default()
    }

    fn factor(&self) -> String {
        let times = self.times(self.gain_pct);
        let is_better = times >= 1.0;
        // Amounts are told as a share of the reference, since "3 × less" has no one meaning; times as how much faster.
        let more = |times: f64| match (self.sense, is_better) {
            (Sense::More, _) | (Sense::Time, true) => times,
            (Sense::Less, _) | (Sense::Time, false) => 1.0 / times,
        };
        let words = match (self.sense, is_better) {
            (Sense::More | Sense::Less, _) => "as much",
            (Sense::Time, true) => "faster",
            (Sense::Time, false) => "slower",
        };
        let ends = self.ends.map(|(low, high)| {
            let (a, b) = (more(self.times(low)), more(self.times(high)));
            let (low, high) = (a.min(b), a.max(b));
            let high = if high.is_finite() { format!("to {}", figure(high)) } else { "and more".to_owned() };
            format!(" ({} {high} ×{})", figure(low), self.confidence())
        });
        match more(times) {
            times if times.is_finite() && times > 0.0 => {
                format!("{} × {words}{}", figure(times), ends.unwrap_or_default())
            }
            _ => "nothing is left".to_owned(),
        }
    }

    /// `, 75 % interval`. Of fewer than six blocks no interval has 95 %.
    fn confidence(&self) -> String {
        let confidence = self.confidence.map(|confidence| format!(", {:.0} % interval", confidence * 100.0));
        confidence.unwrap_or_default()
    }
}

/// As [`Change::told`], or a dash.
pub(crate) fn told_or_dash(change: Option<Change>) -> String {
    change.map_or_else(|| UNKNOWN.to_owned(), |change| change.told())
}

/// A gain in per cent with its sign: `+96 %`, `0 %`, `−17 %`.
pub(crate) fn signed_per_cent(gain_pct: f64) -> String {
    format!("{} %", signed(gain_pct))
}

/// The interval of a gain in per cent: `−35 to +9 %`.
pub(crate) fn gain_range(low_pct: f64, high_pct: f64) -> String {
    format!("{} to {}", signed(low_pct), signed_per_cent(high_pct))
}

/// A change with its sign and the digits that a figure has.
pub(crate) fn with_sign(change: f64) -> String {
    format!("{}{}", if change > 0.0 { "+" } else { "" }, format::signed(change))
}

fn signed(gain_pct: f64) -> String {
    let text = points(gain_pct);
    let sign = if gain_pct > 0.0 && text != "0" { "+" } else { "" };
    format!("{sign}{text}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn change(gain_pct: f64, ends: Option<(f64, f64)>, sense: Sense) -> Change {
        Change { gain_pct, ends, sense, confidence: None }
    }

    #[test]
    fn signs_are_those_of_the_gain_and_stand_at_both_ends() {
        for (gain, ends, sense, table, sentence) in [
            (96.0, (91.0, 99.4), Sense::More, "+96 % (+91 to +99 %)", "gains 96 % (+91 to +99 %)"),
            (-17.0, (-35.0, 9.3), Sense::More, "−17 % (−35 to +9.3 %)", "loses 17 % (−35 to +9.3 %)"),
            (12.0, (10.0, 14.0), Sense::Time, "+12 % (+10 to +14 %)", "is 12 % lower (gain +10 to +14 %)"),
            (-3.0, (-4.0, 0.0), Sense::Less, "−3 % (−4 to 0 %)", "is 3 % higher (gain −4 to 0 %)"),
        ] {
            let change = change(gain, Some(ends), sense);
            assert_eq!((change.told().as_str(), change.says().as_str()), (table, sentence));
        }
    }

    /// 0.0461 → 0.244 ms was once told as −439 %, and another latency as −8,164 %.
    #[test]
    fn large_changes_are_factors() {
        for (gain, ends, sense, table, sentence) in [
            (-429.0, Some((-500.0, -390.0)), Sense::Time, "5.29 × slower (4.90 to 6.00 ×)", "is "),
            (-8_164.0, None, Sense::Time, "82.6 × slower", "is "),
            (80.0, Some((75.0, 90.0)), Sense::Time, "5.00 × faster (4.00 to 10.0 ×)", "is "),
            (142.0, Some((136.0, 150.0)), Sense::More, "2.42 × as much (2.36 to 2.50 ×)", "gives "),
            (-75.0, Some((-80.0, -50.0)), Sense::More, "0.250 × as much (0.200 to 0.500 ×)", "gives "),
            (-200.0, None, Sense::Less, "3.00 × as much", "is "),
            (20.0, Some((-30.0, 400.0)), Sense::More, "1.20 × as much (0.700 to 5.00 ×)", "gives "),
            (100.0, None, Sense::Time, "– × faster", "is "),
        ] {
            let change = change(gain, ends, sense);
            if gain < 100.0 || sense == Sense::More {
                assert_eq!(change.told(), table);
                assert_eq!(change.says(), format!("{sentence}{table}"));
            } else {
                assert_eq!(change.told(), "nothing is left");
            }
        }
    }

    /// Rounded, a gain of −20.4 % would be at a limit of −20 % and not beyond it.
    #[test]
    fn beside_a_limit_no_digit_is_lost() {
        let change = change(-20.4, Some((-23.4, 0.51)), Sense::Time);
        assert_eq!(change.beside_limit(), "−20.4 % (−23.4 to +0.510 %)");
    }

    #[test]
    fn a_confidence_that_is_not_the_usual_one_is_told() {
        let few = Change { confidence: Some(0.75), ..change(5.0, Some((1.0, 9.0)), Sense::More) };
        assert_eq!(few.told(), "+5 % (+1 to +9 %, 75 % interval)");
    }

    proptest! {
        /// No minus of ASCII, no doubled sign, no per cent of four digits, and an interval in order around its figure.
        #[test]
        fn all_changes_keep_the_convention(
            ratio in 0.001f64..1_000.0, below in 1.0f64..50.0, above in 1.0f64..50.0, which in 0usize..3,
        ) {
            let sense = [Sense::More, Sense::Less, Sense::Time][which];
            let pct = |ratio: f64| if which == 0 { (ratio - 1.0) * 100.0 } else { (1.0 - ratio) * 100.0 };
            let (a, b) = (pct(ratio / below), pct(ratio * above));
            let change = change(pct(ratio), Some((a.min(b), a.max(b))), sense);
            let told = change.told();
            prop_assert!(!told.contains('-') && !told.contains("−−") && !told.contains("+−") && !told.contains('–'), "{}", told);
            let is_factor = told.contains('×');
            prop_assert_eq!(is_factor, !told.contains('%'), "{}", told);
            let far = ratio >= 2.0 || ratio <= 0.5;
            prop_assert!(is_factor || !far, "{}", told);
            prop_assert_eq!(told.matches(" to ").count(), 1, "{}", told);
            let worse = (ratio < 1.0) == (which == 0);
            let words = ["slower", "faster"];
            if is_factor && which == 2 {
                prop_assert!(told.contains(words[usize::from(!worse)]), "{} {}", ratio, told);
            }
            let number = |text: &str| text.replace('−', "-").replace(['+', ','], "").parse::<f64>().unwrap();
            if !is_factor {
                let (head, ends) = told.trim_end_matches(" %)").split_once(" % (").unwrap();
                let (low, high) = ends.split_once(" to ").unwrap();
                prop_assert!(number(low) <= number(head) && number(head) <= number(high), "{}", told);
            }
        }
    }
}
