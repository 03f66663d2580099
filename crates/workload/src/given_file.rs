//! Files that a user names to be read: opened without waiting, and only if they are files.
//!
//! A pipe is not waited for, and a device such as `/dev/zero` is not read for ever. Text in UTF-16 is named as that; what a file
//! holds besides is for others to judge.

use std::fmt;
use std::fs::File;
use std::io::{self, Error, ErrorKind, Read as _};
use std::path::Path;

use load::Size;
use ownership::NotPlain;

/// Opens a file to be read.
///
/// # Errors
/// When it cannot be opened, or is no file: a directory, a pipe, a device.
pub fn open(path: &Path) -> io::Result<File> {
    ownership::open_plain(path).map_err(|error| {
        match error.get_ref().and_then(|error| error.downcast_ref()) {
            Some(NotPlain(kind)) => {
                Error::new(ErrorKind::InvalidInput, format!("it is {kind}: give a regular file"))
            }
            None => error,
        }
    })
}

/// Reads a file of at most so many bytes.
///
/// # Errors
/// As [`open`], and when it is larger.
pub fn read(path: &Path, bytes_max: Size) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    open(path)?.take(bytes_max.0 + 1).read_to_end(&mut content)?;
    if content.len() as u64 > bytes_max.0 {
        let problem = format!("it is larger than {bytes_max}, the maximum size that prony reads");
        return Err(Error::new(ErrorKind::FileTooLarge, problem));
    }
    Ok(content)
}

/// Text in UTF-16. It is displayed with the remedy, to follow "it is".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Utf16 {
    /// The encoding as iconv calls it.
    name: &'static str,
}

/// Pairs of bytes in which an encoding is looked for.
const PAIRS_MAX: usize = 4_096;

impl Utf16 {
    /// Whether a file that begins with these bytes is UTF-16. Without a byte order mark, it is where one byte of a pair is zero in at
    /// least a third of the pairs, and the other byte never: digits, blanks and line ends have such pairs in any language.
    #[must_use]
    pub fn of(beginning: &[u8]) -> Option<Self> {
        if beginning.starts_with(&[0xff, 0xfe]) || beginning.starts_with(&[0xfe, 0xff]) {
            return Some(Self { name: "UTF-16" });
        }
        let pairs = beginning.chunks_exact(2).take(PAIRS_MAX);
        let (mut count, mut zero_first, mut zero_second) = (0, 0, 0);
        for pair in pairs {
            count += 1;
            zero_first += usize::from(pair[0] == 0);
            zero_second += usize::from(pair[1] == 0);
        }
        let is_text = |zeros: usize| zeros >= 2 && zeros * 3 >= count;
        match (zero_first, zero_second) {
            (0, zeros) if is_text(zeros) => Some(Self { name: "UTF-16LE" }),
            (zeros, 0) if is_text(zeros) => Some(Self { name: "UTF-16BE" }),
            _ => None,
        }
    }
}

impl fmt::Display for Utf16 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name;
        write!(f, "{name} text. Save it as UTF-8, or convert it with `iconv -f {name} -t UTF-8`")
    }
}

/// As [`read`], for text.
///
/// # Errors
/// As [`read`], and when it is not UTF-8.
pub fn read_text(path: &Path, bytes_max: Size) -> io::Result<String> {
    let content = read(path, bytes_max)?;
    if let Some(utf16) = Utf16::of(&content) {
        return Err(Error::new(ErrorKind::InvalidData, format!("it is {utf16}")));
    }
    String::from_utf8(content).map_err(|error| {
        let line = 1 + error.as_bytes()[..error.utf8_error().valid_up_to()]
            .iter()
            .filter(|&&byte| byte == b'\n')
            .count();
        Error::new(ErrorKind::InvalidData, format!("line {line} is not UTF-8: save the file as UTF-8"))
    })
}

#[cfg(test)]
mod tests {
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    fn refused(path: &Path) -> String {
        read(path, Size(16)).map_or_else(|error| error.to_string(), |content| panic!("{content:?}"))
    }

    /// A study file, a recording or a price list that was a pipe was waited for, and one that was `/dev/urandom` read
    /// for ever.
    #[test]
    fn what_is_no_file_is_neither_waited_for_nor_read_for_ever() {
        let directory = tempfile::tempdir().unwrap();
        let pipe = directory.path().join("pipe");
        mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        assert_eq!(refused(&pipe), "it is a FIFO: give a regular file");
        assert!(refused(directory.path()).contains("a directory"));
        for device in ["/dev/zero", "/dev/urandom", "/dev/null"] {
            assert!(refused(Path::new(device)).contains("a character device"));
        }
    }

    #[test]
    fn a_file_is_read_up_to_the_limit() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("file");
        std::fs::write(&file, "a\nb").unwrap();
        assert_eq!(read_text(&file, Size(3)).unwrap(), "a\nb");
        assert!(read(&file, Size(2)).unwrap_err().to_string().contains("larger than 2"));
        std::fs::write(&file, b"a\n\xff").unwrap();
        assert!(read_text(&file, Size(3)).unwrap_err().to_string().starts_with("line 2 is not UTF-8"));
    }
    /// A study file in UTF-16 without a mark is UTF-8 with zero bytes, and was refused for the first of them.
    #[test]
    fn utf_16_is_named_with_and_without_a_mark() {
        let encoded = |text: &str, to_bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
            text.encode_utf16().flat_map(to_bytes).collect()
        };
        for text in ["title = \"a\"\n", "2026-06-01T06:00:00Z,Насос давление,5\r\n", "SELECT 'Straße';"]
        {
            assert_eq!(
                Utf16::of(&encoded(text, u16::to_le_bytes)),
                Some(Utf16 { name: "UTF-16LE" }),
                "{text}"
            );
            assert_eq!(
                Utf16::of(&encoded(text, u16::to_be_bytes)),
                Some(Utf16 { name: "UTF-16BE" }),
                "{text}"
            );
            let marked = format!("\u{feff}{text}");
            for to_bytes in [u16::to_le_bytes, u16::to_be_bytes] {
                assert_eq!(Utf16::of(&encoded(&marked, to_bytes)), Some(Utf16 { name: "UTF-16" }), "{text}");
            }
            assert_eq!(Utf16::of(text.as_bytes()), None, "{text}");
        }
        for other in [&b""[..], b"a", b"SELECT 1;\0\n", b"\0\0\0\0\0\0\0\0", b"a\0\0b\0c", b"\x1f\x8b\x08\0"]
        {
            assert_eq!(Utf16::of(other), None, "{other:?}");
        }
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("file");
        std::fs::write(&file, encoded("a = 1\n", u16::to_le_bytes)).unwrap();
        insta::assert_snapshot!(read_text(&file, Size(99)).unwrap_err(), @"it is UTF-16LE text. Save it as UTF-8, or convert it with \
        `iconv -f UTF-16LE -t UTF-8`");
    }
}
