//! How a database of our own lies on the disks of its server, what its commits wait for, and how it is brought back to what was loaded:
//! of servers that take such for one database, as SQL Server does.

use serde::{Deserialize, Serialize};

use super::administration::filled;
use super::server::Place;
use crate::{Dialect, Error, Session, Value};

/// Where the files of a database lie and how it logs. What is not said is left to the server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// Directories of the server's machine, each with a data file of the same size.
    pub data_dirs: Vec<String>,
    /// Directory of the server's machine with the log.
    pub log_dir: Option<String>,
    /// Initial bytes of each data file.
    pub data_bytes: Option<u64>,
    /// Initial bytes of the log.
    pub log_bytes: Option<u64>,
    /// Bytes by which each file grows when it is full.
    pub growth_bytes: Option<u64>,
    /// What the log keeps.
    pub recovery: Option<Recovery>,
    /// Whether a commit may return before its log is on the disk.
    pub delayed_durability: Option<DelayedDurability>,
}

/// What the log of a database keeps:
/// <https://learn.microsoft.com/sql/relational-databases/backup-restore/recovery-models-sql-server>.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Recovery {
    /// What no transaction needs any more goes at the next checkpoint.
    Simple,
    /// Everything stays until the log is backed up.
    Full,
    /// As full, with less of what is loaded in bulk.
    BulkLogged,
}

/// Whether commits wait for the disk:
/// <https://learn.microsoft.com/sql/relational-databases/logs/control-transaction-durability>.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DelayedDurability {
    /// Each commit waits.
    Disabled,
    /// A transaction may ask not to; none of prony's does.
    Allowed,
    /// None waits: the last ones may be lost in a crash.
    Forced,
}

/// How a database becomes what it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Saving {
    /// From a snapshot beside it, which takes the pages that have changed.
    Snapshot,
    /// From a backup, which writes all of it.
    Backup,
}

/// What a server is sent for all of this.
#[derive(Debug)]
pub(crate) struct LayoutStatements {
    /// Selects the directories of data and log files where nothing is said; nothing in them where the server places files itself.
    pub(crate) default_dirs: &'static str,
    /// The files of a database of this name, in these directories where nothing else is said.
    pub(crate) files: fn(&str, &Layout, [&str; 2]) -> Files,
    /// Selects the path of each file of the session's database.
    pub(crate) paths: &'static str,
    /// What is sent for a database, quoted, whose commits and log are to be so.
    pub(crate) settings: fn(&str, &Layout) -> Vec<String>,
    /// Selects 1 if the log of the database of this name is kept for a backup.
    pub(crate) keeps_log: &'static str,
    /// A first backup of `{name}`, to nowhere: from then on the log is kept.
    pub(crate) begin_log: &'static str,
    pub(crate) saving: SavingStatements,
}

/// The files of a database that is to be made.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Files {
    /// What follows `CREATE DATABASE`.
    pub(crate) clause: String,
    /// Where they are to be.
    pub(crate) paths: Vec<String>,
}

/// What a server is sent to bring a database back.
#[derive(Debug)]
pub(crate) struct SavingStatements {
    /// Selects the name and the path of each data file of the session's database.
    pub(crate) data_files: &'static str,
    /// Makes the snapshot of a database, both quoted, of data files with these names and paths.
    pub(crate) snapshot: fn(&str, &str, &[(String, String)]) -> String,
    /// Selects a row if there is a snapshot of the first name, of the database of the second.
    pub(crate) has_snapshot: &'static str,
    /// Selects the directory of backups.
    pub(crate) backup_dir: &'static str,
    /// Selects 1 if a file is there.
    pub(crate) is_file: &'static str,
    /// Writes the database `{name}` to the file `{path}`, a text.
    pub(crate) backup: &'static str,
    /// Ends all sessions of `{name}` and lets no others in than its owner's.
    pub(crate) close: &'static str,
    /// Brings `{name}` back from the snapshot `{saved}`, a text.
    pub(crate) from_snapshot: &'static str,
    /// Brings `{name}` back from the backup in the file `{saved}`, a text.
    pub(crate) from_backup: &'static str,
    /// Lets everybody into `{name}` again.
    pub(crate) open: &'static str,
    /// Has the server forget what it keeps of files in memory; each is sent for itself, in the database.
    pub(crate) forget: &'static [&'static str],
}

