//! What is wrong with targets: what a workload needs and has not, or has too much of, and servers that this version cannot start.

use std::collections::BTreeSet;

use database::{Existing, Saving, Url, is_name};
use load::{Span, TargetNeeds};

use crate::expand::Point;
use crate::mistake::{StudyError, mistake};
use crate::study::Study;
use crate::target::{At, Cluster, Database, Engine, Server, Target, WantedDatabase};

/// Key of a target's databases.
const DATABASE: &str = "target.database";
/// Key of the name of one.
const NAME: &str = "target.database.name";
/// Keys of a database that say where its files lie.
const FILES: [&str; 5] = ["data_dir", "log_dir", "data_size", "log_size", "growth"];
/// Longest name of a file, and longest path, on the file systems of Linux.
const FILE_NAME_BYTES_MAX: usize = 255;
const PATH_BYTES_MAX: usize = 4095;

/// Mistakes of the targets of all combinations.
pub(crate) fn points(study: &Study, points: &[Point]) -> Vec<StudyError> {
    let mut errors: Vec<StudyError> = points.iter().flat_map(of_point).collect();
    errors.extend(check_reuse(study, points));
    if errors.is_empty() {
        errors.extend(asked_in_two_ways(points));
    }
    errors
}

fn of_point(point: &Point) -> Vec<StudyError> {
    let target = &point.target;
    let mut errors = check_servers(target);
    errors.extend(check_faults(point));
    let has_none = errors.is_empty();
    match point.work.any().needs() {
        TargetNeeds::Nothing => {}
        TargetNeeds::Paths => {
            let problem = "missing. Give directories, files or devices, for example [\"/data\"]";
            errors.extend(target.paths.is_empty().then(|| mistake("target.paths", problem)));
        }
        TargetNeeds::Databases { such_as, .. } if target.databases().is_empty() => {
            let problem = format!("missing. Give the address of a database, for example \"{such_as}\"");
            errors.extend(has_none.then(|| mistake(DATABASE, problem)));
        }
        needs @ TargetNeeds::Databases { .. } => errors.extend(check_databases(target, needs)),
    }
    errors
}

/// What is broken on purpose: it can be done, is over before the load is, and the workload goes on meanwhile.
fn check_faults(point: &Point) -> Vec<StudyError> {
    let work = point.work.any();
    let load_end = Span { ns: work.phases().end_ns() };
    let told = |key: String, mut problems: Vec<String>, has_faults: bool| {
        if has_faults && !work.endures_faults() {
            problems.push(format!(
                "faults are not possible under `{}`, which ends if its database is unreachable. Remove them",
                work.workload().name()
            ));
        }
        problems.into_iter().map(|problem| mistake(key.clone(), problem)).collect::<Vec<_>>()
    };
    let of_server = |(name, server): (&String, &Server)| {
        let problems = server.impossible_faults(load_end);
        told(format!("target.server.{name}.faults"), problems, !server.all_faults().is_empty())
    };
    let of_cluster = |(name, cluster): (&String, &Cluster)| {
        let problems = cluster.impossible_faults(load_end);
        told(format!("target.cluster.{name}.faults"), problems, !cluster.all_faults().is_empty())
    };
    let Target { server, cluster, .. } = &point.target;
    server.iter().flat_map(of_server).chain(cluster.iter().flat_map(of_cluster)).collect()
}

/// Servers that are to be started, and clusters: all that is understood of them is checked, and what cannot be run is refused.
fn check_servers(target: &Target) -> Vec<StudyError> {
    let mut errors = Vec::new();
    for (name, server) in &target.server {
        let key = format!("target.server.{name}");
        if server.engine.is_none() && !server.runs() {
            errors.push(mistake(
                format!("{key}.engine"),
                "missing. Give \"postgres\", \"mariadb\" or \"mysql\", or give the address of a running \
                 server as at",
            ));
        }
        errors.extend(
            server
                .impossible()
                .into_iter()
                .map(|(limit, problem)| mistake(format!("{key}.{limit}"), problem)),
        );
        errors.extend(not_started(&key, server));
    }
    for (name, cluster) in &target.cluster {
        let key = format!("target.cluster.{name}");
        if target.server.contains_key(name) {
            errors.push(mistake(key.clone(), "a server has the same name. Rename one of them"));
        }
        let wrong = cluster.impossible().into_iter();
        errors.extend(wrong.map(|(of, problem)| mistake(format!("{key}.{of}"), problem)));
    }
    errors
}

