//! Who runs a MySQL or MariaDB for its users, whether it is a copy, and what stands before it: told by variables that others do not
//! have, or have otherwise.
//!
//! - <https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/AuroraMySQL.Updates.Versions.html> (`aurora_version`)
//! - <https://cloud.google.com/sql/docs/mysql/flags> (`cloudsql_…`)
//! - <https://proxysql.com/documentation/global-variables/mysql-variables/> (`mysql-server_version`)

use std::collections::HashMap;

use record::Service;

use super::{MysqlSession, text};
use crate::{Error, Value};

impl MysqlSession {
    /// What is known of it; a login that may not see something is no fault.
    pub(super) async fn services(&mut self) -> Result<Vec<Service>, Error> {
        let sql = "SHOW GLOBAL VARIABLES WHERE variable_name IN ('aurora_version', 'basedir', 'version', 'version_comment', \
                   'read_only', 'super_read_only', 'innodb_read_only') OR variable_name LIKE 'cloudsql\\_%' \
                   OR variable_name LIKE 'azure\\_%'";
        let mut variables = HashMap::new();
        match self.query(sql, &[]).await {
            Ok(rows) => {
                for row in rows {
                    if let [Value::Text(name), value] = row.as_slice() {
                        variables.insert(name.to_lowercase(), text(value));
                    }
                }
            }
            Err(error) if error.is_lost() => return Err(error),
            Err(_) => {}
        }
        Ok(services(&variables))
    }
}

fn services(variables: &HashMap<String, String>) -> Vec<Service> {
    let of = |name: &str| variables.get(name).map(String::as_str).unwrap_or_default();
    let has = |prefix: &str| variables.keys().any(|name| name.starts_with(prefix));
    let says = |word: &str| {
        ["version", "version_comment"].into_iter().find(|name| of(name).to_lowercase().contains(word))
    };
    let runs = if !of("aurora_version").is_empty() {
        Some(("Amazon Aurora", "aurora_version"))
    } else if of("basedir").starts_with("/rdsdbbin") {
        Some(("Amazon RDS", "basedir"))
    } else if has("cloudsql_") {
        Some(("Google Cloud SQL", "cloudsql_…"))
    } else if has("azure_") {
        Some(("Azure Database for MySQL", "azure_…"))
    } else {
        None
    };
    let before = [
        ("proxysql", "ProxySQL, between prony and the server"),
        ("maxscale", "MaxScale, between prony and the server"),
    ];
    let before = before.into_iter().filter_map(|(word, name)| Some((name, says(word)?)));
    let is_on = |name: &&str| matches!(of(name).to_lowercase().as_str(), "on" | "1" | "true");
    let reads = ["read_only", "super_read_only", "innodb_read_only"].into_iter().find(is_on);
    let reads =
        reads.map(|name| ("a server that is read-only, except for logins with more privileges", name));
    let all = runs.into_iter().chain(before).chain(reads);
    all.map(|(name, variable)| Service { name: name.to_owned(), told_by: format!("its variable {variable}") })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_runs_it_and_what_stands_before_it_is_told_by_variables() {
        let of = |variables: &[(&str, &str)]| {
            let variables =
                variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
            let services = services(&variables).into_iter();
            services
                .map(|service| format!("{} ({})", service.name, service.told_by))
                .collect::<Vec<_>>()
                .join("; ")
        };
        assert_eq!(of(&[("version", "10.11.14-MariaDB"), ("basedir", "/usr"), ("read_only", "OFF")]), "");
        assert!(
            of(&[("aurora_version", "3.04.1"), ("basedir", "/rdsdbbin/oscar")])
                .starts_with("Amazon Aurora (its")
        );
        assert!(
            of(&[("basedir", "/rdsdbbin/mysql-8.0.35/")]).starts_with("Amazon RDS (its variable basedir")
        );
        assert!(of(&[("cloudsql_iam_authentication", "OFF")]).starts_with("Google Cloud SQL"));
        assert!(of(&[("version_comment", "(ProxySQL)")]).starts_with("ProxySQL, between"));
        assert!(of(&[("version", "8.0.30-MaxScale")]).starts_with("MaxScale, between"));
        assert!(of(&[("super_read_only", "ON")]).contains("a server that is read-only"));
    }
}
