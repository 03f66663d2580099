//! `prony inspect` on machines of files and on real servers: each planted mistake is found, and none in what is well kept.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use database::{Session, Url};
use instance::{MariaDb, Options, Postgres};
use serde_json::Value;
use tempfile::TempDir;

use crate::servers;
use crate::workbench::{Outcome, Workbench};

/// How full the disk is that the tests run on is no setting of theirs.
const OF_THE_TESTERS_DISK: [&str; 2] = ["space-short", "space-nearly-gone"];

/// `proc`, `sys` and `etc` of a machine that there is not.
struct Machine {
    bench: Workbench,
}

/// What tells a machine that is kept from one that is not.
struct Kept {
    memory_kib: u64,
    thp: &'static str,
    swappiness: &'static str,
    governor: &'static str,
    clock: &'static str,
    zone_reclaim: &'static str,
    numa_balancing: &'static str,
    nodes: usize,
    overcommit: &'static str,
    stat: &'static str,
    flags: &'static str,
}

const WELL: Kept = Kept {
    memory_kib: 1 << 20,
    thp: "always [madvise] never",
    swappiness: "1",
    governor: "performance",
    clock: "tsc",
    zone_reclaim: "0",
    numa_balancing: "0",
    nodes: 1,
    overcommit: "2",
    stat: "cpu 500 0 200 300 0 0 0 0 0 0",
    flags: "fpu sse2",
};

const BADLY: Kept = Kept {
    memory_kib: 16 << 20,
    thp: "[always] madvise never",
    swappiness: "60",
    governor: "powersave",
    clock: "hpet",
    zone_reclaim: "1",
    numa_balancing: "1",
    nodes: 2,
    overcommit: "0",
    stat: "cpu 500 0 200 260 0 0 0 40 0 0",
    flags: "fpu hypervisor",
};

impl Machine {
    fn new(kept: &Kept) -> Self {
        let machine = Self { bench: Workbench::new() };
        let memory = format!(
            "MemTotal: {} kB\nMemAvailable: 900000 kB\nSwapTotal: 1048576 kB\nHugePages_Total: 0\nHugepagesize: 2048 kB",
            kept.memory_kib
        );
        let clock = "sys/devices/system/clocksource/clocksource0";
        for (path, text) in [
            ("proc/meminfo", memory.as_str()),
            ("proc/stat", kept.stat),
            ("proc/cpuinfo", &format!("model name : Xeon\nflags : {}", kept.flags)),
            ("proc/sys/kernel/hostname", "db-7"),
            ("proc/sys/kernel/numa_balancing", kept.numa_balancing),
            ("proc/sys/vm/swappiness", kept.swappiness),
            ("proc/sys/vm/overcommit_memory", kept.overcommit),
            ("proc/sys/vm/zone_reclaim_mode", kept.zone_reclaim),
            ("sys/kernel/mm/transparent_hugepage/enabled", kept.thp),
            ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", kept.governor),
            (&format!("{clock}/current_clocksource"), kept.clock),
            (&format!("{clock}/available_clocksource"), "tsc hpet acpi_pm"),
        ] {
            machine.file(path, text);
        }
        for node in 0..kept.nodes {
            machine.file(&format!("sys/devices/system/node/node{node}/meminfo"), "");
        }
        machine
    }

