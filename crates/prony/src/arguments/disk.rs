//! Arguments of `prony disk`.

use std::path::PathBuf;

use clap::Args;
use disk::Settings;
use load::Span;

use super::{MustHold, profile_names};

#[derive(Debug, Args)]
pub(crate) struct Disk {
    /// Directories, files or block devices
    ///
    /// In a directory, prony creates its own test files and deletes them at the end.
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,

    /// Run a bundle of tests
    ///
    /// Without this option, prony runs one test as the other options describe.
    #[arg(long, value_name = "NAME", help_heading = "Load", value_parser = profile_names(&::study::DISK_PROFILES))]
    pub(crate) profile: Option<String>,

    /// Times to measure each test [default: 1, or the profile's]
    #[arg(long, value_name = "NUMBER", help_heading = "Repeats and thresholds", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) repeats: Option<u32>,

    /// Rest before each test except the first [default: 0s]
    ///
    /// A profile can have its own default.
    #[arg(long = "cooldown", value_name = "TIME", help_heading = "Repeats and thresholds")]
    pub(crate) pause: Option<Span>,

    /// Mean latency at which a sweep stops [default: 20ms]
    ///
    /// The sweep then tries no greater queue depths. The default is taken from the sweep profile.
    #[arg(long, hide_short_help = true, value_name = "TIME", help_heading = "Load")]
    pub(crate) latency_tolerance: Option<Span>,

    /// Compare with an array, such as "100 x sas10k raid10"
    ///
    /// The format is DISKS x KIND [RAID].
    #[arg(long, hide_short_help = true, value_name = "ARRAY", help_heading = "Output")]
    pub(crate) expect: Option<String>,

    #[command(flatten)]
    pub(crate) must: MustHold,

    #[command(flatten)]
    pub(crate) settings: Settings,
}
