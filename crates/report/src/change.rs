//! What a figure gains or loses against another one, in text: the one convention of words, tables and charts.
//!
//! A sign is always that of the gain: positive is better, of a latency too. Both ends of an interval have one, with "to" between
//! them: `−17% (−35 to +9%)`. From twice as much on, per cent say little, of latencies nothing at all (−8,164%), and a factor is
//! printed: `5.4 times slower (4.9 to 6.0)`. Sentences are built from [`Parts`].

use record::Direction;
use stats::Effect;

use crate::format::{self, UNKNOWN, figure, points};

/// Confidence of an interval that a table does not name.
const USUAL_CONFIDENCE: f64 = 0.95;
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

/// The largest factor that is printed as an upper bound. The interval of a few scattered values has no upper bound in practice.
const FACTOR_MOST: f64 = 1e6;

/// A range of factors. An upper bound above the maximum is not printed.
fn factors(low: f64, high: f64) -> String {
    match high <= FACTOR_MOST {
        true => format!("{} to {}", figure(low), figure(high)),
        false => format!("{} and more", figure(low)),
    }
}

impl Change {
    pub(crate) fn of(
        gain_pct: Option<f64>,
        ends: Option<(f64, f64)>,
        sense: Sense,
        effect: Option<&Effect>,
    ) -> Option<Self> {
        let confidence =
            effect.map(|effect| effect.confidence).filter(|&confidence| confidence < USUAL_CONFIDENCE);
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

    /// `−17% (−35 to +9%)`, or `5.4 times slower (4.9 to 6.0)`.
    pub(crate) fn told(&self) -> String {
        if self.is_factor() { self.factor() } else { self.per_cent(signed_per_cent(self.gain_pct)) }
    }

    /// The change without its interval: `−17%`, or `5.4 times slower`.
    pub(crate) fn alone(&self) -> String {
        if self.is_factor() { Self { ends: None, ..*self }.factor() } else { signed_per_cent(self.gain_pct) }
    }

    /// The same beside a limit in per cent: always in per cent, with the digits that a figure has.
    pub(crate) fn beside_limit(&self) -> String {
        let ends = self
            .ends
            .map(|(low, high)| format!(" ({} to {}%{})", with_sign(low), with_sign(high), self.confidence()));
        format!("{}%{}", with_sign(self.gain_pct), ends.unwrap_or_default())
    }

    /// What a sentence is built from. A factor is the figure divided by that of the reference.
    pub(crate) fn parts(&self) -> Parts {
        let level = confidence_words(self.confidence.unwrap_or(USUAL_CONFIDENCE));
        if self.is_factor() {
            let interval = self.ends.map(|(low, high)| {
                let (a, b) = (self.ratio(low), self.ratio(high));
                format!("{level} CI {}", factors(a.min(b), a.max(b)))
            });
            return Parts { form: Form::Times, figure: figure(self.ratio(self.gain_pct)), interval };
        }
        let (form, of) = match self.sense {
            Sense::More => (Form::Signed, ""),
            Sense::Less | Sense::Time if self.gain_pct < 0.0 => (Form::Higher, " of the gain"),
            Sense::Less | Sense::Time => (Form::Lower, " of the gain"),
        };
        let figure = match form {
            Form::Signed => signed(self.gain_pct),
            Form::Lower | Form::Higher | Form::Times => points(self.gain_pct.abs()),
        };
        let interval = self.ends.map(|(low, high)| format!("{level} CI{of} {}", gain_range(low, high)));
        Parts { form, figure, interval }
    }

    /// The change in a few words, with its interval: `+29% (95% CI +23 to +35%)`, `12% lower (…)`, `2.42 times as much (…)`.
    pub(crate) fn says(&self) -> String {
        let parts = self.parts();
        let interval = parts.interval.as_ref().map(|interval| format!(" ({interval})")).unwrap_or_default();
        let as_much = if parts.form == Form::Times { " as much" } else { "" };
        format!("{}{as_much}{interval}", parts.short())
    }

    /// The figure divided by that of the reference.
    fn ratio(&self, gain_pct: f64) -> f64 {
        match self.sense {
            Sense::More => (1.0 + gain_pct / 100.0).max(0.0),
            Sense::Less | Sense::Time => (1.0 - gain_pct / 100.0).max(0.0),
        }
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
            (Sense::More | Sense::Less, _) => "",
            (Sense::Time, true) => " faster",
            (Sense::Time, false) => " slower",
        };
        let ends = self.ends.map(|(low, high)| {
            let (a, b) = (more(self.times(low)), more(self.times(high)));
            format!(" ({}{})", factors(a.min(b), a.max(b)), self.confidence())
        });
        match more(times) {
            times if times.is_finite() && times > 0.0 => {
                format!("{} times{words}{}", figure(times), ends.unwrap_or_default())
            }
            _ => "nothing is left".to_owned(),
        }
    }

