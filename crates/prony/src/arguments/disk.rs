//! Arguments of `prony disk`.

use std::path::PathBuf;

use clap::Args;
use disk::Settings;
use load::Span;

use super::{MustHold, profile_names};

#[derive(Debug, Args)]
pub(crate) struct Disk {
    /// Directories (test files of our own are made there), files or block devices
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,

    /// A bundle of tests: quick, cdm3, cdm8, sqlserver, sweep, steady, flush [default: the one test the options describe]
    #[arg(long, value_name = "NAME", help_heading = "Study", value_parser = profile_names(&::study::DISK_PROFILES))]
    pub(crate) profile: Option<String>,

    /// Times that each test is measured [default: 1, or the profile's]
    #[arg(long, value_name = "NUMBER", help_heading = "Study", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) repeats: Option<u32>,

    /// Rest before each test but the first [default: 0s, or the profile's]
    #[arg(long, value_name = "TIME", help_heading = "Study")]
    pub(crate) pause: Option<Span>,

    /// Mean latency past which a sweep goes no deeper [default: 20ms in the profile sweep]
    #[arg(long, value_name = "TIME", help_heading = "Study")]
    pub(crate) latency_tolerance: Option<Span>,

    /// Compare with what an array should give: DISKS x KIND [RAID], such as "100 x sas10k raid10"
    #[arg(long, value_name = "ARRAY", help_heading = "Study")]
    pub(crate) expect: Option<String>,

    #[command(flatten)]
    pub(crate) must: MustHold,

    #[command(flatten)]
    pub(crate) settings: Settings,
}
