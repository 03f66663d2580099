//! The tables of order stores: a trial a row, its operations, targets, clients, where the time went, what the database
//! holds, and what was published of other stores.

use crate::configuration::Configuration;
use crate::format::{self, figure, figure_or_dash, grouped, latency_or_dash, plain, yes};
use crate::orders::{OrderTime, Orders, OrdersTarget, Reconciliation, UNIT};
use crate::orders::{OrdersComparison, OrdersRow};
use crate::report::Report;
use crate::section::Block;
use crate::table::{Row, Table, column, dash, level_cells, level_columns, level_keys, number_column, words};
use crate::trial::{Figures, Trial};
use record::Workload;

/// Every trial of an order store; none where there is none.
pub(crate) fn orders(report: &Report) -> Option<Table> {
    let trials: Vec<&Trial> = report.order_stores().filter(|trial| !trial.is_skipped()).collect();
    let mut columns =
        vec![number_column(trials.iter().copied()), words("trial", "name of the configuration", 0)];
    let keys = level_keys(trials.iter().copied());
    columns.extend(level_columns(&keys));
    columns.extend([
        column("offered/min", "planned orders per minute", 0),
        column("orders/min", "orders finished per minute, including those rolled back", 0),
        column("95%", "interval of the orders per minute, for this run only", 5),
        column("committed/min", "orders per minute without those rolled back", 1),
        column("rolled back", "share of orders rolled back for lack of stock", 3),
        column("mean", "mean response time of an order, without think time", 2),
        column("p95", "95th percentile of the orders", 1),
        column("p99", "99th percentile of the orders", 0),
        column("max", "longest order", 4),
        column("retries", "operations retried after a deadlock or a serialization failure", 4),
        column("errors", "orders that ended with an error", 2),
        words("state", "end of the trial, if not complete", 0),
    ]);
    let table = Table::of("Order store", columns, trials.iter().map(|trial| row(trial, &keys)));
    table.map(|table| table.without_empty_columns(&["state", "95%", "offered/min"]))
}

/// All other tables of trials of order stores, in the order in which they are read.
pub(crate) fn order_details(report: &Report) -> Vec<Table> {
    let tables = [
        order_repeats(report),
        operations(report),
        targets(report),
        spread(report),
        time(report),
        cpu_targets(report),
        reconciliation(report),
    ];
    tables.into_iter().flatten().collect()
}

fn row(trial: &Trial, keys: &[String]) -> Row {
    let mut cells = vec![trial.number.to_string(), trial.name.clone()];
    cells.extend(level_cells(true, &trial.levels, keys));
    let orders = trial.orders();
    let of = |value: fn(&Orders) -> Option<f64>| figure_or_dash(orders.and_then(value));
    let time = |value: fn(&Orders) -> Option<f64>| latency_or_dash(orders.and_then(value));
    let count = |value: fn(&Orders) -> u64| dash(orders.map(value).map(grouped));
    let interval = orders.and_then(|orders| orders.per_min_interval);
    cells.extend([
        of(|o| o.offered_per_min),
        of(|o| o.per_min),
        dash(interval.map(|e| format!("{}–{}", figure(e.low), figure(e.high)))),
        of(|o| o.committed_per_min),
        dash(orders.and_then(|o| o.rollback_share).map(format::per_cent)),
        time(|o| o.response.mean_us),
        time(|o| o.response.p95_us),
        time(|o| o.response.p99_us),
        time(|o| o.response.max_us),
        count(|o| o.retries),
        count(|o| o.errors),
        if trial.is_complete() { String::new() } else { format::state(trial.state).to_owned() },
    ]);
    Row::of(cells)
}

/// The name of a trial, with its number where others share it.
fn name(report: &Report, trial: &Trial) -> String {
    let shared = report.trials.iter().any(|other| other.number != trial.number && other.name == trial.name);
    if shared { format!("{}, #{}", trial.name, trial.number) } else { trial.name.clone() }
}

