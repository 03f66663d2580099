//! The table as Parquet: one row group, texts in dictionaries, uncompressed, for any reader of the format.
//!
//! Texts are UTF-8 strings, figures and numeric axes doubles, `trial` and `block` 64-bit integers, `valid` a boolean. Texts and
//! numbers may be NULL. The file is written here, as <https://github.com/apache/parquet-format> describes it (README.md,
//! Encodings.md and parquet.thrift): a crate that also reads, filters and compresses takes longer to compile than this whole
//! one. Tests read it back by that crate, by DuckDB and by pandas.

mod page;
mod thrift;

use std::num::TryFromIntError;

use self::page::{Chunk, Encoding};
use self::thrift::Struct;
use super::columns::{Cells, Column};
use super::{ExportError, Table};

/// At both ends of a file.
const MAGIC: &[u8] = b"PAR1";
const VERSION: i32 = 1;

/// Numbers of parquet.thrift: the codec that compresses nothing, and what says that bytes are UTF-8.
const UNCOMPRESSED: i32 = 0;
const UTF8: i32 = 0;
const LOGICAL_STRING: u8 = 1;

impl Table<'_> {
    /// The table as a Parquet file.
    ///
    /// # Errors
    /// None but [`ExportError::Form`], for a column of 2 GiB or more.
    pub fn parquet(&self) -> Result<Vec<u8>, ExportError> {
        written(self).map_err(|error| ExportError::Form { form: "Parquet", reason: error.to_string() })
    }
}

fn written(table: &Table<'_>) -> Result<Vec<u8>, TryFromIntError> {
    let (columns, rows) = (&table.columns, table.rows);
    let mut file = MAGIC.to_vec();
    let (rows, begin) = (i64::try_from(rows)?, file.len());
    let mut chunks = Vec::new();
    for column in columns {
        let chunk = Chunk::of(&column.cells)?;
        chunks.push(column_chunk(column, &chunk, rows, i64::try_from(file.len())?)?);
        file.extend(chunk.bytes);
    }
    let bytes = i64::try_from(file.len() - begin)?;
    let group = Struct::new().structs(1, chunks).i64(2, bytes).i64(3, rows);
    let root = Struct::new().text(4, table.name).i32(5, columns.len().try_into()?);
    let schema = std::iter::once(root).chain(columns.iter().map(Column::element)).collect();
    let creator = format!("prony version {}", env!("CARGO_PKG_VERSION"));
    let footer = Struct::new().i32(1, VERSION).structs(2, schema).i64(3, rows);
    let footer = footer.structs(4, vec![group]).text(6, &creator).ended();
    file.extend(&footer);
    file.extend(u32::try_from(footer.len())?.to_le_bytes());
    file.extend(MAGIC);
    Ok(file)
}

/// `ColumnChunk`, which begins at this byte of the file.
fn column_chunk(
    column: &Column<'_>,
    chunk: &Chunk,
    rows: i64,
    begin: i64,
) -> Result<Struct, TryFromIntError> {
    let bytes = i64::try_from(chunk.bytes.len())?;
    let encodings = [Encoding::Plain, Encoding::Rle, Encoding::RleDictionary].map(|encoding| encoding as i32);
    let mut meta = Struct::new()
        .i32(1, column.physical() as i32)
        .i32s(2, &encodings)
        .texts(3, &[&column.name])
        .i32(4, UNCOMPRESSED)
        .i64(5, rows)
        .i64(6, bytes)
        .i64(7, bytes)
        .i64(9, begin + i64::try_from(chunk.dictionary_bytes)?);
    if chunk.dictionary_bytes > 0 {
        meta = meta.i64(11, begin);
    }
    Ok(Struct::new().i64(2, begin).inner(3, meta))
}

/// `Type` of parquet.thrift.
#[derive(Clone, Copy)]
enum Physical {
    Boolean = 0,
    Int64 = 2,
    Double = 5,
    ByteArray = 6,
}

/// `FieldRepetitionType` of parquet.thrift.
#[derive(Clone, Copy)]
enum Repetition {
    Required = 0,
    Optional = 1,
}

