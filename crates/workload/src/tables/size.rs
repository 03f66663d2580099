//! What a table takes, as its server tells it.

use database::{Dialect, Error, Session, Value};
use record::TableSize;

use super::made::Made;

/// Asks for the table's size on disk, or in memory where it lives there.
///
/// # Errors
/// Those of the database.
pub(super) async fn of(session: &mut Session, made: &Made) -> Result<TableSize, Error> {
    let is_flushed = match made.flush {
        Some(flush) => flushed(session, flush).await?,
        None => true,
    };
    let disk = on_disk(session.dialect(), made).filter(|_| is_flushed);
    let disk_bytes = ask(session, disk).await?;
    let memory_bytes = ask(session, in_memory(session.dialect(), made)).await?;
    Ok(TableSize { disk_bytes, memory_bytes })
}

/// False where this user may not have the server do so, and no size is known.
async fn flushed(session: &mut Session, flush: &str) -> Result<bool, Error> {
    match session.script(flush).await {
        Ok(()) => Ok(true),
        Err(Error::Statement(_) | Error::Denied(_)) => Ok(false),
        Err(error) => Err(error),
    }
}

async fn ask(session: &mut Session, sql: Option<&str>) -> Result<Option<u64>, Error> {
    let Some(sql) = sql else { return Ok(None) };
    // Not all that speaks T-SQL tells it.
    if let Some(view) = sql.split_whitespace().find(|word| word.starts_with("sys."))
        && session
            .query(&format!("SELECT OBJECT_ID('{view}')"), &[])
            .await?
            .first()
            .is_none_or(|row| row[0] == Value::Null)
    {
        return Ok(None);
    }
    let found = session.query(sql, &[]).await?;
    let bytes = found.first().and_then(|row| row.first()).and_then(|value| match value {
        Value::F64(bytes) => Some(*bytes as u64),
        Value::I64(_) | Value::I32(_) | Value::I16(_) | Value::Null | Value::Text(_) => {
            value.integer().and_then(|bytes| u64::try_from(bytes).ok())
        }
    });
    Ok(bytes)
}

const MYSQL: &str = "SELECT CAST(SUM(DATA_LENGTH + INDEX_LENGTH) AS SIGNED) FROM information_schema.TABLES \
                     WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'prony_rows'";

/// None of a table that has nothing on disk.
fn on_disk(dialect: Dialect, made: &Made) -> Option<&'static str> {
    match dialect {
        _ if made.is_in_memory => None,
        // Nothing else is in its file; pages that earlier tables left are free.
        Dialect::Sqlite => Some(
            "SELECT (c.page_count - f.freelist_count) * s.page_size \
             FROM pragma_page_count c, pragma_freelist_count f, pragma_page_size s",
        ),
        // As there.
        Dialect::DuckDb => Some(
            "SELECT CAST(used_blocks * block_size AS bigint) FROM pragma_database_size() WHERE database_name = current_database()",
        ),
        Dialect::Postgres => Some("SELECT pg_total_relation_size('prony_rows')"),
        Dialect::Mysql => Some(MYSQL),
        Dialect::SqlServer => Some(
            "SELECT SUM(reserved_page_count) * 8192 FROM sys.dm_db_partition_stats WHERE object_id = OBJECT_ID('prony_rows')",
        ),
        Dialect::ClickHouse => Some(
            "SELECT toInt64(sum(bytes_on_disk)) FROM system.parts \
             WHERE database = currentDatabase() AND table = 'prony_rows' AND active",
        ),
    }
}

/// None of a table that lives on disk: what a cache holds of it says nothing of the table.
fn in_memory(dialect: Dialect, made: &Made) -> Option<&'static str> {
    match dialect {
        _ if !made.is_in_memory => None,
        Dialect::Sqlite => Some(
            "SELECT c.page_count * s.page_size FROM pragma_page_count c, pragma_page_size s \
             WHERE c.schema = 'memory' AND s.schema = 'memory'",
        ),
        // None of its tables live in memory.
        Dialect::Postgres | Dialect::ClickHouse | Dialect::DuckDb => None,
        Dialect::Mysql => Some(MYSQL),
        Dialect::SqlServer => Some(
            "SELECT SUM(memory_allocated_for_table_kb + memory_allocated_for_indexes_kb) * 1024 \
             FROM sys.dm_db_xtp_table_memory_stats WHERE object_id = OBJECT_ID('prony_rows')",
        ),
    }
}