/// Most backups that interrupted sittings of one run may have left.
const BACKUPS_MAX: u32 = 100;

/// What a database can be brought back from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saved {
    how: Saving,
    /// Name of the snapshot, or path of the backup.
    at: String,
}

impl Saved {
    /// The file that stays on the server's machine, if one does.
    #[must_use]
    pub fn stays(&self) -> Option<&str> {
        match self.how {
            Saving::Snapshot => None,
            Saving::Backup => Some(&self.at),
        }
    }
}

impl Layout {
    /// Of which nothing is said.
    pub const PLAIN: Self = Self {
        data_dirs: Vec::new(),
        log_dir: None,
        data_bytes: None,
        log_bytes: None,
        growth_bytes: None,
        recovery: None,
        delayed_durability: None,
    };

    /// Whether nothing is said of files.
    #[must_use]
    pub fn has_default_files(&self) -> bool {
        let Self { data_dirs, log_dir, data_bytes, log_bytes, growth_bytes, .. } = self;
        data_dirs.is_empty()
            && log_dir.is_none()
            && [data_bytes, log_bytes, growth_bytes].iter().all(|it| it.is_none())
    }

    /// Whether the files of both lie and grow alike.
    #[must_use]
    pub fn has_same_files(&self, other: &Self) -> bool {
        let files = |of: &Self| Self { recovery: None, delayed_durability: None, ..of.clone() };
        files(self) == files(other)
    }

    /// What this one says, and else the other.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            data_dirs: if self.data_dirs.is_empty() { other.data_dirs } else { self.data_dirs },
            log_dir: self.log_dir.or(other.log_dir),
            data_bytes: self.data_bytes.or(other.data_bytes),
            log_bytes: self.log_bytes.or(other.log_bytes),
            growth_bytes: self.growth_bytes.or(other.growth_bytes),
            recovery: self.recovery.or(other.recovery),
            delayed_durability: self.delayed_durability.or(other.delayed_durability),
        }
    }

    /// Whether nothing is said of what it logs.
    fn has_default_settings(&self) -> bool {
        self.recovery.is_none() && self.delayed_durability.is_none()
    }
}

/// What a server that knows nothing of a layout is told to its user.
pub(super) fn without(dialect: Dialect) -> Error {
    Error::NoDatabase(format!(
        "{} does not support files, a recovery model or snapshots for a single database: omit these settings",
        dialect.name()
    ))
}

/// Refuses what the server of a place takes for no database.
pub(super) fn check(place: &Place, layout: &Layout) -> Result<(), Error> {
    if *layout == Layout::default() { Ok(()) } else { statements(place).map(drop) }
}

fn statements(place: &Place) -> Result<&'static LayoutStatements, Error> {
    place.administration.layout.ok_or_else(|| without(place.administration.dialect))
}

/// The files of a place; none where nothing is said of them.
pub(super) async fn files(place: &Place, layout: &Layout, admin: &mut Session) -> Result<Files, Error> {
    if layout.has_default_files() {
        return Ok(Files::default());
    }
    let statements = statements(place)?;
    let found = admin.query(statements.default_dirs, &[]).await?;
    let dir = |column: usize| match found.first().and_then(|row| row.get(column)) {
        Some(Value::Text(dir)) => dir.as_str(),
        _ => "",
    };
    let dirs = [dir(0), dir(1)];
    let is_missing = (layout.data_dirs.is_empty() && dirs[0].is_empty())
        || (layout.log_dir.is_none() && layout.data_dirs.is_empty() && dirs[1].is_empty());
    if is_missing {
        return Err(Error::NoDatabase(format!(
            "{} does not report where it creates files. This is normal for a managed service: omit directories, sizes and growth",
            place.url
        )));
    }
    Ok((statements.files)(&place.name, layout, dirs))
}

