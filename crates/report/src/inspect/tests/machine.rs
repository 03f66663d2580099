//! Mistakes of machines and volumes.

use super::*;

const HOST: &[Planted] = &[
    ("transparent-huge-pages", |e| tuned(e).transparent_huge_pages = Reading::Known("always".to_owned())),
    ("swappiness", |e| tuned(e).swappiness = Reading::Known(60)),
    ("governor", |e| e.cpu.governor = Reading::Known("powersave".to_owned())),
    ("clock-source", |e| tuned(e).clock_source = Reading::Known("hpet".to_owned())),
    ("zone-reclaim", |e| tuned(e).zone_reclaim = Reading::Known(1)),
    ("numa-balancing", |e| tuned(e).numa_balancing = Reading::Known(1)),
    ("steal", |e| tuned(e).steal_share = Reading::Known(0.04)),
    ("virtual", |e| e.cpu.hypervisor = Some("KVM".to_owned())),
    ("overcommit", |e| {
        let server = with_server("postgres", "PostgreSQL 17.1", &[]).inspected;
        e.inspected = server;
        tuned(e).overcommit = Reading::Known(0);
    }),
];

fn options(environment: &mut Environment, options: &str) {
    mount(environment).options = options.to_owned();
}

fn file_system(environment: &mut Environment, name: &str) {
    mount(environment).file_system = name.to_owned();
}

fn joined(environment: &mut Environment, level: &str) {
    layout(environment).joined = Some(level.to_owned());
    layout(environment).members = vec!["sda".to_owned(), "sdb".to_owned()];
}

const VOLUMES: &[Planted] = &[
    ("in-memory", |e| file_system(e, "tmpfs")),
    ("nfs-soft", |e| {
        file_system(e, "nfs4");
        options(e, "rw,relatime,soft");
    }),
    ("barrier", |e| {
        options(e, "rw,noatime,nobarrier");
        device(e).write_cache = Reading::Unknown("it does not tell".to_owned());
    }),
    ("space-nearly-gone", |e| mount(e).free_bytes = 10 * GIB),
    ("space-short", |e| mount(e).free_bytes = 100 * GIB),
    ("block-size", |e| mount(e).block_bytes = 1024),
    ("access-time", |e| options(e, "rw")),
    ("discard", |e| options(e, "rw,noatime,discard")),
    ("overlay", |e| file_system(e, "overlay")),
    ("copy-on-write", |e| file_system(e, "btrfs")),
    ("no-redundancy", |e| joined(e, "raid0")),
    ("no-redundancy", |e| joined(e, "btrfs single")),
    ("degraded", |e| {
        joined(e, "raid10");
        layout(e).raid_degraded = Some(1);
    }),
    ("rebuilding", |e| {
        joined(e, "raid1");
        layout(e).raid_sync = Some("resync".to_owned());
    }),
    ("parity", |e| joined(e, "raid5")),
    ("alignment", |e| layout(e).partition_start_bytes = Some(63 * 512)),
    ("alignment", |e| layout(e).alignment_offset_bytes = Some(3584)),
    ("scheduler", |e| device(e).scheduler = Reading::Known("bfq".to_owned())),
    ("scheduler", |e| device(e).rotational = Reading::Known(true)),
    ("read-ahead", |e| layout(e).read_ahead_bytes = Some(0)),
    ("read-ahead", |e| layout(e).read_ahead_bytes = Some(64 << 20)),
    ("volatile-cache", |e| device(e).write_cache = Reading::Known("write back".to_owned())),
];

#[test]
fn mistakes_of_a_machine_are_found_each_alone() {
    check(&well_kept(), &[host::RULES], HOST);
}

#[test]
fn mistakes_of_volumes_are_found_each_alone() {
    check(&well_kept(), &[volume::FILE_SYSTEM, volume::DEVICE], VOLUMES);
}

#[test]
fn remedies_name_what_is_to_be_changed() {
    let remedy = |plant: &dyn Fn(&mut Environment)| {
        let mut environment = well_kept();
        plant(&mut environment);
        Inspection::of(&environment).unwrap().advice.remove(0).remedy
    };
    let options = remedy(&|e| options(e, "rw"));
    assert!(options.starts_with("mount -o remount,noatime /data."), "{options}");
    let scheduler = remedy(&|e| {
        joined(e, "raid10");
        device(e).scheduler = Reading::Known("bfq".to_owned());
    });
    assert_eq!(
        scheduler,
        "echo none > /sys/block/sda/queue/scheduler; echo none > /sys/block/sdb/queue/scheduler"
    );
    let clock = |there: &str| {
        let there = there.to_owned();
        remedy(&move |e| {
            tuned(e).clock_source = Reading::Known("acpi_pm".to_owned());
            tuned(e).clock_sources = Reading::Known(there.clone());
        })
    };
    assert!(clock("acpi_pm kvm-clock").starts_with("echo kvm-clock > /sys/devices/"));
    assert!(clock("acpi_pm").starts_with("configure firmware and hypervisor"));
}

/// Nothing is guessed: what could not be read is no mistake.
#[test]
fn what_is_not_known_is_no_mistake() {
    let unknown = || Reading::Unknown("it is not told".to_owned());
    let mut environment = well_kept();
    environment.cpu.governor = unknown();
    environment.volumes.values_mut().for_each(|volume| {
        *volume = Storage {
            mount: Reading::Unknown("it is not told".to_owned()),
            device: Reading::Unknown("it is not told".to_owned()),
            layout: None,
        };
    });
    let tuning = tuned(&mut environment);
    tuning.transparent_huge_pages = unknown();
    tuning.clock_source = unknown();
    tuning.swappiness = Reading::Unknown("it is not told".to_owned());
    tuning.steal_share = Reading::Unknown("it is not told".to_owned());
    assert_eq!(names(&environment), [""; 0]);
}
