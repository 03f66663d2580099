//! What servers of one dialect can that others of it cannot, asked of the server: files where we say, full-text search, statistics of a
//! sample. A store is made accordingly, and how it was made is told with each run.

use database::{Dialect, Error, Session, Value};
use record::ServerSetting;

use super::statements::{Differs, Schema};
use crate::orders::size::StoreSize;

/// What a server can. Of dialects whose servers do not differ all of it is as their files have it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Abilities {
    /// Files and filegroups where we say.
    pub(super) files: bool,
    /// Full-text search.
    pub(super) text_search: bool,
    /// Statistics of a sample.
    pub(super) samples: bool,
}

/// A file of a filegroup, and its initial size of a store of 1 GB, as DVD Store 2.1 has them; the log beside them has as much as the
/// store. Of 100 GB these are 100 times as much but for the first, which holds what grows with the products: 1 GB.
const FILES: [(&str, &str, u32); 7] = [
    ("DS_MISC_FG", "ds_misc", 200),
    ("DS_CUST_FG", "cust1", 600),
    ("DS_CUST_FG", "cust2", 600),
    ("DS_ORDERS_FG", "orders1", 300),
    ("DS_ORDERS_FG", "orders2", 300),
    ("DS_IND_FG", "ind1", 150),
    ("DS_IND_FG", "ind2", 150),
];
/// What stands for a filegroup in scripts.
const TOKENS: [(&str, &str); 4] = [
    ("{misc}", "DS_MISC_FG"),
    ("{cust}", "DS_CUST_FG"),
    ("{orders}", "DS_ORDERS_FG"),
    ("{ind}", "DS_IND_FG"),
];
/// Initial size of the log of a store of 1 GB, in MB.
const LOG_MB: u32 = 1_000;
/// Smallest initial size of a file, in MB.
const FILE_MB_MIN: u64 = 8;
/// Size from which on the file of products is as large as of any store, in MB.
const PRODUCTS_MB_MAX: u64 = 1_000;

impl Abilities {
    /// What the server of a session can.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn of(session: &mut Session) -> Result<Self, Error> {
        let Some(differs) = &Schema::of(session.dialect()).differs else { return Ok(Self::default()) };
        let rows = session.query(differs.abilities, &[]).await?;
        let can = |index: usize| {
            rows.first().and_then(|row| row.get(index)).and_then(Value::integer).is_some_and(|can| can != 0)
        };
        Ok(Self { files: can(0), text_search: can(1), samples: can(2) })
    }

    /// A script with the filegroups that there are.
    pub(super) fn filled(self, script: &str) -> String {
        TOKENS.iter().fold(script.to_owned(), |script, (token, group)| {
            script.replace(token, &if self.files { format!(" ON {group}") } else { String::new() })
        })
    }

    /// Scripts that make what products are searched by.
    pub(super) fn search(self, differs: &Differs) -> Vec<&'static str> {
        match self.text_search {
            true => differs.text.into_iter().chain([differs.search_by_text]).collect(),
            false => vec![differs.search_by_like],
        }
    }
}

/// Makes the files of a store of this size, where the server lets us say where they are.
pub(super) async fn make_files(
    session: &mut Session,
    abilities: Abilities,
    size: StoreSize,
) -> Result<(), Error> {
    let Some(differs) = Schema::of(session.dialect()).differs.as_ref().filter(|_| abilities.files) else {
        return Ok(());
    };
    let rows = session.query(differs.files_path, &[]).await?;
    let mut database = "";
    let mut dirs: Vec<&str> = Vec::new();
    for row in &rows {
        if let [Value::Text(path), Value::Text(of)] = row.as_slice() {
            database = of;
            dirs.extend(path.rsplit_once(['/', '\\']).map(|(dir, _)| dir));
        }
    }
    if dirs.is_empty() {
        return Err(Error::Statement("the server does not report where its database files are".to_owned()));
    }
    for script in files(session.dialect(), differs, (&dirs, database), size) {
        session.script(&script).await?;
    }
    Ok(())
}

/// The scripts that make the files of a database, each group before its files, in each of its directories in turn.
fn files(
    dialect: Dialect,
    differs: &Differs,
    (dirs, database): (&[&str], &str),
    size: StoreSize,
) -> Vec<String> {
    let mut scripts: Vec<String> = Vec::new();
    for (index, (group, name, mb)) in FILES.iter().enumerate() {
        let dir = dirs[index % dirs.len()];
        // Of the root of a volume nothing is left of its directory.
        let separator = if dir.contains('\\') || dir.ends_with(':') { '\\' } else { '/' };
        if FILES[..index].iter().all(|(other, ..)| other != group) {
            scripts.push(differs.add_filegroup.replace("{group}", group));
        }
        let most = if index == 0 { PRODUCTS_MB_MAX } else { u64::MAX };
        let file = dialect.text(&format!("{dir}{separator}{database}_{name}.ndf"));
        let file =
            differs.add_file.replace("{group}", group).replace("{name}", name).replace("{path}", &file);
        scripts.push(file.replace("{size_mb}", &initial_mb(*mb, size).min(most).to_string()));
    }
    scripts.push(differs.size_log.replace("{size_mb}", &initial_mb(LOG_MB, size).to_string()));
    scripts
}

