//! Rows to tables: by bulk copy, by INSERTs of many rows, and by INSERTs of one.

use std::fmt::Write as _;

use futures_util::TryStreamExt as _;
use tiberius::error::Error as Driver;
use tiberius::{ColumnData, Command, Query, SqlBulkCopyOption, SqlTableDataRow, TableValueRow};

use super::values::{self, Parameter, Send};
use super::{SqlServerSession, batch_only, transaction};
use crate::error::Doing;
use crate::{Error, Rows, RowsProcedure, Table, WriteMethod};

/// Parameters that one request can have, less the two of `sp_executesql` itself:
/// <https://learn.microsoft.com/sql/sql-server/maximum-capacity-specifications-for-sql-server>.
const PARAMETERS: usize = 2_100 - 2;
/// Rows that one INSERT … VALUES can have, by the reference of VALUES.
const ROWS: usize = 1_000;

impl SqlServerSession {
    pub(crate) async fn append(
        &mut self,
        table: &'static Table,
        rows: &mut Rows,
        method: WriteMethod,
    ) -> Result<(), Error> {
        self.append_each(table, rows.rows(), method).await
    }

    /// As [`Self::append`], of rows that are read where they lie.
    pub(crate) async fn append_each<'r>(
        &mut self,
        table: &'static Table,
        rows: impl ExactSizeIterator<Item = impl Send<'r>>,
        method: WriteMethod,
    ) -> Result<(), Error> {
        if rows.len() == 0 {
            return Ok(());
        }
        let doing = Doing::Append(table.name);
        self.begin(doing).await?;
        let at_once = match method {
            WriteMethod::Bulk => {
                let result = self.copy(table, rows).await;
                return self.done(result, doing);
            }
            WriteMethod::MultiRow => (PARAMETERS / table.columns.len().max(1)).clamp(1, ROWS),
            WriteMethod::Batch => 1,
        };
        let result = self.insert(table, rows, at_once, method == WriteMethod::MultiRow).await;
        self.done(result, doing)
    }

    /// Calls a procedure with all rows as its parameter: one statement of it is one transaction. The driver asks for the columns of
    /// the type first, as it does before a bulk copy.
    pub(crate) async fn call_with_rows(
        &mut self,
        procedure: &'static RowsProcedure,
        rows: impl ExactSizeIterator<Item = impl Send<'static>>,
    ) -> Result<(), Error> {
        if rows.len() == 0 {
            return Ok(());
        }
        let doing = Doing::Append(procedure.name);
        self.begin(doing).await?;
        let result = self.called(procedure, rows.map(TableRow::of).collect()).await;
        self.done(result, doing)
    }

    async fn called(&mut self, procedure: &'static RowsProcedure, rows: Vec<TableRow>) -> Result<(), Driver> {
        let mut command = Command::new(procedure.name);
        command.bind_table_with_dbtype("", procedure.row_type, rows);
        let mut answer = command.exec(&mut self.client).await?;
        while answer.try_next().await?.is_some() {}
        Ok(())
    }

    /// One bulk copy, which is a transaction of its own. The driver asks for the columns' types first, as that of ADO.NET does.
    async fn copy<'r>(
        &mut self,
        table: &'static Table,
        rows: impl ExactSizeIterator<Item = impl Send<'r>>,
    ) -> Result<(), Driver> {
        let columns: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
        // What is null stays so, whatever a column has for those that are not given; numbers that the server would make are those
        // that are given, if they are.
        let options = SqlBulkCopyOption::KeepNulls | SqlBulkCopyOption::KeepIdentity;
        let mut copy = self.client.bulk_insert_with_options(table.name, &columns, options, &[]).await?;
        for row in rows {
            copy.send(values::row(row, table.columns)).await?;
        }
        copy.finalize().await?;
        Ok(())
    }

    /// INSERTs of so many rows; if there is one, it is a transaction of its own, unless it is one for each row.
    async fn insert<'r>(
        &mut self,
        table: &'static Table,
        mut rows: impl ExactSizeIterator<Item = impl Send<'r>>,
        at_once: usize,
        is_one_enough: bool,
    ) -> Result<(), Driver> {
        let is_one = is_one_enough && rows.len() <= at_once;
        if !is_one {
            self.is_unfinished = true;
            batch_only(&mut self.client, transaction::BEGIN).await?;
        }
        while rows.len() > 0 {
            let count = rows.len().min(at_once);
            let (sql, values) = insert(table, rows.by_ref().take(count));
            let mut query = Query::new(sql);
            query.bind_iter(values.into_iter().map(Parameter));
            query.execute(&mut self.client).await?;
        }
        if !is_one {
            batch_only(&mut self.client, transaction::COMMIT).await?;
            self.is_unfinished = false;
        }
        Ok(())
    }
}

/// A row of a parameter that is a table.
struct TableRow(Vec<ColumnData<'static>>);

impl TableRow {
    fn of(row: impl Send<'static>) -> Self {
        let mut values = Vec::new();
        row.each(|value| values.push(value));
        Self(values)
    }
}

impl TableValueRow<'static> for TableRow {
    fn bind_fields(&self, row: &mut SqlTableDataRow<'static>) {
        self.0.iter().for_each(|value| row.add_field(Parameter(value.clone())));
    }

    /// It is given with each call.
    fn get_db_type() -> &'static str {
        ""
    }
}

/// An INSERT of rows, and its parameters. What is null stands in the statement, where it has the type of its column.
fn insert<'r>(
    table: &Table,
    rows: impl ExactSizeIterator<Item = impl Send<'r>>,
) -> (String, Vec<ColumnData<'r>>) {
    let names: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
    let mut sql = format!("INSERT INTO {} ({}) VALUES ", table.name, names.join(","));
    let mut values = Vec::with_capacity(rows.len() * names.len());
    for (number, row) in rows.enumerate() {
        sql.push_str(if number == 0 { "(" } else { "),(" });
        let mut column = 0;
        row.each(|value| {
            if column > 0 {
                sql.push(',');
            }
            column += 1;
            if value == values::NULL {
                sql.push_str("NULL");
            } else {
                values.push(value);
                // Writing to a string cannot fail.
                let _ = write!(sql, "@P{}", values.len());
            }
        });
    }
    sql.push(')');
    (sql, values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{SAMPLES, plain_rows};

    #[test]
    fn rows_are_one_statement_with_their_values_as_parameters() {
        let rows = plain_rows(2);
        let (sql, values) = insert(&SAMPLES, rows.rows());
        assert_eq!(
            sql,
            "INSERT INTO samples (tag,time,value,quality,note) VALUES (@P1,@P2,@P3,@P4,NULL),(@P5,@P6,@P7,@P8,NULL)"
        );
        assert_eq!(values.len(), 8);
        assert_eq!(values[5], ColumnData::I64(Some(1)));
    }
}
