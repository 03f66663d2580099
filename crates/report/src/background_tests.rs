//! Figures of devices: quiet ones under each kind of load, which raise nothing, and devices that others use.

use super::*;

const MB: f64 = 1e6;

/// Requests per second, megabytes per second and the time of one in microseconds.
type Way = [f64; 3];

fn device(name: &str, read: Way, written: Way, flushes_per_s: Option<f64>) -> Part<DeviceLoad> {
    let busy = |[per_s, _, us]: Way| per_s * us / 1e6;
    let mean = DeviceLoad {
        reads_per_s: read[0],
        read_bytes_per_s: read[1] * MB,
        read_latency_us: (read[0] > 0.0).then_some(read[2]),
        writes_per_s: written[0],
        write_bytes_per_s: written[1] * MB,
        write_latency_us: (written[0] > 0.0).then_some(written[2]),
        queue_depth: busy(read) + busy(written),
        flushes_per_s,
        ..DeviceLoad::default()
    };
    Part { name: name.to_owned(), mean }
}

fn ours(read_mb: f64, written_mb: f64, requests_per_s: Option<[f64; 2]>) -> Ours {
    Ours { bytes_per_s: [read_mb * MB, written_mb * MB], requests_per_s }
}

const NONE: Way = [0.0; 3];

#[track_caller]
fn quiet(case: &str, device: Part<DeviceLoad>, ours: Ours, late_mb: f64) {
    let found = BackgroundIo::beyond(&[device], &ours, late_mb * MB);
    assert!(!found.is_much() && found.share <= 0.03, "{case}: {found:?}");
}

/// Writes per second, megabytes per second and flushes of a device; megabytes per second of the server. Each was measured on a device
/// that nothing else used.
#[test]
fn a_quiet_device_raises_nothing_under_any_server() {
    for (case, [per_s, mb, flushes], own_mb, late_mb) in [
        ("SQLite, a journal's transaction for each row", [6_502.0, 72.71, 4_332.0], 28.23, 0.0),
        ("SQLite, rows in a log that is used again", [7_400.0, 50.02, 3_825.0], 46.97, 0.0),
        ("SQLite, tables of all kinds", [6_166.0, 67.35, 4_000.0], 16.86, 0.0),
        ("MariaDB commits each row", [7_167.0, 6.35, 3_703.0], 3.29, 0.0),
        ("MariaDB makes its files", [744.0, 7.63, 446.0], 4.69, 0.0),
        ("PostgreSQL commits each row", [4_331.0, 18.17, 2_165.0], 27.26, 0.0),
        ("what was loaded before is written now, by the kernel", [900.0, 57.0, 5.0], 0.5, 56.0),
        ("a device whose cache is off is sent no flush", [6_502.0, 72.7, 0.0], 28.2, 0.0),
    ] {
        let device = device("loop0", NONE, [per_s, mb, 500.0], Some(flushes));
        quiet(case, device, ours(0.0, own_mb, None), late_mb);
    }
}

#[test]
fn a_quiet_device_raises_nothing_under_any_disk_test() {
    let read = |read, flushes| device("vda", read, NONE, flushes);
    quiet(
        "scans in I/Os that the kernel splits",
        read([9_000.0, 3_000.0, 900.0], Some(0.0)),
        ours(2_998.0, 0.0, None),
        0.0,
    );
    quiet(
        "writes next to each other, which the kernel merges",
        device("vda", NONE, [500.0, 200.0, 300.0], Some(0.0)),
        ours(0.0, 200.0, None),
        0.0,
    );
    quiet(
        "a flush after each fourth write, which the kernel counts as one more write",
        device("loop0", NONE, [13_800.0, 90.44, 220.0], Some(2_760.0)),
        ours(0.0, 90.44, Some([0.0, 11_040.0])),
        0.0,
    );
    quiet(
        "reads at random, with our results and their journal",
        device("vda", [20_000.0, 81.92, 300.0], [9.0, 0.06, 500.0], Some(2.0)),
        ours(81.92, 0.02, Some([20_010.0, 0.0])),
        0.0,
    );
    quiet(
        "readings that begin a little apart",
        read([1_000.0, 8.19, 900.0], None),
        ours(8.0, 0.0, Some([980.0, 0.0])),
        0.0,
    );
}

