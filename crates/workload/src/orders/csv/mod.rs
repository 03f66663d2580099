//! Rows of an order store as CSV files: RFC 4180, a header line, a file a table.

mod csv_rows;
mod error;
mod files;

pub use csv_rows::CsvRows;
pub use error::CsvError;
pub use files::{CsvFile, check, estimated_bytes, file_name, generate};
