//! SQLIO's command line, read into types.
//!
//! All mistakes are collected, each with the argument, what is wrong with it and the remedy. What is accepted but
//! means less here than on Windows becomes a notice, one line for stderr; what would be another test here is a
//! mistake. This module opens no file: a parameter file is read by [`super::parameter_file`].

use std::ffi::{OsStr, OsString};
use std::ops::RangeInclusive;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use super::arguments::{self, Argument, classify, is_value, lone_slash, short};
use super::options::{
    Affinity, Buffering, CpuUse, Errors, Extensions, FILES_MAX, Invocation, Mistake, Operation, Options,
    Parsed, Pattern, Results, THREADS_MAX, Targets, parse_mask, windows_path_notice,
};

/// The most entries that the kernel gives an io_uring.
const OUTSTANDING_MAX: u64 = 32_768;
/// One I/O is at most 1 GiB; the kernel cuts off at 2 GiB.
const BLOCK_KB_MAX: u64 = 1_048_576;
/// A year.
const SECONDS_MAX: u64 = 31_536_000;
/// Past it, even blocks of 1 KB lie beyond the largest file.
const START_BLOCK_MAX: u64 = (1 << 53) - 1;

/// Reads a command line without the program's name.
///
/// # Errors
/// All mistakes at once, unless help is asked for.
pub(super) fn parse(arguments: &[OsString]) -> Result<Parsed, Errors> {
    let Some(mistake) = windows_line_end(arguments) else { return parse_clean(arguments) };
    let clean = arguments.iter().map(|argument| OsStr::from_bytes(without_line_end(argument)).to_owned());
    match parse_clean(&clean.filter(|argument| !argument.is_empty()).collect::<Vec<_>>()) {
        Ok(Parsed::Help) => Ok(Parsed::Help),
        Ok(Parsed::Test(_)) => Err(Errors(vec![mistake])),
        Err(Errors(others)) => Err(Errors(std::iter::once(mistake).chain(others).collect())),
    }
}

/// The mistake of a batch file with the line ends of Windows that a shell of Unix runs: its last argument ends with `\r`, and would
/// name another file.
fn windows_line_end(arguments: &[OsString]) -> Option<Mistake> {
    let ends = |argument: &&OsString| without_line_end(argument).len() < argument.len();
    let argument = arguments.iter().find(ends)?.to_string_lossy().replace('\r', "\\r");
    let problem = "ends with the carriage return (\\r) of a Windows line end".to_owned();
    let remedy = "convert the script with dos2unix, or with tr -d '\\r'".to_owned();
    Some(Mistake { argument, problem, remedy })
}

fn without_line_end(argument: &OsStr) -> &[u8] {
    let bytes = argument.as_bytes();
    let end = bytes.iter().rposition(|byte| *byte != b'\r').map_or(0, |last| last + 1);
    &bytes[..end]
}

/// Reads a command line without line ends in it.
fn parse_clean(arguments: &[OsString]) -> Result<Parsed, Errors> {
    let mut parser = Parser::default();
    let mut rest = arguments.iter().peekable();
    while let Some(argument) = rest.next() {
        let mistakes_before = parser.mistakes.len();
        let mut form = classify(argument);
        // Printed texts have a blank behind some dashes, as in `– fsequential`.
        if form == Argument::LoneDash
            && let Some(next) = rest.next_if(|next| is_without_dash(next))
        {
            form = short(next.as_bytes()).unwrap_or(form);
        }
        match form {
            Argument::Help => return Ok(Parsed::Help),
            Argument::LoneDash => {
                parser.mistake("-", "a single dash is not an option", "remove it, or give ./- as a file")
            }
            Argument::EndOfOptions => rest.by_ref().for_each(|file| parser.file(file)),
            Argument::File => parser.file(argument),
            Argument::Long { name, value: None } if arguments::takes_value(&name) => {
                let value = rest.next_if(|next| is_value(next));
                parser.long(&name, value.cloned());
            }
            Argument::Long { name, value } => parser.long(&name, value),
            Argument::Short { letter, value } if value.is_empty() && takes_value(letter) => {
                let value = rest.next_if(|next| is_value(next));
                parser.short(letter, value.map_or(OsStr::new(""), OsString::as_os_str));
            }
            Argument::Short { letter, value } => parser.short(letter, without_blanks(value)),
        }
        if let (Some(name), Some(mistake)) = (lone_slash(argument), parser.mistakes.get_mut(mistakes_before))
        {
            let name = String::from_utf8_lossy(name);
            mistake.remedy =
                format!("{}, or //{name} for a file of this name in the root directory", mistake.remedy);
        }
    }
    parser.finish()
}

