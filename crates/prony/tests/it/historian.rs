//! `prony historian`: on the fake database, where an hour takes seconds, and on SQLite files.

use std::fs;

use rustix::process::Signal;
use serde_json::Value;

use crate::running::Running;
use crate::workbench::{Workbench, json_file};

/// A database that takes 25 flushes of 40 rows a second: 1,000 records/s.
const FAKE: &str = "fake:?append=40ms";

fn historian<'a>(target: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = vec!["historian", "--target", target, "--json"];
    arguments.extend_from_slice(more);
    arguments
}

/// The figures of the only historian trial.
#[track_caller]
fn figures(document: &Value) -> &Value {
    assert_eq!(document["trials"].as_array().map(Vec::len), Some(1), "{document:#}");
    &document["trials"][0]["historian"]
}

/// Whether a sentence of a rule is in a report.
fn says(document: &Value, rule: &str) -> bool {
    document["verdicts"].as_array().unwrap().iter().any(|verdict| verdict["rule"] == rule)
}

#[test]
fn a_rate_that_the_database_takes_is_held() {
    let bench = Workbench::new();
    let outcome = bench.run(&historian(FAKE, &["--rate", "900", "--duration", "1m"])).ended_with(0);
    let document = outcome.json();
    let figures = figures(&document);
    assert_eq!(figures["stable"], true, "{figures:#}");
    let acknowledged = figures["acknowledged"].as_u64().unwrap();
    assert!((80_999..=81_001).contains(&acknowledged), "{acknowledged}");
    assert_eq!(figures["refused"], 0);
    assert_eq!(figures["rows_found"], figures["rows_expected"]);
    assert_eq!(document["state"], "complete");
}

#[test]
fn a_rate_that_the_database_does_not_take_is_not_held_and_the_refused_events_are_counted() {
    let bench = Workbench::new();
    let rate = ["--rate", "1100", "--duration", "6m", "--max-buffered-events", "20000"];
    let document = bench.run(&historian(FAKE, &rate)).ended_with(3).json();
    let figures = figures(&document);
    assert_eq!(figures["stable"], false);
    assert!(figures["unstable_because"].as_array().is_some_and(|reasons| !reasons.is_empty()), "{figures:#}");
    assert_eq!(figures["pending_max"], 20_000.0, "the buffer is full and no fuller");
    let refused = figures["refused"].as_u64().unwrap();
    // In nine minutes 54,000 more come than are written, of which 20,000 are pending at the end.
    assert!((33_000..35_000).contains(&refused), "{refused}");
}

#[test]
fn a_search_finds_what_the_database_takes_within_two_per_cent() {
    let bench = Workbench::new();
    // 200 records/s; short steps in virtual time, and no rests, which are not.
    let study = r#"
        title = "Search"
        slug = "search"
        blocks = 1
        [search]
        start_per_s = 100.0
        confirm = "2m"
        cool_down = "0s"
        [workload.historian]
        warm_up = "20s"
        duration = "40s"
        screens = 0
        flush_rows = 8
        [target]
        database = "TARGET"
    "#;
    bench.write("search.toml", study.replace("TARGET", FAKE));
    let document = bench.run(&["study", "run", "search.toml", "--json"]).ended_with(0).json();
    let search = &document["searches"][0];
    let stable = search["stable_at"].as_f64().unwrap();
    assert!((196.0..=200.5).contains(&stable), "{search:#}");
    assert!(search["failed_at"].as_f64().unwrap() <= stable * 1.021, "{search:#}");
    for step in search["steps"].as_array().unwrap() {
        let rate = step["rate_per_s"].as_f64().unwrap();
        assert!(rate < 204.0 || step["stable"] == false, "102 % is never stable: {step:#}");
    }
    let confirmed =
        search["steps"].as_array().unwrap().iter().filter(|step| step["confirms"] == true).count();
    assert_eq!(confirmed, 3);
    assert_eq!(search["quick"], false);
}