/// What this version starts no servers of.
fn not_started(key: &str, server: &Server) -> Vec<StudyError> {
    let of_engine = server.engine.filter(|engine| *engine == Engine::Sqlserver && !server.runs());
    let engine = of_engine.map(|engine| {
        mistake(
            format!("{key}.engine"),
            format!(
                "prony cannot start {} yet. Start it yourself, and give its address as {key}.at",
                engine.called()
            ),
        )
    });
    engine.into_iter().collect()
}

fn check_databases(target: &Target, needs: TargetNeeds) -> Vec<StudyError> {
    let TargetNeeds::Databases { who, most, loaded, as_it_is, .. } = needs else {
        return Vec::new();
    };
    let wanted = target.wanted(needs);
    let mut errors: Vec<StudyError> =
        target.databases().iter().flat_map(|one| check_one(target, one)).collect();
    if errors.is_empty() {
        errors.extend(wanted.iter().find_map(unnameable));
    }
    if errors.is_empty() {
        errors.extend(idle_servers(target, &wanted));
        let mut wanted = wanted.iter();
        for database in target.databases().iter() {
            let own: Vec<WantedDatabase> =
                wanted.by_ref().take(database.count.unwrap_or(1) as usize).cloned().collect();
            errors.extend(check_laid(database, &own));
        }
    }
    errors.extend(of_no_use(&wanted, needs));
    errors.extend(wanted.iter().find_map(|wanted| {
        let cluster = target.cluster.get(wanted.cluster.as_ref()?)?;
        Some(mistake("target.database.existing", cluster.refuses(wanted.existing)?))
    }));
    if let Some(most) = most.filter(|&most| wanted.len() > most) {
        let takes = if most == 1 { "one".to_owned() } else { most.to_string() };
        errors.push(mistake(DATABASE, format!("{} databases, but {who} uses {takes}", wanted.len())));
    }
    let is_known = errors.is_empty();
    for (number, database) in wanted.iter().enumerate() {
        if is_known && wanted[..number].iter().any(|other| other.is_same(database)) {
            let place = database.place();
            errors.push(mistake(DATABASE, format!("{place} is given twice. Give each its own name")));
        }
        let remedy = match (as_it_is, loaded, database.existing) {
            (true, _, Existing::Use | Existing::Reuse) => Existing::AsItIs,
            (false, true, Existing::Reuse | Existing::AsItIs) => Existing::Use,
            (false, false, Existing::Use | Existing::AsItIs) => Existing::Reuse,
            _ => continue,
        };
        let (asked, remedy) = (database.existing.name(), remedy.name());
        errors.push(mistake(
            DATABASE,
            format!(
                "existing = \"{asked}\" cannot be used for {who}. For a database that exists already, use \"{remedy}\""
            ),
        ));
    }
    errors
}

/// Databases of engines that a workload does nothing with: the fake, and one that keeps tables by columns; and of one that this program
/// was built without.
fn of_no_use(wanted: &[WantedDatabase], needs: TargetNeeds) -> Vec<StudyError> {
    let TargetNeeds::Databases { who, columns, fake, such_as, .. } = needs else { return Vec::new() };
    let is_fake = wanted.iter().find(|database| !fake && database.url.fake().is_some());
    let is_fake = is_fake.map(|found| {
        format!("{} cannot be used by {who}. Give a real database, for example \"{such_as}\"", found.url)
    });
    let by_columns = wanted.iter().find(|database| !columns && database.url.engine().is_by_columns());
    let by_columns = by_columns.map(|found| {
        let name = found.url.engine().dialect().name();
        format!(
            "{} cannot be used by {who}: {name} supports only the tables workload. Give another, for \
             example \"{such_as}\"",
            found.url
        )
    });
    let left_out = wanted.iter().filter(|_| columns).find_map(|database| {
        database.url.engine().left_out().map(|why| format!("{} cannot be opened: {why}", database.url))
    });
    is_fake.into_iter().chain(by_columns).chain(left_out).map(|problem| mistake(DATABASE, problem)).collect()
}

