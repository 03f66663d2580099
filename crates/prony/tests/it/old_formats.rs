//! Results directories of formats that were released: what a report says of them stays what it was when they were made.

use std::fs;
use std::path::{Path, PathBuf};

use crate::workbench::Workbench;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../results/fixtures")
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// What is printed of a fixture.
fn reported(name: &str, form: &[&str]) -> String {
    let bench = Workbench::new();
    copy(&fixtures().join(name), &bench.path(name));
    let stdout = bench.run(&[&["report", name], form].concat()).stdout;
    // Where it is copied to differs from run to run.
    stdout.replace(bench.path("").to_str().unwrap(), "/copies/")
}

#[test]
fn what_is_said_of_format_1_stays() {
    for of in ["", "-historian", "-orders", "-search", "-design", "-resumed", "-interrupted"] {
        let name = format!("format-1{of}");
        insta::assert_snapshot!(format!("{name}-text"), reported(&name, &[]));
        insta::assert_snapshot!(format!("{name}-csv"), reported(&name, &["--csv"]));
    }
}

#[test]
fn the_document_of_format_1_stays() {
    for of in ["", "-historian", "-orders"] {
        let name = format!("format-1{of}");
        insta::assert_snapshot!(format!("{name}-json"), reported(&name, &["--json"]));
    }
}

/// The seconds of an old record are those of a new one, with what it had of the machine.
#[test]
fn the_seconds_of_format_1_are_exported() {
    for of in ["", "-historian", "-orders"] {
        let name = format!("format-1{of}");
        let bench = Workbench::new();
        copy(&fixtures().join(&name), &bench.path(&name));
        let table = bench.run(&["export", &name, "--series", "--csv"]).ended_with(0).stdout;
        insta::assert_snapshot!(format!("{name}-series"), table);
    }
}
