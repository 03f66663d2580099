//! What is called stable, and the clauses that say why something is not.

use super::*;
use crate::random::SplitMix64;

/// A minute at 1,000 records a second that holds in every respect.
struct Made(Step);

impl Made {
    fn new(pending: impl Fn(f64) -> f64, pending_min: impl Fn(f64) -> f64) -> Self {
        let end_s: Vec<f64> = (1..=60).map(|second| 40.0 + f64::from(second)).collect();
        Self(Step {
            pending: end_s.iter().map(|end| pending(end - 40.0)).collect(),
            pending_min: end_s.iter().map(|end| pending_min(end - 40.0)).collect(),
            end_s,
            cycle_s: 10.0,
            offered: 60_000,
            committed: 59_990,
            refused: 0,
            buffer: 20_000,
            carried: 0,
            flush_slack: 40,
            flush_cycle_s: 0.0,
            measured_s: 60.0,
            drain_s: Some(0.2),
            drain_limit_s: 12.0,
            rows_expected: 5_000,
            rows_found: Some(5_000),
            p99_ms: Some(30.0),
            p99_limit_ms: Some(200.0),
        })
    }

    fn steady() -> Self {
        Self::new(|_| 20.0, |_| 0.0)
    }

    fn with(mut self, change: impl FnOnce(&mut Step)) -> Self {
        change(&mut self.0);
        self
    }

    /// The clauses that this step is given.
    #[track_caller]
    fn check(self, clauses: &[&str]) {
        let found: Vec<String> = sustained(&self.0).iter().map(ToString::to_string).collect();
        assert_eq!(found, clauses);
    }
}

#[test]
fn a_step_that_meets_all_conditions_is_stable() {
    Made::steady().check(&[]);
    Made::steady().with(|step| (step.p99_ms, step.p99_limit_ms) = (None, None)).check(&[]);
    Made::new(|second| 5.0 * second, |_| 100.0).check(&[]);
}

#[test]
fn growing_pending_records_are_told_with_what_is_allowed() {
    Made::new(|second| 312.0 * second, |_| 0.0).check(&["the backlog grew by 312 per second (5 allowed)"]);
    Made::new(|second| 5.01 * second, |_| 0.0).check(&["the backlog grew by 5.1 per second (5 allowed)"]);
    let large = |step: &mut Step| (step.offered, step.committed) = (612_000, 612_000);
    Made::new(|second| 2_312.0 * second, |_| 0.0)
        .with(large)
        .check(&["the backlog grew by 2,312 per second (51 allowed)"]);
    Made::new(|second| -30.0 * second, |_| 0.0).check(&[]);
}

#[test]
fn pending_records_must_come_down_in_four_of_five_cycles() {
    let low_until =
        |until: f64| Made::new(|_| 900.0, move |second| if second <= until { 100.0 } else { 101.0 });
    low_until(50.0).check(&[]);
    low_until(40.0).check(&["the backlog fell to nearly zero in only 4 of 6 cycles of 10 s"]);
    let in_fives = |step: &mut Step| step.cycle_s = 12.0;
    low_until(48.0).with(in_fives).check(&[]);
    low_until(36.0).with(in_fives).check(&["the backlog fell to nearly zero in only 3 of 5 cycles of 12 s"]);
    // One low second is enough for a cycle.
    Made::new(|_| 900.0, |second| if second % 10.0 == 3.0 { 0.0 } else { 700.0 }).check(&[]);
}

#[test]
fn what_is_left_at_the_end_is_a_cycle_from_half_a_cycle_on() {
    let high_at_the_end =
        |from: f64| Made::new(|_| 900.0, move |second| if second > from { 700.0 } else { 0.0 });
    // Cycles of 25 s: two, and 10 s that belong to the second.
    high_at_the_end(50.0).with(|step| step.cycle_s = 25.0).check(&[]);
    // Cycles of 24 s: two, and 12 s that are a third.
    high_at_the_end(48.0)
        .with(|step| step.cycle_s = 24.0)
        .check(&["the backlog fell to nearly zero in only 2 of 3 cycles of 24 s"]);
    // A cycle longer than the window is the window.
    high_at_the_end(10.0).with(|step| step.cycle_s = 900.0).check(&[]);
}

