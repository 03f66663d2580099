//! SQLIOSim's configuration file: what of it `prony verify` takes over, and what it does not.
//!
//! Nothing is passed over in silence: each option is either mapped, or told as one that is not, with the reason.

use disk::{Cache, Settings};
use load::{Size, Span};

/// What a configuration file comes to.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Mapped {
    pub(crate) settings: Settings,
    /// A line for each option, in the order of the file.
    pub(crate) told: Vec<String>,
}

/// Reads a configuration file.
///
/// # Errors
/// When a line is none of such a file, or a value cannot be one of its option: with the line's number.
pub(crate) fn read(text: &str) -> Result<Mapped, String> {
    let mut mapped = Mapped::default();
    let mut cycles = Cycles::default();
    let mut section = String::new();
    for (number, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with([';', '#']) {
            continue;
        }
        let at = |problem: String| format!("line {}: {problem}", number + 1);
        if let Some(name) = line.strip_prefix('[') {
            let name =
                name.strip_suffix(']').ok_or_else(|| at(format!("`{line}` has no closing bracket")))?;
            section = name.trim().to_lowercase();
            continue;
        }
        let (name, value) = line
            .split_once('=')
            .ok_or_else(|| at(format!("`{line}` is neither a [section] nor NAME=VALUE")))?;
        let option = Given { section: &section, name: name.trim(), value: value.trim() };
        let told = option.map(&mut mapped.settings, &mut cycles).map_err(at)?;
        mapped.told.push(format!("{}={}: {told}", option.name, option.value));
    }
    cycles.into(&mut mapped.settings);
    Ok(mapped)
}

/// Cycles and their length make the length of the whole.
#[derive(Clone, Copy, Debug, Default)]
struct Cycles {
    number: Option<u64>,
    seconds: Option<u64>,
}

/// SQLIOSim's own defaults, where only one of both is given.
const CYCLES: u64 = 12;
const CYCLE_S: u64 = 300;

impl Cycles {
    fn into(self, settings: &mut Settings) {
        if self.number.is_none() && self.seconds.is_none() {
            return;
        }
        let seconds = self.seconds.unwrap_or(CYCLE_S);
        settings.audit_every = Some(Span::seconds(seconds));
        settings.duration = Some(Span::seconds(self.number.unwrap_or(CYCLES).saturating_mul(seconds)));
    }
}

struct Given<'a> {
    section: &'a str,
    name: &'a str,
    value: &'a str,
}

impl Given<'_> {
    /// Takes an option over, and says as what; or says why not.
    fn map(&self, settings: &mut Settings, cycles: &mut Cycles) -> Result<String, String> {
        let name = self.name.to_lowercase();
        Ok(match (self.section, name.as_str()) {
            ("config", "testcycles") => {
                cycles.number = Some(self.at_least_one()?);
                "as many cycles, each with an audit (--duration)".to_owned()
            }
            ("config", "testcycleduration") => {
                cycles.seconds = Some(self.at_least_one()?);
                "the time between two audits (--audit-every)".to_owned()
            }
            ("config", "maxoutstandingio") => match self.number()? {
                0 => "no limit of SQLIOSim's; the default of --outstanding".to_owned(),
                most => {
                    settings.outstanding = Some(most.min(disk::OUTSTANDING_MAX.into()) as u32);
                    "--outstanding, of each thread".to_owned()
                }
            },
            ("config", "cpucount") => match self.number()? {
                0 => "all of them with SQLIOSim; the default of --threads".to_owned(),
                cpus => {
                    settings.threads = Some(cpus.min(disk::THREADS_MAX.into()) as u32);
                    "--threads".to_owned()
                }
            },
            ("config", "nobuffering") => {
                let direct = self.is_true()?;
                settings.cache = Some(if direct { Cache::Direct } else { Cache::Buffered });
                format!("--cache {}", if direct { "direct" } else { "buffered" })
            }
            ("config", "writethrough") => {
                settings.write_through = Some(self.is_true()?);
                "--write-through".to_owned()
            }
            (section, "initialsize") if section.starts_with("file") => {
                let size = Size::mib(self.at_least_one()?);
                // One size for all files: the largest, so that nothing is tried less.
                settings.file_size =
                    Some(Size(settings.file_size.map_or(size.0, |other| other.0.max(size.0))));
                "--file-size, the largest of all files".to_owned()
            }
            (section, name) => format!("not mapped: {}", not_mapped(section, name)),
        })
    }

    fn number(&self) -> Result<u64, String> {
        self.value.parse().map_err(|_| format!("{}: `{}` is no whole number", self.name, self.value))
    }

    fn at_least_one(&self) -> Result<u64, String> {
        match self.number()? {
            0 => Err(format!("{}: 0 has no meaning; give 1 or more", self.name)),
            number => Ok(number),
        }
    }

    fn is_true(&self) -> Result<bool, String> {
        match self.value.to_lowercase().as_str() {
            "true" | "yes" | "1" => Ok(true),
            "false" | "no" | "0" => Ok(false),
            _ => Err(format!("{}: `{}` is neither TRUE nor FALSE", self.name, self.value)),
        }
    }
}

