//! Where samples are stored: the tables, and every statement that the historian runs.
//!
//! SQL stands in files, one a dialect. Nobody else knows which dialect a database speaks; another one is one more file and
//! what it lacks.

use database::{Cell, Column, Dialect, Error, Kind, Rows, RowsProcedure, Session, Table, Value};

use super::buffer::Event;
use crate::named_sql::{has, named, named_unless};

/// Rows of a batch that are looked up to tell whether it was committed. A transaction is there as a whole or not at all;
/// more than one is looked up because rows of the same tag and time may have been written before.
const LOOKED_UP: usize = 16;
/// Tags that are inserted at once.
const TAGS_AT_ONCE: usize = 10_000;
/// Name of a partition, followed by the time at which it ends.
const PARTITION_NAME: &str = "samples_until_";

/// Table of samples.
pub(crate) static SAMPLES: Table = Table {
    name: "samples",
    columns: &[
        Column { name: "tag_id", kind: Kind::I32 },
        Column { name: "time_us", kind: Kind::I64 },
        Column { name: "value", kind: Kind::F64 },
        Column { name: "quality", kind: Kind::I16 },
    ],
};

/// What takes samples as one parameter, where a dialect has it.
pub(crate) static ROWS_PROCEDURE: RowsProcedure =
    RowsProcedure { name: "append_samples", row_type: "samples_rows" };

/// Table of tags.
static TAGS: Table = Table {
    name: "tags",
    columns: &[Column { name: "tag_id", kind: Kind::I32 }, Column { name: "name", kind: Kind::Text }],
};
/// Table of one row: how the others were made.
static LAYOUT: Table = Table { name: "layout", columns: &[Column { name: "layout", kind: Kind::Text }] };

/// The tables of one historian.
#[derive(Debug)]
pub(crate) struct Store {
    sql: &'static Sql,
    /// How the tables are made.
    pub(crate) layout: Layout,
    trend: String,
    latest: String,
    lookup: String,
}

/// How the tables are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// Whether samples are indexed by tag and time.
    pub(crate) index: bool,
    /// Length of a partition in microseconds.
    pub(crate) partition_us: Option<i64>,
    /// Whether a shrink has to be possible.
    pub(crate) shrink: bool,
}

/// The statements of a dialect, each by its name in the dialect's file.
#[derive(Debug)]
struct Sql {
    dialect: Dialect,
    drop: &'static str,
    create: &'static str,
    index: &'static str,
    exists: &'static str,
    layout: &'static str,
    count: &'static str,
    count_since: &'static str,
    read_since: &'static str,
    count_tags: &'static str,
    newest: &'static str,
    lookup: &'static str,
    trend: &'static str,
    latest: &'static str,
    latest_without_index: &'static str,
    purge: &'static str,
    shrink: &'static str,
    /// Before tables are made, where they have to be made otherwise to be shrunk.
    shrinkable: Option<&'static str>,
    /// For the session that purges, where its settings matter.
    purge_session: Option<&'static str>,
    /// Where rows can be handed over as a table, what takes them.
    rows_procedure: Option<&'static str>,
    /// None where there are no partitions.
    partitions: Option<PartitionSql>,
}

#[derive(Debug)]
struct PartitionSql {
    create: &'static str,
    list: &'static str,
    add: &'static str,
    drop: &'static str,
    count: &'static str,
    /// Answers 1 if a server has them, where not all have.
    can: Option<&'static str>,
}

/// What a dialect has no statement for: nothing to be done, or no partitions.
const fn lacks(dialect: Dialect) -> &'static [&'static str] {
    match dialect {
        Dialect::Sqlite => &[
            "purge_session",
            "create_partitioned",
            "partitions",
            "partition_add",
            "partition_drop",
            "partition_count",
            "can_partition",
            "rows_procedure",
        ],
        Dialect::Postgres => &["shrinkable", "purge_session", "can_partition", "rows_procedure"],
        Dialect::Mysql => &["shrinkable", "can_partition", "rows_procedure"],
        Dialect::SqlServer => &["shrinkable", "purge_session"],
        Dialect::ClickHouse | Dialect::DuckDb => crate::named_sql::by_columns(),
    }
}

