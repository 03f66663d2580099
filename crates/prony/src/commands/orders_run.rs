//! `prony orders run`: a load on order stores.

use std::path::Path;

use anyhow::anyhow;
use database::Url;
use load::Size;
use record::Prices;
use study::{Database, Study, Target};
use workload::given_file;

use super::managed::{self, Given};
use super::measuring::Asks;
use super::orders_compat::{self, Compat};
use crate::arguments::{Output, RunOrders};
use crate::exit::{Exit, Failure};
use crate::session;

impl Asks for RunOrders {
    fn study(&self) -> Result<Study, Failure> {
        let names = self.database.as_deref();
        let mut target = match managed::given(self.target.as_deref(), &self.managed, &[])? {
            Given::At(targets) => Target::of_databases(stores(targets, names)?),
            Given::Started(server) => managed::started(*server, names)?,
        };
        for database in &mut target.database {
            self.log.of(database);
            database.restore = self.restore.restore;
        }
        let mut study = Study::of_orders(target);
        study.blocks = self.repeats.unwrap_or(study.blocks);
        study.cool_down = self.pause.unwrap_or(study.cool_down);
        study.prices = self.prices.as_deref().map(read_prices).transpose()?;
        let mut settings = self.settings.clone();
        if self.compat.compat {
            settings.deadlock_pause.get_or_insert(orders_compat::DEADLOCK_PAUSE);
        }
        study.narrow(&settings).map_err(Failure::usage)?;
        self.must.of(&mut study)?;
        Ok(study)
    }

    fn run(&self, output: &Output) -> Result<Exit, Failure> {
        let study = self.study()?;
        if self.compat.report_rate.is_some_and(|rate| rate.ns == 0) {
            return Err(Failure::usage(anyhow!(
                "invalid value 0s for --report-rate: give a longer time, for \
                 example 10s"
            )));
        }
        match Compat::of(&self.compat) {
            Some(mut compat) => session::run_with(&study, output, &mut |event| compat.hear(event), false),
            None => session::run(&study, output),
        }
    }
}

/// More than any list of prices.
const PRICES_BYTES_MAX: Size = Size(1 << 20);

fn read_prices(path: &Path) -> Result<Prices, Failure> {
    let text = given_file::read_text(path, PRICES_BYTES_MAX)
        .map_err(|error| Failure::usage(anyhow!("cannot read the prices in {}: {error}", path.display())))?;
    toml::from_str(&text).map_err(|error| {
        Failure::usage(anyhow!(
            "invalid price list {}: {}",
            path.display(),
            study::toml_problem(&text, &error)
        ))
    })
}

/// The stores that are meant: a database for each address, or several databases at one address.
fn stores(targets: &str, databases: Option<&str>) -> Result<Vec<Database>, Failure> {
    // Read here and not by clap, whose message would show a password.
    let address = |(number, text): (usize, &str)| {
        text.parse::<Url>().map_err(|error| anyhow!("target {}: {error}", number + 1))
    };
    let urls: Vec<Url> = Url::split(targets)
        .into_iter()
        .enumerate()
        .map(address)
        .collect::<Result<_, _>>()
        .map_err(Failure::usage)?;
    let names: Vec<&str> = databases.map(|names| names.split(',').collect()).unwrap_or_default();
    if let (Some(file), Some(names)) = (urls.iter().find(|url| url.file().is_some()), databases) {
        return Err(Failure::usage(anyhow!(
            "--database {names} does not apply to {file}: the address names the file. Remove --database"
        )));
    }
    let store = |(url, name): (&Url, Option<&str>)| Database::at(url.clone()).named(name);
    match (urls.as_slice(), names.as_slice()) {
        (urls, []) => Ok(urls.iter().map(|url| store((url, None))).collect()),
        (urls, [name]) => Ok(urls.iter().map(|url| store((url, Some(name)))).collect()),
        ([url], names) => Ok(names.iter().map(|name| store((url, Some(name)))).collect()),
        (urls, names) if urls.len() == names.len() => {
            Ok(urls.iter().zip(names.iter().copied().map(Some)).map(store).collect())
        }
        (urls, names) => Err(Failure::usage(anyhow!(
            "{} targets but {} databases. Give one database for all targets, or one for each",
            urls.len(),
            names.len()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use study::Plan;

    fn places(targets: &str, databases: Option<&str>) -> Result<Vec<String>, String> {
        let stores = stores(targets, databases).map_err(|failure| failure.message())?;
        Ok(Plan::of(&Study::of_orders(stores)).unwrap().trials[0].places())
    }

    #[test]
    fn each_target_has_a_store() {
        let (one, two) = ("postgres://a@localhost/postgres", "mysql://b@localhost/mysql");
        let both = format!("{one},{two}");
        assert_eq!(places(&both, None).unwrap().len(), 2);
        assert!(places(one, None).unwrap()[0].starts_with("prony_orders of postgres://"));
        let named = places(&both, Some("s1,s2")).unwrap();
        assert!(named[0].starts_with("s1 of postgres") && named[1].starts_with("s2 of mysql"), "{named:?}");
        assert_eq!(places(one, Some("s1,s2,s3")).unwrap().len(), 3, "several stores on one server");
        assert_eq!(places("sqlite:/a,sqlite:/b", None).unwrap(), ["/a", "/b"]);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let (one, two) = ("postgres://a@localhost/postgres", "mysql://b@localhost/mysql");
        let counts = places(&format!("{one},{two}"), Some("a,b,c")).unwrap_err();
        assert!(counts.contains("2 targets but 3 databases"), "{counts}");
        assert!(places("sqlite:/a", Some("x")).unwrap_err().contains("--database"));
        let wrong = places("mysql://b@localhost/x,postgres://a:secret@localhost/postgres,nonsense", None)
            .unwrap_err();
        assert!(
            wrong.starts_with("target 2: a comma follows the database") && !wrong.contains("secret"),
            "{wrong}"
        );
    }
}
