//! What stands where DuckDB is, in a program that was built without it: no session can be opened, and so there is none.

use std::path::Path;

use record::Server;

use super::LEFT_OUT;
use crate::{Answer, Cell, Error, Protocol, Rows, Sizes, Table, Value, Wanted, WriteMethod};

/// There is none.
#[derive(Debug)]
pub(crate) enum DuckDbSession {}

fn left_out() -> Error {
    Error::NoDatabase(LEFT_OUT.unwrap_or_default().to_owned())
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
