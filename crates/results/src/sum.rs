//! Sums stored histograms cell by cell.
//!
//! An hour leaves thousands of histograms, of which a second fills a few hundred cells each: these are read from the stored form, and the
//! library's histogram of 270 KB is made for none of our own. A histogram of another shape than [`Latency`]'s own is left to
//! [`Latency::from_base64`], as is naming what is wrong with a damaged one.
//!
//! The form is HdrHistogram V2: a header of 8 bytes around a zlib stream of a header of 40 bytes and the cells
//! as zigzag LEB128 numbers of at most 9 bytes, where a negative one stands for as many empty cells
//! (<https://github.com/HdrHistogram/HdrHistogram>, `ZigZagEncoding`).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use flate2::{Decompress, FlushDecompress, Status};
use record::{HistogramError, Latency};

/// Bytes around the zlib stream: cookie and length.
const ENVELOPE_BYTES: usize = 8;
/// Bytes before the cells: cookie, length, offset, digits, lowest, highest, ratio.
const HEADER_BYTES: usize = 40;
/// Where in both headers the length stands.
const LENGTH: std::ops::Range<usize> = 4..8;
/// Longest number in the stream of cells.
const NUMBER_BYTES_MAX: usize = 9;

/// Longer than any stream of our own: no more cells than that are ever filled.
const STREAM_BYTES_MAX: usize = 1 << 19;

/// The sum of histograms.
#[derive(Debug, Default)]
pub(crate) struct Sum {
    cells: Vec<u64>,
    others: Latency,
}

impl Sum {
    /// Its cells, as far as they are filled; none where histograms of another shape are in it.
    pub(crate) fn cells(&self) -> Option<&[u64]> {
        (self.others.count() == 0).then_some(self.cells.as_slice())
    }
}

/// Adds stored histograms to sums; keeps what it needs for that between calls.
pub(crate) struct Adder {
    unpack: Unpack,
    header: [u8; HEADER_BYTES],
    cells_max: usize,
    filled: Vec<(usize, u64)>,
}

impl Adder {
    pub(crate) fn new() -> Self {
        let mut unpack = Unpack::new();
        let mut header = [0; HEADER_BYTES];
        let mut longest = Latency::new();
        longest.record_ns(u64::MAX);
        let mut filled = Vec::new();
        let own = unpack.stream(&longest.to_base64()).and_then(|stream| {
            header.copy_from_slice(stream.get(..HEADER_BYTES)?);
            read_cells(stream.get(HEADER_BYTES..)?, usize::MAX, &mut filled)
        });
        assert!(own.is_some() && filled.len() == 1, "our own histogram cannot be read");
        let cells_max = filled.iter().map(|(cell, _)| cell + 1).sum();
        Self { unpack, header, cells_max, filled }
    }

    /// Adds a stored histogram to a sum; one that is damaged changes nothing. Gives its filled cells in rising order, none of one
    /// of another shape.
    pub(crate) fn add(
        &mut self,
        text: &str,
        sum: &mut Sum,
    ) -> Result<Option<&[(usize, u64)]>, HistogramError> {
        if self.fill(text).is_none() {
            sum.others.merge(&Latency::from_base64(text)?);
            return Ok(None);
        }
        let cells = self.filled.last().map_or(0, |(cell, _)| cell + 1);
        if sum.cells.len() < cells {
            sum.cells.resize(cells, 0);
        }
        for &(cell, count) in &self.filled {
            sum.cells[cell] = sum.cells[cell].saturating_add(count);
        }
        Ok(Some(&self.filled))
    }

    /// The filled cells of a stored histogram of our own shape; none of another or a damaged one.
    fn fill(&mut self, text: &str) -> Option<()> {
        let stream = self.unpack.stream(text)?;
        let (header, cells) = stream.split_at_checked(HEADER_BYTES)?;
        let same = header[..LENGTH.start] == self.header[..LENGTH.start]
            && header[LENGTH.end..] == self.header[LENGTH.end..];
        if !same {
            return None;
        }
        read_cells(cells, self.cells_max, &mut self.filled)
    }

    /// The sum as a histogram.
    pub(crate) fn total(&self, sum: &Sum) -> Result<Latency, HistogramError> {
        let mut stream = self.header.to_vec();
        write_cells(&sum.cells, &mut stream);
        let length = u32::try_from(stream.len() - HEADER_BYTES).unwrap_or(u32::MAX);
        stream[LENGTH].copy_from_slice(&length.to_be_bytes());
        let mut total = Latency::from_base64(&BASE64.encode(stream))?;
        total.merge(&sum.others);
        Ok(total)
    }
}

/// From base64 to the stream within, with the memory for it.
struct Unpack {
    inflate: Decompress,
    packed: Vec<u8>,
    stream: Vec<u8>,
}

impl Unpack {
    fn new() -> Self {
        Self { inflate: Decompress::new(true), packed: Vec::new(), stream: vec![0; STREAM_BYTES_MAX] }
    }

