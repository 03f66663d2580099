//! Pages that rows and indexes use. Where sessions wait for each other to extend a table, PostgreSQL extends it by up to 512
//! pages at once, and from version 16 on for every COPY: pages at its end may hold no row yet. They are counted, no others are.

use super::PostgresSession;
use crate::{Error, UsedSpace, Value};

/// Pages at the end of a table that are looked at: the pages that several extensions at once may have left empty.
const TAIL_PAGES: i64 = 2_048;
/// Pages of one extension, where the pages of a table cannot be looked at.
const EXTENSION_PAGES: u64 = 512;

/// Tables and indexes of users; oids below that are those of the server itself.
const RELATIONS: &str = "SELECT quote_ident(n.nspname) || '.' || quote_ident(c.relname), CASE c.relkind WHEN 'r' THEN 1 ELSE 0 END, \
                         pg_relation_size(c.oid) / s.page, s.page \
                         FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace, \
                         (SELECT current_setting('block_size')::bigint AS page) s \
                         WHERE c.relkind IN ('r', 'i', 'm', 't') AND c.oid >= 16384 AND c.relpersistence <> 't'";

/// A table or an index.
struct Relation {
    name: String,
    is_table: bool,
    pages: i64,
    page_bytes: u64,
}

impl Relation {
    fn of(row: &[Value]) -> Option<Self> {
        let [name, is_table, pages, page_bytes] = row else { return None };
        Some(Self {
            name: name.text()?.to_owned(),
            is_table: is_table.integer()? == 1,
            pages: pages.integer()?,
            page_bytes: u64::try_from(page_bytes.integer()?).ok()?,
        })
    }
}

impl PostgresSession {
    pub(crate) async fn used_space(&mut self) -> Result<Option<UsedSpace>, Error> {
        let relations = self.query(RELATIONS, &[]).await?;
        let mut used = UsedSpace::default();
        for relation in relations.iter().filter_map(|row| Relation::of(row)) {
            let pages = relation.pages.unsigned_abs();
            match self.empty_pages(&relation).await {
                Ok(empty) => used.bytes += (pages - empty.min(pages)) * relation.page_bytes,
                Err(error) if error.is_lost() => return Err(error),
                // This login may not read it.
                Err(_) => {
                    used.bytes += pages * relation.page_bytes;
                    used.uncertain_bytes += pages.min(EXTENSION_PAGES) * relation.page_bytes;
                }
            }
        }
        Ok(Some(used))
    }

    /// Pages at the end of a table that hold no row. Indexes grow page by page.
    async fn empty_pages(&mut self, relation: &Relation) -> Result<u64, Error> {
        if !relation.is_table || relation.pages == 0 {
            return Ok(0);
        }
        let first = (relation.pages - TAIL_PAGES).max(0);
        let sql = format!(
            "SELECT count(DISTINCT (ctid::text::point)[0]) FROM ONLY {} \
             WHERE ctid >= '({first},0)'::tid AND ctid < '({},0)'::tid",
            relation.name, relation.pages
        );
        let rows = self.query(&sql, &[]).await?;
        let filled = rows.first().and_then(|row| row.first()).and_then(Value::integer).unwrap_or(0);
        Ok((relation.pages - first - filled).max(0).unsigned_abs())
    }
}
