//! Real groups of this machine, and machines of plain files.

use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, Stdio};

use super::*;

const MIB: u64 = 1 << 20;

/// A group on this machine, or what a user is told who may make none.
fn group(name: &str, limits: &Limits) -> Option<Group> {
    match Group::make(&format!("prony-test-{}-{name}", std::process::id()), limits) {
        Ok(group) => Some(group),
        Err(error) => {
            let text = error.to_string();
            assert!(!rustix::process::geteuid().is_root(), "{text}");
            assert!(
                text.contains("Run as root") || text.contains("run as root") || text.contains("missing"),
                "{text}"
            );
            None
        }
    }
}

fn run_in(group: &Group, script: &str) -> Child {
    let (entrance, arguments) = group.entrance();
    let mut command = Command::new(entrance);
    command.args(arguments).args(["/bin/sh", "-c", script]).stdin(Stdio::null()).stdout(Stdio::null());
    command.stderr(Stdio::null()).spawn().unwrap()
}

#[test]
fn processors_are_not_used_beyond_the_limit() {
    let limits = Limits { cpus: Some(0.2), cpu_set: vec![0], ..Limits::default() };
    let Some(group) = group("cpu", &limits) else { return };
    let began = Instant::now();
    let mut busy = run_in(&group, "while :; do :; done");
    let usage = loop {
        let usage = group.usage().unwrap();
        if usage.throttled_periods >= 5 || began.elapsed() > Duration::from_secs(60) {
            break usage;
        }
        std::thread::yield_now();
    };
    let most = 0.2 * (began.elapsed().as_secs_f64() + 0.1);
    assert!(usage.throttled_periods >= 5 && usage.throttled > Duration::ZERO, "{usage:?}");
    assert!(usage.cpu.as_secs_f64() <= most * 1.05, "{usage:?}, at most {most}");
    assert!(group.processes().unwrap().contains(&busy.id()));
    group.remove().unwrap();
    assert_eq!(busy.wait().unwrap().signal(), Some(9), "what ran in it was killed with it");
}

#[test]
fn memory_beyond_the_limit_ends_the_process_and_is_counted() {
    let limits = Limits { memory_bytes: Some(64 * MIB), ..Limits::default() };
    let Some(group) = group("memory", &limits) else { return };
    let mut greedy = run_in(&group, "exec dd if=/dev/zero of=/dev/null bs=300000000 count=1");
    assert_eq!(greedy.wait().unwrap().signal(), Some(9));
    let usage = group.usage().unwrap();
    assert!(usage.oom_kills >= 1 && usage.memory_at_limit >= 1, "{usage:?}");
    assert!(usage.memory_most_bytes.is_none_or(|most| most <= 65 * MIB), "{usage:?}");
}

#[test]
fn reads_beyond_the_limit_wait_and_are_counted() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("data");
    std::fs::write(&file, vec![7; 200 * 4096]).unwrap();
    let device = match Device::under(&file) {
        Ok(device) => device,
        Err(error) => {
            assert!(error.to_string().contains("use a directory on ext4 or xfs"), "{error}");
            return;
        }
    };
    let limit = DeviceLimit { device, read_iops: Some(100), ..DeviceLimit::default() };
    let Some(group) = group("reads", &Limits { devices: vec![limit], ..Limits::default() }) else { return };
    std::fs::File::open(&file).unwrap().sync_all().unwrap();
    let began = Instant::now();
    let read = format!("exec dd if={} of=/dev/null bs=4096 count=200 iflag=direct", file.display());
    assert!(run_in(&group, &read).wait().unwrap().success());
    // The kernel lets a tenth of a second's worth through at once.
    assert!(began.elapsed() >= Duration::from_millis(1_700), "{:?}", began.elapsed());
    let devices = group.usage().unwrap().devices;
    assert!(devices[&device].reads >= 200 && devices[&device].read_bytes >= 200 * 4096, "{devices:?}");
}

/// A machine with the second version, whose files are plain ones.
fn machine(controllers: &str, ours: &str, given: &[(&str, &str)]) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    let write = |path: String, text: &str| {
        let path = root.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write(
        "proc/self/mountinfo".to_owned(),
        "24 1 254:0 / / rw - ext4 /dev/vda rw\n31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n",
    );
    write("proc/self/cgroup".to_owned(), &format!("0::{ours}\n"));
    write("sys/fs/cgroup/cgroup.controllers".to_owned(), controllers);
    write("sys/fs/cgroup/cgroup.subtree_control".to_owned(), controllers);
    for (path, text) in given {
        write(format!("sys/fs/cgroup/{path}"), text);
    }
    root
}

/// The group `us` without its limits: a kernel would put its files there now.
fn made(root: &Path, limits: &Limits) -> Place {
    let place = Place::find(root, "us", &limits.resources()).unwrap();
    place.make().unwrap();
    place
}

const FULL: &str = "cpuset cpu io memory pids";

