//! What is run, in this order.

/// One command and what it must give.
pub(crate) struct Step {
    /// What it shows, in the table.
    pub(crate) name: &'static str,
    /// Words of the command. `{url}` is the server's address, `{url:OPTIONS}` the same with these options instead of its own, `{wrong}` with
    /// another password; `{db}` begins the name of a database of the suite.
    pub(crate) words: &'static str,
    pub(crate) gives: Gives,
    /// What prony says where the server has not what is needed.
    pub(crate) lacking: &'static [&'static str],
    /// The step that must have passed before.
    pub(crate) after: Option<&'static str>,
    /// Whether the sessions in its database are ended once, in its middle.
    pub(crate) is_cut: bool,
    /// Whether it takes minutes.
    pub(crate) is_long: bool,
}

/// What a command must give.
#[derive(Clone, Copy)]
pub(crate) enum Gives {
    /// It ends well.
    Success,
    /// It is refused with these words.
    Refusal(&'static str),
    /// One JSON document.
    Document,
    /// A historian: what it acknowledged is there, and no row was lost.
    Records,
    /// One whose old records are purged: no other one was lost.
    Purged,
    /// The same, and files were shrunk.
    Shrunk,
    /// Orders: what was acknowledged is there.
    Purchases,
    /// A kind of table: every operation was done, and each answer was right.
    Table,
}

const PLAIN: Step = Step {
    name: "",
    words: "",
    gives: Gives::Success,
    lacking: &[],
    after: None,
    is_cut: false,
    is_long: false,
};

/// A historian of three seconds.
const fn records(name: &'static str, words: &'static str) -> Step {
    Step { name, words, gives: Gives::Records, ..PLAIN }
}

const LOADED: &str = "orders: a store is loaded";

/// What needs a store that is loaded.
const fn purchases(name: &'static str, words: &'static str) -> Step {
    Step { name, words, gives: Gives::Purchases, after: Some(LOADED), ..PLAIN }
}

/// What another server that speaks T-SQL says of what it has not, and prony of what this version has not.
const NO_SUCH_TABLE: &[&str] = &["not currently supported", "this server has no"];

/// A kind of table, of few rows.
const fn table(name: &'static str, words: &'static str) -> Step {
    Step { name, words, gives: Gives::Table, lacking: NO_SUCH_TABLE, ..PLAIN }
}

pub(crate) const STEPS: &[Step] = &[
    Step {
        name: "inspect: settings and rights",
        words: "inspect --target {url} --json",
        gives: Gives::Document,
        ..PLAIN
    },
    records(
        "connection: the log-in alone encrypted",
        "historian --target {url:encrypt=off} --database {db}off --rate 1000 --warm-up 0s --duration 3s --json",
    ),
    records(
        "connection: all of it encrypted",
        "historian --target {url:encrypt=on&trust_server_certificate=true} --database {db}on --rate 1000 --warm-up 0s --duration 3s \
         --json",
    ),
    Step {
        lacking: &["strict", "TDS 8", "certificate", "handshake", "no answer"],
        ..records(
            "connection: strict (TDS 8, a certificate that is trusted)",
            "historian --target {url:encrypt=strict} --database {db}strict --rate 1000 --warm-up 0s --duration 3s --json",
        )
    },
    Step {
        name: "connection: a wrong password is refused",
        words: "historian --target {wrong} --database {db}wrong --duration 2s",
        gives: Gives::Refusal("check user and password"),
        ..PLAIN
    },
    records(
        "historian: bulk copies",
        "historian --target {url} --database {db}bulk --write-method bulk --rate 2000 --warm-up 0s --duration 3s --json",
    ),
    records(
        "historian: INSERTs of many rows",
        "historian --target {url} --database {db}multi --write-method multi-row --rate 2000 --warm-up 0s --duration 3s --json",
    ),
    records(
        "historian: INSERTs of one row",
        "historian --target {url} --database {db}batch --write-method batch --rate 500 --warm-up 0s --duration 3s --json",
    ),
    records(
        "historian: table-valued parameters",
        "historian --target {url} --database {db}table --write-method table-valued --rate 2000 --warm-up 0s --duration 3s --json",
    ),
    records(
        "historian: as fast as it goes, four writers, flushes of 1,000 rows, an index",
        "historian --target {url} --database {db}max --rate max --writers 4 --batch-rows 1000 --index true --screens 0 --warm-up 1s \
         --duration 4s --json",
    ),
    records(
        "historian: screens that read",
        "historian --target {url} --database {db}read --rate 1000 --screens 4 --screen-interval 1s --latest-interval 500ms --index true \
         --warm-up 0s --duration 4s --json",
    ),
    Step {
        gives: Gives::Purged,
        ..records(
            "historian: purges in blocks",
            "historian --target {url} --database {db}purge --rate 2000 --maintenance-interval 1s --retention 1s --index true --warm-up 0s \
             --duration 5s --json",
        )
    },
    Step {
        gives: Gives::Shrunk,
        lacking: &["tells of no files"],
        ..records(
            "historian: files that are shrunk after a purge",
            "historian --target {url} --database {db}shrink --rate 2000 --maintenance-interval 2s --retention 1s --shrink=true --warm-up 0s \
             --duration 5s --json",
        )
    },
    Step {
        gives: Gives::Purged,
        lacking: &["cannot empty a partition"],
        ..records(
            "historian: purges by partition",
            "historian --target {url} --database {db}part --rate 2000 --partition 1s --maintenance-interval 1s --retention 2s --warm-up 0s \
             --duration 5s --json",
        )
    },
    Step {
        lacking: &["does not say where it makes files", "tells of no files"],
        ..records(
            "historian: files of given sizes that grow by given steps",
            "historian --target {url} --database {db}files --data-size 64MiB --log-size 32MiB --growth 16MiB --rate 1000 --warm-up 0s \
             --duration 3s --json",
        )
    },
    Step {
        lacking: &["'ALTER DATABASE' is not currently supported"],
        ..records(
            "historian: a log that is kept for backups, commits that do not wait",
            "historian --target {url} --database {db}full --recovery full --delayed-durability forced --rate 1000 --warm-up 0s \
             --duration 3s --json",
        )
    },
    Step {
        is_cut: true,
        ..records(
            "historian: its sessions are killed in the middle",
            "historian --target {url} --database {db}cut --rate 1000 --max-buffered-events 100000 --screens 0 --warm-up 0s --duration 8s --json",
        )
    },
    records(
        "historian: a database is kept",
        "historian --target {url} --database {db}kept --keep --rate 1000 --warm-up 0s --duration 2s --json",
    ),
    Step {
        after: Some("historian: a database is kept"),
        ..records(
            "historian: and taken up again",
            "historian --target {url} --database {db}kept --reuse --keep --rate 1000 --warm-up 0s --duration 2s --json",
        )
    },
    Step {
        name: "historian: what is there already is not overwritten",
        words: "historian --target {url} --database {db}kept --rate 1000 --warm-up 0s --duration 2s",
        gives: Gives::Refusal("kept"),
        after: Some("historian: a database is kept"),
        ..PLAIN
    },
    Step {
        after: Some("historian: a database is kept"),
        ..records(
            "historian: but replaced where that is asked for",
            "historian --target {url} --database {db}kept --replace --rate 1000 --warm-up 0s --duration 2s --json",
        )
    },
    Step {
        is_long: true,
        gives: Gives::Document,
        ..records(
            "historian: the rate that is held is searched",
            "historian --target {url} --database {db}search --find-max --quick --json",
        )
    },
    Step { name: LOADED, words: "orders load --target {url} --database {db}store --size 10MB", ..PLAIN },
    Step {
        name: "orders: it is counted",
        words: "orders verify --target {url} --database {db}store",
        after: Some(LOADED),
        ..PLAIN
    },
    purchases(
        "orders: purchases by procedures",
        "orders run --target {url} --database {db}store --procedures on --clients 8 --think-time 0s --warm-up 1s --duration 4s --json",
    ),
    purchases(
        "orders: purchases by statements",
        "orders run --target {url} --database {db}store --procedures off --clients 8 --think-time 0s --warm-up 1s --duration 4s --json",
    ),
    purchases(
        "orders: at a rate",
        "orders run --target {url} --database {db}store --clients 8 --rate 600/min --warm-up 1s --duration 5s --json",
    ),
    purchases(
        "orders: clients on a ramp, with time to think",
        "orders run --target {url} --database {db}store --clients 8 --ramp-rate 10 --think-time 200ms --warm-up 2s --duration 5s --json",
    ),
    purchases(
        "orders: long carts and many searches",
        "orders run --target {url} --database {db}store --clients 4 --n-line-items 9 --n-searches 6 --search-batch-size 8 --think-time 0s \
         --warm-up 1s --duration 4s --json",
    ),
    Step {
        is_cut: true,
        ..purchases(
            "orders: its sessions are killed in the middle",
            "orders run --target {url} --database {db}store --clients 4 --think-time 100ms --warm-up 1s --duration 8s --json",
        )
    },
    Step {
        lacking: &["tells of no files"],
        ..purchases(
            "orders: a store that is restored from a snapshot",
            "orders run --target {url} --database {db}store --restore snapshot --repeats 2 --clients 4 --think-time 0s --warm-up 1s \
             --duration 3s --json",
        )
    },
    Step {
        lacking: &["does not say where it writes backups"],
        ..purchases(
            "orders: a store that is restored from a backup",
            "orders run --target {url} --database {db}store --restore backup --repeats 2 --clients 4 --think-time 0s --warm-up 1s \
             --duration 3s --json",
        )
    },
    table(
        "tables: rows on disk, prepared",
        "tables --target {url} --database {db}tables --kind row --access prepared --rows 20000 --warm-up 0s --duration 5s --json",
    ),
    table(
        "tables: rows on disk, ad-hoc statements",
        "tables --target {url} --database {db}tables --kind row --access ad-hoc --rows 20000 --warm-up 0s --duration 5s --json",
    ),
    table(
        "tables: rows on disk, procedures",
        "tables --target {url} --database {db}tables --kind row --access procedure --rows 20000 --warm-up 0s --duration 5s --json",
    ),
    table(
        "tables: delayed durability",
        "tables --target {url} --database {db}tables --kind relaxed --access prepared --rows 20000 --warm-up 0s --duration 5s --json",
    ),
    table(
        "tables: a clustered key",
        "tables --target {url} --database {db}tables --kind clustered --access prepared --rows 20000 --warm-up 0s --duration 5s --json",
    ),
    table(
        "tables: a covering index",
        "tables --target {url} --database {db}tables --kind covering --access prepared --rows 20000 --warm-up 0s --duration 5s --json",
    ),
    table(
        "tables: in memory, not durable",
        "tables --target {url} --database {db}tables --kind volatile --access prepared --rows 20000 --warm-up 0s --duration 5s --json",
    ),
    table(
        "tables: in memory, not durable, compiled procedures",
        "tables --target {url} --database {db}tables --kind volatile --access procedure --rows 20000 --warm-up 0s --duration 5s --json",
    ),
    table(
        "tables: in memory, durable",
        "tables --target {url} --database {db}tables --kind memory-durable --access ad-hoc --rows 20000 --warm-up 0s --duration 5s --json",
    ),
    table(
        "tables: in memory, durable, compiled procedures",
        "tables --target {url} --database {db}tables --kind memory-durable --access procedure --rows 20000 --warm-up 0s --duration 5s --json",
    ),
    table(
        "tables: rows with a columnstore index",
        "tables --target {url} --database {db}tables --kind columnstore-index --access prepared --rows 20000 --warm-up 0s --duration 5s --json",
    ),
    table(
        "tables: a clustered columnstore",
        "tables --target {url} --database {db}tables --kind columnstore --access prepared --rows 20000 --warm-up 0s --duration 5s --json",
    ),
    table(
        "tables: a clustered columnstore, archive",
        "tables --target {url} --database {db}tables --kind archive --access prepared --rows 20000 --warm-up 0s --duration 5s --json",
    ),
    Step {
        name: "studies: records per batch, as published",
        words: "study run hds-flush-rows --location server={url} --quick --json",
        gives: Gives::Document,
        is_long: true,
        ..PLAIN
    },
    Step {
        name: "studies: the real project, as published",
        words: "study run hds-real-project --location server={url} --quick --json",
        gives: Gives::Document,
        is_long: true,
        ..PLAIN
    },
    Step {
        name: "studies: time to think, as published",
        words: "study run r630-think-time --location server={url} --quick --json",
        gives: Gives::Document,
        is_long: true,
        ..PLAIN
    },
    Step {
        name: "studies: tables in memory, as published",
        words: "study run primequest-tables --location server={url} --location data=. --quick --json",
        gives: Gives::Document,
        is_long: true,
        ..PLAIN
    },
    Step {
        name: "studies: column stores, as published",
        words: "study run primequest-columnstore --location server={url} --location data=. --quick --json",
        gives: Gives::Document,
        is_long: true,
        ..PLAIN
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    /// None of the kinds of tables was run, of which the documentation says that they have not been.
    #[test]
    fn every_kind_of_table_that_sql_server_can_have_is_run() {
        let sql = include_str!("../../../workload/src/tables/sql/sqlserver.sql");
        let made = sql.split("-- name: ").skip(1).filter(|part| part.contains("CREATE TABLE"));
        let kinds: Vec<String> =
            made.map(|part| part.lines().next().unwrap_or_default().replace('_', "-")).collect();
        assert!(kinds.len() > 5, "{kinds:?}");
        for kind in kinds.iter().map(String::as_str).chain(["relaxed"]) {
            let words = format!("--kind {kind} ");
            assert!(STEPS.iter().any(|step| step.words.contains(&words)), "{kind}");
        }
    }

    #[test]
    fn steps_have_names_of_their_own_and_follow_those_that_they_need() {
        for (number, step) in STEPS.iter().enumerate() {
            let before = &STEPS[..number];
            assert!(before.iter().all(|other| other.name != step.name), "{} is there twice", step.name);
            if let Some(needed) = step.after {
                assert!(
                    before.iter().any(|other| other.name == needed),
                    "{}: {needed} is not before it",
                    step.name
                );
            }
            let is_of_suite = !step.words.contains("--database") || step.words.contains("--database {db}");
            assert!(is_of_suite, "{}: only databases of the suite", step.name);
        }
    }
}