const fn sql(dialect: Dialect, file: &'static str) -> Sql {
    Sql {
        dialect,
        drop: named(file, "drop"),
        create: named(file, "create"),
        index: named(file, "index"),
        exists: named(file, "exists"),
        layout: named(file, "layout"),
        count: named(file, "count"),
        count_since: named(file, "count_since"),
        read_since: named(file, "read_since"),
        count_tags: named(file, "count_tags"),
        newest: named(file, "newest"),
        lookup: named(file, "lookup"),
        trend: named(file, "trend"),
        latest: named(file, "latest"),
        latest_without_index: named(file, "latest_without_index"),
        purge: named(file, "purge"),
        shrink: named(file, "shrink"),
        shrinkable: named_unless(lacks(dialect), file, "shrinkable"),
        purge_session: named_unless(lacks(dialect), file, "purge_session"),
        rows_procedure: named_unless(lacks(dialect), file, "rows_procedure"),
        partitions: if has(lacks(dialect), "partitions") { None } else { Some(partition_sql(dialect, file)) },
    }
}

const fn partition_sql(dialect: Dialect, file: &'static str) -> PartitionSql {
    PartitionSql {
        create: named(file, "create_partitioned"),
        list: named(file, "partitions"),
        add: named(file, "partition_add"),
        drop: named(file, "partition_drop"),
        count: named(file, "partition_count"),
        can: named_unless(lacks(dialect), file, "can_partition"),
    }
}

static SQLITE: Sql = sql(Dialect::Sqlite, include_str!("sql/sqlite.sql"));
static POSTGRES: Sql = sql(Dialect::Postgres, include_str!("sql/postgres.sql"));
static MYSQL: Sql = sql(Dialect::Mysql, include_str!("sql/mysql.sql"));
static SQL_SERVER: Sql = sql(Dialect::SqlServer, include_str!("sql/sqlserver.sql"));

impl Sql {
    fn of(dialect: Dialect) -> &'static Self {
        match dialect {
            Dialect::Sqlite => &SQLITE,
            Dialect::Postgres => &POSTGRES,
            Dialect::Mysql => &MYSQL,
            Dialect::SqlServer => &SQL_SERVER,
            Dialect::ClickHouse | Dialect::DuckDb => crate::named_sql::by_columns(),
        }
    }
}

impl Store {
    /// Statements for a database of this dialect; screens show so many tags.
    pub(crate) fn new(dialect: Dialect, layout: Layout, screen_tags: usize) -> Self {
        let sql = Sql::of(dialect);
        let latest = if layout.index { sql.latest } else { sql.latest_without_index };
        let lookup = sql.lookup.replace("{times}", &dialect.placeholders(1, LOOKED_UP));
        Self {
            sql,
            layout,
            trend: sql.trend.replace("{tags}", &dialect.placeholders(2, screen_tags)),
            latest: latest.replace("{tags}", &dialect.placeholders(1, screen_tags)),
            lookup: lookup.replace("{tags}", &dialect.placeholders(1 + LOOKED_UP, LOOKED_UP)),
        }
    }

    /// Whether the dialect has a procedure that takes rows.
    pub(crate) fn has_rows_procedure(&self) -> bool {
        self.sql.rows_procedure.is_some()
    }

    /// Whether the dialect has partitions.
    pub(crate) fn has_partitions(&self) -> bool {
        self.sql.partitions.is_some()
    }

