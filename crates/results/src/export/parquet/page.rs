//! The cells of one column as pages: a dictionary for texts, and one page of data.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::num::TryFromIntError;

use super::super::columns::Cells;
use super::thrift::{Struct, varint};

/// `Encoding` of parquet.thrift.
#[derive(Clone, Copy)]
pub(super) enum Encoding {
    Plain = 0,
    Rle = 3,
    RleDictionary = 8,
}

/// `PageType` of parquet.thrift.
const DATA_PAGE: i32 = 0;
const DICTIONARY_PAGE: i32 = 2;

/// All pages of a column.
pub(super) struct Chunk {
    pub(super) bytes: Vec<u8>,
    /// Those of the dictionary's page, which stands first; 0 if there is none.
    pub(super) dictionary_bytes: usize,
}

impl Chunk {
    pub(super) fn of(cells: &Cells<'_>) -> Result<Self, TryFromIntError> {
        match cells {
            Cells::Text(cells) if cells.iter().any(Option::is_some) => texts(cells),
            Cells::Text(cells) => Self::plain(cells.len(), levels(cells)?),
            Cells::Number(cells) => {
                let mut body = levels(cells)?;
                body.extend(cells.iter().flatten().flat_map(|number| number.to_le_bytes()));
                Self::plain(cells.len(), body)
            }
            Cells::Whole(cells) => {
                Self::plain(cells.len(), cells.iter().flat_map(|number| number.to_le_bytes()).collect())
            }
            Cells::Flag(cells) => Self::plain(cells.len(), bits(cells)),
        }
    }

    fn plain(cells: usize, body: Vec<u8>) -> Result<Self, TryFromIntError> {
        Ok(Self { bytes: data_page(cells, Encoding::Plain, body)?, dictionary_bytes: 0 })
    }
}

/// Each text once, in the order in which they come, and the number of its text for each cell.
fn texts(cells: &[Option<Cow<'_, str>>]) -> Result<Chunk, TryFromIntError> {
    let (mut dictionary, mut numbers) = (Vec::new(), HashMap::new());
    for text in cells.iter().flatten().map(AsRef::<str>::as_ref) {
        let next = u32::try_from(numbers.len())?;
        if let Entry::Vacant(entry) = numbers.entry(text) {
            entry.insert(next);
            dictionary.extend(u32::try_from(text.len())?.to_le_bytes());
            dictionary.extend(text.as_bytes());
        }
    }
    let header = Struct::new().i32(1, numbers.len().try_into()?).i32(2, Encoding::Plain as i32);
    let mut bytes = page(DICTIONARY_PAGE, 7, header, dictionary)?;
    let dictionary_bytes = bytes.len();
    let width = (u32::BITS - (u32::try_from(numbers.len())? - 1).leading_zeros()).max(1);
    let mut body = levels(cells)?;
    body.push(width as u8);
    body.extend(runs(width, cells.iter().flatten().filter_map(|text| numbers.get(text.as_ref()).copied())));
    bytes.extend(data_page(cells.len(), Encoding::RleDictionary, body)?);
    Ok(Chunk { bytes, dictionary_bytes })
}

fn data_page(cells: usize, encoding: Encoding, body: Vec<u8>) -> Result<Vec<u8>, TryFromIntError> {
    let header = Struct::new().i32(1, cells.try_into()?).i32(2, encoding as i32);
    page(DATA_PAGE, 5, header.i32(3, Encoding::Rle as i32).i32(4, Encoding::Rle as i32), body)
}

/// A page with its header, in which the header of its kind has this number.
fn page(kind: i32, number: u8, header: Struct, body: Vec<u8>) -> Result<Vec<u8>, TryFromIntError> {
    let size = i32::try_from(body.len())?;
    let mut bytes = Struct::new().i32(1, kind).i32(2, size).i32(3, size).inner(number, header).ended();
    bytes.extend(body);
    Ok(bytes)
}

/// Whether each cell is there, as a column that may have NULL begins.
fn levels<T>(cells: &[Option<T>]) -> Result<Vec<u8>, TryFromIntError> {
    let runs = runs(1, cells.iter().map(|cell| cell.is_some().into()));
    let mut bytes = u32::try_from(runs.len())?.to_le_bytes().to_vec();
    bytes.extend(runs);
    Ok(bytes)
}

/// Run-length encoding of numbers of so many bits: the length of each run, and its number in whole bytes.
fn runs(width: u32, numbers: impl Iterator<Item = u32>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut end = |run: Option<(u32, u64)>| {
        if let Some((number, length)) = run {
            bytes.extend(varint(length << 1));
            bytes.extend(&number.to_le_bytes()[..width.div_ceil(8) as usize]);
        }
    };
    let mut run = None;
    for number in numbers {
        run = match run {
            Some((of, length)) if of == number => Some((of, length + 1)),
            ended => {
                end(ended);
                Some((number, 1))
            }
        };
    }
    end(run);
    bytes
}

/// Eight cells a byte, the first one lowest.
fn bits(cells: &[bool]) -> Vec<u8> {
    let byte = |cells: &[bool]| cells.iter().rev().fold(0, |byte, cell| byte << 1 | u8::from(*cell));
    cells.chunks(8).map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_numbers_are_one_run() {
        assert_eq!(runs(3, [5, 5, 5, 2].into_iter()), [6, 5, 2, 2]);
        assert_eq!(runs(9, std::iter::repeat_n(300, 100)), [0xc8, 0x01, 0x2c, 0x01]);
        assert_eq!(runs(1, std::iter::empty()), [0; 0]);
    }

    #[test]
    fn flags_lie_in_bits_from_the_lowest_on() {
        let mut flags = vec![true, false, true];
        assert_eq!(bits(&flags), [0b101]);
        flags.resize(9, true);
        assert_eq!(bits(&flags), [0b1111_1101, 1]);
    }
}
