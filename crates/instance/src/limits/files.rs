//! Files of groups: each write is read back.

use std::path::Path;

use super::LimitError;

pub(super) fn read(path: &Path) -> Result<String, LimitError> {
    std::fs::read_to_string(path).map_err(LimitError::file("read", path))
}

/// Sets a limit; `is_kept` tells whether the text that the file then has means the limit.
pub(super) fn set(path: &Path, value: &str, is_kept: impl Fn(&str) -> bool) -> Result<(), LimitError> {
    std::fs::write(path, value).map_err(|source| LimitError::Refused {
        path: path.to_owned(),
        value: value.to_owned(),
        source,
    })?;
    let found = read(path)?;
    if is_kept(&found) {
        return Ok(());
    }
    Err(LimitError::NotKept {
        path: path.to_owned(),
        value: value.to_owned(),
        found: found.trim().to_owned(),
    })
}

/// The number after a word at the beginning of a line: `oom_kill 3`.
pub(super) fn number_of(text: &str, word: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(word)?.strip_prefix(' ')?.trim().parse().ok())
}

/// Numbers as a kernel lists them: `0-2,5`.
pub(super) fn list(text: &str) -> Option<Vec<u32>> {
    let mut all = Vec::new();
    for part in text.trim().split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        all.extend(first.parse::<u32>().ok()?..=last.parse().ok()?);
    }
    Some(all)
}

/// As [`list`] reads it.
pub(super) fn listed(numbers: &[u32]) -> String {
    numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_a_kernel_are_read() {
        assert_eq!(list("0-2,5\n"), Some(vec![0, 1, 2, 5]));
        assert_eq!(list("\n"), Some(Vec::new()));
        assert_eq!(list("a"), None);
        assert_eq!(list(&listed(&[3, 4, 9])), Some(vec![3, 4, 9]));
    }

    #[test]
    fn a_number_is_found_by_its_whole_word() {
        let text = "oom 1\noom_kill 3\noom_group_kill 7\n";
        assert_eq!(number_of(text, "oom_kill"), Some(3));
        assert_eq!(number_of(text, "kill"), None);
    }

    #[test]
    fn a_limit_that_is_not_kept_is_told() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("memory.max");
        set(&path, "5", |found| found == "5").unwrap();
        let error = set(&path, "5", |found| found == "6").unwrap_err().to_string();
        assert!(
            error.ends_with("was set to `5`, but contains `5`: the kernel did not accept this limit"),
            "{error}"
        );
        let error = set(Path::new("/proc/self/no-such-file"), "5", |_| true).unwrap_err().to_string();
        assert!(error.starts_with("cannot set /proc/self/no-such-file to `5`"), "{error}");
    }
}
