//! What is wrong with targets: what a workload needs and has not, or has too much of, and servers that this version cannot start.

use database::Existing;
use load::TargetNeeds;

use crate::expand::Point;
use crate::mistake::{StudyError, mistake};
use crate::study::Study;
use crate::target::{At, Database, Target, WantedDatabase};

/// Key of a target's databases.
const DATABASE: &str = "target.database";

/// Mistakes of the targets of all combinations.
pub(crate) fn points(study: &Study, points: &[Point]) -> Vec<StudyError> {
    let mut errors: Vec<StudyError> = points.iter().flat_map(of_point).collect();
    errors.extend(check_reuse(study, points));
    errors.extend(asked_in_two_ways(points));
    errors
}

fn of_point(point: &Point) -> Vec<StudyError> {
    let target = &point.target;
    let mut errors = check_servers(target);
    let has_none = errors.is_empty();
    match point.work.any().needs() {
        TargetNeeds::Nothing => {}
        TargetNeeds::Paths => {
            let problem = "is missing; give directories, files or devices, such as [\"/data\"]";
            errors.extend(target.paths.is_empty().then(|| mistake("target.paths", problem)));
        }
        TargetNeeds::Databases { such_as, .. } if target.database.is_empty() => {
            let problem = format!("is missing; give the address of a database, such as \"{such_as}\"");
            errors.extend(has_none.then(|| mistake(DATABASE, problem)));
        }
        needs @ TargetNeeds::Databases { .. } => errors.extend(check_databases(target, needs)),
    }
    errors
}

/// Servers that would have to be started, and clusters: all that is understood of them is checked, and then they are refused.
fn check_servers(target: &Target) -> Vec<StudyError> {
    let mut errors = Vec::new();
    for (name, server) in &target.server {
        let key = format!("target.server.{name}");
        if server.engine.is_none() {
            errors.push(mistake(
                format!("{key}.engine"),
                "is missing; give \"postgres\", \"mariadb\", \"mysql\" or \"sqlserver\"",
            ));
        }
        errors.extend(
            server
                .impossible()
                .into_iter()
                .map(|(limit, problem)| mistake(format!("{key}.{limit}"), problem)),
        );
        errors.push(mistake(
            key,
            "is understood but cannot be run yet, since this version of prony starts no servers: start it yourself and give \
             its address as target.database",
        ));
    }
    errors.extend(target.cluster.keys().map(|name| {
        mistake(
            format!("target.cluster.{name}"),
            "is understood but cannot be used yet: give the address of its first server as target.database",
        )
    }));
    errors
}

fn check_databases(target: &Target, needs: TargetNeeds) -> Vec<StudyError> {
    let TargetNeeds::Databases { who, most, loaded, .. } = needs else { return Vec::new() };
    let wanted = target.wanted(needs);
    let mut errors: Vec<StudyError> = target.database.iter().flat_map(|one| check_one(target, one)).collect();
    if let Some(most) = most.filter(|&most| wanted.len() > most) {
        let takes = if most == 1 { "one".to_owned() } else { most.to_string() };
        errors.push(mistake(DATABASE, format!("are {} databases, and {who} takes {takes}", wanted.len())));
    }
    let is_known = errors.is_empty();
    for (number, database) in wanted.iter().enumerate() {
        if is_known && wanted[..number].iter().any(|other| other.is_same(database)) {
            let place = database.place();
            errors.push(mistake(DATABASE, format!("{place} is given twice: give each a name of its own")));
        }
        let remedy = match (loaded, database.existing) {
            (true, Existing::Reuse) => "use",
            (false, Existing::Use) => "reuse",
            _ => continue,
        };
        let asked = if loaded { "reuse" } else { "use" };
        errors.push(mistake(
            DATABASE,
            format!("existing = \"{asked}\" has no meaning for {who}: give \"{remedy}\" for one that is there already"),
        ));
    }
    errors
}

fn check_one(target: &Target, database: &Database) -> Option<StudyError> {
    match &database.at {
        None => Some(mistake("target.database.at", "is missing; give the address of a database")),
        Some(At::Named(name)) if !target.server.contains_key(name) && !target.cluster.contains_key(name) => {
            let problem = format!(
                "`{name}` is no address and no server of the study: give an address such as sqlite:FILE or \
                 postgres://USER@HOST/DATABASE, or [target.server.{name}]"
            );
            Some(mistake(DATABASE, problem))
        }
        Some(At::Address(url)) if url.file().is_some() && database.count.is_some() => {
            Some(mistake("target.database.count", format!("has no meaning for {url}, which is one file")))
        }
        Some(_) if database.count == Some(0) => {
            Some(mistake("target.database.count", "cannot be 0: leave it out for one"))
        }
        Some(_) => None,
    }
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
    let trials = points.iter().filter(is_reused).count() * study.blocks.max(1) as usize;
    let reuse = record::Parameter::new("target.database.existing").of("reuse");
    let problem = format!(
        "is taken up again by one trial only, since every further one begins with empty tables: leave out {reuse}, or \
         measure one rate"
    );
    (trials > 1 || (trials == 1 && study.search.is_some()))
        .then(|| mistake("target.database.existing", problem))
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
        if *others != content {
            let problem = format!(
                "{place} is asked for in two ways, {others} and {content}: it is made ready once, so give each a database of \
                 its own"
            );
            return Some(mistake(DATABASE, problem));
        }
        if (other.existing, other.keep) != (database.existing, database.keep) {
            let problem = format!(
                "{place} is asked for in two ways: what becomes of it (existing, keep) must be the same in all trials"
            );
            return Some(mistake(DATABASE, problem));
        }
    }
    None
}