    /// The stream within; none of one that is damaged, or longer than a histogram of ours can be.
    fn stream(&mut self, text: &str) -> Option<&[u8]> {
        self.packed.clear();
        self.inflate.reset(true);
        BASE64.decode_vec(text, &mut self.packed).ok()?;
        let zlib = self.packed.get(ENVELOPE_BYTES..)?;
        let status = self.inflate.decompress(zlib, &mut self.stream, FlushDecompress::Finish).ok()?;
        let length = usize::try_from(self.inflate.total_out()).ok()?;
        if status == Status::StreamEnd { self.stream.get(..length) } else { None }
    }
}

fn read_cells(mut stream: &[u8], cells_max: usize, filled: &mut Vec<(usize, u64)>) -> Option<()> {
    filled.clear();
    let mut cell: usize = 0;
    while !stream.is_empty() {
        let number = read_number(&mut stream)?;
        if number < 0 {
            cell = cell.checked_add(usize::try_from(number.unsigned_abs()).ok()?)?;
        } else {
            if number > 0 {
                filled.push((cell, number.unsigned_abs()));
            }
            cell = cell.checked_add(1)?;
        }
        if cell > cells_max {
            return None;
        }
    }
    Some(())
}

/// Seven bits a byte, lowest first, while the eighth is set; the ninth byte holds eight.
fn read_number(stream: &mut &[u8]) -> Option<i64> {
    let mut coded: u64 = 0;
    for place in 0..NUMBER_BYTES_MAX {
        let (&byte, rest) = stream.split_first()?;
        *stream = rest;
        if place == NUMBER_BYTES_MAX - 1 || byte & 0x80 == 0 {
            coded |= u64::from(byte) << (7 * place);
            break;
        }
        coded |= u64::from(byte & 0x7f) << (7 * place);
    }
    Some((coded >> 1) as i64 ^ -((coded & 1) as i64))
}

fn write_cells(cells: &[u64], stream: &mut Vec<u8>) {
    let mut empty: i64 = 0;
    for &count in cells {
        if count == 0 {
            empty += 1;
            continue;
        }
        if empty > 0 {
            write_number(-empty, stream);
            empty = 0;
        }
        write_number(i64::try_from(count).unwrap_or(i64::MAX), stream);
    }
}

fn write_number(number: i64, stream: &mut Vec<u8>) {
    let mut coded = ((number << 1) ^ (number >> 63)) as u64;
    for _ in 1..NUMBER_BYTES_MAX {
        if coded < 0x80 {
            break;
        }
        stream.push(coded as u8 | 0x80);
        coded >>= 7;
    }
    stream.push(coded as u8);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    use hdrhistogram::Histogram;
    use hdrhistogram::serialization::{Serializer as _, V2DeflateSerializer};

    fn of(latencies_ns: &[u64]) -> Latency {
        let mut latency = Latency::new();
        latencies_ns.iter().for_each(|&ns| latency.record_ns(ns));
        latency
    }

    fn sum_of(stored: &[String]) -> Latency {
        let mut adder = Adder::new();
        let mut sum = Sum::default();
        for text in stored {
            adder.add(text, &mut sum).unwrap();
        }
        adder.total(&sum).unwrap()
    }

    #[test]
    fn a_sum_of_nothing_is_an_empty_histogram() {
        assert_eq!(sum_of(&[]).count(), 0);
        assert_eq!(sum_of(&[Latency::new().to_base64()]).count(), 0);
    }

    #[test]
    fn histograms_of_another_shape_are_summed_too() {
        let mut short = Histogram::<u64>::new_with_bounds(1, 60_000_000_000, 3).unwrap();
        short.record(5_000_000).unwrap();
        let mut bytes = Vec::new();
        V2DeflateSerializer::new().serialize(&short, &mut bytes).unwrap();
        let sum = sum_of(&[BASE64.encode(bytes), of(&[80_000]).to_base64()]);
        assert_eq!(sum, of(&[80_000, 5_000_000]));
    }

    #[test]
    fn a_damaged_histogram_changes_nothing() {
        let mut adder = Adder::new();
        let mut sum = Sum::default();
        let whole = of(&[80_000, 90_000]).to_base64();
        adder.add(&whole, &mut sum).unwrap();
        for length in 0..whole.len() / 2 {
            assert!(adder.add(&whole[..length], &mut sum).is_err(), "{length} bytes");
        }
        assert_eq!(adder.total(&sum).unwrap(), of(&[80_000, 90_000]));
    }

    proptest! {
        #[test]
        fn summing_stored_histograms_is_merging_them(
            parts in prop::collection::vec(prop::collection::vec(0u64..4_000_000_000_000, 0..200), 0..6)
        ) {
            let stored: Vec<String> = parts.iter().map(|part| of(part).to_base64()).collect();
            prop_assert_eq!(sum_of(&stored), of(&parts.concat()));
        }

        #[test]
        fn numbers_are_read_back(number in any::<i64>()) {
            let mut stream = Vec::new();
            write_number(number, &mut stream);
            prop_assert!(stream.len() <= NUMBER_BYTES_MAX);
            let mut rest = stream.as_slice();
            prop_assert_eq!(read_number(&mut rest), Some(number));
            prop_assert!(rest.is_empty());
        }
    }
}
