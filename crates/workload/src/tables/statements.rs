//! The statements of a dialect, each by its name in the dialect's file, and how they are sent: with their values in them, beside them,
//! or as calls of procedures.

use database::{Answer, Dialect, Error, Protocol, Session, Value, Wanted};

use super::kind::{Access, Kind};
use super::mutation;
use crate::named_sql::{has, named, named_unless};

/// What a dialect's file has.
pub(super) struct File {
    /// How a kind of table is made where that is a matter of its DDL.
    create: [(Kind, Option<&'static str>); 10],
    /// What lets tables live in memory; none where nothing is needed.
    pub(super) memory_filegroup: Option<&'static str>,
    /// Statistics, once the rows are there.
    pub(super) settle: &'static str,
    asked: [(Statement, &'static str); 7],
}

impl File {
    const fn of(file: &'static str, lacks: &[&str]) -> Self {
        Self {
            create: [
                (Kind::Row, named_unless(lacks, file, "row")),
                (Kind::Volatile, named_unless(lacks, file, "volatile")),
                (Kind::MemoryDurable, named_unless(lacks, file, "memory_durable")),
                (Kind::Clustered, named_unless(lacks, file, "clustered")),
                (Kind::Covering, named_unless(lacks, file, "covering")),
                (Kind::ColumnstoreIndex, named_unless(lacks, file, "columnstore_index")),
                (Kind::Columnstore, named_unless(lacks, file, "columnstore")),
                (Kind::Archive, named_unless(lacks, file, "archive")),
                (Kind::Rocks, named_unless(lacks, file, "rocks")),
                (Kind::Aria, named_unless(lacks, file, "aria")),
            ],
            memory_filegroup: named_unless(lacks, file, "memory_filegroup"),
            settle: named(file, "settle"),
            asked: [
                (Statement::Select, named(file, "select")),
                (Statement::Scan, named(file, "scan")),
                (Statement::Group, named(file, "group")),
                (Statement::UpdateAll, named(file, "update_all")),
                (Statement::PointUpdate, named(file, "point_update")),
                (Statement::PointDelete, named(file, "point_delete")),
                (Statement::DeleteAll, named(file, "delete_all")),
            ],
        }
    }

    /// How a table of a kind is made; none where the dialect has no such DDL. A table that is durable late is made as any.
    pub(super) fn create(&self, kind: Kind) -> Option<&'static str> {
        let kind = if kind == Kind::Relaxed { Kind::Row } else { kind };
        self.create.iter().find(|(other, _)| *other == kind)?.1
    }

    fn text(&self, statement: Statement) -> String {
        let found = self.asked.iter().find(|(other, _)| *other == statement);
        // What is said of it in the file is not for the server.
        let lines = found.map_or("", |(_, sql)| sql).lines().filter(|line| !line.starts_with("--"));
        lines.collect::<Vec<&str>>().join("\n")
    }
}

const SQLITE_LACKS: &[&str] =
    &["memory_durable", "columnstore_index", "columnstore", "archive", "rocks", "aria", "memory_filegroup"];
const POSTGRES_LACKS: &[&str] = &[
    "memory_durable",
    "clustered",
    "columnstore_index",
    "columnstore",
    "archive",
    "rocks",
    "aria",
    "memory_filegroup",
];
const MYSQL_LACKS: &[&str] =
    &["memory_durable", "clustered", "columnstore_index", "columnstore", "archive", "memory_filegroup"];
const SQL_SERVER_LACKS: &[&str] = &["rocks", "aria"];
const CLICKHOUSE_LACKS: &[&str] = &[
    "row",
    "volatile",
    "memory_durable",
    "clustered",
    "covering",
    "columnstore_index",
    "rocks",
    "aria",
    "memory_filegroup",
];
const DUCKDB_LACKS: &[&str] = &[
    "row",
    "volatile",
    "memory_durable",
    "clustered",
    "covering",
    "columnstore_index",
    "archive",
    "rocks",
    "aria",
    "memory_filegroup",
];

const SQLITE: File = File::of(include_str!("sql/sqlite.sql"), SQLITE_LACKS);
const POSTGRES: File = File::of(include_str!("sql/postgres.sql"), POSTGRES_LACKS);
const MYSQL: File = File::of(include_str!("sql/mysql.sql"), MYSQL_LACKS);
const SQL_SERVER: File = File::of(include_str!("sql/sqlserver.sql"), SQL_SERVER_LACKS);
const CLICKHOUSE: File = File::of(include_str!("sql/clickhouse.sql"), CLICKHOUSE_LACKS);
const DUCKDB: File = File::of(include_str!("sql/duckdb.sql"), DUCKDB_LACKS);

pub(super) const fn file(dialect: Dialect) -> &'static File {
    match dialect {
        Dialect::Sqlite => &SQLITE,
        Dialect::Postgres => &POSTGRES,
        Dialect::Mysql => &MYSQL,
        Dialect::SqlServer => &SQL_SERVER,
        Dialect::ClickHouse => &CLICKHOUSE,
        Dialect::DuckDb => &DUCKDB,
    }
}

/// What is asked of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Statement {
    Select,
    Scan,
    Group,
    UpdateAll,
    PointUpdate,
    PointDelete,
    DeleteAll,
}

impl Statement {
    const ALL: [Self; 7] = [
        Self::Select,
        Self::Scan,
        Self::Group,
        Self::UpdateAll,
        Self::PointUpdate,
        Self::PointDelete,
        Self::DeleteAll,
    ];