    /// Makes the tables: anew if `fresh`, else only if there are none. Gives whether they were there.
    ///
    /// # Errors
    /// When tables are there that were made otherwise.
    pub(crate) async fn make(&self, session: &mut Session, fresh: bool) -> Result<bool, Error> {
        if fresh {
            session.script(self.sql.drop).await?;
        } else if self.number(session, self.sql.exists, &[]).await? > 0 {
            if !self.is_half_made(session).await? {
                self.check_layout(session).await?;
                return Ok(true);
            }
            session.script(self.sql.drop).await?;
        }
        if let Some(shrinkable) = self.sql.shrinkable.filter(|_| self.layout.shrink) {
            session.script(shrinkable).await?;
        }
        let create = match (&self.sql.partitions, self.layout.partition_us) {
            (Some(partitions), Some(_)) => {
                self.check_partitions(session, partitions).await?;
                partitions.create
            }
            (None, _) | (_, None) => self.sql.create,
        };
        session.script(create).await?;
        if let Some(procedure) = self.sql.rows_procedure {
            session.script(procedure).await?;
        }
        if self.layout.index {
            session.script(self.sql.index).await?;
        }
        let mut rows = Rows::with_capacity(1, 1);
        rows.push([Value::Text(self.layout.to_string())]);
        session.append(&LAYOUT, &mut rows, database::WriteMethod::MultiRow).await?;
        Ok(false)
    }

    /// Refuses partitions that this server has not.
    async fn check_partitions(&self, session: &mut Session, sql: &PartitionSql) -> Result<(), Error> {
        let Some(can) = sql.can else { return Ok(()) };
        if self.number(session, can, &[]).await? == 1 {
            return Ok(());
        }
        let parameter = super::parameter("partition");
        Err(Error::NoDatabase(format!(
            "this server cannot empty a partition of {}: {parameter} needs SQL Server 2016 or later; omit this option",
            SAMPLES.name
        )))
    }

    /// Whether a run was killed while it made the tables: how they are made is written last, and nothing before that.
    async fn is_half_made(&self, session: &mut Session) -> Result<bool, Error> {
        if session.query(self.sql.layout, &[]).await.is_ok_and(|rows| !rows.is_empty()) {
            return Ok(false);
        }
        match session.query(self.sql.count, &[]).await {
            Ok(rows) => Ok(rows.first().and_then(|row| row.first()).and_then(whole) == Some(0)),
            // There is no such table yet.
            Err(Error::Statement(_)) => Ok(true),
            Err(error) => Err(error),
        }
    }

    async fn check_layout(&self, session: &mut Session) -> Result<(), Error> {
        let rows = session.query(self.sql.layout, &[]).await?;
        let found = rows.first().and_then(|row| row.first()).and_then(Value::text);
        let found = found.unwrap_or("unknown, because their creation was interrupted");
        let wanted = self.layout.to_string();
        if found == wanted {
            return Ok(());
        }
        Err(Error::NoDatabase(format!(
            "the existing tables were created with other parameters ({found}; wanted: {wanted}): use the same parameters, or start \
            with an empty database"
        )))
    }

    /// Adds the tags that are not there yet.
    pub(crate) async fn add_tags(
        &self,
        session: &mut Session,
        tags: u32,
        name: impl Fn(u32) -> String,
        mut on_added: impl FnMut(u64),
    ) -> Result<(), Error> {
        let there = self.number(session, self.sql.count_tags, &[]).await? as u32;
        let mut rows = Rows::with_capacity(2, TAGS_AT_ONCE.min(tags as usize));
        let mut next = there;
        while next < tags {
            let end = tags.min(next + TAGS_AT_ONCE as u32);
            rows.clear();
            (next..end).for_each(|tag| rows.push([Value::I32(tag as i32), Value::Text(name(tag))]));
            session.append(&TAGS, &mut rows, database::WriteMethod::Bulk).await?;
            next = end;
            on_added(u64::from(next));
        }
        Ok(())
    }

    /// Reads a time window of tags, and gives the number of rows.
    pub(crate) async fn trend(
        &self,
        session: &mut Session,
        tags: &[Value],
        since_us: i64,
    ) -> Result<u64, Error> {
        let parameters: Vec<Value> =
            std::iter::once(Value::I64(since_us)).chain(tags.iter().cloned()).collect();
        session.count_rows(&self.trend, &parameters).await
    }

    /// Reads the latest values of tags, and gives the number of rows.
    pub(crate) async fn latest(&self, session: &mut Session, tags: &[Value]) -> Result<u64, Error> {
        session.count_rows(&self.latest, tags).await
    }

