//! Results directories in which, or in whose place, somebody put something else.

use std::fs;
use std::os::unix::fs::{PermissionsExt, lchown};
use std::path::Path;
use std::sync::LazyLock;

use super::scene::{Scene, USER};
use super::{By, ROW, Row, run};
use crate::running::Running;
use crate::workbench::{Workbench, json_file};

/// A study of two trials that touches no disk.
const STUDY: &str = "title = \"Hostile\"\nblocks = 2\n[workload.disk]\nengine = \"null\"\nduration = \"200ms\"\n\
    warm_up = \"0s\"\n[target]\npaths = [\"x\"]\n";
/// What prony may write again in a results directory.
const OURS: &[&str] = &["r/report.html", "r/verdicts.json"];
const RESUMED: &[&str] = &["r/report.html", "r/verdicts.json", "r/manifest.json"];

/// Measured once, copied for each row.
static MEASURED: LazyLock<Workbench> = LazyLock::new(|| {
    let bench = Workbench::new();
    bench.write("s.toml", STUDY);
    bench.run(&["study", "run", "s.toml"]).ended_with(0);
    bench
});

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() { copy(&from, &to) } else { fs::copy(from, to).map(drop).unwrap() }
    }
}

/// Puts the results directory `r` there.
fn results(scene: &Scene) -> bool {
    copy(&MEASURED.results().unwrap(), &scene.path("r"));
    true
}

/// The same, of a study that was killed before its second trial.
fn interrupted(scene: &Scene) -> bool {
    results(scene);
    let mut manifest = json_file(scene.path("r/manifest.json"));
    manifest["state"] = "running".into();
    manifest["working_directory"] = scene.path("").to_str().unwrap().into();
    scene.write("r/manifest.json", manifest.to_string());
    fs::remove_dir_all(scene.path("r/trials/0002")).unwrap();
    true
}

fn replaced_by_link(scene: &Scene, name: &str) {
    scene.write("secret", "title = \"told to everybody\"\n");
    fs::remove_file(scene.path(name)).unwrap();
    scene.link(name, scene.path("secret"));
}

fn replaced_by_fifo(scene: &Scene, name: &str) {
    fs::remove_file(scene.path(name)).unwrap();
    scene.fifo(name);
}

