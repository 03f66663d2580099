//! The published studies, ready to run: each a study file and a page on it.

/// A study that others published, as a file of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublishedStudy {
    /// Name on the command line.
    pub name: &'static str,
    /// The study file.
    pub file: &'static str,
    /// What it answers, what it needs and how to adapt it.
    pub page: &'static str,
}

macro_rules! published {
    ($($name:literal),* $(,)?) => {
        [$(PublishedStudy {
            name: $name,
            file: include_str!(concat!("../../../studies/", $name, ".toml")),
            page: include_str!(concat!("../../../studies/", $name, ".md")),
        }),*]
    };
}

/// All of them.
pub const PUBLISHED_STUDIES: [PublishedStudy; 7] = published![
    "hds-flush-rows",
    "hds-real-project",
    "hds-sqlio",
    "primequest-throughput",
    "r630-think-time",
    "sqlio-sweep",
    "sqlio-expectation",
];

impl PublishedStudy {
    /// The study of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        PUBLISHED_STUDIES.iter().find(|study| study.name == name)
    }

    /// What it answers, in one line: the first one of its page after the heading.
    #[must_use]
    pub fn answers(&self) -> &'static str {
        let mut lines = self.page.lines().skip(1).map(str::trim);
        lines.find(|line| !line.is_empty()).unwrap_or_default()
    }
}
