//! `prony check`: the main job, with nothing to decide.

use disk::Settings;
use study::Study;

use super::measuring::Asks;
use crate::arguments::Check;
use crate::exit::Failure;

/// Left over only if a check was killed; the next one takes them away.
const DATABASE_FILE: &str = "prony-check.sqlite";
const STORE_FILE: &str = "prony-check-orders.sqlite";

impl Asks for Check {
    /// The quick profile on the directory's disk, then a historian and an order store on SQLite there.
    fn study(&self) -> Result<Study, Failure> {
        let mut study = super::profile("quick", false)?;
        study.target.paths = vec![self.path.clone()];
        study.title = "Check".to_owned();
        study.slug = "check".to_owned();
        let given = Settings { file_size: self.file_size, duration: self.duration, ..Settings::default() };
        study.narrow(&given).map_err(Failure::usage)?;
        let url =
            |file: &str| format!("sqlite:{}", self.path.join(file).display()).parse().map_err(Failure::usage);
        study.add_historian(url(DATABASE_FILE)?, self.duration);
        study.add_orders(url(STORE_FILE)?, self.duration);
        Ok(study)
    }
}
