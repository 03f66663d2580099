//! How the figures of a study that compares came to be.

use super::StudyComparison;
use crate::report::Report;

/// When a knee is claimed.
pub(crate) const KNEE: &str = "A knee is claimed if two lines in log–log fit the levels' means clearly better than one line. Noise would give \
    such a fit in less than 1 of 100 cases. The two lines must also fit better than smooth curves, by 6 points of the Bayesian information criterion. The \
    smooth curves are a quadratic, gradual saturation, and time in a queue. The lines must fit no worse than a sharper saturation, and better \
    than a jump (by 2). The \
    slopes must differ at least twofold. A knee needs six levels in two blocks or more, or eight levels in one block. Its interval contains the \
    bends that an F test cannot distinguish from the best one.";

const JUDGED: &str = "Better and worse: the interval excludes 0, the corrected p-value is below 0.05, and the effect is at least the smallest \
    relevant difference. This is 3%, or the value in the study. It does not grow with the scatter of the machine. Equivalent: the whole \
    interval lies within the smallest relevant difference. Small: a difference is shown, but its estimate is not relevant. The true difference may be as large as the far end of its interval. Not resolvable here: half of the interval is wider than the smallest relevant difference, so equivalence was out \
    of reach. The verdict is the same if even 1,000 blocks would not decide the comparison. Within noise: all other cases, which does not mean no difference. The verdicts better and worse are corrected for the number of levels. The verdict equivalent is not. If several levels differ by exactly the smallest relevant difference, \
    more than 1 of 20 studies calls one of them equivalent. The printed number of blocks would decide a comparison with 80% power, if effect and scatter stay as measured. Fewer than six blocks give no verdict. Their interval is the range of the blocks, and its confidence is printed.";

const LOOKS: &str = "The study ends as soon as every comparison of its metric is better, worse or equivalent. prony checks this after the sixth block, and after each later one. Each look uses a stricter significance level, so that all looks together make a false claim in at most 5% of studies. The levels follow the \
    spending function of Lan and DeMets of the O'Brien–Fleming type, for t tests of normal blocks. Intervals are repeated confidence intervals \
    (Jennison and Turnbull). They hold at all looks together, for any reason to stop. The p-value is the smallest significance level of all looks \
    at which this look shows a difference, so Holm's correction applies as usual. Knees, jumps, queues, falls, sweet spots and scalability are computed as in a study with a fixed number of blocks. The same applies to the tests of noise and of correlated blocks.";

const REFERENCE: &str = "If the reference was measured twice in a block (an A/A pair), levels are compared with the geometric mean of the two measurements. The pair \
    shows how far the machine differs from itself. Blocks are assumed to be independent. They run one after the other, so this holds only if \
    nothing lasts from one block to the next. Correlation between blocks is tested by comparing their order with random orders (permutation test at lag 1, Wald and Wolfowitz). \
    With few blocks the test shows only strong correlation.";

const ALONG: &str = "Knees are searched along an axis of numbers, as described below. A jump between two levels follows the same rules: two parallel \
    lines against a bent one, for changes of 5% and more. The sweet spot is at most the cheapest level that loses less than 5% against the best, over the whole interval of the loss. A cheaper level is ruled out if a one-sided t test shows 5% loss or more. The test is corrected for all levels \
    that may be the best. The last level is reported as worse than the best if it is worse block by block, corrected for all levels. With single trials, their intervals must be disjoint. If a latency rises as in a queue, the report has the load at which the queue is full, with its 95% CI (F test). This requires that no other curve fits as well.";

const BEST: &str = "The best of several combinations is named if it is ahead of every other one, by interval and paired t test. Its own mean is too high \
    on average, as the largest of several means always is.";

const THRESHOLDS: &str = "A threshold passes if the whole 95% CI is on the allowed side, and fails if the whole interval is on the other side. Otherwise \
    it is inconclusive. The mean of two or more blocks has an interval. In a single block, a percentile or a rate is judged by the interval of \
    its trial. Any other single value is inconclusive, unless you accept single values. A gain is judged only with six or more blocks.";

/// Whether a knee is looked for along an axis of numbers.
pub(crate) fn along_numbers(report: &Report) -> bool {
    report.comparison.iter().flat_map(|compared| &compared.axes).any(|axis| axis.quantity.is_some())
}

/// What several axes come to, each of which is corrected by itself.
fn several_families(axes: usize) -> String {
    let any = 100.0 * (1.0 - 0.95f64.powi(i32::try_from(axes).unwrap_or(i32::MAX)));
    match axes {
        0 | 1 => String::new(),
        axes => format!(
            " Each axis is corrected by itself: if nothing differs, up to {any:.0} of 100 studies with {axes} axes call some level \
             better or worse."
        ),
    }
}

pub(crate) fn paragraphs(compared: &StudyComparison) -> Vec<String> {
    let families = match compared.axes.len() {
        0 | 1 => "all comparisons",
        _ => "all comparisons of one axis, over all settings of the others,",
    };
    let effect = match compared.looks {
        Some(_) => {
            "ratio of geometric means, with the interval of the t test on the blocks' log ratios, for all looks together"
        }
        None => "Hodges–Lehmann estimate of the blocks' log ratios, with the exact signed-rank interval",
    };
    let paired = format!(
        "prony compares a combination, block by block, with the one that has the reference level of an axis and shares all other \
        levels. A block counts only if both trials are complete. The effect is the {effect}. P-values are those of the paired t test. \
        Holm's correction covers {families} together.{}",
        several_families(compared.axes.len())
    );
    let numbers = compared.axes.iter().any(|axis| axis.quantity.is_some());
    let others = [
        (compared.looks.is_some(), LOOKS),
        (true, JUDGED),
        (true, REFERENCE),
        (compared.axes.len() > 1, BEST),
        (numbers, ALONG),
        (!compared.thresholds.is_empty(), THRESHOLDS),
    ];
    let others = others.into_iter().filter(|(holds, _)| *holds).map(|(_, text)| text.to_owned());
    [paired].into_iter().chain(others).collect()
}
