//! `cargo xtask bench faults`: a longer random run of hostile situations, and how many of them prony survives.
//!
//! *Survived* means that nothing of the user's was harmed, nothing untrue was said, nothing hung and nothing crashed, as far as
//! a program can judge that from outside: by exit codes, by files before and after, and by SQL of its own. Moments come from a
//! seed, which is printed; the machine adds its own chance. The integration tests of `prony` hold what must never fail again;
//! this looks for what nobody has thought of.

use anyhow::{Result, ensure};

use self::lab::Lab;
use self::server::Kind;
use self::tally::Tally;
use super::FaultsOptions;
use crate::workspace::Workspace;

mod any_moment;
mod first_second;
mod lab;
mod mutants;
mod mutate;
mod others;
mod planted;
mod process;
mod proxy;
mod random;
pub(super) mod server;
mod server_killed;
mod silent;
mod tally;
mod things;

/// A row of the table.
struct Area {
    name: &'static str,
    /// Cases unless `--runs` says otherwise.
    cases: u32,
    run: fn(&Lab) -> Result<Tally>,
}

const fn area(name: &'static str, cases: u32, run: fn(&Lab) -> Result<Tally>) -> Area {
    Area { name, cases, run }
}

const AREAS: &[Area] = &[
    area("first second: historian, PostgreSQL", 200, |lab| {
        first_second::historian(lab, Some(Kind::Postgres))
    }),
    area("first second: load, PostgreSQL", 200, |lab| first_second::load(lab, Some(Kind::Postgres))),
    area("first second: historian, MariaDB", 200, |lab| first_second::historian(lab, Some(Kind::MariaDb))),
    area("first second: load, MariaDB", 200, |lab| first_second::load(lab, Some(Kind::MariaDb))),
    area("first second: historian, SQLite", 200, |lab| first_second::historian(lab, None)),
    area("first second: load, SQLite", 200, |lab| first_second::load(lab, None)),
    area("any moment: disk", 20, any_moment::disk),
    area("any moment: check", 10, any_moment::check),
    area("any moment: historian", 20, any_moment::historian),
    area("any moment: orders run", 20, any_moment::orders),
    area("any moment: study run", 20, any_moment::study),
    area("server killed: historian, PostgreSQL", 15, |lab| server_killed::historian(lab, Kind::Postgres)),
    area("server killed: historian, MariaDB", 15, |lab| server_killed::historian(lab, Kind::MariaDb)),
    area("server killed: orders, PostgreSQL", 15, |lab| server_killed::orders(lab, Kind::Postgres)),
    area("server killed: orders, MariaDB", 15, |lab| server_killed::orders(lab, Kind::MariaDb)),
    area("real loss: historian, PostgreSQL", 15, |lab| server_killed::lossy_historian(lab, Kind::Postgres)),
    area("real loss: historian, MariaDB", 15, |lab| server_killed::lossy_historian(lab, Kind::MariaDb)),
    area("real loss: orders, PostgreSQL", 15, |lab| server_killed::lossy_orders(lab, Kind::Postgres)),
    area("real loss: orders, MariaDB", 15, |lab| server_killed::lossy_orders(lab, Kind::MariaDb)),
    area("silent server: PostgreSQL", 40, |lab| silent::run(lab, Kind::Postgres)),
    area("silent server: MariaDB", 40, |lab| silent::run(lab, Kind::MariaDb)),
    area("mutated results", 400, mutants::run),
    area("planted beside SQLite", 200, planted::run),
    area("databases of others: PostgreSQL", 30, |lab| others::run(lab, Kind::Postgres)),
    area("databases of others: MariaDB", 30, |lab| others::run(lab, Kind::MariaDb)),
];

/// Tells whether everything survived.
pub(super) fn run(options: &FaultsOptions, workspace: &Workspace) -> Result<bool> {
    let wanted: Vec<&Area> = AREAS.iter().filter(|area| area.name.contains(&options.only)).collect();
    ensure!(!wanted.is_empty(), "no area's name contains `{}`; there are:\n{}", options.only, names());
    let prony = match &options.program {
        Some(path) => std::path::absolute(path)?,
        None => workspace.build_prony()?,
    };
    ensure!(prony.is_file(), "--program: there is no {}; name a prony that was built", prony.display());
    let seed = options.seed.unwrap_or_else(random::any_seed);
    println!("seed {seed}: `--seed {seed}` repeats the moments; {}", prony.display());
    let mut rows = Vec::new();
    for area in wanted {
        println!("\n{}", area.name);
        let lab = Lab::new(&prony, workspace, area.name, seed, options.runs.unwrap_or(area.cases))?;
        let tally = (area.run)(&lab)?;
        println!("  {} of {} survived", tally.survived(), tally.tried());
        rows.push((area.name, tally));
    }
    println!("\n{}", table(&rows));
    Ok(rows.iter().all(|(_, tally)| tally.survived() == tally.tried()))
}

fn names() -> String {
    AREAS.iter().map(|area| format!("  {}\n", area.name)).collect()
}

/// In Markdown.
fn table(rows: &[(&str, Tally)]) -> String {
    let lines =
        rows.iter().map(|(name, tally)| format!("| {name} | {} | {} |\n", tally.tried(), tally.survived()));
    format!("| area | tried | survived |\n|---|---|---|\n{}", lines.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_areas_differ_so_that_each_has_moments_of_its_own() {
        let names: std::collections::BTreeSet<_> = AREAS.iter().map(|area| area.name).collect();
        assert_eq!(names.len(), AREAS.len());
    }

    #[test]
    fn the_table_counts_what_survived_and_what_did_not() {
        let mut tally = Tally::default();
        tally.count("fine", Default::default());
        tally.count("bad", ["the file is gone".to_owned()].into_iter().collect());
        assert_eq!(
            table(&[("area", tally)]),
            "| area | tried | survived |\n|---|---|---|\n| area | 2 | 1 |\n"
        );
    }
}