    fn file(&self, path: &str, text: &str) -> &Self {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("{text}\n")).unwrap();
        self
    }

    fn link(&self, path: &str, to: &str) -> &Self {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(self.root().join(to), path).unwrap();
        self
    }

    fn root(&self) -> PathBuf {
        self.bench.path("root")
    }

    /// A solid-state disk that keeps what it was given when the power fails, by its number.
    fn disk(&self, name: &str, number: &str) -> &Self {
        let place = format!("sys/devices/pci0000:00/{name}");
        self.link(&format!("sys/dev/block/{number}"), &place);
        for (file, text) in [
            ("size", "1875385008"),
            ("alignment_offset", "0"),
            ("queue/rotational", "0"),
            ("queue/scheduler", "[none] mq-deadline bfq"),
            ("queue/nr_requests", "1023"),
            ("queue/logical_block_size", "512"),
            ("queue/physical_block_size", "4096"),
            ("queue/write_cache", "write through"),
            ("queue/read_ahead_kb", "128"),
        ] {
            self.file(&format!("{place}/{file}"), text);
        }
        self
    }

    /// A directory, and the line of a mount that holds it.
    fn mounted(&self, name: &str, number: &str, options: &str, what: &str) -> String {
        let path = self.bench.path(name);
        fs::create_dir_all(&path).unwrap();
        line(&path, number, options, what)
    }

    fn mounts(&self, lines: &[String]) -> &Self {
        self.file("proc/self/mountinfo", &lines.join("\n"))
    }

    /// Data and log on a disk each.
    fn two_disks(&self, data: &Path, log: &Path) -> &Self {
        self.disk("nvme0n1", "259:0").disk("nvme1n1", "259:1").mounts(&[
            line(data, "259:0", "rw,noatime", "ext4 /dev/nvme0n1"),
            line(log, "259:1", "rw,noatime", "xfs /dev/nvme1n1"),
        ])
    }

    /// Runs `prony inspect` on it.
    fn inspect(&self, arguments: &[&str]) -> Outcome {
        let root = self.root();
        self.bench.run(&[&["inspect", "--root", root.to_str().unwrap()][..], arguments].concat())
    }

    /// The rules whose advice is given, each once.
    fn found(&self, arguments: &[&str]) -> BTreeSet<String> {
        rules(&self.inspect(&[arguments, &["--json"]].concat()))
    }
}

fn line(path: &Path, number: &str, options: &str, what: &str) -> String {
    let path = fs::canonicalize(path).unwrap();
    format!("30 1 {number} / {} {options} - {what} rw", path.display())
}

fn rules(outcome: &Outcome) -> BTreeSet<String> {
    let document: Value = outcome.json();
    let advice = document["advice"].as_array().unwrap().iter();
    let rules = advice.map(|advice| advice["rule"].as_str().unwrap().to_owned());
    rules.filter(|rule| !OF_THE_TESTERS_DISK.contains(&rule.as_str())).collect()
}

#[track_caller]
fn assert_found(found: &BTreeSet<String>, planted: &[&str]) {
    let planted: BTreeSet<String> = planted.iter().map(|rule| (*rule).to_owned()).collect();
    assert!(planted.len() >= 20, "twenty are planted, and not {}", planted.len());
    let missed: Vec<_> = planted.difference(found).collect();
    let more: Vec<_> = found.difference(&planted).collect();
    assert!(missed.is_empty() && more.is_empty(), "missed: {missed:?}; found besides: {more:?}");
}

/// Rules that find what is planted in the machine of files.
const MACHINE_MISTAKES: &[&str] = &[
    "transparent-huge-pages",
    "swappiness",
    "governor",
    "clock-source",
    "zone-reclaim",
    "numa-balancing",
    "steal",
    "virtual",
    "parity",
    "degraded",
    "rebuilding",
    "scheduler",
    "read-ahead",
    "volatile-cache",
    "barrier",
    "access-time",
    "discard",
    "alignment",
    "no-redundancy",
    "in-memory",
    "nfs-soft",
    "overlay",
    "copy-on-write",
];

