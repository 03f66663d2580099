//! Studies of scripts.

use workload::script::Settings;

use crate::study::Study;
use crate::target::Target;

impl Study {
    /// A study of one load of scripts on this database.
    #[must_use]
    pub fn of_script(target: impl Into<Target>) -> Self {
        let mut study = Self::of_disk(Vec::new());
        study.title = "Scripts".to_owned();
        study.slug = "script".to_owned();
        study.target = target.into();
        study.workload.script = Some(Settings::default());
        study
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::Database;
    use crate::{Plan, Work};
    use database::{Existing, Url};

    fn study(target: &str) -> Study {
        let mut study = Study::of_script(vec![Database::at(target.parse::<Url>().unwrap())]);
        let files = vec!["select.sql@3".parse().unwrap(), "update.sql".parse().unwrap()];
        study.workload.script = Some(Settings { files, clients: Some(8), ..Settings::default() });
        study
    }

    #[test]
    fn a_database_at_an_address_is_used_as_it_is_by_the_name_there() {
        let plan = Plan::of(&study("postgres://me:secret@localhost/My-Db")).unwrap();
        assert!(matches!(plan.trials[0].work, Work::Script(_)));
        let wanted = &plan.trials[0].databases()[0];
        assert_eq!((wanted.existing, wanted.name.as_str()), (Existing::AsItIs, "My-Db"));
        assert!(!wanted.is_transient(), "nothing is removed");
        assert_eq!(plan.trials[0].planned.name, "select.sql and 1 more, 8 clients");
        let error = Plan::of(&study("mysql://me@localhost")).unwrap_err().to_string();
        assert!(error.contains("no database given"), "{error}");
    }

    #[test]
    fn a_study_of_scripts_is_read_back_without_its_password() {
        let study = study("postgres://me:secret@localhost/mydb");
        let text = study.to_toml().unwrap();
        assert!(!text.contains("secret") && text.contains("\"select.sql@3\""), "{text}");
        assert_eq!(Study::from_toml(&text).unwrap().to_toml().unwrap(), text);
    }

    #[test]
    fn only_a_script_uses_a_database_as_it_is() {
        let mut database = Database::at("postgres://me@localhost/mydb".parse().unwrap());
        database.existing = Some(Existing::AsItIs);
        let error = Plan::of(&Study::of_orders(vec![database])).unwrap_err().to_string();
        assert!(error.contains("as_it_is") && error.contains("\"use\""), "{error}");
    }
}