/// Looks whether a database lies where it was to: what speaks T-SQL without being SQL Server may pass over where that is.
pub(super) async fn check_files(place: &Place, files: &Files) -> Result<(), Error> {
    if files.paths.is_empty() {
        return Ok(());
    }
    let rows = Session::open(&place.own()).await?.query(statements(place)?.paths, &[]).await?;
    let found: Vec<&str> = rows
        .iter()
        .filter_map(|row| match row.as_slice() {
            [Value::Text(path)] => Some(path.as_str()),
            _ => None,
        })
        .collect();
    let is_there = |path: &&String| found.iter().any(|found| found.to_lowercase() == path.to_lowercase());
    match files.paths.iter().find(|path| !is_there(path)) {
        None => Ok(()),
        Some(path) => Err(Error::NoDatabase(format!(
            "{} created the database, but not in the file {path} ({}): omit directories, sizes and growth",
            place.url,
            if found.is_empty() { "the server shows no files".to_owned() } else { found.join(", ") }
        ))),
    }
}

/// Has a database log as a layout says.
pub(super) async fn set(place: &Place, layout: &Layout, admin: &mut Session) -> Result<(), Error> {
    if layout.has_default_settings() {
        return Ok(());
    }
    let statements = statements(place)?;
    let name = place.quoted();
    for sql in (statements.settings)(&name, layout) {
        admin.script(&sql).await?;
    }
    let is_kept = matches!(layout.recovery, Some(Recovery::Full | Recovery::BulkLogged));
    // Before its first backup a database drops its log as if its model were simple.
    if is_kept
        && admin.query(statements.keeps_log, &[Value::Text(place.name.clone())]).await? != [[Value::I64(1)]]
    {
        admin.script(&filled(statements.begin_log, &[("name", &name)])).await?;
    }
    Ok(())
}

/// The name of the snapshot of a place, which only makes sense to us.
fn snapshot_of(place: &Place) -> Place {
    place.named(format!("prony_saved_{:016x}", super::server::hash(&place.name)))
}

/// Keeps what is in a database.
pub(super) async fn save(place: &Place, how: Saving, run: &str, admin: &mut Session) -> Result<Saved, Error> {
    let statements = &statements(place)?.saving;
    let at = match how {
        Saving::Snapshot => {
            drop_snapshot(place, admin).await?;
            let snapshot = snapshot_of(place);
            let rows = Session::open(&place.own()).await?.query(statements.data_files, &[]).await?;
            let file = |row: Vec<Value>| match <[Value; 2]>::try_from(row) {
                Ok([Value::Text(name), Value::Text(path)]) => Some((name, path)),
                _ => None,
            };
            let files: Vec<(String, String)> = rows.into_iter().filter_map(file).collect();
            if files.is_empty() {
                return Err(Error::NoDatabase(format!(
                    "{} shows no files of {}, but a snapshot needs one for each: restore by deletion",
                    place.url, place.name
                )));
            }
            admin.script(&(statements.snapshot)(&snapshot.quoted(), &place.quoted(), &files)).await?;
            snapshot.name
        }
        Saving::Backup => {
            let path = backup_path(place, run, admin).await?;
            let text = place.administration.dialect.text(&path);
            admin.script(&filled(statements.backup, &[("name", &place.quoted()), ("path", &text)])).await?;
            path
        }
    };
    Ok(Saved { how, at })
}

