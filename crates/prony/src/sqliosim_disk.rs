//! SQLIOSim's configuration file: what of it `prony verify` takes over, and what it does not.
//!
//! Nothing is skipped in silence: each option is either taken over, or told with the reason. The meaning of options and their defaults
//! are those of Microsoft's page "Use the SQLIOSim utility to simulate SQL Server activity on a disk subsystem" (KB 231619). SQLIOSim
//! itself ignores a Boolean that it cannot read and takes 0 for a number that it cannot read; such values are mistakes here.

use disk::{Cache, Settings, VerifyProfile};
use load::{Size, Span};

/// What a configuration file comes to.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Mapped {
    pub(crate) settings: Settings,
    /// A line for each option, in the order of the file.
    pub(crate) told: Vec<String>,
}

/// What the command line asks for, which goes before the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked<'a> {
    pub(crate) profile: VerifyProfile,
    pub(crate) settings: &'a Settings,
}

/// Reads a configuration file.
///
/// # Errors
/// All mistakes of the file at once, each with its line and section.
pub(crate) fn read(text: &str, asked: Asked<'_>) -> Result<Mapped, Vec<String>> {
    let mut mapped = Mapped::default();
    let mut totals = Totals::default();
    let mut mistakes = Vec::new();
    let mut section = String::new();
    for (number, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let line = line.trim();
        let at = format!("line {}", number + 1);
        if line.is_empty() || line.starts_with([';', '#']) {
            continue;
        }
        if let Some(name) = line.strip_prefix('[') {
            match name.strip_suffix(']') {
                Some(name) => section = name.trim().to_owned(),
                None => mistakes.push(format!("{at}: `{line}` has no closing bracket")),
            }
            continue;
        }
        let Some((name, value)) = line.split_once('=') else {
            mistakes.push(format!("{at}: `{line}` is neither a [section] nor NAME=VALUE"));
            continue;
        };
        let option = Given { section: section.to_lowercase(), name: name.trim(), value: value.trim(), asked };
        let at = format!("{at}: [{section}] {}={}", option.name, option.value);
        match option.map(&mut mapped.settings, &mut totals) {
            Ok(told) => mapped.told.push(format!("{at}: {told}")),
            Err(problem) => mistakes.push(format!("{at}: {problem}")),
        }
    }
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    mapped.told.extend(totals.into(&mut mapped.settings, asked));
    Ok(mapped)
}

/// Options that mean something only together.
#[derive(Clone, Copy, Debug, Default)]
struct Totals {
    cycles: Option<u64>,
    cycle_s: Option<u64>,
    /// Most I/Os outstanding of the whole process.
    outstanding: Option<u64>,
    scatters: bool,
}

/// SQLIOSim's defaults.
const CYCLES: u64 = 1;
const CYCLE_S: u64 = 300;

impl Totals {
    /// Cycles and their length make the length of the whole; I/Os of the process are shared out to its threads.
    fn into(self, settings: &mut Settings, asked: Asked<'_>) -> Option<String> {
        if self.scatters {
            settings.cache = Some(Cache::Direct);
        }
        if self.cycles.is_some() || self.cycle_s.is_some() {
            let seconds = self.cycle_s.unwrap_or(CYCLE_S);
            settings.audit_every = Some(Span::seconds(seconds));
            // Without an end the command line has it.
            let cycles = Some(self.cycles.unwrap_or(CYCLES)).filter(|cycles| *cycles > 0);
            settings.duration = cycles.map(|cycles| Span::seconds(cycles.saturating_mul(seconds)));
        }
        let of_process = self.outstanding?;
        let threads = u64::from(asked.settings.threads.or(settings.threads).unwrap_or(1)).max(1);
        let threads = if asked.settings.threads.is_none() && threads > of_process {
            settings.threads = Some(of_process as u32);
            of_process
        } else {
            threads
        };
        let each = (of_process / threads).clamp(1, disk::OUTSTANDING_MAX.into());
        settings.outstanding = Some(each as u32);
        Some(format!(
            "MaxOutstandingIO={of_process} applies to the whole process: --threads {threads} with \
             --outstanding {each} each"
        ))
    }
}