fn takes_value(letter: char) -> bool {
    "ktsbfiomLBSpaFdRvD".contains(letter)
}

/// Whether an argument is an option but for the dash in front.
fn is_without_dash(argument: &OsStr) -> bool {
    let is_option = |letter| takes_value(letter) || matches!(letter, 'U' | '6' | '?');
    argument.to_str().and_then(|text| text.chars().next()).is_some_and(is_option)
}

/// A value as scripts pass it that put the option and its value into one argument: `"-o 8"`.
fn without_blanks(value: &OsStr) -> &OsStr {
    OsStr::from_bytes(value.as_bytes().trim_ascii_start())
}

/// What has been read so far.
#[derive(Default)]
struct Parser {
    options: Options,
    /// `-f` and `-i`, which make a pattern together.
    factor: Option<Factor>,
    ios_per_run: Option<u32>,
    /// `-v1.1.1`
    reuses_runs: bool,
    files: Vec<PathBuf>,
    parameter_file: Option<PathBuf>,
    extensions: Extensions,
    /// Short options that were given, with their values.
    given: Vec<(char, OsString)>,
    notices: Vec<String>,
    mistakes: Vec<Mistake>,
}

/// The value of `-f`.
#[derive(Clone, Copy)]
enum Factor {
    Random,
    Sequential,
    Blocks(u32),
}

impl Parser {
    fn mistake(&mut self, argument: &str, problem: impl Into<String>, remedy: impl Into<String>) {
        let (argument, problem, remedy) = (argument.to_owned(), problem.into(), remedy.into());
        self.mistakes.push(Mistake { argument, problem, remedy });
    }

    fn notice(&mut self, argument: &str, text: &str) {
        self.notices.push(format!("{argument}: {text}"));
    }

    fn file(&mut self, file: &OsStr) {
        if file.is_empty() {
            self.mistake("\"\"", "an empty argument is not a file name", "remove it, or give a name");
        } else if self.files.len() == FILES_MAX {
            let remedy = format!("give at most {FILES_MAX} files");
            self.mistake(&file.to_string_lossy(), "one file too many for SQLIO", remedy);
        } else {
            self.files.push(PathBuf::from(file));
        }
    }

    fn long(&mut self, name: &str, value: Option<OsString>) {
        let argument = format!("--{name}");
        match (name, value) {
            ("overwrite", None) => self.extensions.overwrite = true,
            ("no-results", None) if matches!(self.extensions.results, Results::Under(_)) => {
                self.mistake(&argument, "--results was already given", "give only one of them");
            }
            ("no-results", None) => self.extensions.results = Results::Discarded,
            ("overwrite" | "no-results", Some(_)) => {
                self.mistake(&argument, "takes no value", format!("give {argument} without a value"));
            }
            ("destroy", Some(_)) if self.extensions.destroy.is_some() => {
                self.mistake(&argument, "is given twice", "give one device at a time");
            }
            ("destroy", Some(device)) if !device.is_empty() => match device.into_string() {
                Ok(device) => self.extensions.destroy = Some(device),
                Err(_) => {
                    self.mistake(&argument, "the name is not UTF-8", "give the name under /dev/disk/by-id")
                }
            },
            ("destroy", _) => {
                let remedy = "give the device's serial number or its name under /dev/disk/by-id";
                self.mistake(&argument, "needs a device", remedy);
            }
            ("results", Some(_)) if self.extensions.results != Results::Usual => {
                self.mistake(
                    &argument,
                    "--results or --no-results was already given",
                    "give only one of them, once",
                );
            }
            ("results", Some(directory)) if !directory.is_empty() => {
                self.extensions.results = Results::Under(PathBuf::from(directory));
            }
            ("results", _) => self.mistake(&argument, "needs a directory", "give --results DIR"),
            ("name" | "tag" | "title" | "comment", value) => self.label(name, &argument, value),
            _ => {
                let remedy = "the options of prony are --overwrite, --destroy NAME, --results DIR, \
                     --no-results, --name NAME, --tag KEY=VALUE, --title TEXT, --comment TEXT, --help";
                self.mistake(&argument, "unknown option", remedy);
            }
        }
    }

