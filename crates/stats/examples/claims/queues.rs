//! Time over the load of a queue, which bends everywhere and has no knee.

use crate::curves::Design;
use crate::page::{Section, Table};
use crate::sets::each;

const SETS: u32 = 200;

/// Loads in per cent of what the queue can take.
const TENS: [f64; 9] = [10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0];
const TO_95: [f64; 9] = [20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0];
const DOUBLINGS: [f64; 9] = [0.375, 0.75, 1.5, 3.0, 6.0, 12.0, 24.0, 48.0, 96.0];
const GRIDS: [(&str, &[f64; 9]); 3] =
    [("10 to 90%", &TENS), ("20 to 95%", &TO_95), ("doublings to 96%", &DOUBLINGS)];

const CAPACITY: f64 = 100.0;

/// A queue with so many servers, and what is measured of it.
#[derive(Clone, Copy)]
struct Queue {
    name: &'static str,
    servers: u32,
    p99: bool,
}

const QUEUES: [Queue; 5] = [
    Queue { name: "M/M/1", servers: 1, p99: false },
    Queue { name: "M/M/8", servers: 8, p99: false },
    Queue { name: "M/M/8, p99", servers: 8, p99: true },
    Queue { name: "M/M/64", servers: 64, p99: false },
    Queue { name: "M/M/64, p99", servers: 64, p99: true },
];

impl Queue {
    /// Time in the queue, in service times, at a load in per cent.
    fn time(self, load: f64) -> f64 {
        let share = load / CAPACITY;
        let servers = f64::from(self.servers);
        let waits = erlang_c(self.servers, share * servers);
        let leaves = servers * (1.0 - share);
        if !self.p99 {
            return 1.0 + waits / leaves;
        }
        // The longest one of a hundred: service times are exponential, and so is the time that some wait before.
        let beyond = |time: f64| {
            let both = if (leaves - 1.0).abs() < 1e-9 {
                (1.0 + time) * (-time).exp()
            } else {
                (leaves * (-time).exp() - (-leaves * time).exp()) / (leaves - 1.0)
            };
            (1.0 - waits) * (-time).exp() + waits * both
        };
        let (mut below, mut above) = (0.0, 1e4);
        for _ in 0..60 {
            let middle = f64::midpoint(below, above);
            if beyond(middle) > 0.01 { below = middle } else { above = middle }
        }
        below
    }
}

/// Share of arrivals that wait (A. K. Erlang, 1917), by the recursion of his other formula.
fn erlang_c(servers: u32, offered: f64) -> f64 {
    let blocked = (1..=servers).fold(1.0, |b, n| offered * b / (f64::from(n) + offered * b));
    let share = offered / f64::from(servers);
    blocked / (1.0 - share * (1.0 - blocked))
}

fn designs(levels: &'static [f64; 9]) -> [Design; 4] {
    let plain = Design { levels, blocks: 7, noise: 0.02, lasting: 0.0, by_block: 0.03 };
    [
        Design { blocks: 1, ..plain },
        plain,
        Design { noise: 0.05, ..plain },
        Design { noise: 0.05, lasting: 0.05, ..plain },
    ]
}

const HEAD: [&str; 6] = [
    "queue",
    "levels",
    "1 block, noise 2%",
    "7 blocks, noise 2%",
    "7 blocks, noise 5%",
    "7 blocks, noise 5%, lasting 5%",
];

/// Each queue on each grid in each design.
fn rows(cell: impl Fn(&str, Queue, Design) -> String) -> Vec<Vec<String>> {
    let row = |queue: Queue, (grid, levels): (&str, &'static [f64; 9])| {
        let cells = designs(levels).map(|design| {
            let name = format!(
                "{}, {grid}, {} blocks, {}, {}",
                queue.name, design.blocks, design.noise, design.lasting
            );
            cell(&name, queue, design)
        });
        [queue.name.to_owned(), grid.to_owned()].into_iter().chain(cells).collect()
    };
    QUEUES.iter().flat_map(|queue| GRIDS.map(|grid| row(*queue, grid))).collect()
}

pub(crate) fn section() -> Section {
    Section {
        about: "In a queue, the curve of time against load bends everywhere and has no knee. prony reports two loads \
            instead: the load at which the queue is full, and the load at which the time has doubled. M/M/c is a \
            queue of c servers with random arrivals and exponential service times. Times are means, or 99th \
            percentiles if the row says p99. Each row gives its loads as a percentage of the queue's capacity. prony \
            reports the capacity with a 95% interval. With several servers, this interval contains the true capacity \
            less often.",
        tables: vec![false_knees(), told()],
    }
}

/// False knees and jumps.
fn false_knees() -> Table {
    let cell = |name: &str, queue: Queue, design: Design| {
        let claimed = each(&format!("queue, {name}"), SETS, |random| {
            let measured = design.measure(random, |load| queue.time(load));
            let levels = measured.levels();
            (stats::knee(&levels, 1).is_ok(), stats::jump(&levels, 1).is_ok())
        });
        let share = |of: fn(&(bool, bool)) -> bool| {
            100.0 * claimed.iter().filter(|claim| of(claim)).count() as f64 / claimed.len() as f64
        };
        format!("{:.1} / {:.1}", share(|claim| claim.0), share(|claim| claim.1))
    };
    Table {
        caption: format!(
            "Percentage of {SETS} curves of time against load with a false knee / a false jump."
        ),
        head: HEAD.map(str::to_owned).to_vec(),
        rows: rows(cell),
    }
}

/// What is said of a queue instead.
fn told() -> Table {
    let cell = |name: &str, queue: Queue, design: Design| {
        let found = each(&format!("queueing, {name}"), SETS, |random| {
            stats::queueing(&design.measure(random, |load| queue.time(load)).levels())
        });
        let known: Vec<_> = found.iter().flatten().collect();
        if known.is_empty() {
            return "0".to_owned();
        }
        let holds = known.iter().filter(|one| one.low <= CAPACITY && CAPACITY <= one.high).count();
        let middle = |of: &dyn Fn(&stats::Queueing) -> f64| {
            stats::median(&known.iter().map(|one| of(one)).collect::<Vec<f64>>()).unwrap_or(f64::NAN)
        };
        format!(
            "{:.0} / {:.0} / {:.2} / {:.2}",
            100.0 * known.len() as f64 / found.len() as f64,
            100.0 * holds as f64 / known.len() as f64,
            middle(&|one| one.capacity) / CAPACITY,
            middle(&|one| one.doubled_at) / doubled_at(queue)
        )
    };
    Table {
        caption: format!(
            "The first figure is the percentage of {SETS} curves that prony reports as queues. The second is the \
                percentage of these reported queues with an interval that contains the true capacity. The third is the \
                median reported capacity, divided by the true capacity. The fourth is the median reported load at which \
                the time has doubled, divided by the true load. A single 0 means that prony reports no curve as a queue."
        ),
        head: HEAD.map(str::to_owned).to_vec(),
        rows: rows(cell),
    }
}

/// The load at which the time is twice that of no load.
fn doubled_at(queue: Queue) -> f64 {
    let once = queue.time(1e-6);
    let (mut below, mut above) = (0.0, CAPACITY);
    for _ in 0..60 {
        let middle = f64::midpoint(below, above);
        if queue.time(middle) < 2.0 * once { below = middle } else { above = middle }
    }
    below
}