    /// Its procedure.
    const fn procedure(self) -> &'static str {
        match self {
            Self::Select => "prony_select",
            Self::Scan => "prony_scan",
            Self::Group => "prony_group",
            Self::UpdateAll => "prony_update_all",
            Self::PointUpdate => "prony_point_update",
            Self::PointDelete => "prony_point_delete",
            Self::DeleteAll => "prony_delete_all",
        }
    }

    /// Values that it takes.
    const fn values(self) -> usize {
        match self {
            Self::Scan | Self::Group => 0,
            Self::Select | Self::PointUpdate | Self::PointDelete => 1,
            Self::UpdateAll | Self::DeleteAll => 2,
        }
    }

    /// Numbers in the row that it answers with; none where it changes rows.
    const fn numbers(self) -> Option<usize> {
        match self {
            Self::Select => Some(2),
            Self::Scan => Some(3),
            Self::Group => Some(5),
            Self::UpdateAll | Self::PointUpdate | Self::PointDelete | Self::DeleteAll => None,
        }
    }
}

/// Statements as a dialect and a way of sending take them.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    dialect: Dialect,
    access: Access,
    sql: Vec<String>,
}

impl Asked {
    pub(super) fn new(dialect: Dialect, access: Access) -> Self {
        let places = |template: String| {
            (1..=2)
                .fold(template, |sql, number| sql.replace(&format!("{{{number}}}"), &place(dialect, number)))
        };
        let sql = Statement::ALL.map(|statement| match access {
            Access::AdHoc => file(dialect).text(statement),
            Access::Prepared => places(file(dialect).text(statement)),
            Access::Procedure => places(call(dialect, statement)),
        });
        Self { dialect, access, sql: sql.to_vec() }
    }

    /// Has a table answer: the numbers of its row, or how many rows were changed; nothing where its server does not tell that.
    ///
    /// # Errors
    /// Those of the database.
    pub(super) async fn ask(
        &self,
        session: &mut Session,
        statement: Statement,
        values: &[u64],
    ) -> Result<Vec<i64>, Error> {
        let template = &self.sql[statement as usize];
        let wanted = if self.has_row(statement) { Wanted::Last } else { Wanted::Count };
        let answer = match self.access {
            Access::AdHoc => {
                let sql = (1..).zip(values).fold(template.clone(), |sql, (number, value)| {
                    sql.replace(&format!("{{{number}}}"), &value.to_string())
                });
                if self.dialect == Dialect::ClickHouse && statement.numbers().is_none() {
                    return mutation::run(session, &sql).await.map(|()| Vec::new());
                }
                session.statement(&sql, &[], (Protocol::Simple, wanted)).await?
            }
            Access::Prepared | Access::Procedure => {
                let values: Vec<Value> = values.iter().map(|value| Value::I64(value.cast_signed())).collect();
                session.statement(template, &values, (Protocol::Prepared, wanted)).await?
            }
        };
        if self.has_row(statement) { numbers(template, &answer) } else { Ok(vec![answer.rows.cast_signed()]) }
    }

    /// Whether it answers with a row. A procedure that changes rows tells their number in one.
    fn has_row(&self, statement: Statement) -> bool {
        statement.numbers().is_some() || self.access == Access::Procedure
    }

    /// Scripts that make the procedures, one after the other; none where statements come without.
    pub(super) fn procedures(&self, is_native: bool) -> Vec<String> {
        let make = |statement: Statement| procedure(self.dialect, statement, is_native);
        match self.access {
            Access::Procedure => Statement::ALL.into_iter().filter_map(make).collect(),
            Access::AdHoc | Access::Prepared => Vec::new(),
        }
    }

