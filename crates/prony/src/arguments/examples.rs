//! Examples of every command, for `--help` and the manual. A test has clap read them all, so that none goes stale.

/// What an example does, and its line.
pub(crate) type Example = (&'static str, &'static str);

/// Those of commands by their names. One that is planned is measured by the same arguments, and has the same examples.
const EXAMPLES: &[(&str, &[Example])] = &[
    (
        "prony explain",
        &[
            ("What the warning [noisy] means and what to do", "prony explain noisy"),
            ("All rules", "prony explain"),
        ],
    ),
    (
        "prony check",
        &[
            ("What does this machine give a database? Two minutes", "prony check"),
            (
                "A quarter of that, of the disk under a directory, kept under a name",
                "prony check /data --duration 2s --file-size 256MiB --name before",
            ),
            (
                "Also what PostgreSQL makes of it, with its data and its log on other disks, two processors and 4 GiB",
                "prony check /log --managed postgres --data /data --log /log --cpus 2 --memory 4GiB",
            ),
        ],
    ),
    (
        "prony disk",
        &[
            (
                "A mixed load with 16 I/Os outstanding in each of two threads",
                "prony disk /data --block-size 8KiB --read-share 70 --outstanding 16 --threads 2",
            ),
            (
                "A log: every write on stable storage",
                "prony disk /data --read-share 0 --pattern sequential --write-through",
            ),
            (
                "Does it hold 5,000 reads a second? Ends with 3 if not",
                "prony disk /data --rate 5000/s --arrivals poisson --outstanding 64",
            ),
            ("CrystalDiskMark's rows", "prony disk /data --profile cdm8"),
        ],
    ),
    (
        "prony verify",
        &[
            ("Half a minute in a directory, as SQLIOSim would load it", "prony verify /data --profile quick"),
            (
                "An hour of a log, each write on stable storage, with pages of 4 KiB",
                "prony verify /log --profile log --write-through --block-size 4KiB --duration 1h",
            ),
            (
                "A device, all of it; what it holds is lost",
                "prony verify /dev/sdb --destroy SERIAL --threads 4 --duration 24h",
            ),
        ],
    ),
    (
        "prony historian",
        &[
            (
                "Does SQLite hold 3,700 records a second?",
                "prony historian --target sqlite:/data/historian.db --rate 3700/s --duration 10m",
            ),
            (
                "The highest rate that a server holds; some minutes",
                "prony historian --target postgres://me@localhost/postgres --find-max --quick",
            ),
            (
                "The same on a server that is started for it, within 2 GiB and one and a half processors",
                "prony historian --managed postgres --data /data --log /log --memory 2GiB --cpus 1.5 --find-max --quick",
            ),
            (
                "A recording, ten times as fast as it was made",
                "prony historian --target mysql://me@localhost/mysql --source csv:plant.csv --speed 10",
            ),
        ],
    ),
    (
        "prony script",
        &[
            (
                "A script of yours on your database, with 16 clients for a minute",
                "prony script transfer.sql --target postgres://me@localhost/mydb --clients 16",
            ),
            (
                "Three reads to each write, 500 transactions a second whatever becomes of them",
                "prony script read.sql@3 write.sql --target mysql://me@localhost/mydb --clients 32 --rate 500/s --poisson",
            ),
            (
                "pgbench's own transactions on any engine, with tables that are made for them, late ones counted",
                "prony script --builtin tpcb-like --scale 10 --managed mariadb --data /data --clients 16 --latency-limit 20ms",
            ),
            (
                "On a server that is started for it, with what one processor gives",
                "prony script transfer.sql --init tables.sql --define scale=10 --managed postgres --data /data --cpus 1",
            ),
            (
                "What a server logged, at twice its pace, on a copy of its database",
                "prony script --replay postgresql.csv --speed 2 --only-database shop --target postgres://me@localhost/copy",
            ),
        ],
    ),
    (
        "prony reporting",
        &[
            (
                "A million messages in SQLite; half a minute",
                "prony reporting --target sqlite:/data/reports.db",
            ),
            (
                "What a report of a tenth of ten million messages takes within 1 GiB of memory, as a procedure",
                "prony reporting --events 10000000 --access procedure --managed postgres --data /data --memory 1GiB",
            ),
            (
                "The same messages in a database of yours that is kept, so that the next run need not load them",
                "prony reporting --target mysql://me@localhost/mysql --keep",
            ),
        ],
    ),
    (
        "prony register",
        &[
            (
                "How long your database is away while you switch it over, and what it loses",
                "prony register --target postgres://me@db-1,db-2/postgres --duration 5m",
            ),
            (
                "More reads, fewer registers, and a tenth of a second is an outage",
                "prony register --target mysql://me@localhost/mysql --reads 80 --keys 10 --outage 100ms",
            ),
            (
                "A server that is started for it",
                "prony register --managed postgres --data /data --rate 2000/s --duration 30s",
            ),
        ],
    ),
    (
        "prony tables",
        &[
            ("Every kind of table that SQLite has, within this program", "prony tables --quick"),
            (
                "Those of a server, sixty million rows each, seven times so that differences are told from chance",
                "prony tables --target postgres://me@localhost/postgres --rows 60000000 --repeats 7",
            ),
            (
                "One kind alone, by procedures, on a server that is started for it",
                "prony tables --managed mariadb --data /data --kind volatile --access procedure",
            ),
        ],
    ),
    (
        "prony orders",
        &[
            ("Load a store, and drive it", "prony orders load --target sqlite:/data/orders.db --size 10MB"),
            ("", "prony orders run --target sqlite:/data/orders.db --clients 8 --duration 1m"),
        ],
    ),
    (
        "prony orders generate",
        &[("The rows of the smallest store as files", "prony orders generate --csv rows --size 10MB")],
    ),
    (
        "prony orders load",
        &[
            (
                "A store of DVD Store's medium size",
                "prony orders load --target postgres://me@localhost/postgres --size 1GB",
            ),
            (
                "Again, in place of the one that is there",
                "prony orders load --target sqlite:/data/orders.db --size 10MB --replace",
            ),
        ],
    ),
    (
        "prony orders run",
        &[
            (
                "32 clients who think for 20 ms after each order",
                "prony orders run --target postgres://me@localhost/postgres --clients 32 --think-time 20ms",
            ),
            (
                "Does it hold 60,000 orders a minute? Ends with 3 if not",
                "prony orders run --target postgres://me@localhost/postgres --clients 64 --rate 60000/min",
            ),
            (
                "Four small servers, as they were loaded before each of seven runs",
                "prony orders run --managed mariadb --instances 4 --memory 4GiB --size 100MB --repeats 7 --between-trials restore",
            ),
            (
                "DVD Store's own words and lines",
                "prony orders run --target sqlite:/data/orders.db --n-threads 8 --run-time 1m --warmup-time 10s --compat",
            ),
        ],
    ),
    (
        "prony orders verify",
        &[("Is everything there that was loaded?", "prony orders verify --target sqlite:/data/orders.db")],
    ),
    (
        "prony study",
        &[
            ("What is there, and what would it need?", "prony study list"),
            ("", "prony study plan sweep --place disk=/data"),
            ("A short look", "prony study run sweep --place disk=/data --quick"),
        ],
    ),
    (
        "prony study run",
        &[
            ("A study of your own", "prony study run flush-rows.toml"),
            (
                "One that was published, on a directory of yours",
                "prony study run sweep --place disk=/data --quick",
            ),
            (
                "With another parameter, and an end once all is settled",
                "prony study run flush-rows.toml --set workload.historian.duration=30s --blocks 20 --stop 'when settled'",
            ),
            (
                "For continuous integration, a case for each threshold",
                "prony study run flush-rows.toml --junit prony.xml",
            ),
        ],
    ),
    ("prony study list", &[("Names, and what each answers", "prony study list")]),
    (
        "prony study show",
        &[
            ("A file to begin one's own with", "prony study show hds-flush-rows > mine.toml"),
            ("What it answers, what it needs and how to adapt it", "prony study show hds-flush-rows --page"),
        ],
    ),
    (
        "prony study plan",
        &[
            ("How long, how much, and what is lacking", "prony study plan flush-rows.toml"),
            (
                "How many blocks find a gain of 5 % where trials scatter by 3 %",
                "prony study plan flush-rows.toml --gain '5 %' --noise '3 %'",
            ),
        ],
    ),
    (
        "prony study resume",
        &[("After a kill, or a reboot", "prony study resume prony-results/20261121T073000Z-flush-rows")],
    ),
    (
        "prony compare",
        &[
            ("What a change gave", "prony compare prony-results/before prony-results/after"),
            (
                "Several runs a side, by which better or worse can be said",
                "prony compare a1 a2 a3 --with b1 b2 b3 --smallest '5 %'",
            ),
            (
                "Ends with 3 where a change is shown to cost more than is allowed",
                "prony compare latest --baseline release --between 2% --fail-if 'p99_ms > +10 %' --fail-if 'iops < -5 %'",
            ),
            (
                "The same for continuous integration: a comment on the change, and the cases of JUnit",
                "prony compare latest --baseline release --between 2% --fail-if 'p99_ms > +10 %' --markdown comment.md --junit prony.xml",
            ),
        ],
    ),
    (
        "prony history",
        &[
            (
                "A nightly check that ends with 3 once a figure is worse than it was with the release",
                "prony check /data --results nightly",
            ),
            (
                "",
                "prony history nightly/* --baseline nightly/2026-10-01-release --smallest '5 %' --html --output history.html",
            ),
        ],
    ),
    (
        "prony inspect",
        &[
            (
                "What of this machine and this disk endangers data or costs performance?",
                "prony inspect /data",
            ),
            (
                "A server, the machine that it runs on, and the volumes of its data and its log",
                "prony inspect --target postgres://me@localhost/postgres",
            ),
            (
                "For a check that is to fail on what costs performance too",
                "prony inspect --target mysql://me@localhost/mysql --fail-on costs --json",
            ),
            (
                "From within a container that has the machine's root below /host",
                "prony inspect --root /host /host/data",
            ),
        ],
    ),
    ("prony plc", &[("Registers for a historian on the same machine to collect", "prony plc")]),
    (
        "prony sqlio",
        &[
            (
                "Random reads for six minutes, with latencies",
                "prony sqlio -kR -s360 -frandom -o8 -b8 -LS -Fparam.txt",
            ),
            ("All options", "prony sqlio '-?'"),
        ],
    ),
    (
        "prony plan",
        &[
            ("What would it do?", "prony plan check"),
            ("How long does a search take?", "prony plan historian --target sqlite:h.db --find-max"),
        ],
    ),
    (
        "prony plan orders",
        &[("A load, and a run on it", "prony plan orders load --target sqlite:/data/orders.db --size 1GB")],
    ),
    ("prony report", &[("Again from the records, with every table", "prony report latest --details")]),
    ("prony list", &[("All runs, and those of one disk", "prony list"), ("", "prony list --tag disk=nvme")]),
    (
        "prony instance",
        &[
            ("A PostgreSQL to look at, and its end", "prony instance start postgres --name lab"),
            ("", "prony instance stop lab"),
        ],
    ),
    (
        "prony instance start",
        &[
            (
                "A PostgreSQL within 2 GiB and one and a half processors, called lab",
                "prony instance start postgres --name lab --memory 2GiB --cpus 1.5 --setting work_mem=64MB",
            ),
            (
                "A MariaDB whose log is on another disk than its data",
                "prony instance start mariadb --name shop --data /data --log /log",
            ),
        ],
    ),
    ("prony instance list", &[("Also what a prony that was killed left", "prony instance list")]),
    ("prony instance stop", &[("The server, its data and its log are gone", "prony instance stop lab")]),
    ("prony instance shell", &[("psql on it", "prony instance shell lab")]),
    ("prony instance log", &[("What it said last", "prony instance log lab --lines 20")]),
    (
        "prony lab",
        &[
            (
                "A disk of 85 reads and writes a second, and its end",
                "prony lab create slow --read-iops 85 --write-iops 85",
            ),
            ("", "prony lab remove slow"),
        ],
    ),
    (
        "prony lab create",
        &[
            (
                "Four slow disks as one RAID 10, and a server on it",
                "prony lab create array --kind raid10 --file-system btrfs --read-iops 85 --write-iops 85 --directory /data",
            ),
            ("", "prony historian --managed postgres --data /run/prony/lab/array"),
            (
                "XFS with blocks of 64 KiB on sectors of 4 KiB",
                "prony lab create large --file-system xfs --block-size 64KiB --sector-size 4096",
            ),
        ],
    ),
    ("prony lab list", &[("Also what a prony that was killed left", "prony lab list")]),
    ("prony lab remove", &[("The volume and its files are gone", "prony lab remove slow")]),
    (
        "prony export",
        &[
            ("For DuckDB", "prony export prony-results/* --parquet --output runs.parquet"),
            ("", "duckdb -c \"FROM 'runs.parquet' WHERE valid AND metric = 'iops'\""),
            ("Second by second", "prony export latest --series --csv --output seconds.csv"),
        ],
    ),
    (
        "prony completions",
        &[(
            "For bash, from the next shell on",
            "prony completions bash > ~/.local/share/bash-completion/completions/prony",
        )],
    ),
    ("prony man", &[("A page", "prony man orders run | man -l -")]),
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
        let mut text = command.get_after_help().map_or_else(String::new, |text| format!("{text}\n\n"));
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

    #[test]
    fn every_command_line_of_the_pages_is_taken() {
        let readme = include_str!("../../../../README.md");
        let first = include_str!("../../../../docs/first-questions.md");
        let is_command = |text: &&str| text.starts_with("prony ");
        let of =
            |page: &'static str| page.lines().filter_map(|line| line.strip_prefix("    ")).filter(is_command);
        // README's words between lines leave parts out.
        let between = first.lines().flat_map(|line| line.split('`').skip(1).step_by(2)).filter(is_command);
        for (commands, least) in
            [(of(readme).collect::<Vec<&str>>(), 20), (of(first).collect(), 4), (between.collect(), 5)]
        {
            assert!(commands.len() >= least, "{commands:?}");
            commands.into_iter().for_each(is_taken);
        }
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
