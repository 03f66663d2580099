//! What SQL Server is sent for the files of a database, for what its commits wait for, and to bring it back.
//!
//! Source: <https://learn.microsoft.com/sql/t-sql/statements/create-database-transact-sql>,
//! <https://learn.microsoft.com/sql/t-sql/statements/alter-database-transact-sql-set-options>,
//! <https://learn.microsoft.com/sql/relational-databases/databases/create-a-database-snapshot-transact-sql>,
//! <https://learn.microsoft.com/sql/t-sql/statements/restore-statements-transact-sql>.

use crate::Dialect;
use crate::own::{DelayedDurability, Files, Layout, LayoutStatements, Recovery, SavingStatements, beneath};

pub(super) static LAYOUT: LayoutStatements = LayoutStatements {
    default_dirs: "SELECT CAST(SERVERPROPERTY('InstanceDefaultDataPath') AS nvarchar(400)), \
                   CAST(SERVERPROPERTY('InstanceDefaultLogPath') AS nvarchar(400))",
    files,
    paths: "SELECT CAST(physical_name AS nvarchar(400)) FROM sys.database_files",
    settings,
    keeps_log: "SELECT CAST(CASE WHEN last_log_backup_lsn IS NULL THEN 0 ELSE 1 END AS bigint) \
                FROM sys.database_recovery_status WHERE database_id = DB_ID(@P1)",
    begin_log: "BACKUP DATABASE {name} TO DISK = N'NUL'",
    saving: SavingStatements {
        data_files: "SELECT CAST(name AS nvarchar(128)), CAST(physical_name AS nvarchar(400)) FROM sys.database_files \
                     WHERE type = 0 ORDER BY file_id",
        snapshot,
        has_snapshot: "SELECT name FROM sys.databases WHERE name = @P1 AND source_database_id = DB_ID(@P2)",
        backup_dir: "SELECT CAST(SERVERPROPERTY('InstanceDefaultBackupPath') AS nvarchar(400))",
        is_file: "SELECT CAST(file_exists AS bigint) FROM sys.dm_os_file_exists(@P1)",
        backup: "BACKUP DATABASE {name} TO DISK = {path} WITH COPY_ONLY, NOINIT, CHECKSUM",
        close: "ALTER DATABASE {name} SET RESTRICTED_USER WITH ROLLBACK IMMEDIATE",
        from_snapshot: "RESTORE DATABASE {name} FROM DATABASE_SNAPSHOT = {saved}",
        from_backup: "RESTORE DATABASE {name} FROM DISK = {saved} WITH REPLACE, RECOVERY",
        open: "ALTER DATABASE {name} SET MULTI_USER",
        // Only clean pages are dropped, so that all are written first.
        forget: &["CHECKPOINT", "DBCC DROPCLEANBUFFERS WITH NO_INFOMSGS"],
    },
};

/// Bytes as a statement takes them: a number of 31 bits and its unit.
fn size(bytes: u64) -> String {
    let kib = bytes.div_ceil(1 << 10);
    if kib < 1 << 31 { format!("{kib}KB") } else { format!("{}MB", bytes.div_ceil(1 << 20)) }
}

/// `ON PRIMARY (NAME = …, FILENAME = …, SIZE = …, FILEGROWTH = …), … LOG ON (…)`.
fn files(name: &str, layout: &Layout, [data_dir, log_dir]: [&str; 2]) -> Files {
    let mut paths = Vec::new();
    let mut file = |dir: &str, called: &str, end: &str, bytes: Option<u64>| {
        let path = beneath(dir, &format!("{called}.{end}"));
        let said = |key: &str, bytes: Option<u64>| {
            bytes.map_or_else(String::new, |bytes| format!(", {key} = {}", size(bytes)))
        };
        let text = Dialect::SqlServer.text(&path);
        paths.push(path);
        let (bytes, growth) = (said("SIZE", bytes), said("FILEGROWTH", layout.growth_bytes));
        format!("(NAME = {}, FILENAME = {text}{bytes}{growth})", Dialect::SqlServer.quoted(called))
    };
    let dirs: Vec<&str> = match layout.data_dirs.as_slice() {
        [] => vec![data_dir],
        dirs => dirs.iter().map(String::as_str).collect(),
    };
    let data = dirs.iter().enumerate().map(|(index, dir)| match index {
        0 => file(dir, name, "mdf", layout.data_bytes),
        index => file(dir, &format!("{name}_{}", index + 1), "ndf", layout.data_bytes),
    });
    let data: Vec<String> = data.collect();
    // With the data where only these were given a place: so it lies on a server where nothing is said of it.
    let log_dir = match (&layout.log_dir, layout.data_dirs.first()) {
        (Some(dir), _) | (None, Some(dir)) => dir,
        (None, None) => log_dir,
    };
    let log = file(log_dir, &format!("{name}_log"), "ldf", layout.log_bytes);
    Files { clause: format!(" ON PRIMARY {} LOG ON {log}", data.join(", ")), paths }
}

