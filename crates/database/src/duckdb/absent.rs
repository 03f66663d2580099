//! What stands where DuckDB is, in a program that was built without it: no session can be opened, and so there is none.

use std::path::Path;

use record::Server;

use super::HOW_TO_BUILD;
use crate::{Answer, Cell, Error, Protocol, Rows, Sizes, Table, Value, Wanted, WriteMethod};

/// There is none.
#[derive(Debug)]
pub(crate) enum DuckDbSession {}

fn left_out() -> Error {
    Error::NoDatabase(HOW_TO_BUILD.to_owned())
}

/// None is made.
pub(crate) fn image(_script: &str) -> Result<Vec<u8>, Error> {
    Err(left_out())
}

impl DuckDbSession {
    pub(crate) async fn open(_file: &Path) -> Result<Self, Error> {
        Err(left_out())
    }

    pub(crate) async fn open_to_read(_file: &Path) -> Result<Self, Error> {
        Err(left_out())
    }

    pub(crate) fn statement_name(_method: WriteMethod) -> &'static str {
        ""
    }

    pub(crate) async fn script(&mut self, _sql: &str) -> Result<(), Error> {
        match *self {}
    }

    pub(crate) async fn execute(&mut self, _sql: &str, _parameters: &[Value]) -> Result<u64, Error> {
        match *self {}
    }

    pub(crate) async fn query(
        &mut self,
        _sql: &str,
        _parameters: &[Value],
    ) -> Result<Vec<Vec<Value>>, Error> {
        match *self {}
    }

    pub(crate) async fn statement(
        &mut self,
        _sql: &str,
        _parameters: &[Value],
        _sent: (Protocol, Wanted),
    ) -> Result<Answer, Error> {
        match *self {}
    }

    pub(crate) async fn count_rows(&mut self, _sql: &str, _parameters: &[Value]) -> Result<u64, Error> {
        match *self {}
    }

    pub(crate) async fn fold<T: Send + 'static>(
        &mut self,
        _sql: &str,
        _parameters: &[Value],
        _state: T,
        _add: fn(&mut T, &[Cell<'_>]),
    ) -> Result<T, Error> {
        match *self {}
    }

    pub(crate) async fn append(
        &mut self,
        _table: &'static Table,
        _rows: &mut Rows,
        _method: WriteMethod,
    ) -> Result<(), Error> {
        match *self {}
    }

    pub(crate) async fn server(&mut self) -> Result<Server, Error> {
        match *self {}
    }

    pub(crate) async fn sizes(&mut self) -> Result<Sizes, Error> {
        match *self {}
    }

    pub(crate) fn is_in_transaction(&self) -> bool {
        match *self {}
    }

    pub(crate) async fn begin_transaction(&mut self) -> Result<(), Error> {
        match *self {}
    }

    pub(crate) async fn commit(&mut self) -> Result<(), Error> {
        match *self {}
    }

    pub(crate) async fn rollback(&mut self) -> Result<(), Error> {
        match *self {}
    }

    pub(crate) fn abandon(&mut self) {
        match *self {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn without_duckdb_every_way_to_open_a_file_says_how_to_build_it() {
        let file = Path::new("one.duckdb");
        let opened = [DuckDbSession::open(file).await.err(), DuckDbSession::open_to_read(file).await.err()];
        for refused in opened.into_iter().chain([image("").err()]) {
            let told = refused.map(|error| error.to_string()).unwrap_or_default();
            for part in ["built without DuckDB", "DUCKDB_LIB_DIR", "cargo build -r -F duckdb"] {
                assert!(told.contains(part), "{part} in {told}");
            }
        }
    }
}
