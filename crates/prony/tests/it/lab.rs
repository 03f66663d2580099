//! Laboratories of loop devices: made, throttled, used by a study and gone at the end, also after a kill at any moment.

use std::fs;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::Signal;
use serde_json::Value;

use crate::mounts::is_root;
use crate::running::Running;
use crate::workbench::{Outcome, PRONY, Workbench, finish, json_file};

/// As small as test files and what stays free besides them let it be.
const SIZE: &str = "1200MiB";

/// A bench whose laboratories are its own, with names that no other has.
pub(crate) struct Labs {
    pub(crate) bench: Workbench,
}

impl Labs {
    /// None where a laboratory cannot be had.
    pub(crate) fn new(of: &str) -> Option<Self> {
        let labs = Self { bench: Workbench::new() };
        let outcome =
            labs.run(&["lab", "create", &labs.name("look"), "--size", "320MiB", "--directory", "."]);
        if outcome.code == Some(0) {
            labs.run(&["lab", "remove", &labs.name("look")]).ended_with(0);
            return Some(labs);
        }
        eprintln!("not run: {of}, for which a laboratory is needed: {}", outcome.stderr.trim());
        None
    }

    pub(crate) fn name(&self, name: &str) -> String {
        let bench = self.bench.path("");
        let own =
            bench.file_name().unwrap().to_string_lossy().replace(|sign: char| !sign.is_alphanumeric(), "");
        format!("test-{own}-{name}")
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.bench.command(PRONY);
        command.args(arguments).env("XDG_STATE_HOME", self.bench.path("state"));
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Outcome {
        finish(self.command(arguments))
    }

    fn known(&self) -> Vec<Value> {
        self.run(&["lab", "list", "--json"]).ended_with(0).json()["labs"].as_array().unwrap().clone()
    }

    /// What is stored of a laboratory, if it is.
    pub(crate) fn stored(&self, name: &str) -> Option<Value> {
        let file = self.bench.path(format!("state/prony/labs/{name}.json"));
        serde_json::from_slice(&fs::read(file).ok()?).ok()
    }

    /// Asserts that nothing of any laboratory of this bench is there.
    #[track_caller]
    pub(crate) fn is_clean(&self) {
        assert_eq!(self.known(), [] as [Value; 0]);
        let own = self.bench.path("").display().to_string();
        let backing: Vec<String> = fs::read_dir("/sys/block")
            .unwrap()
            .filter_map(|entry| fs::read_to_string(entry.unwrap().path().join("loop/backing_file")).ok())
            .filter(|file| file.starts_with(&own))
            .collect();
        assert_eq!(backing, [""; 0]);
        let left: Vec<String> =
            self.bench.names(".").into_iter().filter(|name| name.starts_with("prony-lab-")).collect();
        assert_eq!(left, [""; 0]);
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
        assert!(!mounts.contains(&self.name("")), "{mounts}");
    }
}

impl Drop for Labs {
    fn drop(&mut self) {
        // After a test that failed; each name is ours.
        let list = self.run(&["lab", "list", "--json"]);
        let known = serde_json::from_str::<Value>(&list.stdout).unwrap_or_default();
        for lab in known["labs"].as_array().into_iter().flatten() {
            self.run(&["lab", "remove", lab["name"].as_str().unwrap_or_default()]);
        }
    }
}

/// What a proof that was told says was reached.
fn proved(told: &str, rate: &str) -> f64 {
    let of = format!("enforced by /sys/fs/cgroup/blkio: {rate}: ");
    let line =
        told.lines().find_map(|line| line.split_once(&of)).unwrap_or_else(|| panic!("no {rate} in {told}"));
    line.1.split(' ').next().unwrap().parse().unwrap()
}

/// Whether devices can be throttled for everybody here.
fn throttles() -> bool {
    PathBuf::from("/sys/fs/cgroup/blkio/blkio.throttle.read_iops_device").exists()
}

#[test]
fn what_cannot_be_is_refused_with_a_remedy_and_nothing_is_made() {
    let bench = Workbench::new();
    let state = bench.path("state").display().to_string();
    let refused = |words: &str, says: &str| {
        let arguments: Vec<&str> = ["lab", "create"].into_iter().chain(words.split(' ')).collect();
        let outcome = bench.run_with(&[("XDG_STATE_HOME", &state)], &arguments).ended_with(2);
        if is_root() {
            outcome.says(says);
        } else {
            outcome.says("a lab needs root").says("or use directories on existing volumes");
        }
    };
    refused("a --devices 2", "single needs one device, but --devices is 2");
    refused("a --kind raid10 --devices 5 --file-system btrfs", "an even number from 4 to 32 devices");
    refused("a --file-system btrfs --block-size 64KiB", "btrfs with blocks of 65536 bytes");
    refused("a --sector-size 520", "--sector-size must be 512 or 4096");
    refused("a --size 100MiB", "from 320MiB to 16TiB");
    refused("a --size 10TiB", "stay free: use fewer or smaller devices, or another directory");
    refused("a --mount-point /tmp", "/tmp exists already: give another mount point");
    assert!(bench.names(".").iter().all(|name| name == "state"), "{:?}", bench.names("."));
    let none = bench.run_with(&[("XDG_STATE_HOME", &state)], &["lab", "remove", "a"]).ended_with(2);
    none.says("no lab named a (there are none)");
    if is_root() {
        bench.run(&["lab", "create", "a/b"]).ended_with(2).says("cannot be the name of a laboratory");
    }
}

#[test]
fn a_laboratory_is_made_of_real_space_throttled_in_use_and_removed() {
    let Some(labs) = Labs::new("a laboratory by hand") else { return };
    let name = labs.name("one");
    let mut arguments = vec!["lab", "create", &name, "--size", SIZE, "--sector-size", "4096"];
    if throttles() {
        arguments.extend(["--read-iops", "100", "--write-iops", "60"]);
    } else {
        eprintln!("not run: throttles of a laboratory, for which blkio of the first version is needed");
    }
    let made = labs.run(&arguments).ended_with(0).says("absolute speed");
    let mount = PathBuf::from(made.stdout.trim());
    if throttles() {
        // What passes by more than 2 % was refused; how much less is had, a busy machine decides.
        for (rate, limit) in [("reads/s", 100.0), ("writes/s", 60.0)] {
            let reached = proved(&made.stderr, rate);
            assert!((limit / 4.0..=limit * 1.02).contains(&reached), "{rate}: {reached} of {limit}");
        }
    }
    labs.run(&arguments).ended_with(2).says("there is a laboratory called");
    let known = labs.known();
    assert_eq!((known.len(), known[0]["standing"].as_str()), (1, Some("stays")));
    assert_eq!(known[0]["volume"]["sector_bytes"], 4096);
    let stored = labs.stored(&name).unwrap();
    let file = PathBuf::from(stored["backing"]["path"].as_str().unwrap()).join("0");
    let file = fs::metadata(file).unwrap();
    assert!(
        file.blocks() * 512 >= file.len() && file.len() == 1200 << 20,
        "all of it is taken: {}",
        file.blocks()
    );
    let held = fs::File::create(mount.join("held")).unwrap();
    labs.run(&["lab", "remove", &name]).ended_with(1).says("is in use").says("fuser -vm");
    if throttles() {
        let limits = fs::read_to_string("/sys/fs/cgroup/blkio/blkio.throttle.write_iops_device").unwrap();
        let number = known[0]["volume"]["loops"][0].as_str().unwrap().trim_start_matches("loop").to_owned();
        assert!(
            limits.lines().any(|line| line == format!("7:{number} 60")),
            "it is throttled as before: {limits}"
        );
    }
    drop(held);
    labs.run(&["lab", "remove", &name]).ended_with(0);
    assert!(!mount.exists());
    labs.is_clean();
}

#[test]
fn devices_are_joined_by_btrfs_and_large_blocks_are_xfs() {
    let Some(labs) = Labs::new("laboratories of several devices") else { return };
    for (name, words, expected) in [
        ("ten", "--kind raid10 --file-system btrfs --size 320MiB", "btrfs raid10 on loop"),
        ("two", "--kind stripe --file-system btrfs --size 320MiB", "btrfs raid0 on loop"),
        ("xfs", "--file-system xfs --size 320MiB", "xfs with blocks of 4 KiB on loop"),
    ] {
        let name = labs.name(name);
        let arguments: Vec<&str> = ["lab", "create", &name].into_iter().chain(words.split(' ')).collect();
        let outcome = labs.run(&arguments);
        if outcome.stderr.contains("unknown filesystem type") {
            eprintln!("not run: {words}, of which this kernel knows nothing");
            continue;
        }
        let mount = PathBuf::from(outcome.ended_with(0).says(expected).stdout.trim());
        fs::write(mount.join("file"), "content").unwrap();
        labs.run(&["lab", "remove", &name]).ended_with(0);
    }
    labs.is_clean();
}

#[test]
fn file_systems_keep_what_they_acknowledge() {
    let Some(labs) = Labs::new("file systems that are verified") else { return };
    for file_system in ["ext4", "xfs", "btrfs"] {
        let name = labs.name(file_system);
        let outcome = labs.run(&["lab", "create", &name, "--size", SIZE, "--file-system", file_system]);
        if outcome.stderr.contains("unknown filesystem type") {
            eprintln!("not run: {file_system}, of which this kernel knows nothing");
            continue;
        }
        let mount = outcome.ended_with(0).stdout.trim().to_owned();
        for rest in [["--cache", "direct"], ["--cache", "buffered"], ["--write-through", "true"]] {
            let verify = ["verify", &mount, "--profile", "quick", "--file-size", "16MiB", "--duration", "1s"];
            let document = labs.run(&[&verify[..], &rest, &["--json"]].concat()).ended_with(0).json();
            let verified = &document["trials"][0]["verified"];
            let (checked, damage) = (&verified["checked"], verified["damage"].as_object().unwrap());
            assert!(
                damage.is_empty() && *checked == verified["pages"],
                "{file_system} {rest:?}: {verified:#}"
            );
        }
        labs.run(&["lab", "remove", &name]).ended_with(0);
    }
    labs.is_clean();
}

/// Where a page of a verified file begins in a file that has it somewhere: at its magic, with its number behind.
fn place_of_page(file: &Path, number: u64) -> u64 {
    let (file, mut piece) = (fs::File::open(file).unwrap(), vec![0; 1 << 20]);
    let is_it = |sector: &[u8]| sector.starts_with(b"pronypg\0") && sector[40..48] == number.to_le_bytes();
    (0..file.metadata().unwrap().len())
        .step_by(piece.len())
        .find_map(|at| {
            let read = file.read_at(&mut piece, at).unwrap();
            let within = piece[..read].chunks_exact(512).position(is_it)?;
            Some(at + within as u64 * 512)
        })
        .expect("the page is on the medium")
}

#[test]
fn what_dd_writes_below_a_file_system_is_found() {
    let Some(labs) = Labs::new("damage below a file system") else { return };
    let name = labs.name("damaged");
    let made = labs.run(&["lab", "create", &name, "--size", SIZE]).ended_with(0);
    let file = PathBuf::from(made.stdout.trim()).join("verified");
    let backing = labs.stored(&name).unwrap()["backing"]["path"].as_str().unwrap().to_owned();
    let backing = PathBuf::from(backing).join("0");
    let verify = ["verify", file.to_str().unwrap(), "--create", "--file-size", "4MiB", "--read-share", "100"];
    let command = labs.command(&[&verify[..], &["--duration", "3s", "--json"]].concat());
    let mut run = Running::start_command(&labs.bench, command);
    run.wait_for_samples(&labs.bench);
    let seek = format!("seek={}", place_of_page(&backing, 77) + 5_000);
    let output = format!("of={}", backing.display());
    let written = Command::new("dd")
        .args(["if=/dev/zero", &output, &seek, "bs=1", "count=64", "conv=notrunc,fsync"])
        .output()
        .unwrap();
    assert!(written.status.success(), "{written:?}");
    let document = run.ended().ended_with(1).json();
    let findings = document["trials"][0]["verified"]["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 1, "{findings:#?}");
    assert_eq!(
        (&findings[0]["damage"], &findings[0]["page"]),
        (&"corrupt".into(), &77.into()),
        "{findings:#?}"
    );
    labs.run(&["lab", "remove", &name]).ended_with(0);
    labs.is_clean();
}

#[test]
fn a_throttled_device_stalls_and_that_is_told() {
    let Some(labs) = Labs::new("stalls of a throttled device") else { return };
    if !throttles() {
        eprintln!("not run: stalls of a throttled device, for which blkio of the first version is needed");
        return;
    }
    let name = labs.name("slow");
    let made = labs.run(&["lab", "create", &name, "--size", SIZE, "--write-iops", "60"]).ended_with(0);
    let mount = made.stdout.trim().to_owned();
    // At 60 writes a second most take more than 16 ms.
    let verify =
        ["verify", &mount, "--file-size", "4MiB", "--duration", "2s", "--read-share", "0", "--stall", "5ms"];
    let document = labs.run(&[&verify[..], &["--json"]].concat()).ended_with(1).json();
    let verified = &document["trials"][0]["verified"];
    assert!(verified["stalls"].as_u64().unwrap() > 20, "{verified:#}");
    assert_eq!(verified["stalls"], verified["damage"]["stalled"], "and nothing else is wrong");
    assert_eq!(verified["damage"].as_object().unwrap().len(), 1, "{verified:#}");
    let detail = verified["findings"][0]["detail"].as_str().unwrap();
    assert!(detail.contains("completed after"), "{detail}");
    labs.run(&["lab", "remove", &name]).ended_with(0);
    labs.is_clean();
}

#[test]
fn a_kill_while_it_is_made_leaves_nothing_unknown() {
    let Some(labs) = Labs::new("kills while a laboratory is made") else { return };
    let name = labs.name("killed");
    let mut arguments = vec!["lab", "create", &name, "--size", SIZE];
    if throttles() {
        arguments.extend(["--write-iops", "60"]);
    }
    type Moment = (&'static str, fn(&Value) -> bool);
    let moments: [Moment; 5] = [
        ("its file", |_| true),
        ("its directory", |stored| !stored["backing"]["is"].is_null()),
        ("its backing files", |stored| stored["files"].as_array().is_some_and(|files| !files.is_empty())),
        ("its loop devices", |stored| stored["loops"].as_array().is_some_and(|loops| !loops.is_empty())),
        ("its mount point", |stored| !stored["mount_point"]["is"].is_null()),
    ];
    for (what, is_reached) in moments {
        let mut running = Running::start_command(&labs.bench, labs.command(&arguments));
        running.wait_until(what, || labs.stored(&name).is_some_and(|stored| is_reached(&stored)));
        running.send(Signal::KILL);
        running.ended();
        let known = labs.known();
        assert_eq!((known.len(), known[0]["standing"].as_str()), (1, Some("left")), "{what}");
        labs.run(&arguments).ended_with(2).says("there is a laboratory called");
        labs.run(&["lab", "remove", &name]).ended_with(0);
        labs.is_clean();
    }
}

/// A study of a disk whose place is a laboratory; it is slow enough to be killed.
fn study(labs: &Labs, duration: &str) {
    let throttle = if throttles() { ", read_iops = 200" } else { "" };
    let file = format!(
        "title = \"Lab\"\nblocks = 2\norder = \"given\"\n[places.slow]\nwhat = \"a slow disk\"\n\
         lab = {{ size = \"{SIZE}\"{throttle} }}\n[target]\npaths = [\"$slow\"]\n[workload.disk]\nfile_size = \"16MiB\"\n\
         block_size = \"4KiB\"\nwarm_up = \"0s\"\nduration = \"{duration}\"\n[[axis]]\nkey = \"workload.disk.outstanding\"\n\
         levels = [1, 8]\nreference = 1\n"
    );
    labs.bench.write("lab.toml", file);
}

#[test]
fn a_study_runs_in_a_laboratory_that_is_gone_at_its_end_and_told() {
    let Some(labs) = Labs::new("a study in a laboratory") else { return };
    study(&labs, "500ms");
    let run = labs.run(&["study", "run", "lab.toml"]).ended_with(2);
    run.says(
        "Give a slow disk with --location slow=PATH_OR_URL, or let prony create it from loop devices with --location lab",
    );
    let plan = labs.run(&["study", "plan", "lab.toml", "--location", "lab"]).ended_with(0).stdout;
    assert!(
        plan.contains(
            "creates lab volumes of loop devices before the first trial and deletes them after the last"
        ),
        "{plan}"
    );
    labs.is_clean();
    let outcome = labs.run(&["study", "run", "lab.toml", "--location", "lab"]);
    assert!(matches!(outcome.code, Some(0 | 5)), "{}", outcome.stderr);
    assert!(outcome.stdout.contains("measured on lab volumes. "), "{}", outcome.stdout);
    labs.is_clean();
    let results = labs.bench.results().unwrap();
    let lab = &json_file(results.join("manifest.json"))["lab"]["volumes"][0];
    assert!(lab["mount"].as_str().unwrap().starts_with("/run/prony/lab/study-"), "{lab}");
    if throttles() {
        let achieved = lab["proofs"][0]["achieved"].as_f64().unwrap();
        assert!((50.0..=204.0).contains(&achieved), "{lab}");
        let report = labs.bench.report_json(&results);
        for trial in report["trials"].as_array().unwrap() {
            // What was not used before it begins comes at once.
            let rate = trial["figures"][0]["per_s"].as_f64().unwrap();
            assert!(rate <= 400.0, "what is measured is throttled to 200 a second: {rate}");
        }
    }
    let page = fs::read_to_string(results.join("report.html")).unwrap();
    assert!(page.contains("The laboratory"), "the page has its table");
    let none = "title = \"x\"\nblocks = 1\n[target]\npaths = [\".\"]\n[workload.disk]\nduration = \"1s\"\n";
    labs.bench.write("none.toml", none);
    labs.run(&["study", "plan", "none.toml", "--location", "lab"])
        .ended_with(2)
        .says("no location of this study describes a lab volume");
}

#[test]
fn a_study_that_was_killed_in_a_laboratory_goes_on_in_a_new_one() {
    let Some(labs) = Labs::new("a kill of a study in a laboratory") else { return };
    study(&labs, "2s");
    let arguments = ["study", "run", "lab.toml", "--location", "lab"];
    let mut running = Running::start_command(&labs.bench, labs.command(&arguments));
    let is_measured = || {
        let trials = labs.bench.results().map(|results| results.join("trials/0001/trial.json"));
        trials.is_some_and(|trial| trial.exists())
    };
    running.wait_until("the first trial", is_measured);
    running.send(Signal::KILL);
    running.ended();
    let known = labs.known();
    assert_eq!((known.len(), known[0]["standing"].as_str()), (1, Some("left")));
    let results = labs.bench.results().unwrap();
    let outcome = labs.run(&["study", "resume", results.to_str().unwrap()]);
    assert!(matches!(outcome.code, Some(0 | 5)), "{}", outcome.stderr);
    assert_eq!(json_file(results.join("manifest.json"))["state"], "complete");
    labs.is_clean();
}

#[test]
fn two_at_once_have_laboratories_of_their_own() {
    let Some(labs) = Labs::new("two studies in laboratories at once") else { return };
    study(&labs, "500ms");
    let results = ["one", "two"].map(|name| labs.bench.path(name).display().to_string());
    let run = |results: &str| {
        labs.command(&["study", "run", "lab.toml", "--location", "lab", "--results", results])
    };
    let name = labs.name("same");
    let [one, two] = std::thread::scope(|scope| {
        let both = [&results[0], &results[1]].map(|results| scope.spawn(|| finish(run(results))));
        both.map(|run| run.join().unwrap())
    });
    for outcome in [&one, &two] {
        assert!(matches!(outcome.code, Some(0 | 5)), "{}", outcome.stderr);
    }
    let same = || labs.run(&["lab", "create", &name, "--size", "320MiB"]);
    let [one, two] = std::thread::scope(|scope| {
        let both = [(); 2].map(|()| scope.spawn(same));
        both.map(|run| run.join().unwrap())
    });
    let codes = [one.code, two.code];
    assert!(
        codes.contains(&Some(0)) && codes.iter().any(|code| *code != Some(0)),
        "{codes:?} {one:?} {two:?}"
    );
    labs.run(&["lab", "remove", &name]).ended_with(0);
    labs.is_clean();
}
