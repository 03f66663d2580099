//! How the figures of a historian came to be.

use crate::report::Report;
use crate::trial::Trial;

const BUFFERED: &str = "A historian puts events into a buffer and writes them in transactions of a set number of rows. The backlog is the number of records accepted but not yet committed. A record counts once its commit is acknowledged. Events that arrive while the buffer is full are refused and counted. Response time is from the planned time of the event to the answer of its commit.";

const HELD: &str = "A rate is sustained if all of these hold in the measured window. The backlog does not grow: its Theil–Sen slope \
is at most 0.5% of the offered rate. If batches are so large that they hide this growth, only the records left after each batch count; fewer than two batches are not judged. In 80% of the cycles, the backlog falls to at most the number of records offered in 0.1 s. A cycle lasts from \
purge to purge, otherwise 10 s; in a short step it is a fifth of the step. At least 99.5% of the offered records are committed. The \
backlog drains in time when the load ends. The database contains exactly the acknowledged records. The p99 stays within its limit, \
if there is one.";

const COUNTED: &str = "After every trial prony counts the acknowledged records in the database, except those that a purge may have \
deleted. If an outage loses the answer to a batch, prony looks its records up before it writes them again.";

const SEARCHED: &str = "A search doubles the rate until it rejects one. Then it halves the gap between the highest sustained and the lowest \
rejected rate until the gap is small. If the server's cycle is known (checkpoints or purges), each step covers one cycle. A step that \
could not be judged does not count. The sustainable rate is between the highest confirmed rate and the lowest rejected rate.";

const CONFIRMED: &str = "The search confirms the highest sustained rate with longer steps. If too many of these steps fail, it tries a \
rate 3% lower. If the failed steps wrote even less in their second half, it tries 98.5% of what they wrote. After six rates without a \
confirmation, each rate is 10% lower than the one before. After twelve, the search ends. If the plan has a long step, the server must \
sustain the confirmed rate in that step too.";

const REJECTED: &str = "A search rejects a rate after two failures, because a single failure can be a stall. When it confirms a rate, it \
rejects the rate if two of four steps fail. The settings of a search can change these numbers.";

const PURGED: &str = "A purge deletes records older than the retention: a block of rows per statement, or a whole partition. A \
shrink then frees the space. Purges keep up if purge and shrink together take less than the time between purges.";

const GROWN: &str = "Growth is the size of the used pages of tables and indexes, divided by their rows, times the achieved rate. \
Space that the server allocated in advance does not count. With purges, prony measures growth before the first one.";

pub(crate) fn paragraphs(report: &Report) -> Vec<String> {
    let purged = report.historians().filter_map(Trial::historian).any(|h| !h.maintenance.is_empty());
    let is_search = !report.searches.is_empty();
    let held = [
        (true, BUFFERED),
        (true, HELD),
        (true, COUNTED),
        (is_search, SEARCHED),
        (is_search, CONFIRMED),
        (is_search, REJECTED),
        (purged, PURGED),
        (true, GROWN),
    ];
    held.into_iter().filter(|(holds, _)| *holds).map(|(_, text)| text.to_owned()).collect()
}
