//! A password that is asked for at the terminal, where the address has `password_file=-`. It is asked for once for each login, when the
//! first connection is made, and is shown nowhere.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write as _};
use std::sync::{Mutex, PoisonError};

use rustix::fs::{Mode, OFlags};
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};

/// The name of a file that stands for the terminal.
pub(crate) const TERMINAL: &str = "-";
/// Ctrl-C, Ctrl-D, Ctrl-U and the two signs that terminals send to take a letter back.
const INTERRUPT: u8 = 3;
const END: u8 = 4;
const LINE_BACK: u8 = 21;
const BACK: [u8; 2] = [8, 127];

static ASKED: Mutex<Option<HashMap<String, String>>> = Mutex::new(None);

/// The password of a login, which is named in the question.
///
/// # Errors
/// There is no terminal, or the question was ended.
pub(crate) fn password(of: &str) -> Result<String, String> {
    let mut asked = ASKED.lock().unwrap_or_else(PoisonError::into_inner);
    let asked = asked.get_or_insert_default();
    if let Some(password) = asked.get(of) {
        return Ok(password.clone());
    }
    let open = rustix::fs::open("/dev/tty", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty());
    let mut terminal = open.map(File::from).map_err(|_| {
        "password_file=- needs a terminal: use password_file=FILE with the password in its first line"
            .to_owned()
    })?;
    let password = at(&mut terminal, of).map_err(|error| format!("the password was not given: {error}"))?;
    asked.insert(of.to_owned(), password.clone());
    Ok(password)
}

fn at(terminal: &mut File, of: &str) -> io::Result<String> {
    let quiet = Quiet::new(terminal)?;
    // Asked only now: what is typed before the terminal is quiet is thrown away.
    write!(terminal, "Password of {of}: ")?;
    terminal.flush()?;
    let read = line(io::BufReader::new(&mut *terminal));
    drop(quiet);
    writeln!(terminal)?;
    read
}

/// A terminal that shows nothing and hands over each sign, until it is dropped: signals would end the program with it so.
struct Quiet {
    terminal: File,
    before: Termios,
}

impl Quiet {
    fn new(terminal: &File) -> io::Result<Self> {
        let terminal = terminal.try_clone()?;
        let before = tcgetattr(&terminal)?;
        let mut quiet = before.clone();
        quiet.local_modes -= LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG;
        quiet.special_codes[SpecialCodeIndex::VMIN] = 1;
        quiet.special_codes[SpecialCodeIndex::VTIME] = 0;
        tcsetattr(&terminal, OptionalActions::Flush, &quiet)?;
        Ok(Self { terminal, before })
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        // The terminal is gone if this fails.
        let _ = tcsetattr(&self.terminal, OptionalActions::Flush, &self.before);
    }
}

/// A line as it is typed.
fn line(from: impl io::BufRead) -> io::Result<String> {
    let mut typed = Vec::new();
    for byte in from.bytes() {
        match byte? {
            b'\n' | b'\r' => break,
            INTERRUPT => return Err(io::Error::new(io::ErrorKind::Interrupted, "interrupted")),
            END if typed.is_empty() => return Err(io::ErrorKind::UnexpectedEof.into()),
            LINE_BACK => typed.clear(),
            byte if BACK.contains(&byte) => {
                // The first byte of a letter is no continuation.
                while typed.pop().is_some_and(|byte| byte & 0xC0 == 0x80) {}
            }
            byte => typed.push(byte),
        }
    }
    String::from_utf8(typed).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_is_read_up_to_the_end_of_the_line() {
        let typed = |bytes: &[u8]| line(bytes).map_err(|error| error.kind());
        assert_eq!(typed(b"s3cret \nmore"), Ok("s3cret ".to_owned()));
        assert_eq!(typed("oné\x7f\x7fe\r".as_bytes()), Ok("oe".to_owned()));
        assert_eq!(typed(b"wrong\x15right\n"), Ok("right".to_owned()));
        assert_eq!(typed(b"\x7f\x08x\n"), Ok("x".to_owned()));
        assert_eq!(typed(b"half\x03"), Err(io::ErrorKind::Interrupted));
        assert_eq!(typed(b"\x04"), Err(io::ErrorKind::UnexpectedEof));
        assert_eq!(typed(b"\xff\n"), Err(io::ErrorKind::InvalidData));
    }
}
