//! Tests of what happens to files on a real file system.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use super::marker::Marker;
use super::*;
use crate::settings::Settings;

fn job(text: &str) -> Job {
    let settings: Settings = serde_json::from_str(text).unwrap();
    Job::of(&settings).unwrap()
}

fn prepare(path: &Path, job: &Job) -> Result<Target, TargetError> {
    Target::prepare(&[path.to_owned()], std::slice::from_ref(job), &AtomicBool::new(false), |_, _| {})
}

fn refusal(path: &Path, job: &Job) -> String {
    prepare(path, job).unwrap_err().to_string()
}

fn names_in(directory: &Path) -> Vec<String> {
    fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn test_files_in_a_directory_have_no_name_and_are_full_of_data() {
    let directory = tempfile::tempdir().unwrap();
    let job = job(r#"{"files": 2, "file_size": "3MiB", "cache": "buffered"}"#);
    let target = prepare(directory.path(), &job).unwrap();
    assert_eq!(names_in(directory.path()), [""; 0], "a killed run leaves nothing behind");
    assert_eq!(target.written(&job), Written::ByUs);
    let file = target.open(1, Access { writes: false, cache: job.cache }).unwrap();
    let mut block = vec![0; 3 << 20];
    file.read_exact_at(&mut block, marker::DATA_BEGIN).unwrap();
    let chunks: std::collections::HashSet<_> = block.chunks(4096).collect();
    assert_eq!(chunks.len(), 768, "every block differs");
}

#[test]
fn a_file_that_is_not_ours_is_read_and_never_written() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("letters.mdf");
    fs::write(&path, vec![7; 1 << 20]).unwrap();
    let reads = job(r#"{"cache": "buffered"}"#);
    let target = prepare(&path, &reads).unwrap();
    assert_eq!(target.written(&reads), Written::AllocatedByOthers);
    assert_eq!(target.regions(&reads).unwrap()[0], Region { file: 0, begin: 0, bytes: 1 << 20 });

    let message = refusal(&path, &job(r#"{"read_share": 0, "cache": "buffered"}"#));
    assert!(
        message.contains("letters.mdf") && message.contains("‹workload.disk.overwrite true›"),
        "{message}"
    );
    assert_eq!(fs::read(&path).unwrap(), vec![7; 1 << 20], "nothing was overwritten");
    assert!(prepare(&path, &job(r#"{"read_share": 0, "overwrite": true, "cache": "buffered"}"#)).is_ok());
}

#[test]
fn holes_that_are_read_are_told() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("sparse");
    let file = fs::File::create(&path).unwrap();
    file.set_len(2 << 20).unwrap();
    file.write_all_at(&[1; 1 << 20], 0).unwrap();
    let job = job(r#"{"cache": "buffered"}"#);
    assert_eq!(prepare(&path, &job).unwrap().written(&job), Written::Holes { bytes: 1 << 20 });
}

#[test]
fn a_named_file_is_made_only_on_request_and_used_again() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("test.dat");
    let writes = r#""read_share": 0, "file_size": "1MiB", "cache": "buffered""#;
    assert!(refusal(&path, &job(&format!("{{{writes}}}"))).contains("does not exist"));
    let created = job(&format!("{{{writes}, \"create\": true}}"));
    drop(prepare(&path, &created).unwrap());
    let size = fs::metadata(&path).unwrap().len();
    assert_eq!(size, marker::DATA_BEGIN + (1 << 20));
    // Once made it is ours, and needs neither flag.
    let target = prepare(&path, &job(&format!("{{{writes}}}"))).unwrap();
    assert_eq!(target.regions(&created).unwrap()[0].begin, marker::DATA_BEGIN);
    assert!(refusal(&path, &created).contains("another prony"), "it is locked while it is used");
}

#[test]
fn a_fill_that_was_cut_off_is_done_again() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("test.dat");
    let job = job(r#"{"file_size": "1MiB", "create": true, "cache": "buffered"}"#);
    drop(prepare(&path, &job).unwrap());
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    Marker { data_bytes: 1 << 20, filled: false }.write(&file).unwrap();
    drop(file);
    let target = prepare(&path, &job).unwrap();
    assert_eq!(target.written(&job), Written::ByUs);
    drop(target);
    assert!(Marker::read(&fs::File::open(&path).unwrap()).unwrap().filled);
}

#[test]
fn an_interrupted_fill_leaves_no_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("test.dat");
    let job = job(r#"{"file_size": "1MiB", "create": true, "cache": "buffered"}"#);
    let stopped = AtomicBool::new(true);
    let result = Target::prepare(&[path], std::slice::from_ref(&job), &stopped, |_, _| {});
    assert!(result.unwrap_err().to_string().contains("interrupted"));
    assert_eq!(names_in(directory.path()), [""; 0]);
}

#[test]
fn what_cannot_be_a_target_is_refused_with_a_remedy() {
    let directory = tempfile::tempdir().unwrap();
    let some = job("{}");
    assert!(refusal(&directory.path().join("missing"), &some).contains("Give a directory"));
    let nested = directory.path().join("no/such/file");
    assert!(refusal(&nested, &job(r#"{"create": true}"#)).contains("Create it first"));
    assert!(refusal(Path::new("/dev/null"), &some).contains("not a directory"));
    let huge = job(r#"{"file_size": "900TiB"}"#);
    assert!(refusal(directory.path(), &huge).contains("file_size"));
}

#[test]
fn a_region_must_fit_into_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let job = job(r#"{"file_size": "1MiB", "region": "1MiB", "offset": "512KiB", "cache": "buffered"}"#);
    let message = refusal(directory.path(), &job);
    assert_eq!(names_in(directory.path()), [""; 0], "nothing was made");
    assert!(
        message.contains("1MiB") && message.contains("512KiB") && message.contains("‹workload.disk.region›"),
        "{message}"
    );
}

#[test]
fn a_full_file_system_is_told_with_a_remedy() {
    let message = super::fill::write_error(Path::new("/data/x"), rustix::io::Errno::NOSPC).to_string();
    assert!(message.contains("/data/x") && message.contains("no space") && message.contains("file_size"));
    let message = super::fill::write_error(Path::new("/data/x"), rustix::io::Errno::FBIG).to_string();
    assert!(message.contains("/data/x") && message.contains("ulimit -f"), "{message}");
}

#[test]
fn a_sparse_file_counts_with_its_holes() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("sparse");
    fs::File::create(&path).unwrap().set_len(15 << 40).unwrap();
    let writes = job(r#"{"read_share": 0, "overwrite": true, "cache": "buffered"}"#);
    assert!(refusal(&path, &writes).contains("stay free"), "writing would fill the file system");
    assert!(prepare(&path, &job(r#"{"cache": "buffered"}"#)).is_ok(), "reading takes no space");
}

#[test]
fn one_file_is_not_named_twice() {
    let directory = tempfile::tempdir().unwrap();
    let (path, link) = (directory.path().join("a"), directory.path().join("b"));
    fs::write(&path, vec![7; 1 << 20]).unwrap();
    fs::hard_link(&path, &link).unwrap();
    let job = job(r#"{"cache": "buffered"}"#);
    let never = AtomicBool::new(false);
    let error = Target::prepare(&[path, link], std::slice::from_ref(&job), &never, |_, _| {}).unwrap_err();
    assert!(error.to_string().contains("Give it once"), "{error}");
}

#[test]
fn what_the_machine_lacks_is_told_before_anything_is_made() {
    let directory = tempfile::tempdir().unwrap();
    let message = refusal(directory.path(), &job(r#"{"affinity": "4000", "file_size": "1MiB"}"#));
    assert!(message.contains("CPU 4000"), "{message}");
    let message =
        refusal(directory.path(), &job(r#"{"destroy": "S1", "read_share": 0, "file_size": "1MiB"}"#));
    assert!(message.contains("no path is one"), "{message}");
    assert_eq!(names_in(directory.path()), [""; 0]);
}

/// Without /proc a test was told as "No such file", with a name that nobody had given.
#[test]
fn without_proc_the_remedy_is_told() {
    let told =
        TargetError::reopen(Path::new("/data"), rustix::io::Errno::NOENT, CacheMode::Direct).to_string();
    assert!(told.contains("/proc/self/fd is missing. Mount it: mount -t proc proc /proc"), "{told}");
}
