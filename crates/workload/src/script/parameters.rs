//! Values of variables from a CSV file: a row for each transaction.

use load::Size;
use serde::{Deserialize, Serialize};

use super::language::{Names, ValueKind, is_name};
use super::settings::ParameterFile;
use crate::given_file;

/// Largest file that is read; it is kept in memory.
const FILE_MAX: Size = Size(256 << 20);

/// The rows of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Parameters {
    /// The variable of each column.
    pub(super) variables: Vec<usize>,
    /// Row after row.
    values: Vec<String>,
    /// Whether a row is drawn; else each comes in its turn, and the first again after the last.
    pub(super) is_random: bool,
}

impl Parameters {
    /// Reads a file. Its first line names the variables.
    ///
    /// # Errors
    /// What is wrong with it, with the line.
    pub(super) fn read(file: &ParameterFile, names: &mut Names) -> Result<Self, String> {
        let path = file.path.display();
        let content = given_file::read(&file.path, FILE_MAX)
            .map_err(|error| format!("cannot read the parameters {path}: {error}"))?;
        if let Some(utf16) = given_file::Utf16::of(&content) {
            return Err(format!("cannot read the parameters {path}: it is {utf16}"));
        }
        Self::of(&content, file.is_random, names).map_err(|(line, words)| format!("{path}:{line}: {words}"))
    }

    fn of(content: &[u8], is_random: bool, names: &mut Names) -> Result<Self, (u64, String)> {
        let content = content.strip_prefix(b"\xef\xbb\xbf").unwrap_or(content);
        if let Some(line) = unclosed_quote(content) {
            let words = "a value begins with a quotation mark that is never closed: close it, or double it if it belongs to the value";
            return Err((line, words.to_owned()));
        }
        let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(content);
        let line_of = |position: Option<&csv::Position>| position.map_or(1, csv::Position::line);
        let unreadable =
            |error: &csv::Error| (line_of(error.position()), format!("not CSV in UTF-8: {error}"));
        let header = reader.headers().map_err(|error| unreadable(&error))?.clone();
        let mut variables = Vec::with_capacity(header.len());
        for name in &header {
            let name = name.trim();
            if !is_name(name) {
                return Err((
                    1,
                    format!("invalid variable name `{name}` in the first line: use letters, digits and _"),
                ));
            }
            let variable = names.index(name);
            if variables.contains(&variable) {
                return Err((1, format!("`{name}` occurs twice")));
            }
            variables.push(variable);
        }
        let (mut values, mut record) = (Vec::new(), csv::StringRecord::new());
        while reader.read_record(&mut record).map_err(|error| unreadable(&error))? {
            if record.len() != variables.len() {
                let words = format!(
                    "this line has {} values, but the first line names {}",
                    record.len(),
                    variables.len()
                );
                return Err((line_of(record.position()), words));
            }
            if record.iter().any(|value| value.contains('\0')) {
                let words = "a value has a zero byte, which cannot be sent to a server: remove it";
                return Err((line_of(record.position()), words.to_owned()));
            }
            values.extend(record.iter().map(str::to_owned));
        }
        match values.is_empty() {
            true => Err((1, "the line with the column names is not followed by rows".to_owned())),
            false => Ok(Self { variables, values, is_random }),
        }
    }

    /// How many there are.
    pub(super) fn rows(&self) -> usize {
        self.values.len() / self.variables.len()
    }

    /// Of what kind the values of each variable are, all rows together.
    pub(super) fn kinds(&self) -> impl Iterator<Item = (usize, ValueKind)> {
        let width = self.variables.len();
        self.variables.iter().enumerate().map(move |(column, &variable)| {
            let values = self.values.iter().skip(column).step_by(width);
            (variable, values.map(|value| ValueKind::of_text(value)).fold(ValueKind::None, ValueKind::or))
        })
    }

    /// The values of a row, in the order of the variables; rows go on from the first after the last.
    pub(super) fn row(&self, number: usize) -> &[String] {
        let width = self.variables.len();
        let begin = number % self.rows() * width;
        &self.values[begin..begin + width]
    }
}

/// Line of a quotation mark that begins a value and is never closed: the rest of the file would be that value (RFC 4180, 2.5 to 2.7).
fn unclosed_quote(content: &[u8]) -> Option<u64> {
    let (mut line, mut opened, mut begins_value) = (1, None, true);
    let mut signs = content.iter().peekable();
    while let Some(&sign) = signs.next() {
        line += u64::from(sign == b'\n');
        match (sign, opened) {
            // Two of them are one of the value.
            (b'"', Some(_)) => opened = opened.filter(|_| signs.next_if_eq(&&b'"').is_some()),
            (b'"', None) if begins_value => opened = Some(line),
            _ => {}
        }
        begins_value = matches!(sign, b',' | b'\n' | b'\r');
    }
    opened
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(content: &str) -> Result<(Parameters, Names), (u64, String)> {
        let mut names = Names::default();
        Parameters::of(content.as_bytes(), false, &mut names).map(|parameters| (parameters, names))
    }

    #[test]
    fn a_row_has_a_value_for_each_variable_and_the_first_comes_after_the_last() {
        let (parameters, names) = read("\u{feff}id, name\n1,\"a, \"\"b\"\"\"\n2,\n").unwrap();
        assert_eq!(parameters.variables, [names.find("id").unwrap(), names.find("name").unwrap()]);
        assert_eq!(parameters.row(0), ["1", "a, \"b\""]);
        assert_eq!(parameters.row(3), ["2", ""]);
    }

    /// A quotation mark within a value is one of it, and an end of a line between two is too.
    #[test]
    fn quotation_marks_that_are_closed_or_begin_no_value_are_read() {
        let (parameters, _) = read("id,name\n1,5\" disk\n2,\"two\nlines, \"\"so\"\"\"\n3,\"\"\n").unwrap();
        assert_eq!(
            [0, 1, 2].map(|row| parameters.row(row)[1].as_str()),
            ["5\" disk", "two\nlines, \"so\"", ""]
        );
    }

    #[test]
    fn what_is_no_table_is_told_with_its_line() {
        for (content, line, part) in [
            ("", 1, "not followed by rows"),
            ("id\n", 1, "not followed by rows"),
            ("id,1x\n1,2\n", 1, "invalid variable name `1x`"),
            ("id,id\n1,2\n", 1, "twice"),
            ("id,name\n1,a\n2\n", 3, "1 values, but the first line names 2"),
            ("id,name\n1,a\n2,\"b\n3,c\n", 3, "is never closed"),
            ("id,name\n1,\"a \"\"\n2,b\n", 2, "is never closed"),
            ("id\n1\na\0b\n", 3, "zero byte"),
        ] {
            let (told_line, words) = read(content).unwrap_err();
            assert!(told_line == line && words.contains(part), "{content:?}: {told_line}: {words}");
        }
        let mut names = Names::default();
        let (line, words) = Parameters::of(b"id\n1\n\xff\n", false, &mut names).unwrap_err();
        assert!(line == 3 && words.contains("UTF-8"), "{line}: {words}");
    }

    proptest! {
        #[test]
        fn whatever_a_file_holds_is_read_or_refused(content in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(parameters) = Parameters::of(&content, false, &mut Names::default()) {
                prop_assert!(parameters.rows() > 0 && parameters.row(7).len() == parameters.variables.len());
            }
        }
    }
}
