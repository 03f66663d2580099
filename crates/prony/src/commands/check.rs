//! `prony check`: the main job, with nothing to decide.

use disk::Settings;
use study::Study;

use crate::arguments::Check;
use crate::exit::{Exit, Failure};
use crate::session;

/// Left over only if a check was killed; the next one takes them away.
const DATABASE_FILE: &str = "prony-check.sqlite";
const STORE_FILE: &str = "prony-check-orders.sqlite";

pub(crate) fn run(check: &Check) -> Result<Exit, Failure> {
    session::run(&study(check)?, &check.output)
}

/// The quick profile on the directory's disk, then a historian and an order store on SQLite there.
pub(crate) fn study(check: &Check) -> Result<Study, Failure> {
    let mut study = super::profile("quick", false)?;
    study.target.paths = vec![check.path.clone()];
    study.title = "Check".to_owned();
    study.slug = "check".to_owned();
    let given = Settings { file_size: check.file_size, duration: check.duration, ..Settings::default() };
    study.narrow(&given).map_err(Failure::usage)?;
    let url =
        |file: &str| format!("sqlite:{}", check.path.join(file).display()).parse().map_err(Failure::usage);
    study.add_historian(url(DATABASE_FILE)?, check.duration);
    study.add_orders(url(STORE_FILE)?, check.duration);
    Ok(study)
}
