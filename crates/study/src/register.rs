//! Studies of registers.

use workload::register::Settings;

use crate::study::Study;
use crate::target::Target;

impl Study {
    /// A study of one load on registers in this database.
    #[must_use]
    pub fn of_register(target: impl Into<Target>) -> Self {
        let mut study = Self::of_disk(Vec::new());
        study.title = "Outages and lost writes".to_owned();
        study.slug = "register".to_owned();
        study.target = target.into();
        study.workload.register = Some(Settings::default());
        study
    }
}

#[cfg(test)]
mod tests {
    use database::Url;

    use super::*;
    use crate::target::Database;
    use crate::{Plan, Work};

    #[test]
    fn a_database_is_made_for_the_registers_and_removed() {
        let study =
            Study::of_register(vec![Database::at("postgres://me@localhost/x".parse::<Url>().unwrap())]);
        let plan = Plan::of(&study).unwrap();
        assert!(matches!(plan.trials[0].work, Work::Register(_)));
        assert_eq!(plan.trials[0].planned.name, "100 registers, 10 clients, 1000 operations/s");
        let wanted = &plan.trials[0].databases()[0];
        assert_eq!(wanted.name, workload::register::DATABASE);
        assert!(wanted.is_transient());
        let text = study.to_toml().unwrap();
        assert_eq!(Study::from_toml(&text).unwrap().to_toml().unwrap(), text);
    }
}