#[test]
fn mistakes_of_a_machine_and_its_volumes_are_found() {
    let machine = Machine::new(&BADLY);
    machine.disk("sda", "8:0").disk("sdb", "8:16").disk("nvme0n1", "259:0");
    for disk in ["sda", "sdb"] {
        machine.file(&format!("sys/devices/pci0000:00/{disk}/queue/scheduler"), "none mq-deadline [bfq]");
    }
    for (array, number, level, state) in
        [("md0", "9:0", "raid5", ("1", "recover")), ("md1", "9:1", "raid0", ("0", "idle"))]
    {
        let place = format!("sys/devices/pci0000:00/{array}");
        machine.disk(array, number).file(&format!("{place}/md/level"), level);
        machine
            .file(&format!("{place}/md/degraded"), state.0)
            .file(&format!("{place}/md/sync_action"), state.1);
        machine.file(&format!("{place}/queue/write_cache"), "write back");
        machine.file(&format!("{place}/queue/read_ahead_kb"), "0");
        for disk in ["sda", "sdb"] {
            machine.link(&format!("{place}/slaves/{disk}"), &format!("sys/devices/pci0000:00/{disk}"));
        }
    }
    let part = "sys/devices/pci0000:00/nvme0n1/nvme0n1p1";
    machine.file(&format!("{part}/partition"), "1").file(&format!("{part}/start"), "63");
    machine.link("sys/dev/block/259:1", part);
    machine.mounts(&[
        machine.mounted("array", "9:0", "rw,nobarrier,discard", "ext4 /dev/md0"),
        machine.mounted("striped", "9:1", "rw,noatime", "xfs /dev/md1"),
        machine.mounted("part", "259:1", "rw,noatime", "ext4 /dev/nvme0n1p1"),
        machine.mounted("memory", "0:40", "rw", "tmpfs tmpfs"),
        machine.mounted("network", "0:41", "rw,relatime,soft", "nfs4 filer:/db"),
        machine.mounted("layer", "0:42", "rw,relatime", "overlay overlay"),
        machine.mounted("snapshots", "0:43", "rw,noatime", "btrfs /dev/sdc"),
    ]);
    let found = machine.found(&["array", "striped", "part", "memory", "network", "layer", "snapshots"]);
    assert_found(&found, MACHINE_MISTAKES);
    let text = machine.inspect(&["array"]).ended_with(3).stdout;
    let degraded =
        text.split("\n\n").find(|block| block.contains("of the array's disks are missing")).unwrap();
    for part in ["danger   ", "\nwhy      ", "\ndo       ", "\nsource   Linux kernel documentation"] {
        assert!(degraded.contains(part), "{part:?} is not in:\n{degraded}");
    }
}

#[test]
fn a_machine_that_is_well_kept_has_no_mistakes() {
    let machine = Machine::new(&WELL);
    for name in ["data", "log"] {
        fs::create_dir(machine.bench.path(name)).unwrap();
    }
    machine.two_disks(&machine.bench.path("data"), &machine.bench.path("log"));
    let outcome = machine.inspect(&["data", "log", "--json"]);
    assert_eq!(rules(&outcome), BTreeSet::new());
    let volumes = outcome.json()["environment"]["volumes"].clone();
    assert_eq!(volumes["data"]["device"]["known"]["name"], "nvme0n1", "{volumes}");
}

/// A directory that every user may pass through, for the data of a server.
fn place() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).unwrap();
    directory
}

fn options(settings: &[(&str, &str)], data: &TempDir, log: Option<&TempDir>) -> Options {
    let options = Options::default().parent_directory(data.path());
    let options = log.map_or(options.clone(), |log| options.log_parent(log.path()));
    settings.iter().fold(options, |options, (name, value)| options.setting(*name, *value))
}

/// Runs statements on a server.
fn run_sql(url: &str, statements: &[&str]) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let url: Url = url.parse().unwrap();
        let mut session = Session::open(&url).await.unwrap();
        for statement in statements {
            session.script(statement).await.unwrap();
        }
    });
}

