//! How the figures of a historian came to be.

use crate::report::Report;
use crate::trial::Trial;

const BUFFERED: &str = "A historian takes events into a buffer and writes them in transactions of a set number of rows. Pending \
    records are accepted and not yet committed; a row counts when its commit is answered. An event that \
    comes while the buffer is full is refused and counted. Response is from when the event was due to the \
    answer of its commit.";

const HELD: &str = "A rate is held where, over the measured window, pending records do not grow (Theil–Sen slope of at most \
    0.5% of the offered rate; where flushes are so large that they hide this growth, only what is left after each \
    flush counts, and less than two flushes are not judged); in 80% of the cycles (from purge to purge, else 10 s or, in a short step, a \
    fifth of it) they fall to what is offered in 0.1 s; 99.5% of what was offered is committed; what is \
    pending drains in time when the load ends; the database holds just the rows that it acknowledged; and \
    the p99 keeps its limit, if one was set.";

const COUNTED: &str = "Rows that were acknowledged and that no purge may have removed are counted in the database after every \
    trial. After an outage the rows of a flush whose answer was lost are looked up before they are written \
    again.";

const SEARCHED: &str = "A search doubles the rate until one is given up, then halves the distance until the two lie close \
    together, and confirms the highest rate that was held with longer steps; where too many of these fail, it \
    goes on 3% lower, or at 98.5% of what was written in the second half of the failed steps if that is less (10% lower after six rates, and twelve rates at most). \
    A confirmed rate must also be held in a long step where one was asked for. A rate is given up when it failed as often as the rules of the search say (twice, and two of \
    four confirming steps, unless the search was made before or told otherwise): one failure may be a stall. Steps hold \
    a cycle of the server, from checkpoint to checkpoint or from purge to purge, where that is known. A \
    step that could not be judged counts neither way. What can be held lies between the rate that is called stable and \
    the one that failed, as far as the steps tell.";

const PURGED: &str = "A purge deletes what is older than the retention, a block of rows with each statement or a partition as \
    a whole; a shrink gives the space back. They keep up where both together take less than the time to the \
    next purge.";

const GROWN: &str = "Growth is the pages that tables and indexes use, divided by the rows in them, times the achieved rate. Room that \
    the server allocated ahead of rows is left out. With purges, growth is that before the first one.";

pub(crate) fn paragraphs(report: &Report) -> Vec<String> {
    let purged = report.historians().filter_map(Trial::historian).any(|h| !h.maintenance.is_empty());
    let held = [
        (true, BUFFERED),
        (true, HELD),
        (true, COUNTED),
        (!report.searches.is_empty(), SEARCHED),
        (purged, PURGED),
        (true, GROWN),
    ];
    held.into_iter().filter(|(holds, _)| *holds).map(|(_, text)| text.to_owned()).collect()
}
