//! Each rule finds the mistake that is planted for it, alone, and none finds any in what is well kept.

mod databases;
mod machine;

use std::collections::{BTreeMap, BTreeSet};

use record::{
    Device, Environment, FactRow, InspectedServer, Layout, MountPoint, Reading, Storage, Tuning, Unread,
};

use super::rule::Rule;
use super::{Inspection, Severity, host, mysql, postgres, sqlserver, volume};
use crate::fixture;

/// A mistake: the rule that finds it, and how it is planted.
type Planted = (&'static str, fn(&mut Environment));

const GIB: u64 = 1 << 30;

/// A machine without a server, as somebody keeps it who reads its documentation.
fn well_kept() -> Environment {
    let known = |text: &str| Reading::Known(text.to_owned());
    let mut environment = fixture::study("check", Vec::new()).environment.unwrap();
    environment.cpu.hypervisor = None;
    environment.cpu.governor = known("performance");
    environment.memory.total_bytes = 64 * GIB;
    environment.volumes = BTreeMap::from([
        ("data".to_owned(), volume_on("/data", "nvme0n1")),
        ("log".to_owned(), volume_on("/log", "nvme1n1")),
    ]);
    environment.tuning = Some(Tuning {
        transparent_huge_pages: known("madvise"),
        huge_page_bytes: Reading::Known(2 << 20),
        huge_pages: Reading::Known(20_000),
        swappiness: Reading::Known(1),
        swap_bytes: Reading::Known(4 * GIB),
        overcommit: Reading::Known(2),
        numa_nodes: Reading::Known(2),
        numa_balancing: Reading::Known(0),
        zone_reclaim: Reading::Known(0),
        clock_source: known("tsc"),
        clock_sources: known("tsc hpet acpi_pm"),
        steal_share: Reading::Known(0.0),
    });
    environment
}

fn volume_on(path: &str, device: &str) -> Storage {
    let known = |text: &str| Reading::Known(text.to_owned());
    Storage {
        mount: Reading::Known(MountPoint {
            path: path.to_owned(),
            file_system: "ext4".to_owned(),
            source: format!("/dev/{device}p1"),
            options: "rw,noatime".to_owned(),
            block_bytes: 4096,
            free_bytes: 500 * GIB,
        }),
        device: Reading::Known(Device {
            name: device.to_owned(),
            model: known("Samsung PM9A3"),
            rotational: Reading::Known(false),
            scheduler: known("none"),
            queue_requests: Reading::Known(1023),
            logical_block_bytes: Reading::Known(512),
            physical_block_bytes: Reading::Known(4096),
            write_cache: known("write through"),
            capacity_bytes: Reading::Known(960_197_124_096),
            interface: known("nvme"),
            interface_bytes_per_s: Reading::Known(7_880_000_000),
            raid: None,
        }),
        layout: Some(Layout {
            total_bytes: Some(894 * GIB),
            partition_start_bytes: Some(1 << 20),
            alignment_offset_bytes: Some(0),
            read_ahead_bytes: Some(128 << 10),
            ..Layout::default()
        }),
    }
}

/// Rows of facts: a table's columns, and values row by row.
fn rows(columns: &[&str], values: &[&[&str]]) -> Vec<FactRow> {
    let row = |values: &&[&str]| {
        columns.iter().zip(*values).map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    };
    values.iter().map(row).collect()
}

/// The same machine with a server on it.
fn with_server(engine: &str, version: &str, facts: &[(&str, Vec<FactRow>)]) -> Environment {
    let facts = facts.iter().map(|(table, rows)| ((*table).to_owned(), rows.clone())).collect();
    let lies = |what: &str| (what.to_owned(), if what == "data" { "data" } else { "log" }.to_owned());
    let server = InspectedServer {
        name: format!("{engine}://me@localhost/x"),
        engine: engine.to_owned(),
        version: version.to_owned(),
        here: true,
        volumes: ["data", "log", "binary log"].map(lies).into(),
        facts,
        unread: Vec::new(),
    };
    Environment { inspected: vec![server], ..well_kept() }
}

/// Makes a value of a table another one, in each row of the name; what is not there is added as a row.
fn put(environment: &mut Environment, table: &str, (key, name): (&str, &str), column: &str, value: &str) {
    let rows = environment.inspected[0].facts.entry(table.to_owned()).or_default();
    let is_of = |row: &&mut FactRow| key.is_empty() || row.get(key).is_some_and(|known| known == name);
    let mut changed = false;
    for row in rows.iter_mut().filter(is_of) {
        row.insert(column.to_owned(), value.to_owned());
        changed = true;
    }
    if !changed {
        rows.push(
            [(key, name), (column, value)].map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
        );
    }
}

fn set(environment: &mut Environment, name: &str, value: &str) {
    put(environment, "settings", ("name", name), "value", value);
}

fn tuned(environment: &mut Environment) -> &mut Tuning {
    environment.tuning.as_mut().unwrap()
}

/// The volume of the data.
fn data(environment: &mut Environment) -> &mut Storage {
    environment.volumes.get_mut("data").unwrap()
}

fn mount(environment: &mut Environment) -> &mut MountPoint {
    match &mut data(environment).mount {
        Reading::Known(mount) => mount,
        Reading::Unknown(why) => panic!("{why}"),
    }
}

fn device(environment: &mut Environment) -> &mut Device {
    match &mut data(environment).device {
        Reading::Known(device) => device,
        Reading::Unknown(why) => panic!("{why}"),
    }
}

fn layout(environment: &mut Environment) -> &mut Layout {
    data(environment).layout.as_mut().unwrap()
}

/// All lists of rules.
fn all() -> impl Iterator<Item = &'static [Rule]> {
    [
        host::RULES,
        volume::FILE_SYSTEM,
        volume::DEVICE,
        postgres::SAFETY,
        postgres::MEMORY,
        postgres::LOG,
        postgres::WORK,
        mysql::SAFETY,
        mysql::MEMORY,
        mysql::IO,
        sqlserver::SAFETY,
        sqlserver::RESOURCES,
        sqlserver::FILES,
    ]
    .into_iter()
}