/// Settings of PostgreSQL that nobody should run with.
const POSTGRES_MISTAKES: &[(&str, &str)] = &[
    ("fsync", "off"),
    ("full_page_writes", "off"),
    ("synchronous_commit", "off"),
    ("data_sync_retry", "on"),
    ("zero_damaged_pages", "on"),
    ("shared_buffers", "40MB"),
    ("effective_cache_size", "128MB"),
    ("work_mem", "1GB"),
    ("maintenance_work_mem", "1MB"),
    ("max_wal_size", "32MB"),
    ("checkpoint_timeout", "30s"),
    ("checkpoint_completion_target", "0.1"),
    ("wal_buffers", "64kB"),
    ("autovacuum", "off"),
    ("autovacuum_vacuum_cost_delay", "20ms"),
    ("random_page_cost", "4"),
    ("effective_io_concurrency", "1"),
    ("enable_seqscan", "off"),
    ("track_counts", "off"),
    ("bgwriter_lru_maxpages", "0"),
    ("log_statement", "all"),
];

#[test]
fn mistakes_of_a_postgres_server_are_found() {
    let data = place();
    let server = Postgres::start(&options(POSTGRES_MISTAKES, &data, None)).unwrap();
    let slot = "SELECT pg_create_physical_replication_slot('forgotten', true)::text";
    run_sql(&server.url(), &[&["CHECKPOINT"; 20][..], &[slot]].concat());
    let machine = Machine::new(&Kept { memory_kib: BADLY.memory_kib, overcommit: "0", ..WELL });
    machine.disk("nvme0n1", "259:0").mounts(&[line(data.path(), "259:0", "rw,noatime", "ext4 /dev/nvme0n1")]);
    let outcome = machine.inspect(&["--target", &server.url(), "--json"]).ended_with(3);
    let url = server.url();
    let password = url.split_once('@').and_then(|(login, _)| login.rsplit_once(':')).unwrap().1;
    assert!(!outcome.stdout.contains(password), "{}", outcome.stdout);
    assert!(!outcome.stdout.contains("unread"), "{}", outcome.stdout);
    assert_found(
        &rules(&outcome),
        &[
            "fsync",
            "full-page-writes",
            "synchronous-commit",
            "data-sync-retry",
            "developer-options",
            "slots",
            "checksums",
            "shared-buffers",
            "effective-cache-size",
            "connections-memory",
            "maintenance-memory",
            "wal-placement",
            "checkpoints-requested",
            "max-wal-size",
            "checkpoint-timeout",
            "checkpoint-spread",
            "wal-buffers",
            "autovacuum",
            "autovacuum-delay",
            "random-page-cost",
            "io-concurrency",
            "planner-methods",
            "statistics",
            "background-writer",
            "statement-log",
            "overcommit",
        ],
    );
}

/// Has pages of a cluster that is stopped bear checksums, by the program that comes with its server.
fn with_checksums(server: &mut Postgres) {
    let program = fs::read_link(format!("/proc/{}/exe", server.pid().unwrap())).unwrap();
    server.stop().unwrap();
    let mut checksums = std::process::Command::new(program.with_file_name("pg_checksums"));
    let output = checksums.arg("-e").arg("-D").arg(server.data_directory()).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() || told.contains("already enabled"), "{told}");
    server.start_again().unwrap();
}

#[test]
fn a_postgres_server_that_is_well_kept_has_no_mistakes() {
    let (data, log) = (place(), place());
    let settings = [
        ("shared_buffers", "256MB"),
        ("effective_cache_size", "512MB"),
        ("max_wal_size", "4GB"),
        ("random_page_cost", "1.1"),
        ("effective_io_concurrency", "200"),
    ];
    let mut server = Postgres::start(&options(&settings, &data, Some(&log))).unwrap();
    with_checksums(&mut server);
    let machine = Machine::new(&WELL);
    machine.two_disks(data.path(), log.path());
    let outcome = machine.inspect(&["--target", &server.url(), "--json"]).ended_with(0);
    assert_eq!(rules(&outcome), BTreeSet::new());
    let document = outcome.json();
    let volumes = &document["environment"]["inspected"][0]["volumes"];
    assert_eq!((&volumes["data"], &volumes["log"]), (&"data".into(), &"log".into()), "{volumes}");
}

