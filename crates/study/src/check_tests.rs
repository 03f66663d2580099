//! Designs that cannot be.

use crate::plan::Plan;
use crate::study::Study;

/// The mistakes of a study whose target is a directory.
fn mistakes(text: &str) -> String {
    let text = format!("{text}\n[target]\npaths = [\"/data\"]\n");
    Plan::of(&Study::from_toml(&text).unwrap()).map_or_else(|errors| errors.to_string(), |_| String::new())
}

#[track_caller]
fn told(text: &str, expected: &[&str]) {
    let mistakes = mistakes(text);
    assert_eq!(mistakes.lines().count(), expected.len(), "{mistakes}");
    for sentence in expected {
        assert!(mistakes.contains(sentence), "{sentence} is not in:\n{mistakes}");
    }
}

const DEPTHS: &str = r#"{ key = "workload.disk.outstanding", levels = [1, 2] }"#;

#[test]
fn axes_that_cannot_be_are_told() {
    told("axis = [{ key = \"workload.disk.outstanding\", levels = [] }]", &["an axis has no levels"]);
    told(
        "axis = [{ key = \"workload.disk.outstandin\", levels = [1] }]",
        &["there is no such key; did you mean `outstanding`?"],
    );
    told(
        "axis = [{ key = \"workload.disk.outstanding\", levels = [1, \"two\"] }]",
        &["its level two: is \"two\", and must be a whole number from 0 on"],
    );
    told(
        "axis = [{ key = \"blocks\", levels = [1] }]",
        &["is no parameter that can be varied: keys begin with workload.disk."],
    );
    told(
        "axis = [{ key = \"workload.disk.outstanding\", levels = [1, 2, 1], reference = 3 }]",
        &["has the level 1 twice", "its reference 3 is no level of it; levels are 1, 2"],
    );
    told(
        "axis = [{ key = \"workload.disk.outstanding\", levels = [1, 2], names = [\"one\"], reference = \"one\" }]",
        &["has 1 names for 2 levels"],
    );
    told(
        "axis = [{ key = \"workload.disk.outstanding\", levels = [1, 2, 4], names = [\"a\", \"a\", \"b\"] }]",
        &["has the name a twice"],
    );
    told(
        "axis = [{ key = \"workload.disk.read_share\", levels = [10, 10.0] }]",
        &["has the level 10.0 twice"],
    );
    let ten = "levels = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] }";
    let keys = ["outstanding", "threads", "files", "fill_passes", "seed"];
    let axes: Vec<String> =
        keys.iter().map(|key| format!("{{ key = \"workload.disk.{key}\", {ten}")).collect();
    told(&format!("axis = [{}]", axes.join(", ")), &["700000 trials are more than 100000"]);
    told(&format!("axis = [{DEPTHS}, {DEPTHS}]"), &["is the second axis called outstanding"]);
    told(
        "axis = [{ key = \"target.url\", levels = [\"postgres://a:secret@h/x\"] }]",
        &["no address may hold a password"],
    );
}

#[test]
fn configurations_that_cannot_be_are_told() {
    told("reference = \"a\"", &["reference: names a configuration, and the study has none"]);
    told(
        "reference = \"c\"\n[[configuration]]\nname = \"a\"\n[[configuration]]\nname = \"a\"\n[[configuration]]\nname = \"\"",
        &[
            "`c` is no configuration; configurations are a, a, ",
            "is the name of two configurations",
            "is empty",
        ],
    );
    told(
        &format!("[[configuration]]\nname = \"a\"\naxis = [{DEPTHS}]"),
        &["a: has levels of workload.disk.outstanding, which is no axis of the study"],
    );
}

