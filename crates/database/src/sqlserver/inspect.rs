//! What SQL Server is asked for advice on its settings. Most of it is shown only to who may see the state of the whole server, and of
//! its history of backups only what stands in its own `msdb`.
//!
//! Sources: <https://learn.microsoft.com/sql/relational-databases/system-catalog-views/sys-databases-transact-sql>, `sys-master-files-transact-sql`
//! and `sys-configurations-transact-sql` beside it,
//! <https://learn.microsoft.com/sql/relational-databases/system-tables/backupset-transact-sql>,
//! <https://learn.microsoft.com/sql/relational-databases/system-dynamic-management-views/sys-dm-os-volume-stats-transact-sql> and its
//! neighbours of those names.

use super::activity::SERVER_STATE;
use crate::inspect::{Question, Questions};

/// What lets a login read the history of backups.
const HISTORY: &str = "USE msdb; CREATE USER {login} FOR LOGIN {login}; GRANT SELECT ON dbo.backupset TO {login}; \
                       GRANT SELECT ON dbo.backupmediafamily TO {login}; GRANT SELECT ON dbo.suspect_pages TO {login}";

pub(crate) static INSPECTED: Questions = Questions {
    login: "SELECT QUOTENAME(SUSER_SNAME())",
    // Of a server these are never none.
    some: &["settings", "databases", "files", "machine"],
    questions: &[
        Question {
            table: "settings",
            about: "its settings",
            columns: &["name", "value"],
            ways: &[
                "SELECT CAST(name AS nvarchar(128)), CAST(value_in_use AS bigint) FROM sys.configurations \
                     WHERE name IN ('cost threshold for parallelism', 'max degree of parallelism', \
                     'max server memory (MB)', 'priority boost') ORDER BY name",
            ],
            grant: None,
        },
        Question {
            table: "machine",
            about: "memory and CPUs of its machine",
            columns: &["memory_bytes", "available_bytes", "server_bytes", "schedulers"],
            ways: &["SELECT m.total_physical_memory_kb * 1024, m.available_physical_memory_kb * 1024, \
                     p.physical_memory_in_use_kb * 1024, CAST(i.scheduler_count AS int) FROM sys.dm_os_sys_memory AS m \
                     CROSS JOIN sys.dm_os_process_memory AS p CROSS JOIN sys.dm_os_sys_info AS i"],
            grant: Some(SERVER_STATE),
        },
        Question {
            table: "databases",
            about: "its databases",
            columns: &[
                "database",
                "recovery",
                "page_verify",
                "auto_close",
                "auto_shrink",
                "durability",
                "full_backup_hours",
                "log_backup_hours",
            ],
            ways: &[
                // A database that was never backed up says so: who may not read the history is told of no hours.
                "SELECT CAST(d.name AS nvarchar(128)), d.recovery_model_desc, d.page_verify_option_desc, \
                     CAST(d.is_auto_close_on AS int), CAST(d.is_auto_shrink_on AS int), d.delayed_durability_desc, \
                     coalesce(CAST(DATEDIFF(hour, b.full_at, GETDATE()) AS nvarchar(20)), 'never'), \
                     coalesce(CAST(DATEDIFF(hour, b.log_at, GETDATE()) AS nvarchar(20)), 'never') \
                     FROM sys.databases AS d LEFT JOIN (SELECT s.database_name, \
                     max(CASE WHEN s.type = 'D' THEN s.backup_finish_date END) AS full_at, \
                     max(CASE WHEN s.type = 'L' THEN s.backup_finish_date END) AS log_at \
                     FROM msdb.dbo.backupset AS s GROUP BY s.database_name) AS b ON b.database_name = d.name \
                     WHERE d.state = 0 AND d.source_database_id IS NULL ORDER BY d.name",
                "SELECT CAST(d.name AS nvarchar(128)), d.recovery_model_desc, d.page_verify_option_desc, \
                     CAST(d.is_auto_close_on AS int), CAST(d.is_auto_shrink_on AS int), d.delayed_durability_desc \
                     FROM sys.databases AS d WHERE d.state = 0 ORDER BY d.name",
            ],
            grant: None,
        },
        Question {
            table: "files",
            about: "the files of its databases",
            columns: &["database", "file", "kind", "size_bytes", "growth_bytes", "growth_per_cent", "volume"],
            ways: &[
                "SELECT DB_NAME(f.database_id), CAST(f.name AS nvarchar(128)), f.type_desc, CAST(f.size AS bigint) * 8192, \
                     CASE WHEN f.is_percent_growth = 0 THEN CAST(f.growth AS bigint) * 8192 ELSE 0 END, \
                     CASE WHEN f.is_percent_growth = 1 THEN f.growth ELSE 0 END, v.volume_mount_point \
                     FROM sys.master_files AS f OUTER APPLY sys.dm_os_volume_stats(f.database_id, f.file_id) AS v \
                     WHERE f.type IN (0, 1)",
                "SELECT DB_NAME(f.database_id), CAST(f.name AS nvarchar(128)), f.type_desc, CAST(f.size AS bigint) * 8192, \
                     CASE WHEN f.is_percent_growth = 0 THEN CAST(f.growth AS bigint) * 8192 ELSE 0 END, \
                     CASE WHEN f.is_percent_growth = 1 THEN f.growth ELSE 0 END \
                     FROM sys.master_files AS f WHERE f.type IN (0, 1)",
            ],
            grant: Some("in master, GRANT VIEW ANY DEFINITION TO {login}"),
        },
        Question {
            table: "volumes",
            about: "the volumes that its files lie on",
            columns: &["volume"],
            ways: &["SELECT DISTINCT v.volume_mount_point FROM sys.master_files AS f \
                     CROSS APPLY sys.dm_os_volume_stats(f.database_id, f.file_id) AS v"],
            grant: Some(SERVER_STATE),
        },
        Question {
            table: "backups",
            about: "its backups",
            columns: &["database", "path"],
            ways: &["SELECT DISTINCT s.database_name, m.physical_device_name FROM msdb.dbo.backupset AS s \
                     JOIN msdb.dbo.backupmediafamily AS m ON m.media_set_id = s.media_set_id \
                     WHERE s.backup_finish_date > DATEADD(day, -31, GETDATE()) AND m.device_type IN (2, 102)"],
            grant: Some(HISTORY),
        },
        Question {
            table: "suspect",
            about: "pages that it could not read",
            columns: &["pages"],
            ways: &["SELECT count(*) FROM msdb.dbo.suspect_pages WHERE event_type IN (1, 2, 3)"],
            grant: Some(HISTORY),
        },
        Question {
            table: "services",
            about: "instant file initialization",
            columns: &["instant_file_initialization"],
            ways: &["SELECT instant_file_initialization_enabled FROM sys.dm_server_services \
                     WHERE servicename LIKE 'SQL Server (%'"],
            grant: Some(SERVER_STATE),
        },
        Question {
            table: "power",
            about: "the power plan",
            columns: &["plan"],
            // Nothing where there is no such key, as on Linux.
            ways: &["DECLARE @plan nvarchar(64); EXECUTE master.dbo.xp_regread N'HKEY_LOCAL_MACHINE', \
                     N'SYSTEM\\CurrentControlSet\\Control\\Power\\User\\PowerSchemes', N'ActivePowerScheme', @plan OUTPUT; \
                     SELECT @plan"],
            grant: Some("in master, GRANT EXECUTE ON xp_regread TO {login}"),
        },
    ],
};
