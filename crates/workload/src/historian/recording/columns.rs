//! Which columns of a recording hold time, tag, value and quality: as the user says, or as a header names them.

use std::fmt;
use std::str::FromStr;

use csv::ByteRecord;

/// The columns of a recording, as a user gives them: `time=Timestamp,tag=Name,value=4`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Columns {
    /// In the order of [`ROLES`]; none but quality may be left out.
    given: [Option<Column>; 4],
}

/// A column by its number or by its name in the header.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Column {
    /// From 1.
    Number(u16),
    Name(String),
}

/// What a column can hold.
const ROLES: [&str; 4] = ["time", "tag", "value", "quality"];

/// What other programs call these columns, without blanks, `_` and `-`, in small letters.
const USUAL_NAMES: [&[&str]; 4] = [
    &["time", "timestamp", "datetime", "ts", "timestring", "zeit", "zeitstempel"],
    &["tag", "tagname", "name", "point", "pointname", "signal", "item", "variable", "varname"],
    &["value", "val", "pv", "varvalue", "wert"],
    &["quality", "q", "opcquality", "status", "validity", "qualität"],
];

/// A text that names no columns.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{given}` names no columns: {problem}; give time, tag and value, and quality if there is one, by name or number: \
     time=Timestamp,tag=Name,value=4"
)]
pub struct ColumnsError {
    given: String,
    problem: String,
}

/// Where the fields of an event stand in a line, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Places {
    pub(super) time: usize,
    pub(super) tag: usize,
    pub(super) value: usize,
    pub(super) quality: Option<usize>,
    /// Whether a line has these fields and no others.
    pub(super) only_these: bool,
}

impl Places {
    /// Time, tag, value, and quality if there is a fourth.
    pub(super) const IN_ORDER: Self = Self { time: 0, tag: 1, value: 2, quality: Some(3), only_these: true };

    /// The columns that a header calls by usual names; none if one of time, tag and value is missing or there twice. A header
    /// that names them in their order says nothing new.
    pub(super) fn by_usual_names(header: &ByteRecord) -> Option<Self> {
        let names: Vec<String> = header.iter().map(plain).collect();
        let the_one = |usual: &[&str]| {
            let mut found = (0..names.len()).filter(|&place| usual.contains(&names[place].as_str()));
            found.next().filter(|_| found.next().is_none())
        };
        let [time, tag, value, quality] = USUAL_NAMES.map(the_one);
        let (time, tag, value) = (time?, tag?, value?);
        if [time, tag, value] == [0, 1, 2] && header.len() <= ROLES.len() {
            return Some(Self::IN_ORDER);
        }
        Some(Self { time, tag, value, quality, only_these: false })
    }

    /// Fields that a line has at least.
    pub(super) fn fields_min(&self) -> usize {
        // A quality may be left out with its delimiter.
        self.time.max(self.tag).max(self.value) + 1
    }
}

impl Columns {
    /// Whether a header has to name one of them.
    pub(super) fn need_header(&self) -> bool {
        self.given.iter().flatten().any(|column| matches!(column, Column::Name(_)))
    }

    /// Where they stand; `Err` with the name that the header has not, or has twice.
    pub(super) fn places(&self, header: Option<&ByteRecord>) -> Result<Places, String> {
        let mut places = [None; 4];
        for (place, column) in places.iter_mut().zip(&self.given) {
            *place = match column {
                None => None,
                Some(Column::Number(number)) => Some(usize::from(*number) - 1),
                Some(Column::Name(name)) => Some(place_of(name, header).ok_or_else(|| name.clone())?),
            };
        }
        let [time, tag, value, quality] = places;
        let needed = |place: Option<usize>| place.unwrap_or_default();
        Ok(Places { time: needed(time), tag: needed(tag), value: needed(value), quality, only_these: false })
    }
}

/// The one column of this name, or the one of this name whatever its capitals.
fn place_of(name: &str, header: Option<&ByteRecord>) -> Option<usize> {
    let names: Vec<_> = header?.iter().map(|field| String::from_utf8_lossy(field.trim_ascii())).collect();
    let the_one = |is_it: &dyn Fn(&str) -> bool| {
        let mut found = (0..names.len()).filter(|&place| is_it(&names[place]));
        found.next().filter(|_| found.next().is_none())
    };
    the_one(&|found| found == name).or_else(|| the_one(&|found| found.to_lowercase() == name.to_lowercase()))
}

fn plain(field: &[u8]) -> String {
    let name = String::from_utf8_lossy(field).to_lowercase();
    name.chars().filter(|letter| !letter.is_whitespace() && !"_-".contains(*letter)).collect()
}

impl FromStr for Columns {
    type Err = ColumnsError;

