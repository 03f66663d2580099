//! Files of options of MySQL and MariaDB: <https://dev.mysql.com/doc/refman/8.4/en/option-files.html> and
//! <https://mariadb.com/docs/server/server-management/install-and-upgrade-mariadb/configuring-mariadb/configuring-mariadb-with-option-files>.
//! Of their groups, those of clients are read, and of these the place, the login and the encryption.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::url::encryption::{FETCH_KEY, SERVER_KEY};

const GROUPS: [&str; 5] = ["client", "client-server", "client-mariadb", "mysql", "mariadb-client"];
const KEYS: [&str; 11] = [
    "user", "password", "ssl-mode", "ssl-ca", "ssl-cert", "ssl-key", "host", "port", "socket", SERVER_KEY,
    FETCH_KEY,
];
/// Files that name others, one within the other: as many as the clients follow.
const DEEPEST: u32 = 10;

/// What files of options say: passwords too, so that it is not to be printed.
#[derive(Default)]
pub(super) struct Options {
    /// Values by their names, with the file that said it last.
    pub(super) values: HashMap<&'static str, (String, PathBuf)>,
    /// Files that were not read, and why.
    pub(super) ignored: Vec<String>,
}

/// Reads files, one after the other; one that is not there says nothing.
pub(super) fn read(files: impl IntoIterator<Item = PathBuf>) -> Options {
    let mut options = Options::default();
    files.into_iter().for_each(|file| options.add(&file, 0));
    options
}

impl Options {
    fn add(&mut self, file: &Path, depth: u32) {
        let Ok(metadata) = std::fs::metadata(file) else { return };
        if metadata.mode() & 0o002 != 0 {
            // As the clients do: whoever can write it could say anything in it.
            self.ignored.push(format!("{} was not read: everybody can write to it", file.display()));
            return;
        }
        // What a login may not read is not for it.
        let Ok(bytes) = std::fs::read(file) else { return };
        // A remark may be in another encoding.
        let text = String::from_utf8_lossy(&bytes);
        let mut is_ours = false;
        for line in text.lines().map(str::trim) {
            if let Some(directive) = line.strip_prefix('!') {
                if depth < DEEPEST {
                    self.follow(directive, depth + 1);
                }
            } else if let Some(group) = line.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
                is_ours = GROUPS.contains(&group.0);
            } else if is_ours && !line.starts_with(['#', ';']) {
                self.set(line, file);
            }
        }
    }

    /// `include FILE` and `includedir DIRECTORY`, whose files `*.cnf` are read.
    fn follow(&mut self, directive: &str, depth: u32) {
        match directive.split_once(char::is_whitespace) {
            Some(("include", file)) => self.add(Path::new(file.trim()), depth),
            Some(("includedir", directory)) => {
                let entries = std::fs::read_dir(directory.trim()).into_iter().flatten().flatten();
                let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
                files.retain(|file| file.extension().is_some_and(|extension| extension == "cnf"));
                files.sort();
                files.iter().for_each(|file| self.add(file, depth));
            }
            _ => {}
        }
    }

    fn set(&mut self, line: &str, file: &Path) {
        let line = without_remark(line);
        let (name, value) = match line.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (line, None),
        };
        let name = name.trim().replace('_', "-");
        // The clients pass over an option so marked that they do not know.
        let name = name.strip_prefix("loose-").unwrap_or(&name);
        let Some(key) = KEYS.into_iter().find(|key| *key == name) else { return };
        let value = match value {
            Some(value) => unmarked(value.trim()),
            // Whether, and not what.
            None if key == FETCH_KEY => "1".to_owned(),
            None => return,
        };
        if value.contains(char::REPLACEMENT_CHARACTER) {
            self.ignored.push(format!("{key} of {} was not read: it is not UTF-8", file.display()));
        } else {
            self.values.insert(key, (value, file.to_owned()));
        }
    }
}

/// A line without the remark at its end: from the first `#` on that stands in no quotes. Within quotes a backslash protects one.
fn without_remark(line: &str) -> &str {
    let (mut open, mut is_escaped) = (None, false);
    for (at, sign) in line.char_indices() {
        match sign {
            '\'' | '"' if !is_escaped => match open {
                None => open = Some(sign),
                Some(quote) if quote == sign => open = None,
                Some(_) => {}
            },
            '#' if open.is_none() => return line[..at].trim_end(),
            _ => {}
        }
        is_escaped = open.is_some() && sign == '\\' && !is_escaped;
    }
    line
}

/// A value as the clients read it: without the marks around all of it, and with what a backslash stands for.
fn unmarked(value: &str) -> String {
    let between = |mark: char| value.strip_prefix(mark).and_then(|rest| rest.strip_suffix(mark));
    let bare = between('"').or_else(|| between('\'')).unwrap_or(value);
    let mut text = String::with_capacity(bare.len());
    let mut signs = bare.chars();
    while let Some(sign) = signs.next() {
        if sign != '\\' {
            text.push(sign);
            continue;
        }
        match signs.next() {
            Some('b') => text.push('\u{8}'),
            Some('t') => text.push('\t'),
            Some('n') => text.push('\n'),
            Some('r') => text.push('\r'),
            Some('s') => text.push(' '),
            Some(mark @ ('\\' | '"' | '\'')) => text.push(mark),
            Some(other) => text.extend(['\\', other]),
            None => text.push('\\'),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `my_print_defaults` of MariaDB 10.11 prints them.
    #[test]
    fn values_are_read_as_by_the_clients() {
        for (line, expected) in [
            ("password=plain", "plain"),
            ("password = 'in marks' ", "in marks"),
            ("password=\"a'b\"", "a'b"),
            ("password='a'b'", "a'b"),
            ("password=\"half", "\"half"),
            ("password='one' two", "'one' two"),
            ("password=ab#cd", "ab"),
            ("password='ab#cd' # why", "ab#cd"),
            ("password=\"a\\\"#b\"", "a\"#b"),
            ("password=a'b#c'd", "a'b#c'd"),
            ("password=a\\b\\t\\n\\r\\s\\\\z", "a\u{8}\t\n\r \\z"),
            ("password=a\\qb\\", "a\\qb\\"),
            ("password=a=b;c", "a=b;c"),
            ("pass_word=no", ""),
            ("loose_password=x", "x"),
            ("password=", ""),
        ] {
            let mut options = Options::default();
            options.set(line, Path::new("my.cnf"));
            let value = options.values.get("password").map(|(value, _)| value.as_str());
            assert_eq!(value.unwrap_or_default(), expected, "{line}");
        }
        let mut options = Options::default();
        options.set("get-server-public-key # yes", Path::new("my.cnf"));
        assert_eq!(options.values[FETCH_KEY].0, "1");
    }
}
