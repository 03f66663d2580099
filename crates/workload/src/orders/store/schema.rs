//! Tables, keys and procedures of the store.

use database::{Dialect, Error, Session};

use super::abilities::{Abilities, make_files};
use super::statements::Schema;
use crate::orders::size::StoreSize;

/// Makes the tables, empty, and the files that they lie in where a server takes any from us. Keys that a table can get later are left
/// to [`after_load`].
///
/// # Errors
/// Those of the database, such as when there are tables of these names.
pub async fn create_tables(session: &mut Session, size: StoreSize) -> Result<(), Error> {
    let abilities = Abilities::of(session).await?;
    make_files(session, abilities, size).await?;
    let create = Schema::of(session.dialect()).create;
    session.script(&abilities.filled(create)).await
}

/// Makes a session ready to load rows: it does not look for the parents of rows.
///
/// # Errors
/// Those of the database.
pub async fn prepare_load(session: &mut Session) -> Result<(), Error> {
    run(session, Schema::of(session.dialect()).load_session).await
}

/// What is to be run after a load, in this order and in one session: keys, indexes, foreign keys and the restock rule, so
/// that new customers and orders are numbered from the largest ids that were loaded; the procedures; and what has the
/// database look at its rows, so that it knows how to find them. Each but the last few takes as long as its table is large.
#[must_use]
pub fn after_load(dialect: Dialect, abilities: Abilities) -> Vec<String> {
    let schema = Schema::of(dialect);
    let search = schema.differs.as_ref().map_or_else(Vec::new, |differs| abilities.search(differs));
    let statistics = schema.differs.is_none() || abilities.samples;
    let steps = dialect.statements(schema.keys).into_iter().chain(search).chain(schema.procedures);
    let steps = steps.chain(statistics.then_some(schema.statistics));
    steps.map(|step| abilities.filled(step)).collect()
}

/// Removes tables and procedures, if they are there.
///
/// # Errors
/// Those of the database.
pub async fn drop_tables(session: &mut Session) -> Result<(), Error> {
    session.script(Schema::of(session.dialect()).drop).await
}

pub(super) async fn run(session: &mut Session, script: Option<&str>) -> Result<(), Error> {
    match script {
        Some(script) => session.script(script).await,
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The keys of PostgreSQL took ten minutes at 40 GB, told as one step.
    #[test]
    fn each_index_is_a_step_and_no_word_is_lost() {
        for (dialect, indexes) in [(Dialect::Sqlite, 8), (Dialect::Postgres, 16), (Dialect::Mysql, 7)] {
            let schema = Schema::of(dialect);
            let steps = dialect.statements(schema.keys);
            assert_eq!(steps.concat(), schema.keys);
            let makes =
                |step: &&&str| step.contains("INDEX") || step.contains("ADD ") || step.contains("VIRTUAL");
            assert!(steps.iter().filter(makes).count() >= indexes, "{dialect:?}: {steps:#?}");
            let body = |step: &&str| step.contains("reorder");
            assert_eq!(steps.iter().position(body), Some(steps.len() - 1), "{dialect:?}");
            let all = after_load(dialect, Abilities::default());
            assert_eq!(all.len(), steps.len() + 1 + usize::from(schema.procedures.is_some()));
        }
    }

    #[test]
    fn what_a_server_can_decides_what_follows_a_load() {
        let all = Abilities { files: true, text_search: true, samples: true };
        let [can, cannot] =
            [all, Abilities::default()].map(|can| after_load(Dialect::SqlServer, can).join("\n"));
        for word in ["CONTAINS (actor", "STOPLIST = OFF", " ON DS_IND_FG", "SAMPLE 18 PERCENT"] {
            assert!(can.contains(word) && !cannot.contains(word), "{word}");
        }
        assert!(cannot.contains("actor + ' ' LIKE") && !can.contains(" LIKE "));
        let keys = |steps: &str| {
            steps.matches("CREATE INDEX").count() + steps.matches("CREATE UNIQUE INDEX").count()
        };
        assert_eq!((keys(&can), keys(&cannot)), (10, 10));
    }
}
