//! Orders: stores are taken up before the first trial, or loaded for it, and driven; and whether that is valid.

use std::sync::atomic::AtomicBool;

use database::{Claim, Error, Existing, Holder, Own};
use load::{Go, Progress, Tell};
use record::{Command, Loop, Mark, OrdersOutcome, Outcome, Parameter, Preparation, Setup, Window};
use stats::thread_busy;
use study::{Trial, WantedDatabase};
use workload::orders::store::Loaded;
use workload::orders::{self, Job, RestoreError, StoreData, StoreInUse, StoreSize, WantedStore};
use workload::{TrialError, waiting};

use crate::error::RunError;
use crate::judged::{Judged, LOCK_LOST, away, client_limited, clients_stopped, stood_still};
use crate::targets::{Asked, Held, Targets};

/// Looks whether [`ready`] will refuse the store that a job drives.
pub(crate) async fn look(job: &Job, wanted: &WantedDatabase, claim: &Claim) -> Result<(), Error> {
    match wanted.existing {
        Existing::Use => orders::look_at_store(&wanted.url, &wanted.name, store(job), claim).await,
        Existing::Refuse | Existing::Leftover | Existing::Reuse | Existing::Replace | Existing::AsItIs => {
            database::look_as(&wanted.url, &wanted.name, claim).await.map(drop)
        }
    }
}

/// Looks whether a database will be refused to a work of another kind: what holds an order store is none of its own, whatever may be
/// taken up.
pub(crate) async fn look_beside(wanted: &WantedDatabase, claim: &Claim) -> Result<(), Error> {
    let looked = database::look_as(&wanted.url, &wanted.name, claim).await;
    let is_there = match &looked {
        Ok(is_there) => *is_there,
        Err(Error::NoDatabase(_)) => true,
        Err(_) => false,
    };
    let store = match is_there && wanted.existing != Existing::Replace {
        true => orders::store_at(&wanted.url, &wanted.name, &claim.run).await,
        false => None,
    };
    match store {
        None => looked.map(drop),
        Some(size) => Err(Error::NoDatabase(format!(
            "{} contains order data of size {size} and cannot hold anything else. Use another database, \
             run the store with {}, or replace it with {}",
            wanted.place(),
            Command::new("orders run"),
            Parameter::new("target.database.existing").of(Existing::Replace.name())
        ))),
    }
}

/// The store that a job drives.
fn store(job: &Job) -> WantedStore {
    WantedStore { size: job.size, seed: job.store_seed }
}

/// Takes up the store that a job drives, or loads it.
pub(crate) fn ready(
    job: &Job,
    asked: &Asked<'_>,
    tell: &mut Tell<'_>,
) -> Result<(Own, Option<Loaded>), RunError> {
    let Asked { wanted, claim, runtime, stop, is_kept } = asked;
    let (own, loaded) = if wanted.existing == Existing::Use {
        let opening = orders::open_store(&wanted.url, &wanted.name, store(job), &claim.run);
        let what = Preparation::waiting(format!("preparing {}", wanted.place()));
        let opening = waiting::telling(tell, what, opening);
        let opened = runtime.block_on(waiting::unless_stopped_for_long(stop, opening));
        let (own, loaded) = opened.ok_or_else(|| RunError::Interrupted(String::new()))??;
        // What is kept is the store as it was loaded, and not what runs made of it.
        if *is_kept {
            runtime.block_on(orders::restore(&own.lease(), &loaded, stop, tell)).map_err(not_restored)?;
        }
        (own, loaded)
    } else {
        let data = StoreData::new(size(wanted, job.size)?, job.store_seed.unwrap_or(StoreData::SEED));
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        orders::load_held(asked.making(), &data, threads, stop, tell)?
    };
    Ok((own, Some(loaded)))
}

fn not_restored(error: RestoreError) -> RunError {
    match error {
        RestoreError::Database(error) => error.into(),
        RestoreError::Interrupted => RunError::Interrupted(String::new()),
        error @ RestoreError::Different { .. } => Error::NoDatabase(error.to_string()).into(),
    }
}

/// Size of a store that is loaded: the workload's, if not the database's.
fn size(wanted: &WantedDatabase, of_job: Option<StoreSize>) -> Result<StoreSize, RunError> {
    let own: Option<StoreSize> = wanted.load.as_ref().and_then(|load| load.parse().ok());
    match (own, of_job) {
        (Some(own), Some(asked)) if own != asked => Err(RunError::Database(Error::NoDatabase(format!(
            "{}: size {own} is set for the database, but {asked} for the workload. Remove one of them",
            wanted.place()
        )))),
        (own, of_job) => Ok(own.or(of_job).unwrap_or(StoreSize::DEFAULT)),
    }
}

