//! From values to units of the drawing, and the values worth a tick.

/// How values are spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spread {
    /// Evenly.
    Linear,
    /// Evenly, ticks at seconds, minutes and hours.
    Time,
    /// By factors, ticks at powers of ten.
    Log10,
    /// By factors, ticks at powers of two.
    Log2,
}

/// An axis: values `low..=high` on units `from..=to`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    pub(crate) spread: Spread,
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) from: f64,
    pub(crate) to: f64,
}

impl Scale {
    /// An even scale from 0 to a round value at or above `most`.
    pub(crate) fn from_zero(most: f64, from: f64, to: f64) -> Self {
        let most = if most > 0.0 { most } else { 1.0 };
        let step = round_above(most / 4.0);
        Self { spread: Spread::Linear, low: 0.0, high: (most / step).ceil() * step, from, to }
    }

    /// A scale by powers of ten, as narrow as holds the values and at least a decade wide.
    pub(crate) fn decades(low: f64, high: f64, from: f64, to: f64) -> Self {
        let (mut low, mut high) = (round_below(low.max(1e-3)), round_above(high.max(1e-3)));
        while high / low < 9.999 {
            (low, high) = (low / 2.0, high * 2.0);
        }
        Self { spread: Spread::Log10, low, high, from, to }
    }

    /// A logarithmic scale that is only as wide as its values need. It shows differences between similar rates.
    pub(crate) fn factors(low: f64, high: f64, from: f64, to: f64) -> Self {
        let (low, mut high) = (round_below(low.max(1e-3)), round_above(high.max(1e-3)));
        if high <= low {
            high = low * 2.0;
        }
        Self { spread: Spread::Log10, low, high, from, to }
    }

    /// A scale by powers of two with a little room at both ends.
    pub(crate) fn doublings(low: f64, high: f64, from: f64, to: f64) -> Self {
        let room = 2f64.powf(0.25);
        Self { spread: Spread::Log2, low: low / room, high: high.max(low * 2.0) * room, from, to }
    }

    /// A scale of seconds.
    pub(crate) fn time(low: f64, high: f64, from: f64, to: f64) -> Self {
        Self { spread: Spread::Time, low, high: high.max(low + 1.0), from, to }
    }

    /// What a title of the axis says besides, so that distances are read as factors.
    pub(crate) fn remark(&self) -> &'static str {
        match self.spread {
            Spread::Linear | Spread::Time => "",
            Spread::Log10 | Spread::Log2 => " (logarithmic)",
        }
    }

    /// Where a value lies, in units; values outside lie on the nearer end.
    pub(crate) fn at(&self, value: f64) -> f64 {
        let share = match self.spread {
            Spread::Linear | Spread::Time => (value - self.low) / (self.high - self.low),
            Spread::Log10 | Spread::Log2 => {
                (value.max(f64::MIN_POSITIVE) / self.low).ln() / (self.high / self.low).ln()
            }
        };
        self.from + share.clamp(0.0, 1.0) * (self.to - self.from)
    }

    /// Values for ticks, rising, at most about eight.
    pub(crate) fn ticks(&self) -> Vec<f64> {
        match self.spread {
            Spread::Linear => self.multiples(round_above((self.high - self.low) / 4.0)),
            Spread::Time => self.multiples(time_step((self.high - self.low) / 5.0)),
            Spread::Log10 => self.powers_of_ten(),
            Spread::Log2 => self.powers_of_two(),
        }
    }

    fn multiples(&self, step: f64) -> Vec<f64> {
        let first = (self.low / step - 1e-9).ceil() as i64;
        let last = (self.high / step + 1e-9).floor() as i64;
        (first..=last).map(|index| index as f64 * step).collect()
    }

    fn powers_of_ten(&self) -> Vec<f64> {
        let decades = (self.high / self.low).log10();
        let digits: &[f64] = if decades > 3.5 { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let digits = if decades > 1.8 { &digits[..1] } else { digits };
        let (first, last) = (self.low.log10().floor() as i32, self.high.log10().ceil() as i32);
        // With very many decades, only some can have a tick.
        let every = usize::try_from((last - first) / 7).unwrap_or(0) + 1;
        (first..=last)
            .step_by(every)
            .flat_map(|power| digits.iter().map(move |digit| digit * 10f64.powi(power)))
            .filter(|value| *value >= self.low * 0.999 && *value <= self.high * 1.001)
            .collect()
    }

    fn powers_of_two(&self) -> Vec<f64> {
        let (first, last) = (self.low.log2().ceil() as i32, self.high.log2().floor() as i32);
        let every = usize::try_from((last - first) / 9).unwrap_or(0) + 1;
        (first..=last).step_by(every).map(|power| 2f64.powi(power)).collect()
    }
}

/// 1, 2, 5 and 10 times the power of ten at or below the value.
fn round_values(value: f64) -> [f64; 4] {
    let decade = 10f64.powf(value.log10().floor());
    [1.0, 2.0, 5.0, 10.0].map(|digit| digit * decade)
}

/// The least round value that is at least so much.
fn round_above(least: f64) -> f64 {
    round_values(least).into_iter().find(|round| *round >= least * 0.999_999).unwrap_or(least)
}

/// The greatest round value that is at most so much.
fn round_below(most: f64) -> f64 {
    round_values(most).into_iter().rev().find(|round| *round <= most * 1.000_001).unwrap_or(most)
}

fn time_step(least: f64) -> f64 {
    const STEPS_S: [f64; 15] =
        [1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1800.0, 3600.0, 7200.0, 21_600.0];
    STEPS_S.into_iter().find(|step| *step >= least).unwrap_or_else(|| round_above(least / 3600.0) * 3600.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn even_scales_end_at_round_values() {
        let scale = Scale::from_zero(74_120.0, 0.0, 100.0);
        assert_eq!(scale.high, 80_000.0);
        assert_eq!(scale.ticks(), [0.0, 20_000.0, 40_000.0, 60_000.0, 80_000.0]);
        assert_eq!(Scale::from_zero(0.0, 0.0, 1.0).high, 1.0);
    }

    #[test]
    fn scales_by_factors_have_powers_as_ticks() {
        let scale = Scale::decades(83.0, 21_000.0, 0.0, 100.0);
        assert_eq!((scale.low, scale.high), (50.0, 50_000.0));
        assert_eq!(scale.ticks(), [100.0, 1000.0, 10_000.0]);
        assert_eq!(Scale::doublings(1.0, 256.0, 0.0, 1.0).ticks().len(), 9);
    }

    proptest! {
        #[test]
        fn no_scale_leaves_its_ground_or_drowns_in_ticks(low in 1e-3f64..1e9, factor in 1.0f64..1e9) {
            let high = low * factor;
            let scales = [
                Scale::from_zero(high, 10.0, 90.0),
                Scale::decades(low, high, 10.0, 90.0),
                Scale::doublings(low, high, 10.0, 90.0),
                Scale::time(0.0, high, 10.0, 90.0),
            ];
            for scale in scales {
                prop_assert!((2..=11).contains(&scale.ticks().len()) || scale.spread == Spread::Log2, "{scale:?}");
                prop_assert!(scale.ticks().len() <= 19);
                for value in [low, high, 0.0, high * 2.0] {
                    prop_assert!((10.0..=90.0).contains(&scale.at(value)));
                }
            }
        }
    }
}