/// Names of what is found.
fn names(environment: &Environment) -> Vec<&'static str> {
    Inspection::of(environment).unwrap().advice.iter().map(|advice| advice.rule).collect()
}

/// Each mistake is found alone, and each rule of the lists has one.
#[track_caller]
fn check(kept: &Environment, lists: &[&[Rule]], planted: &[Planted]) {
    assert_eq!(names(kept), [""; 0], "nothing is found where all is well");
    for (rule, plant) in planted {
        let mut environment = kept.clone();
        plant(&mut environment);
        assert_eq!(names(&environment), [*rule]);
        let inspection = Inspection::of(&environment).unwrap();
        let advice = &inspection.advice[0];
        assert!(!advice.found.is_empty() && !advice.remedy.is_empty(), "{advice:?}");
    }
    let known: BTreeSet<&str> = lists.iter().flat_map(|rules| rules.iter()).map(|rule| rule.name).collect();
    let tested: BTreeSet<&str> = planted.iter().map(|(rule, _)| *rule).collect();
    assert_eq!(known, tested, "a mistake is planted for each rule");
}

#[test]
fn sentences_of_rules_can_be_set_side_by_side() {
    for rule in all().flatten() {
        for text in [rule.why, rule.source] {
            assert!(text.len() > 4 && !text.ends_with('.') && !text.contains("  "), "{}: {text}", rule.name);
        }
        // A page by its title, or a manual page by its section.
        assert!(rule.source.contains(',') || rule.source.ends_with(')'), "{}: {}", rule.name, rule.source);
    }
}

#[test]
fn a_record_of_before_is_not_judged() {
    let environment = fixture::study("check", Vec::new()).environment.unwrap();
    assert_eq!(Inspection::of(&environment), None);
}

#[test]
fn one_mistake_of_two_volumes_on_one_device_is_told_once() {
    let mut environment = well_kept();
    environment.volumes.insert("log".to_owned(), volume_on("/data", "nvme0n1"));
    for name in ["data", "log"] {
        let layout = environment.volumes.get_mut(name).unwrap().layout.as_mut().unwrap();
        layout.read_ahead_bytes = Some(0);
    }
    let inspection = Inspection::of(&environment).unwrap();
    assert_eq!(inspection.advice.len(), 1);
    assert_eq!(inspection.advice[0].of, ["nvme0n1"]);
}