/// Settings of MariaDB that nobody should run with.
const MARIADB_MISTAKES: &[(&str, &str)] = &[
    ("innodb_flush_log_at_trx_commit", "2"),
    ("log_bin", "binary"),
    ("sync_binlog", "0"),
    ("innodb_doublewrite", "0"),
    ("innodb_flush_method", "nosync"),
    ("sql_mode", ""),
    ("innodb_force_recovery", "1"),
    ("default_storage_engine", "MyISAM"),
    ("binlog_format", "STATEMENT"),
    ("binlog_expire_logs_seconds", "0"),
    ("innodb_buffer_pool_size", "1G"),
    ("sort_buffer_size", "256M"),
    ("innodb_log_file_size", "96M"),
    ("query_cache_type", "1"),
    ("query_cache_size", "1M"),
    ("innodb_log_buffer_size", "2M"),
    ("innodb_io_capacity", "200"),
    ("innodb_flush_neighbors", "1"),
    ("innodb_use_native_aio", "0"),
    ("innodb_file_per_table", "0"),
    ("general_log", "1"),
    ("innodb_stats_on_metadata", "1"),
];

#[test]
fn mistakes_of_a_mariadb_server_are_found() {
    let data = place();
    let server = MariaDb::start(&options(MARIADB_MISTAKES, &data, None)).unwrap();
    let machine = Machine::new(&Kept { memory_kib: BADLY.memory_kib, ..WELL });
    machine.disk("nvme0n1", "259:0").mounts(&[line(data.path(), "259:0", "rw,noatime", "ext4 /dev/nvme0n1")]);
    let mut planted = vec![
        "flush-at-commit",
        "sync-binlog",
        "doublewrite",
        "flush-method-unsafe",
        "strict-mode",
        "forced-recovery",
        "engine",
        "binlog-format",
        "binlog-expiry",
        "buffer-pool",
        "connections-memory",
        "redo-size",
        "query-cache",
        "log-placement",
        "log-buffer",
        "io-capacity",
        "flush-neighbors",
        "native-aio",
        "file-per-table",
        "general-log",
        "stats-on-metadata",
    ];
    // A log in memory is mapped, and its buffer is all of it, whatever is asked for.
    planted.retain(|rule| *rule != "log-buffer" || !is_in_memory(data.path()));
    assert_found(&machine.found(&["--target", &server.url()]), &planted);
}

fn is_in_memory(directory: &Path) -> bool {
    const TMPFS: i64 = 0x0102_1994;
    rustix::fs::statfs(directory).unwrap().f_type == TMPFS
}

#[test]
fn a_mariadb_server_that_is_well_kept_has_no_mistakes() {
    let (data, log) = (place(), place());
    let settings = [
        ("innodb_buffer_pool_size", "384M"),
        ("log_bin", "binary"),
        ("sync_binlog", "1"),
        ("binlog_expire_logs_seconds", "864000"),
        ("innodb_io_capacity", "2000"),
        ("innodb_flush_neighbors", "0"),
        ("max_connections", "50"),
    ];
    let server = MariaDb::start(&options(&settings, &data, Some(&log))).unwrap();
    let machine = Machine::new(&WELL);
    machine.two_disks(data.path(), log.path());
    let outcome = machine.inspect(&["--target", &server.url(), "--json"]);
    // Where io_uring is forbidden and no other way is built in, the server itself turns this off.
    let found: BTreeSet<String> = rules(&outcome).into_iter().filter(|rule| rule != "native-aio").collect();
    assert_eq!(found, BTreeSet::new());
    let volumes = outcome.json()["environment"]["inspected"][0]["volumes"].clone();
    let of = |what: &str| volumes[what].as_str().unwrap_or_default().to_owned();
    assert_eq!([of("data"), of("log"), of("binary log")], ["data", "log", "binary log"]);
}