#[test]
fn what_was_not_written_is_told_but_for_the_rows_of_a_flush() {
    Made::steady().with(|step| step.committed = 59_660).check(&[]);
    Made::steady()
        .with(|step| step.committed = 59_659)
        .check(&["only 99.4% of the offered records were written"]);
    Made::steady()
        .with(|step| step.committed = 58_320)
        .check(&["only 97.2% of the offered records were written"]);
}

#[test]
fn a_slow_drain_and_none_at_all_are_told() {
    Made::steady().with(|step| step.drain_s = Some(12.0)).check(&[]);
    Made::steady()
        .with(|step| step.drain_s = Some(40.7))
        .check(&["the backlog took 41 s to drain (12 s allowed)"]);
    Made::steady().with(|step| step.drain_s = None).check(&["the backlog did not drain within 12 s"]);
}

#[test]
fn rows_that_are_missing_too_many_or_not_countable_are_told() {
    let found = |found: Option<u64>| Made::steady().with(move |step| step.rows_found = found);
    found(Some(4_990)).check(&["the database has only 4,990 of 5,000 acknowledged rows"]);
    found(Some(5_010)).check(&["the database has 5,010 rows, but acknowledged only 5,000"]);
    found(None).check(&["the 5,000 acknowledged rows could not be counted in the database"]);
}

#[test]
fn a_limit_of_the_p99_is_kept_only_by_a_known_p99() {
    let p99 = |p99_ms: Option<f64>| Made::steady().with(move |step| step.p99_ms = p99_ms);
    p99(Some(200.0)).check(&[]);
    p99(Some(311.2)).check(&["p99 from event to commit was 312 ms (200 ms allowed)"]);
    p99(None).check(&["p99 from event to commit is unknown (200 ms allowed)"]);
}

#[test]
fn several_reasons_are_all_told() {
    Made::new(|second| 312.0 * second, |second| 300.0 * second)
        .with(|step| (step.committed, step.drain_s) = (30_000, None))
        .check(&[
            "the backlog grew by 312 per second (5 allowed)",
            "the backlog fell to nearly zero in only 0 of 6 cycles of 10 s",
            "only 50% of the offered records were written",
            "the backlog did not drain within 12 s",
        ]);
}

#[test]
fn too_little_to_judge_is_never_stable() {
    let mut short = Made::steady();
    (short.0.measured_s, short.0.offered, short.0.committed) = (2.0, 2_000, 2_000);
    short.0.end_s.truncate(2);
    short.0.flush_cycle_s = 0.5;
    short.check(&["only 2 measured intervals, at least 3 are required"]);
    let mut unknown = Made::steady();
    unknown.0.pending[7] = f64::NAN;
    unknown.check(&["only 59 measured intervals, at least 3 are required"]);
    Made::steady().with(|step| step.offered = 0).check(&["no records were offered"]);
    Made::steady().with(|step| step.measured_s = 0.0).check(&["no records were offered"]);
    Made::steady().with(|step| step.measured_s = f64::NAN).check(&["no records were offered"]);
}

/// A queue whose server writes 10,000 records a second on average, more or less from second to second, filled at a
/// share of that by random arrivals for five minutes.
fn simulated(share: f64, seed: u64) -> Vec<Unstable> {
    const CAPACITY_PER_S: f64 = 10_000.0;
    const TICKS: usize = 50;
    let mut random = SplitMix64::new(seed);
    let (mut pending, mut committed, mut offered) = (0.0f64, 0.0, 0.0);
    let (mut means, mut lowest, mut ends) = (Vec::new(), Vec::new(), Vec::new());
    for second in 1..=300 {
        let speed = CAPACITY_PER_S * (1.0 + 0.03 * random.normal()) / TICKS as f64;
        let (mut sum, mut least) = (0.0, f64::INFINITY);
        for _ in 0..TICKS {
            let due = CAPACITY_PER_S * share / TICKS as f64;
            let arrived = (due + due.sqrt() * random.normal()).max(0.0).round();
            let written = speed.max(0.0).min(pending + arrived);
            (offered, committed, pending) =
                (offered + arrived, committed + written, pending + arrived - written);
            (sum, least) = (sum + pending, least.min(pending));
        }
        ends.push(f64::from(second));
        means.push(sum / TICKS as f64);
        lowest.push(least);
    }
    sustained(&Step {
        end_s: ends,
        pending: means,
        pending_min: lowest,
        cycle_s: 10.0,
        offered: offered as u64,
        committed: committed as u64,
        refused: 0,
        buffer: 20_000,
        carried: 0,
        flush_slack: 40,
        flush_cycle_s: 0.0,
        measured_s: 300.0,
        drain_s: Some(pending / CAPACITY_PER_S),
        drain_limit_s: 30.0,
        rows_expected: committed as u64,
        rows_found: Some(committed as u64),
        p99_ms: None,
        p99_limit_ms: None,
    })
}

