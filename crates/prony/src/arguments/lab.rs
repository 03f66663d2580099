//! Arguments of `prony lab`: laboratories of loop devices.

use std::path::PathBuf;

use ::study::{LabFileSystem, LabKind};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use load::Size;

#[derive(Debug, Subcommand)]
pub(crate) enum Lab {
    /// Make a volume of loop devices, mount it, and print where
    Create(Box<CreateLab>),
    /// List the laboratories that prony made and has not removed, also those that a killed prony left
    List(ListLabs),
    /// Unmount a laboratory and remove it with all that is in it
    Remove(NamedLab),
}

const VOLUME: &str = "Volume";
const THROTTLE: &str = "Throttle of each device";

#[derive(Debug, Args)]
pub(crate) struct CreateLab {
    /// What it is called
    pub(crate) name: String,

    /// How its devices are one volume: btrfs joins them itself, ext4 and XFS by md, where the kernel has that [default: single]
    #[arg(long, value_name = "KIND", help_heading = VOLUME, value_parser = kinds())]
    pub(crate) kind: Option<LabKind>,

    /// What it is formatted with [default: ext4]
    #[arg(long, value_name = "NAME", help_heading = VOLUME, value_parser = file_systems())]
    pub(crate) file_system: Option<LabFileSystem>,

    /// Size of the file system's blocks; larger than a page of memory where the kernel has such [default: 4KiB]
    #[arg(long, value_name = "SIZE", help_heading = VOLUME)]
    pub(crate) block_size: Option<Size>,

    /// Smallest unit that its devices address, 512 or 4096 [default: 512]
    #[arg(long, value_name = "SIZE", help_heading = VOLUME)]
    pub(crate) sector_size: Option<Size>,

    /// Number of devices [default: as few as its kind takes]
    #[arg(long, value_name = "NUMBER", help_heading = VOLUME)]
    pub(crate) devices: Option<u32>,

    /// Size of each device, from 320MiB on, all of which is taken on the disk [default: 2GiB]
    #[arg(long, value_name = "SIZE", help_heading = VOLUME)]
    pub(crate) size: Option<Size>,

    /// Directory for the backing files
    #[arg(long, value_name = "DIR", default_value = ".", help_heading = VOLUME)]
    pub(crate) directory: PathBuf,

    /// Where it is mounted, at a path at which nothing is [default: /run/prony/lab/NAME]
    #[arg(long, value_name = "PATH", help_heading = VOLUME)]
    pub(crate) mount_point: Option<PathBuf>,

    /// Let the backing files lie in memory (tmpfs)
    #[arg(long, help_heading = VOLUME)]
    pub(crate) in_memory: bool,

    /// Reads a second. Throttles are those of control groups of the first version, for all of the machine; they are proved
    #[arg(long, value_name = "PER_SECOND", help_heading = THROTTLE)]
    pub(crate) read_iops: Option<u64>,

    /// Writes a second
    #[arg(long, value_name = "PER_SECOND", help_heading = THROTTLE)]
    pub(crate) write_iops: Option<u64>,

    /// Bytes read a second, such as 100MiB
    #[arg(long, value_name = "SIZE", help_heading = THROTTLE)]
    pub(crate) read_rate: Option<Size>,

    /// Bytes written a second
    #[arg(long, value_name = "SIZE", help_heading = THROTTLE)]
    pub(crate) write_rate: Option<Size>,
}

#[derive(Debug, Args)]
pub(crate) struct ListLabs {
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct NamedLab {
    /// What it is called
    pub(crate) name: String,
}

fn kinds() -> impl TypedValueParser<Value = LabKind> {
    let values = [
        ("single", "One device"),
        ("stripe", "Two and more, striped"),
        ("raid1", "Two with the same"),
        ("raid10", "Pairs with the same, striped"),
    ];
    let values = values.map(|(name, help)| PossibleValue::new(name).help(help));
    PossibleValuesParser::new(values).map(|name| match name.as_str() {
        "stripe" => LabKind::Stripe,
        "raid1" => LabKind::Raid1,
        "raid10" => LabKind::Raid10,
        _ => LabKind::Single,
    })
}

fn file_systems() -> impl TypedValueParser<Value = LabFileSystem> {
    PossibleValuesParser::new(["ext4", "xfs", "btrfs"]).map(|name| match name.as_str() {
        "xfs" => LabFileSystem::Xfs,
        "btrfs" => LabFileSystem::Btrfs,
        _ => LabFileSystem::Ext4,
    })
}
