//! Tables and files that a trial begins in, and the threads that it leaves.

use super::*;

#[test]
fn a_fresh_trial_begins_empty() {
    let own = own("fake:");
    run_on(&settings(100.0, 10), &own);
    let ran = run_until(&settings(200.0, 10), &own, true, NOW_US, |_| Go::On).unwrap().adds_up();
    assert_eq!((ran.setup.rows_before, ran.outcome.rows_after), (0, Some(2_000)));
}

#[test]
fn tables_of_another_layout_are_not_taken_up() {
    let own = own("fake:");
    run_on(&settings(100.0, 10), &own);
    let other = Settings { index: Some(false), ..settings(100.0, 10) };
    let error = run_until(&other, &own, false, NOW_US, |_| Go::On).err().unwrap().to_string();
    assert!(error.contains("with index") && error.contains("without index"), "{error}");
}

/// A kill while tables were made left some that no run took up any more: how they are made is written last.
#[test]
fn tables_that_were_half_made_are_made_again_unless_they_hold_rows() {
    let broken_off = |sql: &str| {
        let own = own("fake:");
        run_on(&settings(100.0, 10), &own);
        runtime().block_on(async { own.session().await.unwrap().script(sql).await.unwrap() });
        run_until(&settings(100.0, 10), &own, false, NOW_US, |_| Go::On).map(|ran| ran.outcome.rows_after)
    };
    for sql in [
        "DELETE FROM layout; DELETE FROM samples",
        "DELETE FROM layout; DROP TABLE samples",
        "DROP TABLE layout; DELETE FROM samples",
    ] {
        assert_eq!(broken_off(sql).unwrap(), Some(1_000), "{sql}");
    }
    for sql in ["DELETE FROM layout", "DROP TABLE layout"] {
        assert!(broken_off(sql).is_err(), "there are rows that somebody may need: {sql}");
    }
    assert_eq!(broken_off("SELECT 1").unwrap(), Some(2_000), "taken up with what is in it");
}

#[test]
fn sqlite_has_no_partitions_and_says_so() {
    let settings = Settings { partition: Some(Span::seconds(60)), ..settings(100.0, 10) };
    let error = run_until(&settings, &own("fake:"), false, NOW_US, |_| Go::On).err().unwrap().to_string();
    assert!(error.contains("has no partitions"), "{error}");
}

#[test]
fn a_file_of_sqlite_is_shorter_after_a_shrink() {
    // If a shrink was interrupted after its first page, the file once kept its length.
    let directory = tempfile::tempdir().unwrap();
    let own = own(&format!("sqlite:{}", directory.path().join("historian.db").display()));
    let settings = Settings {
        warm_up: Some(Span::ZERO),
        duration: Some(Span { ns: 2_500_000_000 }),
        flush_rows: Some(1_000),
        maintenance_interval: Some(Span::seconds(2)),
        retention: Some(Span { ns: 100_000_000 }),
        shrink: Some(true),
        ..settings(20_000.0, 10)
    };
    let job = Job::of(&settings).unwrap();
    let outcome =
        run(&job, &own.lease(), &own.clone().into(), true, &AtomicBool::new(false), &mut |_| Go::On).unwrap();
    assert_eq!(outcome.rows_found, Some(outcome.rows_expected));
    let [run] = outcome.maintenance.as_slice() else { panic!("{outcome:?}") };
    assert_eq!(run.error, None);
    assert!(run.purged_rows > 1_000, "{run:?}");
    assert!(run.database_bytes_after.unwrap() * 10 < run.database_bytes_before.unwrap() * 8, "{run:?}");
}

/// Whoever conducted a load left by an error, and waited for threads that nobody had told to end.
#[test]
fn the_threads_of_a_load_end_when_its_conductor_leaves() {
    let directory = tempfile::tempdir().unwrap();
    let own = own(&format!("sqlite:{}", directory.path().join("historian.db").display()));
    let (ended, end) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let conducted = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let job = Job::of(&settings(100.0, 3600)).unwrap();
            run(&job, &own.lease(), &own.clone().into(), true, &AtomicBool::new(false), &mut |progress| {
                match progress {
                    Progress::Preparing(_) | Progress::SetUp(_) | Progress::Mark(_) | Progress::Parts(_) => {
                        Go::On
                    }
                    Progress::Interval(_) => panic!("leaves the load in its first second"),
                }
            })
        }));
        let _ = ended.send(conducted.is_err());
    });
    assert_eq!(end.recv_timeout(std::time::Duration::from_secs(60)), Ok(true));
}

#[test]
fn a_file_that_is_emptied_gives_its_pages_back() {
    // Rows of the second trial filled free pages of the first: the database did not seem to grow.
    let directory = tempfile::tempdir().unwrap();
    let own = own(&format!("sqlite:{}", directory.path().join("historian.db").display()));
    let settings = Settings {
        rate: Some(Rate::PerSecond(20_000.0)),
        flush_rows: Some(1_000),
        warm_up: Some(Span::ZERO),
        duration: Some(Span::seconds(1)),
        ..settings(1.0, 10)
    };
    let job = Job::of(&settings).unwrap();
    let trial = || {
        run(&job, &own.lease(), &own.clone().into(), true, &AtomicBool::new(false), &mut |_| Go::On).unwrap()
    };
    let (first, second) = (trial(), trial());
    assert_eq!(second.database_bytes_before, first.database_bytes_before);
    assert!(second.database_bytes_after.unwrap() > 20 * second.database_bytes_before.unwrap(), "{second:?}");
}