const REPORTS: &[Row] = &[
    Row {
        name: "a report is not written through a link",
        before: |scene| {
            results(scene);
            replaced_by_link(scene, "r/report.html");
            true
        },
        command: "report r",
        ours: OURS_BUT_REPORT,
        code: 1,
        says: "report.html: it is a link",
        ..ROW
    },
    Row {
        name: "what is planted under a temporary name is not followed",
        before: |scene| {
            results(scene);
            scene.write("profile", "precious");
            for name in [".report.html.new", ".verdicts.json.new", ".manifest.json.new"] {
                scene.link(&format!("r/{name}"), scene.path("profile"));
            }
            true
        },
        command: "report r",
        ours: OURS,
        code: 0,
        ..ROW
    },
    Row {
        name: "a FIFO in a report's place is neither waited for nor replaced",
        before: |scene| {
            results(scene);
            replaced_by_fifo(scene, "r/report.html");
            true
        },
        command: "report r",
        ours: OURS_BUT_REPORT,
        code: 1,
        says: "report.html: it is a FIFO",
        ..ROW
    },
    Row {
        name: "a socket in the verdicts' place is not replaced",
        before: |scene| {
            results(scene);
            fs::remove_file(scene.path("r/verdicts.json")).unwrap();
            scene.socket("r/verdicts.json");
            true
        },
        command: "report r",
        code: 1,
        says: "verdicts.json: it is a socket",
        ..ROW
    },
    Row {
        name: "a hard link of a user's file is not written through",
        before: |scene| {
            results(scene);
            scene.write("precious", "precious");
            fs::remove_file(scene.path("r/report.html")).unwrap();
            fs::hard_link(scene.path("precious"), scene.path("r/report.html")).unwrap();
            true
        },
        command: "report r",
        ours: OURS,
        code: 0,
        ..ROW
    },
    Row {
        name: "a study that a link leads to is not told",
        before: |scene| {
            results(scene);
            replaced_by_link(scene, "r/study.toml");
            true
        },
        command: "report r",
        ours: OURS,
        code: 0,
        after: |scene, outcome| {
            let report = fs::read_to_string(scene.path("r/report.html")).unwrap();
            assert!(!report.contains("told to everybody"));
            assert!(outcome.stdout.contains("study.toml cannot be read: it is a link"), "{outcome:?}");
        },
        ..ROW
    },
    Row {
        name: "a manifest that is a FIFO is not waited for",
        before: |scene| {
            results(scene);
            replaced_by_fifo(scene, "r/manifest.json");
            true
        },
        command: "report r",
        says: "manifest.json: it is a FIFO",
        ..ROW
    },
    Row {
        name: "samples that are a FIFO are not waited for",
        before: |scene| {
            results(scene);
            replaced_by_fifo(scene, "r/trials/0001/samples.ndjson");
            true
        },
        command: "report r",
        ours: OURS,
        code: 0,
        ..ROW
    },
    Row {
        name: "an export reads no link and waits for no FIFO",
        before: |scene| {
            results(scene);
            replaced_by_link(scene, "r/environment.json");
            replaced_by_fifo(scene, "r/trials/0001/resources.ndjson");
            true
        },
        command: "export r --csv --output there.csv",
        code: 0,
        says: "environment.json cannot be read: it is a link",
        ..ROW
    },
    Row {
        name: "root writes no report into a directory that a user could change",
        by: &[By::Root],
        before: |scene| {
            results(scene);
            scene.give_away("r");
            true
        },
        command: "report r",
        code: 1,
        says: "it belongs to user 65534",
        ..ROW
    },
    Row {
        name: "root writes no report into a directory that everybody may write to",
        by: &[By::Root],
        before: |scene| {
            results(scene);
            fs::set_permissions(scene.path("r"), fs::Permissions::from_mode(0o777)).unwrap();
            true
        },
        command: "report r",
        code: 1,
        says: "run chmod go-w on it",
        ..ROW
    },
    Row {
        name: "root follows no link of a user to a results directory",
        by: &[By::Root],
        before: |scene| {
            results(scene);
            scene.link("link", "r");
            lchown(scene.path("link"), Some(USER), Some(USER)).unwrap();
            true
        },
        command: "report link",
        says: "was made by user 65534",
        ..ROW
    },
];

const OURS_BUT_REPORT: &[&str] = &["r/verdicts.json"];

const RESUMES: &[Row] = &[
    Row {
        name: "trials that a link leads to are not put aside",
        before: |scene| {
            interrupted(scene);
            fs::remove_dir_all(scene.path("r/trials")).unwrap();
            scene.write("photos/2019/a.jpg", "precious");
            scene.write("photos/0001/b.jpg", "precious");
            scene.link("r/trials", scene.path("photos"));
            true
        },
        command: "study resume r",
        ours: RESUMED,
        code: 1,
        says: "trials: it is a link and no directory",
        ..ROW
    },
    Row {
        name: "a directory of a number that holds no trial is not put aside",
        before: |scene| {
            interrupted(scene);
            scene.write("r/trials/2019/a.jpg", "precious");
            scene.write("r/trials/2020/trial.json", "precious");
            scene.write("r/trials/2020/a.jpg", "precious");
            true
        },
        command: "study resume r",
        // Both trials are of an interrupted study's blocks.
        ours: &["r/report.html", "r/verdicts.json", "r/manifest.json", "r/trials/0001"],
        code: 0,
        ..ROW
    },
    Row {
        name: "a directory that has the name of a trial is not measured into",
        before: |scene| {
            interrupted(scene);
            scene.write("r/trials/0002/a.jpg", "precious");
            true
        },
        command: "study resume r",
        ours: &["r/report.html", "r/verdicts.json", "r/manifest.json", "r/trials/0001"],
        code: 1,
        says: "trials/0002: File exists",
        ..ROW
    },
    Row {
        name: "a directory that cannot be looked into is listed with why",
        by: &[By::User],
        before: |scene| {
            interrupted(scene);
            fs::set_permissions(scene.path("r"), fs::Permissions::from_mode(0o000)).unwrap();
            // Who else could say afterwards that nothing in it was changed?
            crate::mounts::is_root()
        },
        command: "list --results .",
        code: 0,
        after: |scene, outcome| {
            fs::set_permissions(scene.path("r"), fs::Permissions::from_mode(0o755)).unwrap();
            assert!(outcome.stdout.contains("cannot be read"), "{outcome:?}");
            assert!(outcome.stdout.contains("Permission denied"), "{outcome:?}");
        },
        ..ROW
    },
    Row {
        name: "a command in a results directory is shown before it runs",
        before: |scene| {
            interrupted(scene);
            let study = fs::read_to_string(scene.path("r/study.toml")).unwrap();
            scene.write("r/study.toml", format!("before = 'echo harmless'\n{study}"));
            true
        },
        command: "study resume r --quiet",
        ours: &["r/report.html", "r/verdicts.json", "r/manifest.json", "r/trials/0001"],
        code: 0,
        says: "this study runs a command before each trial: \"echo harmless\"",
        ..ROW
    },
    Row {
        name: "root takes up no study that a user could change",
        by: &[By::Root],
        before: |scene| {
            interrupted(scene);
            scene.give_away("r");
            true
        },
        command: "study resume r",
        code: 1,
        says: "it belongs to user 65534",
        ..ROW
    },
];