struct Given<'a> {
    /// In small letters.
    section: String,
    name: &'a str,
    value: &'a str,
    asked: Asked<'a>,
}

impl Given<'_> {
    /// Takes an option over, and says as what; or says why not.
    fn map(&self, settings: &mut Settings, totals: &mut Totals) -> Result<String, String> {
        let name = self.name.to_lowercase();
        Ok(match (self.section.as_str(), name.as_str()) {
            ("config", "testcycles") => self.cycles(totals)?,
            ("config", "testcycleduration") => {
                totals.cycle_s = Some(self.at_least_one("a cycle cannot have length 0")?);
                "the time between two audits (--audit-every)".to_owned()
            }
            ("config", "maxoutstandingio") => match self.number()? {
                0 => "0 means at most about 140,000 in SQLIOSim; prony uses the default of --outstanding"
                    .to_owned(),
                most => {
                    totals.outstanding = Some(most);
                    "the outstanding I/Os of all threads together (--outstanding applies to each thread)"
                        .to_owned()
                }
            },
            ("config", "cpucount") => match self.number()? {
                0 => "0 is invalid in SQLIOSim; prony uses the default of --threads".to_owned(),
                cpus => {
                    settings.threads = Some(cpus.min(disk::THREADS_MAX.into()) as u32);
                    "--threads".to_owned()
                }
            },
            ("config", "nobuffering") => {
                let direct = self.is_true("TRUE")?;
                settings.cache = Some(if direct { Cache::Direct } else { Cache::Buffered });
                format!("--cache {}", if direct { "direct" } else { "buffered" })
            }
            ("config", "writethrough") => {
                settings.write_through = Some(self.is_true("TRUE")?);
                "--write-through".to_owned()
            }
            ("config", "scattergather" | "usescattergather") => {
                totals.scatters = self.is_true("TRUE")?;
                let also = if totals.scatters {
                    "as in SQLIOSim, this implies NoBuffering=TRUE (--cache direct). Apart from that, it is "
                } else {
                    ""
                };
                format!("{also}not mapped: each I/O uses one contiguous range of memory")
            }
            (section, "initialsize") if section.starts_with("file") => self.file_size(settings)?,
            (section, "usercount") if USERS.contains(&section) => self.users()?,
            (section, name) => {
                self.check(section, name)?;
                format!("not mapped: {}", not_mapped(section, name))
            }
        })
    }

    /// One size for all files: the largest, so that nothing is tried less.
    fn file_size(&self, settings: &mut Settings) -> Result<String, String> {
        let size = Size::mib(self.at_least_one("a file cannot have size 0")?);
        settings.file_size = Some(Size(settings.file_size.map_or(size.0, |other| other.0.max(size.0))));
        Ok("--file-size, the largest of all files".to_owned())
    }

    fn cycles(&self, totals: &mut Totals) -> Result<String, String> {
        let cycles = self.number()?;
        totals.cycles = Some(cycles);
        match (cycles, self.asked.settings.duration) {
            (0, None) => {
                Err("SQLIOSim runs forever with 0, but a run of prony has an end. Give --duration, or 1 or \
                     more cycles"
                    .to_owned())
            }
            (0, Some(_)) => Ok("with 0, SQLIOSim runs forever; in prony, --duration applies".to_owned()),
            _ => Ok("number of cycles, each with an audit (--duration)".to_owned()),
        }
    }

    /// A kind of users. Those that a profile has cannot be counted, and so cannot be left out.
    fn users(&self) -> Result<String, String> {
        // Of SQLIOSim's own reading, -1 is as many as there are CPUs for.
        let count: i64 = match self.value {
            "-1" => -1,
            _ => self.number()?.try_into().unwrap_or(i64::MAX),
        };
        let profile = self.asked.profile.name();
        let updates = matches!(self.asked.profile, VerifyProfile::Sqliosim | VerifyProfile::Quick);
        match (count, self.section.as_str()) {
            (0, "randomuser") if updates => Err(format!(
                "0 means no random users in SQLIOSim, but the profile `{profile}` always updates pages at random. Give --profile log \
                (mostly a log) or checkpoint, or remove the line"
            )),
            (0, "audituser") => {
                Ok("not mapped: even with 0, SQLIOSim still validates pages, and the audits of prony do the same".to_owned())
            }
            (0, "readaheaduser" | "bulkupdateuser" | "shrinkuser") if updates => Ok(format!(
                "not mapped: 0 means no such users in SQLIOSim, but the profile {profile} still has their \
                 I/O. --profile log has almost no such I/O"
            )),
            (0, _) => Ok(format!("not mapped: the profile {profile} has its own mix")),
            _ => Ok(format!("not mapped: users are a part of the profile {profile}")),
        }
    }

    /// Whether the value of an option that is not taken over can be one.
    fn check(&self, section: &str, name: &str) -> Result<(), String> {
        let is_file = section.starts_with("file");
        match name {
            "stoponerror"
            | "allowiobursts"
            | "forcereadahead"
            | "deletefilesatstartup"
            | "deletefilesatshutdown"
            | "stampfiles"
                if section == "config" =>
            {
                self.is_true(if matches!(name, "deletefilesatshutdown" | "stampfiles") {
                    "FALSE"
                } else {
                    "TRUE"
                })
                .map(drop)
            }
            "shrinkable" | "sparse" | "logfile" if is_file => self.is_true("FALSE").map(drop),
            "maxsize" | "increment" if is_file => self.number().map(drop),
            "maxmemorymb" | "cachehitratio" | "targetioduration" if section == "config" => {
                self.number().map(drop)
            }
            _ => Ok(()),
        }
    }

    fn number(&self) -> Result<u64, String> {
        self.value.parse().map_err(|_| {
            format!("`{}` is not a whole number, and SQLIOSim would use 0. Give a number", self.value)
        })
    }

    fn at_least_one(&self, problem: &str) -> Result<u64, String> {
        match self.number()? {
            0 => Err(format!("{problem}. Give 1 or more")),
            number => Ok(number),
        }
    }

    /// Microsoft's page writes `true`, its own files write `TRUE`.
    fn is_true(&self, default: &str) -> Result<bool, String> {
        match self.value {
            "true" | "TRUE" => Ok(true),
            "false" | "FALSE" => Ok(false),
            other => Err(format!(
                "`{other}` is neither TRUE nor FALSE, and SQLIOSim would use its default {default}. Give \
                 TRUE or FALSE"
            )),
        }
    }
}