#[test]
fn a_database_that_goes_away_loses_nothing_that_it_acknowledged() {
    for (fault, found, again) in [("lose_committed_at=500", 40, 0), ("lose_at=500", 0, 40)] {
        let bench = Workbench::new();
        let target = format!("{FAKE}&{fault}&down=3s");
        let document = bench.run(&historian(&target, &["--rate", "500", "--duration", "1m"])).json();
        let trial = json_file(bench.results().unwrap().join("trials/0001/trial.json"));
        let outcome = &trial["outcome"];
        assert_eq!(
            (&outcome["found_after_outage"], &outcome["written_again"]),
            (&found.into(), &again.into())
        );
        assert_eq!(outcome["rows_found"], outcome["acknowledged"], "{outcome:#}");
        assert_eq!(outcome["acknowledged"], outcome["accepted"], "{outcome:#}");
        let outage = &outcome["outages"][0];
        let length_s = outage["end_s"].as_f64().unwrap() - outage["start_s"].as_f64().unwrap();
        assert!((2.9..6.0).contains(&length_s), "{outage:#}");
        assert!(says(&document, "outage") || says(&document, "outages"), "{:#}", document["verdicts"]);
    }
}

#[test]
fn a_sqlite_file_of_our_own_is_made_and_removed() {
    let bench = Workbench::new();
    let short = ["--rate", "200", "--warm-up", "0s", "--duration", "2s"];
    // Two seconds are too few to judge a rate.
    let outcome = bench.run(&historian("sqlite:h.db", &short)).ended_with(4);
    let figures = &outcome.json()["trials"][0]["historian"];
    assert_eq!(figures["acknowledged"], 400);
    assert_eq!(figures["rows_found"], 400);
    assert_eq!(bench.names("."), ["prony-results"]);
}

#[test]
fn a_file_that_is_not_ours_is_refused_and_left_alone() {
    let bench = Workbench::new();
    let content = bench.foreign("theirs.db", 1);
    for reuse in [&[][..], &["--reuse"]] {
        let outcome = bench.run(&historian("sqlite:theirs.db", reuse)).ended_with(2);
        assert!(outcome.stderr.contains("theirs.db"), "{}", outcome.stderr);
    }
    assert_eq!(fs::read(bench.path("theirs.db")).unwrap(), content);
    assert_eq!(bench.names("."), ["theirs.db"], "no results, no files beside it");
}

#[test]
fn a_closed_loop_on_a_full_disk_is_no_figure() {
    let bench = Workbench::new();
    let short = ["--rate", "max", "--warm-up", "0s", "--duration", "5s"];
    let document = bench.run(&historian("fake:?append=10ms&room=9000", &short)).ended_with(5).json();
    let trial = &document["trials"][0];
    assert_eq!(trial["state"], "invalid");
    let reason = trial["reason"].as_str().unwrap();
    assert!(reason.contains("could not write all records") && reason.contains("full"), "{reason}");
    // The tags take 5,000 rows of the room, and a mark one: 99 flushes of 40 rows fit.
    assert_eq!(trial["historian"]["rows_found"], 3_960);
    assert!(trial["historian"]["abandoned"].as_u64().unwrap() > 0);
}

#[test]
fn a_kept_database_is_taken_up_only_when_asked() {
    let bench = Workbench::new();
    let short = ["--rate", "200", "--warm-up", "0s", "--duration", "1s", "--keep", "--results", "first"];
    bench.run(&historian("sqlite:h.db", &short)).ended_with(4);
    bench.run(&historian("sqlite:h.db", &short)).ended_with(2).says("--reuse");
    let again = ["--rate", "200", "--warm-up", "0s", "--duration", "1s", "--reuse"];
    let document = bench.run(&historian("sqlite:h.db", &again)).json();
    assert_eq!(document["trials"][0]["setup"]["rows_before"], 200);
    assert!(bench.path("h.db").exists(), "what was there before stays");
    bench.run(&historian("sqlite:h.db", &["--reuse", "--find-max"])).ended_with(2).says("--reuse");
}

#[test]
fn what_a_killed_check_leaves_is_taken_away_by_the_next() {
    let bench = Workbench::new();
    let mut arguments = vec!["check", "--duration", "1s", "--file-size", "16MiB"];
    let mut run = Running::start(&bench, &arguments);
    let database = bench.path("prony-check.sqlite");
    run.wait_until("the database", || database.exists());
    run.send(Signal::KILL);
    run.ended();
    assert!(database.exists());
    arguments.extend(["--results", "second"]);
    bench.run(&arguments).ended_with(0);
    assert!(!database.exists());
}