    /// Scripts that remove the procedures, if they are there, and the table.
    pub(super) fn drops(&self) -> Vec<String> {
        let what = match self.dialect {
            Dialect::Sqlite | Dialect::ClickHouse | Dialect::DuckDb => None,
            Dialect::Postgres => Some("FUNCTION"),
            Dialect::Mysql | Dialect::SqlServer => Some("PROCEDURE"),
        };
        let drop =
            |what| move |statement: Statement| format!("DROP {what} IF EXISTS {}", statement.procedure());
        let procedures = what.into_iter().flat_map(|what| Statement::ALL.map(drop(what)));
        procedures.chain(["DROP TABLE IF EXISTS prony_rows".to_owned()]).collect()
    }
}

/// Where a value stands.
pub(super) fn place(dialect: Dialect, number: usize) -> String {
    match dialect {
        Dialect::Sqlite => format!("?{number}"),
        Dialect::Postgres | Dialect::DuckDb => format!("${number}"),
        Dialect::Mysql => "?".to_owned(),
        Dialect::SqlServer => format!("@P{number}"),
        // Its values stand in the text.
        Dialect::ClickHouse => format!("{{{number}}}"),
    }
}

/// A call, with places for its values as in the file.
fn call(dialect: Dialect, statement: Statement) -> String {
    let values: Vec<String> = (1..=statement.values()).map(|number| format!("{{{number}}}")).collect();
    let (name, values) = (statement.procedure(), values.join(", "));
    match dialect {
        Dialect::Postgres => format!("SELECT * FROM {name}({values})"),
        Dialect::Mysql => format!("CALL {name}({values})"),
        Dialect::SqlServer => format!("EXEC {name} {values}"),
        // Refused before.
        Dialect::Sqlite | Dialect::ClickHouse | Dialect::DuckDb => file(dialect).text(statement),
    }
}

/// A script that makes the procedure of a statement; none where there are none.
fn procedure(dialect: Dialect, statement: Statement, is_native: bool) -> Option<String> {
    let (name, numbers) = (statement.procedure(), 1..=statement.values());
    let body = |of: &str| {
        numbers.clone().fold(file(dialect).text(statement), |sql, number| {
            sql.replace(&format!("{{{number}}}"), &format!("{of}{number}"))
        })
    };
    let takes = |of: &str| {
        let each = numbers.clone().map(|number| format!("{of}{number} bigint"));
        each.collect::<Vec<String>>().join(", ")
    };
    Some(match dialect {
        Dialect::Sqlite | Dialect::ClickHouse | Dialect::DuckDb => return None,
        Dialect::Postgres => of_postgres(statement, &takes("p"), &body("p")),
        Dialect::Mysql => {
            let told = if statement.numbers().is_none() { " SELECT ROW_COUNT();" } else { "" };
            format!("CREATE PROCEDURE {name}({}) BEGIN {};{told} END", takes("p"), body("p"))
        }
        Dialect::SqlServer => of_sql_server(statement, &takes("@p"), &body("@p"), is_native),
    })
}

fn of_postgres(statement: Statement, takes: &str, body: &str) -> String {
    let name = statement.procedure();
    match statement.numbers() {
        Some(numbers) => {
            let gives: Vec<String> = (1..=numbers).map(|number| format!("r{number} bigint")).collect();
            let gives = gives.join(", ");
            format!(
                "CREATE FUNCTION {name}({takes}) RETURNS TABLE ({gives}) LANGUAGE sql AS $body$ {body} $body$"
            )
        }
        None => format!(
            "CREATE FUNCTION {name}({takes}) RETURNS bigint LANGUAGE plpgsql AS $body$ DECLARE changed bigint; \
             BEGIN {body}; GET DIAGNOSTICS changed = ROW_COUNT; RETURN changed; END $body$"
        ),
    }
}

fn of_sql_server(statement: Statement, takes: &str, body: &str, is_native: bool) -> String {
    let name = statement.procedure();
    let told = if statement.numbers().is_none() { " SELECT @@ROWCOUNT AS changed;" } else { "" };
    if !is_native {
        return format!("CREATE PROCEDURE {name} {takes} AS BEGIN SET NOCOUNT ON; {body};{told} END");
    }
    // What is compiled names its tables in full.
    let body = body.replace("prony_rows", "dbo.prony_rows");
    format!(
        "CREATE PROCEDURE {name} {takes} WITH NATIVE_COMPILATION, SCHEMABINDING AS BEGIN ATOMIC WITH \
         (TRANSACTION ISOLATION LEVEL = SNAPSHOT, LANGUAGE = N'us_english') {body};{told} END"
    )
}

