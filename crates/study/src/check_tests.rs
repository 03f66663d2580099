//! Designs that cannot be.

use database::Existing;

use crate::plan::Plan;
use crate::study::Study;
use crate::target::{Pair, StartedServer};

/// The mistakes of a study whose target is a directory.
fn mistakes(text: &str) -> String {
    let text = format!("{text}\n[target]\npaths = [\"/data\"]\n");
    Plan::of(&Study::from_toml(&text).unwrap()).map_or_else(|errors| errors.to_string(), |_| String::new())
}

#[track_caller]
fn told(text: &str, expected: &[&str]) {
    let mistakes = mistakes(text);
    assert_eq!(mistakes.lines().count(), expected.len(), "{mistakes}");
    for sentence in expected {
        assert!(mistakes.contains(sentence), "{sentence} is not in:\n{mistakes}");
    }
}

const DEPTHS: &str = r#"{ key = "workload.disk.outstanding", levels = [1, 2] }"#;

#[test]
fn axes_that_cannot_be_are_told() {
    told("axis = [{ key = \"workload.disk.outstanding\", levels = [] }]", &["the axis has no levels"]);
    told(
        "axis = [{ key = \"workload.disk.outstandin\", levels = [1] }]",
        &["unknown key. Did you mean `outstanding`?"],
    );
    told(
        "axis = [{ key = \"workload.disk.outstanding\", levels = [1, \"two\"] }]",
        &["level two: invalid value \"two\": must be a whole number, 0 or more"],
    );
    told(
        "axis = [{ key = \"blocks\", levels = [1] }]",
        &["not a parameter that can be varied. Keys start with workload.disk."],
    );
    told(
        "axis = [{ key = \"workload.disk.outstanding\", levels = [1, 2, 1], reference = 3 }]",
        &["the level 1 is given twice", "the reference 3 is not one of its levels: 1, 2"],
    );
    told(
        "axis = [{ key = \"workload.disk.outstanding\", levels = [1, 2], names = [\"one\"], reference = \"one\" }]",
        &["1 name for 2 levels. Give one name for each level"],
    );
    told(
        "axis = [{ key = \"workload.disk.outstanding\", levels = [1, 2, 4], names = [\"a\", \"a\", \"b\"] }]",
        &["the name a is given twice"],
    );
    told(
        "axis = [{ key = \"workload.disk.read_share\", levels = [10, 10.0] }]",
        &["the level 10.0 is given twice"],
    );
    let ten = "levels = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] }";
    let keys = ["outstanding", "threads", "files", "fill_passes", "seed"];
    let axes: Vec<String> =
        keys.iter().map(|key| format!("{{ key = \"workload.disk.{key}\", {ten}")).collect();
    told(&format!("axis = [{}]", axes.join(", ")), &["700000 trials exceed the limit of 100000"]);
    told(&format!("axis = [{DEPTHS}, {DEPTHS}]"), &["second axis named outstanding"]);
    told(
        "axis = [{ key = \"target.url\", levels = [\"postgres://a:secret@h/x\"] }]",
        &["an address must not contain a password"],
    );
}

#[test]
fn configurations_that_cannot_be_are_told() {
    told("reference = \"a\"", &["reference: needs a configuration, but the study has none"]);
    told(
        "reference = \"c\"\n[[configuration]]\nname = \"a\"\n[[configuration]]\nname = \"a\"\n[[configuration]]\nname = \"\"",
        &[
            "unknown configuration `c`. Configurations: a, a, ",
            "two configurations have this name",
            "configuration.name: empty",
        ],
    );
    told(
        &format!("[[configuration]]\nname = \"a\"\naxis = [{DEPTHS}]"),
        &[
            "a: it has levels of workload.disk.outstanding, but the study has no such axis. Add the axis as [[axis]]",
        ],
    );
}

