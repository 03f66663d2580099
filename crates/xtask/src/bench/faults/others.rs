//! Databases of others under the names that prony uses: what was there is there afterwards, by SQL of our own.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, ensure};

use super::lab::Lab;
use super::process::{self, Started};
use super::random::{Random, hash};
use super::server::{Kind, Server};
use super::server_killed::load_has_begun;
use super::tally::{Findings, Tally};

/// A historian whose database was taken away tries for long.
const LIMIT: Duration = Duration::from_secs(240);
const BEGIN_LIMIT: Duration = Duration::from_secs(60);
/// What others do they do within this time after a load began.
const MEANWHILE: Duration = Duration::from_millis(2500);

/// Of the historian and of the order store.
const NAMES: [&str; 2] = ["prony_historian", "prony_orders"];

const QUICK: &str = "historian --rate 100 --warm-up 0s --duration 300ms --screens 0";
const LONG: &str = "historian --rate 500 --warm-up 0s --duration 2s --screens 0";

/// Commands that may not take what carries no mark.
const GREEDY: [&str; 8] = [
    QUICK,
    "historian --rate 100 --warm-up 0s --duration 300ms --screens 0 --replace",
    "historian --rate 100 --warm-up 0s --duration 300ms --screens 0 --reuse",
    "orders load --size 1MB",
    "orders load --size 1MB --replace",
    "orders run --warmup-time 0s --run-time 300ms",
    "study run historian.toml",
    "study run orders.toml",
];
/// Commands that may not take what another run made.
const MODEST: [&str; 4] =
    [QUICK, "orders load --size 1MB", "study run historian.toml", "study run orders.toml"];

#[derive(Clone, Copy, Debug)]
enum Situation {
    /// One without a mark.
    Unmarked,
    /// One that another run made and left, with a table of the user's.
    OfAnotherRun,
    /// While a historian runs, its database is removed and another one made under its name.
    Replaced,
    /// While a historian runs, its database is given another name.
    Renamed,
    /// One under a name that prony uses for a moment only.
    HalfName,
}

/// Renaming and half names are of PostgreSQL alone.
const SITUATIONS: [Situation; 5] = [
    Situation::Unmarked,
    Situation::OfAnotherRun,
    Situation::Replaced,
    Situation::Renamed,
    Situation::HalfName,
];
const MARIADB_SITUATIONS: usize = 3;

struct Scene<'a> {
    lab: &'a Lab,
    kind: Kind,
    server: Server,
    directory: PathBuf,
}

pub(super) fn run(lab: &Lab, kind: Kind) -> Result<Tally> {
    let server = Server::start(kind)?;
    let before = server.databases()?;
    let mut scene = Scene { lab, kind, server, directory: lab.fresh("work")? };
    let situations = match kind {
        Kind::Postgres => &SITUATIONS[..],
        Kind::MariaDb => &SITUATIONS[..MARIADB_SITUATIONS],
    };
    let mut tally = Tally::default();
    for number in 0..lab.cases() {
        scene.server.drop_new(&before)?;
        scene.directory = lab.fresh("work")?;
        write_studies(&scene)?;
        let mut random = lab.random(number);
        let situation = situations[number as usize % situations.len()];
        let (case, found) = match situation {
            Situation::Unmarked => scene.unmarked(&mut random)?,
            Situation::OfAnotherRun => scene.of_another_run(&mut random)?,
            Situation::Replaced => scene.replaced(&mut random)?,
            Situation::Renamed => scene.renamed(&mut random)?,
            Situation::HalfName => scene.half_name(&mut random)?,
        };
        tally.count(&format!("case {}: {situation:?}: {case}", number + 1), found);
    }
    Ok(tally)
}

/// Studies that would make, load and remove databases of the default names.
fn write_studies(scene: &Scene<'_>) -> Result<()> {
    let url = scene.server.url();
    let historian = format!(
        "blocks = 1\nworkload.historian = {{ rate = 100, warm_up = \"0s\", duration = \"300ms\", screens = 0 }}\n\
         target.url = \"{url}\"\n\
         axis = [{{ key = \"workload.historian.flush_rows\", levels = [10, 40] }}]\n"
    );
    let orders = format!(
        "blocks = 1\nworkload.orders = {{ warmup_time = \"0s\", run_time = \"300ms\" }}\n\
         target.store = [{{ url = \"{url}\", load = \"1MB\" }}]\n\
         axis = [{{ key = \"workload.orders.n_searches\", levels = [1, 2] }}]\n"
    );
    fs::write(scene.directory.join("historian.toml"), historian)?;
    fs::write(scene.directory.join("orders.toml"), orders)?;
    Ok(())
}