/// Configurations with their repeats taken together; none where nothing was repeated.
fn order_repeats(report: &Report) -> Option<Table> {
    let stores = || report.configurations_of(Workload::Orders);
    if stores().all(|configuration| configuration.trials.len() < 2) {
        return None;
    }
    let keys = level_keys(report.order_stores());
    let mut columns = vec![column("runs", "repeats in this row", 3), words("configuration", "name", 0)];
    columns.extend(level_columns(&keys));
    columns.extend([
        column("orders/min", "orders finished per minute, including those rolled back", 0),
        column(
            "95%",
            "interval of the orders per minute: over the repeats; with one repeat, for this run only",
            2,
        ),
        column("best", "orders per minute of the best repeat", 1),
        column("mean", "mean response time of an order", 0),
        column("p95", "95th percentile of the orders", 1),
        column("p99", "99th percentile of the orders", 0),
        column("max", "longest order", 2),
        words("not complete", "trials that do not count, if any", 0),
    ]);
    let per_min = |per_s: Option<f64>| figure_or_dash(per_s.map(|per_s| UNIT.of(per_s)));
    let row = |configuration: &Configuration| {
        let main = configuration.main()?;
        let latency = &main.latency;
        let interval = configuration.rate_per_s.map(|per_s| UNIT.estimate(per_s));
        let mut cells = vec![configuration.trials.len().to_string(), configuration.name.clone()];
        cells.extend(level_cells(true, &configuration.levels, &keys));
        cells.extend([
            per_min(main.per_s),
            dash(interval.map(|e| format!("{}–{}", figure(e.low.max(0.0)), figure(e.high)))),
            per_min(configuration.best_per_s),
        ]);
        cells.extend([latency.mean_us, latency.p95_us, latency.p99_us, latency.max_us].map(latency_or_dash));
        cells.push(configuration.not_complete.clone());
        Some(Row::of(cells))
    };
    let rows = stores().filter_map(row).collect();
    let title = "Configurations: all repeats together".to_owned();
    Some(Table { title, columns, rows }.without_empty_columns(&["95%", "not complete"]))
}

/// Trials with figures of an order store.
fn measured(report: &Report) -> impl Iterator<Item = (&Trial, &Orders)> {
    report.order_stores().filter_map(|trial| Some((trial, trial.orders()?)))
}

/// An order as a whole, then each of its operations; none where nothing was measured.
fn operations(report: &Report) -> Option<Table> {
    let columns = vec![
        words("trial", "name of the configuration", 0),
        words("operation", "an order is all operations of a customer, without think time", 0),
        column("count", "completed in the measured window", 0),
        column("errors", "ended with an error", 2),
        column("mean", "mean latency", 0),
        column("p50", "median", 2),
        column("p95", "95th percentile", 1),
        column("p99", "99th percentile", 0),
        column("max", "longest", 0),
    ];
    let operation = |trial: &Trial, index: usize, figures: &Figures| {
        let latency = &figures.latency;
        let name = if index == 0 { name(report, trial) } else { String::new() };
        let times = [latency.mean_us, latency.p50_us, latency.p95_us, latency.p99_us, latency.max_us]
            .map(latency_or_dash);
        let counts = [grouped(figures.operations), grouped(figures.errors)];
        let lead = [name, figures.kind.replace('_', " ")];
        Row { cells: lead.into_iter().chain(counts).chain(times).collect(), part: index > 0 }
    };
    let rows = report.order_stores().flat_map(|trial| {
        trial.figures.iter().enumerate().map(move |(index, figures)| operation(trial, index, figures))
    });
    Table::of("Operations of an order", columns, rows)
}

/// Targets of trials that have several; none where none has.
fn targets(report: &Report) -> Option<Table> {
    let columns = vec![
        words("trial", "name of the configuration", 0),
        column("target", "number, in the order of the settings", 0),
        words("database", "of the store", 0),
        column("orders/min", "orders finished per minute, including those rolled back", 0),
        column("mean", "mean response time of an order", 0),
        column("rolled back", "orders rolled back for lack of stock", 1),
        column("retries", "operations tried again", 2),
        column("stopped", "clients that stopped before the end", 1),
    ];
    let row = |trial: &Trial, target: &OrdersTarget| Row {
        cells: vec![
            if target.number == 1 { name(report, trial) } else { String::new() },
            target.number.to_string(),
            target.database.clone(),
            figure_or_dash(target.per_min),
            latency_or_dash(target.mean_us),
            dash(target.rollbacks.map(grouped)),
            dash(target.retries.map(grouped)),
            grouped(target.stopped.len() as u64),
        ],
        part: target.number > 1,
    };
    let several = measured(report).filter(|(_, orders)| orders.targets.len() > 1);
    let rows = several.flat_map(|(trial, orders)| orders.targets.iter().map(move |t| row(trial, t)));
    Table::of("Targets", columns, rows)
}