/// What a login may not see is named with the grant, ends with 4, and is seen once the right is granted.
#[test]
fn what_a_login_may_not_see_is_named_with_the_grant() {
    let machine = Machine::new(&WELL);
    fs::create_dir(machine.bench.path("data")).unwrap();
    machine.two_disks(&machine.bench.path("data"), &machine.bench.path("data"));
    for (url, make, grant) in [
        (
            servers::postgres().url(),
            "CREATE ROLE onlooker LOGIN PASSWORD 'looks'",
            "GRANT pg_read_all_settings TO onlooker",
        ),
        (
            servers::mariadb().url(),
            "CREATE USER onlooker@'%' IDENTIFIED BY 'looks'",
            "GRANT SELECT ON *.* TO 'onlooker'@'%'",
        ),
    ] {
        run_sql(&url, &[make]);
        let (scheme, rest) = url.split_once("://").unwrap();
        let (_, at) = rest.rsplit_once('@').unwrap();
        let host = at.split('/').next().unwrap();
        let database = if scheme == "postgres" { "postgres" } else { "information_schema" };
        let target = format!("{scheme}://onlooker:looks@{host}/{database}");
        let unread = |outcome: &Outcome| outcome.json()["unread"].to_string();
        let outcome = machine.inspect(&["--target", &target, "--json"]).ended_with(4);
        assert!(unread(&outcome).contains(grant), "{}", outcome.stdout);
        let text = machine.inspect(&["--target", &target]).ended_with(4).stdout;
        assert!(text.contains("unknown ") && text.contains(&format!("do       {grant}")), "{text}");
        run_sql(&url, &[grant]);
        let outcome = machine.inspect(&["--target", &target, "--json"]);
        assert!(!unread(&outcome).contains("GRANT "), "{}", outcome.stdout);
    }
}

#[test]
fn the_mildest_severity_that_fails_can_be_chosen() {
    let machine = Machine::new(&Kept { governor: "powersave", ..WELL });
    fs::create_dir(machine.bench.path("data")).unwrap();
    machine.two_disks(&machine.bench.path("data"), &machine.bench.path("data"));
    if machine.inspect(&["data", "--json"]).stdout.contains("space-nearly-gone") {
        eprintln!("not run: the disk of this machine is nearly full, which is a danger by itself");
        return;
    }
    machine.inspect(&["data"]).ended_with(0);
    machine.inspect(&["data", "--fail-on", "costs"]).ended_with(3);
    machine.inspect(&["data", "--fail-on", "note"]).ended_with(3);
}

/// A report says the same of the server that was measured as an inspection of it, and its first screen names the worst.
#[test]
fn a_report_has_what_an_inspection_finds() {
    let data = place();
    let settings = [("fsync", "off"), ("synchronous_commit", "off")];
    let server = Postgres::start(&options(&settings, &data, None)).unwrap();
    let bench = Workbench::new();
    let measured = ["--rate", "200", "--duration", "1s", "--warm-up", "1s", "--screens", "0"];
    let url = server.url();
    let run = bench.run(&[&["historian", "--target", &url, "--json"][..], &measured].concat());
    let document = run.json();
    let rules = rules_of(&document["inspection"]["advice"]);
    assert!(rules.contains("fsync") && rules.contains("synchronous-commit"), "{rules:?}");
    let results = bench.results().unwrap();
    let page = fs::read_to_string(results.join("report.html")).unwrap();
    assert!(page.contains("<h2>Inspection</h2>") && page.contains("fsync is off"));
    let brief = bench.run_with(&[("PRONY_DETAILS", "false")], &["report", results.to_str().unwrap()]).stdout;
    let settings: Vec<&str> = brief.lines().filter(|line| line.starts_with("Settings ")).collect();
    assert_eq!(settings.len(), 1, "{brief}");
    assert!(brief.lines().count() <= 11, "{brief}");
}

fn rules_of(advice: &Value) -> BTreeSet<String> {
    let advice = advice.as_array().into_iter().flatten();
    advice.map(|advice| advice["rule"].as_str().unwrap().to_owned()).collect()
}