/// Why an option is not taken over.
fn not_mapped(section: &str, name: &str) -> &'static str {
    match (section, name) {
        ("config", "errorfile") => "findings stand in the results directory",
        ("config", "affinity" | "ioaffinity") => "give --affinity",
        ("config", "maxmemorymb" | "cachehitratio") => {
            "there is no buffer pool: every read goes to the storage"
        }
        ("config", "stoponerror") => "a run goes on, so that all of the damage is seen",
        ("config", "targetioduration" | "allowiobursts") => "I/Os are kept outstanding and never held back",
        ("config", "scattergather") => "runs of pages are one I/O of memory that lies together",
        ("config", "forcereadahead") => "read-ahead is a part of the profile",
        ("config", "deletefilesatstartup" | "deletefilesatshutdown") => {
            "test files in a directory are gone with the process; those that are named stay"
        }
        ("config", "stampfiles") => "every page is written before the load",
        (section, "filename") if section.starts_with("file") => "files are those that PATH names",
        (section, "maxsize" | "increment" | "shrinkable") if section.starts_with("file") => {
            "files of ours shrink by an eighth and grow again"
        }
        (section, "logfile") if section.starts_with("file") => "each file has its log, or take --profile log",
        (section, "sparse") if section.starts_with("file") => "files are laid out",
        ("randomuser" | "audituser" | "readaheaduser" | "bulkupdateuser" | "shrinkuser", _) => {
            "users are a part of the profile"
        }
        _ => "it is not known",
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

    #[test]
    fn options_are_mapped_or_told_as_not_mapped() {
        let Mapped { settings, told } = read(FILE).unwrap();
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
        assert_eq!(told.len(), 11);
        assert_eq!(
            told[0],
            "ErrorFile=sqliosim.log.xml: not mapped: findings stand in the results directory"
        );
        assert_eq!(told[2], "TestCycles=3: as many cycles, each with an audit (--duration)");
        assert_eq!(told[7], "UserCount=8: not mapped: users are a part of the profile");
        assert_eq!(told[8], "FileName=C:\\data.mdx: not mapped: files are those that PATH names");
    }

    #[test]
    fn what_is_no_such_file_is_refused_with_its_line() {
        let cases = [
            ("[CONFIG\n", "line 1: `[CONFIG` has no closing bracket"),
            ("\nhello", "line 2: `hello` is neither a [section] nor NAME=VALUE"),
            ("[CONFIG]\nTestCycles=many", "line 2: TestCycles: `many` is no whole number"),
            ("[config]\nTestCycles=0", "line 2: TestCycles: 0 has no meaning; give 1 or more"),
            ("[CONFIG]\nNoBuffering=maybe", "line 2: NoBuffering: `maybe` is neither TRUE nor FALSE"),
        ];
        for (text, wanted) in cases {
            assert_eq!(read(text).unwrap_err(), wanted);
        }
    }

    #[test]
    fn an_unknown_option_is_told() {
        let told = read("[CONFIG]\nNovelty=1").unwrap().told;
        assert_eq!(told, ["Novelty=1: not mapped: it is not known"]);
    }
}