/// Evenness of targets and clients. Returns none if it is unknown for all trials.
fn spread(report: &Report) -> Option<Table> {
    let columns = vec![
        words("trial", "name of the configuration", 0),
        column("targets", "loaded stores", 0),
        column("targets differ", "(max − min) / max of the targets' orders per minute", 0),
        column(
            "targets by chance",
            "difference that chance alone causes with this number of targets and orders",
            1,
        ),
        column("clients", "of all targets", 0),
        column("slowest", "orders per minute of the slowest client", 1),
        column("median", "orders per minute of the median client", 1),
        column("fastest", "orders per minute of the fastest client", 1),
        column("clients differ", "(max − min) / max of the clients' orders per minute", 0),
        column(
            "clients by chance",
            "difference that chance alone causes with this number of clients and orders",
            0,
        ),
    ];
    let row = |(trial, orders): (&Trial, &Orders)| {
        let clients = orders.clients;
        if clients.is_none() && orders.target_variability.is_none() {
            return None;
        }
        Some(Row::of(vec![
            name(report, trial),
            grouped(orders.targets.len() as u64),
            dash(orders.target_variability.map(format::per_cent)),
            dash(orders.target_variability_by_chance.map(format::per_cent)),
            dash(clients.map(|clients| grouped(clients.clients as u64))),
            figure_or_dash(clients.map(|clients| clients.min_per_min)),
            figure_or_dash(clients.map(|clients| clients.median_per_min)),
            figure_or_dash(clients.map(|clients| clients.max_per_min)),
            dash(clients.and_then(|clients| clients.variability).map(format::per_cent)),
            dash(clients.and_then(|clients| clients.variability_by_chance).map(format::per_cent)),
        ]))
    };
    let rows: Vec<Row> = measured(report).filter_map(row).collect();
    let table = Table { title: "Evenness of targets and clients".to_owned(), columns, rows };
    (!table.rows.is_empty()).then(|| table.without_empty_columns(&["targets differ", "targets by chance"]))
}

/// `2.10 ms`; of SQLite `2.10 ms in prony`.
fn server_cpu(time: &OrderTime) -> String {
    match (time.server_cpu_us, time.is_in_process) {
        (us, false) => latency_or_dash(us),
        (Some(us), true) => format!("{} in prony", format::latency(us)),
        (None, true) => format::UNKNOWN.to_owned(),
    }
}

/// What stands beside an order where the processes of its server were not seen.
const LESS_LOAD: &str = "machine, without the load";

/// Where the time of an order went; none where that is not known of any trial.
fn time(report: &Report) -> Option<Table> {
    let columns = vec![
        words("trial", "name of the configuration", 0),
        column("order", "mean time of an order from its beginning, without think time", 0),
        column("waits for database", "mean service time of each operation times operations per order", 0),
        column("share", "of the order", 0),
        column("client CPU", "CPU time of the load per order", 0),
        column(
            "server CPU",
            "CPU time of all server processes per order; SQLite runs in threads of prony",
            0,
        ),
        column(
            LESS_LOAD,
            "CPU time of this machine per order, excluding the load, including other programs",
            0,
        ),
        column("client/server", "CPU time of the load, as a share of the servers'", 1),
    ];
    let row = |(trial, orders): (&Trial, &Orders)| {
        let time = &orders.time;
        time.order_us?;
        Some(Row::of(vec![
            name(report, trial),
            latency_or_dash(time.order_us),
            latency_or_dash(time.database_us),
            dash(time.database_share.map(format::per_cent)),
            latency_or_dash(time.client_cpu_us),
            server_cpu(time),
            latency_or_dash(time.machine_less_load_cpu_us),
            figure_or_dash(time.client_over_server),
        ]))
    };
    let table = Table::of("Where the time of an order went", columns, measured(report).filter_map(row));
    table.map(|table| table.without_empty_columns(&["server CPU", LESS_LOAD, "client/server"]))
}

/// Trials whose server was to be held at a share of the CPU; none where there is none.
fn cpu_targets(report: &Report) -> Option<Table> {
    let columns = vec![
        words("trial", "name of the configuration", 0),
        column("CPU target", "planned share of the CPU", 0),
        words("of", "owner of the CPU time, and the CPUs that it may use", 0),
        column("mean", "share that it used", 0),
        column("lowest", "lowest share in a second", 1),
        column("highest", "highest share in a second", 1),
        column("active clients", "mean number of active clients", 0),
        column("of all", "clients there were", 0),
        words("reached", "whether the mean is within 3 percentage points of the target", 0),
    ];
    let row = |(trial, orders): (&Trial, &Orders)| {
        let cpu = orders.cpu_target?;
        let share = |share: Option<f64>| dash(share.map(format::per_cent));
        Some(Row::of(vec![
            name(report, trial),
            format::per_cent(cpu.target_share),
            format!(
                "{}{}",
                super::cpu::whose(cpu.read, cpu.several_servers),
                super::cpu::of_processors(cpu.read).replacen(" of ", ", ", 1)
            ),
            share(cpu.mean_share),
            share(cpu.min_share),
            share(cpu.max_share),
            figure_or_dash(cpu.active_clients_mean),
            grouped(cpu.clients),
            dash(cpu.reached.map(yes)),
        ]))
    };
    Table::of("CPU target", columns, measured(report).filter_map(row))
}

