//! The lines of a file, with their numbers, one at a time and of bounded length.

use std::io::{self, BufRead, Read as _};

/// Longest line, and longest entry, that is kept.
pub(super) const ENTRY_MAX: usize = 64 << 20;

/// A line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// From 1.
    pub(super) number: u64,
    /// Without its end.
    pub(super) text: Result<String, Unread>,
    /// Whether an end of the line stands behind it; the last one of a file that was cut has none.
    pub(super) is_whole: bool,
}

/// Why a line has no text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unread {
    TooLong,
    NoText,
}

/// The lines of a file.
pub(super) struct Lines<'a> {
    from: &'a mut dyn BufRead,
    last: u64,
}

impl<'a> Lines<'a> {
    pub(super) fn of(from: &'a mut dyn BufRead) -> Self {
        Self { from, last: 0 }
    }

    /// Lines that were read.
    pub(super) fn count(&self) -> u64 {
        self.last
    }

    /// The next line; none at the end.
    pub(super) fn next(&mut self) -> io::Result<Option<Line>> {
        let mut bytes = Vec::new();
        (&mut self.from).take(ENTRY_MAX as u64 + 1).read_until(b'\n', &mut bytes)?;
        if bytes.is_empty() {
            return Ok(None);
        }
        self.last += 1;
        let number = self.last;
        let mut is_whole = bytes.pop_if(|byte| *byte == b'\n').is_some();
        if is_whole {
            bytes.pop_if(|byte| *byte == b'\r');
        } else if bytes.len() > ENTRY_MAX {
            is_whole = self.pass_over()?;
            return Ok(Some(Line { number, text: Err(Unread::TooLong), is_whole }));
        }
        if number == 1 && bytes.starts_with(b"\xef\xbb\xbf") {
            bytes.drain(..3);
        }
        let text = String::from_utf8(bytes).map_err(|_| Unread::NoText);
        Ok(Some(Line { number, text, is_whole }))
    }

    /// Passes over what is left of a line. Tells whether it has an end.
    fn pass_over(&mut self) -> io::Result<bool> {
        loop {
            let bytes = self.from.fill_buf()?;
            if bytes.is_empty() {
                return Ok(false);
            }
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let passed = end.map_or(bytes.len(), |end| end + 1);
            self.from.consume(passed);
            if end.is_some() {
                return Ok(true);
            }
        }
    }
}
