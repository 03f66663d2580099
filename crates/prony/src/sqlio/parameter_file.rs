//! SQLIO's parameter file: a file and the pool of threads that works on it, a line each.
//!
//! A line is `<file> <threads> [<mask> [<size MB>]]`; `#` begins a comment. All lines run together. Files written on
//! Windows are read as they are: CR LF, a byte order mark, Latin-1 names. This module is given the bytes and the CPUs that the
//! process may use, and opens nothing; whether a file exists is for the caller.

use std::borrow::Cow;
use std::path::PathBuf;

use workload::given_file::Utf16;

use super::options::{FILES_MAX, Pattern, THREADS_MAX, mask_cpus, parse_mask, unusable, windows_path_notice};

/// The pools of a parameter file, at least one, in its order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ParameterFile {
    /// At least one; together at most 256 threads and 256 files.
    pub(super) pools: Vec<Pool>,
    /// Lines for stderr: what was accepted and means less than it did.
    pub(super) notices: Vec<String>,
}

/// Threads that work on one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pool {
    /// File or device, as given.
    pub(super) file: PathBuf,
    /// Threads, at least one.
    pub(super) threads: u32,
    /// CPUs that the threads may use, bit 0 for the first; 0 for any.
    pub(super) mask: u64,
    /// Size that the file is given and tested in, in MiB; none is the size it has.
    pub(super) size_mb: Option<u64>,
}

/// All mistakes of a parameter file, by line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Errors(Vec<(usize, String)>);

/// A size of 8 EiB, the most that a file can have.
const SIZE_MB_MAX: u64 = (1 << 43) - 1;

/// Reads a parameter file. The pattern is asked because a size works only with random and sequential I/O; masks may name the CPUs
/// `usable`.
///
/// # Errors
/// All mistakes at once, each with its line and the remedy.
pub(super) fn parse(bytes: &[u8], pattern: Pattern, usable: &[u32]) -> Result<ParameterFile, Errors> {
    let mut reader = Reader { pattern, usable, pools: Vec::new(), notices: Vec::new(), mistakes: Vec::new() };
    if let Some(utf16) = Utf16::of(bytes) {
        return Err(Errors(vec![(1, format!("the file is {utf16}"))]));
    }
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let mut lines = 0;
    for (index, line) in split_lines(bytes).enumerate() {
        lines = index + 1;
        let text = decode(line);
        let pools_before = reader.pools.len();
        reader.line(lines, &text);
        if matches!(text, Cow::Owned(_)) && reader.pools.len() > pools_before {
            reader.notices.push(format!("line {lines}: not UTF-8, read as Latin-1: {}", text.trim()));
        }
    }
    reader.check_totals(lines);
    if reader.mistakes.is_empty() {
        let pools = reader.pools.into_iter().map(|(_, pool)| pool).collect();
        return Ok(ParameterFile { pools, notices: reader.notices });
    }
    Err(Errors(reader.mistakes))
}

impl Errors {
    /// A line each.
    pub(super) fn lines(&self) -> impl Iterator<Item = String> + '_ {
        self.0.iter().map(|(line, mistake)| format!("line {line}: {mistake}"))
    }
}

/// Lines that end as on any system: with LF, with CR LF, or with CR alone.
fn split_lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let has_line_feed = bytes.contains(&b'\n');
    bytes.split(move |&byte| byte == b'\n' || (byte == b'\r' && !has_line_feed))
}

/// Latin-1 where it is not UTF-8: its 256 codes are Unicode's first 256.
fn decode(line: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(line) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(line.iter().map(|&byte| char::from(byte)).collect()),
    }
}

/// Words of a line up to a comment; a word in quotes may hold spaces and number signs. None where a quote stays open.
fn words(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut rest = line.trim_start();
    while let Some(first) = rest.chars().next().filter(|&first| first != '#') {
        let quoted = matches!(first, '"' | '“' | '”').then(|| &rest[first.len_utf8()..]);
        let (word, behind) = match quoted {
            Some(inside) => inside.split_once(['"', '“', '”'])?,
            None => rest.split_at(rest.find(char::is_whitespace).unwrap_or(rest.len())),
        };
        words.push(word.to_owned());
        rest = behind.trim_start();
    }
    Some(words)
}

struct Reader<'a> {
    pattern: Pattern,
    /// CPUs that this process may use.
    usable: &'a [u32],
    /// With their lines.
    pools: Vec<(usize, Pool)>,
    notices: Vec<String>,
    mistakes: Vec<(usize, String)>,
}

