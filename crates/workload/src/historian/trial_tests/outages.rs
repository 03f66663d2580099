//! Outages, lost answers and a full disk: what is written again, and what is lost.

use super::*;

#[test]
fn a_flush_whose_answer_was_lost_is_found() {
    let own = own("fake:?append=2ms&lose_committed_at=100&down=700ms");
    let ran = run_on(&settings(1_000.0, 15), &own).adds_up();
    let outcome = &ran.outcome;
    assert_eq!((outcome.found_after_outage, outcome.written_again, outcome.refused), (40, 0, 0));
    assert_eq!((outcome.acknowledged, outcome.rows_after), (15_000, Some(15_000)));
    let [outage] = outcome.outages.as_slice() else { panic!("{outcome:?}") };
    assert!(outage.end_s.unwrap() - outage.start_s >= 0.7, "{outage:?}");
    assert!(outage.attempts > 2, "{outage:?}");
    assert_eq!(ran.errors("commit"), 1);
}

#[test]
fn a_flush_that_was_lost_is_written_again() {
    let own = own("fake:?append=2ms&lose_at=100&down=700ms");
    let ran = run_on(&settings(1_000.0, 15), &own).adds_up();
    let outcome = &ran.outcome;
    assert_eq!((outcome.found_after_outage, outcome.written_again), (0, 40));
    assert_eq!((outcome.acknowledged, outcome.rows_after), (15_000, Some(15_000)));
}

#[test]
fn several_writers_lose_nothing_in_an_outage() {
    for fault in ["lose_at=200", "lose_committed_at=200"] {
        let own = own(&format!("fake:?append=1ms&{fault}&down=1s"));
        let settings = Settings { writers: Some(4), ..settings(2_000.0, 15) };
        let ran = run_on(&settings, &own).adds_up();
        assert_eq!(ran.outcome.acknowledged, 30_000, "{fault}");
        assert_eq!(ran.outcome.rows_after, Some(30_000), "{fault}");
    }
}

#[test]
fn a_long_outage_fills_the_buffer_and_loses_only_what_was_refused() {
    let own = own("fake:?append=2ms&lose_at=100&down=8s");
    let settings = Settings { max_buffered_events: Some(3_000), ..settings(1_000.0, 30) };
    let ran = run_on(&settings, &own).adds_up();
    let outcome = &ran.outcome;
    assert!((4_000..11_000).contains(&outcome.refused), "{outcome:?}");
    assert_eq!(outcome.abandoned, 0);
    assert_eq!(ran.gauge(Phase::Measure, "pending_max_records").into_iter().fold(0.0, f64::max), 3_000.0);
}

#[test]
fn a_database_that_never_comes_back_costs_what_was_pending_and_is_said() {
    let own = own("fake:?append=2ms&lose_at=100&down=3600s");
    let ran = run_on(&Settings { max_buffered_events: Some(500), ..settings(1_000.0, 10) }, &own);
    let outcome = &ran.outcome;
    assert_eq!((outcome.abandoned, outcome.drain_s, outcome.rows_found), (500, None, None));
    assert_eq!(outcome.outages[0].end_s, None);
    assert!(outcome.notes.iter().any(|note| note.contains("could not be counted")), "{:?}", outcome.notes);
    assert!(ran.intervals.last().unwrap().end_s >= 70.0, "the drain was waited for");
}

#[test]
fn a_disk_that_was_full_for_a_moment_is_written_again() {
    let own = own("fake:?append=2ms&full_at=50");
    let ran = run_on(&settings(1_000.0, 10), &own).adds_up();
    assert_eq!(ran.outcome.acknowledged, 10_000);
    assert_eq!(ran.outcome.written_again, 0, "it is known that nothing was committed");
    assert_eq!(ran.errors("commit"), 1);
    assert!(ran.outcome.outages[0].error.contains("full"), "{:?}", ran.outcome.outages);
}