/// Servers that no database is on, while they have their share of the limits.
fn idle_servers(target: &Target, wanted: &[WantedDatabase]) -> Vec<StudyError> {
    let idle = |(name, server): (&String, &Server)| {
        let instances = server.instances.filter(|&instances| instances > 1)?;
        let used = if server.runs() {
            let is_used = |url: &&Url| wanted.iter().any(|database| database.url.is_same_place(url));
            server.at.iter().take(instances as usize).filter(is_used).count() as u32
        } else {
            let of_it =
                wanted.iter().filter_map(|database| database.server.as_ref()).filter(|of| of.name == *name);
            of_it.filter_map(|server| server.number).collect::<BTreeSet<u32>>().len() as u32
        };
        let problem = format!(
            "only {used} of the {instances} servers would have a database. Set the count of target.database to \
            {instances}, or use fewer instances"
        );
        (used < instances).then(|| mistake(format!("target.server.{name}.instances"), problem))
    };
    target.server.iter().filter_map(idle).collect()
}

fn check_one(target: &Target, database: &Database) -> Option<StudyError> {
    match &database.at {
        None => Some(mistake("target.database.at", "missing. Give the address of a database")),
        Some(At::Named(name)) if !target.server.contains_key(name) && !target.cluster.contains_key(name) => {
            let problem = format!(
                "`{name}` is neither an address nor a server of the study. Give, for example, sqlite:FILE, \
                 postgres://USER@HOST/DATABASE, or add [target.server.{name}]"
            );
            Some(mistake(DATABASE, problem))
        }
        Some(At::Address(url)) if url.file().is_some() && database.count.is_some() => {
            Some(mistake("target.database.count", format!("does not apply to {url}, which is a single file")))
        }
        Some(At::Address(url)) if url.file().is_some() && database.name.is_some() => {
            let name = database.name.as_deref().unwrap_or_default();
            let problem = format!("`{name}` does not apply to {url}: the address names the file. Remove it");
            Some(mistake(NAME, problem))
        }
        Some(At::Named(name)) if is_started(target, name) && is_found(database.existing) => Some(mistake(
            "target.database.existing",
            format!("does not apply to {name}, which starts empty. Remove it"),
        )),
        Some(_) if database.count == Some(0) => {
            Some(mistake("target.database.count", "invalid value 0. Remove it for one database"))
        }
        Some(_) => None,
    }
}

/// Whether a name is that of a server that prony starts.
fn is_started(target: &Target, name: &str) -> bool {
    target.server.get(name).is_some_and(|server| !server.runs())
}

/// What only a database of SQL Server takes, of one on another server; and one that is both to stay and to be made anew.
fn check_laid(database: &Database, wanted: &[WantedDatabase]) -> Vec<StudyError> {
    let mut errors = Vec::new();
    if let Some(other) = wanted.iter().find(|wanted| !wanted.url.engine().takes_layout()) {
        let name = other.url.engine().dialect().name();
        let problem = format!("applies only to SQL Server databases, not to {name}. Remove it");
        let laid = database.laid().into_iter();
        errors.extend(laid.map(|key| mistake(format!("{DATABASE}.{key}"), problem.clone())));
    }
    let is_there = |wanted: &&WantedDatabase| {
        matches!(wanted.existing, Existing::Use | Existing::Reuse | Existing::AsItIs)
    };
    let is_taken_up = wanted.iter().any(|wanted| is_there(&wanted));
    let files = database.laid().into_iter().filter(|key| FILES.contains(key) && is_taken_up);
    errors.extend(files.map(|key| {
        let problem =
            "applies only to a new database, but this one exists already. Remove it, or let prony create \
             the database";
        mistake(format!("{DATABASE}.{key}"), problem)
    }));
    if wanted.iter().filter(is_there).any(|wanted| wanted.cycle.anew) {
        let problem = "names a database that exists already, but between_trials = \"recreate\" of its server would delete the \
        database. Give only one of them";
        errors.push(mistake("target.database.existing", problem));
    }
    errors
}

/// Whether it says what happens to one that is there.
fn is_found(existing: Option<Existing>) -> bool {
    matches!(existing, Some(Existing::Use | Existing::Reuse | Existing::Replace | Existing::AsItIs))
}