/// The numbers of the row that came.
fn numbers(sql: &str, answer: &Answer) -> Result<Vec<i64>, Error> {
    let number = |value: &Value| match value {
        Value::I16(number) => Some(i64::from(*number)),
        Value::I32(number) => Some(i64::from(*number)),
        Value::I64(number) => Some(*number),
        Value::F64(number) => Some(*number as i64),
        Value::Text(text) => text.trim().parse().ok(),
        Value::Null => Some(0),
    };
    let numbers: Option<Vec<i64>> = answer.last.iter().map(|(_, value)| number(value)).collect();
    numbers.filter(|numbers| !numbers.is_empty()).ok_or_else(|| {
        Error::Statement(format!(
            "`{sql}` answered with {:?}, where a row of whole numbers was expected",
            answer.last
        ))
    })
}

/// What a dialect's file lacks.
#[cfg(test)]
const fn lacks(dialect: Dialect) -> &'static [&'static str] {
    match dialect {
        Dialect::Sqlite => SQLITE_LACKS,
        Dialect::Postgres => POSTGRES_LACKS,
        Dialect::Mysql => MYSQL_LACKS,
        Dialect::SqlServer => SQL_SERVER_LACKS,
        Dialect::ClickHouse => CLICKHOUSE_LACKS,
        Dialect::DuckDb => DUCKDB_LACKS,
    }
}

// A kind that a file has and its dialect is said to lack would never be made.
const _: () = assert!(!has(SQLITE_LACKS, "clustered") && !has(SQL_SERVER_LACKS, "clustered"));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_has_the_same_statements_or_lacks_them_by_its_list() {
        let files = [
            (Dialect::Sqlite, include_str!("sql/sqlite.sql")),
            (Dialect::Postgres, include_str!("sql/postgres.sql")),
            (Dialect::Mysql, include_str!("sql/mysql.sql")),
            (Dialect::SqlServer, include_str!("sql/sqlserver.sql")),
            (Dialect::ClickHouse, include_str!("sql/clickhouse.sql")),
            (Dialect::DuckDb, include_str!("sql/duckdb.sql")),
        ];
        crate::named_sql::check_files(
            &files,
            |dialect| lacks(dialect).to_vec(),
            include_str!("statements.rs"),
        );
    }

    #[test]
    fn values_stand_where_the_dialect_has_them() {
        let sql = |dialect, access| Asked::new(dialect, access).sql[Statement::UpdateAll as usize].clone();
        let between =
            |places: &str| format!("UPDATE prony_rows SET amount = amount + 1 WHERE id BETWEEN {places}");
        assert_eq!(sql(Dialect::Sqlite, Access::Prepared), between("?1 AND ?2"));
        assert_eq!(sql(Dialect::Postgres, Access::Prepared), between("$1 AND $2"));
        assert_eq!(sql(Dialect::Mysql, Access::Prepared), between("? AND ?"));
        assert_eq!(sql(Dialect::SqlServer, Access::AdHoc), between("{1} AND {2}"));
        assert_eq!(sql(Dialect::SqlServer, Access::Procedure), "EXEC prony_update_all @P1, @P2");
        assert_eq!(sql(Dialect::Postgres, Access::Procedure), "SELECT * FROM prony_update_all($1, $2)");
    }

    #[test]
    fn statements_are_found_by_their_numbers() {
        for (number, statement) in Statement::ALL.into_iter().enumerate() {
            assert_eq!(statement as usize, number);
        }
        for dialect in Dialect::ALL {
            assert!(Statement::ALL.into_iter().all(|statement| !file(dialect).text(statement).is_empty()));
        }
    }

    #[test]
    fn what_is_compiled_is_atomic_and_names_its_table_in_full() {
        let native = procedure(Dialect::SqlServer, Statement::PointUpdate, true).unwrap();
        for part in
            ["NATIVE_COMPILATION, SCHEMABINDING", "UPDATE dbo.prony_rows", "WHERE id = @p1", "@@ROWCOUNT"]
        {
            assert!(native.contains(part), "{part} in {native}");
        }
        let plain = procedure(Dialect::SqlServer, Statement::PointUpdate, false).unwrap();
        assert!(plain.contains("NOCOUNT") && !plain.contains("NATIVE"), "{plain}");
    }
}
