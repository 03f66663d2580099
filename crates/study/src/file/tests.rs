//! Study files as users write them, right and wrong.

use super::*;
use crate::study::Order;
use crate::{Pristine, Server};

const FLUSH_ROWS: &str = r#"
title = "Rows buffered before a flush"
blocks = 8
order = "abba"
thresholds = ["p99_ms < 20", "gain > 5% at flush_rows = 1000"]

[workload.historian]
rate = 5100
duration = "2m"

[target]
database = "sqlite:$data/historian.db"

[places.data]
what = "a directory on the disk that is to hold the database"

[[axis]]
key = "workload.historian.flush_rows"
levels = [10, 40, 100, 1000]
reference = 40

[quick_look]
blocks = 2
workload.historian.duration = "20s"
"#;

fn file(text: &str) -> StudyFile<'_> {
    StudyFile { name: "flush-rows", text, ..StudyFile::default() }
}

fn places(place: &str) -> BTreeMap<String, String> {
    BTreeMap::from([("data".to_owned(), place.to_owned())])
}

#[track_caller]
fn told(text: &str, expected: &[&str]) {
    let mistakes: Vec<String> = file(text).study().unwrap_err().iter().map(ToString::to_string).collect();
    assert_eq!(mistakes, expected);
}

#[test]
fn a_study_file_is_read_with_its_places() {
    let study = StudyFile { places: places("/mnt/raid"), ..file(FLUSH_ROWS) }.study().unwrap();
    assert_eq!((study.slug.as_str(), study.blocks, study.order), ("flush-rows", 8, Order::Abba));
    assert_eq!(study.target.database[0].url().unwrap().to_string(), "sqlite:/mnt/raid/historian.db");
    assert_eq!(study.axis[0].reference, Some(Value::from(40)));
    assert!(!study.quick);
    let plan = Plan::of(&study).unwrap();
    assert_eq!(plan.trials.len(), 8 * 5, "four levels and the reference again");
    assert_eq!(Study::from_toml(&study.to_toml().unwrap()).unwrap(), study);
}

#[test]
fn a_quick_look_and_the_command_line_are_laid_over_the_file() {
    let quick = StudyFile { quick: true, places: places("/x"), ..file(FLUSH_ROWS) };
    let study = quick.study().unwrap();
    assert_eq!((study.quick, study.blocks), (true, 2));
    assert_eq!(study.workload.historian.as_ref().unwrap().duration, Some(load::Span::seconds(20)));
    let set = vec![
        ("blocks".to_owned(), Value::from(3)),
        ("workload.historian.writers".to_owned(), Value::from(2)),
        ("workload.historian.flush_rows".to_owned(), Value::from(1000)),
    ];
    let study = StudyFile { set, ..quick }.study().unwrap();
    assert_eq!(study.blocks, 3);
    assert_eq!(study.workload.historian.as_ref().unwrap().writers, Some(2));
    assert_eq!(study.axis[0].levels, [Value::from(1000)], "a value for an axis narrows it");
}

#[test]
fn a_quick_look_of_its_own_is_found_where_the_file_has_none() {
    let text = "axis = [{ key = \"workload.disk.outstanding\", levels = [1, 8] }]\ncool_down = \"1m\"\n[target]\npaths = [\"/\"]";
    let study = StudyFile { quick: true, ..file(text) }.study().unwrap();
    assert_eq!((study.blocks, study.cool_down), (2, load::Span::ZERO));
    assert!(Plan::of(&study).unwrap().duration().as_seconds() <= 10.0);
    let historian = "[workload.historian]\nrate = 10\nduration = \"1h\"\n[target]\nurl = \"sqlite:x\"";
    let study = StudyFile { quick: true, ..file(historian) }.study().unwrap();
    assert_eq!(study.workload.disk, None);
}

