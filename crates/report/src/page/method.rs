//! How prony computes the figures, for readers who check them. It describes only methods that this study uses.

use maud::{Markup, html};

use super::parts;
use crate::comparison::method as comparison;
use crate::principles;
use crate::report::Report;
use crate::workloads;

/// The contents of the section.
pub(crate) const INSIDE: &str = "how prony computes figures, intervals and percentiles, its rule for steadiness, and the principles \
that this run keeps";

/// How the time budget of sessions is computed.
const BUDGET: &str = "prony asks the server about ten times per second what its sessions do, through a separate session that is not part of the load. \
    The counts of the measured window are mean numbers of sessions. Divided by the rate, they are the time per operation \
    (Little's law). An idle session counts as the client's if it ran a statement a tenth of a second ago and clients have no \
    think time. Otherwise prony skips it. Work that the server does not explain is CPU time, up to the CPU time of the server's processes. \
    The rest is a wait for a CPU if 80% of all CPUs were busy. It is a wait for reads if the server counts reads and the device \
    reports their latency. Otherwise it is unknown. MariaDB and MySQL count sessions that wait for a row; their states show these sessions as working.";

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

/// The methods of all studies.
fn both(report: &Report) -> Markup {
    html! {
        p { "prony stores latencies in HDR histograms with three significant digits, from 1 ns to one hour. It merges histograms \
        over threads and repeats. A percentile of a trial or of a configuration is therefore never an average. It is printed only if \
        at least ten operations are beyond it." }
        @if report.comparison.as_ref().is_some_and(|compared| compared.blocks.len() > 1) {
            p { "A comparison needs one value per block. In tables, charts and thresholds, the percentile of a combination is the \
            mean of the percentiles of its blocks. It is not the percentile of all operations together." }
        }
        p { "The interval of a single trial is the 95% confidence interval of its mean per-second throughput. It is the wider of two \
        intervals. The first is that of a first-order autoregression, with a bias-corrected correlation that is at least the pooled \
        one of all trials of the workload. The second is that of the slowest waves in the per-second rates (equal-weighted cosines; Lazarus, \
        Lewis, Stock and Watson 2018). The interval covers this trial only. Repeats show how trials differ. For trials under 30 s \
        its coverage is about 9 of 10, and about 8 of 10 if seconds are strongly correlated. A note says so. No interval covers a \
        stall that the trial did not see. Trials of fewer than eight seconds have no interval." }
        p { "The interval of a percentile of a single trial is Woodruff's. It is the interval of the share of operations beyond the \
        percentile, converted back to latencies by the sorted operations. Seconds are clusters of operations. Their scatter and correlation reduce \
        the effective number of operations (Korn and Graubard). The interval of the share is that of Clopper and Pearson. It covers \
        this trial only, and no burst that the trial did not see." }
        p { "Steadiness follows SNIA's Performance Test Specification, on five equal parts of the window. Maximum minus minimum is \
        within 20% of the mean, and the fitted line changes by at most 10%. The number in flight is throughput times mean service \
        time (Little's law)." }
        @if report.trials.iter().any(|trial| trial.budget.is_some()) { p { (BUDGET) } }
        p { "Counts of independent events scatter by chance: orders, I/Os with Poisson arrivals, and commits of whole batches. \
        Scatter within chance raises no warning. A drift is the least-squares line through the seconds. It is reported from 5% over the trial, if chance explains it in fewer than one of 100 trials (Santer et al. 2000). The longest time without an answer is the sum of the missing time in neighboring seconds, if an operation waited that long." }
        @if comparison::along_numbers(report) { p { (comparison::KNEE) } }
    }
}
