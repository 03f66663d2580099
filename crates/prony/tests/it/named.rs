//! Runs are named, listed and found again.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::workbench::Workbench;

/// Measures in virtual time.
fn measured(bench: &Workbench, options: &[&str]) -> String {
    let own = ["disk", "x", "--engine", "simulated", "--duration", "3s", "--json"];
    bench.run(&[&own, options].concat()).ended_with(0).stdout
}

/// A text on one line. Long paths of a test wrap.
fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<&str>>().join(" ")
}

fn directory(bench: &Workbench, name: &str) -> String {
    let names = bench.names("prony-results");
    let found: Vec<&String> = names.iter().filter(|own| own.ends_with(name)).collect();
    assert_eq!(found.len(), 1, "{names:?}");
    format!("prony-results/{}", found[0])
}

#[test]
fn a_run_is_found_by_its_name_wherever_a_directory_is_an_argument() {
    let bench = Workbench::new();
    let labels = ["--name", "before", "--tag", "disk=nvme", "--tag", "rack=3"];
    let first: serde_json::Value = serde_json::from_str(&measured(&bench, &labels)).unwrap();
    measured(&bench, &["--name", "after"]);
    let path = directory(&bench, "-disk-before");
    assert_eq!((&first["name"], &first["tags"]), (&json!("before"), &json!({"disk": "nvme", "rack": "3"})));
    let absolute = bench.path(&path);
    assert_eq!(first["results"]["directory"], json!(absolute));
    assert_eq!(first["results"]["report"], json!(absolute.join("report.html")));
    assert!(absolute.join("report.html").is_file());

    let by_path = bench.run(&["report", &path]).ended_with(0).stdout;
    let heading = format!("Disk \"before\" (disk=nvme, rack=3): {} on ", bench.path("x").display());
    assert!(by_path.starts_with(&heading), "{by_path}");
    assert_eq!(bench.run(&["report", "before"]).ended_with(0).stdout, by_path);
    assert_eq!(bench.run(&["report", path.split_once('/').unwrap().1]).ended_with(0).stdout, by_path);
    let brief = bench.run_with(&[("PRONY_DETAILS", "false")], &["report", "before"]).ended_with(0).stdout;
    assert!(in_one_line(&brief).starts_with(&heading), "{brief}");
    let latest = bench.run(&["report", "latest", "--json"]).ended_with(0).json();
    assert_eq!(latest["name"], "after");
    let compared = bench.run(&["compare", "before", "after"]).ended_with(4).stdout;
    assert!(
        compared.starts_with("after (started ") && compared.contains(" against before (started "),
        "{compared}"
    );
    assert!(!compared.contains("prony-results"), "{compared}");
    let exported = bench.run(&["export", "before", "latest", "--csv"]).ended_with(0).stdout;
    assert!(exported.contains("-disk-before,1,") && exported.contains("-disk-after,1,"), "{exported}");
    let page = fs::read_to_string(bench.path(&path).join("report.html")).unwrap();
    assert!(page.contains("before (disk=nvme, rack=3)"));
    // Somewhere else.
    fs::rename(bench.path("prony-results"), bench.path("elsewhere")).unwrap();
    bench
        .run(&["report", "before"])
        .ended_with(2)
        .says("no directory or run of this name (searched prony-results)");
    let elsewhere = bench.run(&["report", "before", "--results", "elsewhere"]).ended_with(0).stdout;
    assert_eq!(elsewhere, by_path);
}

#[test]
fn a_path_wins_over_a_name_and_a_name_of_two_runs_names_both() {
    let bench = Workbench::new();
    measured(&bench, &["--name", "twice"]);
    measured(&bench, &["--name", "twice", "--outstanding", "2"]);
    let told = bench.run(&["report", "twice"]).ended_with(2).stderr;
    let names = bench.names("prony-results");
    assert!(told.contains("2 runs have this name. Give the path of one"), "{told}");
    assert!(names.iter().all(|name| told.contains(&format!("prony-results/{name}"))), "{told}\n{names:?}");
    fs::rename(bench.path("prony-results").join(&names[0]), bench.path("twice")).unwrap();
    let by_path = bench.run(&["report", "twice", "--json"]).ended_with(0).json();
    assert_eq!(by_path["results"]["directory"], json!(bench.path("twice")));
    let none = bench.run(&["report", "latest", "--results", "none"]).ended_with(2).stderr;
    assert!(none.contains("none has no runs yet"), "{none}");
    // What cannot be read was said to hold no run yet.
    bench.write("file", "");
    let told = bench.run(&["report", "latest", "--results", "file"]).ended_with(2).stderr;
    assert!(told.contains("file") && told.contains("directory") && !told.contains("yet"), "{told}");
}

