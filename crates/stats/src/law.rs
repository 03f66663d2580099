//! Least squares of the universal scalability law in logarithms, with any of its figures held.

use crate::curve::Point;

/// The levels' means as the law sees them.
pub(crate) struct Data {
    /// N of each level, ascending.
    n: Vec<f64>,
    /// ln X − ln N, with throughputs in a unit of their own, so that theirs cannot matter.
    per_one: Vec<f64>,
    /// Logarithm of that unit.
    pub(crate) unit: f64,
}

/// What the cost of one piece of work may be made of: non-negative parts of 1, N − 1 and N(N − 1), after a fixed one.
///
/// The law's throughput is N over that cost, a + b(N − 1) + cN(N − 1) with a = 1/λ, b = σ/λ and c = κ/λ. To hold one of the
/// figures (λ, σ, κ, the peak) is linear in a, b and c, so that it is another set of parts.
pub(crate) struct Parts {
    fixed: [f64; 3],
    free: [[f64; 3]; 3],
    count: usize,
}

/// The law, with all three parts free.
pub(crate) const LAW: Parts =
    Parts { fixed: [0.0; 3], free: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], count: 3 };

/// The law without coherency (Amdahl's).
const WITHOUT_COHERENCY: Parts = Parts { count: 2, ..LAW };

impl Parts {
    fn two(one: [f64; 3], other: [f64; 3]) -> Self {
        Self { fixed: [0.0; 3], free: [one, other, [0.0; 3]], count: 2 }
    }

    pub(crate) fn with_lambda(lambda: f64) -> Self {
        Self { fixed: [1.0 / lambda, 0.0, 0.0], ..Self::two([0.0, 1.0, 0.0], [0.0, 0.0, 1.0]) }
    }

    pub(crate) fn with_sigma(sigma: f64) -> Self {
        Self::two([1.0, sigma, 0.0], [0.0, 0.0, 1.0])
    }

    pub(crate) fn with_kappa(kappa: f64) -> Self {
        Self::two([1.0, 0.0, kappa], [0.0, 1.0, 0.0])
    }

    /// κ = (1 − σ) / N² at the peak: what is serialised, and what is not.
    pub(crate) fn with_peak(at: f64) -> Self {
        Self::two([1.0, 0.0, 1.0 / (at * at)], [1.0, 1.0, 0.0])
    }
}

/// A fitted law: a, b and c, and its sum of squares.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Law {
    cost: [f64; 3],
    pub(crate) squares: f64,
}

impl Law {
    pub(crate) fn lambda(&self) -> f64 {
        1.0 / self.cost[0]
    }

    pub(crate) fn sigma(&self) -> f64 {
        self.cost[1] / self.cost[0]
    }

    pub(crate) fn kappa(&self) -> f64 {
        self.cost[2] / self.cost[0]
    }

    /// N of the greatest throughput; none where it rises or falls everywhere.
    pub(crate) fn peak(&self) -> Option<f64> {
        Some(((1.0 - self.sigma()) / self.kappa()).sqrt()).filter(|at| at.is_finite() && *at >= 1.0)
    }

    fn cost_at(&self, n: f64) -> f64 {
        dot(self.cost, terms(n))
    }
}

impl Data {
    pub(crate) fn of(points: &[Point]) -> Self {
        let unit = points.iter().map(|point| point.y).fold(f64::NEG_INFINITY, f64::max);
        Self {
            n: points.iter().map(|point| point.x.exp()).collect(),
            per_one: points.iter().map(|point| point.y - unit - point.x).collect(),
            unit,
        }
    }

    pub(crate) fn levels(&self) -> usize {
        self.n.len()
    }

    pub(crate) fn largest(&self) -> f64 {
        self.n.last().copied().unwrap_or(0.0)
    }

    /// The farthest that a level's mean lies from the law, as a share of the law.
    pub(crate) fn misfit(&self, law: &Law) -> f64 {
        let share = |(&n, per_one): (&f64, &f64)| (per_one + law.cost_at(n).ln()).exp_m1().abs();
        self.n.iter().zip(&self.per_one).map(share).fold(0.0, f64::max)
    }

    /// Least sum of squares of a law without coherency that is cut off at a capacity from some level on, which two levels at
    /// least must share. None where nothing could be fitted.
    pub(crate) fn full_squares(&self) -> Option<f64> {
        let full = |from: usize| {
            let below =
                Self { n: self.n[..from].to_vec(), per_one: self.per_one[..from].to_vec(), unit: self.unit };
            let throughputs =
                || self.n[from..].iter().zip(&self.per_one[from..]).map(|(n, per_one)| n.ln() + per_one);
            let capacity = throughputs().sum::<f64>() / (self.n.len() - from) as f64;
            let past: f64 = throughputs().map(|throughput| (throughput - capacity).powi(2)).sum();
            Some(below.fit(&WITHOUT_COHERENCY)?.squares + past)
        };
        (2..=self.n.len() - 2).filter_map(full).reduce(f64::min)
    }

    /// The best law of these parts: with all of them, else the best with some.
    pub(crate) fn fit(&self, parts: &Parts) -> Option<Law> {
        let all = (1 << parts.count) - 1;
        let free = |subset: u32| {
            (0..parts.count).filter(move |part| subset >> part & 1 == 1).map(|part| parts.free[part])
        };
        let with = |subset: u32| self.descend(parts.fixed, &free(subset).collect::<Vec<[f64; 3]>>());
        with(all).or_else(|| {
            let some = (0..all).filter_map(with);
            some.min_by(|one, other| one.squares.total_cmp(&other.squares))
        })
    }

