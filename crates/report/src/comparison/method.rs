//! How the figures of a study that compares came to be.

use super::StudyComparison;
use crate::report::Report;

/// When a knee is claimed.
pub(crate) const KNEE: &str = "A knee is claimed where two lines in log–log describe the levels' means so much better than one as noise would \
    make them in less than one of a hundred cases, better than smooth curves (a quadratic, gradual saturation, time in a queue; by 6 of the Bayesian \
    information criterion), no worse than a sharper saturation, better than a jump (by 2), and with slopes that differ at least twofold: from six levels in two blocks or more, or eight in one. Its interval \
    holds the bends that an F test does not tell from the best one.";

const JUDGED: &str = "Better and worse: the interval excludes no difference, the corrected p-value is below 0.05, and the \
    effect is at least the smallest that matters: 3 %, or what the study says, and never more for a machine that scatters \
    more. Equivalent: the whole interval lies within that. Small: a difference is shown whose estimate does not \
    matter; it may be as large as the end of its interval. Not resolvable here: half of the interval is wider than what does \
    not matter, so that equivalence could not have been shown, or a thousand blocks would not settle it. Within noise: the \
    rest, which is not the same as no difference. Better and worse are corrected for the number of levels, equivalence is not: of several levels \
    whose true difference is just what matters, more than one study in twenty calls one equivalent. Blocks that would settle it are those that do in four of five \
    studies, were effect and scatter as they were seen. Fewer than six blocks make no verdict: their \
    interval is the range of the blocks, of the confidence that it says.";

const LOOKS: &str = "The study ends once every comparison of its metric is better, worse or equivalent, and is looked at after each block \
    from the sixth on. Each look has a stricter level, so that all of them together claim something false in no more than 5 % of \
    studies: the spending function of Lan and DeMets of the kind of O'Brien and Fleming, for t tests of normal blocks. Intervals are \
    repeated confidence intervals (Jennison and Turnbull), which hold at all looks together whatever ended the study; p-values are \
    the least significance of all looks at which this one shows a difference, so that Holm's correction holds for them as for any \
    others. Knees, jumps, queues, falls, sweet spots, scalability, and the tests of noise and of likeness of blocks are those of a study \
    whose blocks are fixed.";

const REFERENCE: &str = "Where the reference was measured twice in a block (an A/A pair), levels are compared with the geometric mean of both, and \
    the pair tells what the machine differs from itself. Blocks are taken to be independent: that they run one after the other makes \
    them so only where nothing lasts from one to the next. Whether they resemble each other is tested by random orders of the \
    blocks (lag 1, Wald and Wolfowitz), which shows strong resemblance only where blocks are few.";

const ALONG: &str = "Along an axis of numbers a knee is looked for as said below. A jump between two levels is claimed by the same rules of \
    two parallel lines against a bent one, from a change of 5 % on. The sweet spot \
    is at most the cheapest level whose whole interval against the best level shows less than 5 % loss; a cheaper one is ruled out \
    where a one-sided t test shows 5 % loss or more, corrected for all levels that might have been the best. That the last level gives less than \
    the best one is told where it is worse block by block, corrected for all levels; of single runs where their intervals exclude each other. Time that rises \
    as in a queue is told with the load at which the queue is full and its 95 % interval (F test), where no other curve describes it as well.";

const BEST: &str = "The best of several combinations is named where it is ahead of each other one, by interval and paired t test; its \
    own mean is overstated as the greatest of several always is.";

const THRESHOLDS: &str = "A threshold holds where the whole 95 % interval is on the allowed side, fails where it is on the other, \
    and is inconclusive else. The mean of two blocks has an interval; of a single block a percentile or a rate is judged by its interval of that run; \
    another figure decides nothing there, unless single values are accepted, and a gain is judged from six blocks on.";

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
            " Each axis is corrected by itself: where nothing differs, up to {any:.0} of 100 studies with {axes} axes call some level \
             better or worse."
        ),
    }
}

pub(crate) fn paragraphs(compared: &StudyComparison) -> Vec<String> {
    let families = match compared.axes.len() {
        0 | 1 => "all of them",
        _ => "all of one axis, over all settings of the others,",
    };
    let effect = match compared.looks {
        Some(_) => {
            "ratio of geometric means with the interval of the t test on the blocks' log ratios, for all looks together"
        }
        None => "Hodges–Lehmann estimate of the blocks' log ratios with the exact signed-rank interval",
    };
    let paired = format!(
        "A combination is compared with the one that has the reference level of an axis and shares all other \
        levels, block by block; a block counts only where both trials are complete. The effect is the {effect}. P-values are \
        those of the paired t test; Holm's correction holds for {families} together.{}",
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