#[test]
fn runs_are_listed_with_what_came_of_them_and_damaged_ones_too() {
    let bench = Workbench::new();
    bench.run(&["list"]).ended_with(2).says("no run was stored here");
    measured(&bench, &["--name", "before", "--tag", "disk=nvme"]);
    measured(&bench, &["--name", "cut"]);
    fs::create_dir(bench.path("prony-results/of somebody else")).unwrap();
    let cut = directory(&bench, "-cut");
    let manifest = bench.path(&cut).join("manifest.json");
    fs::write(&manifest, &fs::read(&manifest).unwrap()[..100]).unwrap();

    let text = bench.run(&["list"]).ended_with(0).stdout;
    let before = directory(&bench, "-before");
    for part in ["UTC  before (disk=nvme)  Disk on x\n", &before, &cut, "cannot be read", "IOPS"] {
        assert!(text.contains(part), "{part} is not in:\n{text}");
    }
    assert!(!text.contains("somebody"), "{text}");
    let listed = bench.run(&["list", "--json"]).ended_with(0).json();
    let runs = listed["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2, "{listed}");
    assert_eq!((&runs[0]["name"], &runs[0]["places"]), (&json!("before"), &json!(["x"])));
    assert_eq!((&runs[0]["state"], &runs[0]["tags"]), (&json!("complete"), &json!({"disk": "nvme"})));
    assert_eq!(runs[0]["directory"], json!(bench.path(&before)));
    assert!(runs[1]["error"].as_str().unwrap().contains("manifest.json"), "{listed}");
    bench.run(&["report", "latest"]).ended_with(2).says("cannot be read");

    let filtered =
        bench.run(&["list", "--tag", "disk=nvme"]).ended_with(0).says("1 results directory is unreadable");
    assert!(filtered.stdout.contains("before") && !filtered.stdout.contains("-cut"), "{}", filtered.stdout);
    let none = bench
        .run(&["list", "--tag", "disk=sata"])
        .ended_with(0)
        .says("no run in prony-results has these tags");
    assert_eq!(none.stdout, "");
}

#[test]
fn what_can_be_no_name_or_tag_is_refused_before_anything_is_made() {
    let bench = Workbench::new();
    let simulated = ["disk", "x", "--engine", "simulated"];
    let refused = |options: &[&str]| bench.run(&[&simulated, options].concat()).ended_with(2).stderr;
    for (options, problem) in [
        (&["--name", "../x"][..], "`../x` cannot be a name"),
        (&["--name", "latest"], "it stands for the run that was begun last"),
        (&["--tag", "nvme"], "invalid tag `nvme`: it has no ="),
        (&["--tag", "a=1", "--tag", "a=2"], "the tag a has two values"),
    ] {
        let told = refused(options);
        assert!(told.contains(problem), "{options:?}: {told}");
    }
    for option in ["--name", "--title", "--comment"] {
        bench.run(&["sqlio", "--no-results", option, "x"]).ended_with(2).says("no effect with --no-results");
    }
    bench
        .run(&["sqlio", "--title", "a", "--title", "b"])
        .ended_with(2)
        .says("is given twice; give one title");
    bench.run(&["sqlio", "--name", "a b"]).ended_with(2).says("it has a space");
    assert_eq!(bench.results(), None);
}

const TITLE: &str = "Old <script>controller</script>";
const COMMENT: &str = "Firmware 3.1.\nCache off.";
const BOTH: [&str; 4] = ["--title", TITLE, "--comment", COMMENT];

/// The files of a results directory.
fn files(directory: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()) {
        match entry.is_dir() {
            true => all.extend(files(&entry)),
            false => all.push((entry.clone(), fs::read(&entry).unwrap())),
        }
    }
    all.sort();
    all
}

#[test]
fn a_title_and_a_comment_are_stored_and_shown() {
    let bench = Workbench::new();
    let measured = measured(&bench, &[&["--name", "before"], &BOTH[..]].concat());
    let first: Value = serde_json::from_str(&measured).unwrap();
    assert_eq!((&first["user_title"], &first["comment"]), (&json!(TITLE), &json!(COMMENT)));
    assert_eq!(first["title"], "Disk");
    let stored = bench.path(directory(&bench, "-disk-before"));
    let page = fs::read_to_string(stored.join("report.html")).unwrap();
    let loaded = bench.path("x").display().to_string();
    assert!(page.contains(&format!(
        "<h1>Old &lt;script&gt;controller&lt;/script&gt;</h1><p class=\"meta\">Disk: {loaded} on "
    )));
    assert!(page.contains("<p>Firmware 3.1.</p><p>Cache off.</p>") && !page.contains("<script>controller"));
    for details in ["false", "true"] {
        let text = bench.run_with(&[("PRONY_DETAILS", details)], &["report", "before"]).ended_with(0).stdout;
        assert!(text.starts_with(&format!("{TITLE}\n")), "{text}");
        let heading = format!("{TITLE} Disk \"before\": {loaded} on ");
        assert!(in_one_line(&text).starts_with(&heading), "{text}");
        assert!(text.contains("\nComment        Firmware 3.1.\n               Cache off.\n"), "{text}");
    }
    let listed = bench.run(&["list", "--json"]).ended_with(0).json();
    let run = &listed["runs"][0];
    assert_eq!((&run["user_title"], &run["comment"]), (&json!(TITLE), &json!(COMMENT)));
    assert_eq!(run["title"], "Disk");
    let text = bench.run(&["list"]).ended_with(0).stdout;
    assert!(text.contains(&format!("UTC  before  Disk on x\n    {TITLE}\n    ")), "{text}");

    let sqlio = ["sqlio", "-s1", "-kR", "--title=By SQLIO", "--comment", "Two\nlines", "f"];
    bench.run(&sqlio).ended_with(0);
    let latest = bench.run(&["report", "latest", "--json"]).ended_with(0).json();
    assert_eq!((&latest["user_title"], &latest["comment"]), (&json!("By SQLIO"), &json!("Two\nlines")));
}

