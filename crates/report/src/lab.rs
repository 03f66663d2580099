//! The laboratory of a study in words and as a table: what it was made of, and what its figures are good for.

use record::{DeviceLimits, LabVolume, Laboratory, LimitProof};

use crate::format;
use crate::report::Report;
use crate::section::Block;
use crate::table::{Row, Table, words as text};
use crate::verdict::{Level, Verdict};

/// What figures of a laboratory are good for.
pub const MEANING: &str = "Lab volumes are loop devices on files of one disk. They show effects of placement, and ratios under \
throttles. They do not show absolute speed, seek times, or controllers with their caches";

/// A volume in a line: `/run/prony/lab/a: ext4 with blocks of 4 KiB on loop0, 2 GiB with sectors of 512 B, at most 85 reads/s`.
#[must_use]
pub fn volume(volume: &LabVolume) -> String {
    let throttle = throttle(&volume.throttle);
    let at_most = if throttle.is_empty() { String::new() } else { format!(", each at most {throttle}") };
    format!("{}: {} on {}{at_most}", volume.mount, formatted(volume), devices(volume))
}

fn formatted(volume: &LabVolume) -> String {
    let joined = volume.joined_by.as_ref().map_or_else(String::new, |by| format!(", {by}"));
    format!("{} with blocks of {}{joined}", volume.file_system, format::bytes(volume.block_bytes))
}

/// `loop0 and loop1, 2 GiB each with sectors of 512 B`; before they are made `2 loop devices of 2 GiB …`.
fn devices(volume: &LabVolume) -> String {
    let (size, sector) = (format::bytes(volume.device_bytes), format::bytes(volume.sector_bytes));
    let which = match volume.loops.as_slice() {
        [] => format::counted(volume.devices as usize, "loop device", "loop devices"),
        names => names.join(", "),
    };
    format!("{which} of {size}, sectors of {sector}")
}

/// `85 reads/s, 1 MiB/s written`; empty where nothing is throttled.
fn throttle(limits: &DeviceLimits) -> String {
    let count =
        |count: Option<u64>, what: &str| count.map(|count| format!("{} {what}/s", format::grouped(count)));
    let bytes =
        |bytes: Option<u64>, what: &str| bytes.map(|bytes| format!("{}/s {what}", format::bytes(bytes)));
    let all = [
        count(limits.reads_per_s, "reads"),
        count(limits.writes_per_s, "writes"),
        bytes(limits.read_bytes_per_s, "read"),
        bytes(limits.write_bytes_per_s, "written"),
    ];
    all.into_iter().flatten().collect::<Vec<String>>().join(", ")
}

fn proved(LimitProof { of, expected, achieved }: &LimitProof) -> String {
    let unit = of.rsplit_once(" of ").map_or(of.as_str(), |(unit, _)| unit);
    let figure = |value: f64| {
        if unit.starts_with("bytes") { format::bytes(value as u64) } else { format::figure(value) }
    };
    format!("{unit}: {} of at most {}", figure(*achieved), figure(*expected))
}

/// What a volume was found to do, within what its devices do at once.
#[must_use]
pub fn proofs(volume: &LabVolume) -> Vec<String> {
    let by = volume.throttled_by.join(" and ");
    let of = |proof| format!("proved by the disk engine, enforced by {by}: {}", proved(proof));
    volume.proofs.iter().map(of).collect()
}

/// What a plan would make, a line for each volume.
#[must_use]
pub fn lines(lab: &Laboratory) -> Vec<String> {
    let bytes: u64 = lab.volumes.iter().map(|volume| u64::from(volume.devices) * volume.device_bytes).sum();
    let Some(first) = lab.volumes.first() else { return Vec::new() };
    let begin = format!(
        "creates lab volumes of loop devices before the first trial and deletes them after the last, with {} of files in {}",
        format::bytes(bytes),
        first.backing
    );
    let each = lab.volumes.iter().map(|one| format!("  {}", volume(one)));
    std::iter::once(begin).chain(each).chain([format!("  {MEANING}")]).collect()
}

/// The table of its volumes.
pub(crate) fn block(report: &Report) -> Option<Block> {
    let lab = report.lab.as_ref()?;
    let columns = vec![
        text("volume", "mount point", 0),
        text("file system", "with its block size, and the RAID of its devices", 0),
        text("devices", "the kernel's names, with size and sectors", 0),
        text("each at most", "the throttle of each device", 0),
        text("as proved", "rate of the volume, as a share of its devices' rates", 0),
    ];
    let rows = lab.volumes.iter().map(|volume| {
        Row::of(vec![
            volume.mount.clone(),
            formatted(volume),
            devices(volume),
            throttle(&volume.throttle),
            volume.proofs.iter().map(proved).collect::<Vec<String>>().join("; "),
        ])
    });
    let table =
        Table::of("The laboratory", columns, rows)?.without_empty_columns(&["each at most", "as proved"]);
    Some(Block::Folded { summary: table.title.clone(), table })
}

/// What speaks against taking its figures for those of storage.
pub(crate) fn verdict(report: &Report) -> Option<Verdict> {
    report.lab.as_ref()?;
    Some(Verdict::new(Level::Warning, "laboratory", format!("measured on lab volumes. {MEANING}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raid10() -> LabVolume {
        LabVolume {
            name: "array".to_owned(),
            mount: "/run/prony/lab/array".to_owned(),
            kind: "raid10".to_owned(),
            joined_by: Some("btrfs raid10".to_owned()),
            file_system: "btrfs".to_owned(),
            block_bytes: 4096,
            sector_bytes: 512,
            devices: 4,
            device_bytes: 1 << 30,
            backing: "/data".to_owned(),
            throttle: DeviceLimits {
                reads_per_s: Some(85),
                write_bytes_per_s: Some(8 << 20),
                ..DeviceLimits::default()
            },
            ..LabVolume::default()
        }
    }

    #[test]
    fn a_volume_is_told_in_a_line() {
        assert_eq!(
            volume(&raid10()),
            "/run/prony/lab/array: btrfs with blocks of 4 KiB, btrfs raid10 on 4 loop devices of 1 GiB, sectors of 512 B, each at \
             most 85 reads/s, 8 MiB/s written"
        );
        let made = LabVolume {
            loops: vec!["loop0".to_owned()],
            joined_by: None,
            file_system: "ext4".to_owned(),
            throttle: DeviceLimits::default(),
            ..raid10()
        };
        assert_eq!(
            volume(&made),
            "/run/prony/lab/array: ext4 with blocks of 4 KiB on loop0 of 1 GiB, sectors of 512 B"
        );
    }

    #[test]
    fn a_plan_says_what_is_made_and_what_its_figures_are_good_for() {
        let told = lines(&Laboratory { volumes: vec![raid10(), raid10()] });
        assert!(told[0].ends_with("with 8 GiB of files in /data"), "{told:?}");
        assert!(told.len() == 4 && told[3].contains("absolute speed"), "{told:?}");
        assert_eq!(lines(&Laboratory::default()), [""; 0]);
    }
}
