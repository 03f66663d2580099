//! Pages that rows and indexes use. InnoDB gives an index whole extents of 64 pages, up to four of them ahead, and extends files by
//! extents too: only its own statistics know which pages of an index hold rows.

use super::{MysqlSession, number};
use crate::{Dialect, Error, UsedSpace, Value};

/// Statistics of MySQL 8 are those of a day before unless it is asked to look again.
const FRESH: &str = "SET SESSION information_schema_stats_expiry = 0";
const TABLES: &str = "SELECT table_name FROM information_schema.tables \
                      WHERE table_schema = database() AND table_type = 'BASE TABLE'";
/// Leaf pages are those in use; `size` has all that are reserved. Branches are one page in some hundreds.
const LEAF_PAGES: &str = "SELECT CAST(sum(stat_value * @@innodb_page_size) AS SIGNED), count(DISTINCT table_name) \
                          FROM mysql.innodb_index_stats \
                          WHERE database_name = database() AND stat_name = 'n_leaf_pages'";
/// What InnoDB reserved, free extents of the file left out, and the trees that it reserved it for.
const RESERVED: &str = "SELECT CAST(sum(data_length + index_length) AS SIGNED), \
     CAST(sum(CASE WHEN engine <> 'InnoDB' THEN data_length + index_length ELSE 0 END) AS SIGNED), \
     sum(CASE WHEN engine = 'InnoDB' THEN 1 ELSE 0 END) \
     FROM information_schema.tables WHERE table_schema = database() AND table_type = 'BASE TABLE'";
const INDEXES: &str = "SELECT count(DISTINCT table_name, index_name) FROM information_schema.statistics \
                       WHERE table_schema = database() AND index_name <> 'PRIMARY'";

const EXTENT_BYTES: u64 = 1 << 20;
/// A tree of so many extents is given up to four extents ahead, a smaller one a single one.
const LARGE_EXTENTS: u64 = 32;
const EXTENTS_AHEAD: u64 = 5;

impl MysqlSession {
    pub(crate) async fn used_space(&mut self) -> Result<Option<UsedSpace>, Error> {
        self.told(FRESH).await?;
        let tables = self.told(TABLES).await?;
        let names: Vec<String> = tables
            .iter()
            .filter_map(|row| row.first()?.text())
            .map(|name| Dialect::Mysql.quoted(name))
            .collect();
        if names.is_empty() {
            return Ok(Some(UsedSpace::default()));
        }
        self.told(&format!("ANALYZE NO_WRITE_TO_BINLOG TABLE {}", names.join(", "))).await?;
        let Some([reserved, of_others, trees]) = self.numbers::<3>(RESERVED).await? else { return Ok(None) };
        if let Some([leaves, known]) = self.numbers::<2>(LEAF_PAGES).await?
            && known >= trees
        {
            return Ok(Some(UsedSpace { bytes: leaves + of_others, uncertain_bytes: 0 }));
        }
        let indexes = self.numbers::<1>(INDEXES).await?.map_or(trees, |[indexes]| indexes);
        Ok(Some(UsedSpace {
            bytes: reserved,
            uncertain_bytes: ahead(reserved.saturating_sub(of_others), trees + indexes),
        }))
    }

    /// Rows, or none if this login may not see them, or the server has no such thing.
    async fn told(&mut self, sql: &str) -> Result<Vec<Vec<Value>>, Error> {
        match self.query(sql, &[]).await {
            Err(error) if error.is_lost() => Err(error),
            rows => Ok(rows.unwrap_or_default()),
        }
    }

    async fn numbers<const COUNT: usize>(&mut self, sql: &str) -> Result<Option<[u64; COUNT]>, Error> {
        let rows = self.told(sql).await?;
        let found = rows.first().and_then(|row| {
            row.iter().map(|value| number(value)?.try_into().ok()).collect::<Option<Vec<u64>>>()
        });
        Ok(found.and_then(|found| found.try_into().ok()))
    }
}

/// Most bytes of these trees that are reserved and hold no row.
fn ahead(reserved: u64, trees: u64) -> u64 {
    let extents = if reserved / trees.max(1) >= LARGE_EXTENTS * EXTENT_BYTES { EXTENTS_AHEAD } else { 1 };
    (trees * extents * EXTENT_BYTES).min(reserved)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_given_an_extent_ahead_and_a_large_one_several() {
        const MIB: u64 = 1 << 20;
        assert_eq!(ahead(5 * MIB, 2), 2 * MIB);
        assert_eq!(ahead(MIB / 2, 2), MIB / 2, "not more than there is");
        assert_eq!(ahead(100 * MIB, 2), 10 * MIB);
        assert_eq!(ahead(0, 0), 0);
    }
}