#[test]
fn all_mistakes_of_a_file_are_told_at_once_with_their_lines() {
    told(
        r#"titel = "x"
blocks = "many"
order = "random"
thresholds = ["p99_ms < fast"]

[workload.disk]
blok_size = "8KiB"
block_size = "8 apples"
read_share = 110
threads = 2

[target]
path = "/data"

[[axis]]
key = "workload.disk.outstanding"
levels = []

[[axis]]
key = "workload.disk.thread"
levels = [1]

[[axis]]
levels = [1]

[quick_look]
blockz = 1
"#,
        &[
            "line 1: titel: unknown key. Did you mean `title`?",
            "line 2: blocks: invalid value \"many\": must be a whole number, 0 or more",
            "line 3: order: invalid value \"random\": must be \"blocks\", \"abba\", \"given\" or \"repeats\"",
            "line 4: thresholds[1]: `p99_ms < fast` is not a threshold: use METRIC, one of < <= > >=, and a number: \
             \"p99_ms < 20\" or \"gain > 5%\"",
            "line 7: workload.disk.blok_size: unknown key. Did you mean `block_size`?",
            "line 8: workload.disk.block_size: `8 apples` is not a size: use a number with KiB, MiB, GiB, TiB (powers of 1024, also \
            K, M, G, T) or KB, MB, GB, TB",
            "line 9: workload.disk.read_share: invalid value 110: must be 0 to 100 per cent",
            "line 13: target.path: unknown key. Did you mean `paths`?",
            "line 16: workload.disk.outstanding: the axis has no levels. Give at least one",
            "line 20: workload.disk.thread: unknown key. Did you mean `threads`?",
            "line 23: axis[3].key: missing",
            "line 27: blockz: unknown key. Did you mean `blocks`?",
        ],
    );
}

#[test]
fn what_is_no_toml_is_told_with_its_line() {
    let mistakes = file("title = \"x\"\nblocks = = 3\n").study().unwrap_err();
    assert_eq!(mistakes[0].line, Some(2), "{mistakes:?}");
}

#[test]
fn places_that_are_missing_or_unknown_are_told() {
    told(
        FLUSH_ROWS,
        &[
            "line 14: places.data: missing. Give a directory on the disk that is to hold the database with --location data=PATH_OR_URL",
        ],
    );
    let given = BTreeMap::from([("data".to_owned(), "/x".to_owned()), ("log".to_owned(), "/y".to_owned())]);
    let mistakes = StudyFile { places: given, ..file(FLUSH_ROWS) }.study().unwrap_err();
    assert_eq!(mistakes[0].to_string(), "--location log: not a location of this study (it has data)");
}

#[test]
fn a_place_stands_at_the_begin_of_a_path_alone() {
    let filled = |text: &str| {
        let mut text = text.to_owned();
        super::places::fill_in(&mut text, "$data", "/mnt");
        text
    };
    assert_eq!(filled("$data"), "/mnt");
    assert_eq!(filled("$data/pg"), "/mnt/pg");
    assert_eq!(filled("sqlite:$data/x.db"), "sqlite:/mnt/x.db");
    assert_eq!(filled("$database"), "$database");
    assert_eq!(filled("/x/$data"), "/x/$data");
}

/// More is said of a database that the file names by its place alone.
#[test]
fn a_layer_says_more_of_a_database() {
    let text = "workload.historian.rate = 1\ntarget.database = \"sqlite:/x\"\nquick_look.target.database.keep = true";
    let set = vec![("target.database.existing".to_owned(), Value::from("leftover"))];
    let study = StudyFile { quick: true, set, ..file(text) }.study().unwrap();
    let database = &study.target.database[0];
    assert_eq!(database.url().unwrap().to_string(), "sqlite:/x");
    assert_eq!((database.existing, database.keep), (Some(database::Existing::Leftover), Some(true)));
}

