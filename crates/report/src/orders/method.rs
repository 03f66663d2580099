//! How the figures of an order store came to be.

use crate::report::Report;
use crate::trial::Trial;

const AN_ORDER: &str = "A client logs in or is a new customer, browses, asks for the prices of a cart and purchases it; that is \
    one order. Its response time runs from the first of these to the end of the last, the wait before an \
    operation is tried again included, time to think left out. Orders a minute are the orders finished in \
    the measured window over its length, those included that were rolled back for want of stock, as DVD \
    Store counts; committed are the others.";

const OPEN: &str = "Open loop: orders are due at times that do not depend on answers; the response time counts from then on.";

const SPREAD: &str = "Targets and clients differ by (max − min) / max of their orders a minute. It grows with their number: \
    what chance alone makes is the mean range of as many counts of independent orders (Tippett 1925). The time an order waits for \
    the database is the mean service time of each operation times how often an order needs it. CPU time of \
    the client is that of the load threads; that of the server is that of its processes and their children. \
    Where these cannot be seen, it is told what this machine used less the load, other programs included. \
    SQLite runs in threads of this program: its time is that of all of them less the load threads.";

const RECONCILED: &str = "After the load the new orders are counted in the database. They must be the purchases that were answered \
    less those rolled back; of a purchase whose answer was lost either may be true. The quantity of the new \
    order lines must be the rise of the sales in the inventory.";

const CPU_TARGET: &str = "A CPU target adds and rests clients so that the server is held at a share of the CPU: its own, of the \
    processors that it may use, where its control group or its processes are seen, else that of the machine less the load. It is reached if \
    the mean share of the measured window lies within 3 percentage points of it.";

const COST: &str = "The cost of an order a minute is the sum of the price list over the orders a minute of the configuration \
    with the most of them. Prices and terms of published systems are those of their time.";

pub(crate) fn paragraphs(report: &Report) -> Vec<String> {
    let stores = || report.order_stores().filter_map(Trial::orders);
    let held = [
        (true, AN_ORDER),
        (stores().any(|orders| orders.is_open()), OPEN),
        (true, SPREAD),
        (true, RECONCILED),
        (stores().any(|orders| orders.cpu_target.is_some()), CPU_TARGET),
        (report.orders.cost.is_some(), COST),
    ];
    held.into_iter().filter(|(holds, _)| *holds).map(|(_, text)| text.to_owned()).collect()
}