#[test]
fn a_study_that_is_resumed_keeps_its_title_and_comment() {
    let bench = Workbench::new();
    let study = "blocks = 1\nbefore = \"test -e ready || test $PRONY_TRIAL -lt 2\"\ntarget.paths = [\"x\"]\n\
                 workload.disk = { engine = \"simulated\", duration = \"2s\" }\n\
                 axis = [{ key = \"workload.disk.outstanding\", levels = [1, 2] }]\n";
    bench.write("study.toml", study);
    bench.run(&[&["study", "run", "study.toml"], &BOTH[..]].concat()).ended_with(1);
    bench.write("ready", "");
    let results = bench.results().unwrap();
    let resumed = bench.run(&["study", "resume", results.to_str().unwrap()]).ended_with(0).stdout;
    assert!(resumed.starts_with(&format!("{TITLE}\n")), "{resumed}");
    let manifest: Value = serde_json::from_slice(&fs::read(results.join("manifest.json")).unwrap()).unwrap();
    assert_eq!((&manifest["user_title"], &manifest["comment"]), (&json!(TITLE), &json!(COMMENT)));
    assert_eq!(manifest["resumed"].as_array().map(Vec::len), Some(1));
}

#[test]
fn other_words_for_one_output_leave_the_results_as_they_are() {
    let bench = Workbench::new();
    measured(&bench, &[&["--name", "before"], &BOTH[..]].concat());
    let stored = bench.path(directory(&bench, "-disk-before"));
    let before = files(&stored);
    let report = |options: &[&str]| bench.run(&[&["report", "before"], options].concat()).ended_with(0);
    let text = report(&["--title", "New", "--summary", "sheet.html", "--markdown", "new.md"]).stdout;
    assert!(text.starts_with("New\nDisk \"before\": ") && text.contains("Firmware 3.1."), "{text}");
    let sheet = fs::read_to_string(bench.path("sheet.html")).unwrap();
    assert!(sheet.contains("<h1>New</h1>") && sheet.contains("<p>Cache off.</p>"), "{sheet}");
    assert!(fs::read_to_string(bench.path("new.md")).unwrap().starts_with("### New\n"));
    let document = report(&["--comment", "Other", "--json"]).json();
    assert_eq!((&document["user_title"], &document["comment"]), (&json!(TITLE), &json!("Other")));
    assert_eq!(files(&stored), before, "nothing was written");
    // What is meant for runs to come gives no older run a wrong title.
    bench.write("config.toml", "[default]\ncomment = \"of the file\"\n");
    let environment = [("PRONY_TITLE", "of the environment")];
    let told = bench.run_with(&environment, &["report", "before", "--json", "--config", "config.toml"]);
    let document = told.ended_with(0).json();
    assert_eq!((&document["user_title"], &document["comment"]), (&json!(TITLE), &json!(COMMENT)));
}

#[test]
fn what_can_be_no_title_or_comment_is_refused_and_not_repeated() {
    let bench = Workbench::new();
    let long = "secret ".repeat(300);
    for command in
        [&["disk", "x", "--engine", "simulated"][..], &["study", "run", "steady"], &["report", "x"]]
    {
        for (option, text, problem) in [
            ("--title", "", "invalid value for '--title <TEXT>': the title is empty"),
            ("--title", "a\nb", "the title has several lines"),
            ("--title", "a\u{1b}[2Jb", "the title has the control character \\x1b; remove it"),
            ("--title", &long, "the title is 2099 bytes long; shorten it to 200 bytes"),
            ("--title", "postgres://me:secret@h/x", "the title has a password in it"),
            ("--comment", "a\tb", "the comment has a tab (\\t); use spaces"),
            ("--comment", &long, "the comment is 2099 bytes long; shorten it to 2000 bytes"),
            ("--comment", "a\npassword=secret", "the comment has a password in it"),
        ] {
            let told = bench.run(&[command, &[option, text]].concat()).ended_with(2).stderr;
            assert!(told.contains(problem) && !told.contains("secret"), "{option} {text:?}: {told}");
        }
    }
    bench.run(&["sqlio", "--title", ""]).ended_with(2).says("--title: the title is empty; give a text");
    bench.write("config.toml", "[disk]\ntitle = \"a\\nb\"\n");
    let told = bench.run(&["disk", "x", "--engine", "simulated", "--config", "config.toml"]).ended_with(2);
    told.says("line 2: ").says("the title has several lines");
    assert_eq!(bench.results(), None);
}