#[test]
fn a_recording_is_replayed_with_all_of_its_events() {
    let bench = Workbench::new();
    let mut text = "time,tag,value\n".to_owned();
    for second in 0..20 {
        // Two changes of one tag at one time are two rows.
        text += &format!(
            "2026-01-01T00:00:{second:02}Z,BOILER.FT101,1.5\n2026-01-01T00:00:{second:02}Z,BOILER.FT101,2\n"
        );
    }
    bench.write("plant.csv", text);
    let source = [
        "--source",
        "csv:plant.csv",
        "--speed",
        "20",
        "--screens",
        "0",
        "--warm-up",
        "0s",
        "--duration",
        "2s",
    ];
    let document = bench.run(&historian("sqlite:h.db", &source)).json();
    let figures = figures(&document);
    assert_eq!((&figures["acknowledged"], &figures["rows_found"]), (&40.into(), &40.into()), "{figures:#}");
}

/// It was "not held", at 0 records/s, though each of its rows was written and found.
#[test]
fn a_recording_of_local_times_out_of_order_is_replayed_whole() {
    let bench = Workbench::new();
    let mut text = "Wert;Was;Wann\n".to_owned();
    for second in [12, 13, 14, 15, 16, 17, 18, 19, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11] {
        text += &format!("1,5;FT101;2026-01-01 00:00:{second:02}\n;FT101;2026-01-01 00:00:{second:02}\n");
    }
    bench.write("plant.csv", text);
    let no_zone = ["--source", "csv:plant.csv", "--columns", "time=Wann,tag=Was,value=Wert"];
    bench
        .run(&historian("sqlite:h.db", &no_zone))
        .ended_with(2)
        .says("with --time-zone, such as Europe/Berlin");
    let mut all = no_zone.to_vec();
    all.extend(["--time-zone", "-05:00", "--speed", "10", "--screens", "0", "--warm-up", "0s"]);
    let document = bench.run(&historian("sqlite:h.db", &all)).json();
    let figures = figures(&document);
    // Too short to be judged, at one record each tenth of a second.
    assert_ne!(figures["stable"], false, "{figures:#}");
    assert_eq!((&figures["acknowledged"], &figures["rows_found"]), (&20.into(), &20.into()), "{figures:#}");
    let whole = document.to_string();
    for text in
        ["12 of its 20 events", "20 lines have no value", "read as decimal commas; the first is in line 2"]
    {
        assert!(whole.contains(text), "{text}: {document:#}");
    }
    let study = fs::read_to_string(bench.results().unwrap().join("study.toml")).unwrap();
    assert!(study.contains("time_zone = \"-05:00\"") && study.contains("tag=Was"), "{study}");
}

#[test]
fn mistakes_name_the_place_the_value_and_the_remedy() {
    let bench = Workbench::new();
    // What is not there is no wrong argument.
    bench
        .run(&["historian", "--target", "postgres://127.0.0.1:1/postgres"])
        .ended_with(1)
        .says("127.0.0.1:1");
    for (arguments, texts) in [
        (&["--target", "oracle://db"][..], &["oracle", "postgres://"][..]),
        (&["--target", "sqlite:h.db", "--batch-rows", "0"], &["--batch-rows: ", "1 to"]),
        (&["--target", "sqlite:h.db", "--rate", "fast"], &["fast", "max"]),
        (&["--target", "sqlite:h.db", "--find-max", "--rate", "10"], &["rate", "--find-max"]),
        (
            &["--target", "sqlite:h.db", "--find-max", "--duration", "1s"],
            &["--duration: cannot be 1s in a search: a step needs at least 3s"],
        ),
        (&["--target", "sqlite:h.db", "--source", "counters", "--rate", "10"], &["--tags"]),
        (&["--target", "sqlite:h.db", "--partition", "1h"], &["partition", "no partitions"]),
        (&["--target", "sqlite:h.db", "--rate", "10", "--shrink"], &["--shrink: ", "maintenance_interval"]),
        (&["--target", "sqlite:h.db", "--database", "x"], &["--database"]),
        (&["--target", "sqlite:no/such/place/h.db"], &["no/such/place"]),
        (&["--target", "sqlite:h.db", "--source", "csv:missing.csv"], &["missing.csv"]),
    ] {
        let mut all = vec!["historian"];
        all.extend_from_slice(arguments);
        let mut outcome = bench.run(&all);
        for text in texts {
            outcome = outcome.says(text);
        }
        assert!(matches!(outcome.code, Some(2)), "{arguments:?}: {outcome:?}");
        assert_eq!(bench.names("."), [""; 0], "{arguments:?} leaves nothing");
    }
}

