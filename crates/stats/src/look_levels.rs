//! Levels of repeated t tests of the same blocks, so that all of them together claim no more than they may.
//!
//! How looks hang together is not taken from normal sums, which for few blocks would claim up to 5.5 % in place of 5 %, but from
//! the t statistics of normal blocks themselves. Without a difference the direction of the blocks x₁ … xₙ in space is uniform
//! (their length does not matter to t), and t belongs to the angle between it and the plane across (1 … 1): t = √(n − 1) tan θ.
//! Given θ after a block, the angles before it do not depend on what comes after it, so that one number is carried from look to
//! look (such sequences: W. J. Hall, R. A. Wijsman and J. K. Ghosh, "The relationship between sufficiency and invariance with
//! applications in sequential analysis", Annals of Mathematical Statistics 36, 1965).

use std::f64::consts::{FRAC_PI_2, PI};

use crate::normal::{normal_quantile, normal_tail};
use crate::student::{ln_gamma, t_two_sided};

/// Angles from 0 to 90 degrees at which what was carried is known, less one.
const STEPS: usize = 300;

/// What a look that may claim less than this claims nothing.
const LEAST: f64 = 1e-15;

/// Two-sided levels of t tests at looks after so many blocks (rising, from three on; the last is the end): without a difference,
/// a look claims one that none before did in just the share of cases that is spent between the two.
pub(crate) fn levels(significance: f64, looks: &[usize]) -> Vec<f64> {
    let (Some(&first), Some(&last)) = (looks.first(), looks.last()) else { return Vec::new() };
    let nodes = legendre();
    let mut levels = Vec::with_capacity(looks.len());
    let (mut inside, mut before) = (Inside::at(first), 0.0);
    for &blocks in looks {
        while inside.blocks < blocks {
            inside = inside.next(FRAC_PI_2, &nodes);
        }
        let spends = spent(significance, blocks as f64 / last as f64);
        let bound = inside.bound(spends - before, &nodes);
        levels.push(t_two_sided(((blocks - 1) as f64).sqrt() * bound.tan(), (blocks - 1) as f64));
        if bound < FRAC_PI_2 {
            before = spends;
        } else if let Some(level) = levels.last_mut() {
            *level = 0.0;
        }
        if blocks < last {
            inside = inside.next(bound, &nodes);
        }
    }
    levels
}

/// Significance that may have been spent, on both sides together, when a share of all blocks is there (K. K. G. Lan and D. L.
/// DeMets, "Discrete sequential boundaries for clinical trials", Biometrika 70, 1983: each side spends by their function α₁*).
fn spent(significance: f64, share: f64) -> f64 {
    4.0 * normal_tail(normal_quantile(significance / 4.0) / share.sqrt())
}

/// Chance that no look before claimed a difference, by the angle θ after so many blocks (the same for ± θ).
struct Inside {
    blocks: usize,
    chance: Vec<f64>,
}

impl Inside {
    fn at(blocks: usize) -> Self {
        Self { blocks, chance: vec![1.0; STEPS + 1] }
    }

    /// Between the angles that are known by the cubic of the four nearest (Catmull and Rom), as 0 and 90 degrees are mirrors.
    fn chance(&self, angle: f64) -> f64 {
        let place = angle.abs() / FRAC_PI_2 * STEPS as f64;
        let below = (place as usize).min(STEPS - 1);
        let at = |index: usize| self.chance[if index > STEPS { 2 * STEPS - index } else { index }];
        let (p0, p1, p2, p3) =
            (at(if below == 0 { 1 } else { below - 1 }), at(below), at(below + 1), at(below + 2));
        let x = place - below as f64;
        let cubic = p1
            + 0.5
                * x
                * (p2 - p0 + x * (2.0 * p0 - 5.0 * p1 + 4.0 * p2 - p3 + x * (3.0 * (p1 - p2) + p3 - p0)));
        cubic.clamp(0.0, 1.0)
    }

