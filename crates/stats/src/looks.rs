//! A study that is looked at after every block and ends once all is settled: what each look may claim.
//!
//! To look again and again at 5 % each time claims something false in 11 to 20 % of studies. Here each look has a stricter
//! level, so that all of them together claim as much as one would: the spending function of Lan and DeMets of the kind of
//! O'Brien and Fleming, strict at first and nearly 5 % at the last look. The levels are those of t tests themselves
//! ([`look_levels`](crate::look_levels)). It decides nothing about when to look or to stop: what holds at all looks together
//! holds at whichever a study ended.

use crate::effect::{Effect, log_ratios};
use crate::interval::Estimate;
use crate::judge::{BLOCKS_MIN, SIGNIFICANCE};
use crate::look_levels::levels;
use crate::student::{t_quantile, t_two_sided};
use crate::{mean, repeats_mean, standard_deviation};

/// Most blocks of a study that may end early: the levels of so many looks take a second to compute.
pub const LOOKS_BLOCKS_MAX: usize = 100;

/// Significances whose levels are kept, falling. Those that Holm's correction leaves of 5 % for up to 16 levels are among them.
const SIGNIFICANCES: [f64; 22] = [
    0.8,
    0.4,
    0.2,
    0.1,
    SIGNIFICANCE,
    SIGNIFICANCE / 2.0,
    SIGNIFICANCE / 3.0,
    SIGNIFICANCE / 4.0,
    SIGNIFICANCE / 5.0,
    SIGNIFICANCE / 6.0,
    SIGNIFICANCE / 7.0,
    SIGNIFICANCE / 8.0,
    SIGNIFICANCE / 10.0,
    SIGNIFICANCE / 12.0,
    SIGNIFICANCE / 14.0,
    SIGNIFICANCE / 16.0,
    SIGNIFICANCE / 24.0,
    SIGNIFICANCE / 32.0,
    SIGNIFICANCE / 64.0,
    SIGNIFICANCE / 128.0,
    SIGNIFICANCE / 512.0,
    SIGNIFICANCE / 4096.0,
];

/// The looks of a study: after each block from the sixth to the last one that is planned.
#[derive(Clone, Debug)]
pub struct Looks {
    blocks_max: usize,
    /// For each of the significances, two-sided levels of the looks in their order.
    levels: Vec<Vec<f64>>,
    /// How many standard errors the interval of each look reaches to each side.
    errors: Vec<f64>,
}

impl Looks {
    /// The looks of a study of at most so many blocks; none where these are fewer than a verdict takes or more than
    /// [`LOOKS_BLOCKS_MAX`].
    #[must_use]
    pub fn new(blocks_max: usize) -> Option<Self> {
        if !(BLOCKS_MIN..=LOOKS_BLOCKS_MAX).contains(&blocks_max) {
            return None;
        }
        let looks: Vec<usize> = (BLOCKS_MIN..=blocks_max).collect();
        let errors = |(level, blocks): (f64, &usize)| match level {
            0.0 => f64::MAX,
            level => t_quantile(level / 2.0, (blocks - 1) as f64),
        };
        Some(Self {
            blocks_max,
            levels: SIGNIFICANCES.iter().map(|of| levels(*of, &looks)).collect(),
            errors: levels(SIGNIFICANCE, &looks).into_iter().zip(&looks).map(errors).collect(),
        })
    }

    /// Most blocks of the study.
    #[must_use]
    pub fn blocks_max(&self) -> usize {
        self.blocks_max
    }

    /// Effect of a level from the pairs of (reference, level) that there are at a look, as [`effect`](crate::effect()), but
    /// valid however many looks came before it.
    ///
    /// The ratio is that of the geometric means. Its interval is the repeated confidence interval (C. Jennison and B. W.
    /// Turnbull, "Interim analyses: the repeated confidence interval approach", Journal of the Royal Statistical Society B 51,
    /// 1989): those of all looks hold the truth together with 95 %. The p-value is the least significance of all looks
    /// together at which this look shows a difference, so that it may be corrected for several levels as any other. Both hold
    /// whatever ended the study, and whether other levels were settled before. A comparison that lacks blocks has the level of
    /// the look at which it would have had as many.
    ///
    /// Before the first look it is the effect without looks, and descriptive. None where that has none.
    #[must_use]
    pub fn effect(&self, pairs: &[(f64, f64)]) -> Option<Effect> {
        let Some(look) = self.look(pairs.len()) else { return crate::effect(pairs) };
        let ratios = log_ratios(pairs)?;
        let (count, center) = (ratios.len() as f64, mean(&ratios)?);
        let deviation = standard_deviation(&ratios)?;
        let error = deviation / count.sqrt();
        let half_width = self.errors[look] * error;
        // Of an early look at what scatters, more than numbers hold.
        let ends =
            ((center - half_width).exp().max(f64::MIN_POSITIVE), (center + half_width).exp().min(f64::MAX));
        let p_value = if center == 0.0 { 1.0 } else { t_two_sided(center / error, count - 1.0) };
        Some(Effect {
            ratio: Estimate::new(center.exp(), ends)?,
            blocks: ratios.len(),
            confidence: 1.0 - SIGNIFICANCE,
            p_value: self.of_all_looks(p_value, look),
            deviation,
        })
    }

    /// The mean of the blocks' values at a look with its repeated confidence interval; before the first look with Student's, as
    /// [`repeats_mean`](crate::repeats_mean()). None where that has none.
    #[must_use]
    pub fn mean(&self, values: &[f64]) -> Option<Estimate> {
        let plain = repeats_mean(values)?;
        let Some(look) = self.look(values.len()) else { return Some(plain) };
        let count = values.len() as f64;
        let half_width = self.errors[look] * standard_deviation(values)? / count.sqrt();
        let clamped = |end: f64| end.clamp(f64::MIN, f64::MAX);
        Estimate::new(plain.value, (clamped(plain.value - half_width), clamped(plain.value + half_width)))
    }

    /// Least two-sided p-value of a t test that is no claim at the last look, where looks and tests together may claim so much.
    pub(crate) fn last_level(&self, significance: f64) -> f64 {
        let look = self.blocks_max - BLOCKS_MIN;
        let known: Vec<(f64, f64)> =
            SIGNIFICANCES.iter().zip(&self.levels).map(|(&of, levels)| (levels[look], of)).collect();
        between(&known, significance)
    }

    /// The look that there is with so many blocks; none before the first.
    fn look(&self, blocks: usize) -> Option<usize> {
        blocks.min(self.blocks_max).checked_sub(BLOCKS_MIN)
    }

    /// The significance of all looks together at which a look has this level.
    fn of_all_looks(&self, p_value: f64, look: usize) -> f64 {
        let known: Vec<(f64, f64)> =
            SIGNIFICANCES.iter().zip(&self.levels).map(|(&of, levels)| (of, levels[look])).collect();
        between(&known, p_value)
    }
}

/// What belongs to a level, between what is known (falling) by powers: the greater where a level is that of no claim, and 1
/// above all of them.
fn between(known: &[(f64, f64)], level: f64) -> f64 {
    let Some(above) = known.iter().rposition(|(_, at)| *at >= level) else { return 1.0 };
    let (high, level_high) = known[above];
    match known.get(above + 1) {
        Some(&(low, level_low)) if level_low > 0.0 && level_high > level_low => {
            let place = (level.max(f64::MIN_POSITIVE) / level_low).ln() / (level_high / level_low).ln();
            low * (high / low).powf(place.clamp(0.0, 1.0))
        }
        _ => high,
    }
}

#[cfg(test)]
#[path = "looks_tests.rs"]
mod tests;
