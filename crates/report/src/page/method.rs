//! How the figures came to be, for who wants to check them. Says only what holds for this study.

use maud::{Markup, html};

use super::parts;
use crate::comparison::method as comparison;
use crate::principles;
use crate::report::Report;
use crate::workloads;

/// What the method holds.
pub(crate) const INSIDE: &str = "how figures, intervals and percentiles were computed, what is called steady, and which principles this run keeps";

/// How the budget of time came to be.
const BUDGET: &str = "What sessions do was asked of their server about ten times a second, over a session that is no part of the load. \
    Counts over all looks of the measured window are mean numbers of sessions, and divided by the rate the time of an operation \
    (Little's law). A session without a statement is the client's if it had one a tenth of a second ago and clients have no time \
    to think; else it is left out. What a server only calls work is the server's CPU up to what its processes used; more than that \
    waited for a CPU where 80 % of all cores were busy, or for reads where the server counts them and the device tells their \
    time, and is otherwise not known. MariaDB and MySQL count sessions that wait for a row; in their states these are at work.";

pub(crate) fn method(report: &Report) -> Markup {
    html! { div.prose {
        @for (workload, shown) in workloads::all() {
            @if report.trials_of(workload).next().is_some() {
                @for paragraph in shown.method(report) { p { (paragraph) } }
            }
        }
        @for paragraph in report.comparison.iter().flat_map(comparison::paragraphs) { p { (paragraph) } }
        (both(report))
        (parts::table(&principles::table(report)))
        p.meta { (principles::SOURCE) "." }
    } }
}

/// What holds for all studies.
fn both(report: &Report) -> Markup {
    html! {
        p { "Latencies are kept in HDR histograms of three significant digits from 1 ns to one hour. Histograms are merged, over threads and over repeats, so that a percentile of a trial or of a configuration is never an average; it is printed only where at least ten operations lie beyond it." }
        @if report.comparison.as_ref().is_some_and(|compared| compared.blocks.len() > 1) {
            p { "A comparison needs one value a block: a percentile of a combination is there the mean of its blocks' percentiles, in tables, charts and thresholds. It is not the percentile of all their operations together." }
        }
        p { "The interval of a single trial is the 95 % interval of the mean of its per-second rates, and the wider of two: that of an autoregression of first order, with the correlation freed of its bias and at least that of all trials of the workload together, and that of the slowest waves in the seconds (equal-weighted cosines; Lazarus, Lewis, Stock and Watson 2018). It covers this trial, not the next one: repeats cover that. Of trials under 30 s it holds in about 9 of 10, and in about 8 of 10 if seconds strongly resemble each other; a note says so. No interval knows of a stall that the trial did not see. Fewer than eight seconds have none." }
        p { "The interval of a percentile of a single trial is Woodruff's: that of the share of operations beyond it, by the order of the operations. Seconds are clusters of operations; by how much their shares scatter and resemble each other shortens the number of operations (Korn and Graubard), of which the interval is that of Clopper and Pearson. It speaks of this run as well, and of a burst that the run did not see it knows nothing." }
        p { "Steadiness is the rule of SNIA's Performance Test Specification, on five equal parts of the window: max − min within 20 % of the mean, the fitted line within 10 %. In flight is the rate times the mean service time (Little's law)." }
        @if report.trials.iter().any(|trial| trial.budget.is_some()) { p { (BUDGET) } }
        p { "Counts of independent events scatter by chance: orders, I/Os of Poisson arrivals, and commits, each of which carries all rows of a flush. What is no more than that raises no doubt. A drift is the least-squares line through the seconds, told from 5 % over the run where chance makes it in fewer than one of 100 runs (Santer et al. 2000). The longest time without an answer is what neighbouring seconds lack together, where an operation waited as long." }
        @if comparison::along_numbers(report) { p { (comparison::KNEE) } }
    }
}