/// A database or file that no server or file system has by this name, or nobody could name again.
fn unnameable(database: &WantedDatabase) -> Option<StudyError> {
    let is_theirs = database.existing == Existing::AsItIs;
    if is_theirs && database.url.file().is_none() && database.name.is_empty() {
        let problem = format!("no database given. Give {}/DATABASE", database.url);
        return Some(mistake(DATABASE, problem));
    }
    let Some(file) = database.url.file() else {
        let problem = format!(
            "invalid database name `{}`. Use 1 to 63 characters: unaccented letters, digits and _",
            database.name
        );
        return (!is_theirs && !is_name(&database.name)).then(|| mistake(NAME, problem));
    };
    let path = file.to_string_lossy();
    let is_long = path.len() > PATH_BYTES_MAX
        || file.components().any(|part| part.as_os_str().len() > FILE_NAME_BYTES_MAX);
    let problem = if path.contains(char::is_control) {
        format!("`{}` contains a control character. Give a file name without one", path.escape_debug())
    } else if is_long {
        format!(
            "the file path has {} bytes (limits: {FILE_NAME_BYTES_MAX} for each name, {PATH_BYTES_MAX} in \
             total). Give a shorter one",
            path.len()
        )
    } else {
        return None;
    };
    Some(mistake(DATABASE, problem))
}

/// A database that is taken up has one trial: the next one would begin with empty tables.
fn check_reuse(study: &Study, points: &[Point]) -> Option<StudyError> {
    let is_reused = |point: &&Point| {
        point
            .target
            .wanted(point.work.any().needs())
            .iter()
            .any(|database| database.existing == Existing::Reuse)
    };
    let empties = |point: &&Point| !point.work.any().leaves_as_found();
    let trials = points.iter().filter(empties).filter(is_reused).count() * study.blocks.max(1) as usize;
    let reuse = record::Parameter::new("target.database.existing").of("reuse");
    let problem = format!(
        "only one trial can reuse a database, because each further one starts with empty tables. Remove \
         {reuse}, or measure one rate"
    );
    (trials > 1 || (trials == 1 && study.search.is_some()))
        .then(|| mistake("target.database.existing", problem))
}

/// What is set or kept of a database for one trial is there in the next one too.
fn laid_in_two_ways(other: &WantedDatabase, database: &WantedDatabase) -> Option<StudyError> {
    let place = database.place();
    if !other.layout.has_same_files(&database.layout) {
        let problem = format!(
            "{place} has different file settings (data_dir, log_dir, data_size, log_size, growth) in \
             different trials. Use a separate named database for each"
        );
        return Some(mistake(DATABASE, problem));
    }
    let is_said = |database: &WantedDatabase| {
        [database.layout.recovery.is_some(), database.layout.delayed_durability.is_some()]
    };
    if is_said(other) != is_said(database) {
        let problem = format!(
            "{place} has log settings (recovery, delayed_durability) in only some trials, but later trials would inherit them. Set \
            them in all trials or in none"
        );
        return Some(mistake(DATABASE, problem));
    }
    let has_snapshot = |database: &WantedDatabase| database.cycle.saving == Some(Saving::Snapshot);
    if has_snapshot(other) != has_snapshot(database) {
        let problem = format!(
            "{place} has a snapshot in only some trials, but the snapshot's cost (copying changed pages) would affect all trials. \
            Use a separate named database for each way to restore"
        );
        return Some(mistake("target.database.restore", problem));
    }
    None
}