    fn from_str(text: &str) -> Result<Self, ColumnsError> {
        let fault = |problem: String| ColumnsError { given: text.to_owned(), problem };
        let mut given: [Option<Column>; 4] = Default::default();
        for part in text.split(',') {
            let (role, column) =
                part.split_once('=').ok_or_else(|| fault(format!("`{}` has no =", part.trim())))?;
            let (role, column) = (role.trim(), column.trim());
            let place = ROLES.iter().position(|known| *known == role);
            let place =
                place.ok_or_else(|| fault(format!("unknown column `{role}`: use {}", ROLES.join(", "))))?;
            if given[place].is_some() {
                return Err(fault(format!("{role} is given twice")));
            }
            given[place] = Some(match column.parse::<u16>() {
                Ok(number @ 1..) if column.starts_with(|first: char| first.is_ascii_digit()) => {
                    Column::Number(number)
                }
                _ if column.is_empty() || column.bytes().all(|byte| byte.is_ascii_digit()) => {
                    return Err(fault(format!(
                        "{role} is neither a name nor a number from 1 to {}",
                        u16::MAX
                    )));
                }
                Ok(_) | Err(_) => Column::Name(column.to_owned()),
            });
        }
        if let Some(missing) = (0..3).find(|&place| given[place].is_none()) {
            return Err(fault(format!("{} is missing", ROLES[missing])));
        }
        for (place, column) in given.iter().enumerate() {
            let same = column
                .as_ref()
                .and_then(|column| given[..place].iter().position(|other| other.as_ref() == Some(column)));
            if let Some(same) = same {
                return Err(fault(format!("{} and {} are the same column", ROLES[same], ROLES[place])));
            }
        }
        Ok(Self { given })
    }
}

impl fmt::Display for Columns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut comma = "";
        for (role, column) in ROLES.iter().zip(&self.given) {
            match column {
                None => continue,
                Some(Column::Number(number)) => write!(f, "{comma}{role}={number}")?,
                Some(Column::Name(name)) => write!(f, "{comma}{role}={name}")?,
            }
            comma = ",";
        }
        Ok(())
    }
}

load::serde_as_text!(Columns);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn places(header: &[&str]) -> Option<[Option<usize>; 4]> {
        let places = Places::by_usual_names(&ByteRecord::from(header))?;
        Some([Some(places.time), Some(places.tag), Some(places.value), places.quality])
    }

    #[test]
    fn usual_names_are_found_in_any_order() {
        assert_eq!(places(&["Tag Name", "Timestamp", "Value"]), Some([Some(1), Some(0), Some(2), None]));
        assert_eq!(
            places(&["id", "tag_name", "DATE-TIME", "Quality", "val"]),
            Some([Some(2), Some(1), Some(4), Some(3)])
        );
        assert_eq!(places(&["Time", "Tag", "Value", "anything"]), Some([Some(0), Some(1), Some(2), Some(3)]));
        assert_eq!(places(&["Time", "Tag", "Value", "a", "b"]), Some([Some(0), Some(1), Some(2), None]));
        for unusual in [["when", "what", "how much"], ["time", "name", "tag"], ["time", "tag", "time"]] {
            assert_eq!(places(&unusual), None, "{unusual:?}");
        }
    }

    #[test]
    fn columns_are_told_from_mistakes() {
        for (text, problem) in [
            ("time", "`time` has no ="),
            ("time=1,tag=2", "value is missing"),
            ("time=1,tag=2,value=0", "value is neither a name nor a number from 1 to 65535"),
            ("time=1,tag=2,value=", "value is neither a name"),
            ("time=1,tag=2,value=70000", "value is neither a name"),
            ("time=1,tag=2,when=3", "unknown column `when`: use time, tag, value, quality"),
            ("time=1,tag=2,tag=3", "tag is given twice"),
            ("time=1,tag=2,value=2", "tag and value are the same column"),
        ] {
            let told = text.parse::<Columns>().unwrap_err().to_string();
            assert!(told.contains(problem) && told.contains(text), "{told}");
        }
    }

    #[test]
    fn a_name_is_one_column() {
        let columns: Columns = "time=t,tag=B,value=3".parse().unwrap();
        let header = |names: &[&str]| columns.places(Some(&ByteRecord::from(names)));
        let found = Places { time: 0, tag: 1, value: 2, quality: None, only_these: false };
        assert_eq!(header(&["T", "b", "x"]), Ok(found));
        assert_eq!(header(&["T", "b", "B"]), Ok(Places { tag: 2, ..found }));
        assert_eq!(header(&["t", "b", "b"]), Err("B".to_owned()));
        assert_eq!(columns.places(None), Err("t".to_owned()));
    }

    proptest! {
        #[test]
        fn columns_are_read_as_they_are_written(
            names in prop::collection::hash_set("[a-z][A-Za-z 0-9.]{0,6}[a-z]", 4),
            numbers in prop::collection::hash_set(1..=u16::MAX, 4),
            is_named in any::<[bool; 4]>(),
            has_quality in any::<bool>(),
        ) {
            let columns = names.into_iter().zip(numbers).zip(is_named).map(|((name, number), is_named)| {
                if is_named { Column::Name(name) } else { Column::Number(number) }
            });
            let mut given: Vec<Option<Column>> = columns.map(Some).collect();
            given[3] = given[3].take().filter(|_| has_quality);
            let columns = Columns { given: given.try_into().unwrap() };
            prop_assert_eq!(columns.to_string().parse::<Columns>(), Ok(columns));
        }

        #[test]
        fn no_text_makes_the_parser_fail(text in ".{0,40}") {
            let _ = text.parse::<Columns>();
        }
    }
}