fn settings(name: &str, layout: &Layout) -> Vec<String> {
    let recovery = layout.recovery.map(|recovery| match recovery {
        Recovery::Simple => "RECOVERY SIMPLE",
        Recovery::Full => "RECOVERY FULL",
        Recovery::BulkLogged => "RECOVERY BULK_LOGGED",
    });
    let delayed = layout.delayed_durability.map(|delayed| match delayed {
        DelayedDurability::Disabled => "DELAYED_DURABILITY = DISABLED",
        DelayedDurability::Allowed => "DELAYED_DURABILITY = ALLOWED",
        DelayedDurability::Forced => "DELAYED_DURABILITY = FORCED",
    });
    recovery
        .into_iter()
        .chain(delayed)
        .map(|setting| format!("ALTER DATABASE {name} SET {setting}"))
        .collect()
}

/// Each data file has a sparse one beside it.
fn snapshot(snapshot: &str, name: &str, files: &[(String, String)]) -> String {
    let file = |(called, path): &(String, String)| {
        let path = Dialect::SqlServer.text(&format!("{path}.prony_saved"));
        format!("(NAME = {}, FILENAME = {path})", Dialect::SqlServer.quoted(called))
    };
    let files: Vec<String> = files.iter().map(file).collect();
    format!("CREATE DATABASE {snapshot} ON {} AS SNAPSHOT OF {name}", files.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_lie_and_grow_as_they_are_told() {
        let layout = Layout {
            data_dirs: vec![r"D:\a".to_owned(), r"E:\o'b\".to_owned()],
            log_dir: Some("F:".to_owned()),
            data_bytes: Some(10 << 30),
            log_bytes: Some(3 << 40),
            growth_bytes: Some(64 << 20),
            ..Layout::default()
        };
        assert_eq!(
            files("hds", &layout, ["/data/", "/log/"]).clause,
            r" ON PRIMARY (NAME = [hds], FILENAME = N'D:\a\hds.mdf', SIZE = 10485760KB, FILEGROWTH = 65536KB), (NAME = [hds_2], FILENAME = N'E:\o''b\hds_2.ndf', SIZE = 10485760KB, FILEGROWTH = 65536KB) LOG ON (NAME = [hds_log], FILENAME = N'F:\hds_log.ldf', SIZE = 3145728MB, FILEGROWTH = 65536KB)"
        );
        let sized = Layout { data_bytes: Some(1), ..Layout::default() };
        assert_eq!(
            files("hds", &sized, ["/data/", "/log"]).clause,
            " ON PRIMARY (NAME = [hds], FILENAME = N'/data/hds.mdf', SIZE = 1KB) LOG ON (NAME = [hds_log], FILENAME = N'/log/hds_log.ldf')"
        );
        let placed = Layout { data_dirs: vec!["/a".to_owned()], ..Layout::default() };
        let files = files("hds", &placed, ["", "/log"]);
        assert_eq!(files.paths, ["/a/hds.mdf", "/a/hds_log.ldf"], "the log with the data");
    }

    #[test]
    fn a_database_is_told_what_to_log_and_whether_to_wait() {
        let layout = Layout {
            recovery: Some(Recovery::BulkLogged),
            delayed_durability: Some(DelayedDurability::Forced),
            ..Layout::default()
        };
        assert_eq!(
            settings("[hds]", &layout),
            [
                "ALTER DATABASE [hds] SET RECOVERY BULK_LOGGED",
                "ALTER DATABASE [hds] SET DELAYED_DURABILITY = FORCED"
            ]
        );
        assert_eq!(settings("[hds]", &Layout::default()), [""; 0]);
    }

    #[test]
    fn a_snapshot_has_a_file_for_each_data_file() {
        let file = |name: &str, path: &str| (name.to_owned(), path.to_owned());
        assert_eq!(
            snapshot("[prony_saved_1]", "[hds]", &[file("hds", r"D:\hds.mdf"), file("cust1", r"E:\o'x.ndf")]),
            r"CREATE DATABASE [prony_saved_1] ON (NAME = [hds], FILENAME = N'D:\hds.mdf.prony_saved'), (NAME = [cust1], FILENAME = N'E:\o''x.ndf.prony_saved') AS SNAPSHOT OF [hds]"
        );
    }
}