    fn label(&mut self, name: &str, argument: &str, value: Option<OsString>) {
        let text = value.as_ref().map(|value| value.to_string_lossy()).unwrap_or_default();
        let extensions = &mut self.extensions;
        let is_given = match name {
            "name" => extensions.name.is_some(),
            "title" => extensions.title.is_some(),
            "comment" => extensions.comment.is_some(),
            _ => false,
        };
        if is_given {
            return self.mistake(argument, "is given twice", format!("give one {name}"));
        }
        let taken = match name {
            "name" => text.parse().map(|name| extensions.name = Some(name)),
            "title" => text.parse().map(|title| extensions.title = Some(title)),
            "comment" => text.parse().map(|comment| extensions.comment = Some(comment)),
            _ => text.parse().map(|tag| extensions.tags.push(tag)),
        };
        if let Err(error) = taken {
            self.mistake(argument, error.to_string(), "");
        }
    }

    fn short(&mut self, letter: char, raw: &OsStr) {
        let value = raw.to_string_lossy();
        let argument = format!("-{letter}{value}");
        if let Some((_, before)) = self.given.iter().find(|(known, before)| *known == letter && before != raw)
        {
            let problem = format!("-{letter}{} was already given", before.to_string_lossy());
            return self.mistake(&argument, problem, format!("give -{letter} once"));
        }
        self.given.push((letter, raw.to_owned()));
        match letter {
            'k' | 'B' | 'L' | 'U' => self.choice(letter, &argument, &value),
            'f' => self.factor(&argument, &value),
            'p' | 'a' => self.affinity(letter, &argument, &value),
            'F' if raw.is_empty() => self.mistake(&argument, "needs a parameter file", "give -Fparam.txt"),
            'F' => self.parameter_file = Some(PathBuf::from(raw)),
            'd' | 'R' | 'm' | 'v' => self.windows_only(letter, &argument, &value),
            'D' => self.debug_level(&argument, &value),
            '6' if value == "4" => {
                self.notice(&argument, "accepted, but has no effect: this is a 64-bit process")
            }
            _ => self.quantity(letter, &argument, &value),
        }
    }

    /// Options whose value is one of a few letters, in either case.
    fn choice(&mut self, letter: char, argument: &str, value: &str) {
        match (letter, value.to_ascii_uppercase().as_str()) {
            ('k', "R") => self.options.operation = Operation::Read,
            ('k', "W") => self.options.operation = Operation::Write,
            ('k', both @ ("WR" | "RW")) => self.first_direction(argument, both),
            ('B', "N") => self.options.buffering = Some(Buffering::None),
            ('B', "Y") => self.options.buffering = Some(Buffering::Both),
            ('B', "H") => self.options.buffering = Some(Buffering::Hardware),
            ('B', "S") => self.options.buffering = Some(Buffering::Software),
            ('U', "") => self.options.cpu_use = Some(CpuUse::Machine),
            ('U', "P") => self.options.cpu_use = Some(CpuUse::EachCpu),
            ('L', timer @ ("S" | "P" | "SI" | "PI")) => {
                self.options.latency = true;
                if timer.starts_with('P') {
                    self.notice(
                        argument,
                        "timed with CLOCK_MONOTONIC, like -LS, because CPU timers differ from CPU to CPU",
                    );
                }
                if timer.ends_with('I') {
                    self.notice(
                        argument,
                        "the time of initiation is not printed separately: latencies are measured from submission",
                    );
                }
            }
            _ => {
                let (what, remedy) = match letter {
                    'k' => ("direction", "give -kR to read or -kW to write"),
                    'B' => ("cache mode", "give -BN for none, -BY both, -BH hardware or -BS software"),
                    'L' => ("timer", "give -LS, or -LP"),
                    _ => ("kind of CPU use", "give -U for the machine or -Up for each CPU"),
                };
                self.mistake(argument, format!("\"{value}\" is not a valid {what}"), remedy);
            }
        }
    }

    /// SQLIO reads or writes, and its readme has one letter follow `-k`; scripts that give two get the first.
    fn first_direction(&mut self, argument: &str, both: &str) {
        let (operation, verb) =
            if both == "RW" { (Operation::Read, "reads") } else { (Operation::Write, "writes") };
        self.options.operation = operation;
        self.notice(
            argument,
            &format!(
                "SQLIO never mixes reads and writes: it uses the first letter, so this test only {verb}"
            ),
        );
    }

    fn factor(&mut self, argument: &str, value: &str) {
        self.factor = match value.to_ascii_lowercase().as_str() {
            "random" => Some(Factor::Random),
            "sequential" => Some(Factor::Sequential),
            _ => match value.parse() {
                Ok(blocks) if blocks > 0 => Some(Factor::Blocks(blocks)),
                _ => {
                    let problem = format!("\"{value}\" is neither a pattern nor a number of blocks");
                    return self.mistake(argument, problem, "give -frandom, -fsequential or -f1 and up");
                }
            },
        };
    }

