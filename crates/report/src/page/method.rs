//! How the figures came to be, for who wants to check them. Says only what holds for this study.

use maud::{Markup, html};
use record::Loop;

use crate::comparison::StudyComparison;
use crate::report::Report;

pub(crate) fn method(report: &Report) -> Markup {
    html! { div.prose {
        @let databases = report.historians().chain(report.order_stores()).next().is_some();
        @if report.disks().next().is_some() || !databases { (disk(report)) }
        @if report.historians().next().is_some() { (historian(report)) }
        @if report.order_stores().next().is_some() { (orders(report)) }
        @if let Some(compared) = &report.comparison { (comparison(compared)) }
        (both(report))
    } }
}

/// What holds for studies that compare.
fn comparison(compared: &StudyComparison) -> Markup {
    let families = match compared.axes.len() {
        0 | 1 => "all of them",
        _ => "all of one axis, over all settings of the others,",
    };
    html! {
        p { "A combination is compared with the one that has the reference level of an axis and shares all other levels, block by block; a block counts only where both trials are complete. The effect is the Hodges–Lehmann estimate of the blocks' log ratios with the exact signed-rank interval. P-values are those of the paired t test; Holm's correction holds for " (families) " together." }
        p { "Better and worse: the interval excludes no difference, the corrected p-value is below 0.05, and the effect is at least the smallest that matters: 3 %, or the noise floor of the same metric if that is more. Equivalent: the whole interval lies within that. Negligible: a difference is shown that does not matter. Within noise: the rest, which is not the same as no difference. Fewer than six blocks make no verdict." }
        @if compared.axes.iter().any(|axis| axis.quantity.is_some()) {
            p { "Along an axis of numbers a knee is looked for as said below, in the values of all blocks. The sweet spot is the cheapest level whose whole interval against the best level shows less than 5 % loss." }
        }
        @if !compared.thresholds.is_empty() {
            p { "A threshold holds where the whole 95 % interval is on the allowed side, fails where it is on the other, and is inconclusive else. The mean of two blocks has an interval; a single block is judged by its value, and a gain from six blocks on." }
        }
    }
}

/// What holds for historians only.
fn historian(report: &Report) -> Markup {
    let purges = report
        .historians()
        .any(|trial| trial.historian.as_ref().is_some_and(|historian| !historian.maintenance.is_empty()));
    html! {
        p { "A historian takes events into a buffer and writes them in transactions of a set number of rows. Pending records are accepted and not yet committed; a row counts when its commit is answered. An event that comes while the buffer is full is refused and counted. Response is from when the event was due to the answer of its commit." }
        p { "A rate is held where, over the measured window, pending records do not grow (Theil–Sen slope of at most 0.5 % of the offered rate); in 80 % of the cycles (from purge to purge, else 10 s or, in a short step, a fifth of it) they fall to what is offered in 0.1 s; 99.5 % of what was offered is committed; what is pending drains in time when the load ends; the database holds just the rows that it acknowledged; and the p99 keeps its limit, if one was set." }
        p { "Rows that were acknowledged and that no purge may have removed are counted in the database after every trial. After an outage the rows of a flush whose answer was lost are looked up before they are written again." }
        @if !report.searches.is_empty() {
            p { "A search doubles the rate until one is not held, then halves the distance until the two lie close together, and confirms the highest rate that was held with longer steps; where one of these fails, it goes on 3 % lower. A step that could not be judged counts neither way." }
        }
        @if purges {
            p { "A purge deletes what is older than the retention, a block of rows with each statement or a partition as a whole; a shrink gives the space back. They keep up where both together take less than the time to the next purge." }
        }
        p { "Growth is that of the database over the rows that it kept, up to the first purge where there is one, times the achieved rate." }
    }
}

