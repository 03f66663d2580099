//! Examples of every command, for `--help` and the manual. A test has clap read them all, so that none goes stale.

/// What an example does, and its line.
pub(crate) type Example = (&'static str, &'static str);

/// Those of commands by their names. One that is planned is measured by the same arguments, and has the same examples.
const EXAMPLES: &[(&str, &[Example])] = &[
    (
        "prony explain",
        &[
            ("Meaning of the warning [noisy], and the remedy", "prony explain noisy"),
            ("All rules", "prony explain"),
        ],
    ),
    (
        "prony check",
        &[
            ("Measure the disk and SQLite in about 100 s", "prony check"),
            (
                "Measure another directory in a quarter of the time, and name the run",
                "prony check /data --duration 2s --file-size 256MiB --name before",
            ),
            (
                "Also measure PostgreSQL, with data and log on different disks, 2 CPUs and 4 GiB",
                "prony check /log --managed postgres --data /data --log /log --cpus 2 --memory 4GiB",
            ),
        ],
    ),
    (
        "prony disk",
        &[
            (
                "Run a mixed load with 16 outstanding I/Os in each of two threads",
                "prony disk /data --block-size 8KiB --read-share 70 --outstanding 16 --threads 2",
            ),
            ("Measure as CrystalDiskMark does", "prony disk /data --profile cdm8"),
            (
                "Write like a log: every write on stable storage",
                "prony disk /data --read-share 0 --pattern sequential --write-through",
            ),
            (
                "Test whether 5,000 reads/s are sustained; the exit code is 3 if not",
                "prony disk /data --rate 5000/s --arrivals poisson --outstanding 64",
            ),
        ],
    ),
    (
        "prony verify",
        &[
            (
                "Test a directory for 30 seconds, with a load like SQLIOSim",
                "prony verify /data --profile quick",
            ),
            (
                "Test a log for one hour, with durable writes and pages of 4 KiB",
                "prony verify /log --profile log --write-through --block-size 4KiB --duration 1h",
            ),
            (
                "Test a whole device; its content is lost",
                "prony verify /dev/sdb --destroy SERIAL --threads 4 --duration 24h",
            ),
        ],
    ),
    (
        "prony historian",
        &[
            (
                "Find a server's highest sustained rate in a few minutes",
                "prony historian --target postgres://me@localhost/postgres --find-max --quick",
            ),
            (
                "Test whether SQLite sustains 3,700 records/s",
                "prony historian --target sqlite:/data/historian.db --rate 3700/s --duration 10m",
            ),
            (
                "Start a server with 2 GiB and 1.5 CPUs, and find its highest rate",
                "prony historian --managed postgres --data /data --log /log --memory 2GiB --cpus 1.5 --find-max --quick",
            ),
            (
                "Replay a recording ten times faster",
                "prony historian --target mysql://me@localhost/mysql --source csv:plant.csv --speed 10",
            ),
        ],
    ),
    (
        "prony script",
        &[
            (
                "Run your script on your database, with 16 clients for one minute",
                "prony script transfer.sql --target postgres://me@localhost/mydb --clients 16",
            ),
            (
                "Run pgbench's transactions on any engine, and count slow ones",
                "prony script --builtin tpcb-like --managed mariadb --clients 16 --latency-limit 20ms",
            ),
            (
                "Run three reads per write, at 500 transactions/s",
                "prony script read.sql@3 write.sql --target mysql://me@localhost/mydb --clients 32 --rate 500/s --poisson",
            ),
            (
                "Start a server with one CPU, and create your tables on it",
                "prony script transfer.sql --init tables.sql --define scale=10 --managed postgres --data /data --cpus 1",
            ),
            (
                "Replay the log of a server twice as fast, on a copy of its database",
                "prony script --replay postgresql.csv --speed 2 --only-database shop --target postgres://me@localhost/copy",
            ),
        ],
    ),
    (
        "prony analytics",
        &[
            (
                "Use one million messages in SQLite, for 30 seconds",
                "prony analytics --target sqlite:/data/reports.db",
            ),
            (
                "Keep the messages in your database, so that the next run does not have to load them",
                "prony analytics --target mysql://me@localhost/mysql --keep",
            ),
            (
                "Start a server with 1 GiB, and call a procedure that reports on 10 million messages",
                "prony analytics --events 10000000 --access procedure --managed postgres --data /data --memory 1GiB",
            ),
        ],
    ),
    (
        "prony failover",
        &[
            (
                "Measure the outage and lost writes while you switch over a database",
                "prony failover --target postgres://me@db-1,db-2/postgres --duration 5m",
            ),
            (
                "Start a server and kill it during the load",
                "prony failover --managed postgres --data /data --fault 'kill at 20s' --rate 2000/s",
            ),
            (
                "Use more reads and fewer registers, and count 100 ms as an outage",
                "prony failover --target mysql://me@localhost/mysql --reads 80 --keys 10 --outage 100ms",
            ),
        ],
    ),
    (
        "prony tables",
        &[
            ("Measure every kind of table of the built-in SQLite", "prony tables --quick"),
            (
                "Measure the kinds of a server seven times, with 60 million rows each",
                "prony tables --target postgres://me@localhost/postgres --rows 60000000 --repeats 7",
            ),
            (
                "Start a server, and measure one kind of table with procedures",
                "prony tables --managed mariadb --data /data --kind volatile --access procedure",
            ),
        ],
    ),
    (
        "prony orders",
        &[
            (
                "Load a store, then run orders on it",
                "prony orders load --target sqlite:/data/orders.db --size 10MB",
            ),
            ("", "prony orders run --target sqlite:/data/orders.db --clients 8 --duration 1m"),
        ],
    ),
    (
        "prony orders generate",
        &[("Write the rows of a small store to files", "prony orders generate --csv rows --size 10MB")],
    ),
    (
        "prony orders load",
        &[
            (
                "Load a store of DVD Store's medium size",
                "prony orders load --target postgres://me@localhost/postgres --size 1GB",
            ),
            (
                "Replace an existing store",
                "prony orders load --target sqlite:/data/orders.db --size 10MB --replace",
            ),
        ],
    ),
    (
        "prony orders run",
        &[
            (
                "Run 32 clients, with a mean wait of 20 ms after each order",
                "prony orders run --target postgres://me@localhost/postgres --clients 32 --think-time 20ms",
            ),
            (
                "Test whether 60,000 orders/min are sustained; the exit code is 3 if not",
                "prony orders run --target postgres://me@localhost/postgres --clients 64 --rate 60000/min",
            ),
            (
                "Start four servers, and restore them before each of seven trials",
                "prony orders run --managed mariadb --instances 4 --memory 4GiB --size 100MB --repeats 7 --between-trials restore",
            ),
            (
                "Use DVD Store's options and output",
                "prony orders run --target sqlite:/data/orders.db --n-threads 8 --run-time 1m --warmup-time 10s --compat",
            ),
        ],
    ),
    (
        "prony orders verify",
        &[("Test that all loaded rows exist", "prony orders verify --target sqlite:/data/orders.db")],
    ),
    (
        "prony study",
        &[
            ("List studies, and show the plan of one", "prony study list"),
            ("", "prony study plan sweep --location disk=/data"),
            ("Run it for a first impression", "prony study run sweep --location disk=/data --quick"),
        ],
    ),
    (
        "prony study run",
        &[
            ("Run your own study", "prony study run batch-rows.toml"),
            (
                "Run a published study on your directory",
                "prony study run sweep --location disk=/data --quick",
            ),
            (
                "Change a parameter, and stop when all comparisons are settled",
                "prony study run batch-rows.toml --set workload.historian.duration=30s --blocks 20 --stop settled",
            ),
            (
                "Write a test case for each threshold, for continuous integration",
                "prony study run batch-rows.toml --junit prony.xml",
            ),
        ],
    ),
    ("prony study list", &[("List names and questions", "prony study list")]),
    (
        "prony study show",
        &[
            ("Copy a study file, to edit it", "prony study show hds-flush-rows > mine.toml"),
            ("Print the page of a study", "prony study show hds-flush-rows --page"),
        ],
    ),
    (
        "prony study plan",
        &[
            ("Show time, bytes written and missing requirements", "prony study plan batch-rows.toml"),
            (
                "Compute how many blocks detect a gain of 5% with 3% noise",
                "prony study plan batch-rows.toml --gain 5% --noise 3%",
            ),
        ],
    ),
    (
        "prony study resume",
        &[(
            "Continue after a kill or a reboot",
            "prony study resume prony-results/20261121T073000Z-batch-rows",
        )],
    ),
    (
        "prony compare",
        &[
            ("Compare two runs", "prony compare prony-results/before prony-results/after"),
            (
                "Compare several runs per side, to judge whether one side is better",
                "prony compare a1 a2 a3 --candidate b1 b2 b3 --min-effect 5%",
            ),
            (
                "Fail with exit code 3 if a figure is certainly worse than allowed",
                "prony compare latest --baseline release --run-sd 2% --fail-if 'p99_ms > +10%' --fail-if 'iops < -5%'",
            ),
            (
                "Write a comment and JUnit cases, for continuous integration",
                "prony compare latest --baseline release --run-sd 2% --fail-if 'p99_ms > +10%' --markdown comment.md --junit prony.xml",
            ),
        ],
    ),
    (
        "prony history",
        &[
            (
                "Measure every night, and exit with code 3 if a figure is worse than the release",
                "prony check /data --results nightly",
            ),
            ("", "prony history nightly/* --results nightly --baseline release --html --output history.html"),
        ],
    ),
    (
        "prony inspect",
        &[
            ("Inspect this machine and the disk of a directory", "prony inspect /data"),
            (
                "Inspect a server, its machine, and its volumes",
                "prony inspect --target postgres://me@localhost/postgres",
            ),
            (
                "Also fail on settings that cost performance",
                "prony inspect --target mysql://me@localhost/mysql --fail-on costs --json",
            ),
            (
                "Inspect a machine from a container that has the machine's root in /host",
                "prony inspect --root /host /host/data",
            ),
        ],
    ),
    ("prony plc", &[("Serve registers for a historian on this machine", "prony plc")]),
    (
        "prony sqlio",
        &[
            (
                "Read at random for six minutes, and print latencies",
                "prony sqlio -kR -s360 -frandom -o8 -b8 -LS -Fparam.txt",
            ),
            ("Print all options", "prony sqlio '-?'"),
        ],
    ),
    (
        "prony plan",
        &[
            ("Show what a check would do", "prony plan check"),
            ("Show how long a search would take", "prony plan historian --target sqlite:h.db --find-max"),
        ],
    ),
    (
        "prony plan orders",
        &[("Show the plan of a load", "prony plan orders load --target sqlite:/data/orders.db --size 1GB")],
    ),
    ("prony report", &[("Print the last report again, with every table", "prony report latest --details")]),
    (
        "prony list",
        &[("List all runs", "prony list"), ("List the runs of one disk", "prony list --tag disk=nvme")],
    ),
    (
        "prony instance",
        &[
            ("Start a PostgreSQL server, then stop it", "prony instance start postgres --name lab"),
            ("", "prony instance stop lab"),
        ],
    ),
    (
        "prony instance start",
        &[
            (
                "Start a PostgreSQL server with 2 GiB and 1.5 CPUs",
                "prony instance start postgres --name lab --memory 2GiB --cpus 1.5 --setting work_mem=64MB",
            ),
            (
                "Start a MariaDB server with data and log on different disks",
                "prony instance start mariadb --name shop --data /data --log /log",
            ),
        ],
    ),
    (
        "prony instance list",
        &[("List servers, including those left by a killed prony", "prony instance list")],
    ),
    ("prony instance stop", &[("Stop a server, and delete its data and log", "prony instance stop lab")]),
    ("prony instance shell", &[("Open psql on a server", "prony instance shell lab")]),
    (
        "prony instance log",
        &[("Print the last 20 lines of a server's log", "prony instance log lab --lines 20")],
    ),
    (
        "prony lab",
        &[
            (
                "Create a disk with 85 reads/s and 85 writes/s, then delete it",
                "prony lab create slow --read-iops 85 --write-iops 85",
            ),
            ("", "prony lab remove slow"),
        ],
    ),
    (
        "prony lab create",
        &[
            (
                "Create a RAID 10 of four slow disks, and run a server on it",
                "prony lab create array --kind raid10 --file-system btrfs --read-iops 85 --write-iops 85 --directory /data",
            ),
            ("", "prony historian --managed postgres --data /run/prony/lab/array"),
            (
                "Create an XFS volume with blocks of 64 KiB on sectors of 4 KiB",
                "prony lab create large --file-system xfs --block-size 64KiB --sector-size 4096",
            ),
        ],
    ),
    ("prony lab list", &[("List lab volumes, including those left by a killed prony", "prony lab list")]),
    ("prony lab remove", &[("Delete a lab volume and its files", "prony lab remove slow")]),
    (
        "prony export",
        &[
            ("Export for DuckDB, then query", "prony export prony-results/* --parquet --output runs.parquet"),
            ("", "duckdb -c \"FROM 'runs.parquet' WHERE valid AND metric = 'iops'\""),
            ("Export every second", "prony export latest --series --csv --output seconds.csv"),
        ],
    ),
    (
        "prony completions",
        &[(
            "Install completion for bash, for new shells",
            "prony completions bash > ~/.local/share/bash-completion/completions/prony",
        )],
    ),
    (
        "prony man",
        &[
            ("Read the manual page of a command", "prony man orders run | man -l -"),
            ("Print the text of all warnings as Markdown", "prony man --markdown warnings"),
        ],
    ),
];