impl Reader<'_> {
    fn mistake(&mut self, line: usize, text: impl Into<String>) {
        self.mistakes.push((line, text.into()));
    }

    fn line(&mut self, line: usize, text: &str) {
        let Some(words) = words(text) else {
            return self.mistake(line, "a quotation mark is not closed; close it after the file name");
        };
        let mut words = words.iter().map(String::as_str);
        let Some(file) = words.next() else { return };
        let fields = [words.next(), words.next(), words.next()];
        if let Some(extra) = words.next() {
            let text = format!("unexpected \"{extra}\"; give <file> <threads> [<mask> [<size MB>]]");
            return self.mistake(line, format!("{text}, and put a file name with spaces in quotation marks"));
        }
        if file.contains('\r') {
            return self.mistake(
                line,
                "the file name contains a carriage return (\\r); convert the file with \
                     dos2unix",
            );
        }
        if file.is_empty() || file.contains('\0') {
            return self.mistake(line, "the file name is empty or invalid; give a path");
        }
        let [threads, mask, size_mb] = fields;
        // All three are read before any is given up, so that each mistake of the line is said.
        let (threads, mask) = (self.threads(line, file, threads), self.mask(line, mask));
        let size_mb = self.size(line, file, size_mb);
        if let (Some(threads), Some(mask), Some(size_mb)) = (threads, mask, size_mb) {
            self.notices
                .extend(windows_path_notice(file.as_ref()).map(|text| format!("line {line}: {text}")));
            self.pools.push((line, Pool { file: PathBuf::from(file), threads, mask, size_mb }));
        }
    }

    fn threads(&mut self, line: usize, file: &str, word: Option<&str>) -> Option<u32> {
        let threads =
            word.and_then(|word| word.parse().ok()).filter(|threads| (1..=THREADS_MAX).contains(threads));
        if threads.is_none() {
            let problem = match word {
                Some(word) => format!("\"{word}\" is not a number of threads from 1 to {THREADS_MAX}"),
                None => format!("{file} has no number of threads"),
            };
            self.mistake(line, format!("{problem}; give <file> <threads> [<mask> [<size MB>]]"));
        }
        if let (Some(threads), Pattern::Strided { blocks, .. }) = (threads, self.pattern)
            && threads > blocks
        {
            self.mistake(
                line,
                format!(
                    "{threads} threads need {threads} columns, but -f{blocks} has only {blocks}; give at most \
                     {blocks} threads, or at least -f{threads}"
                ),
            );
        }
        threads
    }

    fn mask(&mut self, line: usize, word: Option<&str>) -> Option<u64> {
        let mask = word.map_or(Some(0), parse_mask);
        if let (None, Some(word)) = (mask, word) {
            self.mistake(
                line,
                format!("\"{word}\" is not a CPU mask; give 0x3 or 3 for the first two CPUs, 0 for any"),
            );
        }
        mask.filter(|mask| {
            let problem = unusable(mask_cpus(*mask), self.usable);
            if let Some(problem) = &problem {
                self.mistake(line, format!("mask {mask:#x} {problem}. Give 0 for any CPU"));
            }
            problem.is_none()
        })
    }

    /// The outer none is a mistake, the inner one is no size.
    fn size(&mut self, line: usize, file: &str, word: Option<&str>) -> Option<Option<u64>> {
        let Some(word) = word else { return Some(None) };
        let Some(size_mb) = word.parse().ok().filter(|size_mb| (1..=SIZE_MB_MAX).contains(size_mb)) else {
            self.mistake(line, format!("\"{word}\" is not a size in MB; give 1 or more, or remove it"));
            return None;
        };
        if let Pattern::Strided { .. } = self.pattern {
            let text =
                "a size is used only with -frandom or -fsequential; the size of the file is not changed";
            self.notices.push(format!("line {line}: {file}: {text}"));
            return Some(None);
        }
        Some(Some(size_mb))
    }

    fn check_totals(&mut self, last_line: usize) {
        if self.pools.is_empty() && self.mistakes.is_empty() {
            self.mistake(last_line, "the file has no entries; give <file> <threads> [<mask> [<size MB>]]");
        }
        let (mut threads, mut found) = (0, Vec::new());
        // One file past the limit is enough to say so, however long the file is.
        for (index, (line, pool)) in self.pools.iter().take(FILES_MAX + 1).enumerate() {
            let below = threads <= THREADS_MAX;
            threads += pool.threads;
            if below && threads > THREADS_MAX {
                found.push((*line, format!("{threads} threads up to this line; give at most {THREADS_MAX}")));
            }
            if index == FILES_MAX {
                found.push((*line, format!("too many files; give at most {FILES_MAX}")));
            }
            let earlier = self.pools[..index].iter().find(|(_, earlier)| earlier.file == pool.file);
            if let Some((first, earlier)) = earlier.filter(|(_, earlier)| earlier.size_mb != pool.size_mb) {
                let file = pool.file.display();
                let (now, before) = (size_text(pool.size_mb), size_text(earlier.size_mb));
                found.push((
                    *line,
                    format!("{file} has {now} here and {before} on line {first}; give one size"),
                ));
            }
        }
        self.mistakes.extend(found);
        self.mistakes.sort_by_key(|(line, _)| *line);
    }
}