#[test]
fn a_plan_says_what_would_be_written_and_touches_nothing() {
    let bench = Workbench::new();
    let plan = bench.run(&["plan", "historian", "--target", "sqlite:h.db", "--rate", "5100"]).ended_with(0);
    assert!(plan.stdout.contains("612,000 records to h.db"), "{}", plan.stdout);
    let search =
        bench.run(&["plan", "historian", "--target", "postgres://me:secret@db/postgres", "--find-max"]);
    assert!(search.stdout.contains("a search on postgres://me@db"), "{}", search.stdout);
    assert!(!search.stdout.contains("secret"), "{}", search.stdout);
    assert_eq!(bench.names("."), [""; 0]);
}

/// A replay of ten seconds was planned as two minutes at any rate, and a PLC's as `max`.
#[test]
fn a_plan_of_a_recording_or_a_plc_tells_their_own_length_and_rate() {
    let bench = Workbench::new();
    let text: String =
        (0..=100).map(|second| format!("{},A,1\n", 1_700_000_000 + second).repeat(4)).collect();
    bench.write("plant.csv", text);
    let plan = |source: &[&str]| {
        let mut arguments = vec!["plan", "historian", "--target", "sqlite:h.db"];
        arguments.extend_from_slice(source);
        bench.run(&arguments).ended_with(0).stdout
    };
    let told = plan(&["--source", "csv:plant.csv", "--speed", "10"]);
    for text in ["Time: about 12 s (10 s of load", "Writes: 404 records to h.db", "40.4/s"] {
        assert!(told.contains(text), "{text}: {told}");
    }
    let modbus = ["--source", "modbus://127.0.0.1:1", "--tags", "500", "--poll-interval", "500ms"];
    let told = plan(&modbus);
    for text in
        ["Time: about 2 min 2 s (2 min of load", "Writes: at most 120,000 records to h.db", "≤ 1000/s"]
    {
        assert!(told.contains(text), "{text}: {told}");
    }
    let reused = plan(&["--rate", "10", "--reuse"]);
    assert!(reused.contains("kept if it exists already"), "{reused}");
    assert_eq!(bench.names("."), ["plant.csv"]);
}

/// "writes 15 rows into mine.db, which is removed at the end" stood above the refusal to touch it.
#[test]
fn a_database_that_is_refused_is_refused_before_anything_is_announced() {
    let bench = Workbench::new();
    let mine = bench.foreign("mine.db", 1);
    for command in [&["historian"][..], &["plan", "historian"]] {
        let mut arguments = command.to_vec();
        arguments.extend(["--target", "sqlite:mine.db", "--rate", "10", "--duration", "1s"]);
        let outcome =
            bench.run(&arguments).ended_with(2).says("mine.db was not created by prony and is left as it is");
        for text in [&outcome.stdout, &outcome.stderr] {
            assert!(!text.contains("deleted at the end"), "{text}");
        }
        assert_eq!(bench.names("."), ["mine.db"], "{command:?} leaves nothing");
    }
    assert_eq!(fs::read(bench.path("mine.db")).unwrap(), mine);
    let kept = ["historian", "--target", "sqlite:h.db", "--rate", "10", "--duration", "1s", "--screens", "0"];
    bench.run(&[&kept[..], &["--keep"]].concat());
    let outcome =
        bench.run(&kept).ended_with(2).says("h.db exists from an earlier run of prony").says("--reuse");
    assert!(!outcome.stderr.contains("deleted at the end"), "{}", outcome.stderr);
}

