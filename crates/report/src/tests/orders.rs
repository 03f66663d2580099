//! Whole reports of order stores, alone and beside a disk.

use record::{MeasuredTrial, State, StudyRecord};

use crate::fixture::{self, Made, Sold, outage, prices};
use crate::orders::Orders;
use crate::report::Report;
use record::Workload;

fn study(profile: &str, trials: Vec<MeasuredTrial>) -> StudyRecord {
    let mut study = fixture::study(profile, trials);
    study.manifest.title = format!("Orders: {profile}");
    study.manifest.command =
        ["prony", "orders", "run", "--target", "postgres://db-1"].map(String::from).into();
    study
}

/// One store with time to think, and what the machine costs.
pub(crate) fn priced() -> StudyRecord {
    let mut study = study("priced", vec![Sold::at("orders", &[120.0]).think_ms(20.0).seen(0.8).trial(1)]);
    study.manifest.prices = Some(prices());
    study
}

/// Four stores of which one is slower and one lost an order.
pub(crate) fn several() -> StudyRecord {
    let trial = Sold::at("four stores", &[60.0, 58.0, 44.0, 61.0]).think_ms(20.0).outcome(|outcome| {
        let target = &mut outcome.targets[2];
        target.acknowledged_lost = Some(2);
        target.orders_found = target.orders_found.map(|found| found - 2);
        target.sales_risen = target.sales_risen.map(|sales| sales - 7);
    });
    study("several", vec![trial.trial(1)])
}

/// A client that stopped, an outage, an open loop, a CPU target that was reached and one that was not.
pub(crate) fn troubled() -> StudyRecord {
    let stops = |outcome: &mut record::OrdersOutcome| {
        outcome.targets[0].stopped =
            vec!["client 3 stopped after 12.0 s: the password was refused".to_owned()];
        outcome.notes = vec!["The stores are on the disk of the system.".to_owned()];
    };
    let trials = vec![
        Sold::at("stopped", &[90.0]).outcome(stops).trial(1),
        Sold::at("outage", &[90.0]).outcome(outage).trial(2),
        Sold::at("open 100/s", &[97.0]).open(100.0, 900.0).remote().trial(3),
        Sold::at("CPU 60%", &[70.0]).cpu_target(0.6, 0.61, 5.4).trial(4),
        Sold::at("CPU 90%", &[110.0, 108.0]).cpu_target(0.9, 0.71, 16.0).trial(5),
        Sold::at("killed", &[50.0])
            .recorded(|r| {
                r.state = State::Failed;
                r.reason = Some("no space left on device".to_owned());
            })
            .trial(6),
    ];
    study("troubled", trials)
}

/// More clients and more stores than there are colours and bars.
pub(crate) fn many() -> StudyRecord {
    let made = Sold::at("24 stores", &[20.0; 24]).think_ms(20.0).with(|setup| setup.n_threads = 32);
    let repeats = (1..=3).map(|block| {
        let rates = [200.0 + 3.0 * f64::from(block), 201.0];
        Sold::at("two stores", &rates).think_ms(100.0).block(block).trial(block + 1)
    });
    study("many", [made.trial(1)].into_iter().chain(repeats).collect())
}

/// A disk test before the store.
pub(crate) fn beside() -> StudyRecord {
    let trials = vec![
        Made::read("RND4K Q32T1 read").rate(74_120.0, 430.0).seconds(30).trial(1),
        Sold::at("orders", &[120.0]).trial(2),
    ];
    study("beside", trials)
}

pub(crate) fn all() -> [StudyRecord; 5] {
    [priced(), several(), troubled(), many(), beside()]
}

/// The figures of the first trial.
fn first(study: &StudyRecord) -> Orders {
    Report::of(study).trials[0].orders().unwrap().clone()
}

fn only(made: Sold) -> Orders {
    first(&study("one", vec![made.trial(1)]))
}

#[test]
fn text_of_a_priced_store() {
    insta::assert_snapshot!(Report::of(&priced()).text(Some(120)));
}

#[test]
fn text_of_several_stores() {
    insta::assert_snapshot!(Report::of(&several()).text(Some(140)));
}

#[test]
fn text_of_troubled_stores() {
    insta::assert_snapshot!(Report::of(&troubled()).text(Some(160)));
}