/// Of a file that has so many MB in a store of 1 GB.
fn initial_mb(mb: u32, size: StoreSize) -> u64 {
    (u64::from(mb) * u64::from(size.megabytes()) / 1024).max(FILE_MB_MIN)
}

/// Makes what products are searched by again where it is gone: a snapshot brings back everything else.
///
/// # Errors
/// Those of the database.
pub(in crate::orders) async fn search_again(session: &mut Session) -> Result<(), Error> {
    let Some(differs) = &Schema::of(session.dialect()).differs else { return Ok(()) };
    if !Abilities::of(session).await?.text_search
        || session.query(differs.text_lost, &[]).await? != [[Value::I64(1)]]
    {
        return Ok(());
    }
    for script in differs.text {
        session.script(script).await?;
    }
    Ok(())
}

/// How a store was made, as far as servers of its dialect differ: in the form of settings of its server.
///
/// # Errors
/// Those of the database.
pub(in crate::orders) async fn told(session: &mut Session) -> Result<Vec<ServerSetting>, Error> {
    let Some(differs) = &Schema::of(session.dialect()).differs else { return Ok(Vec::new()) };
    let rows = session.query(differs.told, &[]).await?;
    Ok(settings(&rows))
}

fn settings(rows: &[Vec<Value>]) -> Vec<ServerSetting> {
    let setting = |row: &Vec<Value>| match row.as_slice() {
        [Value::Text(name), Value::Text(value)] => {
            Some(ServerSetting { name: name.clone(), value: value.clone() })
        }
        _ => None,
    };
    rows.iter().filter_map(setting).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn differs() -> &'static Differs {
        Schema::of(Dialect::SqlServer).differs.as_ref().unwrap()
    }

    #[test]
    fn files_have_the_published_sizes_in_proportion() {
        let of = |dirs: &[&str], size: &str| {
            files(Dialect::SqlServer, differs(), (dirs, "o'x"), size.parse().unwrap())
        };
        let made = of(&["/var/opt/mssql/data"], "1GB");
        assert_eq!(made.len(), 4 + FILES.len() + 1);
        assert_eq!(made[0], "ALTER DATABASE CURRENT ADD FILEGROUP DS_MISC_FG");
        assert_eq!(
            made[3],
            "ALTER DATABASE CURRENT ADD FILE (NAME = cust1, FILENAME = N'/var/opt/mssql/data/o''x_cust1.ndf', SIZE = 600MB, \
             FILEGROWTH = 64MB) TO FILEGROUP DS_CUST_FG"
        );
        assert!(made[11].contains("SIZE = 1000MB"), "{}", made[11]);
        let large = of(&[r"D:\sql"], "100GB");
        assert!(large[3].contains(r"N'D:\sql\o''x_cust1.ndf', SIZE = 60000MB"), "{}", large[3]);
        assert!(large[1].contains("SIZE = 1000MB"), "{}", large[1]);
        assert!(of(&["/d"], "1MB").iter().filter(|script| script.contains("SIZE = 8MB")).count() == 8);
        let spread = of(&["D:", r"E:\b"], "1MB");
        assert!(
            spread[3].contains(r"N'E:\b\o''x_cust1.ndf'") && spread[4].contains(r"N'D:\o''x_cust2.ndf'"),
            "{spread:?}"
        );
    }

    #[test]
    fn scripts_name_filegroups_only_where_there_are_some() {
        let all = Abilities { files: true, text_search: true, samples: true };
        let create = Schema::of(Dialect::SqlServer).create;
        assert!(all.filled(create).contains(") ON DS_ORDERS_FG;"));
        let none = Abilities::default().filled(create);
        assert!(!none.contains("DS_") && !none.contains('{'), "{none}");
        assert_eq!((all.search(differs()).len(), Abilities::default().search(differs()).len()), (4, 1));
    }

    #[test]
    fn how_a_store_was_made_is_told_in_words() {
        let text = |text: &str| Value::Text(text.to_owned());
        let told =
            settings(&[vec![text("product search"), text("full-text")], vec![text("odd"), Value::Null]]);
        assert_eq!(
            told,
            [ServerSetting { name: "product search".to_owned(), value: "full-text".to_owned() }]
        );
    }
}