#[test]
fn the_examples_of_the_pages_are_studies() {
    let manual = include_str!("../../../../docs/study-file.md");
    for (page, number) in [(manual, 5), (include_str!("../../../../docs/first-questions.md"), 1)] {
        let examples: Vec<&str> =
            page.split("```toml").skip(1).filter_map(|rest| rest.split("```").next()).collect();
        assert_eq!(examples.len(), number);
        for example in examples {
            let study = file(example).study().unwrap();
            Plan::of(&study).unwrap();
        }
    }
    let (_, started) = manual.split_once("```toml\ntitle = \"Orders by the memory").unwrap();
    let started = format!("title = \"Orders by the memory{}", started.split("```").next().unwrap());
    let plan = Plan::of(&file(&started).study().unwrap()).unwrap();
    let servers = plan.databases().into_iter().filter_map(|(database, _)| database.server);
    let memories: std::collections::BTreeSet<u64> =
        servers.map(|server| server.server.memory.unwrap().0).collect();
    // The reference is measured twice in each of six blocks.
    assert_eq!(plan.trials.len(), 24);
    assert!(memories.iter().all(|bytes| [512 << 20, 1 << 30, 2 << 30].contains(bytes)), "{memories:?}");
    for metric in record::METRICS {
        assert!(manual.contains(&format!("`{}`", metric.name)), "{} is not in the manual", metric.name);
    }
}

#[test]
fn published_studies_are_studies_at_full_size_and_quick() {
    for published in crate::PUBLISHED_STUDIES {
        for quick in [false, true] {
            let places = [
                "data",
                "device",
                "striped",
                "second",
                "blocks_4k",
                "blocks_64k",
                "hdd",
                "ssd",
                "disk",
                "flash",
            ]
            .into_iter()
            .chain(["disk_a", "disk_b", "array", "cached_array", "fast_disk", "fast_array"])
            .chain(["s512_b4k", "s512_b8k", "s512_b64k", "s4k_b4k", "s4k_b8k", "s4k_b64k"])
            .map(|name| (name, format!("/{name}")));
            let server = ("server", "postgres://me@localhost/postgres".to_owned());
            let all: Vec<(&str, String)> = places.into_iter().chain([server]).collect();
            // A place with a default is left to it.
            let asked = |name: &str| {
                let place = published.file.split_once(&format!("[places.{name}]"));
                place.is_some_and(|(_, rest)| !rest.split("\n[").next().unwrap().contains("default = "))
            };
            let places =
                all.into_iter().filter(|(name, _)| asked(name)).map(|(name, place)| (name.to_owned(), place));
            let file = StudyFile {
                name: published.name,
                text: published.file,
                quick,
                places: places.collect(),
                ..StudyFile::default()
            };
            let study = file.study().unwrap_or_else(|mistakes| panic!("{}: {mistakes:?}", published.name));
            let plan = Plan::of(&study).unwrap();
            let design = plan.design.unwrap();
            let known = |figure: &record::PublishedFigure| {
                plan.trials
                    .iter()
                    .any(|trial| figure.is_of(&trial.planned.configuration, &trial.planned.levels))
            };
            let figures = design.published.unwrap().figures;
            assert!(figures.iter().all(known), "{}: a published figure is of no combination", published.name);
            assert!(quick || study.blocks >= 6, "{} claims something", published.name);
        }
        assert!(!published.answers().is_empty());
    }
}

#[test]
fn studies_of_availability_break_something_twenty_times_on_servers_that_are_made_anew() {
    for ready in crate::AVAILABILITY_STUDIES.iter().chain(crate::ReadyStudy::named("r630-availability")) {
        for quick in [false, true] {
            let asked = |name: &str| ready.file.contains(&format!("[places.{name}]"));
            let places = ["data", "one", "two"].into_iter().filter(|name| asked(name));
            let places = places.map(|name| (name.to_owned(), format!("/{name}"))).collect();
            let file =
                StudyFile { name: ready.name, text: ready.file, quick, places, ..StudyFile::default() };
            let study = file.study().unwrap_or_else(|mistakes| panic!("{}: {mistakes:?}", ready.name));
            let plan = Plan::of(&study).unwrap();
            let servers = || plan.trials.iter().flat_map(|trial| trial.target.server.values());
            let has_pairs = servers().any(|server| server.pair().is_some());
            assert_eq!(
                has_pairs,
                !["availability-single", "availability-power"].contains(&ready.name),
                "{}",
                ready.name
            );
            if ready.name == "availability-synchrony" {
                assert!(servers().all(|server| server.all_faults().is_empty()));
                continue;
            }
            let is_anew = |server: &Server| server.between_trials == Some(Pristine::Recreate);
            assert!(servers().all(is_anew), "{}", ready.name);
            assert!(servers().any(|server| !server.all_faults().is_empty()), "{}", ready.name);
            assert_eq!(study.blocks, if quick { 1 } else { 20 }, "{}", ready.name);
        }
    }
}

