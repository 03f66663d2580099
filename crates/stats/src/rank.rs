//! Which of the ordered differences bound an exact 95 % interval: the distributions of Wilcoxon's two rank
//! statistics.
//!
//! They hold without any assumption on the shape of the noise. Ties are not treated: with tied values the
//! interval's confidence is at least the one given. No test is made here and no p-value; an interval is all
//! that is wanted.

use crate::student::NORMAL_975;

/// Ends of an interval among m ordered differences: `index` counts from both ends, 0 being the outermost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ends {
    pub(crate) index: usize,
    pub(crate) confidence: f64,
}

/// Probability of each side beyond the interval.
const TAIL: f64 = 0.025;

/// Past this many pairs (or products of sizes) the normal approximation is used: it is off by less than one
/// difference in a thousand there, and the exact distribution would take seconds.
const SIGNED_RANK_EXACT_MAX: usize = 200;
const RANK_SUM_EXACT_MAX: usize = 2_500;

/// Ends among the n (n + 1) / 2 means of pairs of n differences (Tukey's interval of the signed-rank statistic:
/// Hollander and Wolfe, Nonparametric Statistical Methods, 1973, section 3.4). The distribution is built rank
/// by rank, each of which is in the sum or not with probability one half. n must not be zero.
pub(crate) fn signed_rank_ends(n: usize) -> Ends {
    let sums = n * (n + 1) / 2;
    if n > SIGNED_RANK_EXACT_MAX {
        let count = n as f64;
        return normal_ends(count * (count + 1.0) / 4.0, count * (count + 1.0) * (2.0 * count + 1.0) / 24.0);
    }
    let mut probability = vec![0.0; sums + 1];
    probability[0] = 1.0;
    let mut reached = 0;
    for rank in 1..=n {
        reached += rank;
        for sum in (0..=reached).rev() {
            let with = if sum >= rank { probability[sum - rank] } else { 0.0 };
            probability[sum] = (probability[sum] + with) / 2.0;
        }
    }
    ends(&probability)
}

/// Ends among the m · n differences between two samples (Moses' interval of the rank-sum statistic: Hollander
/// and Wolfe, section 4.4). The last of all values in order is of the first sample with probability m / (m + n)
/// and then exceeds all n of the other (Mann and Whitney, "On a test of whether one of two random variables is
/// stochastically larger than the other", 1947). Neither size may be zero.
pub(crate) fn rank_sum_ends(m: usize, n: usize) -> Ends {
    if m * n > RANK_SUM_EXACT_MAX {
        let (one, other) = (m as f64, n as f64);
        return normal_ends(one * other / 2.0, one * other * (one + other + 1.0) / 12.0);
    }
    // Row by row of the first size; `row[j]` holds the distribution for j values of the second sample.
    let mut row = vec![vec![1.0]; n + 1];
    for first in 1..=m {
        let mut next: Vec<Vec<f64>> = vec![vec![1.0]];
        for second in 1..=n {
            let share = first as f64 / (first + second) as f64;
            let mut probability = vec![0.0; first * second + 1];
            for (wins, before) in row[second].iter().enumerate() {
                probability[wins + second] += share * before;
            }
            for (wins, before) in next[second - 1].iter().enumerate() {
                probability[wins] += (1.0 - share) * before;
            }
            next.push(probability);
        }
        row = next;
    }
    ends(&row[n])
}

/// The narrowest interval of at least 95 %, or else the widest there is.
fn ends(probability: &[f64]) -> Ends {
    let mut tail = probability.first().copied().unwrap_or(0.0);
    let mut index = 0;
    for next in probability.iter().skip(1) {
        if tail + next > TAIL {
            break;
        }
        tail += next;
        index += 1;
    }
    Ends { index, confidence: (1.0 - 2.0 * tail).max(0.0) }
}

/// With correction for continuity, rounded outwards.
fn normal_ends(mean: f64, variance: f64) -> Ends {
    let index = (mean - 0.5 - NORMAL_975 * variance.sqrt()).floor().max(0.0);
    Ends { index: index as usize, confidence: 1.0 - 2.0 * TAIL }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signed_rank_ends_are_those_of_the_published_table() {
        // Critical values of the signed-rank statistic, two-sided 5 % (Wilcoxon and Wilcox, Some Rapid
        // Approximate Statistical Procedures, 1964, printed in most textbooks): the greatest sum that is still
        // significant.
        let table = [
            (6, 0),
            (7, 2),
            (8, 3),
            (9, 5),
            (10, 8),
            (11, 10),
            (12, 13),
            (13, 17),
            (14, 21),
            (15, 25),
            (16, 29),
            (17, 34),
            (18, 40),
            (19, 46),
            (20, 52),
            (25, 89),
        ];
        for (n, critical) in table {
            let ends = signed_rank_ends(n);
            assert_eq!(ends.index, critical, "{n} pairs");
            assert!((0.95..0.975).contains(&ends.confidence), "{n} pairs: {ends:?}");
        }
    }

    #[test]
    fn rank_sum_ends_are_those_of_the_published_table() {
        // Critical values of Mann and Whitney's U, two-sided 5 %, as printed in most textbooks.
        let table = [
            (4, 4, 0),
            (5, 5, 2),
            (5, 10, 8),
            (6, 6, 5),
            (6, 8, 8),
            (7, 7, 8),
            (8, 8, 13),
            (9, 9, 17),
            (10, 10, 23),
            (12, 12, 37),
            (15, 15, 64),
            (20, 20, 127),
        ];
        for (m, n, critical) in table {
            let ends = rank_sum_ends(m, n);
            assert_eq!((ends, ends.index), (rank_sum_ends(n, m), critical), "{m} and {n}");
            assert!(ends.confidence >= 0.95, "{m} and {n}: {ends:?}");
        }
    }

    #[test]
    fn confidence_is_that_of_counting() {
        // 2 of the 512 sign patterns of nine ranks sum up to 5 or less ten times each side: 1 − 20 / 512.
        for (n, outside) in [(2, 2.0 / 4.0), (5, 2.0 / 32.0), (6, 2.0 / 64.0), (9, 20.0 / 512.0)] {
            assert_eq!(signed_rank_ends(n).confidence, 1.0 - outside, "{n} pairs");
        }
        // Counted over all choices of m out of m + n ranks.
        for (m, n, counted) in [(4, 4, 0.971_428_571_428_571_4), (10, 5, 0.960_039_960_039_960_1)] {
            assert!((rank_sum_ends(m, n).confidence - counted).abs() < 1e-12, "{m} and {n}");
        }
        assert_eq!(signed_rank_ends(1), Ends { index: 0, confidence: 0.0 });
    }

    #[test]
    fn the_approximation_joins_the_exact_ends() {
        let exact = signed_rank_ends(SIGNED_RANK_EXACT_MAX).index as f64;
        let count = SIGNED_RANK_EXACT_MAX as f64;
        let normal =
            normal_ends(count * (count + 1.0) / 4.0, count * (count + 1.0) * (2.0 * count + 1.0) / 24.0)
                .index;
        assert!((exact - normal as f64).abs() <= 10.0, "{exact} and {normal} of 20,100");
        let (exact, normal) = (rank_sum_ends(50, 50).index, rank_sum_ends(50, 51).index);
        assert!((exact..exact + 30).contains(&normal), "{exact} of 2,500 and {normal} of 2,550");
    }
}