fn everything() -> Limits {
    let device = Device { major: 254, minor: 0 };
    Limits {
        throttles: false,
        memory_bytes: Some(2048 * MIB),
        cpus: Some(1.5),
        cpu_set: vec![0, 1],
        devices: vec![DeviceLimit {
            device,
            read_iops: Some(781),
            write_bytes_per_s: Some(MIB),
            ..DeviceLimit::default()
        }],
    }
}

#[test]
fn the_second_version_is_set_as_its_manual_says() {
    let given = [("a/cgroup.controllers", FULL), ("a/cgroup.subtree_control", FULL)];
    let root = machine(FULL, "/a", &given);
    let at = root.path().join("sys/fs/cgroup/a/us");
    let place = made(root.path(), &everything());
    for (file, text) in [("cpuset.cpus.effective", "0-1\n"), ("memory.swap.max", "max\n")] {
        std::fs::write(at.join(file), text).unwrap();
    }
    let group = Group::limited(place, &everything()).unwrap();
    let text = |file: &str| std::fs::read_to_string(at.join(file)).unwrap();
    for (file, expected) in [
        ("memory.max", "2147483648"),
        ("memory.swap.max", "0"),
        ("cpu.max", "150000 100000"),
        ("cpuset.cpus", "0,1"),
        ("io.max", "254:0 riops=781 wbps=1048576"),
    ] {
        assert_eq!(text(file), expected, "{file}");
    }
    assert_eq!(group.described(), format!("cgroup v2, {}", at.display()));
    for (file, text) in [
        ("cpu.stat", "usage_usec 5000\nuser_usec 1\nnr_periods 9\nnr_throttled 4\nthrottled_usec 70\n"),
        ("memory.current", "77\n"),
        ("memory.peak", "99\n"),
        ("memory.events", "low 0\nhigh 0\nmax 6\noom 1\noom_kill 2\n"),
        ("io.stat", "254:0 rbytes=4096 wbytes=8192 rios=1 wios=2 dbytes=0 dios=0\n"),
    ] {
        std::fs::write(at.join(file), text).unwrap();
    }
    let device = DeviceUsage { reads: 1, writes: 2, read_bytes: 4096, written_bytes: 8192 };
    let expected = Usage {
        cpu: Duration::from_millis(5),
        throttled: Duration::from_micros(70),
        throttled_periods: 4,
        memory_bytes: 77,
        memory_most_bytes: Some(99),
        memory_at_limit: 6,
        oom_kills: 2,
        counts_devices: true,
        devices: [(Device { major: 254, minor: 0 }, device)].into(),
    };
    assert_eq!(group.usage().unwrap(), expected);
    // A plain directory is not removed as a group is.
    std::mem::forget(group);
}

#[test]
fn a_group_is_made_where_its_controllers_are_given() {
    // Our own group may not have groups with I/O limits; the one above may.
    let given = [
        ("a/cgroup.controllers", FULL),
        ("a/cgroup.subtree_control", "memory io"),
        ("a/b/cgroup.controllers", "memory"),
        ("a/b/cgroup.subtree_control", ""),
    ];
    let root = machine(FULL, "/a/b", &given);
    let devices = everything().devices;
    let group = Group::make_at(root.path(), "us", &Limits { devices, ..Limits::default() }).unwrap();
    assert!(root.path().join("sys/fs/cgroup/a/us/io.max").exists());
    std::mem::forget(group);
}

#[test]
fn what_cannot_be_limited_is_told_with_a_remedy() {
    let delegated = [("a/cgroup.controllers", "memory"), ("a/cgroup.subtree_control", "memory")];
    let root = machine("memory io", "/a", &delegated);
    std::fs::write(root.path().join("sys/fs/cgroup/cgroup.controllers"), "memory io").unwrap();
    let limits = Limits { cpus: Some(1.0), ..Limits::default() };
    let error = Group::make_at(root.path(), "us", &limits).unwrap_err().to_string();
    assert_eq!(error, "CPU time cannot be limited on this machine: the kernel's controller `cpu` is missing");
    let root = machine("", "/", &[]);
    let error = Group::make_at(root.path(), "us", &everything()).unwrap_err().to_string();
    assert_eq!(
        error,
        "memory cannot be limited on this machine: the kernel's controller `memory` is missing"
    );
}

#[test]
fn a_set_of_processors_that_is_not_in_effect_is_an_error() {
    let root = machine(FULL, "/", &[]);
    let limits = Limits { cpu_set: vec![0, 1], ..Limits::default() };
    let place = made(root.path(), &limits);
    std::fs::write(root.path().join("sys/fs/cgroup/us/cpuset.cpus.effective"), "0\n").unwrap();
    let error = v2::set_limits(&place, &limits).unwrap_err().to_string();
    assert!(
        error.ends_with("was set to `0,1`, but contains `0`: the kernel did not accept this limit"),
        "{error}"
    );
}