/// What holds for order stores only.
fn orders(report: &Report) -> Markup {
    let stores = || report.order_stores().filter_map(|trial| trial.orders.as_ref());
    let open = stores().any(|orders| orders.is_open());
    html! {
        p { "A client logs in or is a new customer, browses, asks for the prices of a cart and purchases it; that is one order. Its response time runs from the first of these to the end of the last, the wait before an operation is tried again included, time to think left out. Orders a minute are the orders finished in the measured window over its length, those included that were rolled back for want of stock, as DVD Store counts; committed are the others." }
        @if open {
            p { "Open loop: orders are due at times that do not depend on answers; the response time counts from then on." }
        }
        p { "Targets and clients differ by (max − min) / max of their orders a minute. The time an order waits for the database is the mean service time of each operation times how often an order needs it. CPU time of the client is that of the load threads; that of the server is what else this machine used, and is told only where the server is here." }
        p { "After the load the new orders are counted in the database. They must be the purchases that were answered less those rolled back; of a purchase whose answer was lost either may be true. The quantity of the new order lines must be the rise of the sales in the inventory." }
        @if stores().any(|orders| orders.cpu_target.is_some()) {
            p { "A CPU target adds and rests clients so that the server is held at a share of the CPU. It is reached if the mean share of the measured window lies within 3 percentage points of it." }
        }
        @if report.cost.is_some() {
            p { "The cost of an order a minute is the sum of the price list over the orders a minute of the configuration with the most of them. Prices and terms of published systems are those of their time." }
        }
    }
}

/// What holds for disks only.
fn disk(report: &Report) -> Markup {
    let loops = || report.trials.iter().filter_map(|trial| trial.disk()).map(|disk| disk.pacing);
    let closed = loops().any(|pacing| matches!(pacing, Loop::Closed { .. }));
    let open = loops().any(|pacing| matches!(pacing, Loop::Open { .. }));
    html! {
        @if closed {
            p { "Closed loop: each thread keeps its outstanding I/Os in flight and sends the next one when one is answered. It says what so many clients get, not what happens at a rate that does not wait." }
        }
        @if open {
            p { "Open loop: I/Os are due at times that do not depend on answers. Response time is completion − due time, service time completion − sending, lag sending − due time. What was due and not sent is counted." }
        }
        p { "What is timed is one I/O, from its submission to its completion as the load thread sees it; see the settings for where the time stamps are taken. Rates are operations completed in the measured window over its length; warm-up and drain make no figures." }
    }
}

/// What holds for all studies.
fn both(report: &Report) -> Markup {
    html! {
        p { "Latencies are kept in HDR histograms of three significant digits from 1 ns to one hour. Histograms are merged, over threads and over repeats, so that a percentile of a trial or of a configuration is never an average; it is printed only where at least ten operations lie beyond it." }
        @if report.comparison.as_ref().is_some_and(|compared| compared.blocks.len() > 1) {
            p { "A comparison needs one value a block: a percentile of a combination is there the mean of its blocks' percentiles, in tables, charts and thresholds. It is not the percentile of all their operations together." }
        }
        p { "The interval of a single trial is the 95 % interval of the mean of its per-second rates from a block bootstrap, which minds that neighbouring seconds resemble each other; it speaks of this run, not of the next one. Fewer than eight seconds have none." }
        @if report.repeats() {
            p { "Repeated trials are independent: their interval is Student's, over the means of the repeats. “Best” is the best repeat, the figure that CrystalDiskMark prints." }
        }
        p { "Steadiness is the rule of SNIA's Performance Test Specification, on five equal parts of the window: max − min within 20 % of the mean, the fitted line within 10 %. In flight is the rate times the mean service time (Little's law)." }
        @let numbers = report.comparison.iter().flat_map(|c| &c.axes).any(|axis| axis.quantity.is_some());
        @if !report.sweeps.is_empty() || numbers {
            p { "A knee is claimed where two lines in log–log fit clearly better than one (the Bayesian information criterion improves by more than 10) and their slopes differ at least twofold, from at least eight levels; its interval is from resampled residuals." }
        }
        @if report.steady_state.is_some() {
            p { "Steady state over rounds is judged on the last five rounds by the same rule; the matrix is the mean of these rounds." }
        }
        @if report.disks().next().is_some() {
            p { "CPU time is that of the load threads, user and system, and, beside it, of the whole machine, since the kernel does part of an I/O's work outside the threads." }
        }
    }
}