    /// Least squares over the parts' amounts (D. W. Marquardt, "An algorithm for least-squares estimation of nonlinear
    /// parameters", Journal of the Society for Industrial and Applied Mathematics 11, 1963). None where an amount ends below 0.
    fn descend(&self, fixed: [f64; 3], free: &[[f64; 3]]) -> Option<Law> {
        /// Steps after which it stays where it is; some ten suffice.
        const STEPS_MAX: usize = 100;
        let mut amounts = self.start(fixed, free);
        let mut law = self.law(fixed, free, amounts);
        let mut damping = 1e-3;
        for _ in 0..STEPS_MAX {
            let Some(change) = self.step(&law, free, damping) else { break };
            let next_amounts = std::array::from_fn(|part| amounts[part] + change[part]);
            let next = self.law(fixed, free, next_amounts);
            if next.squares <= law.squares {
                let gain = law.squares - next.squares;
                (amounts, law, damping) = (next_amounts, next, damping / 10.0);
                if gain <= 1e-13 * law.squares {
                    break;
                }
            } else if damping > 1e12 {
                break;
            } else {
                damping *= 10.0;
            }
        }
        let valid = law.squares.is_finite() && amounts.iter().all(|amount| *amount >= 0.0);
        valid.then_some(law)
    }

    /// The first part alone where nothing is fixed, so that the mean is right; else nothing.
    fn start(&self, fixed: [f64; 3], free: &[[f64; 3]]) -> [f64; 3] {
        let mut amounts = [0.0; 3];
        if let (Some(first), true) = (free.first(), fixed == [0.0; 3]) {
            let shares =
                self.n.iter().zip(&self.per_one).map(|(&n, per_one)| -per_one - dot(*first, terms(n)).ln());
            let usable: Vec<f64> = shares.filter(|share| share.is_finite()).collect();
            amounts[0] = (usable.iter().sum::<f64>() / usable.len().max(1) as f64).exp();
        }
        amounts
    }

    /// The law of some amounts; its sum of squares is infinite where the cost of a level is not positive.
    fn law(&self, fixed: [f64; 3], free: &[[f64; 3]], amounts: [f64; 3]) -> Law {
        let mut cost = fixed;
        for (part, amount) in free.iter().zip(amounts) {
            cost.iter_mut().zip(part).for_each(|(cost, share)| *cost += amount * share);
        }
        let law = Law { cost, squares: f64::INFINITY };
        let residual = |(&n, per_one): (&f64, &f64)| (per_one + law.cost_at(n).ln()).powi(2);
        let squares: f64 = self.n.iter().zip(&self.per_one).map(residual).sum();
        Law { squares: if squares.is_finite() { squares } else { f64::INFINITY }, ..law }
    }

    /// One damped step: the normal equations of the linearised curve, with the diagonal increased.
    fn step(&self, law: &Law, free: &[[f64; 3]], damping: f64) -> Option<[f64; 3]> {
        let mut matrix = [[0.0; 3]; 3];
        let mut vector = [0.0; 3];
        for (&n, per_one) in self.n.iter().zip(&self.per_one) {
            let cost = law.cost_at(n);
            let derivatives: [f64; 3] =
                std::array::from_fn(|part| free.get(part).map_or(0.0, |part| dot(*part, terms(n)) / cost));
            for (row, &by_row) in derivatives.iter().enumerate() {
                vector[row] -= by_row * (per_one + cost.ln());
                derivatives
                    .iter()
                    .enumerate()
                    .for_each(|(column, by_column)| matrix[row][column] += by_row * by_column);
            }
        }
        for (part, row) in matrix.iter_mut().enumerate() {
            // A part that is not there gets the equation 1 · change = 0.
            row[part] = if part < free.len() { row[part] * (1.0 + damping) } else { 1.0 };
        }
        solve(matrix, vector)
    }
}

/// What the three parts of the cost are multiplied by.
fn terms(n: f64) -> [f64; 3] {
    [1.0, n - 1.0, n * (n - 1.0)]
}

fn dot(one: [f64; 3], other: [f64; 3]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

/// Solution of three symmetric, positive definite equations by Cholesky's decomposition, after scaling to a
/// unit diagonal, since the terms differ by the square of N. None where they are not positive definite.
fn solve(matrix: [[f64; 3]; 3], vector: [f64; 3]) -> Option<[f64; 3]> {
    let scale: [f64; 3] = std::array::from_fn(|index| matrix[index][index].sqrt());
    let mut factor = [[0.0; 3]; 3];
    let mut forward = [0.0; 3];
    for row in 0..3 {
        for column in 0..=row {
            let known: f64 = (0..column).map(|inner| factor[row][inner] * factor[column][inner]).sum();
            let rest = matrix[row][column] / (scale[row] * scale[column]) - known;
            factor[row][column] = if row == column { rest.sqrt() } else { rest / factor[column][column] };
        }
        let known: f64 = (0..row).map(|inner| factor[row][inner] * forward[inner]).sum();
        forward[row] = (vector[row] / scale[row] - known) / factor[row][row];
    }
    let mut solution = [0.0; 3];
    for row in (0..3).rev() {
        let known: f64 = (row + 1..3).map(|inner| factor[inner][row] * solution[inner]).sum();
        solution[row] = (forward[row] - known) / factor[row][row];
    }
    let solution: [f64; 3] = std::array::from_fn(|index| solution[index] / scale[index]);
    solution.iter().all(|part| part.is_finite()).then_some(solution)
}