#[test]
fn a_password_is_nowhere_in_the_results() {
    let bench = Workbench::new();
    let server = crate::servers::postgres();
    assert!(server.url().contains(":secret@"), "{}", server.url());
    let target = format!("--target={}", server.url());
    let short = [
        "historian",
        &target,
        "--rate",
        "100",
        "--warm-up",
        "0s",
        "--duration",
        "1s",
        "--database",
        "passwordless",
    ];
    let outcome = bench.run(&short).ended_with(4);
    let mut looked_at = 0;
    let mut directories = vec![bench.results().unwrap()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
                continue;
            }
            let content = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
            assert!(!content.contains("secret"), "{}", path.display());
            looked_at += 1;
        }
    }
    assert!(looked_at > 5 && !outcome.stdout.contains("secret") && !outcome.stderr.contains("secret"));
}

#[test]
fn a_refused_login_and_a_missing_database_are_told_apart() {
    let bench = Workbench::new();
    for url in [crate::servers::postgres().url(), crate::servers::mariadb().url()] {
        let refused = url.replace(":secret@", ":wrong@");
        let outcome = bench.run(&["historian", "--target", &refused]).ended_with(2);
        assert!(
            !outcome.stderr.contains("wrong@") && outcome.stderr.contains("127.0.0.1"),
            "{}",
            outcome.stderr
        );
        let (server, _) = url.rsplit_once('/').unwrap();
        let missing = format!("{server}/no_such_database");
        bench.run(&["historian", "--target", &missing]).ended_with(2).says("no_such_database");
    }
}