/// One I/O at a time came to 289 a second, since another program read 64 KiB, 32 at a time.
#[test]
fn another_program_that_reads_is_seen_with_its_requests_bytes_and_depth() {
    let device = device("vda", [4_972.0, 295.4, 5_890.0], NONE, Some(0.0));
    let found = BackgroundIo::beyond(&[device], &ours(2.37, 0.0, Some([289.0, 0.0])), 0.0);
    assert!(found.is_much());
    assert_eq!(found.devices, ["vda"]);
    assert_eq!((found.reads_per_s, found.writes_per_s), (4_683.0, 0.0));
    assert!((found.read_bytes_per_s / MB - 293.03).abs() < 0.01, "{found:?}");
    assert!(
        (found.queue_depth - 27.6).abs() < 0.1 && (found.queue_depth_all - 29.3).abs() < 0.1,
        "{found:?}"
    );
    assert!(found.share > 0.99, "{found:?}");
}

#[test]
fn three_alike_see_the_two_others() {
    let device = device("vda", [15_000.0, 122.88, 2_000.0], NONE, None);
    let found = BackgroundIo::beyond(&[device], &ours(40.96, 0.0, Some([5_000.0, 0.0])), 0.0);
    assert!(found.is_much() && (found.share - 2.0 / 3.0).abs() < 1e-9, "{found:?}");
    assert_eq!((found.reads_per_s, found.queue_depth.round()), (10_000.0, 20.0));
}

#[test]
fn what_writes_beside_a_server_is_seen_beyond_journal_and_late_writes() {
    let device = device("vda", NONE, [1_800.0, 118.0, 9_000.0], Some(420.0));
    let found = BackgroundIo::beyond(&[device], &ours(0.0, 2.0, None), 1.0 * MB);
    assert!(found.is_much() && found.share > 0.9, "{found:?}");
    assert!(found.write_bytes_per_s <= 116.0 * MB && found.reads_per_s == 0.0, "{found:?}");
}

/// Two hundred small reads beside scans are no more than a fiftieth of the bytes, and a disk's whole work.
#[test]
fn small_requests_beside_large_ones_count_by_their_number() {
    let device = device("sda", [300.0, 7.4, 4_000.0], NONE, None);
    let found = BackgroundIo::beyond(&[device], &ours(6.55, 0.0, Some([100.0, 0.0])), 0.0);
    assert!(found.is_much() && (found.share - 2.0 / 3.0).abs() < 1e-9, "{found:?}");
}

#[test]
fn others_that_have_next_to_nothing_in_flight_raise_nothing() {
    let fast = |per_s: f64| device("nvme0n1", [1_000.0 + per_s, 4.1 + per_s * 4096.0 / MB, 20.0], NONE, None);
    let found = |per_s: f64| BackgroundIo::beyond(&[fast(per_s)], &ours(4.1, 0.0, Some([1_000.0, 0.0])), 0.0);
    assert!(!found(4_000.0).is_much(), "0.08 in flight: {:?}", found(4_000.0));
    assert!(found(6_000.0).is_much(), "0.12 in flight: {:?}", found(6_000.0));
}

#[test]
fn of_several_devices_the_one_that_others_use_is_named() {
    let data = |written| device("vda", NONE, written, Some(0.0));
    let log = || device("vdb", NONE, [1_000.0, 8.0, 200.0], Some(10.0));
    let found = |written: Way| BackgroundIo::beyond(&[data(written), log()], &ours(0.0, 10.0, None), 0.0);
    assert_eq!(found([3_000.0, 300.0, 5_000.0]).devices, ["vda"]);
    // Whose device it is cannot be told where either may have had all of ours.
    let both = found([500.0, 9.0, 800.0]);
    assert_eq!(both.devices, ["vda", "vdb"]);
    assert_eq!(both.device(), "vda, vdb");
}