/// A file of backups that is not there yet.
async fn backup_path(place: &Place, run: &str, admin: &mut Session) -> Result<String, Error> {
    let statements = &statements(place)?.saving;
    let rows = admin.query(statements.backup_dir, &[]).await?;
    let Some([Value::Text(dir)]) =
        rows.first().map(Vec::as_slice).filter(|row| *row != [Value::Text(String::new())])
    else {
        return Err(Error::NoDatabase(format!(
            "{} does not say where it writes backups (InstanceDefaultBackupPath, from SQL Server 2019 on): restore from a snapshot, or by \
             deletion",
            place.url
        )));
    };
    // One may be left of the same run, that was interrupted.
    for number in 1..=BACKUPS_MAX {
        let path = beneath(dir, &format!("prony_{}_{run}_{number}.bak", place.name));
        if admin.query(statements.is_file, &[Value::Text(path.clone())]).await? != [[Value::I64(1)]] {
            return Ok(path);
        }
    }
    Err(Error::NoDatabase(format!(
        "{dir} on {} already contains {BACKUPS_MAX} backups of this run: delete them there",
        place.url
    )))
}

/// Brings a database back, in which nobody of us has a session.
pub(super) async fn restore(place: &Place, saved: &Saved, admin: &mut Session) -> Result<(), Error> {
    let statements = &statements(place)?.saving;
    let restore = match saved.how {
        Saving::Snapshot => statements.from_snapshot,
        Saving::Backup => statements.from_backup,
    };
    let text = place.administration.dialect.text(&saved.at);
    let values = [("name", place.quoted()), ("saved", text)];
    let values = values.each_ref().map(|(name, value)| (*name, value.as_str()));
    admin.script(&filled(statements.close, &values)).await?;
    let restored = admin.script(&filled(restore, &values)).await;
    let opened = admin.script(&filled(statements.open, &values)).await;
    restored.and(opened)
}

/// Removes the snapshot of a database, if it has one of ours: as long as it has, the database cannot be removed.
pub(super) async fn drop_snapshot(place: &Place, admin: &mut Session) -> Result<(), Error> {
    let Some(LayoutStatements { saving, .. }) = place.administration.layout else { return Ok(()) };
    let snapshot = snapshot_of(place);
    let names = [&snapshot.name, &place.name].map(|name| Value::Text(name.clone()));
    if admin.count_rows(saving.has_snapshot, &names).await? == 0 {
        return Ok(());
    }
    admin.script(&format!("DROP DATABASE {}", snapshot.quoted())).await
}

/// Has the server forget what it keeps of files.
pub(super) async fn cool(place: &Place) -> Result<(), Error> {
    let statements = &statements(place)?.saving;
    let mut session = Session::open(&place.own()).await?;
    for sql in statements.forget {
        session.script(sql).await?;
    }
    Ok(())
}

/// A file in a directory of a machine with either kind of paths.
pub(crate) fn beneath(dir: &str, file: &str) -> String {
    let separator = if dir.contains('\\') || dir.as_bytes().get(1) == Some(&b':') { '\\' } else { '/' };
    format!("{}{separator}{file}", dir.trim_end_matches(separator))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_of_the_machine_that_the_directory_is_on() {
        for (dir, expected) in [
            (r"D:\sql", r"D:\sql\a.mdf"),
            (r"D:\", r"D:\a.mdf"),
            ("D:", r"D:\a.mdf"),
            (r"\\nas\share", r"\\nas\share\a.mdf"),
            ("/var/opt/mssql/data/", "/var/opt/mssql/data/a.mdf"),
            ("/data", "/data/a.mdf"),
        ] {
            assert_eq!(beneath(dir, "a.mdf"), expected);
        }
    }

    #[test]
    fn what_is_set_later_is_no_matter_of_files() {
        let forced = Layout { delayed_durability: Some(DelayedDurability::Forced), ..Layout::default() };
        assert!(forced.has_default_files() && forced.has_same_files(&Layout::default()));
        let grown = Layout { growth_bytes: Some(1 << 20), ..Layout::default() };
        assert!(!grown.has_default_files() && !grown.has_same_files(&forced));
        assert!(grown.has_default_settings() && !forced.has_default_settings());
    }
}