    /// `, 75% CI`. Of fewer than six blocks no interval has 95%.
    fn confidence(&self) -> String {
        let confidence = self.confidence.map(|confidence| format!(", {} CI", confidence_words(confidence)));
        confidence.unwrap_or_default()
    }
}

/// How the figure of a change is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// In per cent with the sign of the gain: `+29`.
    Signed,
    /// In per cent, where less is better and there is less.
    Lower,
    /// In per cent, where less is better and there is more.
    Higher,
    /// As a factor.
    Times,
}

/// A change in the parts that sentences are built from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Parts {
    pub(crate) form: Form,
    /// The number without its unit: `+29`, `12`, `2.42`.
    figure: String,
    /// `95% CI +23 to +35%`, `95% CI of the gain +10 to +14%`, `95% CI 2.36 to 2.50`; none where there is no interval.
    pub(crate) interval: Option<String>,
}

impl Parts {
    /// The figure with its unit: `+29%`, `12%`, `2.42 times`.
    pub(crate) fn figure(&self) -> String {
        let unit = if self.form == Form::Times { " times" } else { "%" };
        format!("{}{unit}", self.figure)
    }

    /// The same with its direction: `+29%`, `12% lower`, `2.42 times`.
    pub(crate) fn short(&self) -> String {
        format!("{}{}", self.figure(), self.direction())
    }

    /// The same with its interval, for a list: `+29%, 95% CI +23 to +35%`.
    pub(crate) fn listed(&self) -> String {
        [Some(self.short()), self.interval.clone()].into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// What stands behind the figure where the sentence has the reference already: ` throughput`, ` lower mean latency`, ` the
    /// reference in throughput`.
    pub(crate) fn of(&self, metric: &str) -> String {
        match self.form {
            Form::Times => format!(" the reference in {metric}"),
            Form::Signed | Form::Lower | Form::Higher => format!("{} {metric}", self.direction()),
        }
    }

    /// The same with the reference: ` throughput against SSD`.
    pub(crate) fn against(&self, metric: &str, reference: &str) -> String {
        match self.form {
            Form::Times => format!(" the reference {reference} in {metric}"),
            Form::Signed | Form::Lower | Form::Higher => format!("{} against {reference}", self.of(metric)),
        }
    }

    fn direction(&self) -> &'static str {
        match self.form {
            Form::Lower => " lower",
            Form::Higher => " higher",
            Form::Signed | Form::Times => "",
        }
    }
}

/// A confidence in per cent: `75%`, `99.8%`.
fn confidence_words(confidence: f64) -> String {
    let pct = confidence * 100.0;
    if pct > 99.0 && pct < 99.95 { format!("{pct:.1}%") } else { format!("{pct:.0}%") }
}

/// As [`Change::told`], or a dash.
pub(crate) fn told_or_dash(change: Option<Change>) -> String {
    change.map_or_else(|| UNKNOWN.to_owned(), |change| change.told())
}

/// A gain in per cent with its sign: `+96%`, `0%`, `−17%`.
pub(crate) fn signed_per_cent(gain_pct: f64) -> String {
    format!("{}%", signed(gain_pct))
}