#[test]
fn a_simulated_queue_is_stable_below_its_capacity_and_never_above_it() {
    for seed in 0..20 {
        for share in [0.80, 0.90, 0.95, 0.98] {
            assert_eq!(simulated(share, seed), [], "a false alarm at {share} of the capacity, seed {seed}");
        }
        for share in [1.01, 1.02] {
            assert_ne!(simulated(share, seed), [], "{share} of the capacity was not noticed, seed {seed}");
        }
    }
}

#[test]
fn a_full_buffer_is_told_as_what_it_is() {
    let full = |step: &mut Step| {
        (step.offered, step.committed, step.refused) = (2_400_000, 2_373_600, 26_400);
    };
    Made::steady().with(full).check(&[
        "1.1% of the offered records were refused: the buffer of 20,000 records was full, and holds 0.5 s of this load",
    ]);
    let few = |step: &mut Step| (step.refused, step.committed) = (300, 59_700);
    Made::steady().with(few).check(&[]);
}

#[test]
fn what_was_pending_at_the_end_and_drained_was_written() {
    let stalled = |step: &mut Step| (step.committed, step.carried) = (55_000, 5_000);
    Made::steady().with(stalled).check(&[]);
    let not_all = |step: &mut Step| (step.committed, step.carried) = (55_000, 4_000);
    Made::steady().with(not_all).check(&["only 98.3% of the offered records were written"]);
}

#[test]
fn a_window_of_one_cycle_without_a_low_is_told_by_its_length() {
    Made::new(|_| 900.0, |_| 700.0)
        .with(|step| step.cycle_s = 60.0)
        .check(&["the backlog did not fall to nearly zero within a cycle of 60 s"]);
}

/// Six seconds at 5,100 a second in flushes of 5,000, one in 0.98 s. A flush ends a little earlier in each second, and the means
/// of seconds rise by 41 a second: that was once called growth, though nothing was left after any flush.
#[test]
fn the_saw_tooth_of_large_flushes_is_no_growth() {
    let step = |pending: fn(f64) -> f64, left: fn(f64) -> f64| {
        let end_s: Vec<f64> = (1..=6).map(f64::from).collect();
        Made::steady().with(|step| {
            step.pending = end_s.iter().map(|end_s| pending(*end_s)).collect();
            step.pending_min = end_s.iter().map(|end_s| left(*end_s)).collect();
            step.end_s = end_s;
            (step.measured_s, step.offered, step.committed) = (6.0, 30_600, 30_400);
            (step.flush_slack, step.carried, step.flush_cycle_s) = (5_000, 200, 5_000.0 / 5_100.0);
        })
    };
    let rises = |end_s: f64| 2_500.0 + 41.0 * end_s;
    step(rises, |_| 60.0).check(&[]);
    // 300 more are left after each flush.
    step(rises, |end_s| 300.0 * end_s).check(&["the backlog grew by 300 per second (25 allowed)"]);
    // A few more, in the end less than is offered in a tenth of a second.
    step(rises, |end_s| 60.0 * end_s).check(&[]);
}

#[test]
fn a_window_of_less_than_two_flushes_is_not_judged() {
    let of = |cycle_s: f64| {
        let step = Made::new(|second| 400.0 * second, |_| 900.0).with(|step| step.flush_cycle_s = cycle_s);
        sustained(&step.0)
    };
    let few = of(31.0);
    assert_eq!(few, [Unstable::FewFlushes { measured_s: 60.0, cycle_s: 31.0 }]);
    assert_eq!(
        few[0].to_string(),
        "the window of 60 s has fewer than 2 batches: at this rate a batch takes 31 s to fill"
    );
    assert!(!of(30.0).iter().any(|reason| matches!(reason, Unstable::FewFlushes { .. })));
}
