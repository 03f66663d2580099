//! The table as Parquet: one row group, texts in dictionaries, uncompressed, for any reader of the format.
//!
//! Texts are UTF-8 strings, `value` and numeric axes doubles, `trial` and `block` 64-bit integers, `valid` a boolean. Texts and
//! numbers may be NULL. The columns are written as they are; what Arrow would bring along is not needed for that.

use std::sync::Arc;

use ::parquet::basic::{LogicalType, Repetition, Type as PhysicalType};
use ::parquet::column::writer::ColumnWriterImpl;
use ::parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use ::parquet::errors::{ParquetError, Result};
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use ::parquet::schema::types::Type;
use record::Observation;

use super::ExportError;
use super::columns::{Cells, Column, columns};

/// The table as a Parquet file.
///
/// # Errors
/// None but [`ExportError::Form`].
pub fn parquet(rows: &[Observation]) -> std::result::Result<Vec<u8>, ExportError> {
    written(&columns(rows)).map_err(|error| ExportError::Form { form: "Parquet", reason: error.to_string() })
}

fn written(columns: &[Column<'_>]) -> Result<Vec<u8>> {
    let fields = columns.iter().map(|column| column.field().map(Arc::new)).collect::<Result<_>>()?;
    let schema = Type::group_type_builder("observations").with_fields(fields).build()?;
    let creator = format!("prony version {}", env!("CARGO_PKG_VERSION"));
    let properties = WriterProperties::builder().set_created_by(creator).build();
    let mut writer = SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties))?;
    let mut group = writer.next_row_group()?;
    for column in columns {
        let missing = || ParquetError::General(format!("there is no column for {}", column.name));
        let mut open = group.next_column()?.ok_or_else(missing)?;
        column.cells.write(&mut open)?;
        open.close()?;
    }
    group.close()?;
    writer.into_inner()
}

impl Column<'_> {
    fn field(&self) -> Result<Type> {
        let (physical, logical, repetition) = match self.cells {
            Cells::Text(_) => (PhysicalType::BYTE_ARRAY, Some(LogicalType::String), Repetition::OPTIONAL),
            Cells::Number(_) => (PhysicalType::DOUBLE, None, Repetition::OPTIONAL),
            Cells::Whole(_) => (PhysicalType::INT64, None, Repetition::REQUIRED),
            Cells::Flag(_) => (PhysicalType::BOOLEAN, None, Repetition::REQUIRED),
        };
        Type::primitive_type_builder(&self.name, physical)
            .with_logical_type(logical)
            .with_repetition(repetition)
            .build()
    }
}

impl Cells<'_> {
    fn write(&self, column: &mut SerializedColumnWriter<'_>) -> Result<()> {
        match self {
            Self::Text(cells) => {
                optional(column.typed::<ByteArrayType>(), cells, |text| ByteArray::from(*text))?
            }
            Self::Number(cells) => optional(column.typed::<DoubleType>(), cells, |number| *number)?,
            Self::Whole(cells) => column.typed::<Int64Type>().write_batch(cells, None, None)?,
            Self::Flag(cells) => column.typed::<BoolType>().write_batch(cells, None, None)?,
        };
        Ok(())
    }
}

/// The format wants what is there, and beside it for each row whether it is.
fn optional<T, D: DataType>(
    column: &mut ColumnWriterImpl<'_, D>,
    cells: &[Option<T>],
    stored: impl Fn(&T) -> D::T,
) -> Result<usize> {
    let present: Vec<D::T> = cells.iter().flatten().map(stored).collect();
    let levels: Vec<i16> = cells.iter().map(|cell| cell.is_some().into()).collect();
    column.write_batch(&present, Some(&levels), None)
}

#[cfg(test)]
mod tests {
    use ::parquet::file::reader::FileReader as _;
    use ::parquet::file::serialized_reader::SerializedFileReader;

    use super::super::fixture::observation;
    use super::*;

    /// The schema's fields and the rows, as the format's own reader prints them.
    fn read_back(rows: &[Observation]) -> (Vec<String>, Vec<String>) {
        let reader = SerializedFileReader::new(bytes::Bytes::from(parquet(rows).unwrap())).unwrap();
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
                "REQUIRED BOOLEAN valid",
            ]
        );
        assert_eq!(
            lines,
            [
                "{study: \"20261121T073000Z-disk\", trial: 7, block: 2, configuration: \"page read\", cache: \"direct\", \
                 outstanding: 8.0, metric: \"cpu_us_per_operation\", unit: \"µs\", value: 0.1, valid: true}",
                "{study: \"20261121T073000Z-disk\", trial: 7, block: 2, configuration: \"page read\", cache: null, \
                 outstanding: null, metric: \"cpu_us_per_operation\", unit: null, value: -1E300, valid: false}",
            ]
        );
    }

    #[test]
    fn no_rows_are_a_file_with_columns() {
        let (fields, lines) = read_back(&[]);
        assert_eq!((fields.len(), lines.len()), (8, 0));
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