fn size_text(size_mb: Option<u64>) -> String {
    size_mb.map_or("no size".to_owned(), |size_mb| format!("{size_mb} MB"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Pools a line each, then notices, or the mistakes.
    fn read(bytes: &[u8], pattern: Pattern) -> String {
        match parse(bytes, pattern, &USABLE) {
            Ok(ParameterFile { pools, notices }) => {
                let pools = pools.iter().map(|Pool { file, threads, mask, size_mb }| {
                    format!("{} | {threads} | {mask:#x} | {}", file.display(), size_text(*size_mb))
                });
                pools.chain(notices).collect::<Vec<_>>().join("\n")
            }
            Err(errors) => errors.lines().collect::<Vec<_>>().join("\n"),
        }
    }

    const USABLE: [u32; 64] = {
        let mut cpus = [0; 64];
        let mut cpu = 0;
        while cpu < 64 {
            cpus[cpu as usize] = cpu;
            cpu += 1;
        }
        cpus
    };

    #[track_caller]
    fn check(bytes: impl AsRef<[u8]>, wanted: &str) {
        assert_eq!(read(bytes.as_ref(), Pattern::Random), wanted);
    }

    #[test]
    fn published_line_is_read_and_its_windows_path_is_remarked() {
        check(
            "c:\\testfile.dat 2 0x0 100\r\n#d:\\testfile.dat 2 0x0 100\r\n",
            "c:\\testfile.dat | 2 | 0x0 | 100 MB\n\
             line 1: c:\\testfile.dat: Windows paths have no meaning on Linux. prony uses the file named \"c:\\testfile.dat\" in the \
             current directory",
        );
    }

    #[test]
    fn lines_are_read_as_old_editors_left_them() {
        check("\u{feff}a.dat 1\r\n", "a.dat | 1 | 0x0 | no size");
        check(
            "a.dat\t4  0xF # fast\n\n  # all of it\n/b#1.dat 2 3 8",
            "a.dat | 4 | 0xf | no size\n/b#1.dat | 2 | 0x3 | 8 MB",
        );
        check(
            "\"my file#1.dat\" 1 0\n“your file” 2",
            "my file#1.dat | 1 | 0x0 | no size\nyour file | 2 | 0x0 | no size",
        );
        check("é.dat 1", "é.dat | 1 | 0x0 | no size");
        check(
            b"\xe9.dat 1 # \xe9\r\n# \xe9",
            "é.dat | 1 | 0x0 | no size\nline 1: not UTF-8, read as Latin-1: é.dat 1 # é",
        );
        check("a.dat 1\rb.dat 2\r", "a.dat | 1 | 0x0 | no size\nb.dat | 2 | 0x0 | no size");
        check(
            "\"a.dat\r\" 1\nb.dat 1",
            "line 1: the file name contains a carriage return (\\r); convert the file with dos2unix",
        );
        check(
            b"\xff\xfea\0",
            "line 1: the file is UTF-16 text. Save it as UTF-8, or convert it with `iconv -f UTF-16 -t UTF-8`",
        );
        check(
            b"\0a\0.\0d\0 \x001\0\r\0\n",
            "line 1: the file is UTF-16BE text. Save it as UTF-8, or convert it with `iconv -f UTF-16BE -t UTF-8`",
        );
    }

    /// A mask was told without file and line, and only once the other mistakes of the file were gone.
    #[test]
    fn cpus_that_are_not_there_are_told_with_the_other_mistakes() {
        let parsed = parse(
            b"d:\\Tank Data\\one.dat 2 0x0 20\nflow.dat 4 0xF 20\nmask.dat 1 0x5",
            Pattern::Random,
            &[0, 1],
        );
        insta::assert_snapshot!(parsed.unwrap_err().lines().collect::<Vec<_>>().join("\n"), @r#"
        line 1: unexpected "20"; give <file> <threads> [<mask> [<size MB>]], and put a file name with spaces in quotation marks
        line 2: mask 0xf needs CPUs 2, 3, but this process may use only 0, 1. Give 0 for any CPU
        line 3: mask 0x5 needs CPU 2, but this process may use only 0, 1. Give 0 for any CPU
        "#);
    }

    #[test]
    fn size_has_no_effect_with_a_stride() {
        let strided = Pattern::Strided { blocks: 64, ios_per_run: 64, reused: false };
        let narrow = Pattern::Strided { blocks: 2, ios_per_run: 64, reused: false };
        insta::assert_snapshot!(read(b"a.dat 2\nb.dat 3", narrow), @"line 2: 3 threads need 3 columns, but -f2 has only 2; give at most 2 \
        threads, or at least -f3");
        insta::assert_snapshot!(read(b"a.dat 1 0 8\nb.dat 1", strided), @r"
        a.dat | 1 | 0x0 | no size
        b.dat | 1 | 0x0 | no size
        line 1: a.dat: a size is used only with -frandom or -fsequential; the size of the file is not changed
        ");
    }

    #[test]
    fn all_mistakes_are_said_at_once_with_their_lines() {
        insta::assert_snapshot!(
            read(b"a.dat\nb.dat x 0y 0\n\nmy file.dat 2 0x0 100\n\"open 2\nc.dat 200 0 8\nd.dat 57\nc.dat 1 0 9\n\"\" 1",
                Pattern::Random), @r#"
        line 1: a.dat has no number of threads; give <file> <threads> [<mask> [<size MB>]]
        line 2: "x" is not a number of threads from 1 to 256; give <file> <threads> [<mask> [<size MB>]]
        line 2: "0y" is not a CPU mask; give 0x3 or 3 for the first two CPUs, 0 for any
        line 2: "0" is not a size in MB; give 1 or more, or remove it
        line 4: unexpected "100"; give <file> <threads> [<mask> [<size MB>]], and put a file name with spaces in quotation marks
        line 5: a quotation mark is not closed; close it after the file name
        line 7: 257 threads up to this line; give at most 256
        line 8: c.dat has 9 MB here and 8 MB on line 6; give one size
        line 9: the file name is empty or invalid; give a path
        "#);
    }

    #[test]
    fn limits_are_those_of_sqlio() {
        let lines = |count: usize| (0..count).map(|file| format!("{file}.dat 1\n")).collect::<String>();
        assert_eq!(read(lines(256).as_bytes(), Pattern::Random).lines().count(), 256);
        check(
            lines(257),
            "line 257: 257 threads up to this line; give at most 256\n\
             line 257: too many files; give at most 256",
        );
        check("", "line 1: the file has no entries; give <file> <threads> [<mask> [<size MB>]]");
    }

    proptest! {
        #[test]
        fn bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse(&bytes, Pattern::Random, &[0]);
        }

        #[test]
        fn lines_never_panic(text in "([ -~é“”#\"\t\r\n]|0x|[0-9]{1,25}){0,40}") {
            let _ = parse(text.as_bytes(), Pattern::Sequential, &[0]);
        }

        #[test]
        fn printed_pools_are_read_back(
            pools in prop::collection::vec(("[a-z #.é-]{1,12}", 1u32..8, any::<u64>(), 1u64..9999), 1..30),
            crlf: bool,
            decimal: bool,
        ) {
            let pools: Vec<Pool> = pools.into_iter().enumerate().map(|(index, (name, threads, mask, size_mb))| {
                Pool { file: format!("{name}{index}").into(), threads, mask, size_mb: Some(size_mb) }
            }).collect();
            let text: String = pools.iter().map(|Pool { file, threads, mask, size_mb }| {
                let mask = if decimal { mask.to_string() } else { format!("{mask:#X}") };
                let end = if crlf { "\r\n" } else { "\n" };
                format!("\"{}\" {threads} {mask} {}{end}", file.display(), size_mb.unwrap())
            }).collect();
            prop_assert_eq!(parse(text.as_bytes(), Pattern::Random, &USABLE).unwrap().pools, pools);
        }
    }
}
