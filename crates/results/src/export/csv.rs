//! The table as CSV (RFC 4180): a header, then a line for each row, in UTF-8.
//!
//! Numbers have a point or an exponent also where they are whole, so that a reader that guesses types from the first lines
//! takes the column for what it is, and as many digits as lead back to the same double. How a text is written so that no
//! spreadsheet runs it is said in `record::csv_field`; Parquet holds texts as they are.

use std::borrow::Cow;

use record::csv_field;

use super::Table;
use super::columns::Cells;

impl Table<'_> {
    /// The table as CSV.
    #[must_use]
    pub fn csv(&self) -> String {
        let columns = &self.columns;
        let mut text = String::new();
        push_line(&mut text, columns.iter().map(|column| csv_field(&column.name)));
        for row in 0..self.rows {
            push_line(&mut text, columns.iter().map(|column| csv_field(&column.cells.text(row))));
        }
        text
    }
}

fn push_line(text: &mut String, fields: impl Iterator<Item = String>) {
    for (position, field) in fields.enumerate() {
        if position > 0 {
            text.push(',');
        }
        text.push_str(&field);
    }
    text.push_str("\r\n");
}

impl Cells<'_> {
    fn text(&self, row: usize) -> Cow<'_, str> {
        match self {
            Self::Text(cells) => cells[row].as_deref().unwrap_or_default().into(),
            Self::Number(cells) => cells[row].map(|number| format!("{number:?}")).unwrap_or_default().into(),
            Self::Whole(cells) => cells[row].to_string().into(),
            Self::Flag(cells) => if cells[row] { "true" } else { "false" }.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use record::{Observation, shown, text_of};

    use super::super::fixture::observation;
    use super::*;

    #[test]
    fn a_line_holds_a_row() {
        let mut rows =
            [observation(&[("outstanding", "8"), ("cache", "direct")], 1234.0), observation(&[], 1e-9)];
        rows[1].configuration = "read, \"cold\"\nand slow".to_owned();
        rows[1].unit.clear();
        rows[1].valid = false;
        rows[0].low = Some(1200.5);
        let expected = [
            "study,trial,block,configuration,cache,outstanding,metric,unit,value,low,high,valid",
            "20261121T073000Z-disk,7,2,page read,direct,8.0,cpu_us_per_operation,µs,1234.0,1200.5,,true",
            "20261121T073000Z-disk,7,2,\"read, \"\"cold\"\"\\nand slow\",,,cpu_us_per_operation,,1e-9,,,false",
            "",
        ];
        assert_eq!(Table::of_metrics(&rows).csv(), expected.join("\r\n"));
    }

    #[test]
    fn a_password_is_not_written() {
        let mut row = observation(&[], 1.0);
        row.configuration = "Server=h;pw=secret;Database=x".to_owned();
        let text = Table::of_metrics(&[row]).csv();
        assert!(text.contains("\"Server=h;pw=…;Database=x\""), "{text}");
    }

    #[test]
    fn no_rows_are_a_header_alone() {
        assert_eq!(
            Table::of_metrics(&[]).csv(),
            "study,trial,block,configuration,metric,unit,value,low,high,valid\r\n"
        );
    }

    /// Any double that a metric can have.
    fn value() -> impl Strategy<Value = f64> {
        any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |value| value.is_finite())
    }

    /// Text with all that CSV has to mask, and what spreadsheets would run.
    fn any_text() -> impl Strategy<Value = String> {
        "[a-zA-Z0-9 ,;\"'µé_.=+@＝-]{0,12}"
    }

    prop_compose! {
        fn row()(
            (study, trial, block) in (any_text(), any::<u32>(), any::<u32>()),
            (configuration, metric, unit) in (any_text(), any_text(), any_text()),
            axes in prop::collection::btree_map("[a-d]", any_text(), 0..4),
            value in value(),
            (low, high) in (prop::option::of(value()), prop::option::of(value())),
            valid: bool,
        ) -> Observation {
            Observation { study, trial, block, configuration, axes, metric, unit, value, low, high, valid }
        }
    }

    /// A row as a reader finds it that knows the names of the columns.
    fn read_back(header: &::csv::StringRecord, line: &::csv::StringRecord) -> Observation {
        let cells: BTreeMap<&str, &str> = header.iter().zip(line).collect();
        let axes = ["a", "b", "c", "d"].into_iter().filter_map(|axis| Some((axis, *cells.get(axis)?)));
        Observation {
            study: text_of(cells["study"]),
            trial: cells["trial"].parse().unwrap(),
            block: cells["block"].parse().unwrap(),
            configuration: text_of(cells["configuration"]),
            axes: axes
                .filter(|(_, level)| !level.is_empty())
                .map(|(axis, level)| (axis.to_owned(), text_of(level)))
                .collect(),
            metric: text_of(cells["metric"]),
            unit: text_of(cells["unit"]),
            value: cells["value"].parse().unwrap(),
            low: cells["low"].parse().ok(),
            high: cells["high"].parse().ok(),
            valid: cells["valid"].parse().unwrap(),
        }
    }

    /// A row as it stands in the table: passwords hidden, empty levels left out, numbers as numbers.
    fn normal(mut row: Observation) -> Observation {
        for text in [&mut row.study, &mut row.configuration, &mut row.metric, &mut row.unit] {
            *text = shown(text).into_owned();
        }
        row.axes.retain(|_, level| !level.is_empty());
        for level in row.axes.values_mut() {
            *level =
                level.parse().map_or_else(|_| shown(level).into_owned(), |number: f64| number.to_string());
        }
        row
    }

    proptest! {
        #[test]
        fn rows_are_read_back_to_the_last_bit(rows in prop::collection::vec(row(), 0..20)) {
            let text = Table::of_metrics(&rows).csv();
            let mut reader = ::csv::Reader::from_reader(text.as_bytes());
            let header = reader.headers().unwrap().clone();
            let lines: Vec<_> = reader.records().map(Result::unwrap).collect();
            prop_assert_eq!(lines.len(), rows.len());
            for (line, row) in lines.iter().zip(rows) {
                let back = read_back(&header, line);
                prop_assert_eq!(back.value.to_bits(), row.value.to_bits());
                prop_assert_eq!(normal(back), normal(row));
            }
        }
    }
}
