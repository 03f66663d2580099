//! The text of a file of SQL as it can be sent: without the mark that ends a file of DOS, and refused where it holds zero bytes.

/// Control-Z, with which programs of DOS end a text.
const END_OF_DOS: char = '\u{1a}';

/// A text without what its end of DOS is.
///
/// # Errors
/// Lines, from 1, with what cannot be sent to a server, and what to do.
pub(super) fn sendable(text: &str) -> Result<&str, Vec<(usize, String)>> {
    let zeros = text.bytes().filter(|byte| *byte == 0).count();
    // A text in letters of ASCII has a zero byte beside each of them.
    if zeros > 0 && 2 * zeros + 2 >= text.len() {
        let order = if text.starts_with('\0') { "UTF-16BE" } else { "UTF-16LE" };
        let words = format!(
            "the file is {order} without a mark: save it as UTF-8, or convert it (`iconv -f {order} -t UTF-8`)"
        );
        return Err(vec![(1, words)]);
    }
    if zeros > 0 {
        let lines = text.split('\n').enumerate().filter(|(_, line)| line.contains('\0'));
        let words = "a zero byte cannot be sent to a server: remove it";
        return Err(lines.map(|(line, _)| (line + 1, words.to_owned())).collect());
    }
    let ended = text.trim_end();
    Ok(ended.strip_suffix(END_OF_DOS).map_or(text, |text| text.trim_end_matches(END_OF_DOS)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zero_byte_is_told_with_each_of_its_lines() {
        let wrong = sendable("SELECT 1;\n\0\nSELECT 'a\0b';\nSELECT 2;\n").unwrap_err();
        assert_eq!(wrong.iter().map(|(line, _)| *line).collect::<Vec<usize>>(), [2, 3]);
        assert!(wrong[0].1.contains("zero byte"), "{wrong:?}");
    }

    #[test]
    fn the_end_of_a_text_of_dos_is_passed_over() {
        assert_eq!(sendable("SELECT 1;\r\n\u{1a}"), Ok("SELECT 1;\r\n"));
        assert_eq!(sendable("SELECT 1;\u{1a}\u{1a}\r\n"), Ok("SELECT 1;"));
        assert_eq!(sendable("SELECT 1;\n"), Ok("SELECT 1;\n"));
        assert_eq!(sendable("SELECT '\u{1a}';"), Ok("SELECT '\u{1a}';"), "within a text it is a letter");
    }

    #[test]
    fn utf_16_without_a_mark_is_named() {
        for (order, bytes) in [
            ("UTF-16LE", "SELECT 1;\n".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>()),
            ("UTF-16BE", "SELECT 1;\n".encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<u8>>()),
        ] {
            let wrong = sendable(std::str::from_utf8(&bytes).unwrap()).unwrap_err();
            assert!(wrong.len() == 1 && wrong[0].0 == 1 && wrong[0].1.contains(order), "{wrong:?}");
        }
    }
}
