//! Laboratories of a study: made before its targets are looked at, their throttles proved by our own disk engine, and removed after it.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use instance::{FileSystem, Lab, LabError, LabPlace, LabShape, Raid, Standing, Throttle};
use record::{DeviceLimits, LimitProof};
use study::{LabFileSystem, LabKind, LabVolume, MountedVolume};

use crate::started::{DeviceRate, DeviceWork};

pub use instance::{KnownLab, lab_mount_point};

/// Why a laboratory cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum LabFault {
    /// It cannot be made or removed.
    #[error("the laboratory {name}: {source}")]
    Lab {
        /// Its name.
        name: String,
        /// Why.
        source: Box<LabError>,
    },
    /// What throttles it cannot be proved, or does not hold.
    #[error("the laboratory {name}: {why}")]
    Unproved {
        /// Its name.
        name: String,
        /// What was found.
        why: String,
    },
    /// The user ended it.
    #[error("interrupted while the lab was created")]
    Interrupted,
}

/// What is wanted of one volume.
#[derive(Clone, Debug)]
pub struct WantedLab<'a> {
    /// What it is called.
    pub name: &'a str,
    /// What it is.
    pub volume: &'a LabVolume,
    /// Directory of its backing files.
    pub directory: &'a Path,
    /// Where it is mounted.
    pub mount: &'a Path,
    /// Whether its backing files may lie in memory.
    pub in_memory: bool,
}

/// The laboratory of a study. It is removed when this is dropped.
#[derive(Debug, Default)]
pub struct Laboratory {
    labs: Vec<Lab>,
    record: record::Laboratory,
}

fn shape(volume: &LabVolume) -> LabShape {
    let usual = LabShape::default();
    let kind = match volume.kind {
        None | Some(LabKind::Single) => Raid::Single,
        Some(LabKind::Stripe) => Raid::Stripe,
        Some(LabKind::Raid1) => Raid::Raid1,
        Some(LabKind::Raid10) => Raid::Raid10,
    };
    LabShape {
        raid: kind,
        file_system: match volume.file_system {
            None | Some(LabFileSystem::Ext4) => FileSystem::Ext4,
            Some(LabFileSystem::Xfs) => FileSystem::Xfs,
            Some(LabFileSystem::Btrfs) => FileSystem::Btrfs,
        },
        block_bytes: volume.block_size.map_or(usual.block_bytes, |size| size.0),
        sector_bytes: volume.sector_size.map_or(usual.sector_bytes, |size| size.0),
        devices: volume.devices.unwrap_or(match kind {
            Raid::Single => 1,
            Raid::Stripe | Raid::Raid1 => 2,
            Raid::Raid10 => 4,
        }),
        device_bytes: volume.size.map_or(usual.device_bytes, |size| size.0),
        throttle: Throttle {
            read_iops: volume.read_iops,
            write_iops: volume.write_iops,
            read_bytes_per_s: volume.read_rate.map(|rate| rate.0),
            write_bytes_per_s: volume.write_rate.map(|rate| rate.0),
        },
    }
}

impl WantedLab<'_> {
    fn place(&self) -> LabPlace {
        LabPlace {
            directory: self.directory.to_owned(),
            mount_point: self.mount.to_owned(),
            in_memory: self.in_memory,
        }
    }

    /// As it would be recorded, before anything of it is made.
    #[must_use]
    pub fn planned(&self) -> record::LabVolume {
        described(self.name, &shape(self.volume), self.mount, self.directory)
    }

    /// Looks whether it could be made, and makes nothing.
    ///
    /// # Errors
    /// What is missing, and what brings it.
    pub fn look(&self) -> Result<(), LabFault> {
        Lab::look(self.name, &shape(self.volume), &self.place()).map_err(failed(self.name))
    }

    fn make(&self) -> Result<(Lab, record::LabVolume), LabFault> {
        let lab = Lab::make(self.name, &shape(self.volume), &self.place()).map_err(failed(self.name))?;
        let mut made = recorded(lab.known());
        made.proofs = prove(&made)?;
        Ok((lab, made))
    }

    /// Makes it to stay until somebody removes it, with its throttle proved.
    ///
    /// # Errors
    /// It cannot be made, or its throttle does not hold: nothing is left then.
    pub fn make_to_stay(&self, stop: &AtomicBool) -> Result<record::LabVolume, LabFault> {
        let (lab, made) = self.make()?;
        if stop.load(Ordering::Relaxed) {
            lab.remove().map_err(failed(self.name))?;
            return Err(LabFault::Interrupted);
        }
        lab.leave().map_err(failed(self.name))?;
        Ok(made)
    }
}

