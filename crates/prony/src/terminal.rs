//! What is printed: lines on stderr, and on stdout text, a JSON document or a file.
//!
//! Nothing else in the program writes to either. A text is printed as [`record::Lines`] only, so that nothing that others
//! wrote can command the terminal or begin a line; `tell!` makes one line of whatever it is given.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fmt::Arguments;
use std::io::{self, IsTerminal, Write as _};
use std::os::fd::AsFd;
use std::process::ExitCode;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::anyhow;
use clap::ArgMatches;
use record::{Lines, shown, shown_json, value_without_password};
use report::Letters;
use report::format::wrapped;

use crate::exit::{Exit, Failure};

/// A line on stderr, on a terminal broken at words. A reader that is gone costs no result.
macro_rules! tell {
    ($($argument:tt)*) => { $crate::terminal::tell_line(format_args!($($argument)*)) };
}

/// A line on stderr that nobody needs who asked for the result alone (`--quiet`).
macro_rules! announce {
    ($($argument:tt)*) => {
        if !$crate::terminal::is_quiet() {
            $crate::terminal::tell_line(format_args!($($argument)*));
        }
    };
}

static QUIET: AtomicBool = AtomicBool::new(false);
static VERBOSE: AtomicBool = AtomicBool::new(false);

/// Sets for good how much is told beside results and errors.
pub(crate) fn set_told(matches: &ArgMatches) {
    for (flag, is_set) in [("quiet", &QUIET), ("verbose", &VERBOSE)] {
        is_set.store(crate::is_given(matches, flag), Ordering::Relaxed);
    }
}

/// Whether only results and errors are told.
pub(crate) fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Whether all that is done is told.
pub(crate) fn is_verbose() -> bool {
    VERBOSE.load(Ordering::Relaxed)
}

/// Whether a live line is shown on stderr.
pub(crate) fn shows_live_line() -> bool {
    !is_quiet() && io::stderr().is_terminal()
}

/// What `tell!` comes to.
pub(crate) fn tell_line(line: Arguments<'_>) {
    let line = line.to_string();
    let line = at_width_of_stderr(&shown(&without_logins_of_arguments(&line)));
    let _ = io::stderr().write_all((line + "\n").as_bytes());
}

/// A line as the terminal on stderr has room for it, broken between words.
pub(crate) fn at_width_of_stderr(line: &str) -> String {
    match columns(io::stderr()) {
        Some(columns) => wrapped(line, usize::from(columns)).join("\n"),
        None => line.to_owned(),
    }
}

/// A line in which no argument or variable is quoted that is a login with spaces in it. Only here it is known where such a value ends.
fn without_logins_of_arguments(line: &str) -> Cow<'_, str> {
    static LOGINS: OnceLock<Vec<(String, String)>> = OnceLock::new();
    let logins = LOGINS.get_or_init(|| {
        let arguments = std::env::args_os().skip(1).chain(std::env::vars_os().map(|(_, value)| value));
        arguments.flat_map(|argument| logins_of(&argument.to_string_lossy())).collect()
    });
    logins.iter().fold(Cow::Borrowed(line), |line, (login, hidden)| match line.contains(login) {
        true => Cow::Owned(line.replace(login, hidden)),
        false => line,
    })
}

/// An argument, and the value of an option in it, if they are logins with spaces, each with what is shown of it.
fn logins_of(argument: &str) -> Vec<(String, String)> {
    let value = argument.strip_prefix("--").and_then(|option| Some(option.split_once('=')?.1));
    let values = value.into_iter().chain([argument]).filter(|value| value.contains(char::is_whitespace));
    let hidden = |value: &str| (value.to_owned(), value_without_password(value).into_owned());
    values.map(hidden).filter(|(value, hidden)| value != hidden).collect()
}

/// Takes a line away from a terminal on stderr that was to be written over, so that the next one does not begin in it.
pub(crate) fn clear_live_line() {
    let mut stderr = io::stderr();
    if stderr.is_terminal() {
        let _ = stderr.write_all(b"\r\x1b[K");
    }
}

/// Text on stdout.
pub(crate) fn print(text: &Lines) -> Result<(), Failure> {
    print_file(text.as_bytes())
}

/// A JSON document on stdout.
pub(crate) fn print_json(document: &str) -> Result<(), Failure> {
    print_file(shown_json(document).as_bytes())
}

/// The content of a file on stdout, as it is. A reader that has seen enough is no error.
pub(crate) fn print_file(content: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(content).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::runtime(anyhow!("cannot write to stdout: {error}")))
        }
        _ => Ok(()),
    }
}

/// Width of the terminal on stdout; none if it is not one.
pub(crate) fn width() -> Option<u16> {
    columns(io::stdout())
}

/// What the locale of this terminal can show.
pub(crate) fn letters() -> Letters {
    let set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    letters_of(["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set).as_deref())
}

/// Those of the value of the first variable that is set, as the C library heeds them.
fn letters_of(locale: Option<&str>) -> Letters {
    let locale = locale.unwrap_or_default().to_ascii_lowercase();
    if locale.contains("utf-8") || locale.contains("utf8") { Letters::Blocks } else { Letters::Ascii }
}

fn columns(stream: impl IsTerminal + AsFd) -> Option<u16> {
    if !stream.is_terminal() {
        return None;
    }
    rustix::termios::tcgetwinsize(stream).ok().map(|size| size.ws_col).filter(|&columns| columns > 0)
}

/// Ends the program as clap does, which quotes the arguments as they are: it is given such as may be shown.
pub(crate) fn end_with<T>(
    error: clap::Error,
    arguments: &[OsString],
    parse: impl Fn(Vec<OsString>) -> Result<T, clap::Error>,
) -> ExitCode {
    let harmless =
        |one: &OsString| shown(&value_without_password(&one.to_string_lossy())).into_owned().into();
    let harmless = arguments.iter().map(harmless);
    let error = parse(harmless.collect()).err().unwrap_or(error);
    if !error.use_stderr() {
        // Help is ours, whose addresses are examples.
        error.exit();
    }
    let told = error.render().to_string();
    // Values of the environment are quoted too.
    let harmless = Lines::of(&record::without_password(&told));
    if harmless.as_str() == told {
        error.exit();
    }
    let _ = io::stderr().write_all(harmless.as_bytes());
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(Exit::Usage as u8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_with_spaces_is_known_as_an_argument() {
        let shown = [("joe:my pw@h".to_owned(), "joe:…@h".to_owned())];
        assert_eq!(logins_of("joe:my pw@h"), shown);
        assert_eq!(logins_of("--target=joe:my pw@h")[0], shown[0]);
        assert!(logins_of("kill at 3s").is_empty());
    }

    #[test]
    fn blocks_are_for_locales_that_have_them() {
        for locale in ["en_GB.UTF-8", "de_DE.utf8", "C.UTF-8"] {
            assert_eq!(letters_of(Some(locale)), Letters::Blocks, "{locale}");
        }
        for locale in [None, Some("C"), Some("POSIX"), Some("de_DE@euro"), Some("en_US.ISO-8859-1")] {
            assert_eq!(letters_of(locale), Letters::Ascii, "{locale:?}");
        }
    }
}