/// A database is made ready once, whoever uses it.
fn asked_in_two_ways(points: &[Point]) -> Option<StudyError> {
    let mut known: Vec<(WantedDatabase, String)> = Vec::new();
    let wanted = points.iter().flat_map(|point| {
        let work = point.work.any();
        point.target.wanted(work.needs()).into_iter().map(move |database| (database, work.content()))
    });
    for (database, content) in wanted {
        let Some((other, others)) = known.iter().find(|(known, _)| known.is_same(&database)) else {
            known.push((database, content));
            continue;
        };
        let place = database.place();
        if other.url != database.url {
            let problem = format!(
                "{} and {} are the same database, {place}. Write its address the same way each time, or \
                 use separate databases",
                other.url, database.url
            );
            return Some(mistake(DATABASE, problem));
        }
        if *others != content {
            let problem = format!(
                "{place} would have to contain both {others} and {content}, but it is prepared only once. Use \
                 separate databases"
            );
            return Some(mistake(DATABASE, problem));
        }
        if let Some(error) = laid_in_two_ways(other, &database) {
            return Some(error);
        }
        if (other.existing, other.keep) != (database.existing, database.keep) {
            let problem = format!(
                "{place} has different values of `existing` or `keep` in different trials. They must be the same in all trials"
            );
            return Some(mistake(DATABASE, problem));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use crate::{Plan, Study};

    fn told(workload: &str, target: &str) -> String {
        let text = format!("blocks = 1\n[workload.{workload}]\n[target]\n{target}");
        let planned = Study::from_toml(&text).and_then(|study| Plan::of(&study));
        planned.map_or_else(|errors| errors.to_string(), |_| String::new())
    }

    #[test]
    fn files_and_logs_are_said_of_databases_of_sql_server_alone() {
        let at = |rest: &str| format!("database = {{ at = \"sqlserver://sa@h/master\", {rest} }}");
        for rest in [
            r#"existing = "refuse", data_dir = "D:\\hds", log_dir = "E:\\hds", data_size = "10GiB", log_size = "1GiB", growth = "64MiB""#,
            r#"existing = "replace", data_dir = ["/a", "/b"], recovery = "bulk_logged", delayed_durability = "forced""#,
            r#"restore = "snapshot""#,
        ] {
            assert_eq!(told("orders", &at(rest)), "", "{rest}");
            let other = at(rest).replace("sqlserver", "postgres");
            let told = told("orders", &other);
            assert!(told.contains("applies only to SQL Server databases, not to PostgreSQL"), "{told}");
        }
        let told_of = |rest: &str| told("historian", &at(rest));
        let there = told("orders", &at("data_dir = \"/a\""));
        assert!(
            there.contains(
                "target.database.data_dir: applies only to a new database, but this one exists already"
            ),
            "{there}"
        );
        assert!(told_of("data_dir = 3").contains("a directory, or an array of them"));
        assert!(told_of("recovery = \"most\"").contains("`simple`, `full`"));
    }

    #[test]
    fn a_server_that_runs_is_changed_by_nobody() {
        let at = |address: &str, rest: &str| {
            told("orders", &format!("database = \"s\"\n[target.server.s]\nat = \"{address}\"\n{rest}"))
        };
        let (sql_server, postgres) = ("sqlserver://sa@h/master", "postgres://me@h/x");
        for rest in [
            "",
            "data = \"D:\\\\x\"\nlog = \"E:\\\\x\"\ncold = true",
            "between_trials = \"restore\"",
            "rest = \"1s\"",
        ] {
            assert_eq!(at(sql_server, rest), "", "{rest}");
        }
        assert_eq!(at(postgres, "between_trials = \"restart\"\nrestart = \"ssh h restart\""), "");
        for (address, rest, problem) in [
            (
                sql_server,
                "memory = \"2GiB\"",
                "target.server.s.memory: applies only to a server that prony starts",
            ),
            (
                sql_server,
                "settings.x = 1",
                "target.server.s.settings: applies only to a server that prony starts",
            ),
            (sql_server, "between_trials = \"restart\"", "Give this command under the key `restart`"),
            (sql_server, "instances = 2", "more instances than addresses in `at`"),
            (postgres, "data = \"/x\"", "supported only for SQL Server"),
            (postgres, "cold = true", "supported only for SQL Server"),
            (postgres, "between_trials = \"restore\"", "for a server that runs already, \"restore\""),
            (
                "",
                "engine = \"postgres\"\nrestart = \"x\"",
                "prony starts this one. Remove this key, or give the server's address as `at`",
            ),
        ] {
            let told = at(address, rest);
            assert!(told.contains(problem), "{address} {rest}: {told}");
        }
    }

    /// What one trial sets would have held, unsaid, in the next one.
    #[test]
    fn how_a_database_logs_is_said_in_all_of_its_trials_or_in_none() {
        let of = |ways: [&str; 2]| {
            let ways =
                ways.map(|way| format!("[[configuration]]\nname = \"w{}\"\n{way}\n", way.len())).join("");
            told("orders", &format!("database = \"sqlserver://sa@h/master\"\n{ways}"))
        };
        let (forced, disabled) = (
            "target.database.delayed_durability = \"forced\"",
            "target.database.delayed_durability = \"disabled\"",
        );
        let told = of([forced, ""]);
        assert!(told.contains("has log settings") && told.contains("in all trials or in none"), "{told}");
        assert!(!of([forced, disabled]).contains("has log settings"));
    }

    /// What a snapshot costs would have been told of trials that never asked for one.
    #[test]
    fn a_database_has_a_snapshot_in_all_of_its_trials_or_in_none() {
        let way = |name: &str, restore: &str| {
            format!("[[configuration]]\nname = \"{name}\"\ntarget.database.restore = \"{restore}\"\n")
        };
        let of = |ways: [&str; 2]| {
            let ways = ways.map(|restore| way(restore, restore)).join("");
            let text = format!(
                "blocks = 1\nreference = \"deletion\"\n[workload.orders]\n[target]\ndatabase = \"sqlserver://sa@h/master\"\n{ways}"
            );
            let planned = Plan::of(&Study::from_toml(&text).unwrap());
            planned.map_or_else(
                |errors| errors.to_string(),
                |plan| format!("{:?}", plan.saving(&plan.databases()[0].0)),
            )
        };
        assert!(of(["deletion", "snapshot"]).contains("has a snapshot in only some trials"));
        assert_eq!(of(["deletion", "backup"]), "Some(Backup)", "also where the first trial asks for none");
    }

    /// What a workload asks of rows, such an engine has not; and no statement of theirs is made for it.
    #[test]
    fn an_engine_that_keeps_tables_by_columns_is_refused_by_name_for_all_but_tables() {
        assert_eq!(told("tables", "database = \"clickhouse://me@h/x\""), "");
        for (url, name) in [("clickhouse://me@h/x", "ClickHouse"), ("duckdb:/a.duckdb", "DuckDB")] {
            let database = |rest: &str| format!("database = {{ at = \"{url}\"{rest} }}");
            for workload in ["historian", "orders", "register", "reporting"] {
                for target in [database(""), database(", existing = \"replace\"")] {
                    let (told, says) = (told(workload, &target), format!("{url} cannot be used by"));
                    let alone = format!("{name} supports only the tables workload");
                    assert!(told.contains(&says) && told.contains(&alone), "{workload}: {told}");
                }
            }
        }
    }

    /// The library is its user's, and most have none.
    #[test]
    fn an_engine_that_the_program_was_built_without_is_told_with_how_to_build_it() {
        let told = told("tables", "database = \"duckdb:/a.duckdb\"");
        match database::Engine::DuckDb.left_out() {
            Some(why) => {
                assert!(told.contains("duckdb:/a.duckdb cannot be opened") && told.contains(why), "{told}");
                assert!(why.contains("DUCKDB_LIB_DIR") && why.contains("cargo build"), "{why}");
            }
            None => assert_eq!(told, ""),
        }
    }

    /// They were found when the study had begun, or never: one file under two names was two databases.
    #[test]
    fn what_no_server_takes_does_not_pass_the_plan() {
        let long = "n".repeat(300);
        assert!(
            told("historian", &format!("database = \"sqlite:/a/{long}\""))
                .contains("the file path has 303 bytes")
        );
        let named = |name: &str| {
            format!("database = {{ at = \"postgres://me@h/x\", name = \"{name}\", count = 10 }}")
        };
        assert_eq!(told("orders", &named(&long[..60])), "");
        assert!(told("orders", &named(&long[..61])).contains("invalid database name"), "with its number");
        for (workload, target, problem) in [
            ("orders", "database = [\"sqlite:a\", \"sqlite:./a\"]", "a is given twice"),
            (
                "orders",
                "database = [\"postgres://me@h/x\", \"postgres://you@H:5432/y\"]",
                "prony_orders of postgres://you@H/y is given twice",
            ),
            ("orders", "database = \"fake:\"", "cannot be used by a load of orders. Give a real database"),
            (
                "orders",
                "database = { at = \"sqlite:/a\", name = \"x\" }",
                "target.database.name: `x` does not apply",
            ),
            ("historian", "database = \"sqlite:/a\\nb\"", "contains a control character"),
            (
                "historian",
                "database = { at = \"postgres://me@h/x\", name = \"\" }",
                "invalid database name ``",
            ),
            (
                "historian",
                "database = { at = \"postgres://me@h/x\", name = \"../a\" }",
                "invalid database name",
            ),
        ] {
            let told = told(workload, target);
            assert!(told.contains(problem) && told.lines().count() == 1, "{target}: {told}");
        }
    }
}