/// Those of a command by its words after `prony`; of `plan …` with that before them.
pub(crate) fn of(path: &[&str]) -> Vec<(&'static str, String)> {
    let find = |path: &[&str]| {
        let name = format!("prony {}", path.join(" "));
        EXAMPLES.iter().find(|(of, _)| *of == name).map(|(_, examples)| *examples)
    };
    let as_is =
        |examples: &[Example]| examples.iter().map(|(what, line)| (*what, (*line).to_owned())).collect();
    match (find(path), path) {
        (Some(examples), _) => as_is(examples),
        (None, ["plan", planned @ ..]) => {
            let planned = find(planned).unwrap_or_default().iter();
            planned.map(|(what, line)| (*what, line.replacen("prony ", "prony plan ", 1))).collect()
        }
        (None, _) => Vec::new(),
    }
}

/// Puts its examples under the long help of each command.
pub(crate) fn shown(command: clap::Command) -> clap::Command {
    below(command, &[])
}

fn below(command: clap::Command, path: &[&str]) -> clap::Command {
    let examples = of(path);
    let command = if examples.is_empty() {
        command
    } else {
        let mut text = command.get_after_long_help().map_or_else(String::new, |text| format!("{text}\n\n"));
        text += "Examples:";
        for (what, line) in examples {
            if !what.is_empty() {
                text += &format!("\n  {what}:");
            }
            text += &format!("\n      {line}");
        }
        command.after_long_help(text)
    };
    command.mut_subcommands(|inner| {
        let name = inner.get_name().to_owned();
        let path: Vec<&str> = path.iter().copied().chain([name.as_str()]).collect();
        below(inner, &path)
    })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::arguments::Arguments;
    use crate::config::Config;

    /// Words of a line as a shell would hand them on, up to a remark and to where it goes to another program or file.
    fn words(line: &str) -> Vec<String> {
        let mut words = Vec::new();
        let mut quoted = None;
        let mut word = String::new();
        for c in line.chars().chain([' ']) {
            match (quoted, c) {
                (None, '\'' | '"') => quoted = Some(c),
                (Some(quote), c) if quote == c => quoted = None,
                (None, ' ') => words.extend(Some(std::mem::take(&mut word)).filter(|word| !word.is_empty())),
                (_, c) => word.push(c),
            }
        }
        words.into_iter().take_while(|word| !["|", ">", "#"].contains(&word.as_str())).collect()
    }

    fn is_taken(line: &str) {
        let parsed = crate::parse(words(line).into_iter().map(Into::into).collect(), &Config::default());
        assert!(parsed.is_ok(), "{line}\n{}", parsed.unwrap_err());
    }

    fn check(command: &clap::Command, path: &[&str]) {
        let examples = of(path);
        assert!(path.is_empty() || !examples.is_empty(), "prony {} has no example", path.join(" "));
        for (_, line) in examples.iter().filter(|(_, line)| line.starts_with("prony ")) {
            is_taken(line);
        }
        for inner in command.get_subcommands() {
            let path: Vec<&str> = path.iter().copied().chain([inner.get_name()]).collect();
            check(inner, &path);
        }
    }

    #[test]
    fn every_command_has_examples_and_takes_them() {
        check(&Arguments::command(), &[]);
    }

    /// README and the pages of docs/, with their names.
    fn pages() -> Vec<(String, String)> {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let docs = std::fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path());
        // A program writes the benchmark figures. The page has lines that only look like commands.
        let pages = docs.filter(|path| {
            path.extension().is_some_and(|kind| kind == "md") && !path.ends_with("benchmarks.md")
        });
        let pages = pages.chain([root.join("README.md")]);
        pages.map(|path| (path.display().to_string(), std::fs::read_to_string(path).unwrap())).collect()
    }

    /// Command lines of a page: lines in code blocks, and complete commands between backticks.
    fn command_lines(page: &str) -> Vec<String> {
        let mut is_fenced = false;
        let mut lines = Vec::new();
        for line in page.lines() {
            is_fenced ^= line.trim_start().starts_with("```");
            let is_code = is_fenced || line.starts_with("    ");
            let joined = lines.last_mut().filter(|last: &&mut String| is_code && last.ends_with('\\'));
            match joined {
                Some(last) => *last = last.trim_end_matches('\\').to_owned() + line.trim(),
                None if is_code => {
                    lines.extend(
                        line.split("; sudo ").map(|line| line.trim().trim_start_matches("sudo ").to_owned()),
                    );
                }
                None => {}
            }
        }
        // Output of a program, and lines with placeholders, are not command lines.
        lines.retain(|line| line.starts_with("prony ") && !line.contains(['…', '[', '<']));
        lines
    }

    #[test]
    fn every_command_line_of_the_pages_is_taken() {
        let lines: Vec<(String, String)> = pages()
            .into_iter()
            .flat_map(|(name, page)| command_lines(&page).into_iter().map(move |line| (name.clone(), line)))
            .collect();
        assert!(lines.len() >= 60, "{lines:#?}");
        let refused: Vec<String> = lines
            .iter()
            .filter_map(|(name, line)| {
                let parsed =
                    crate::parse(words(line).into_iter().map(Into::into).collect(), &Config::default());
                Some(format!("{name}: {line}\n{}", parsed.err()?))
            })
            .collect();
        assert!(refused.is_empty(), "{}", refused.join("\n"));
    }

    /// True if a file or directory contains only test code.
    fn is_of_tests(path: &std::path::Path) -> bool {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        name == "tests" || name.ends_with("_tests")
    }

    /// All sources of the program as one text. Literals are as printed, without line breaks.
    fn sources(directory: &std::path::Path) -> String {
        let mut text = String::new();
        for entry in std::fs::read_dir(directory).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if is_of_tests(&path) {
                continue;
            }
            if path.is_dir() {
                text += &sources(&path);
            } else if path.extension().is_some_and(|kind| kind == "rs" || kind == "toml") {
                let source = std::fs::read_to_string(&path).unwrap();
                let source = source.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
                let mut parts = source.split("\\\n");
                text += parts.next().unwrap_or_default();
                parts.for_each(|part| text += part.trim_start());
            }
        }
        text.replace("\\\"", "\"")
    }

    /// Without this test, the answer to a reworded message would stay under the old message.
    #[test]
    fn every_message_of_the_questions_is_one_of_the_program() {
        let crates = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let directories = std::fs::read_dir(&crates).unwrap().map(|entry| entry.unwrap().path().join("src"));
        let text: String = directories.filter(|src| src.is_dir()).map(|src| sources(&src)).collect();
        let page = include_str!("../../../../docs/faq.md");
        let headings = page.lines().filter_map(|line| line.strip_prefix("## `")?.strip_suffix('`'));
        let messages: Vec<&str> = headings.collect();
        assert!(messages.len() >= 25, "{messages:?}");
        let unknown: Vec<&&str> = messages.iter().filter(|message| !text.contains(**message)).collect();
        assert!(unknown.is_empty(), "no source has {unknown:?}");
    }

    #[test]
    fn no_example_is_of_a_command_that_there_is_not() {
        for (path, examples) in EXAMPLES {
            let find = |command: &clap::Command, name: &str| command.find_subcommand(name).cloned();
            let found =
                path.split(' ').skip(1).try_fold(Arguments::command(), |command, name| find(&command, name));
            assert!(found.is_some(), "{path}");
            assert!(!examples.is_empty() && !examples[0].0.is_empty(), "{path}");
        }
    }
}