/// A refused connection was exit code 2, and a database of somebody else's was announced as about to be removed.
#[test]
fn what_a_server_refuses_is_found_before_anything_is_announced() {
    let bench = Workbench::new();
    bench.write("s.toml", "blocks = 1\n[workload.historian]\nrate = 100\nduration = \"1s\"\n");
    let commands = |url: &str, name: &str| {
        let set = ["--set".to_owned(), format!("target.database={{ at = \"{url}\", name = \"{name}\" }}")];
        let given = ["--target", url, "--database", name].map(str::to_owned);
        let with = |words: &str, options: &[String]| {
            words.split(' ').map(str::to_owned).chain(options.iter().cloned()).collect::<Vec<_>>()
        };
        [
            with("historian", &given),
            with("orders load", &given),
            with("orders run", &given),
            with("study run s.toml", &set),
        ]
    };
    let run = |arguments: &[String]| bench.run(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    let silent = |outcome: &crate::workbench::Outcome| {
        assert!(
            !outcome.stderr.contains("writes") && outcome.stderr.starts_with("error: "),
            "{}",
            outcome.stderr
        );
        assert!(outcome.stderr.lines().count() == 1 && bench.results().is_none(), "{}", outcome.stderr);
    };
    // A port that was somebody's a moment ago.
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    for (url, engine) in
        [(crate::servers::postgres().url(), "postgres"), (crate::servers::mariadb().url(), "mysql")]
    {
        let nobody = format!("{engine}://root:secret@127.0.0.1:{closed}/postgres");
        commands(&nobody, "prony_x").iter().for_each(|arguments| silent(&run(arguments).ended_with(1)));
        let foreign = url.rsplit_once('/').unwrap().1;
        commands(&url, foreign).iter().for_each(|arguments| {
            let outcome = run(arguments).ended_with(2).says("was not created by prony");
            silent(&outcome);
        });
        let wrong = url.replace(":secret@", ":wrong@");
        commands(&wrong, "prony_x").iter().for_each(|arguments| silent(&run(arguments).ended_with(2)));
        // One of ours from an earlier run, with the ways that this command has.
        let load = &commands(&url, "prony_before")[1];
        let load: Vec<String> = load.iter().cloned().chain(["--size".to_owned(), "1MB".to_owned()]).collect();
        run(&load).ended_with(0);
        let again = run(&load)
            .ended_with(2)
            .says("from an earlier run of prony: replace it with --replace, or delete");
        silent(&again);
        let historian = run(&commands(&url, "prony_before")[0]).ended_with(2);
        silent(&historian.says("contains order data of size 1MB and cannot hold anything else"));
    }
}

#[test]
fn a_server_that_is_killed_in_the_middle_loses_nothing_that_it_acknowledged() {
    let bench = Workbench::new();
    let mut server = instance::Postgres::start(&instance::Options::default()).unwrap();
    let url = server.url();
    let load = [
        "--rate",
        "2000",
        "--warm-up",
        "0s",
        "--duration",
        "8s",
        "--max-buffered-events",
        "200000",
        "--json",
    ];
    let mut arguments = vec!["historian", "--target", &url];
    arguments.extend(load);
    let mut run = Running::start(&bench, &arguments);
    run.wait_for_samples(&bench);
    server.kill().unwrap();
    server.start_again().unwrap();
    let outcome = run.ended();
    assert!(matches!(outcome.code, Some(0 | 3 | 5)), "{outcome:?}");
    let trial = json_file(bench.results().unwrap().join("trials/0001/trial.json"));
    let figures = &trial["outcome"];
    assert!(figures["outages"].as_array().is_some_and(|outages| !outages.is_empty()), "{figures:#}");
    assert!(figures["acknowledged"].as_u64().unwrap() > 2_000, "{figures:#}");
    assert_eq!(figures["rows_found"], figures["rows_expected"], "{figures:#}");
    assert_eq!(figures["acknowledged"], figures["accepted"], "{figures:#}");
    // The database was removed at the end: the next run is not refused.
    let next = [
        "historian",
        "--target",
        &url,
        "--rate",
        "10",
        "--warm-up",
        "0s",
        "--duration",
        "1s",
        "--results",
        "again",
    ];
    bench.run(&next).ended_with(4);
}

#[test]
fn a_plc_is_polled_and_its_changes_are_written() {
    let bench = Workbench::new();
    let plc = ["plc", "--listen", "127.0.0.1:0", "--registers", "300"];
    let mut plc = Running::start(&bench, &plc);
    let source = plc.word_of_line("modbus://");
    let poll = [
        "--tags",
        "300",
        "--poll-interval",
        "500ms",
        "--screens",
        "0",
        "--warm-up",
        "0s",
        "--duration",
        "3s",
    ];
    let mut arguments = historian("sqlite:h.db", &["--source", &source]);
    arguments.extend(poll);
    let document = bench.run(&arguments).json();
    let figures = figures(&document);
    let written = figures["acknowledged"].as_u64().unwrap();
    assert!(written >= 600, "all registers once, and what changed since: {figures:#}");
    assert_eq!(figures["rows_found"], written);
    plc.send(Signal::INT);
    plc.ended().ended_with(0);
}

/// Fifty rows deleted and fifty others doubled left the count as it was: held, and exit code 0.
#[test]
fn rows_that_were_changed_behind_its_back_fail_the_trial() {
    let bench = Workbench::new();
    let short = ["--rate", "500", "--warm-up", "0s", "--duration", "4s", "--screens", "0", "--keep"];
    let mut run = Running::start(&bench, &historian("sqlite:h.db", &short));
    run.wait_for_samples(&bench);
    let database = rusqlite::Connection::open(bench.path("h.db")).unwrap();
    database.busy_timeout(std::time::Duration::from_secs(60)).unwrap();
    let edits = "DELETE FROM samples WHERE rowid IN (SELECT rowid FROM samples ORDER BY rowid LIMIT 50);
        INSERT INTO samples SELECT * FROM (SELECT * FROM samples ORDER BY rowid LIMIT 50)";
    database.execute_batch(edits).unwrap();
    let document = run.ended().ended_with(1).json();
    let trial = &document["trials"][0];
    assert_eq!(trial["state"], "failed", "{trial:#}");
    let figures = figures(&document);
    assert_eq!(figures["rows_found"], figures["rows_expected"], "the counts agree");
    let compared = &figures["rows_compared"];
    assert_eq!((&compared["missing"], &compared["doubled"]), (&50.into(), &50.into()), "{compared:#}");
    let reason = trial["reason"].as_str().unwrap();
    assert!(
        reason.starts_with("50 of 2000 acknowledged rows are not in the database, 50 rows are there"),
        "{reason}"
    );
    assert!(says(&document, "rows_lost"));
}
