//! `prony check`: the main job, with nothing to decide.

use database::{Existing, Url};
use disk::Settings;
use study::{Database, Study, Target};

use super::managed;
use super::measuring::Asks;
use crate::arguments::Check;
use crate::exit::Failure;

/// Left over only if a check was killed; the next one takes them away.
const DATABASE_FILE: &str = "prony-check.sqlite";
const STORE_FILE: &str = "prony-check-orders.sqlite";

const SQLITE: &str = "SQLite";
/// Clients of the order store on a server, of which several can commit at once.
const CLIENTS: u32 = 8;

/// A database that a killed check may have left.
fn left_over(url: Url) -> Target {
    let mut database = Database::at(url);
    database.existing = Some(Existing::Leftover);
    Target::of_databases(vec![database])
}

impl Asks for Check {
    /// The quick profile on the directory's disk, pages that are checked if that is asked for, then a historian and an order store on
    /// SQLite there, and on a server if one is asked for.
    fn study(&self) -> Result<Study, Failure> {
        if std::fs::metadata(&self.path).is_ok_and(|found| !found.is_dir()) {
            let path = self.path.display();
            return Err(Failure::usage(anyhow::anyhow!(
                "{path} is not a directory. Give a directory, in which prony can create test files. To measure a file or a device: prony disk {path}"
            )));
        }
        let mut study = super::profile("quick", false)?;
        study.target.paths = vec![self.path.clone()];
        study.title = "Check".to_owned();
        study.slug = "check".to_owned();
        let given = Settings { file_size: self.file_size, duration: self.duration, ..Settings::default() };
        study.narrow(&given).map_err(Failure::usage)?;
        if self.thorough {
            study.add_verify(self.duration, self.file_size);
        }
        let url =
            |file: &str| format!("sqlite:{}", self.path.join(file).display()).parse().map_err(Failure::usage);
        study.add_historian(SQLITE, left_over(url(DATABASE_FILE)?), self.duration);
        study.add_orders(SQLITE, left_over(url(STORE_FILE)?), (None, self.duration));
        if let Some((engine, target)) = managed::checked(&self.managed, &self.path)? {
            study.add_historian(engine.called(), target.clone(), self.duration);
            study.add_orders(engine.called(), target, (Some(CLIENTS), self.duration));
        }
        Ok(study)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Args, FromArgMatches};

    /// At 2 s each, no card of a check had an interval.
    #[test]
    fn each_window_of_a_check_is_long_enough_for_an_interval() {
        let command = Check::augment_args(clap::Command::new("check"));
        let matches = command.get_matches_from(["check", ".", "--thorough"]);
        let study = Check::from_arg_matches(&matches).unwrap().study().unwrap();
        for trial in study::Plan::of(&study).unwrap().trials {
            let seconds = trial.work.any().phases().measure.as_seconds();
            assert!(seconds >= 8.0, "{}: {seconds} s", trial.planned.name);
        }
    }
}