/// Sections of users.
const USERS: [&str; 5] = ["randomuser", "audituser", "readaheaduser", "bulkupdateuser", "shrinkuser"];

/// Why an option is not taken over.
fn not_mapped(section: &str, name: &str) -> &'static str {
    match (section, name) {
        ("config", "errorfile") => "findings are in the results directory",
        ("config", "affinity" | "ioaffinity") => "give --affinity",
        ("config", "maxmemorymb" | "cachehitratio") => {
            "every read goes to the storage, without a buffer pool"
        }
        ("config", "stoponerror") => "prony always continues after damage, to find all of it",
        ("config", "targetioduration" | "allowiobursts") => {
            "prony keeps I/Os outstanding and never delays \
             them"
        }
        ("config", "forcereadahead") => "read-ahead is a part of the profile",
        ("config", "deletefilesatstartup" | "deletefilesatshutdown") => {
            "test files in a directory are deleted with the process; files given by name are kept"
        }
        ("config", "stampfiles") => "every page is written before the load",
        (section, "filename") if section.starts_with("file") => "PATH gives the files",
        (section, "maxsize" | "increment" | "shrinkable") if section.starts_with("file") => {
            "prony shrinks files by an eighth and grows them again"
        }
        (section, "logfile") if section.starts_with("file") => {
            "each file has its own log; alternatively use --profile log"
        }
        (section, "sparse") if section.starts_with("file") => "files are fully allocated",
        (section, _) if USERS.contains(&section) => "the profile has its own mix",
        _ => "unknown option",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "\
[CONFIG]
ErrorFile=sqliosim.log.xml
CPUCount=2
TestCycles=3
TestCycleDuration=600
NoBuffering=TRUE
WriteThrough=TRUE
MaxOutstandingIO=0
; a comment
[RandomUser]
UserCount=8
[File1]
FileName=C:\\data.mdx
InitialSize=4
[File2]
InitialSize=64
";

    fn read_with(text: &str, profile: VerifyProfile, settings: &Settings) -> Result<Mapped, String> {
        read(text, Asked { profile, settings }).map_err(|mistakes| mistakes.join("\n"))
    }

    fn read_alone(text: &str) -> Result<Mapped, String> {
        read_with(text, VerifyProfile::Sqliosim, &Settings::default())
    }

    fn settings(text: &str) -> Settings {
        read_alone(text).unwrap().settings
    }

    #[test]
    fn options_are_mapped_or_told_as_not_mapped() {
        let Mapped { settings, told } = read_alone(FILE).unwrap();
        let wanted = Settings {
            threads: Some(2),
            duration: Some(Span::seconds(1_800)),
            audit_every: Some(Span::seconds(600)),
            cache: Some(Cache::Direct),
            write_through: Some(true),
            file_size: Some(Size::mib(64)),
            ..Settings::default()
        };
        assert_eq!(settings, wanted);
        insta::assert_snapshot!(told.join("\n"), @r"
        line 2: [CONFIG] ErrorFile=sqliosim.log.xml: not mapped: findings are in the results directory
        line 3: [CONFIG] CPUCount=2: --threads
        line 4: [CONFIG] TestCycles=3: number of cycles, each with an audit (--duration)
        line 5: [CONFIG] TestCycleDuration=600: the time between two audits (--audit-every)
        line 6: [CONFIG] NoBuffering=TRUE: --cache direct
        line 7: [CONFIG] WriteThrough=TRUE: --write-through
        line 8: [CONFIG] MaxOutstandingIO=0: 0 means at most about 140,000 in SQLIOSim; prony uses the default of --outstanding
        line 11: [RandomUser] UserCount=8: not mapped: users are a part of the profile sqliosim
        line 13: [File1] FileName=C:\data.mdx: not mapped: PATH gives the files
        line 14: [File1] InitialSize=4: --file-size, the largest of all files
        line 16: [File2] InitialSize=64: --file-size, the largest of all files
        ");
    }

    /// Microsoft's page: one cycle by default, of 300 s; all I/Os of the process; scatter and gather mean no buffering.
    #[test]
    fn numbers_mean_what_they_mean_to_sqliosim() {
        let one = settings("[CONFIG]\nTestCycleDuration=60\n");
        assert_eq!((one.duration, one.audit_every), (Some(Span::seconds(60)), Some(Span::seconds(60))));
        let three = settings("[CONFIG]\nTestCycles=3\n");
        assert_eq!((three.duration, three.audit_every), (Some(Span::seconds(900)), Some(Span::seconds(300))));
        let shared = |text: &str| {
            let shared = settings(text);
            (shared.threads, shared.outstanding)
        };
        assert_eq!(shared("[CONFIG]\nMaxOutstandingIO=64\nCPUCount=4\n"), (Some(4), Some(16)));
        assert_eq!(shared("[CONFIG]\nMaxOutstandingIO=64\n"), (None, Some(64)));
        assert_eq!(shared("[CONFIG]\nMaxOutstandingIO=2\nCPUCount=8\n"), (Some(2), Some(1)));
        assert_eq!(shared("[CONFIG]\nMaxOutstandingIO=0\n"), (None, None));
        let two = Settings { threads: Some(2), ..Settings::default() };
        let text = "[CONFIG]\nMaxOutstandingIO=64\nCPUCount=4\n";
        let mapped = read_with(text, VerifyProfile::Sqliosim, &two).unwrap();
        assert_eq!(mapped.settings.outstanding, Some(32), "the command line has two threads");
        for name in ["ScatterGather", "UseScatterGather"] {
            let text = format!("[CONFIG]\n{name}=TRUE\nNoBuffering=FALSE\n");
            assert_eq!(settings(&text).cache, Some(Cache::Direct), "{name}");
            assert!(!read_alone(&text).unwrap().told[0].contains("unknown option"));
        }
    }

    #[test]
    fn a_test_without_an_end_needs_one_of_the_command_line() {
        let text = "[CONFIG]\nTestCycles=0\nTestCycleDuration=60\n";
        insta::assert_snapshot!(read_alone(text).unwrap_err(), @"line 2: [CONFIG] TestCycles=0: SQLIOSim runs forever with 0, but a \
        run of prony has an end. Give --duration, or 1 or more cycles");
        let hour = Settings { duration: Some(Span::seconds(3_600)), ..Settings::default() };
        let mapped = read_with(text, VerifyProfile::Sqliosim, &hour).unwrap();
        assert_eq!((mapped.settings.duration, mapped.settings.audit_every), (None, Some(Span::seconds(60))));
    }

    /// A file that asked for a log load alone ran random updates, and said only that users are a part of the profile.
    #[test]
    fn users_that_a_file_leaves_out_are_not_run_in_silence() {
        let text = "[CONFIG]\nTestCycles=1\n[RandomUser]\nUserCount=0\n[ReadAheadUser]\nUserCount=0\n[AuditUser]\nUserCount=0\n";
        insta::assert_snapshot!(read_alone(text).unwrap_err(), @"line 4: [RandomUser] UserCount=0: 0 means no random users in \
        SQLIOSim, but the profile `sqliosim` always updates pages at random. Give --profile log (mostly a log) or checkpoint, or \
        remove the line");
        let log = read_with(text, VerifyProfile::Log, &Settings::default()).unwrap();
        insta::assert_snapshot!(log.told.join("\n"), @r"
        line 2: [CONFIG] TestCycles=1: number of cycles, each with an audit (--duration)
        line 4: [RandomUser] UserCount=0: not mapped: the profile log has its own mix
        line 6: [ReadAheadUser] UserCount=0: not mapped: the profile log has its own mix
        line 8: [AuditUser] UserCount=0: not mapped: even with 0, SQLIOSim still validates pages, and the audits of prony do the same
        ");
        let others = read_alone("[ReadAheadUser]\nUserCount=0\n[RandomUser]\nUserCount=-1\n").unwrap();
        insta::assert_snapshot!(others.told.join("\n"), @r"
        line 2: [ReadAheadUser] UserCount=0: not mapped: 0 means no such users in SQLIOSim, but the profile sqliosim still has their I/O. --profile log has almost no such I/O
        line 4: [RandomUser] UserCount=-1: not mapped: users are a part of the profile sqliosim
        ");
    }

    #[test]
    fn all_mistakes_are_told_at_once_with_line_and_section() {
        let text = "[CONFIG\n[CONFIG]\nhello\nNoBuffering=YES\nMaxOutstandingIO=many\nTestCycleDuration=0\nStampFiles=True\n[File1]\nInitialSize=4MB\nSparse=1\n";
        insta::assert_snapshot!(read_alone(text).unwrap_err(), @r"
        line 1: `[CONFIG` has no closing bracket
        line 3: `hello` is neither a [section] nor NAME=VALUE
        line 4: [CONFIG] NoBuffering=YES: `YES` is neither TRUE nor FALSE, and SQLIOSim would use its default TRUE. Give TRUE or FALSE
        line 5: [CONFIG] MaxOutstandingIO=many: `many` is not a whole number, and SQLIOSim would use 0. Give a number
        line 6: [CONFIG] TestCycleDuration=0: a cycle cannot have length 0. Give 1 or more
        line 7: [CONFIG] StampFiles=True: `True` is neither TRUE nor FALSE, and SQLIOSim would use its default FALSE. Give TRUE or FALSE
        line 9: [File1] InitialSize=4MB: `4MB` is not a whole number, and SQLIOSim would use 0. Give a number
        line 10: [File1] Sparse=1: `1` is neither TRUE nor FALSE, and SQLIOSim would use its default FALSE. Give TRUE or FALSE
        ");
    }

    #[test]
    fn an_unknown_option_is_told() {
        let told = read_alone("[CONFIG]\nNovelty=1").unwrap().told;
        assert_eq!(told, ["line 2: [CONFIG] Novelty=1: not mapped: unknown option"]);
    }
}