    /// Rows in the table.
    pub(crate) async fn count(&self, session: &mut Session) -> Result<u64, Error> {
        Ok(self.number(session, self.sql.count, &[]).await? as u64)
    }

    /// Rows in the table from a time on.
    pub(crate) async fn count_since(&self, session: &mut Session, time_us: i64) -> Result<u64, Error> {
        Ok(self.number(session, self.sql.count_since, &[Value::I64(time_us)]).await? as u64)
    }

    /// Reads all rows from a time on: tag, time, value and quality of each are added to `state`.
    pub(crate) async fn read_since<T: Send + 'static>(
        &self,
        session: &mut Session,
        time_us: i64,
        state: T,
        add: fn(&mut T, &[Cell<'_>]),
    ) -> Result<T, Error> {
        session.fold(self.sql.read_since, &[Value::I64(time_us)], state, add).await
    }

    /// Time of the newest row, if there is one.
    pub(crate) async fn newest_us(&self, session: &mut Session) -> Result<Option<i64>, Error> {
        let rows = session.query(self.sql.newest, &[]).await?;
        Ok(rows.first().and_then(|row| row.first()).and_then(whole))
    }

    /// Whether a batch was committed, judged by some of its rows.
    pub(crate) async fn holds(&self, session: &mut Session, batch: &[Event]) -> Result<bool, Error> {
        let Some(looked_up) = looked_up(batch) else { return Ok(true) };
        let key = |number: usize| looked_up[number.min(looked_up.len() - 1)].0;
        let times = (0..LOOKED_UP).map(|number| Value::I64(key(number).0));
        let tags = (0..LOOKED_UP).map(|number| Value::I32(key(number).1 as i32));
        let parameters: Vec<Value> = times.chain(tags).collect();
        let found = session.query(&self.lookup, &parameters).await?;
        let in_database = |(time_us, tag): (i64, u32)| {
            found
                .iter()
                .find(|row| {
                    row.first().and_then(whole) == Some(i64::from(tag)) && whole(&row[1]) == Some(time_us)
                })
                .and_then(|row| whole(&row[2]))
                .unwrap_or(0)
        };
        Ok(looked_up.iter().all(|&(key, count)| in_database(key) >= count))
    }

    /// Makes a session ready to purge.
    pub(crate) async fn prepare_purge(&self, session: &mut Session) -> Result<(), Error> {
        match self.sql.purge_session {
            Some(sql) => session.script(sql).await,
            None => Ok(()),
        }
    }

    /// Deletes up to `rows` rows that are older than `cutoff_us`, and gives how many. Fewer: there are no more.
    pub(crate) async fn purge(&self, session: &mut Session, cutoff_us: i64, rows: u64) -> Result<u64, Error> {
        session.execute(self.sql.purge, &[Value::I64(cutoff_us), Value::I64(rows as i64)]).await
    }

    /// Gives room back to the file system.
    pub(crate) async fn shrink(&self, session: &mut Session) -> Result<(), Error> {
        // SQLite frees one page a step: a statement has to be run to its end, which a script is not.
        for statement in self.sql.dialect.statements(self.sql.shrink) {
            session.execute(statement, &[]).await?;
        }
        Ok(())
    }

    /// Ends of the partitions, rising, in microseconds since 1970. Rows beyond the last one are in a rest that stays.
    pub(crate) async fn partitions(&self, session: &mut Session) -> Result<Vec<i64>, Error> {
        let Some(sql) = &self.sql.partitions else { return Ok(Vec::new()) };
        let rows = session.query(sql.list, &[]).await?;
        let until_us =
            |row: &Vec<Value>| row.first()?.text()?.strip_prefix(PARTITION_NAME)?.parse::<i64>().ok();
        let mut ends: Vec<i64> = rows.iter().filter_map(until_us).collect();
        ends.sort_unstable();
        Ok(ends)
    }

    /// Makes the partitions from `from_us` to `until_us` that are not there yet.
    pub(crate) async fn add_partitions(
        &self,
        session: &mut Session,
        from_us: i64,
        until_us: i64,
    ) -> Result<(), Error> {
        let (Some(sql), Some(length_us)) = (&self.sql.partitions, self.layout.partition_us) else {
            return Ok(());
        };
        let there = self.partitions(session).await?.last().copied().unwrap_or(i64::MIN);
        let mut start_us = there.max(from_us.div_euclid(length_us) * length_us);
        while start_us < until_us {
            let end_us = start_us + length_us;
            let add = sql.add.replace("{from_us}", &start_us.to_string());
            session.script(&add.replace("{until_us}", &end_us.to_string())).await?;
            start_us = end_us;
        }
        Ok(())
    }

    /// Rows in the partition that ends at `until_us`.
    pub(crate) async fn count_partition(&self, session: &mut Session, until_us: i64) -> Result<u64, Error> {
        let Some(sql) = &self.sql.partitions else { return Ok(0) };
        let count = sql.count.replace("{until_us}", &until_us.to_string());
        let rows = session.query(&count, &[]).await?;
        Ok(rows.first().and_then(|row| row.first()).and_then(whole).unwrap_or(0) as u64)
    }

    /// Drops the partition that ends at `until_us`.
    pub(crate) async fn drop_partition(&self, session: &mut Session, until_us: i64) -> Result<(), Error> {
        let Some(sql) = &self.sql.partitions else { return Ok(()) };
        session.script(&sql.drop.replace("{until_us}", &until_us.to_string())).await
    }

    async fn number(&self, session: &mut Session, sql: &str, parameters: &[Value]) -> Result<i64, Error> {
        let rows = session.query(sql, parameters).await?;
        Ok(rows.first().and_then(|row| row.first()).and_then(whole).unwrap_or(0).max(0))
    }
}

impl std::fmt::Display for Layout {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.index { "with index" } else { "without index" })?;
        match self.partition_us {
            Some(us) => write!(f, ", partitions of {}", load::Span::microseconds(us as u64)),
            None => f.write_str(", no partitions"),
        }
    }
}