impl Scene<'_> {
    fn command(&self, words: &str) -> std::process::Command {
        let mut command = self.lab.prony(words, &self.directory);
        if !words.starts_with("study") {
            command.args(["--target", &self.server.url()]);
        }
        command
    }

    /// Tables of a database, and what is in that of the user's and in the historian's.
    fn state(&self, name: &str) -> Result<String> {
        let sql = match self.kind {
            Kind::Postgres => "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1",
            Kind::MariaDb => "SHOW TABLES",
        };
        let tables = self.server.ask(Some(name), sql)?;
        let mut state = tables.clone();
        for table in ["users_data", "samples", "orders", "store"] {
            if tables.lines().any(|line| line == table) {
                let rows = self.server.ask(Some(name), &format!("SELECT count(*) FROM {table}"))?;
                state = format!("{state}\n{table}: {rows} rows");
            }
        }
        let values = self.server.ask(Some(name), "SELECT x FROM users_data ORDER BY x")?;
        Ok(format!("{state}\n{values}"))
    }

    fn make(&self, name: &str) -> Result<()> {
        self.server.ask(None, &format!("CREATE DATABASE {name}"))?;
        self.add_table(name)
    }

    fn add_table(&self, name: &str) -> Result<()> {
        let sql = "CREATE TABLE users_data (x int); INSERT INTO users_data VALUES (1), (2), (3)";
        self.server.ask(Some(name), sql).map(drop)
    }

    /// What is wrong if a database is not as it was.
    fn changed(&self, name: &str, before: &str, ended: &process::Ended) -> Findings {
        let mut found = ended.faults();
        match self.state(name) {
            Ok(now) if now == before => {}
            Ok(now) => found.add(format!("{name} was\n{before}\nand is\n{now}\nafter {}", ended.shown())),
            Err(error) => found.add(format!("{name} is harmed: {error:#}\nafter {}", ended.shown())),
        }
        found
    }

    fn unmarked(&self, random: &mut Random) -> Result<(String, Findings)> {
        NAMES.iter().try_for_each(|name| self.make(name))?;
        // A table that prony has too, empty so that it looks as if nobody would miss it.
        let of_prony = random.pick(&["samples", "orders", "store", "layout"]);
        for name in NAMES {
            self.server.ask(Some(name), &format!("CREATE TABLE {of_prony} (x int)"))?;
        }
        let words = *random.pick(&GREEDY);
        self.left_alone(words)
    }

    fn of_another_run(&self, random: &mut Random) -> Result<(String, Findings)> {
        for words in [format!("{QUICK} --keep"), "orders load --size 1MB".to_owned()] {
            let made = process::run(self.command(&words), LIMIT)?;
            ensure!(matches!(made.code(), Some(0 | 4)), "{}", made.shown());
        }
        NAMES.iter().try_for_each(|name| self.add_table(name))?;
        let words = *random.pick(&MODEST);
        self.left_alone(words)
    }

    /// Both databases are as they were after a command.
    fn left_alone(&self, words: &str) -> Result<(String, Findings)> {
        let before = NAMES.map(|name| self.state(name));
        let ended = process::run(self.command(words), LIMIT)?;
        let mut found = Findings::default();
        for (name, before) in NAMES.iter().zip(before) {
            found.extend(self.changed(name, &before?, &ended));
        }
        Ok((format!("`{words}`"), found))
    }

    /// A historian that has begun, at a moment after that.
    fn begun(&self, words: &str, random: &mut Random) -> Result<(Started, Duration)> {
        let mut started = Started::new(self.command(words))?;
        let has_begun = started.wait_until(BEGIN_LIMIT, || load_has_begun(&self.directory))?;
        ensure!(has_begun, "it did not begin: {}", started.ended_within(Duration::ZERO)?.shown());
        let moment = random.moment(MEANWHILE);
        let age = started.age();
        started.runs_until(age + moment)?;
        Ok((started, moment))
    }

    fn replaced(&self, random: &mut Random) -> Result<(String, Findings)> {
        let name = NAMES[0];
        let (started, moment) = self.begun(LONG, random)?;
        let by_others = self.server.drop_database(name).and_then(|()| self.make(name));
        let before = by_others.and_then(|()| self.state(name));
        let ended = started.ended_within(LIMIT)?;
        let found = match before {
            Ok(before) => self.changed(name, &before, &ended),
            Err(error) => [format!("it was taken from its owner at once: {error:#}")].into_iter().collect(),
        };
        Ok((format!("`{LONG}`, {moment:?} after its load began"), found))
    }

    fn renamed(&self, random: &mut Random) -> Result<(String, Findings)> {
        let (from, to) = (NAMES[0], "archive");
        let words = format!("{LONG} --keep");
        // Kept, so that it is there whenever it is renamed.
        let (started, moment) = self.begun(&words, random)?;
        for sql in [
            format!("ALTER DATABASE {from} ALLOW_CONNECTIONS false"),
            format!("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '{from}'"),
            format!("ALTER DATABASE {from} RENAME TO {to}"),
            format!("ALTER DATABASE {to} ALLOW_CONNECTIONS true"),
        ] {
            self.server.ask(None, &sql)?;
        }
        self.add_table(to)?;
        let before = self.state(to)?;
        let ended = started.ended_within(LIMIT)?;
        Ok((format!("`{words}`, {moment:?} after its load began"), self.changed(to, &before, &ended)))
    }

    /// The names under which prony makes and removes databases on PostgreSQL.
    fn half_name(&self, random: &mut Random) -> Result<(String, Findings)> {
        let of = *random.pick(&NAMES);
        let end = hash(of);
        let name = format!("{}_{end:016x}", random.pick(&["prony_new", "prony_old"]));
        self.make(&name)?;
        let before = self.state(&name)?;
        let words = *random.pick(&GREEDY);
        let ended = process::run(self.command(words), LIMIT)?;
        Ok((format!("`{words}` beside {name}"), self.changed(&name, &before, &ended)))
    }
}