    fn affinity(&mut self, letter: char, argument: &str, value: &str) {
        if self.options.affinity != Affinity::Any {
            return self.mistake(argument, "-p and -a exclude each other", "give only one of them");
        }
        let upper = value.to_ascii_uppercase();
        let (round_robin, rest) = match upper.strip_prefix('R').filter(|_| letter == 'a') {
            Some(rest) => (true, rest),
            None => (false, upper.as_str()),
        };
        let (ideal, rest) = match rest.strip_prefix('I').filter(|_| letter == 'p' || round_robin) {
            Some(rest) => (true, rest),
            None => (false, rest),
        };
        let affinity = match letter {
            'p' => rest.parse().ok().map(Affinity::Cpu),
            _ if round_robin => parse_mask(rest).map(Affinity::RoundRobin),
            _ => parse_mask(rest).map(|mask| if mask == 0 { Affinity::Any } else { Affinity::Mask(mask) }),
        };
        match affinity.filter(|affinity| *affinity != Affinity::RoundRobin(0)) {
            None if letter == 'p' => {
                self.mistake(
                    argument,
                    format!("\"{value}\" is not a CPU number"),
                    "give -p0 for the first CPU",
                );
            }
            None => {
                let remedy = "give -a0x3 or -a3 for the first two CPUs, -aR0x3 to use them in turn";
                self.mistake(argument, format!("\"{value}\" is not a CPU mask"), remedy);
            }
            Some(affinity) => self.options.affinity = affinity,
        }
        if ideal {
            self.notice(
                argument,
                "Linux does not support an ideal CPU: the threads are bound to the given CPU",
            );
        }
    }

    /// What Linux has no counterpart for. Where the test would be another one, it is a mistake and not a notice.
    fn windows_only(&mut self, letter: char, argument: &str, value: &str) {
        match letter {
            // Whether it matters depends on -F, which may follow: see finish.
            'd' => {}
            'v' if value == "1.1.1" => self.reuses_runs = true,
            'v' => {
                self.mistake(argument, format!("unknown version \"{value}\""), "remove it, or give -v1.1.1")
            }
            'R' => {
                let remedy = "give the device (for example /dev/sdb) instead of the file name, and add --destroy NAME to write to the device";
                self.mistake(argument, "drives have no numbers or letters on Linux", remedy);
            }
            _ => {
                let problem = "copy and scatter/gather I/O are not supported, and plain I/O would be a \
                     different test";
                self.mistake(argument, problem, "remove it, and give the size of one I/O with -b");
            }
        }
    }

    /// `-D`, which SQLIO has and does not list.
    fn debug_level(&mut self, argument: &str, value: &str) {
        if value.parse::<u32>().is_err() {
            return self.mistake(
                argument,
                format!("\"{value}\" is not a debug level"),
                "remove it, or give -D1 or higher (drive letters are -d)",
            );
        }
        self.notice(
            argument,
            "accepted, but has no effect: prony has no debug output, but its results include values for every second",
        );
    }

    /// Options whose value is a whole number, and those that do not exist.
    fn quantity(&mut self, letter: char, argument: &str, value: &str) {
        let (what, range) = match letter {
            't' => ("threads", 1..=u64::from(THREADS_MAX)),
            's' => ("seconds", 1..=SECONDS_MAX),
            'b' => ("KB", 1..=BLOCK_KB_MAX),
            'i' => ("I/Os per run", 1..=u64::from(u32::MAX)),
            'o' => ("outstanding I/Os", 0..=OUTSTANDING_MAX),
            'S' => ("blocks", 0..=START_BLOCK_MAX),
            _ => return self.unknown(letter, argument),
        };
        let Some(number) = self.number(argument, value, what, range) else { return };
        if letter == 'S' {
            self.options.start_block = number;
            return;
        }
        let Ok(number) = u32::try_from(number) else { unreachable!("all other ranges end below 2^32") };
        match letter {
            't' => self.options.threads = number,
            's' => self.options.seconds = number,
            'b' => self.options.block_kb = number,
            'i' => self.ios_per_run = Some(number),
            _ => self.options.outstanding = (number > 0).then_some(number),
        }
    }

