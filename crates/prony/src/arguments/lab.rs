//! Arguments of `prony lab`: laboratories of loop devices.

use std::path::PathBuf;

use ::study::{LabFileSystem, LabKind};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use load::Size;

#[derive(Debug, Subcommand)]
pub(crate) enum Lab {
    /// Create and mount a volume of loop devices
    ///
    /// Prints its path.
    Create(Box<CreateLab>),
    /// List lab volumes that prony has not deleted
    ///
    /// The list includes volumes left by a prony that was killed.
    List(ListLabs),
    /// Unmount a lab volume and delete it with its data
    Remove(NamedLab),
}

const VOLUME: &str = "Volume";
const THROTTLE: &str = "Throttle of each device";

#[derive(Debug, Args)]
pub(crate) struct CreateLab {
    /// Name of the lab volume
    pub(crate) name: String,

    /// How the devices form one volume [default: single]
    ///
    /// btrfs combines devices itself. ext4 and XFS need md in the kernel.
    #[arg(long, value_name = "KIND", help_heading = VOLUME, value_parser = kinds())]
    pub(crate) kind: Option<LabKind>,

    /// File system [default: ext4]
    #[arg(long, value_name = "NAME", help_heading = VOLUME, value_parser = file_systems())]
    pub(crate) file_system: Option<LabFileSystem>,

    /// Block size of the file system [default: 4KiB]
    ///
    /// Blocks larger than a memory page need kernel support.
    #[arg(long, value_name = "SIZE", help_heading = VOLUME)]
    pub(crate) block_size: Option<Size>,

    /// Sector size of the devices, 512 or 4096 [default: 512]
    #[arg(long, value_name = "SIZE", help_heading = VOLUME)]
    pub(crate) sector_size: Option<Size>,

    /// Number of devices [default: the smallest possible number]
    #[arg(long, value_name = "NUMBER", help_heading = VOLUME)]
    pub(crate) devices: Option<u32>,

    /// Size of each device, at least 320MiB [default: 2GiB]
    ///
    /// The full size is allocated on the disk.
    #[arg(long, value_name = "SIZE", help_heading = VOLUME)]
    pub(crate) size: Option<Size>,

    /// Directory for the backing files
    #[arg(long, value_name = "DIR", default_value = ".", help_heading = VOLUME)]
    pub(crate) directory: PathBuf,

    /// Mount point [default: /run/prony/lab/NAME]
    ///
    /// The path must not exist yet.
    #[arg(long, value_name = "PATH", help_heading = VOLUME)]
    pub(crate) mount_point: Option<PathBuf>,

    /// Put the backing files in memory (tmpfs)
    #[arg(long, help_heading = VOLUME)]
    pub(crate) in_memory: bool,

    /// Limit on reads per second
    ///
    /// Throttles use control groups version 1 and apply to the whole machine. prony tests that the throttles
    /// work.
    #[arg(long, value_name = "PER_SECOND", help_heading = THROTTLE)]
    pub(crate) read_iops: Option<u64>,

    /// Limit on writes per second
    #[arg(long, value_name = "PER_SECOND", help_heading = THROTTLE)]
    pub(crate) write_iops: Option<u64>,

    /// Limit on bytes read per second, such as 100MiB
    #[arg(long, value_name = "SIZE", help_heading = THROTTLE)]
    pub(crate) read_rate: Option<Size>,

    /// Limit on bytes written per second
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
    /// Name of the lab volume
    pub(crate) name: String,
}

fn kinds() -> impl TypedValueParser<Value = LabKind> {
    let values = [
        ("single", "One device"),
        ("stripe", "RAID 0 over two or more devices"),
        ("raid1", "Two mirrored devices"),
        ("raid10", "RAID 0 over mirrored pairs"),
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
