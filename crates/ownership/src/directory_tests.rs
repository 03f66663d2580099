//! A directory of the real file system, with what somebody else may have put there.

use std::fs;
use std::os::unix::fs::symlink;

use super::*;

fn place() -> (tempfile::TempDir, Directory) {
    let place = tempfile::tempdir().unwrap();
    let directory = Directory::open(place.path()).unwrap();
    (place, directory)
}

fn names(place: &tempfile::TempDir) -> Vec<OsString> {
    Directory::open(place.path()).unwrap().names().unwrap()
}

fn name(text: &str) -> &OsStr {
    OsStr::new(text)
}

#[test]
fn what_was_made_is_removed() {
    let (place, directory) = place();
    let (_, made) = directory.create_new(name("a")).unwrap();
    assert_eq!(made.remove().unwrap(), Removal::Removed);
    assert_eq!(made.remove().unwrap(), Removal::Gone);
    assert!(names(&place).is_empty());
}

#[test]
fn what_took_its_name_is_left() {
    let (place, directory) = place();
    let (_, made) = directory.create_new(name("a")).unwrap();
    fs::write(place.path().join("b"), "theirs").unwrap();
    fs::rename(place.path().join("b"), place.path().join("a")).unwrap();
    assert_eq!(made.remove().unwrap(), Removal::Another);
    assert_eq!(fs::read_to_string(place.path().join("a")).unwrap(), "theirs");
    assert_eq!(names(&place), ["a"]);
}

#[test]
fn no_link_is_followed_and_no_name_leads_elsewhere() {
    let (place, directory) = place();
    symlink("/no/such/file", place.path().join("link")).unwrap();
    let taken = directory.create_new(name("link")).unwrap_err();
    assert_eq!(taken.kind(), io::ErrorKind::AlreadyExists);
    assert!(!directory.look(name("link")).unwrap().unwrap().is_regular());
    for leading in ["", ".", "..", "a/b", "../a", "/a", "a/"] {
        assert!(directory.create_new(name(leading)).is_err(), "{leading:?}");
        assert!(directory.open_file(name(leading)).is_err(), "{leading:?}");
        assert!(directory.below(name(leading)).is_err(), "{leading:?}");
    }
    assert_eq!(names(&place), ["link"]);
}

#[test]
fn a_directory_that_was_swapped_is_still_the_one_that_was_opened() {
    let outer = tempfile::tempdir().unwrap();
    let (inner, moved) = (outer.path().join("inner"), outer.path().join("moved"));
    fs::create_dir(&inner).unwrap();
    let directory = Directory::open(&inner).unwrap();
    fs::rename(&inner, &moved).unwrap();
    fs::create_dir(&inner).unwrap();
    directory.create_new(name("a")).unwrap();
    assert!(moved.join("a").exists() && !inner.join("a").exists());
}

/// A link in a results directory was followed: root read a file of its own into a report that others may read.
#[test]
fn only_regular_files_of_the_directory_itself_are_read() {
    let (place, directory) = place();
    fs::write(place.path().join("file"), "text").unwrap();
    assert_eq!(directory.read(name("file")).unwrap(), b"text");
    symlink("file", place.path().join("link")).unwrap();
    rustix::fs::mkfifoat(&directory, "fifo", Mode::RWXU).unwrap();
    for (planted, word) in [("link", "it is a link"), ("fifo", "it is a FIFO")] {
        let error = directory.read(name(planted)).unwrap_err().to_string();
        assert!(error.contains(word), "{planted}: {error}");
    }
    assert_eq!(directory.read(name("none")).unwrap_err().kind(), io::ErrorKind::NotFound);
}

#[test]
fn a_link_to_a_directory_is_no_directory_below() {
    let (place, directory) = place();
    let elsewhere = tempfile::tempdir().unwrap();
    symlink(elsewhere.path(), place.path().join("trials")).unwrap();
    let error = directory.below(name("trials")).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::NotADirectory);
    assert!(error.to_string().contains("it is a link"), "{error}");
}

#[test]
fn a_name_that_is_taken_is_not_renamed_over() {
    let (place, directory) = place();
    fs::write(place.path().join("a"), "ours").unwrap();
    fs::write(place.path().join("b"), "theirs").unwrap();
    assert_eq!(directory.rename(name("a"), name("b")).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    assert_eq!(fs::read_to_string(place.path().join("b")).unwrap(), "theirs");
    directory.rename(name("a"), name("c")).unwrap();
    assert_eq!(names(&place), ["b", "c"]);
}

#[test]
fn an_unnamed_file_has_no_name() {
    let (place, directory) = place();
    let file = directory.unnamed().unwrap();
    assert!(names(&place).is_empty());
    assert_eq!(rustix::fs::fstat(&file).unwrap().st_nlink, 0);
}