#[test]
fn csv_of_several_stores() {
    insta::assert_snapshot!(Report::of(&several()).csv().replace("\r\n", "\n"));
}

#[test]
fn verdicts_of_troubled_stores() {
    let report = Report::of(&troubled());
    let lines: Vec<String> = report
        .verdicts()
        .iter()
        .map(|v| format!("{} {}: {}", v.level.word(), v.rule, v.sentence()))
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn orders_a_minute_are_sixty_times_those_a_second() {
    let orders = only(Sold::at("O", &[30.0]).noise(0.0).rollbacks(0.1));
    // 60 seconds of 30 orders, 3 of them rolled back.
    assert_eq!((orders.orders, orders.rollbacks), (1_800, 180));
    assert_eq!((orders.per_min, orders.committed_per_min), (Some(1_800.0), Some(1_620.0)));
    assert_eq!(orders.rollback_share, Some(0.1));
    assert_eq!((orders.retries, orders.errors, orders.offered_per_min), (60, 0, None));
    let interval = orders.per_min_interval.unwrap();
    assert_eq!((interval.low, interval.high), (1_800.0, 1_800.0), "no second differs");
    let open = only(Sold::at("O", &[30.0]).noise(0.0).open(35.0, 100.0));
    assert_eq!((open.offered_per_min, open.per_min), (Some(2_100.0), Some(1_800.0)));
}

#[test]
fn targets_differ_by_what_the_slowest_lacks_to_the_fastest() {
    let orders = only(Sold::at("O", &[60.0, 45.0]).noise(0.0));
    let rates: Vec<Option<f64>> = orders.targets.iter().map(|target| target.per_min).collect();
    assert_eq!(rates, [Some(3_600.0), Some(2_700.0)]);
    assert_eq!(orders.target_variability, Some(0.25));
    assert_eq!(only(Sold::at("O", &[60.0])).target_variability, None);
}

#[test]
fn clients_are_taken_together_and_by_target() {
    let clients = |outcome: &mut record::OrdersOutcome| {
        outcome.targets[0].orders_by_client = vec![10, 30];
        outcome.targets[1].orders_by_client = vec![20, 40];
    };
    let orders = only(Sold::at("O", &[1.0, 1.0]).outcome(clients));
    // A minute was measured: orders are orders a minute.
    let all = orders.clients.unwrap();
    assert_eq!((all.clients, all.min_per_min, all.median_per_min, all.max_per_min), (4, 10.0, 25.0, 40.0));
    assert_eq!(all.variability, Some(0.75));
    assert_eq!(orders.targets[1].clients.unwrap().variability, Some(0.5));
}

#[test]
fn time_of_an_order_is_parted_into_database_and_cpu() {
    let mut study = study("one", vec![Sold::at("O", &[100.0]).noise(0.0).trial(1)]);
    let trial = &mut study.trials[0];
    for (kind, operation) in &mut trial.measured {
        let us = match kind.as_str() {
            "order" => 20_000,
            "purchase" => 4_000,
            _ => 2_000,
        };
        operation.service = record::Latency::new();
        (0..100).for_each(|_| operation.service.record_ns(us * 1_000));
    }
    for sample in &mut trial.samples {
        sample.gauges.insert("server_cpu_s".to_owned(), 1.0);
    }
    let time = first(&study).time;
    // 0.8 logins, 0.2 new customers, 3 browses and a look at the prices of 2 ms each, then a purchase of 4 ms.
    let near = |value: Option<f64>, wanted: f64| {
        let value = value.unwrap();
        assert!((value / wanted - 1.0).abs() < 1e-3, "{value}, not {wanted}");
    };
    near(time.database_us, 14_000.0);
    near(time.database_share, 0.7);
    // 0.3 s of CPU a second for 100 orders; a second of the server's for as many.
    near(time.client_cpu_us, 3_000.0);
    assert_eq!((time.server_cpu_us, time.client_over_server), (None, None), "its processes were not seen");
    near(time.machine_less_load_cpu_us, 10_000.0);
    let remote = only(Sold::at("O", &[100.0]).remote()).time;
    assert_eq!((remote.server_cpu_us, remote.machine_less_load_cpu_us), (None, None));
}

/// With one client on SQLite an order took 1.96 ms, and 3.80 ms of CPU time of "the server", which was all that other programs did.
#[test]
fn the_cpu_time_of_a_server_is_that_of_its_own_processes() {
    let near = |value: Option<f64>, wanted: f64| {
        let value = value.unwrap();
        assert!((value / wanted - 1.0).abs() < 1e-3, "{value}, not {wanted}");
    };
    let seen = only(Sold::at("O", &[100.0]).noise(0.0).seen(0.5)).time;
    near(seen.server_cpu_us, 5_000.0);
    near(seen.client_over_server, 0.6);
    assert_eq!((seen.machine_less_load_cpu_us, seen.is_in_process), (None, false));
    // Of two cores this program used 40%, of which 0.3 cores were the load threads.
    let sqlite = only(Sold::at("O", &[100.0]).noise(0.0).in_process(0.4)).time;
    near(sqlite.server_cpu_us, 5_000.0);
    assert!(sqlite.is_in_process && sqlite.machine_less_load_cpu_us.is_none());
}

#[test]
fn a_cpu_target_is_reached_within_three_points() {
    let reached = |mean: f64| {
        let mut study = study("one", vec![Sold::at("O", &[50.0]).cpu_target(0.7, mean, 5.0).trial(1)]);
        for sample in &mut study.trials[0].samples {
            sample.gauges.insert("server_cpu_share".to_owned(), mean);
        }
        first(&study).cpu_target.unwrap().reached
    };
    for (mean, wanted) in [(0.7, true), (0.67, true), (0.73, true), (0.669, false), (0.731, false)] {
        assert_eq!(reached(mean), Some(wanted), "{mean}");
    }
    let cpu = only(Sold::at("O", &[50.0]).cpu_target(0.7, 0.7, 5.0)).cpu_target.unwrap();
    assert_eq!((cpu.active_clients_mean, cpu.clients), (Some(5.0), 8));
    assert!(cpu.min_share.unwrap() < 0.69 && cpu.max_share.unwrap() > 0.71, "{cpu:?}");
    let own = only(Sold::at("O", &[100.0]).noise(0.0).cpu_target(0.7, 0.5, 5.0).of_group(2.0)).time;
    assert!((own.server_cpu_us.unwrap() - 10_000.0).abs() < 500.0, "{own:?}");
    assert_eq!(own.machine_less_load_cpu_us, None, "the group is the server's own");
    let unknown = only(Sold::at("O", &[50.0]).cpu_target(0.7, 0.7, 5.0).remote()).cpu_target.unwrap();
    assert_eq!((unknown.mean_share, unknown.reached), (None, None));
}

#[test]
fn a_trial_that_was_killed_has_its_targets_from_the_samples() {
    let mut study = study("one", vec![Sold::at("O", &[60.0, 30.0]).noise(0.0).trial(1)]);
    study.trials[0].trial.outcome = None;
    let orders = first(&study);
    let rates: Vec<Option<f64>> = orders.targets.iter().map(|target| target.per_min).collect();
    assert_eq!((rates, orders.target_variability), (vec![Some(3_600.0), Some(1_800.0)], Some(0.5)));
    assert_eq!((orders.rollbacks, orders.retries), (120, 60), "2 of 90 a second, and one retry");
    assert!(orders.clients.is_none() && orders.targets[0].reconciliation.is_none());
}

#[test]
fn kinds_of_an_order_are_not_added_up_and_orders_come_first() {
    let report = Report::of(&priced());
    let trial = &report.trials[0];
    let kinds: Vec<&str> = trial.figures.iter().map(|figures| figures.kind.as_str()).collect();
    assert_eq!(kinds, ["order", "login", "new_customer", "browse", "prices", "purchase"]);
    assert_eq!(trial.figures[0].operations, trial.orders().unwrap().orders);
    assert!(trial.figures.iter().all(|figures| figures.mb_per_s.is_none()));
}

#[test]
fn a_store_that_was_never_set_up_is_known_by_its_workload() {
    let mut study = priced();
    let trial = &mut study.trials[0];
    (trial.trial.setup, trial.trial.outcome) = (None, None);
    (trial.samples, trial.measured) = Default::default();
    trial.trial.state = State::Failed;
    let report = Report::of(&study);
    assert_eq!(
        (report.trials_of(Workload::Disk).count(), report.trials_of(Workload::Orders).count()),
        (0, 1)
    );
    let text = report.text(None);
    assert!(text.contains("(orders): failed") && !text.contains("IOPS"), "{text}");
    assert!(report.html().contains("Order store"));
}

#[test]
fn cost_is_the_price_over_the_orders_a_minute() {
    let mut study = study("one", vec![Sold::at("O", &[100.0]).noise(0.0).trial(1)]);
    study.manifest.prices = Some(prices());
    let cost = Report::of(&study).orders.cost.unwrap();
    // 2,400 + 4 × 199.50 + 402 for 6,000 orders a minute.
    assert_eq!(cost.total, 3_600.0);
    let ours = &cost.systems[0];
    assert_eq!((ours.per_min, ours.cost_per_opm), (6_000.0, Some(0.6)));
    let steps: Vec<i64> = cost.price_steps.iter().map(|step| (step.cost * 100.0).round() as i64).collect();
    assert_eq!(steps, [48, 54, 60, 66, 72]);
    let (interval, rate) = (ours.cost_interval.unwrap(), 6_000.0);
    assert!(interval.low <= 3_600.0 / rate && 3_600.0 / rate <= interval.high, "{interval:?}");
    let published: Vec<Option<f64>> = cost.systems[1..].iter().map(|row| row.cost_per_opm).collect();
    assert_eq!(published, [Some(0.45), Some(0.13)]);
    assert!(cost.systems[1..].iter().all(|row| row.is_published && row.note.is_some()));
}

#[test]
fn what_may_give_as_many_orders_is_told_with_the_cost() {
    let told = |second: f64| {
        let made = |name: &str, rate: f64, number: u32| Sold::at(name, &[rate]).noise(0.05).trial(number);
        let mut study = study("two", vec![made("A", 100.0, 1), made("B", second, 2)]);
        study.manifest.prices = Some(prices());
        let report = Report::of(&study);
        let sentence = report.verdicts().iter().find(|verdict| verdict.rule == "order_cost").unwrap();
        (sentence.sentence().clone(), report.text(None).to_string())
    };
    let (near, text) = told(99.9);
    assert!(near.contains("may be as fast (overlapping intervals)"), "{near}");
    assert!(text.contains("EUR (0."), "{text}");
    let (far, _) = told(50.0);
    assert!(!far.contains("may be as fast"), "{far}");
}

#[test]
fn prices_without_orders_are_listed_and_cost_nothing_an_order() {
    let mut study = crate::tests::quick();
    study.manifest.prices = Some(prices());
    let report = Report::of(&study);
    let cost = report.orders.cost.as_ref().unwrap();
    assert_eq!((cost.total, cost.systems.len(), cost.price_steps.len()), (3_600.0, 0, 0));
    assert!(report.text(None).contains("3,600.00") && report.html().contains("id=\"cost\""));
    assert!(Report::of(&crate::tests::quick()).orders.cost.is_none());
}

#[test]
fn published_scenarios_stand_beside_stores_with_time_to_think() {
    let comparison = Report::of(&several()).orders.published_orders.unwrap();
    let [ours] = comparison.ours.as_slice() else { panic!("{:?}", comparison.ours) };
    assert_eq!((ours.per_min.len(), ours.think_time_ms, ours.threads), (4, 20.0, 8));
    assert_eq!(comparison.published.len(), 5);
    assert!(comparison.differences[0].contains("10MB with PostgreSQL 15.18"), "{:?}", comparison.differences);
    assert!(Report::of(&troubled()).orders.published_orders.is_none(), "nobody took time to think");
    assert!(Report::of(&crate::tests::quick()).orders.published_orders.is_none());
}

#[test]
fn csv_has_the_columns_of_order_stores_where_there_are_any() {
    let csv = Report::of(&beside()).csv();
    let head: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    let column = |name: &str| head.iter().position(|other| *other == name).unwrap();
    let lines: Vec<Vec<&str>> = csv.lines().skip(1).map(|line| line.split(',').collect()).collect();
    let line = |trial: &str, kind: &str| {
        lines.iter().find(|line| line[0] == trial && line[column("kind")] == kind).unwrap()
    };
    assert_eq!(line("1", "read")[column("orders_per_min")], "");
    let orders = line("2", "order");
    assert_eq!(orders[column("reconciled")], "true");
    let per_s: f64 = orders[column("per_s")].parse().unwrap();
    let per_min: f64 = orders[column("orders_per_min")].parse().unwrap();
    assert!((per_min / per_s / 60.0 - 1.0).abs() < 1e-12, "{per_min} a minute, {per_s} a second");
    assert_eq!(line("2", "browse")[column("reconciled")], "", "in the first line only");
    assert!(lines.iter().all(|line| line.len() == head.len()));
    assert!(!Report::of(&crate::tests::quick()).csv().contains("orders_per_min"));
    let several = Report::of(&several()).csv();
    assert!(several.contains(",false,0,0\r\n"), "one of four does not hold: {several}");
}

#[test]
fn text_json_and_page_agree() {
    let report = Report::of(&priced());
    let document: serde_json::Value = serde_json::from_str(&report.json()).unwrap();
    let orders = &document["trials"][0]["orders"];
    let per_min = orders["per_min"].as_f64().unwrap();
    assert_eq!(Some(per_min), report.trials[0].orders().unwrap().per_min);
    let printed = crate::format::figure(per_min);
    assert!(report.text(None).contains(&printed) && report.html().contains(&printed), "{printed}");
    assert_eq!(orders["targets"][0]["reconciliation"]["holds"], true);
    let cost = document["cost"]["systems"][0]["cost_per_opm"].as_f64().unwrap();
    assert!(report.text(None).contains(&format!("{cost:.2} EUR")), "{cost}");
    assert!(!report.json().contains("NaN"));
}

#[test]
fn sentences_and_tables_of_stores_do_not_speak_of_ios() {
    for study in [priced(), several(), troubled(), many()] {
        let text = Report::of(&study).text(None);
        for word in ["IOPS", "I/O", "MB/s", "disk may", "outstanding", "not the disk", "records/s"] {
            assert!(!text.contains(word), "{word}: {text}");
        }
    }
}

#[test]
fn pages_draw_a_line_a_target_and_mark_outages() {
    let several = Report::of(&several()).html();
    for part in
        [">target 4<", "</span>target 4</li>", "Response time of an order", "An order and its operations"]
    {
        assert!(several.contains(part), "{part}");
    }
    let troubled = Report::of(&troubled()).html();
    for part in [
        "</span>outage</li>",
        "CPU share of the machine, without the load",
        "Active clients",
        "The stores are on the disk",
    ] {
        assert!(troubled.contains(part), "{part}");
    }
    let many = Report::of(&many()).html();
    assert!(!many.contains(">target 24<") && many.contains("Several clients share a bar"));
    let beside = Report::of(&beside()).html();
    assert!(beside.find("Figures: disk").unwrap() < beside.find("Figures: order store").unwrap());
}

#[test]
fn a_long_store_makes_a_page_of_bounded_size() {
    let page = |seconds: usize| {
        let made = Sold::at("long", &[100.0, 90.0]).seconds(seconds).noise(0.2).cpu_target(0.6, 0.6, 7.0);
        Report::of(&study("long", vec![made.trial(1)])).html()
    };
    let (hour, two) = (page(3_600), page(7_200));
    assert!(hour.len() < 400_000, "{} bytes", hour.len());
    assert!(two.len() < hour.len() * 12 / 10, "{} after {} bytes", two.len(), hour.len());
}

#[test]
fn repeats_are_taken_together_and_told_apart() {
    let report = Report::of(&many());
    let text = report.text(None);
    assert!(text.contains("Configurations: all repeats together"), "{text}");
    for number in 2..=4 {
        assert!(text.contains(&format!("two stores, #{number}")), "{text}");
    }
    let configuration = &report.configurations[1];
    assert_eq!(configuration.trials, [2, 3, 4]);
    let mean = configuration.main().unwrap().per_s.unwrap() * 60.0;
    assert!(text.contains(&crate::format::figure(mean)), "{mean}");
    assert!(!Report::of(&several()).text(None).contains("all repeats together"));
}
