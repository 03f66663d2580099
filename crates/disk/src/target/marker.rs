//! The marker in the first block of every test file: says who made it, so that nothing else is ever overwritten.
//!
//! It is text, so that whoever finds such a file can read what it is. The data begins after it.

use std::fs::File;

use rustix::io::{pread, pwrite};

/// Where the data of a test file begins; a multiple of any sensible block size, so that blocks stay aligned.
pub(crate) const DATA_BEGIN: u64 = 1 << 20;
/// Length of the marker.
const MARKER_BYTES: usize = 4096;
const FIRST_LINE: &str = "prony test file, version 1";

/// What a marker tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Marker {
    /// Bytes of data after the marker's block.
    pub(crate) data_bytes: u64,
    /// Whether all of the data was written to the end.
    pub(crate) filled: bool,
}

impl Marker {
    pub(crate) fn write(self, file: &File) -> rustix::io::Result<()> {
        let filled = if self.filled { "yes" } else { "no" };
        let text = format!(
            "{FIRST_LINE}\ndata_bytes {}\nfilled {filled}\nThis file was made to measure a disk. It holds nothing of \
             value and may be deleted.\n",
            self.data_bytes
        );
        let mut block = text.into_bytes();
        block.resize(MARKER_BYTES, b'\n');
        let mut written = 0;
        while written < block.len() {
            written += pwrite(file, &block[written..], written as u64)?;
        }
        Ok(())
    }

    /// The marker of a file; none if it is not ours.
    pub(crate) fn read(file: &File) -> Option<Self> {
        let mut block = vec![0; MARKER_BYTES];
        let mut have = 0;
        while have < block.len() {
            match pread(file, &mut block[have..], have as u64).ok()? {
                0 => return None,
                bytes => have += bytes,
            }
        }
        Self::parse(&block)
    }

    fn parse(block: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(block).ok()?;
        let mut lines = text.lines();
        (lines.next()? == FIRST_LINE).then_some(())?;
        let data_bytes = lines.next()?.strip_prefix("data_bytes ")?.parse().ok()?;
        let filled = lines.next()?.strip_prefix("filled ")? == "yes";
        Some(Self { data_bytes, filled })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_marker_is_read_back_and_a_foreign_file_has_none() {
        let file = tempfile::tempfile().unwrap();
        assert_eq!(Marker::read(&file), None, "empty");
        let marker = Marker { data_bytes: 123 << 20, filled: true };
        marker.write(&file).unwrap();
        assert_eq!(Marker::read(&file), Some(marker));
        pwrite(&file, b"P", 0).unwrap();
        assert_eq!(Marker::read(&file), None);
    }

    proptest! {
        #[test]
        fn no_block_of_a_foreign_file_passes_for_a_marker(block in prop::collection::vec(any::<u8>(), 0..5000)) {
            prop_assert_eq!(Marker::parse(&block), None);
        }
    }
}