/// A published study with servers that run already, and directories of their machines for its volumes.
fn on_sql_server(name: &str, text: &str, quick: bool) -> Plan {
    let servers = ["a", "b", "c", "d"].map(|host| format!("sqlserver://sa@{host}/master"));
    let server = if text.contains("instances") { servers.join(",") } else { servers[0].clone() };
    let dirs = ["data", "hdd", "ssd", "disk_a", "disk_b", "array", "cached_array", "fast_disk", "fast_array"];
    let places = dirs.map(|name| (name, format!("D:\\{name}"))).into_iter();
    let places = places.chain([("server", server), ("restart", "ssh host restart".to_owned())]);
    let asked = |(name, _): &(&str, String)| text.contains(&format!("[places.{name}]"));
    let places = places.filter(asked).map(|(name, place)| (name.to_owned(), place));
    let file = StudyFile { name, text, quick, places: places.collect(), ..StudyFile::default() };
    let study = file.study().unwrap_or_else(|mistakes| panic!("{name}: {mistakes:?}"));
    Plan::of(&study).unwrap()
}

#[test]
fn published_studies_of_databases_run_on_sql_server_by_naming_it() {
    let has_server = |file: &str| file.contains("[places.server]");
    let mut names = Vec::new();
    for published in crate::PUBLISHED_STUDIES.iter().filter(|published| has_server(published.file)) {
        let name = published.name;
        names.push(name);
        for quick in [false, true] {
            let plan = on_sql_server(name, published.file, quick);
            assert!(!plan.databases().is_empty());
            for (database, _) in plan.databases() {
                assert_eq!(database.url.engine(), database::Engine::SqlServer, "{name}");
                assert_eq!(database.server, None, "{name}: nothing is started");
                let is_placed = name == "hds-placement" || name == "r630-hdd-ssd";
                assert!(!is_placed || database.layout.data_dirs[0].starts_with("D:\\"), "{database:?}");
            }
        }
    }
    names.sort_unstable();
    let hds = ["hds-flush-rows", "hds-placement", "hds-real-project"];
    assert_eq!(names[..3], hds);
    assert_eq!(names[3..5], ["primequest-columnstore", "primequest-tables"]);
    assert_eq!(names[5..], ["r630-cycle", "r630-hdd-ssd", "r630-think-time"]);
}

#[test]
fn what_a_configuration_sets_itself_is_not_set_in_silence() {
    let text = "workload.disk.threads = 1\ntarget.paths = [\"/\"]\n[[configuration]]\nname = \"a\"\nworkload.disk.threads = 2\n\
                [[configuration]]\nname = \"b\"\n[[axis]]\nkey = \"workload.disk.outstanding\"\nlevels = [1, 2]\n\
                [[configuration.axis]]\nkey = \"workload.disk.outstanding\"\nlevels = [4]\n";
    let set = |key: &str| {
        let set = vec![(key.to_owned(), Value::from(8))];
        StudyFile { set, ..file(text) }.study()
    };
    let mistakes = set("workload.disk.threads").unwrap_err();
    assert_eq!(
        mistakes[0].to_string(),
        "--set workload.disk.threads: no effect in a, because the file sets another value there. Change the value in the file"
    );
    let narrowed = set("workload.disk.outstanding").unwrap();
    assert_eq!(
        Plan::of(&narrowed)
            .unwrap()
            .trials
            .iter()
            .filter(|trial| trial.planned.levels["outstanding"] == "8")
            .count(),
        14
    );
}