#[test]
fn the_worst_stands_first_and_is_counted() {
    let mut environment = well_kept();
    tuned(&mut environment).swappiness = Reading::Known(60);
    tuned(&mut environment).numa_balancing = Reading::Known(1);
    mount(&mut environment).free_bytes = GIB;
    let inspection = Inspection::of(&environment).unwrap();
    let severities: Vec<Severity> = inspection.advice.iter().map(|advice| advice.severity).collect();
    assert_eq!(severities, Severity::ALL);
    assert_eq!(inspection.worst(), Some(Severity::Danger));
    assert_eq!(inspection.counted(), "one endangers data, one costs performance, one is a note");
}

/// A machine of which much is to be said, and a server that does not tell all.
fn neglected() -> Environment {
    let settings =
        rows(&["name", "value"], &[&["fsync", "off"], &["autovacuum", "off"], &["data_checksums", "off"]]);
    let mut environment = with_server("postgres", "PostgreSQL 15.18", &[("settings", settings)]);
    environment.inspected[0].unread.push(Unread {
        what: "where its files lie".to_owned(),
        because: "permission denied to examine \"data_directory\"".to_owned(),
        grant: Some("GRANT pg_read_all_settings TO me".to_owned()),
    });
    tuned(&mut environment).swappiness = Reading::Known(60);
    device(&mut environment).scheduler = Reading::Known("bfq".to_owned());
    device(&mut environment).write_cache = Reading::Known("write back".to_owned());
    environment
}

#[test]
fn an_inspection_reads_like_this() {
    let inspection = Inspection::of(&neglected()).unwrap();
    insta::assert_snapshot!(inspection.text(Some(80)).as_str());
    let nothing = Inspection::of(&well_kept()).unwrap().text(Some(80));
    insta::assert_snapshot!(nothing.as_str());
}

#[test]
fn a_page_shows_the_worst_and_folds_the_rest() {
    let mut study = fixture::study("check", Vec::new());
    let without = crate::Report::of(&study);
    assert!(!without.html().contains("inspection"), "nothing was read of it");
    study.environment = Some(neglected());
    let report = crate::Report::of(&study);
    let html = report.html();
    let section = html.split("id=\"inspection\"").nth(1).unwrap().split("</section>").next().unwrap();
    let (open, folded) = section.split_once("<details>").unwrap();
    assert_eq!(open.matches("<li class=").count(), 3, "{open}");
    assert!(open.contains("fsync is off") && open.find("danger") < open.find("costs"), "{open}");
    assert!(folded.contains("3 more, and one unknown setting"), "{folded}");
    assert!(folded.contains("GRANT pg_read_all_settings TO me"), "{folded}");
    let brief = report.brief(Some(80));
    let brief = brief.as_str();
    assert!(brief.contains("Settings       one endangers data, 3 cost performance"), "{brief}");
    assert!(brief.lines().count() <= 11, "{brief}");
    assert!(report.text(Some(100)).as_str().contains("do       ALTER SYSTEM SET fsync = on"));
}

#[test]
fn the_document_has_the_advice_and_the_facts_that_it_rests_on() {
    let environment = neglected();
    let document = Inspection::of(&environment).unwrap().json(&environment);
    let document: serde_json::Value = serde_json::from_str(&document).unwrap();
    assert_eq!((document["format"].as_u64(), document["worst"].as_str()), (Some(1), Some("danger")));
    assert_eq!(document["advice"][0]["rule"], "fsync");
    assert_eq!(document["unread"][0]["grant"], "GRANT pg_read_all_settings TO me");
    assert_eq!(document["environment"]["inspected"][0]["facts"]["settings"][0]["name"], "fsync");
}

#[test]
fn the_page_of_rules_lists_all_of_them() {
    let page = include_str!("../../../../../docs/inspect.md");
    for rule in all().flatten() {
        assert!(page.contains(&format!("`{}`", rule.name)), "docs/inspect.md lacks {}", rule.name);
    }
}