impl Column<'_> {
    fn physical(&self) -> Physical {
        match self.cells {
            Cells::Text(_) => Physical::ByteArray,
            Cells::Number(_) => Physical::Double,
            Cells::Whole(_) => Physical::Int64,
            Cells::Flag(_) => Physical::Boolean,
        }
    }

    /// `SchemaElement`.
    fn element(&self) -> Struct {
        let repetition = match self.cells {
            Cells::Text(_) | Cells::Number(_) => Repetition::Optional,
            Cells::Whole(_) | Cells::Flag(_) => Repetition::Required,
        };
        let element =
            Struct::new().i32(1, self.physical() as i32).i32(3, repetition as i32).text(4, &self.name);
        match self.cells {
            Cells::Text(_) => {
                element.i32(6, UTF8).inner(10, Struct::new().inner(LOGICAL_STRING, Struct::new()))
            }
            _ => element,
        }
    }
}

#[cfg(test)]
mod tests {
    use ::parquet::file::reader::FileReader as _;
    use ::parquet::file::serialized_reader::SerializedFileReader;

    use record::Observation;

    use super::super::fixture::observation;
    use super::*;

    /// The schema's fields and the rows, as the format's own reader prints them.
    fn read_back(rows: &[Observation]) -> (Vec<String>, Vec<String>) {
        let reader =
            SerializedFileReader::new(bytes::Bytes::from(Table::of_metrics(rows).parquet().unwrap()))
                .unwrap();
        let schema = reader.metadata().file_metadata().schema().clone();
        let fields = schema.get_fields().iter().map(|field| {
            let info = field.get_basic_info();
            format!("{:?} {} {}", info.repetition(), field.get_physical_type(), field.name())
        });
        let lines = reader.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string());
        (fields.collect(), lines.collect())
    }

    #[test]
    fn types_are_those_of_the_cells_and_rows_are_read_back() {
        let mut rows =
            [observation(&[("outstanding", "8"), ("cache", "direct")], 0.1), observation(&[], -1e300)];
        rows[1].valid = false;
        rows[0].low = Some(0.05);
        rows[1].unit.clear();
        let (fields, lines) = read_back(&rows);
        assert_eq!(
            fields,
            [
                "OPTIONAL BYTE_ARRAY study",
                "REQUIRED INT64 trial",
                "REQUIRED INT64 block",
                "OPTIONAL BYTE_ARRAY configuration",
                "OPTIONAL BYTE_ARRAY cache",
                "OPTIONAL DOUBLE outstanding",
                "OPTIONAL BYTE_ARRAY metric",
                "OPTIONAL BYTE_ARRAY unit",
                "OPTIONAL DOUBLE value",
                "OPTIONAL DOUBLE low",
                "OPTIONAL DOUBLE high",
                "REQUIRED BOOLEAN valid",
            ]
        );
        assert_eq!(
            lines,
            [
                "{study: \"20261121T073000Z-disk\", trial: 7, block: 2, configuration: \"page read\", cache: \"direct\", \
                 outstanding: 8.0, metric: \"cpu_us_per_operation\", unit: \"µs\", value: 0.1, low: 0.05, high: null, valid: true}",
                "{study: \"20261121T073000Z-disk\", trial: 7, block: 2, configuration: \"page read\", cache: null, \
                 outstanding: null, metric: \"cpu_us_per_operation\", unit: null, value: -1E300, low: null, high: null, valid: false}",
            ]
        );
    }

    #[test]
    fn no_rows_are_a_file_with_columns() {
        let (fields, lines) = read_back(&[]);
        assert_eq!((fields.len(), lines.len()), (10, 0));
    }

    #[test]
    fn a_table_of_many_rows_stays_whole() {
        let rows: Vec<Observation> = (0..50_000)
            .map(|number| observation(&[("x", &(number % 7).to_string())], f64::from(number)))
            .collect();
        let (_, lines) = read_back(&rows);
        assert_eq!(lines.len(), rows.len());
        assert!(
            lines[49_999].contains("x: 5.0,") && lines[49_999].contains("value: 49999.0"),
            "{}",
            lines[49_999]
        );
    }
}