fn failed(name: &str) -> impl FnOnce(LabError) -> LabFault {
    let name = name.to_owned();
    move |source| LabFault::Lab { name, source: Box::new(source) }
}

fn described(name: &str, shape: &LabShape, mount: &Path, backing: &Path) -> record::LabVolume {
    record::LabVolume {
        name: name.to_owned(),
        mount: mount.display().to_string(),
        kind: shape.raid.word().to_owned(),
        joined_by: shape.joined_by(),
        file_system: shape.file_system.word().to_owned(),
        block_bytes: shape.block_bytes,
        sector_bytes: shape.sector_bytes,
        devices: shape.devices,
        device_bytes: shape.device_bytes,
        backing: backing.display().to_string(),
        throttle: DeviceLimits {
            reads_per_s: shape.throttle.read_iops,
            writes_per_s: shape.throttle.write_iops,
            read_bytes_per_s: shape.throttle.read_bytes_per_s,
            write_bytes_per_s: shape.throttle.write_bytes_per_s,
        },
        ..record::LabVolume::default()
    }
}

/// What is known of a laboratory, as it is recorded.
#[must_use]
pub fn recorded(known: &KnownLab) -> record::LabVolume {
    let kernel_name = |node: &String| node.trim_start_matches("/dev/").to_owned();
    record::LabVolume {
        loops: known.loops.iter().map(kernel_name).collect(),
        is_direct: (!known.loops.is_empty()).then_some(known.is_direct),
        throttled_by: known.throttled_at.iter().map(|group| group.display().to_string()).collect(),
        ..described(&known.name, &known.shape, &known.mount_point.path, &known.backing.path)
    }
}

/// What a throttled volume does at most: as much as its devices that work at once.
fn works(volume: &record::LabVolume) -> Vec<DeviceWork> {
    let raid = match volume.kind.as_str() {
        "stripe" => Raid::Stripe,
        "raid1" => Raid::Raid1,
        "raid10" => Raid::Raid10,
        _ => Raid::Single,
    };
    let (reading, writing) = raid.at_once(volume.devices);
    let throttle = &volume.throttle;
    let all = [
        (DeviceRate::Reads, throttle.reads_per_s, reading),
        (DeviceRate::Writes, throttle.writes_per_s, writing),
        (DeviceRate::ReadBytes, throttle.read_bytes_per_s, reading),
        (DeviceRate::WriteBytes, throttle.write_bytes_per_s, writing),
    ];
    let work = |(of, each, at_once): (DeviceRate, Option<u64>, u32)| {
        Some(DeviceWork {
            device: volume.name.clone(),
            directory: PathBuf::from(&volume.mount),
            of,
            expected: (each? * u64::from(at_once)) as f64,
        })
    };
    all.into_iter().filter_map(work).collect()
}

/// Does on a throttled volume what it allows, and refuses a throttle that does not hold.
fn prove(volume: &record::LabVolume) -> Result<Vec<LimitProof>, LabFault> {
    let unproved = |why: String| LabFault::Unproved { name: volume.name.clone(), why };
    let proofs: Result<Vec<LimitProof>, String> = works(volume).iter().map(prove_longer).collect();
    let proofs = proofs.map_err(unproved)?;
    match proofs.iter().find(|proof| !proof.holds()) {
        None => Ok(proofs),
        Some(LimitProof { of, expected, achieved }) => Err(unproved(format!(
            "its throttle of {expected} {of} has no effect here: the test reached {achieved:.1}"
        ))),
    }
}

