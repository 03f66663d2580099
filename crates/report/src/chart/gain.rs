//! The axis of gains: per cent, or factors as soon as one of them is told as one, which is the convention of words and tables.

use super::canvas::{Canvas, Ink};
use super::frame::{Axis, Frame};
use super::scale::{Scale, Spread};
use crate::change::{Change, signed_per_cent};
use crate::format::plain;

/// A factor is drawn no farther from no change than this: what is left of nothing has no place on the axis.
const FACTOR_MOST: f64 = 1000.0;

/// An axis of gains with no change always on it.
pub(crate) struct GainAxis {
    pub(crate) by_factors: bool,
    pub(crate) axis: Axis<'static>,
}

impl GainAxis {
    /// As wide as all of these with their intervals.
    pub(crate) fn of(changes: &[Change], from: f64, to: f64) -> Self {
        let by_factors = changes.iter().any(Change::is_factor);
        let axis = if by_factors { factors(changes, from, to) } else { per_cent(changes, from, to) };
        Self { by_factors, axis }
    }

    /// Where a gain in per cent lies, of a metric as that of the change.
    pub(crate) fn at(&self, change: &Change, gain_pct: f64) -> f64 {
        self.axis.scale.at(if self.by_factors { times(change, gain_pct) } else { gain_pct })
    }

    /// Where no change lies.
    pub(crate) fn none(&self) -> f64 {
        self.axis.scale.at(if self.by_factors { 1.0 } else { 0.0 })
    }

    /// The axis with its grid and the line of no change.
    pub(crate) fn draw(&self, canvas: &mut Canvas<'_>, frame: &Frame) {
        for tick in self.axis.scale.ticks() {
            let at = self.axis.scale.at(tick);
            canvas.line(Ink::Grid, 1.0, (at, frame.top), (at, frame.bottom));
        }
        frame.horizontal(canvas, &self.axis);
        canvas.line(Ink::Axis, 1.5, (self.none(), frame.top), (self.none(), frame.bottom));
    }

    /// What a caption says of factors; nothing of per cent.
    pub(crate) fn remark(&self) -> &'static str {
        if self.by_factors {
            " The axis shows factors. Right of 1 × is better: half the latency is at 2 ×."
        } else {
            ""
        }
    }
}

fn per_cent(changes: &[Change], from: f64, to: f64) -> Axis<'static> {
    let ends = changes.iter().flat_map(ends);
    let (low, high) = ends.fold((0.0, 0.0), |(low, high): (f64, f64), end| (low.min(end), high.max(end)));
    let room = ((high - low) * 0.05).max(0.5);
    let (low, high) = (if low < 0.0 { low - room } else { 0.0 }, if high > 0.0 { high + room } else { 0.5 });
    Axis {
        scale: Scale { spread: Spread::Linear, low, high, from, to },
        title: "gain",
        print: signed_per_cent,
    }
}

fn factors(changes: &[Change], from: f64, to: f64) -> Axis<'static> {
    let ends = changes.iter().flat_map(|change| ends(change).into_iter().map(|end| times(change, end)));
    let (low, high) = ends.fold((1.0, 1.0), |(low, high): (f64, f64), end| (low.min(end), high.max(end)));
    let scale = Scale::doublings(low, high, from, to);
    Axis { scale, title: "gain as a factor", print: |times| format!("{} ×", plain(times)) }
}

/// A change with the ends of its interval, in per cent.
fn ends(change: &Change) -> Vec<f64> {
    let (low, high) = change.ends.unzip();
    [Some(change.gain_pct), low, high].into_iter().flatten().collect()
}

fn times(change: &Change, gain_pct: f64) -> f64 {
    change.times(gain_pct).clamp(1.0 / FACTOR_MOST, FACTOR_MOST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::Sense;

    fn axis(gains: &[f64]) -> (Vec<Change>, GainAxis) {
        let change = |&gain_pct: &f64| Change { gain_pct, ends: None, sense: Sense::Time, confidence: None };
        let changes: Vec<Change> = gains.iter().map(change).collect();
        let axis = GainAxis::of(&changes, 0.0, 100.0);
        (changes, axis)
    }

    /// A latency that became 21 times as long once had an axis to −2,000%, on which all other gains were one point.
    #[test]
    fn from_a_doubling_on_gains_are_factors() {
        let (changes, axis) = axis(&[-2_000.0, 50.0, -100.0]);
        let prints: Vec<String> = axis.axis.scale.ticks().into_iter().map(axis.axis.print).collect();
        assert!(axis.by_factors && prints.iter().all(|tick| tick.ends_with(" ×")), "{prints:?}");
        let at = |index: usize| axis.at(&changes[index], changes[index].gain_pct);
        let (better, worse) = (at(1) - axis.none(), axis.none() - at(2));
        assert!(
            (better - worse).abs() < 1e-9 && better > 10.0,
            "twice and half are equally far: {better} {worse}"
        );
    }

    #[test]
    fn below_a_doubling_gains_are_in_per_cent() {
        let (changes, axis) = axis(&[-12.0, 30.0]);
        assert!(!axis.by_factors && axis.remark().is_empty());
        assert!(axis.at(&changes[0], -12.0) < axis.none() && axis.none() < axis.at(&changes[1], 30.0));
        assert_eq!(self::axis(&[]).1.axis.scale.low, 0.0);
    }
}
