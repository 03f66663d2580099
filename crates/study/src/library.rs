//! Studies that are ready to run, each a file in `studies/`: profiles of one workload, what others published, and what fails.

use crate::file::{Mistake, StudyFile};
use crate::mistake::{StudyError, StudyErrors};
use crate::study::Study;

/// A study that is ready to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadyStudy {
    /// Name on the command line.
    pub name: &'static str,
    /// The study file.
    pub file: &'static str,
    /// What it needs and how to adapt it; none of a profile, whose file says it all.
    pub page: Option<&'static str>,
}

macro_rules! profiles {
    ($folder:literal: $($name:literal),* $(,)?) => {
        [$(ReadyStudy {
            name: $name,
            file: include_str!(concat!("../../../studies/", $folder, "/", $name, ".toml")),
            page: None,
        }),*]
    };
}

macro_rules! with_page {
    ($($name:literal),* $(,)?) => {
        [$(ReadyStudy {
            name: $name,
            file: include_str!(concat!("../../../studies/", $name, ".toml")),
            page: Some(include_str!(concat!("../../../studies/", $name, ".md"))),
        }),*]
    };
}

/// Profiles of a disk.
pub const DISK_PROFILES: [ReadyStudy; 7] =
    profiles!["disk": "quick", "cdm3", "cdm8", "sqlserver", "sweep", "steady", "flush"];

/// Profiles of a historian.
pub const HISTORIAN_PROFILES: [ReadyStudy; 2] = profiles!["historian": "flush-rows", "real-project"];

/// Studies that others published.
pub const PUBLISHED_STUDIES: [ReadyStudy; 19] = with_page![
    "hds-flush-rows",
    "hds-placement",
    "hds-real-project",
    "hds-sqlio",
    "primequest-blocks",
    "primequest-throughput",
    "primequest-cpu-scaling",
    "primequest-memory",
    "primequest-tables",
    "primequest-columnstore",
    "r630-think-time",
    "r630-hdd-ssd",
    "r630-cycle",
    "r630-availability",
    "sqlio-sweep",
    "sqlio-expectation",
    "classifier-ram",
    "classifier-vcpu",
    "classifier-iops",
];

/// Studies of what happens when something of a server fails, and of what it costs to be prepared.
pub const AVAILABILITY_STUDIES: [ReadyStudy; 9] = with_page![
    "availability-single",
    "availability-sync",
    "availability-async",
    "availability-galera",
    "availability-receiver",
    "availability-network",
    "availability-power",
    "availability-power-pair",
    "availability-synchrony",
];

impl ReadyStudy {
    /// All of them.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        DISK_PROFILES.iter().chain(&HISTORIAN_PROFILES).chain(&PUBLISHED_STUDIES).chain(&AVAILABILITY_STUDIES)
    }

    /// The study of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::all().find(|study| study.name == name)
    }

    /// What it answers, in one line: the first one of its page after the heading, or of its file.
    #[must_use]
    pub fn answers(&self) -> &'static str {
        let first = |text: &'static str| text.lines().map(str::trim).find(|line| !line.is_empty());
        let of_page = |page: &'static str| first(page.split_once('\n')?.1);
        let answers = self.page.map_or_else(|| first(self.file), of_page).unwrap_or_default();
        answers.trim_start_matches("# ")
    }

    /// The study with its places as they are by default. Quick: with shorter times, and it says so.
    ///
    /// # Errors
    /// When the file is wrong, which would be our own mistake.
    pub fn study(&self, quick: bool) -> Result<Study, StudyErrors> {
        let file = StudyFile { name: self.name, text: self.file, quick, ..StudyFile::default() };
        file.study().map_err(|mistakes| {
            let error =
                |mistake: Mistake| StudyError { place: mistake.place.into(), problem: mistake.problem };
            StudyErrors(mistakes.into_iter().map(error).collect())
        })
    }
}

#[cfg(test)]
#[path = "library_tests.rs"]
mod tests;