#[test]
fn a_sign_that_stands_for_no_place_is_no_file_name() {
    told(
        "blocks = 1\n[target]\npaths = [\"$dta/x\"]\n[places.data]\nwhat = \"a directory\"\n",
        &["line 2: $dta/x: unknown location. Define it as [places.dta]"],
    );
    told(
        "target.url = \"sqlite:$x\"\nworkload.historian.rate = 1\n",
        &["line 1: sqlite:$x: unknown location. Define it as [places.x]"],
    );
}

#[test]
fn the_level_of_a_published_figure_may_be_a_number() {
    let text = "target.paths = [\"/\"]\naxis = [{ key = \"workload.disk.outstanding\", levels = [1, 8] }]\n\
                [published]\nsource = \"x\"\nfigures = [{ at.outstanding = 8, metric = \"iops\", value = 100 }]\n";
    let figures = file(text).study().unwrap().published.unwrap().figures;
    assert_eq!(figures[0].at["outstanding"], "8");
}

/// Each of five million unknown keys was told after all that was left had been read once more.
#[test]
fn mistakes_are_told_up_to_a_number() {
    let text: String = (0..300_000).map(|number| format!("key{number} = 1\n")).collect();
    let mistakes = file(&text).study().unwrap_err();
    assert_eq!(mistakes.len(), 101);
    assert!(mistakes[100].problem.contains("more than 100 mistakes. Fix these first"));
    let garbage = file(&"= \n".repeat(300_000)).study().unwrap_err();
    assert_eq!(garbage.len(), 101);
    let places: String = (0..2_000).map(|number| format!("p{number}.what = \"x\"\n")).collect();
    told(
        &format!("[target]\npaths = [\"/d\"]\n[places]\n{places}"),
        &["places: 2000 locations exceed the limit of 1000. Use fewer"],
    );
}

/// A database that was given in place of another on the command line was replaced as that one might be.
#[test]
fn what_may_happen_to_a_database_is_not_said_of_another_that_a_layer_gives() {
    let text = "workload.historian.rate = 1\n[target.database]\nat = \"sqlite:/a\"\nexisting = \"replace\"\nkeep = true";
    let database = |text: &str, set: &[(&str, &str)]| {
        let set = set.iter().map(|(key, value)| ((*key).to_owned(), Value::from(*value))).collect();
        let study = StudyFile { set, ..file(text) }.study().unwrap();
        (study.target.database[0].existing, study.target.database[0].keep)
    };
    let replace = Some(database::Existing::Replace);
    assert_eq!(database(text, &[]), (replace, Some(true)));
    assert_eq!(database(text, &[("target.database.at", "sqlite:/a")]), (replace, Some(true)));
    assert_eq!(database(text, &[("target.database.at", "sqlite:/b")]), (None, None));
    let (existing, at) = (("target.database.existing", "replace"), ("target.database.at", "sqlite:/b"));
    assert_eq!(database(text, &[existing, at]), (replace, None));
    assert_eq!(database(text, &[at, existing]), (replace, None));
    let older = "workload.historian.rate = 1\n[target]\nurl = \"sqlite:/a\"\nexisting = \"replace\"";
    assert_eq!(database(older, &[("target.url", "sqlite:/b")]), (None, None));
}

#[test]
fn a_mistake_of_the_command_line_stands_under_what_was_set() {
    let told = |key: &str, value: Value| {
        let text = "workload.disk.threads = 1\ntarget.paths = [\"/\"]";
        let mistakes = StudyFile { set: vec![(key.to_owned(), value)], ..file(text) }.study().unwrap_err();
        mistakes[0].to_string()
    };
    assert!(
        told("workload.disk.read_share", 110.into())
            .starts_with("--set workload.disk.read_share: invalid value 110: must be")
    );
    assert!(told("workload.disk.blocks", 1.into()).starts_with("--set workload.disk.blocks: unknown key"));
    assert!(told("blocks", 0.into()).starts_with("--set blocks: invalid value 0"));
}
