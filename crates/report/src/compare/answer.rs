//! The answers of a comparison, a sentence each: what failed of what must not be, then what each combination is judged by.

use super::{Against, Combination, MetricAgainst, gate};
use crate::comparison::{Outcome, ThresholdResult};
use crate::format::{UNKNOWN, figure_or_dash};

/// The answers of one side that is compared with the first; none where both have nothing.
pub(super) fn answers(against: &Against) -> Vec<String> {
    let broken = against.gates.iter().filter(|gate| gate.outcome != Outcome::Held);
    let told = |ThresholdResult { text, outcome, why }: &ThresholdResult| match outcome {
        Outcome::Failed => format!("failed, because {text}: {why}"),
        other => format!("{text} {}: {why}", gate::word(*other)),
    };
    let (refused, judged): (Vec<&Combination>, Vec<&Combination>) =
        against.combinations.iter().partition(|combination| combination.is_refused());
    let mains = judged.into_iter().map(answer).chain(without_verdict(&refused));
    let nothing = against.not_compared.iter().map(|reason| format!("nothing is compared: {reason}"));
    broken.map(told).chain(mains).chain(nothing).collect()
}

/// `RAID10: I/Os per second from 1,200 to 1,500 I/O/s, +25% (95% CI +24 to +26%), better`.
fn answer(combination: &Combination) -> String {
    let label = if combination.label.is_empty() { String::new() } else { format!("{}: ", combination.label) };
    let Some(metric) = combination.main() else {
        return format!("{label}the figure for the verdict was not measured");
    };
    let MetricAgainst { metric: of, words, .. } = metric;
    let [first, this] = [metric.first_value, metric.this_value].map(figure_or_dash);
    format!(
        "{label}{} from {first} to {this} {}, {}, {words}",
        of.says,
        of.unit,
        metric.change().map_or_else(|| UNKNOWN.to_owned(), |change| change.says())
    )
}

/// `4 combinations have no verdict, because the workload differs`.
fn without_verdict(refused: &[&Combination]) -> Option<String> {
    let why = "no verdict, because the workload differs";
    match refused {
        [] => None,
        [only] if only.label.is_empty() => Some(why.to_owned()),
        [only] => Some(format!("{}: {why}", only.label)),
        several => Some(format!("{} combinations have {why}", several.len())),
    }
}