/// Drives the stores of a trial once, in the order given.
pub(crate) fn run(
    job: &Job,
    (trial, targets): (&Trial, &mut Targets),
    stop: &AtomicBool,
    on_progress: &mut dyn FnMut(Progress) -> Go,
) -> Result<OrdersOutcome, TrialError> {
    let meter = targets.meter(trial, job.cpu_target.is_some());
    let in_use = |held: &&mut Held| {
        let Some(loaded) = held.loaded.clone() else { unreachable!("a store was taken up or loaded") };
        (StoreInUse { lease: held.own.lease(), loaded }, Holder::from(held.own.clone()))
    };
    let (driven, holders): (Vec<_>, Vec<_>) = targets.databases_of(trial).iter().map(in_use).unzip();
    orders::run(job, &driven, &holders, meter, stop, on_progress)
}

/// What is to be said of a trial that ran.
pub(crate) fn judged(
    mut outcome: Box<OrdersOutcome>,
    setup: Option<&Setup>,
    marks: &[Mark],
    measured: &Window,
) -> Judged {
    let is_open = setup.is_some_and(|setup| matches!(setup.pacing(), Loop::Open { .. }));
    Judged {
        invalid: invalid_because(&outcome, marks, measured, is_open),
        failed: failed_because(&outcome),
        notes: std::mem::take(&mut outcome.notes),
        outcome: Outcome::Orders(outcome),
    }
}

/// What was found in the databases and should not be: the trial failed.
fn failed_because(outcome: &OrdersOutcome) -> Option<String> {
    let several = outcome.targets.len() > 1;
    let told = outcome.targets.iter().enumerate().flat_map(|(number, target)| {
        let name = if several { format!("target {}: ", number + 1) } else { String::new() };
        target.mismatches().into_iter().map(move |mismatch| format!("{name}{mismatch}"))
    });
    let mut told: Vec<String> = told.collect();
    if !told.is_empty() && outcome.targets.iter().any(|target| target.lock_lost) {
        told.push(LOCK_LOST.to_owned());
    }
    (!told.is_empty()).then(|| told.join("; "))
}