#[test]
fn thresholds_that_cannot_be_are_told() {
    let thresholds = |list: &str| format!("thresholds = [{list}]\naxis = [{DEPTHS}]");
    told(&thresholds(r#""p99_ms < 20", "p99_ms > 30""#), &["contradict each other"]);
    told(
        &thresholds(r#""gain > 5 % at threads = 2""#),
        &["is of an axis threads, which the study does not have"],
    );
    told(
        &thresholds(r#""gain > 5 % at outstanding = 3""#),
        &["3 is no level of outstanding; levels are 1, 2"],
    );
    told(
        &format!("compare = false\n{}", thresholds(r#""gain > 5 %""#)),
        &["`gain > 5 %` is judged only with compare = true"],
    );
    told(
        &thresholds(r#""gain > 5 % at outstanding = 1""#),
        &["is of the reference, which gains nothing over itself"],
    );
    told(&thresholds(r#""p99_ms < 20", "gain > 5 % at outstanding = 2""#), &[]);
}

#[test]
fn rules_of_series_need_an_order() {
    told("latency_tolerance = \"20ms\"", &["latency_tolerance: leaves out what comes later"]);
    told("latency_tolerance = \"20ms\"\norder = \"given\"", &[]);
}

#[test]
fn workloads_of_no_trial_and_blocks_out_of_range_are_told() {
    told("blocks = 0", &["blocks: cannot be 0"]);
    told(
        "[workload.disk]\nthreads = 2\n[workload.historian]\nrate = 10",
        &["workload.disk: is the workload of no trial", "target.url: is missing"],
    );
}

#[test]
fn a_server_that_would_have_to_be_started_is_refused_with_the_remedy() {
    let target = |target: &str| {
        let text = format!("workload.historian.rate = 10\n{target}");
        Plan::of(&Study::from_toml(&text).unwrap()).unwrap_err().to_string()
    };
    let managed = target("[target.postgres]\ndata = \"/data\"\nmemory = \"32GiB\"\ncpus = 4");
    assert!(managed.contains("target.postgres: is understood but cannot be run yet"), "{managed}");
    let two = target("[target]\nurl = \"sqlite:x\"\n[target.postgres]\ndata = \"/data\"");
    assert!(two.contains("and target.postgres are two servers"), "{two}");
    let little = target("[target.mariadb]\nmemory = \"1MiB\"\ncpus = 0.0\nread_iops = 0");
    assert!(
        ["memory", "cpus", "read_iops"]
            .iter()
            .all(|limit| little.contains(&format!("target.mariadb.{limit}"))),
        "{little}"
    );
    let axis = target("axis = [{ key = \"target.postgres.memory\", levels = [\"8GiB\", \"a lot\"] }]");
    assert!(axis.contains("a lot"), "{axis}");
}

#[test]
fn metrics_that_nothing_measures_are_told() {
    told(
        "metric = \"p99ms\"",
        &["metric: `p99ms` is no metric that this study measures; it measures iops, mb_per_s"],
    );
    told("metric = \"records_per_s\"", &["`records_per_s` is no metric"]);
    told("thresholds = [\"trend_p99_ms < 20\"]", &["thresholds: `trend_p99_ms` is no metric"]);
    told("metric = \"p99_ms\"", &[]);
    told(
        "[published]\nsource = \"x\"\nfigures = [{ at.threads = \"1\", metric = \"opm\" }]",
        &["`opm` is no metric", "a figure is of threads, which is no configuration or axis"],
    );
}

#[test]
fn keys_without_effect_are_told() {
    told("compare = false\nmetric = \"iops\"", &["metric: has no effect with compare = false"]);
    told(
        &format!("order = \"repeats\"\nthresholds = [\"gain > 5 %\"]\naxis = [{DEPTHS}]"),
        &["`gain > 5 %` needs another order"],
    );
    told("disk_size = \"1TB\"", &["disk_size: has no effect without a trial of workload.historian"]);
    let own = "{ key = \"workload.disk.outstanding\", levels = [4, 4], reference = 4 }";
    told(
        &format!("axis = [{DEPTHS}]\n[[configuration]]\nname = \"a\"\naxis = [{own}]"),
        &["has the level 4 twice", "is no place for a reference"],
    );
}

#[test]
fn no_level_of_a_target_may_hold_a_password() {
    for levels in [
        "key = \"target.url\", levels = [\"postgres://a:secret@h/x\"]",
        "key = \"target.store\", levels = [[{ url = \"postgres://a:secret@h/x\" }]]",
    ] {
        told(&format!("axis = [{{ {levels} }}]"), &["no address may hold a password"]);
    }
    let own = "{ key = \"target.url\", levels = [\"postgres://a:secret@h/x\"] }";
    told(
        &format!(
            "axis = [{{ key = \"target.url\", levels = [\"sqlite:x\"] }}]\n[[configuration]]\nname = \"a\"\naxis = [{own}]"
        ),
        &["no address may hold a password"],
    );
}

/// A title, a name or a command that held `postgres://user:password@host` was stored and shown as it stood.
#[test]
fn passwords_are_stored_nowhere() {
    const URL: &str = "postgres://me:secret@h/x";
    for (text, place) in [
        (format!("title = \"{URL}\""), "title: holds an address"),
        (format!("slug = \"{URL}\""), "slug: holds"),
        (format!("before = \"psql {URL} -c x\""), "before: holds"),
        (format!("configuration = [{{ name = \"a {URL}\" }}]"), "configuration[1].name: holds"),
        (
            format!("axis = [{{ key = \"workload.disk.outstanding\", levels = [\"{URL}\"] }}]"),
            "outstanding: levels are",
        ),
        (
            format!("axis = [{{ key = \"workload.disk.outstanding\", levels = [1], names = [\"{URL}\"] }}]"),
            "outstanding: levels are",
        ),
    ] {
        let title = if text.starts_with("title") { "" } else { "title = \"t\"\n" };
        let told = mistakes(&format!("{title}{text}"));
        assert!(told.contains(place), "{told}");
        assert!(told.contains("PGPASSWORD or MYSQL_PWD"), "{told}");
    }
    assert_eq!(mistakes("title = \"postgres://me@h/x\"\nblocks = 7"), "");
}

/// A million levels were compared each with each, for minutes.
#[test]
fn lists_that_are_too_long_are_refused_before_anything_is_compared() {
    let numbers = |many: usize| (0..many).map(|number| format!("{number}, ")).collect::<String>();
    let axis = |many: usize| {
        format!(
            "blocks = 1\naxis = [{{ key = \"workload.disk.outstanding\", levels = [{}] }}]",
            numbers(many)
        )
    };
    told(&axis(1_000_000), &["axis.levels: 1000000 levels of an axis are more than 10000: give fewer"]);
    let configurations = "{ name = \"a\" }, ".repeat(20_000);
    told(&format!("configuration = [{configurations}]"), &["20000 configurations are more than 10000"]);
    let thresholds = "\"p99_ms < 20\", ".repeat(2_000);
    told(&format!("thresholds = [{thresholds}]"), &["2000 thresholds are more than 1000"]);
}