#[test]
fn thresholds_that_cannot_be_are_told() {
    let thresholds = |list: &str| format!("thresholds = [{list}]\naxis = [{DEPTHS}]");
    told(&thresholds(r#""p99_ms < 20", "p99_ms > 30""#), &["contradict each other"]);
    told(&thresholds(r#""gain > 5% at threads = 2""#), &["the study has no axis threads"]);
    told(
        &thresholds(r#""gain > 5% at outstanding = 3""#),
        &["3 is not a level of outstanding. Levels: 1, 2"],
    );
    told(
        &format!("compare = false\n{}", thresholds(r#""gain > 5%""#)),
        &["`gain > 5%` needs a reference, but this study compares nothing"],
    );
    told(&thresholds(r#""gain > 5% at outstanding = 1""#), &["compares the reference with itself"]);
    told(&thresholds(r#""p99_ms < 20", "gain > 5% at outstanding = 2""#), &[]);
}

#[test]
fn rules_of_series_need_an_order() {
    told(
        "latency_tolerance = \"20ms\"",
        &[
            "latency_tolerance: this rule skips later trials, so the trials of each block must run in the given order",
        ],
    );
    told("latency_tolerance = \"20ms\"\norder = \"given\"", &[]);
}

#[test]
fn looks_that_could_end_nothing_are_told() {
    let stop = |more: &str| format!("stop = \"when settled\"\n{more}");
    told(&stop(&format!("blocks = 7\naxis = [{DEPTHS}]")), &[]);
    told(
        &stop(&format!("blocks = 6\naxis = [{DEPTHS}]")),
        &[
            "stop: this rule can end a study after 6 blocks at the earliest, so with 6 it saves nothing. Use 7 or more blocks, or remove this rule",
        ],
    );
    told(
        &stop(&format!("blocks = 101\naxis = [{DEPTHS}]")),
        &["stop: it supports at most 100 blocks, but the study has 101. Give fewer, or remove it"],
    );
    told(
        &stop(""),
        &["stop: no comparison to decide: no axis has two levels, and no configurations have a reference"],
    );
    let configurations = "configuration = [{ name = \"a\" }, { name = \"b\", workload.disk.threads = 2 }]";
    told(&stop(configurations), &["stop: no comparison to decide"]);
    told(&stop(&format!("reference = \"a\"\n{configurations}")), &[]);
    told(&stop(&format!("compare = false\naxis = [{DEPTHS}]")), &["stop: no effect with compare = false"]);
    told(
        &stop(&format!("order = \"repeats\"\naxis = [{DEPTHS}]")),
        &["stop: needs another order: \"repeats\" compares nothing"],
    );
    told(
        &stop(&format!("order = \"given\"\nlatency_tolerance = \"1ms\"\naxis = [{DEPTHS}]")),
        &["stop: no effect with latency_tolerance"],
    );
    told(&format!("stop = \"never\"\nblocks = 1\naxis = [{DEPTHS}]"), &[]);
    let unknown = Study::from_toml("stop = \"when steady\"").unwrap_err().to_string();
    assert!(unknown.contains("`never` or `when settled`"), "{unknown}");
}

#[test]
fn workloads_of_no_trial_and_blocks_out_of_range_are_told() {
    told("blocks = 0", &["blocks: invalid value 0"]);
    told(
        "[workload.disk]\nthreads = 2\n[workload.historian]\nrate = 10",
        &["workload.disk: no trial uses this workload", "target.database: missing"],
    );
}

#[test]
fn a_server_that_cannot_be_started_is_refused_with_the_remedy() {
    let target = |target: &str| {
        let text = format!("workload.historian.rate = 10\n{target}");
        Plan::of(&Study::from_toml(&text).unwrap()).unwrap_err().to_string()
    };
    let other = target("[target.server.my]\nengine = \"sqlserver\"");
    assert!(
        other.contains("target.server.my.engine: prony cannot start SQL Server yet. Start it"),
        "{other}"
    );
    assert_eq!(other.lines().count(), 1, "{other}");
    let quiet = |text: &str| target(&format!("[target.server.my]\nengine = \"mysql\"\n{text}"));
    assert!(
        quiet("quiet_for = \"3s\"").contains("target.server.my.quiet_for: no effect without quiet_below")
    );
    let late = quiet("quiet_below = \"5%\"\nquiet_for = \"1m\"\nquiet_within = \"30s\"");
    assert!(late.contains("target.server.my.quiet_within: must be longer"), "{late}");
    let spaces =
        target("[target.server.my]\nengine = \"mariadb\"\ntablespaces.fast = \"/ssd\"\ncpu_set = \"a\"");
    assert!(spaces.contains("target.server.my.tablespaces: supported only for PostgreSQL"), "{spaces}");
    assert!(spaces.contains("target.server.my.cpu_set: must be CPU numbers"), "{spaces}");
    let found = target(
        "[target]\ndatabase = { at = \"pg\", existing = \"reuse\" }\n[target.server.pg]\nengine = \"postgres\"",
    );
    assert!(found.contains("does not apply to pg, which starts empty"), "{found}");
    let little = target(
        "[target.server.pg]\nmemory = \"1MiB\"\ncpus = 0.0\nread_iops = 0\npair = \"sync\"\ninstances = 3",
    );
    for key in ["engine", "memory", "cpus", "read_iops", "pair"] {
        assert!(little.contains(&format!("target.server.pg.{key}: ")), "{key} in {little}");
    }
    let idle = target(
        "[target]\ndatabase = { at = \"pg\", count = 2 }\n[target.server.pg]\nengine = \"postgres\"\ninstances = 3",
    );
    assert!(
        idle.contains("target.server.pg.instances: only 2 of the 3 servers would have a database. Set"),
        "{idle}"
    );
    let older = target("[target.mariadb]\nmemory = \"1MiB\"");
    assert!(older.contains("target.server.mariadb.memory: too little"), "{older}");
}

/// The plan of a study of a workload on a target.
fn planned_on(workload: &str, target: &str) -> Result<Plan, crate::mistake::StudyErrors> {
    let text = format!("blocks = 1\n[workload.{workload}]\n{target}");
    Study::from_toml(&text).and_then(|study| Plan::of(&study))
}

const NODES: &str =
    "[target.cluster.prod]\nnodes = [\"postgres://app@pg1/shop\", \"postgres://app@pg2/shop\"]";
/// A cluster at the listener of an availability group.
const GROUP: &str = "[target.cluster.ag]\naddress = \"sqlserver://sa@listener/shop\"";

#[test]
fn a_cluster_of_others_is_loaded_where_it_is_said_or_at_all_of_its_nodes() {
    let database = |workload: &str, target: &str| {
        let plan = planned_on(workload, target).unwrap();
        let [database] = plan.trials[0].databases().try_into().unwrap();
        (database.url.to_string(), database.cluster, database.existing)
    };
    let all = "postgres://app@pg1,pg2/shop?target_session_attrs=read-write".to_owned();
    let of = |existing| (all.clone(), Some("prod".to_owned()), existing);
    assert_eq!(database("register", NODES), of(Existing::Refuse));
    assert_eq!(database("orders", NODES), of(Existing::Use), "as at an address");
    let patroni = "[target]\ndatabase = \"prod\"\n[target.cluster.prod]\npatroni = \"http://pg1:8008\"\n\
                   address = \"postgres://app@pg1,pg2/shop\"";
    assert_eq!(database("register", patroni), of(Existing::Refuse));
    assert!(planned_on("orders", GROUP).is_ok());
}

#[test]
fn a_cluster_of_others_that_cannot_be_is_told_with_the_remedy() {
    let prod = |keys: &str| format!("[target.cluster.prod]\n{keys}");
    for (target, told) in [
        (
            prod(""),
            "target.cluster.prod.address: missing. Give the address to which clients connect, for example",
        ),
        (
            prod("nodes = [\"mysql://a@my1\", \"mysql://a@my2\"]"),
            "because MySQL accepts only one: the primary",
        ),
        (
            format!("{NODES}\naddress = \"mysql://a@my1\""),
            "target.cluster.prod.nodes: postgres://app@pg1/shop and mysql://a@my1 have different engines",
        ),
        (prod("nodes = [\"postgres://a@pg1/x\", \"postgres://b@PG1/y\"]"), "is given twice"),
        (prod("nodes = [\"postgres://a@pg1,pg2/x\"]"), "has several hosts. Give each of them separately"),
        (
            prod("address = \"mysql://a@my1\"\npatroni = \"http://pg1\""),
            "target.cluster.prod.patroni: Patroni manages PostgreSQL",
        ),
        (prod("address = \"sqlite:x\""), "sqlite:x cannot be a cluster"),
        (
            GROUP.to_owned(),
            "target.database.existing: prony would create a database outside the availability group",
        ),
        (
            format!("{NODES}\n[target.server.prod]\nengine = \"postgres\""),
            "target.cluster.prod: a server has the same name",
        ),
        (prod("patroni = \"pg1:8008\""), "give http://HOST:8008"),
        (format!("{NODES}\nattach = []"), "attach"),
    ] {
        let error = planned_on("register", &target).unwrap_err().to_string();
        assert!(error.contains(told), "{target}: {error}");
    }
}

#[test]
fn a_cluster_of_others_is_broken_by_commands_that_are_given_alone() {
    let told = |faults: &str| {
        let text = format!(
            "blocks = 1\n[workload.register]\n[target.cluster.prod]\nnodes = [\"postgres://a@pg1/x\", \"postgres://a@pg2/x\"]\n\
             switchover = \"patronictl switchover\"\nfault.kill = \"ssh pg1 kill\"\nfaults = {faults}"
        );
        Study::from_toml(&text)
            .and_then(|study| Plan::of(&study))
            .map_or_else(|error| error.to_string(), |_| String::new())
    };
    assert_eq!(told("[\"kill at 1s\", \"switchover at 2s..3s\"]"), "");
    for (faults, problem) in [
        (
            "\"freeze for 1s at 1s\"",
            "target.cluster.prod.faults: `freeze` on a cluster that prony did not start needs a command",
        ),
        ("\"cut at 1s\"", "(known: kill, switchover). Define the command as fault.NAME"),
        ("\"kill of standby at 1s\"", "which sets its own duration, amount and node"),
        ("\"kill at 90m\"", "would outlast the load"),
    ] {
        assert!(told(faults).contains(problem), "{faults}: {}", told(faults));
    }
    let text = "blocks = 1\n[workload.tables]\n[target.cluster.prod]\nnodes = \"postgres://a@pg1/x\"\nfault.kill = \"x\"\n\
                faults = \"kill at 1s\"";
    let error = Plan::of(&Study::from_toml(text).unwrap()).unwrap_err().to_string();
    assert!(error.contains("ends if its database is unreachable"), "{error}");
}

/// One key of a cluster as an axis would have made another cluster of it, with nothing else in it.
#[test]
fn a_key_of_a_cluster_is_an_axis() {
    let text = "blocks = 1\norder = \"given\"\n[workload.register]\n[target.cluster.prod]\nnodes = [\"postgres://a@pg1/x\", \"postgres://a@pg2/x\"]\n\
                fault.kill = \"ssh pg1 kill\"\n[[axis]]\nkey = \"target.cluster.prod.faults\"\nlevels = [\"\", \"kill at 1s\"]";
    let plan = Plan::of(&Study::from_toml(text).unwrap()).unwrap();
    let faults = plan.trials.iter().map(|trial| trial.target.cluster["prod"].all_faults().len());
    assert_eq!(faults.collect::<Vec<_>>(), [0, 1]);
    assert!(plan.trials.iter().all(|trial| trial.target.cluster["prod"].nodes.len() == 2));
}

/// Databases are spread over servers in turn, each with its share of the limits.
#[test]
fn several_servers_share_limits_and_databases() {
    let text = "workload.orders.n_threads = 8\n[target]\ndatabase = { at = \"pg\", count = 4 }\n[target.server.pg]\n\
                engine = \"postgres\"\ninstances = 2\nmemory = \"4GiB\"\ncpus = 3\nread_iops = 1000\ncpu_set = \"0-1\"";
    let plan = Plan::of(&Study::from_toml(text).unwrap()).unwrap();
    let databases = plan.trials[0].databases();
    let places: Vec<String> = databases.iter().map(|it| it.place()).collect();
    assert_eq!(
        places,
        [
            "prony_orders_1 of the managed PostgreSQL server pg-1",
            "prony_orders_2 of the managed PostgreSQL server pg-2",
            "prony_orders_3 of the managed PostgreSQL server pg-1",
            "prony_orders_4 of the managed PostgreSQL server pg-2",
        ]
    );
    let one = &databases[0].server.as_ref().unwrap().server;
    assert_eq!((one.memory.unwrap().0 >> 30, one.cpus, one.read_iops), (2, Some(1.5), Some(500)));
    assert_eq!(one.cpu_numbers(), Ok(vec![0, 1]));
    assert!(!databases[0].is_same(&databases[1]) && !databases[0].is_same(&databases[2]));
    assert_eq!(plan.databases().len(), 4);
}

/// A study whose one axis is a key of a target.
fn varied(key: &str, levels: &str, target: &str) -> Study {
    Study::from_toml(&format!(
        "blocks = 1\norder = \"given\"\nworkload.historian.rate = 10\naxis = [{{ key = \"target.{key}\", levels = [{levels}] }}]\n{target}"
    ))
    .unwrap()
}

#[test]
fn a_pair_and_its_faults_are_what_can_be_done() {
    let server = "[target]\ndatabase = \"pg\"\n[target.server.pg]\nengine = \"postgres\"";
    let refused = |key: &str, levels: &str, target: &str| {
        Plan::of(&varied(key, levels, target)).unwrap_err().to_string()
    };
    let plan =
        Plan::of(&varied("server.pg.pair", "\"none\", \"sync\", \"async\", \"quorum\"", server)).unwrap();
    let databases = plan.trials.iter().flat_map(|trial| trial.databases());
    let pairs: Vec<Option<Pair>> = databases.map(|database| database.server.unwrap().server.pair()).collect();
    assert_eq!(pairs, [None, Some(Pair::Sync), Some(Pair::Async), Some(Pair::Quorum)]);
    let limited = format!("{server}\nmemory = \"1GiB\"");
    let told = refused("server.pg.pair", "\"sync\"", &limited);
    assert!(told.starts_with("target.server.pg.pair: limits are not supported for pairs"), "{told}");
    let told = refused("server.pg.failover", "\"tuned\"", server);
    assert!(told.contains("Add pair = \"sync\""), "{told}");
    let faults = "\"freeze at 1s\", \"switchover at 1s\", \"kill at 90m\", \"pull at 1s\"";
    let told = refused("server.pg.faults", faults, server);
    for part in [
        "`freeze` needs a duration",
        "`switchover` needs more than one node",
        "would outlast the load",
        "unknown fault `pull`",
    ] {
        assert!(told.contains(part), "{part} in {told}");
    }
}

#[test]
fn a_command_that_is_called_as_a_fault_is_done_in_its_place() {
    let at = "[target]\ndatabase = \"pg\"\n[target.server.pg]\nat = \"postgres://me@db1\"\nfault.cut = \"ssh switch port 7 off\"";
    let plan = |faults: &str| Plan::of(&varied("server.pg.faults", faults, at));
    let planned = plan("\"cut at 1s\"").unwrap();
    let server = &planned.trials[0].target.server["pg"];
    assert!(server.is_by_command(&server.all_faults()[0]) && server.own_faults().next().is_none());
    let told = plan("\"cut of primary at 1s\"").unwrap_err().to_string();
    assert!(told.contains("`cut` is a command, which sets its own duration"), "{told}");
    let told = plan("\"isolate for 1s at 1s\"").unwrap_err().to_string();
    assert!(told.contains("`isolate` needs a server that prony starts"), "{told}");
}

/// What one engine's pairs have and another's have not was found when a trial ran, if at all.
#[test]
fn pairs_of_mariadb_are_what_it_has_and_what_cannot_be_done_to_them_is_told() {
    let server = |engine: &str, rest: &str| {
        format!("[target]\ndatabase = \"pg\"\n[target.server.pg]\nengine = \"{engine}\"\n{rest}")
    };
    let mariadb = server("mariadb", "failover = \"tuned\"\ntimeouts.\"evs.suspect_timeout\" = \"PT2S\"");
    let plan = Plan::of(&varied("server.pg.pair", "\"sync\"", &mariadb)).unwrap();
    let told = plan.trials[0].databases()[0].server.as_ref().unwrap().server.pair_in_words();
    let expected = "sync (Galera with an arbitrator, tuned, evs.suspect_timeout = PT2S)";
    assert_eq!(told.as_deref(), Some(expected));
    let told = |target: &str, pair: &str, faults: &str| {
        let target = format!("{target}\npair = \"{pair}\"");
        let planned = Plan::of(&varied("server.pg.faults", &format!("\"{faults}\""), &target));
        planned.map_or_else(|mistakes| mistakes.to_string(), |_| String::new())
    };
    let (mariadb, postgres) = (server("mariadb", ""), server("postgres", ""));
    for (target, pair, faults, problem) in [
        (&mariadb, "quorum", "", "MariaDB does not support \"quorum\". Give \"sync\""),
        (&server("mysql", ""), "async", "", "supported only for PostgreSQL and MariaDB"),
        (&mariadb, "sync", "freeze-receiver for 1s at 1s", "which Galera nodes do not have"),
        (&mariadb, "sync", "promote at 1s", "without automatic failover, but this one has it"),
        (&postgres, "sync", "promote at 1s", "without automatic failover, but this one has it"),
        (
            &postgres,
            "async",
            "promote of standby at 1s",
            "names a standby, but the standby is the node that takes over",
        ),
        (&postgres, "none", "promote at 1s", "`promote` needs more than one node"),
        (
            &mariadb,
            "async",
            "throttle for 1s at 1s",
            "needs a separate volume for each node. Give each node its own",
        ),
        (&mariadb, "sync", "kill-node at 1s, freeze of standby for 1s at 1s, switchover at 1s", ""),
        (&mariadb, "async", "freeze-receiver for 1s at 1s, promote at 1s, restart at 1s", ""),
        (&postgres, "quorum", "promote for 5s at 1s", ""),
    ] {
        let told = told(target, pair, faults);
        assert!(told.contains(problem) && told.is_empty() == problem.is_empty(), "{pair} {faults}: {told}");
    }
}

/// All of a pair lay on one volume: what fails with a volume was done to single servers alone.
#[test]
fn nodes_on_volumes_of_their_own_fail_one_by_one_or_lose_their_power_at_once() {
    let told = |rest: &str, faults: &str| {
        let target =
            format!("[target]\ndatabase = \"pg\"\n[target.server.pg]\nengine = \"postgres\"\n{rest}");
        let planned = Plan::of(&varied("server.pg.faults", &format!("\"{faults}\""), &target));
        planned.map_or_else(|mistakes| mistakes.to_string(), |_| String::new())
    };
    let (two, three) = ("nodes = [\"/a\", \"/b\"]", "nodes = [\"/a\", \"/b\", \"/c\"]");
    for (pair, nodes, faults, problem) in [
        ("sync", two, "power-cut of all for 2s at 1s", ""),
        ("async", two, "power-cut of standby at 1s, fill for 1s at 3s, throttle of standby for 1s at 5s", ""),
        ("quorum", three, "power-cut for 1s at 1s", ""),
        ("sync", "", "power-cut of all at 1s", "needs a separate volume for each node"),
        ("sync", "", "fill for 1s at 1s", "nodes = [\"/volume1\", \"/volume2\"]"),
        ("sync", two, "kill of all at 1s", "only power-cut can"),
        ("sync", two, "fill of all for 1s at 1s", "only power-cut can"),
        ("none", "", "power-cut of all at 1s", "names a node, but this server has only one"),
        ("none", two, "kill at 1s", "nodes: needs a replicated pair. Add pair"),
        ("sync", three, "kill at 1s", "nodes: must be two directories"),
        ("quorum", two, "kill at 1s", "nodes: must be three directories"),
        ("sync", "nodes = [\"/a\", \"/a\"]", "kill at 1s", "nodes: the same directory is given twice"),
    ] {
        let told = told(&format!("pair = \"{pair}\"\n{nodes}"), faults);
        assert!(told.contains(problem) && told.is_empty() == problem.is_empty(), "{pair} {faults}: {told}");
    }
    let server = |nodes: &str| {
        let text = format!("engine = \"postgres\"\npair = \"sync\"\n{nodes}");
        StartedServer::alone("pg", &toml::from_str(&text).unwrap())
    };
    assert!(server(two).has_same_data(&server(two)) && !server(two).has_same_data(&server("")));
}

/// Any key of a target is an axis: it is expanded before servers are refused, and a level that cannot be is told by itself.
#[test]
fn any_key_of_a_target_is_an_axis() {
    let study = varied;
    let refused = |key: &str, levels: &str, target: &str| {
        Plan::of(&study(key, levels, target)).unwrap_err().to_string()
    };
    let server = "[target]\ndatabase = \"pg\"\n[target.server.pg]\nengine = \"postgres\"";
    let started = |key: &str, levels: &str| -> Vec<crate::Server> {
        let plan = Plan::of(&study(key, levels, server)).unwrap();
        plan.trials.iter().flat_map(|trial| trial.databases()).map(|it| it.server.unwrap().server).collect()
    };
    let memory = started("server.pg.memory", "\"8GiB\", \"32GiB\"");
    assert_eq!(memory.iter().map(|it| it.memory.unwrap().0 >> 30).collect::<Vec<_>>(), [8, 32]);
    let settings = started("server.pg.settings.work_mem", "\"4MB\", \"64MB\"");
    assert_eq!(settings[1].settings_as_text().unwrap(), [("work_mem".to_owned(), "64MB".to_owned())]);
    let unfit = refused("server.pg.memory", "\"8GiB\", \"a lot\"", server);
    assert!(unfit.contains("target.server.pg.memory: level a lot"), "{unfit}");
    let places = |key: &str, levels: &str, target: &str| -> Vec<String> {
        let plan = Plan::of(&study(key, levels, target)).unwrap();
        plan.trials.iter().flat_map(|trial| trial.databases()).map(|database| database.place()).collect()
    };
    let files = "\"sqlite:/a\", \"sqlite:/b\"";
    assert_eq!(places("database", files, ""), ["/a", "/b"]);
    assert_eq!(places("url", files, "[target]\nurl = \"sqlite:/x\""), ["/a", "/b"], "of an older spelling");
    let postgres = "target.database = { at = \"postgres://me@h/x\", name = \"kept\" }";
    let named = places("database", "\"postgres://me@h1/x\", \"postgres://me@h2/x\"", postgres);
    assert!(named.iter().all(|place| place.starts_with("kept of postgres://me@h")), "{named:?}");
    let named = places("database.name", "\"a\", \"b\"", postgres);
    assert!(named[0].starts_with("a of ") && named[1].starts_with("b of "), "{named:?}");
    let two = refused("database.keep", "true, false", postgres);
    assert!(two.contains("has different values of `existing` or `keep` in different trials"), "{two}");
}

/// A configuration's database inherited that the study's may be replaced, and was replaced: nobody had said so of it.
#[test]
fn that_a_database_may_be_replaced_is_said_of_it_alone() {
    use database::Existing::{Refuse, Replace};
    let wanted = |target: &str, levels: &str| {
        let text = format!(
            "blocks = 1\naxis = [{{ key = \"target.database\", levels = [{levels}] }}]\n[workload.historian]\n\
             [target.database]\nkeep = true\nexisting = \"replace\"\n{target}"
        );
        let plan = Plan::of(&Study::from_toml(&text).unwrap()).unwrap();
        let mut wanted: Vec<_> = plan.databases().into_iter().map(|(database, _)| database).collect();
        wanted.sort_by_key(|database| database.place());
        wanted
    };
    let existing = |target: &str, levels: &str| -> Vec<_> {
        wanted(target, levels).into_iter().map(|database| database.existing).collect()
    };
    let kept = |target: &str, levels: &str| -> Vec<_> {
        wanted(target, levels).into_iter().map(|database| database.keep).collect()
    };
    let files = "\"sqlite:/a\", \"sqlite:/b\"";
    assert_eq!(existing("at = \"sqlite:/a\"", files), [Replace, Refuse]);
    assert_eq!(kept("at = \"sqlite:/a\"", files), [true, false]);
    assert_eq!(kept("", files), [true, true]);
    assert_eq!(existing("", files), [Replace, Replace], "said of whatever is given");
    let both = "\"sqlite:/a\", { at = \"sqlite:/b\", existing = \"replace\" }";
    assert_eq!(existing("at = \"sqlite:/a\"", both), [Replace, Replace]);
}

/// `existing = "refuse"` in the older spelling was ignored beside the newer one, and a database that was kept was replaced.
#[test]
fn two_spellings_of_one_database_are_refused() {
    let told = |target: &str| {
        let text = format!("blocks = 1\n[workload.historian]\n[target]\n{target}\n");
        Study::from_toml(&text).map_or_else(|errors| errors.to_string(), |_| String::new())
    };
    let newer = "database = { at = \"sqlite:/a\", existing = \"replace\" }";
    for (older, key) in [
        ("existing = \"refuse\"", "target.existing"),
        ("keep = true", "target.keep"),
        ("url = \"sqlite:/b\"", "target.url"),
        ("store = [{ url = \"sqlite:/b\" }]", "target.store"),
    ] {
        let both = told(&format!("{newer}\n{older}"));
        assert!(
            both.contains(&format!("{key} is an old spelling of target.database, which is also given")),
            "{both}"
        );
        assert_eq!(told(older), "", "alone it is read");
    }
    assert_eq!(
        told("url = \"fake:\"\ndatabase = \"a\"\nkeep = true"),
        "",
        "the name of an address of that time"
    );
}

/// A store was loaded in the size of whichever trial came first, and driven as if it had the others'; a historian's database
/// was driven as a store.
#[test]
fn a_database_holds_one_thing_for_all_trials() {
    let told = |workload: &str| {
        let target = "[[target.database]]\nat = \"sqlite:/a\"\nexisting = \"replace\"";
        let text = format!("blocks = 1\n{workload}\n{target}\n");
        Plan::of(&Study::from_toml(&text).unwrap())
            .map_or_else(|errors| errors.to_string(), |_| String::new())
    };
    let sizes = |levels: &str| {
        told(&format!(
            "axis = [{{ key = \"workload.orders.size\", levels = [{levels}] }}]\n[workload.orders]"
        ))
    };
    assert_eq!(sizes("\"1MB\""), "");
    let two = sizes("\"1MB\", \"2MB\"");
    assert!(
        two.contains("/a would have to contain both an order store of 1MB and an order store of 2MB"),
        "{two}"
    );
    let both = told(
        "[[configuration]]\nname = \"a\"\nworkload.historian = {}\n[[configuration]]\nname = \"b\"\nworkload.orders = {}",
    );
    assert!(both.contains("/a would have to contain both historian and an order store"), "{both}");
}

/// What a workload needs of a target is said by the workload, and checked by one rule.
#[test]
fn a_target_has_what_a_workload_needs_and_no_more() {
    let told = |workload: &str, target: &str| {
        let text = format!("blocks = 1\n[workload.{workload}]\n[target]\n{target}");
        Plan::of(&Study::from_toml(&text).unwrap())
            .map_or_else(|errors| errors.to_string(), |_| String::new())
    };
    let two = "database = [\"sqlite:/a\", { at = \"sqlite:/b\" }]";
    assert_eq!(told("historian", two), "target.database: 2 databases, but a historian uses one");
    assert_eq!(told("orders", two), "");
    let counted = "database = { at = \"postgres://me@h/x\", count = 3 }";
    assert_eq!(told("historian", counted), "target.database: 3 databases, but a historian uses one");
    assert_eq!(told("orders", counted), "");
    for (workload, target, problem) in [
        ("orders", "database = [\"sqlite:/a\", \"sqlite:/a\"]", "/a is given twice"),
        ("orders", "database = \"pg\"", "`pg` is neither an address nor a server of the study"),
        ("orders", "database = { at = \"sqlite:/a\", count = 2 }", "target.database.count: does not apply"),
        ("orders", "database = { name = \"a\" }", "target.database.at: missing"),
        ("orders", "database = { at = \"sqlite:/a\", existing = \"reuse\" }", "already, use \"use\""),
        ("historian", "database = { at = \"sqlite:/a\", existing = \"use\" }", "already, use \"reuse\""),
        ("disk", "database = \"sqlite:/a\"", "target.paths: missing"),
        ("historian", "paths = [\"/a\"]", "target.database: missing"),
    ] {
        let told = told(workload, target);
        assert!(told.contains(problem) && told.lines().count() == 1, "{target}: {told}");
    }
}

/// The spellings of before are read, and a note shows how they are written now.
#[test]
fn an_older_spelling_is_read_and_shown_as_it_is_now() {
    let notes =
        |text: &str| Plan::of(&Study::from_toml(&format!("blocks = 1\n{text}")).unwrap()).unwrap().notes;
    let historian =
        "[workload.historian]\n[target]\nurl = \"postgres://me:secret@h/x\"\ndatabase = \"a\"\nkeep = true";
    let told = notes(historian);
    assert_eq!(told.len(), 1);
    assert!(
        told[0]
            .starts_with("target.url, target.keep use an old spelling. Write them as [target] database = {")
            && ["name = \"a\"", "keep = true", "postgres://me@h"].iter().all(|part| told[0].contains(part))
            && !told[0].contains("secret"),
        "{told:?}"
    );
    let stores = "[workload.orders]\n[[target.store]]\nurl = \"sqlite:/a\"\nload = \"1MB\"\n[[target.store]]\nurl = \"sqlite:/b\"\nload = \"1MB\"";
    let study = Study::from_toml(&format!("blocks = 1\n{stores}")).unwrap();
    let plan = Plan::of(&study).unwrap();
    let wanted = plan.trials[0].databases();
    assert_eq!(wanted.iter().map(|database| database.place()).collect::<Vec<_>>(), ["/a", "/b"]);
    assert!(
        wanted
            .iter()
            .all(|database| database.existing == database::Existing::Refuse && database.is_transient())
    );
    let note = &plan.notes[0];
    assert!(note.starts_with("target.store uses an old spelling. Write it as [target] "), "{note}");
    // What it teaches is no older spelling itself, and comes to the same.
    assert!(!note.contains("load ="), "{note}");
    assert!(
        note.ends_with(", and [workload.orders] size = \"1MB\"") && note.contains("existing = \"refuse\""),
        "{note}"
    );
    let again = Study::from_toml(&study.to_toml().unwrap()).unwrap();
    let again = Plan::of(&again).unwrap();
    assert_eq!(
        (again.trials[0].databases(), again.notes.len()),
        (wanted, 0),
        "what is stored is spelled as now"
    );
    assert_eq!(notes("[workload.historian]\n[target]\ndatabase = \"sqlite:/a\""), [""; 0]);
    let axis = "workload.historian.rate = 1\naxis = [{ key = \"target.url\", levels = [\"sqlite:/a\"] }]";
    assert_eq!(notes(axis), ["target.url is an old spelling of the axis target.database"]);
}

#[test]
fn metrics_that_nothing_measures_are_told() {
    told("metric = \"p99ms\"", &["metric: this study does not measure `p99ms`. It measures iops, mb_per_s"]);
    told("metric = \"records_per_s\"", &["does not measure `records_per_s`"]);
    told("thresholds = [\"trend_p99_ms < 20\"]", &["thresholds: this study does not measure `trend_p99_ms`"]);
    told("metric = \"p99_ms\"", &[]);
    told(
        "[published]\nsource = \"x\"\nfigures = [{ at.threads = \"1\", metric = \"opm\" }]",
        &[
            "does not measure `opm`",
            "a figure is assigned to threads, but the study has no such configuration or axis",
        ],
    );
}

#[test]
fn keys_without_effect_are_told() {
    told("compare = false\nmetric = \"iops\"", &["metric: no effect with compare = false"]);
    told(
        &format!("order = \"repeats\"\nthresholds = [\"gain > 5%\"]\naxis = [{DEPTHS}]"),
        &["`gain > 5%` needs another order"],
    );
    told("disk_size = \"1TB\"", &["disk_size: no effect without a trial of workload.historian"]);
    let own = "{ key = \"workload.disk.outstanding\", levels = [4, 4], reference = 4 }";
    told(
        &format!("axis = [{DEPTHS}]\n[[configuration]]\nname = \"a\"\naxis = [{own}]"),
        &["the level 4 is given twice", "`reference` is not allowed here"],
    );
}

#[test]
fn no_level_of_a_target_may_hold_a_password() {
    for levels in [
        "key = \"target.url\", levels = [\"postgres://a:secret@h/x\"]",
        "key = \"target.store\", levels = [[{ url = \"postgres://a:secret@h/x\" }]]",
    ] {
        told(&format!("axis = [{{ {levels} }}]"), &["an address must not contain a password"]);
    }
    let own = "{ key = \"target.url\", levels = [\"postgres://a:secret@h/x\"] }";
    told(
        &format!(
            "axis = [{{ key = \"target.url\", levels = [\"sqlite:x\"] }}]\n[[configuration]]\nname = \"a\"\naxis = [{own}]"
        ),
        &["an address must not contain a password"],
    );
}

/// A title, a name or a command that held `postgres://user:password@host` was stored and shown as it stood.
#[test]
fn passwords_are_stored_nowhere() {
    const URL: &str = "postgres://me:secret@h/x";
    for (text, place) in [
        (format!("title = \"{URL}\""), "title: contains an address"),
        (format!("slug = \"{URL}\""), "slug: contains"),
        (format!("before = \"psql {URL} -c x\""), "before: contains"),
        (format!("configuration = [{{ name = \"a {URL}\" }}]"), "configuration[1].name: contains"),
        (
            format!("axis = [{{ key = \"workload.disk.outstanding\", levels = [\"{URL}\"] }}]"),
            "outstanding: levels are",
        ),
        (
            format!("axis = [{{ key = \"workload.disk.outstanding\", levels = [1], names = [\"{URL}\"] }}]"),
            "outstanding: levels are",
        ),
    ] {
        let title = if text.starts_with("title") { "" } else { "title = \"t\"\n" };
        let told = mistakes(&format!("{title}{text}"));
        assert!(told.contains(place), "{told}");
        assert!(told.contains("PGPASSWORD or MYSQL_PWD"), "{told}");
    }
    assert_eq!(mistakes("title = \"postgres://me@h/x\"\nblocks = 7"), "");
}

/// A million levels were compared each with each, for minutes.
#[test]
fn lists_that_are_too_long_are_refused_before_anything_is_compared() {
    let numbers = |many: usize| (0..many).map(|number| format!("{number}, ")).collect::<String>();
    let axis = |many: usize| {
        format!(
            "blocks = 1\naxis = [{{ key = \"workload.disk.outstanding\", levels = [{}] }}]",
            numbers(many)
        )
    };
    told(&axis(1_000_000), &["axis.levels: 1000000 levels of an axis exceed the limit of 10000. Give fewer"]);
    let configurations = "{ name = \"a\" }, ".repeat(20_000);
    told(&format!("configuration = [{configurations}]"), &["20000 configurations exceed the limit of 10000"]);
    // The names of four thousand million databases were written out, until no memory was left.
    for levels in [
        "key = \"target.database.count\", levels = [4000000000]",
        "key = \"target.database\", levels = [{ at = \"postgres://h/x\", count = 4000000000 }]",
    ] {
        let text = format!(
            "blocks = 1\naxis = [{{ {levels} }}]\n[workload.orders]\n[target.database]\nat = \"postgres://h/y\""
        );
        let errors = Plan::of(&Study::from_toml(&text).unwrap()).unwrap_err().to_string();
        assert_eq!(
            errors,
            "target.database: 4000000000 databases of one target exceed the limit of 1000. Give fewer, or split the study"
        );
    }
    let thresholds = "\"p99_ms < 20\", ".repeat(2_000);
    told(&format!("thresholds = [{thresholds}]"), &["2000 thresholds exceed the limit of 1000"]);
}

/// A name of a megabyte stood in every trial's record.
#[test]
fn names_that_are_too_long_are_refused() {
    let long = "n".repeat(1_001);
    let begin = "`nnnnnnnnnnnnnnnnnnnn…` has 1001 bytes";
    for (text, place) in [
        (format!("title = \"{long}\""), "title"),
        (format!("slug = \"{long}\""), "slug"),
        (format!("configuration = [{{ name = \"{long}\" }}]"), "configuration.name"),
        (
            format!("axis = [{{ key = \"workload.disk.outstanding\", levels = [1], names = [\"{long}\"] }}]"),
            "workload.disk.outstanding",
        ),
    ] {
        told(&text, &[&format!("{place}: {begin}")]);
    }
    told(&format!("title = \"{}\"", &long[1..]), &[]);
}
