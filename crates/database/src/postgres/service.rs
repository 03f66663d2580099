//! Who runs a PostgreSQL for its users, and whether it is a copy: told by names of settings that others do not have.
//!
//! - <https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/Appendix.PostgreSQL.CommonDBATasks.Parameters.html>
//! - <https://learn.microsoft.com/en-us/azure/postgresql/flexible-server/concepts-server-parameters>
//! - <https://cloud.google.com/sql/docs/postgres/flags>

use record::Service;

use super::PostgresSession;
use crate::{Error, Value};

/// First parts of names of settings, and whose they are. Aurora has those of RDS too, and stands before it.
const SETTINGS: [(&str, &str); 6] = [
    ("apg", "Amazon Aurora"),
    ("rds", "Amazon RDS"),
    ("azure", "Azure Database for PostgreSQL"),
    ("cloudsql", "Google Cloud SQL"),
    ("alloydb", "Google AlloyDB"),
    ("neon", "Neon"),
];

impl PostgresSession {
    /// What is known of it; a login that may not see something is no fault.
    pub(super) async fn services(&mut self) -> Result<Vec<Service>, Error> {
        let names = "SELECT DISTINCT split_part(split_part(name, '.', 1), '_', 1) FROM pg_settings \
                     WHERE name LIKE '%.%' OR name LIKE 'apg\\_%' ORDER BY 1";
        let mut prefixes = Vec::new();
        match self.query(names, &[]).await {
            Ok(rows) => {
                prefixes.extend(rows.into_iter().filter_map(|mut row| match row.pop() {
                    Some(Value::Text(name)) => Some(name),
                    _ => None,
                }));
            }
            Err(error) if error.is_lost() => return Err(error),
            Err(_) => {}
        }
        let is_standby = match self.query("SELECT pg_is_in_recovery()", &[]).await {
            Ok(rows) => rows == [[Value::I64(1)]],
            Err(error) if error.is_lost() => return Err(error),
            Err(_) => false,
        };
        Ok(services(&prefixes, is_standby))
    }
}

fn services(prefixes: &[String], is_standby: bool) -> Vec<Service> {
    let runs = SETTINGS.iter().find(|(prefix, _)| prefixes.iter().any(|name| name == prefix));
    let runs = runs.map(|(prefix, name)| Service {
        name: (*name).to_owned(),
        told_by: format!("its settings {prefix}.*"),
    });
    let standby = is_standby.then(|| Service {
        name: "hot standby, which only reads".to_owned(),
        told_by: "pg_is_in_recovery()".to_owned(),
    });
    runs.into_iter().chain(standby).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_runs_it_is_told_by_the_names_of_settings() {
        let of = |prefixes: &[&str], is_standby| {
            let prefixes: Vec<String> = prefixes.iter().map(|prefix| (*prefix).to_owned()).collect();
            services(&prefixes, is_standby).into_iter().map(|service| service.name).collect::<Vec<_>>()
        };
        assert_eq!(of(&["plpgsql", "rds"], false), ["Amazon RDS"]);
        assert_eq!(of(&["apg", "rds"], false), ["Amazon Aurora"]);
        assert_eq!(of(&["azure"], true), ["Azure Database for PostgreSQL", "hot standby, which only reads"]);
        assert_eq!(of(&["cloudsql"], false), ["Google Cloud SQL"]);
        assert_eq!(of(&["plpgsql", "pg", "prefixrds"], false), Vec::<String>::new());
    }
}
