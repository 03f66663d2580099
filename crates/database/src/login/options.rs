//! Files of options of MySQL and MariaDB: <https://dev.mysql.com/doc/refman/8.4/en/option-files.html> and
//! <https://mariadb.com/docs/server/server-management/install-and-upgrade-mariadb/configuring-mariadb/configuring-mariadb-with-option-files>.
//! Of their groups, those of clients are read, and of these the place, the login and the encryption.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

const GROUPS: [&str; 5] = ["client", "client-server", "client-mariadb", "mysql", "mariadb-client"];
const KEYS: [&str; 9] =
    ["user", "password", "ssl-mode", "ssl-ca", "ssl-cert", "ssl-key", "host", "port", "socket"];
/// Files that name others, one within the other.
const DEEPEST: u32 = 8;

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
        let Ok(text) = std::fs::read_to_string(file) else { return };
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
        let Some((name, value)) = line.split_once('=') else { return };
        let name = name.trim().replace('_', "-");
        if let Some(key) = KEYS.into_iter().find(|key| *key == name) {
            self.values.insert(key, (unquoted(value.trim()), file.to_owned()));
        }
    }
}

/// A value without the marks around it; a backslash is heeded as in the reference.
fn unquoted(value: &str) -> String {
    let marked = |mark: char| value.strip_prefix(mark).and_then(|rest| rest.split(mark).next());
    let Some(bare) = marked('"').or_else(|| marked('\'')) else {
        return escaped(value.split_once(" #").map_or(value, |(before, _)| before).trim_end());
    };
    escaped(bare)
}

fn escaped(value: &str) -> String {
    let mut text = String::new();
    let mut signs = value.chars();
    while let Some(sign) = signs.next() {
        if sign != '\\' {
            text.push(sign);
            continue;
        }
        match signs.next() {
            Some('s') => text.push(' '),
            Some('t') => text.push('\t'),
            Some('n') => text.push('\n'),
            Some('\\') => text.push('\\'),
            Some(other) => text.extend(['\\', other]),
            None => text.push('\\'),
        }
    }
    text
}