/// What was acknowledged and what the databases hold, a target a row; none where no trial came to its end.
fn reconciliation(report: &Report) -> Option<Table> {
    let columns = vec![
        words("trial", "name of the configuration", 0),
        column("target", "number, in the order of the settings", 0),
        column("purchases", "answered since the load began, including warm-up and drain", 1),
        column("rolled back", "purchases rolled back for lack of stock", 1),
        column("unanswered", "purchases without an answer, because the connection was lost", 2),
        column("new orders", "purchases − rolled back ones: the number that the database must have", 0),
        column("found", "new orders in the database", 0),
        column("lost", "acknowledged orders that are not in the database", 1),
        column("items sold", "quantity of the new order lines", 3),
        column("sales risen", "rise of the sales in the inventory", 3),
        words("result", "whether new orders = purchases − rolled back, and sales = quantity of the lines", 0),
    ];
    let row = |trial: &Trial, target: &OrdersTarget| {
        let found = target.reconciliation.as_ref()?;
        Some(Row {
            cells: vec![
                if target.number == 1 { name(report, trial) } else { String::new() },
                target.number.to_string(),
                grouped(found.purchases),
                grouped(found.rollbacks),
                grouped(found.unanswered),
                grouped(found.acknowledged),
                dash(found.orders_found.map(grouped)),
                dash(found.acknowledged_lost.map(grouped)),
                dash(found.quantity_found.map(grouped)),
                dash(found.sales_risen.map(signed)),
                holds(found),
            ],
            part: target.number > 1,
        })
    };
    let rows: Vec<Row> = measured(report)
        .flat_map(|(trial, orders)| orders.targets.iter().filter_map(move |target| row(trial, target)))
        .collect();
    (!rows.is_empty()).then_some(Table {
        title: "Reconciliation: new orders = purchases − rolled back".to_owned(),
        columns,
        rows,
    })
}

fn signed(count: i64) -> String {
    if count < 0 { format!("−{}", grouped(count.unsigned_abs())) } else { grouped(count.unsigned_abs()) }
}

/// The verdicts say what does not hold.
fn holds(found: &Reconciliation) -> String {
    match found.holds {
        Some(true) => "holds",
        Some(false) => "does not hold",
        None => "not known",
    }
    .to_owned()
}

/// What was published of other stores, beside ours.
pub(crate) fn beside(comparison: &OrdersComparison) -> Vec<Block> {
    let (table, measured) = published_orders(comparison);
    let (sentences, sources) = (comparison.differences.clone(), vec![comparison.source.clone()]);
    vec![Block::Beside { table, measured }, Block::Notes { sentences, sources }]
}

/// Ours first, then the published scenarios; how many rows are ours.
fn published_orders(comparison: &OrdersComparison) -> (Table, usize) {
    let columns = vec![
        words("scenario", "what was measured", 0),
        column("databases", "loaded stores", 0),
        column("clients each", "clients of each database", 1),
        column("think time", "mean think time after an order", 0),
        column("orders/min each", "lowest and highest of a database", 0),
        column("orders/min", "of all databases, including rolled-back orders", 0),
        column("databases differ", "(max − min) / max", 0),
    ];
    let row = |row: &OrdersRow, name: String, print: fn(f64) -> String| {
        let low = row.per_min.iter().copied().reduce(f64::min).map(print);
        let high = row.per_min.iter().copied().reduce(f64::max).map(print);
        let each = low.zip(high).map(|(low, high)| if low == high { low } else { format!("{low}–{high}") });
        Row::of(vec![
            name,
            grouped(row.per_min.len() as u64),
            grouped(row.threads.into()),
            format::plain_latency(row.think_time_ms * 1e3),
            dash(each),
            print(row.total_per_min),
            dash(row.variability.map(format::per_cent)),
        ])
    };
    let ours = comparison.ours.iter().map(|ours| row(ours, format!("measured here: {}", ours.name), figure));
    let theirs = comparison.published.iter().map(|theirs| row(theirs, theirs.name.clone(), plain));
    let title = "Orders/min of DVD Store: published, and measured here".to_owned();
    (Table { title, columns, rows: ours.chain(theirs).collect() }, comparison.ours.len())
}