const RUNS: &[Row] = &[
    Row {
        name: "results take the place of no file",
        before: |scene| {
            scene.write("prony-results", "precious");
            true
        },
        command: "disk x --engine null --duration 200ms --warm-up 0s",
        code: 1,
        says: "something else has this name",
        ..ROW
    },
    Row {
        name: "results wait for no FIFO",
        before: |scene| {
            scene.fifo("prony-results");
            true
        },
        command: "disk x --engine null --duration 200ms --warm-up 0s",
        code: 1,
        says: "something else has this name",
        ..ROW
    },
    Row {
        name: "root is led nowhere by a user's link in the results' place",
        by: &[By::Root],
        before: |scene| {
            scene.write("private/precious", "precious");
            scene.link("prony-results", "private");
            scene.give_away("prony-results");
            // What the link leads to stays root's.
            lchown(scene.path("private"), Some(0), Some(0)).unwrap();
            true
        },
        command: "disk x --engine null --duration 200ms --warm-up 0s",
        code: 1,
        says: "was made by user 65534",
        after: |scene, _| assert_eq!(scene.bench().names("private"), ["precious"]),
        ..ROW
    },
    Row {
        name: "results that are swapped while they are written are written where they were made",
        before: |scene| {
            for name in ["manifest.json", "report.html", "verdicts.json"] {
                scene.write(&format!("private/{name}"), "precious");
            }
            scene.write("prony-results/notes", "precious");
            true
        },
        command: "disk x --engine null --duration 1s --warm-up 0s",
        meanwhile: Some(swap),
        code: 0,
        after: |scene, _| assert!(scene.path("moved/report.html").exists()),
        ..ROW
    },
    Row {
        name: "root makes results of its own in a user's directory",
        by: &[By::Root],
        before: |scene| {
            scene.write("prony-results/notes", "precious");
            scene.give_away("prony-results");
            true
        },
        command: "disk x --engine null --duration 200ms --warm-up 0s",
        code: 0,
        ..ROW
    },
];

/// While the trial runs, its results directory gets another name, and a link gets its own.
fn swap(scene: &Scene, running: &mut Running) {
    let made = || {
        let names = scene.bench().names("prony-results");
        names.into_iter().find(|name| name.ends_with("disk") || name.contains("-null") || name.contains('Z'))
    };
    running.wait_until("a trial", || {
        made().is_some_and(|name| {
            scene.path(&format!("prony-results/{name}/trials/0001/samples.ndjson")).exists()
        })
    });
    let path = scene.path(&format!("prony-results/{}", made().unwrap()));
    fs::rename(&path, scene.path("moved")).unwrap();
    std::os::unix::fs::symlink(scene.path("private"), path).unwrap();
}

#[test]
fn reports_and_exports_touch_nothing_else() {
    run(REPORTS);
}

#[test]
fn a_study_that_is_taken_up_touches_nothing_else() {
    run(RESUMES);
}

#[test]
fn results_of_a_run_touch_nothing_else() {
    run(RUNS);
}
