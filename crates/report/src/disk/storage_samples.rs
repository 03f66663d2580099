//! What a check measures of machines of each kind, for tests: a row a test.

use crate::disk::storage::{Below, Kind, Storage, Test};

/// Name, kind, share of reads, KiB of a block, outstanding I/Os.
type Row = (&'static str, Kind, f64, u64, u64);

/// The tests that these samples have figures of.
const ROWS: [Row; 7] = [
    ("page read 8KiB Q1", Kind::Page, 100.0, 8, 1),
    ("page read 8KiB Q32", Kind::Pages, 100.0, 8, 32),
    ("4KiB read Q32", Kind::Pages, 100.0, 4, 32),
    ("scan 512KiB Q8", Kind::Scan, 100.0, 512, 8),
    ("log write 8KiB Q1", Kind::Commit, 0.0, 8, 1),
    ("page 70/30 8KiB Q32", Kind::Other, 70.0, 8, 32),
    ("page write 8KiB Q32", Kind::Writes, 0.0, 8, 32),
];

/// By the I/Os a second of each row; latencies follow (Little's law), with a tail of this share of the median.
fn sample(rates: [f64; 7], tail: f64, below: Below) -> Storage {
    let test = |((name, kind, read_per_cent, block_kib, outstanding), per_s): (Row, f64)| {
        let (block_bytes, mean_us) = (block_kib * 1024, outstanding as f64 / per_s * 1e6);
        Test {
            name: name.to_owned(),
            kind,
            durable_by: (kind == Kind::Commit).then_some("O_DSYNC"),
            read_per_cent,
            block_bytes,
            outstanding,
            per_s,
            mb_per_s: per_s * block_bytes as f64 / 1e6,
            mean_us: mean_us.round(),
            p50_us: Some(mean_us),
            p99_us: Some(mean_us * tail),
            busiest_share: Some(0.3),
            rates_per_s: vec![per_s; 8],
        }
    };
    Storage::of_tests(ROWS.into_iter().zip(rates).map(test).collect(), below)
}

fn turning() -> Below {
    Below { turns: true, stands_for: None }
}

/// A commit waits for a turn, a page for the arm as well.
pub(super) fn spinning_disk() -> Storage {
    sample([76.0, 131.0, 133.0, 290.0, 119.0, 110.0, 88.0], 3.0, turning())
}

/// Pages turn, commits do not.
pub(super) fn raid_with_cache() -> Storage {
    sample([105.0, 520.0, 530.0, 700.0, 8_333.0, 480.0, 440.0], 3.0, turning())
}

/// Without protection against a loss of power: a commit waits for the cells.
pub(super) fn sata_ssd() -> Storage {
    sample([7_500.0, 62_000.0, 90_000.0, 1_010.0, 1_250.0, 41_000.0, 34_000.0], 2.5, Below::default())
}

pub(super) fn nvme() -> Storage {
    sample([11_800.0, 330_000.0, 390_000.0, 6_200.0, 41_000.0, 250_000.0, 180_000.0], 2.0, Below::default())
}

/// 3,000 I/Os a second and 128 MB/s are what was paid for.
pub(super) fn cloud_volume() -> Storage {
    sample([1_650.0, 3_002.0, 3_001.0, 244.0, 900.0, 3_000.0, 3_001.0], 1.05, Below::default())
}

pub(super) fn loop_on_tmpfs() -> Storage {
    let below = Below {
        turns: false,
        stands_for: Some("loop0 is a loop device: the storage of its file answers".to_owned()),
    };
    sample([32_000.0, 150_000.0, 160_000.0, 6_000.0, 30_000.0, 120_000.0, 110_000.0], 2.0, below)
}

/// A virtual disk whose host keeps its file in memory.
pub(super) fn memory_of_a_host() -> Storage {
    let mut storage = sample(
        [52_600.0, 145_500.0, 150_200.0, 14_990.0, 51_520.0, 130_000.0, 118_000.0],
        2.0,
        Below::default(),
    );
    storage.commit.as_mut().unwrap().mean_us = 19.4;
    storage
}