    fn number(&mut self, argument: &str, value: &str, what: &str, range: RangeInclusive<u64>) -> Option<u64> {
        let option: String = argument.chars().take(2).collect();
        let remedy = format!("give {option}{} to {option}{}", range.start(), range.end());
        match value.parse::<u64>() {
            Ok(number) if range.contains(&number) => return Some(number),
            Ok(number) => self.mistake(argument, format!("{number} {what} are out of range"), remedy),
            Err(_) => self.mistake(argument, format!("\"{value}\" is not a number of {what}"), remedy),
        }
        None
    }

    fn unknown(&mut self, letter: char, argument: &str) {
        let other: String = if letter.is_lowercase() {
            letter.to_uppercase().collect()
        } else {
            letter.to_lowercase().collect()
        };
        let remedy = if other.chars().all(|other| other != letter && (takes_value(other) || other == 'U')) {
            format!("did you mean -{other}? -? lists all options")
        } else {
            "-? lists all options; to give a file of this name, write ./-name".to_owned()
        };
        self.mistake(argument, "SQLIO has no such option", remedy);
    }

    fn given(&self, letter: char) -> Option<String> {
        let (_, value) = self.given.iter().find(|(given, _)| *given == letter)?;
        Some(format!("-{letter}{}", value.to_string_lossy()))
    }

    /// Rules that take more than one option.
    fn finish(mut self) -> Result<Parsed, Errors> {
        if let (Some(argument), Some(multiple)) = (self.given('o'), self.given('m')) {
            self.mistake(&argument, format!("it cannot be combined with {multiple}"), "give only -o");
        }
        self.set_pattern();
        self.check_region();
        self.set_targets();
        if !self.mistakes.is_empty() {
            return Err(Errors(self.mistakes));
        }
        let Self { options, extensions, notices, .. } = self;
        Ok(Parsed::Test(Box::new(Invocation { options, extensions, notices })))
    }

    fn set_pattern(&mut self) {
        let (ios_per_run, reused) = (self.ios_per_run.unwrap_or(64), self.reuses_runs);
        self.options.pattern = match self.factor.unwrap_or(Factor::Blocks(64)) {
            Factor::Blocks(blocks) => Pattern::Strided { blocks, ios_per_run, reused },
            Factor::Random => Pattern::Random,
            Factor::Sequential => Pattern::Sequential,
        };
        let Pattern::Strided { blocks, .. } = self.options.pattern else {
            for argument in ['i', 'v'].map(|letter| self.given(letter)).into_iter().flatten() {
                self.notice(&argument, "accepted, but has no effect: runs need a number in -f");
            }
            return;
        };
        // With a parameter file it has the threads.
        if self.parameter_file.is_none()
            && let (true, Some(argument)) = (self.options.threads > blocks, self.given('t'))
        {
            self.mistake(
                &argument,
                format!("the maximum number of threads with -f{blocks} is {blocks}, one column per thread"),
                format!("give at most -t{blocks}, or at least -f{}", self.options.threads),
            );
        }
    }

    fn check_region(&mut self) {
        let block_bytes = u128::from(self.options.block_kb) * 1024;
        let span_blocks = match self.options.pattern {
            Pattern::Strided { blocks, ios_per_run, .. } => u128::from(blocks) * u128::from(ios_per_run),
            Pattern::Random | Pattern::Sequential => 1,
        };
        let end_bytes = (u128::from(self.options.start_block) + span_blocks) * block_bytes;
        if i64::try_from(end_bytes).is_err() {
            let argument = self.given('S').or(self.given('f')).or(self.given('i')).unwrap_or_default();
            self.mistake(
                &argument,
                "the test would exceed 8 EiB, the largest file",
                "reduce -S, -f, -i or -b",
            );
        }
    }

    fn set_targets(&mut self) {
        let files = std::mem::take(&mut self.files);
        let drives = self.given('d');
        if let Some(parameter_file) = self.parameter_file.take() {
            let named = files.iter().map(|file| file.to_string_lossy().into_owned());
            for argument in self.given('t').into_iter().chain(drives).chain(named) {
                self.notice(&argument, "not used: the files and their threads come from -F");
            }
            self.options.targets = Targets::ParameterFile(parameter_file);
            return;
        }
        if let Some(argument) = drives {
            let remedy = "remove it, and give each file's path on a mounted file system";
            self.mistake(&argument, "Linux has no drive letters", remedy);
        }
        if !files.is_empty() {
            self.notices.extend(files.iter().filter_map(|file| windows_path_notice(file.as_os_str())));
            self.options.targets = Targets::Files(files);
        }
    }
}

#[cfg(test)]
#[path = "command_line_tests.rs"]
mod tests;
