//! The files: whole, the same from any number of threads, or not there.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::sync::atomic::AtomicU64;

use tempfile::TempDir;

use super::*;

fn store() -> StoreData {
    StoreData::new("2MB".parse().unwrap(), 42)
}

fn generate_in(directory: &Path, threads: usize) -> Result<Vec<CsvFile>, CsvError> {
    generate(&store(), directory, threads, &AtomicBool::new(false), &|_| ())
}

/// Names and contents.
fn contents(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap());
    entries.map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap())).collect()
}

#[test]
fn files_are_the_same_from_any_number_of_threads() {
    let (one, several) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let files = generate_in(one.path(), 1).unwrap();
    assert_eq!(generate_in(several.path(), 5).unwrap().len(), files.len());
    let made = contents(one.path());
    assert!(made == contents(several.path()), "threads make a difference");
    let names: Vec<&str> = made.keys().map(String::as_str).collect();
    let expected = "categories cust_hist customers inventory orderlines orders products";
    let expected: Vec<String> = expected.split(' ').map(|name| format!("{name}.csv")).collect();
    assert_eq!(names, expected);
}

#[test]
fn a_file_has_a_header_and_the_rows_of_its_table() {
    let directory = TempDir::new().unwrap();
    let told = AtomicU64::new(0);
    let progress = |rows| {
        told.fetch_add(rows, Ordering::Relaxed);
    };
    let data = store();
    let files = generate(&data, directory.path(), 2, &AtomicBool::new(false), &progress).unwrap();
    let lines = data.count(1, &AtomicBool::new(false)).unwrap().lines;
    for (table, file) in StoreTable::ALL.into_iter().zip(&files) {
        assert_eq!(file.path, directory.path().join(file_name(table)));
        assert_eq!(fs::metadata(&file.path).unwrap().len(), file.bytes);
        let mut reader = csv::Reader::from_path(&file.path).unwrap();
        let columns: Vec<&str> = table.table().columns.iter().map(|column| column.name).collect();
        assert_eq!(reader.headers().unwrap(), columns);
        let rows = reader.records().map(Result::unwrap).count() as u64;
        let has_lines = matches!(table, StoreTable::OrderLines | StoreTable::CustHist);
        let expected = if has_lines { lines } else { data.expected_rows(table) };
        assert_eq!((file.rows, rows), (expected, expected), "{table:?}");
    }
    let all: u64 = files.iter().map(|file| file.rows).sum();
    assert_eq!(told.into_inner(), all, "each row is told once");
}

#[test]
fn the_estimate_is_within_three_per_cent() {
    for size in ["1MB", "10MB", "30MB"] {
        let data = StoreData::new(size.parse().unwrap(), 7);
        let directory = TempDir::new().unwrap();
        let files = generate(&data, directory.path(), 2, &AtomicBool::new(false), &|_| ()).unwrap();
        let ratio = estimated_bytes(&data) as f64 / files.iter().map(|file| file.bytes).sum::<u64>() as f64;
        assert!((0.97..1.03).contains(&ratio), "{size}: {ratio}");
    }
}

#[test]
fn a_directory_is_made_but_not_its_parent() {
    let bench = TempDir::new().unwrap();
    generate_in(&bench.path().join("new"), 1).unwrap();
    let error = generate_in(&bench.path().join("no/parent"), 1).unwrap_err();
    assert!(error.is_usage() && error.to_string().contains("no: cannot make a directory in it"), "{error}");
    fs::write(bench.path().join("file"), "precious").unwrap();
    assert!(generate_in(&bench.path().join("file"), 1).unwrap_err().is_usage());
    assert_eq!(fs::read(bench.path().join("file")).unwrap(), b"precious");
}

#[test]
fn what_is_there_is_refused_and_kept() {
    let directory = TempDir::new().unwrap();
    fs::write(directory.path().join("orders.csv"), "precious").unwrap();
    let error = generate_in(directory.path(), 1).unwrap_err();
    assert!(
        error.is_usage() && error.to_string().contains("orders.csv is already in the directory; remove it"),
        "{error}"
    );
    assert_eq!(contents(directory.path()), BTreeMap::from([("orders.csv".to_owned(), b"precious".to_vec())]));
    let directory = TempDir::new().unwrap();
    symlink("nowhere", directory.path().join("orders.csv")).unwrap();
    symlink("nowhere", directory.path().join("products.csv")).unwrap();
    let error = generate_in(directory.path(), 1).unwrap_err().to_string();
    assert!(
        error.contains("products.csv, ") && error.contains("are already in the directory; remove them"),
        "{error}"
    );
}

#[test]
fn an_interrupted_run_leaves_nothing() {
    let bench = TempDir::new().unwrap();
    let directory = bench.path().join("new");
    let stop = AtomicBool::new(false);
    // The first piece that was written stops those after it.
    let result = generate(&store(), &directory, 3, &stop, &|_| stop.store(true, Ordering::Relaxed));
    assert!(matches!(result, Err(CsvError::Interrupted)), "{result:?}");
    assert!(!directory.exists());
    let result = generate(&store(), bench.path(), 3, &stop, &|_| ());
    assert!(matches!(result, Err(CsvError::Interrupted)), "{result:?}");
    assert_eq!(contents(bench.path()), BTreeMap::new());
}

/// A file whose name is taken while the others are written is kept, and no file of ours stands beside it.
#[test]
fn a_name_that_was_taken_meanwhile_is_refused() {
    let bench = TempDir::new().unwrap();
    let taken = bench.path().join("customers.csv");
    let progress = |_| fs::write(&taken, "precious").unwrap();
    let result = generate(&store(), bench.path(), 1, &AtomicBool::new(false), &progress);
    assert!(matches!(result, Err(CsvError::Exists(_))), "{result:?}");
    assert_eq!(contents(bench.path()), BTreeMap::from([("customers.csv".to_owned(), b"precious".to_vec())]));
}

/// The last look at the names came before the renames, so that a file made between them was lost. The moment of each name is
/// the moment of its look now.
#[test]
fn a_name_that_was_taken_at_the_last_moment_is_refused() {
    let bench = TempDir::new().unwrap();
    let unfinished = Unfinished::begin(bench.path()).unwrap();
    fs::write(bench.path().join("inventory.csv"), "precious").unwrap();
    let result = unfinished.finish();
    assert!(matches!(result, Err(CsvError::Exists(_))), "{result:?}");
    assert_eq!(contents(bench.path()), BTreeMap::from([("inventory.csv".to_owned(), b"precious".to_vec())]));
}

/// What a run of an older version left, or somebody else's file of such a name, is none of our business.
#[test]
fn files_of_others_are_left_alone() {
    let bench = TempDir::new().unwrap();
    fs::write(bench.path().join("orders.csv.partial"), "precious").unwrap();
    generate_in(bench.path(), 1).unwrap();
    assert_eq!(fs::read(bench.path().join("orders.csv.partial")).unwrap(), b"precious");
}

#[test]
fn a_full_file_system_is_told_as_such() {
    let path = PathBuf::from("/data/orders.csv");
    let full = CsvError::write(&path, 4_096, io::ErrorKind::StorageFull.into());
    let text = full.to_string();
    assert!(text.contains("/data/orders.csv: the file system is full after 4096 bytes"), "{text}");
    assert!(text.contains("‹size›") && !full.is_usage(), "{text}");
    let other = CsvError::write(&path, 4_096, io::ErrorKind::PermissionDenied.into());
    assert!(matches!(other, CsvError::File { .. }), "{other}");
}
