//! How the figures came to be, for who wants to check them. Says only what holds for this study.

use maud::{Markup, html};
use record::Loop;

use crate::model::Report;

pub(super) fn method(report: &Report) -> Markup {
    let loops = || report.trials.iter().filter_map(|trial| trial.disk()).map(|disk| disk.pacing);
    let closed = loops().any(|pacing| matches!(pacing, Loop::Closed { .. }));
    let open = loops().any(|pacing| matches!(pacing, Loop::Open { .. }));
    html! { div.prose {
        @if closed {
            p { "Closed loop: each thread keeps its outstanding I/Os in flight and sends the next one when one is answered. It says what so many clients get, not what happens at a rate that does not wait." }
        }
        @if open {
            p { "Open loop: I/Os are due at times that do not depend on answers. Response time is completion − due time, service time completion − sending, lag sending − due time. What was due and not sent is counted." }
        }
        p { "What is timed is one I/O, from its submission to its completion as the load thread sees it; see the settings for where the time stamps are taken. Rates are operations completed in the measured window over its length; warm-up and drain make no figures." }
        p { "Latencies are kept in HDR histograms of three significant digits from 1 ns to one hour. Histograms are merged, percentiles never averaged, and a percentile is printed only where at least ten operations lie beyond it." }
        p { "The interval of a single trial is the 95 % interval of the mean of its per-second rates from a block bootstrap, which minds that neighbouring seconds resemble each other; it speaks of this run, not of the next one. Fewer than eight seconds have none." }
        @if report.repeats() {
            p { "Repeated trials are independent: their interval is Student's, over the means of the repeats. “Best” is the best repeat, the figure that CrystalDiskMark prints." }
        }
        p { "Steadiness is the rule of SNIA's Performance Test Specification, on five equal parts of the window: max − min within 20 % of the mean, the fitted line within 10 %. In flight is the rate times the mean service time (Little's law)." }
        @if !report.sweeps.is_empty() {
            p { "A knee is claimed where two lines in log–log fit clearly better than one (the Bayesian information criterion improves by more than 10) and their slopes differ at least twofold, from at least eight depths; its interval is from resampled residuals." }
        }
        @if report.steady_state.is_some() {
            p { "Steady state over rounds is judged on the last five rounds by the same rule; the matrix is the mean of these rounds." }
        }
        p { "CPU time is that of the load threads, user and system, and, beside it, of the whole machine, since the kernel does part of an I/O's work outside the threads." }
    } }
}
