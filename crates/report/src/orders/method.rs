//! How the figures of an order store came to be.

use crate::report::Report;
use crate::trial::Trial;

const AN_ORDER: &str = "A client logs in or registers, browses, asks for the prices of a cart, and purchases it. That is one order. \
Its response time is the time from the first operation to the end of the last, without think time. Waits before retries are \
included. Orders per minute are the orders finished in the measured window, divided by its length. As in DVD Store, they include \
orders that were rolled back for lack of stock. Committed orders exclude them.";

const OPEN: &str = "Open loop: each order has a planned time that does not depend on earlier answers. Its response time starts at the planned time.";

const SPREAD: &str = "The difference between targets or clients is (max − min) / max of their orders per minute. It grows with their \
number. The part that chance explains is the mean range of the same number of counts of independent orders (Tippett 1925). The wait of an order \
for the database is the sum over its operations: mean service time times operations per order. The client's CPU time is that of the \
load threads. The server's CPU time is that of its processes and their children. If prony cannot see them, it uses the CPU time of the \
machine minus the load, including other programs. SQLite runs in threads of this program: its CPU time is that of all threads minus \
the load threads.";

const RECONCILED: &str = "After the load prony counts the new orders in the database. They must equal the answered purchases minus \
those rolled back. A purchase without an answer may be there or not. The quantity of the new order lines must equal the rise of the \
sales in the inventory.";

const CPU_TARGET: &str = "With a CPU target, prony adds and pauses clients to keep the server at a share of the CPU. The share is \
the server's own, if its control group or its processes are visible. Otherwise it is that of the machine minus the load. The target \
is reached if the mean of the measured window is within 3 percentage points.";

const COST: &str = "The cost per order per minute is the sum of the price list, divided by the orders per minute of the best \
configuration. Prices and terms of published systems are those of their time.";

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