/// Times that a proof is measured at most, all of which count.
const TRIES: u32 = 5;

/// What is reached in one try, or where that is too much in several together: a slice of the throttle that lets more through at one end
/// of a short time weighs less in a longer one, and a throttle that does not hold stays what it is.
fn prove_longer(work: &DeviceWork) -> Result<LimitProof, String> {
    let mut proof = work.prove()?;
    for tries in 2..=TRIES {
        if proof.holds() {
            break;
        }
        let again = work.prove()?.achieved;
        proof.achieved += (again - proof.achieved) / f64::from(tries);
    }
    Ok(proof)
}

fn wanted<'a>(name: &'a str, volume: &'a MountedVolume, directory: &'a Path) -> WantedLab<'a> {
    WantedLab { name, volume: &volume.is, directory, mount: &volume.mount, in_memory: false }
}

/// The laboratory of a study as it would be recorded, before anything of it is made.
#[must_use]
pub fn planned_laboratory(lab: &study::Laboratory) -> record::Laboratory {
    let volumes = lab.volume.iter().map(|(name, volume)| wanted(name, volume, &lab.directory).planned());
    record::Laboratory { volumes: volumes.collect() }
}

impl Laboratory {
    /// Makes all volumes of a study's laboratory. What a killed prony left of the same study is removed first.
    ///
    /// # Errors
    /// One of them cannot be made, or its throttle does not hold: nothing is left then.
    pub fn make(
        lab: &study::Laboratory,
        stop: &AtomicBool,
        tell: &mut dyn FnMut(&str),
    ) -> Result<Self, LabFault> {
        let known = KnownLab::all().map_err(failed("of this study"))?;
        let is_left =
            |known: &&KnownLab| lab.volume.contains_key(&known.name) && known.standing() == Standing::Left;
        for left in known.iter().filter(is_left) {
            left.remove().map_err(failed(&left.name))?;
        }
        let mut made = Self::default();
        for (name, volume) in &lab.volume {
            if stop.load(Ordering::Relaxed) {
                return Err(LabFault::Interrupted);
            }
            tell(name);
            let (lab, record) = wanted(name, volume, &lab.directory).make()?;
            made.labs.push(lab);
            made.record.volumes.push(record);
        }
        Ok(made)
    }

    /// What was made.
    #[must_use]
    pub fn record(&self) -> &record::Laboratory {
        &self.record
    }

    /// Removes it with all that it has.
    ///
    /// # Errors
    /// A volume is in use, or cannot be removed: it is still known then, and the others are gone.
    pub fn remove(self) -> Result<(), LabFault> {
        let mut first = Ok(());
        for lab in self.labs {
            let name = lab.known().name.clone();
            let removed = lab.remove().map_err(failed(&name));
            first = first.and(removed);
        }
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use load::Size;

    #[test]
    fn a_volume_does_what_its_devices_do_at_once() {
        let volume = |kind, devices| LabVolume {
            kind: Some(kind),
            devices,
            read_iops: Some(85),
            write_rate: Some(Size(1000)),
            ..LabVolume::default()
        };
        let expected = |kind, devices| -> Vec<f64> {
            let volume = volume(kind, devices);
            let wanted = WantedLab {
                name: "a",
                volume: &volume,
                directory: Path::new("/data"),
                mount: Path::new("/run/x"),
                in_memory: false,
            };
            works(&wanted.planned()).into_iter().map(|work| work.expected).collect()
        };
        assert_eq!(expected(LabKind::Single, None), [85.0, 1000.0]);
        assert_eq!(expected(LabKind::Stripe, Some(3)), [255.0, 3000.0]);
        assert_eq!(expected(LabKind::Raid1, None), [170.0, 1000.0]);
        assert_eq!(expected(LabKind::Raid10, None), [340.0, 2000.0]);
    }
}
