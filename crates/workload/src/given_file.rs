//! Files that a user names to be read: opened without waiting, and only if they are files.
//!
//! A pipe is not waited for, and a device such as `/dev/zero` is not read for ever. What a file holds is for others to judge.

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
                Error::new(ErrorKind::InvalidInput, format!("it is {kind}: give a file that holds it"))
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
        let problem = format!("it is larger than {bytes_max}, the most that is read of one");
        return Err(Error::new(ErrorKind::FileTooLarge, problem));
    }
    Ok(content)
}

/// As [`read`], for text.
///
/// # Errors
/// As [`read`], and when it is not UTF-8.
pub fn read_text(path: &Path, bytes_max: Size) -> io::Result<String> {
    String::from_utf8(read(path, bytes_max)?).map_err(|error| {
        let line = 1 + error.as_bytes()[..error.utf8_error().valid_up_to()]
            .iter()
            .filter(|&&byte| byte == b'\n')
            .count();
        Error::new(ErrorKind::InvalidData, format!("line {line} is no text in UTF-8: save it as UTF-8"))
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
        assert_eq!(refused(&pipe), "it is a FIFO: give a file that holds it");
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
        assert!(read_text(&file, Size(3)).unwrap_err().to_string().starts_with("line 2 is no text"));
    }
}
