//! A place in a text, which knows its line.

/// A place in a text.
#[derive(Debug, Clone)]
pub(super) struct Cursor<'text> {
    /// From the place on.
    rest: &'text str,
    /// From 1.
    line: usize,
}

impl<'text> Cursor<'text> {
    pub(super) fn new(text: &'text str) -> Self {
        // A mark of the order of bytes, which some editors begin a file with.
        Self { rest: text.strip_prefix('\u{feff}').unwrap_or(text), line: 1 }
    }

    pub(super) fn rest(&self) -> &'text str {
        self.rest
    }

    pub(super) fn line(&self) -> usize {
        self.line
    }

    /// Moves on by some bytes and gives them.
    pub(super) fn take(&mut self, bytes: usize) -> &'text str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.line += taken.bytes().filter(|byte| *byte == b'\n').count();
        self.rest = rest;
        taken
    }

    /// Moves on to the end of the line, before what ends it. A line that ends with a backslash goes on in the next.
    pub(super) fn take_continued_line(&mut self) -> &'text str {
        let ends = self.rest.match_indices('\n').map(|(end, _)| end);
        let is_end = |end: &usize| {
            let line = &self.rest[..*end];
            !line.strip_suffix('\r').unwrap_or(line).ends_with('\\')
        };
        let end = ends.into_iter().find(is_end).unwrap_or(self.rest.len());
        self.take(end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted() {
        let mut cursor = Cursor::new("\u{feff}ab\n c\n");
        assert_eq!((cursor.take(2), cursor.line()), ("ab", 1));
        assert_eq!((cursor.take(3), cursor.line(), cursor.rest()), ("\n c", 2, "\n"));
    }

    #[test]
    fn a_line_goes_on_after_a_backslash() {
        let mut cursor = Cursor::new("a \\\n b\\\r\nc\r\nd");
        assert_eq!((cursor.take_continued_line(), cursor.line()), ("a \\\n b\\\r\nc\r", 3));
        cursor.take(1);
        assert_eq!((cursor.take_continued_line(), cursor.rest()), ("d", ""));
    }
}