    /// The angle beyond which a look claims a difference in such a share of cases; 90 degrees where it may claim none.
    fn bound(&self, share: f64, nodes: &[(f64, f64)]) -> f64 {
        if share < LEAST {
            return FRAC_PI_2;
        }
        let density = Sphere::of(self.blocks);
        let leaves = |bound: f64| {
            let end = (bound + density.reach()).min(FRAC_PI_2);
            2.0 * integral(bound, end, nodes, |angle| density.at(angle) * self.chance(angle))
        };
        let (mut low, mut high) = (0.0, FRAC_PI_2);
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            if leaves(middle) > share { low = middle } else { high = middle }
        }
        high
    }

    /// One block later, where a look claimed what is beyond a bound. Backwards the direction of one block fewer is that of all but
    /// the last one, which is s of the length: given θ, s is that of a uniform direction across (1 … 1).
    fn next(&self, bound: f64, nodes: &[(f64, f64)]) -> Self {
        let (count, next) = (self.blocks as f64, (self.blocks + 1) as f64);
        let density = Sphere::of(self.blocks);
        let squared = count * bound.sin().powi(2);
        let at = |index: usize| {
            let (sine, cosine) = (index as f64 / STEPS as f64 * FRAC_PI_2).sin_cos();
            let sum = next.sqrt() * sine;
            let (center, radius) = (sine / next.sqrt(), cosine * (count / next).sqrt());
            // |sin θ| ≤ sin bound before: a quadratic inequality of s.
            let root = squared * (1.0 + squared - sum * sum);
            if root < 0.0 {
                return 0.0;
            }
            let end = |root: f64| ((sum + root) / (1.0 + squared) - center) / radius;
            let reach = density.reach().min(FRAC_PI_2);
            let angle = |end: f64| end.clamp(-1.0, 1.0).asin().clamp(-reach, reach);
            let before = |turn: f64| {
                let s = center + radius * turn.sin();
                let sine = (sum - s) / (count * (1.0 - s * s)).sqrt();
                density.at(turn) * self.chance(sine.clamp(-1.0, 1.0).asin())
            };
            integral(angle(end(-root.sqrt())), angle(end(root.sqrt())), nodes, before).clamp(0.0, 1.0)
        };
        Self { blocks: self.blocks + 1, chance: (0..=STEPS).map(at).collect() }
    }
}

/// The angle of a uniform direction in space to a plane: its density is in proportion to cosⁿ⁻² θ.
struct Sphere {
    exponent: i32,
    factor: f64,
}

impl Sphere {
    fn of(dimensions: usize) -> Self {
        let half = dimensions as f64 / 2.0;
        let factor = (ln_gamma(half) - ln_gamma(half - 0.5)).exp() / PI.sqrt();
        Self { exponent: dimensions as i32 - 2, factor }
    }

    fn at(&self, angle: f64) -> f64 {
        self.factor * angle.cos().powi(self.exponent)
    }

    /// Beyond this there is nothing that counts: nine standard deviations of many dimensions.
    fn reach(&self) -> f64 {
        9.0 / f64::from(self.exponent).sqrt()
    }
}

fn integral(from: f64, to: f64, nodes: &[(f64, f64)], of: impl Fn(f64) -> f64) -> f64 {
    let (middle, half) = (f64::midpoint(from, to), (to - from) / 2.0);
    nodes.iter().map(|(node, weight)| weight * of(middle + half * node)).sum::<f64>() * half
}

/// Nodes and weights of Gauss and Legendre on −1 to 1: roots by Newton's method from Tricomi's approximation (NIST Digital
/// Library of Mathematical Functions, 3.5.15 and 18.16.12).
fn legendre() -> Vec<(f64, f64)> {
    const NODES: usize = 36;
    let polynomial = |x: f64| {
        let (mut one, mut other) = (1.0, x);
        for degree in 2..=NODES {
            let degree = degree as f64;
            (one, other) = (other, ((2.0 * degree - 1.0) * x * other - (degree - 1.0) * one) / degree);
        }
        (other, NODES as f64 * (x * other - one) / (x * x - 1.0))
    };
    let node = |index: usize| {
        let mut x = (PI * (index as f64 + 0.75) / (NODES as f64 + 0.5)).cos();
        for _ in 0..8 {
            let (value, slope) = polynomial(x);
            x -= value / slope;
        }
        let slope = polynomial(x).1;
        (x, 2.0 / ((1.0 - x * x) * slope * slope))
    };
    (0..NODES).map(node).collect()
}

#[cfg(test)]
#[path = "look_levels_tests.rs"]
mod tests;