/// A group of that name in which somebody's processes ran was refused, and then emptied as if it were ours.
#[test]
fn a_group_that_somebody_uses_is_refused_and_nothing_in_it_is_killed() {
    let mut other = Command::new("/bin/cat").stdin(Stdio::piped()).spawn().unwrap();
    let root = machine(FULL, "/", &[("us/cgroup.procs", &format!("{}\n", other.id()))]);
    let limits = Limits { memory_bytes: Some(64 * MIB), ..Limits::default() };
    let error = Group::make_at(root.path(), "us", &limits).unwrap_err().to_string();
    assert!(error.starts_with("cannot make ") && error.contains("exists"), "{error}");
    drop(other.stdin.take());
    assert!(other.wait().unwrap().success(), "it ended by itself");
    assert!(root.path().join("sys/fs/cgroup/us/cgroup.procs").exists());
}

/// Limits of a group that was left stayed in one of the same name that has none of them.
#[test]
fn a_group_that_was_left_is_made_anew() {
    let limits = Limits { cpus: Some(0.5), ..Limits::default() };
    let Some(left) = group("left", &limits) else { return };
    let name = format!("prony-test-{}-left", std::process::id());
    let limits = Limits { memory_bytes: Some(64 * MIB), ..Limits::default() };
    let anew = Group::make(&name, &limits).unwrap();
    let directory = anew.place.directory(Resource::Cpu).unwrap();
    let file = match anew.place.version {
        Version::One => "cpu.cfs_quota_us",
        Version::Two => "cpu.max",
    };
    let quota = std::fs::read_to_string(directory.join(file)).unwrap_or_default();
    assert!(!quota.starts_with("50000"), "{quota}");
    std::mem::forget(left);
}

/// Of a machine with a hierarchy for each controller, all directories are made or none.
#[test]
fn a_group_of_which_a_part_is_refused_is_not_there() {
    let root = machine("", "/", &[("memory/us/cgroup.procs", "1\n"), ("cpu/cgroup.procs", "")]);
    let mounts = ["cpu", "memory"]
        .map(|one| format!("31 23 0:28 / /sys/fs/cgroup/{one} rw - cgroup cgroup rw,{one}\n"));
    std::fs::write(root.path().join("proc/self/mountinfo"), mounts.concat()).unwrap();
    std::fs::write(root.path().join("proc/self/cgroup"), "2:cpu:/\n3:memory:/\n").unwrap();
    let limits = Limits { cpus: Some(1.0), memory_bytes: Some(64 * MIB), ..Limits::default() };
    let error = Group::make_at(root.path(), "us", &limits).unwrap_err().to_string();
    assert!(error.contains("memory/us") && error.contains("exists"), "{error}");
    assert!(!root.path().join("sys/fs/cgroup/cpu/us").exists());
}

/// A server that is to end would wait within its limits for what it still has to write.
#[test]
fn limits_are_lifted_and_imposed_again() {
    let limits = Limits { cpus: Some(0.3), ..Limits::default() };
    let Some(group) = group("lift", &limits) else { return };
    let quota = || match group.place.version {
        place::Version::One => {
            files::read(&group.place.directory(Resource::Cpu).unwrap().join("cpu.cfs_quota_us"))
        }
        place::Version::Two => files::read(&group.place.directory(Resource::Cpu).unwrap().join("cpu.max")),
    };
    let unlimited = |text: String| text.starts_with("-1") || text.starts_with("max");
    assert!(!unlimited(quota().unwrap()));
    group.lift();
    assert!(unlimited(quota().unwrap()));
    group.impose().unwrap();
    assert!(!unlimited(quota().unwrap()));
    group.remove().unwrap();
}

/// A killed server still waited for a throttled disk, and its group was busy.
#[test]
fn a_group_that_is_still_busy_is_waited_for() {
    let place = tempfile::tempdir().unwrap();
    let busy = place.path().join("prony-1-1");
    std::fs::create_dir(&busy).unwrap();
    std::fs::write(busy.join("task"), "").unwrap();
    let directories = [busy.clone(), place.path().join("gone")];
    let error = super::remove_within(&directories, std::time::Duration::ZERO).unwrap_err().to_string();
    assert!(error.starts_with("cannot remove ") && busy.exists(), "{error}");
    let ends = std::thread::spawn(move || std::fs::remove_file(busy.join("task")).unwrap());
    super::remove_within(&directories, std::time::Duration::from_secs(60)).unwrap();
    ends.join().unwrap();
    assert!(!directories[0].exists());
}

/// Pages that were cached before a limit of memory or reads serve reads past it; other limits do not depend on the page cache.
#[test]
fn cached_files_pass_limits_of_memory_and_of_reads() {
    let with = |change: &dyn Fn(&mut DeviceLimit)| {
        let mut device = DeviceLimit::default();
        change(&mut device);
        Limits { devices: vec![device], ..Limits::default() }.are_passed_by_cached_files()
    };
    assert!(Limits { memory_bytes: Some(1), ..Limits::default() }.are_passed_by_cached_files());
    assert!(with(&|device| device.read_iops = Some(1)) && with(&|device| device.read_bytes_per_s = Some(1)));
    assert!(!with(&|device| (device.write_iops, device.write_bytes_per_s) = (Some(1), Some(1))));
    assert!(!Limits { cpus: Some(1.0), throttles: true, ..Limits::default() }.are_passed_by_cached_files());
}