/// The interval of a gain in per cent: `−35 to +9%`.
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
            (96.0, (91.0, 99.4), Sense::More, "+96% (+91 to +99%)", "+96% (95% CI +91 to +99%)"),
            (-17.0, (-35.0, 9.3), Sense::More, "−17% (−35 to +9.3%)", "−17% (95% CI −35 to +9.3%)"),
            (
                12.0,
                (10.0, 14.0),
                Sense::Time,
                "+12% (+10 to +14%)",
                "12% lower (95% CI of the gain +10 to +14%)",
            ),
            (-3.0, (-4.0, 0.0), Sense::Less, "−3% (−4 to 0%)", "3% higher (95% CI of the gain −4 to 0%)"),
        ] {
            let change = change(gain, Some(ends), sense);
            assert_eq!((change.told().as_str(), change.says().as_str()), (table, sentence));
        }
    }

    /// 0.0461 → 0.244 ms was once told as −439%, and another latency as −8,164%.
    #[test]
    fn large_changes_are_factors() {
        for (gain, ends, sense, table, sentence) in [
            (
                -429.0,
                Some((-500.0, -390.0)),
                Sense::Time,
                "5.29 times slower (4.90 to 6.00)",
                "5.29 times as much (95% CI 4.90 to 6.00)",
            ),
            (-8_164.0, None, Sense::Time, "82.6 times slower", "82.6 times as much"),
            (
                80.0,
                Some((75.0, 90.0)),
                Sense::Time,
                "5.00 times faster (4.00 to 10.0)",
                "0.200 times as much (95% CI 0.100 to 0.250)",
            ),
            (
                142.0,
                Some((136.0, 150.0)),
                Sense::More,
                "2.42 times (2.36 to 2.50)",
                "2.42 times as much (95% CI 2.36 to 2.50)",
            ),
            (
                -75.0,
                Some((-80.0, -50.0)),
                Sense::More,
                "0.250 times (0.200 to 0.500)",
                "0.250 times as much (95% CI 0.200 to 0.500)",
            ),
            (-200.0, None, Sense::Less, "3.00 times", "3.00 times as much"),
            (
                20.0,
                Some((-30.0, 400.0)),
                Sense::More,
                "1.20 times (0.700 to 5.00)",
                "1.20 times as much (95% CI 0.700 to 5.00)",
            ),
            (100.0, None, Sense::Time, "nothing is left", "0 times as much"),
        ] {
            let change = change(gain, ends, sense);
            assert_eq!((change.told().as_str(), change.says().as_str()), (table, sentence));
        }
    }

    /// For few, similar values, the upper bound was once printed as 18,446,744,073,709,551,615.
    #[test]
    fn a_bound_that_nothing_reaches_is_none() {
        let change = change(-41.7, Some((-100.0, 1.8e21)), Sense::More);
        assert_eq!(change.told(), "0.583 times (0 and more)");
        assert_eq!(change.says(), "0.583 times as much (95% CI 0 and more)");
    }

    #[test]
    fn a_sentence_has_the_metric_and_the_reference_behind_the_figure() {
        let told = |change: &Change| {
            let parts = change.parts();
            [parts.figure() + &parts.of("throughput"), parts.figure() + &parts.against("throughput", "SSD")]
        };
        assert_eq!(
            told(&change(29.0, None, Sense::More)),
            ["+29% throughput", "+29% throughput against SSD"]
        );
        assert_eq!(
            told(&change(12.0, None, Sense::Time)),
            ["12% lower throughput", "12% lower throughput against SSD"]
        );
        assert_eq!(
            told(&change(142.0, None, Sense::More)),
            ["2.42 times the reference in throughput", "2.42 times the reference SSD in throughput"]
        );
        let listed = change(29.0, Some((23.0, 35.0)), Sense::More).parts().listed();
        assert_eq!(listed, "+29%, 95% CI +23 to +35%");
    }

    /// Rounded, a gain of −20.4% would be at a limit of −20% and not beyond it.
    #[test]
    fn beside_a_limit_no_digit_is_lost() {
        let change = change(-20.4, Some((-23.4, 0.51)), Sense::Time);
        assert_eq!(change.beside_limit(), "−20.4% (−23.4 to +0.510%)");
    }

    #[test]
    fn a_confidence_that_is_not_the_usual_one_is_told() {
        let few = Change { confidence: Some(0.75), ..change(5.0, Some((1.0, 9.0)), Sense::More) };
        assert_eq!((few.told().as_str(), few.alone().as_str()), ("+5% (+1 to +9%, 75% CI)", "+5%"));
        assert_eq!(few.says(), "+5% (75% CI +1 to +9%)");
        let sure = Change { confidence: Some(0.998), ..few };
        assert_eq!(sure.told(), "+5% (+1 to +9%, 99.8% CI)");
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
            let is_factor = told.contains(" times");
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
                let (head, ends) = told.trim_end_matches("%)").split_once("% (").unwrap();
                let (low, high) = ends.split_once(" to ").unwrap();
                prop_assert!(number(low) <= number(head) && number(head) <= number(high), "{}", told);
            }
        }
    }
}