/// Why a trial's figures do not mean what they should, if so. Orders that were never sent because the database kept all
/// clients waiting are no such reason: that rate was not held. Neither is an outage that the study planned, by the trial's marks.
fn invalid_because(
    outcome: &OrdersOutcome,
    marks: &[Mark],
    measured: &Window,
    is_open: bool,
) -> Option<String> {
    let mut reasons = Vec::new();
    reasons.extend(clients_stopped(outcome.targets.iter().flat_map(|target| &target.stopped)));
    reasons.extend(away(outcome.targets.iter().flat_map(|target| &target.outages), marks));
    if outcome.targets.iter().any(|target| target.lock_lost) {
        reasons.push(LOCK_LOST.to_owned());
    }
    if outcome.targets.iter().any(|target| target.orders_found.is_none()) {
        reasons
            .push("the orders in the database could not be counted, so lost orders are unknown".to_owned());
    }
    if measured.operations().count == 0 {
        reasons.push("no order completed in the measured window. Measure longer".to_owned());
    }
    // A closed loop promises no due times: its figure is a lower bound then, which the report says.
    let busy = measured.busiest_share().filter(|_| is_open).and_then(thread_busy);
    let client: Vec<String> =
        [stood_still(measured), busy].into_iter().flatten().map(|sign| sign.to_string()).collect();
    reasons.extend(client_limited(&client));
    (!reasons.is_empty()).then(|| reasons.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::{Interval, MarkKind, OperationInterval, Outage, Phase, TargetOutcome};
    use std::collections::BTreeMap;

    fn measured(orders: u64, busiest_share: f64) -> Window {
        let order = OperationInterval { count: orders, ..OperationInterval::default() };
        let mut window = Window::new(record::Workload::Orders.main());
        window.add(&Interval {
            end_s: 1.0,
            length_s: 1.0,
            phase: Phase::Measure,
            operations: BTreeMap::from([(record::orders::ORDER.to_owned(), order)]),
            gauges: BTreeMap::new(),
            generator_cpu_us: 0,
            generator_busiest_share: busiest_share,
            generator_pauses: None,
        });
        window
    }

    fn fine() -> TargetOutcome {
        TargetOutcome {
            purchases_from_start: 10,
            rollbacks_from_start: 1,
            orders_found: Some(9),
            acknowledged_lost: Some(0),
            quantity_found: Some(70),
            sales_risen: Some(70),
            ..TargetOutcome::default()
        }
    }

    fn outcome(targets: Vec<TargetOutcome>) -> OrdersOutcome {
        OrdersOutcome { targets, ..OrdersOutcome::default() }
    }

    #[test]
    fn a_trial_without_fault_is_valid() {
        let outcome = outcome(vec![fine(), fine()]);
        assert_eq!(invalid_because(&outcome, &[], &measured(9, 0.5), true), None);
        assert_eq!(failed_because(&outcome), None);
    }

    #[test]
    fn a_mismatch_fails_and_names_its_target() {
        let lost = TargetOutcome { acknowledged_lost: Some(2), orders_found: Some(7), ..fine() };
        let told = failed_because(&outcome(vec![fine(), lost])).unwrap();
        assert!(told.starts_with("target 2: 2 of 9 acknowledged orders"), "{told}");
    }

    #[test]
    fn clients_that_stop_and_outages_and_a_busy_load_make_it_invalid() {
        let outage =
            Outage { start_s: 3.0, end_s: Some(4.5), attempts: 3, error: "connection reset".to_owned() };
        let away = TargetOutcome {
            stopped: vec!["client 3: gone".to_owned(), "client 4: gone".to_owned()],
            outages: vec![outage],
            ..fine()
        };
        let told = invalid_because(&outcome(vec![away]), &[], &measured(9, 0.9), true).unwrap();
        for part in ["2 clients stopped before the end: client 3", "for 1.5 s", "client-limited", "90%"] {
            assert!(told.contains(part), "{part} in {told}");
        }
        let unlocked = TargetOutcome { lock_lost: true, ..fine() };
        assert!(
            invalid_because(&outcome(vec![unlocked]), &[], &measured(9, 0.1), true).unwrap().contains("lock")
        );
        let unknown = TargetOutcome { orders_found: None, acknowledged_lost: None, ..fine() };
        assert!(
            invalid_because(&outcome(vec![unknown]), &[], &measured(9, 0.1), true)
                .unwrap()
                .contains("unknown")
        );
        assert!(
            invalid_because(&outcome(vec![fine()]), &[], &measured(0, 0.1), true)
                .unwrap()
                .contains("Measure longer")
        );
    }

    /// In a study of faults the outage is the measurement.
    #[test]
    fn an_outage_that_was_planned_makes_no_trial_invalid_and_another_as_long_does() {
        let away = |start_s| {
            let error = "connection reset".to_owned();
            let outages = vec![Outage { start_s, end_s: Some(start_s + 1.5), attempts: 3, error }];
            outcome(vec![TargetOutcome { outages, ..fine() }])
        };
        let marks = [Mark::planned(MarkKind::Fault, 3.0, Some(4.0), "server killed")];
        assert_eq!(invalid_because(&away(3.2), &marks, &measured(9, 0.1), true), None);
        let told = invalid_because(&away(7.0), &marks, &measured(9, 0.1), true).unwrap();
        assert!(told.starts_with("a database was unreachable for 1.5 s, starting at 7.0 s"), "{told}");
        assert!(invalid_because(&away(3.2), &[], &measured(9, 0.1), true).is_some());
    }

    #[test]
    fn a_closed_loop_with_a_busy_load_is_a_lower_bound_and_no_mistake() {
        assert_eq!(invalid_because(&outcome(vec![fine()]), &[], &measured(9, 0.95), false), None);
    }

    /// They waited for the database: the rate was not held, and nothing is wrong with the figures.
    #[test]
    fn orders_that_were_never_sent_do_not_make_it_invalid() {
        let unsent = OrdersOutcome { unsent: 500, ..outcome(vec![fine()]) };
        assert_eq!(invalid_because(&unsent, &[], &measured(500, 0.1), true), None);
    }

    /// Prony was stopped for three seconds, and the longest answer of 3.08 s was told as the database's.
    #[test]
    fn a_client_that_stood_still_makes_both_loops_invalid() {
        let mut stopped = measured(9, 0.1);
        stopped.add(&Interval {
            end_s: 2.0,
            length_s: 1.0,
            phase: Phase::Measure,
            operations: BTreeMap::new(),
            gauges: BTreeMap::new(),
            generator_cpu_us: 0,
            generator_busiest_share: 0.1,
            generator_pauses: Some(record::Pauses { longest_ms: 2_990.0, sum_ms: 1_000.0 }),
        });
        for is_open in [false, true] {
            let told = invalid_because(&outcome(vec![fine()]), &[], &stopped, is_open).unwrap();
            assert!(told.starts_with("client-limited: the load generator itself stood still"), "{told}");
        }
    }
}