/// An event's row, in the order of [`SAMPLES`].
#[inline]
pub(crate) fn row(event: &Event) -> (i32, i64, f64, i16) {
    (event.tag as i32, event.time_us, event.value, i16::from(event.quality))
}

/// Times and tags of some rows spread over a batch, and how often each is in it; none of an empty batch.
fn looked_up(batch: &[Event]) -> Option<Vec<((i64, u32), i64)>> {
    let mut keys: Vec<(i64, u32)> = (0..LOOKED_UP.min(batch.len()))
        .map(|number| &batch[number * batch.len() / LOOKED_UP.min(batch.len())])
        .map(|event| (event.time_us, event.tag))
        .collect();
    keys.sort_unstable();
    keys.dedup();
    let count =
        |key: &(i64, u32)| batch.iter().filter(|event| (event.time_us, event.tag) == *key).count() as i64;
    let counted: Vec<_> = keys.iter().map(|key| (*key, count(key))).collect();
    (!counted.is_empty()).then_some(counted)
}

/// A whole number, whatever its width.
fn whole(value: &Value) -> Option<i64> {
    match *value {
        Value::I16(number) => Some(i64::from(number)),
        Value::I32(number) => Some(i64::from(number)),
        Value::I64(number) => Some(number),
        Value::F64(number) => Some(number as i64),
        Value::Null | Value::Text(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dialect_has_every_statement_or_is_known_to_lack_it() {
        let files = [
            (Dialect::Sqlite, include_str!("sql/sqlite.sql")),
            (Dialect::Postgres, include_str!("sql/postgres.sql")),
            (Dialect::Mysql, include_str!("sql/mysql.sql")),
            (Dialect::SqlServer, include_str!("sql/sqlserver.sql")),
        ];
        assert_eq!(files.map(|(dialect, _)| dialect), Dialect::BY_ROWS);
        crate::named_sql::check_files(&files, |dialect| lacks(dialect).to_vec(), include_str!("store.rs"));
    }
}
