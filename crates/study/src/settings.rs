//! Layers of settings: flags over a study file over a profile.
//!
//! Layers are laid over each other as tables of what was given, key by key, so that a parameter needs to be declared
//! only once, beside the engine that uses it.

use serde::Serialize;
use serde::de::DeserializeOwned;
use toml::{Table, Value};

/// The parameters of a workload, all of them optional.
pub trait Settings: Serialize + DeserializeOwned + Clone + Default + PartialEq {}

impl Settings for disk::Settings {}
impl Settings for workload::historian::Settings {}
impl Settings for workload::orders::Settings {}

/// `upper` where it gives a parameter, else `lower`.
///
/// # Errors
/// When the tables cannot be read as settings again, which names the key.
pub fn overlay<S: Settings>(upper: &S, lower: &S) -> Result<S, String> {
    let mut table = table(lower)?;
    table.extend(self::table(upper)?);
    read(table)
}

/// The parameters that both layers give, with values that differ.
///
/// # Errors
/// When settings cannot be written as a table.
pub fn conflicts<S: Settings>(upper: &S, lower: &S) -> Result<Vec<String>, String> {
    let lower = table(lower)?;
    let differs = |(key, value): &(String, Value)| lower.get(key).is_some_and(|other| other != value);
    Ok(table(upper)?.into_iter().filter(differs).map(|(key, _)| key).collect())
}

/// Settings with one parameter set to a value of a study file.
///
/// # Errors
/// When there is no such parameter, or it cannot have this value.
pub(crate) fn with<S: Settings>(settings: &S, key: &str, value: &Value) -> Result<S, String> {
    let mut table = table(settings)?;
    table.insert(key.to_owned(), value.clone());
    read(table)
}

/// The value of one parameter, if given.
pub(crate) fn value<S: Settings>(settings: &S, key: &str) -> Option<Value> {
    table(settings).ok()?.remove(key)
}

/// Settings without one parameter.
pub(crate) fn without<S: Settings>(settings: &S, key: &str) -> Result<S, String> {
    let mut table = table(settings)?;
    table.remove(key);
    read(table)
}

fn table<S: Settings>(settings: &S) -> Result<Table, String> {
    Table::try_from(settings).map_err(|error| error.to_string())
}

fn read<S: Settings>(table: Table) -> Result<S, String> {
    table.try_into().map_err(|error: toml::de::Error| error.message().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use disk::Settings;

    fn settings(text: &str) -> Settings {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn the_upper_layer_wins_where_it_says_something() {
        let upper = settings("block_size = \"8KiB\"\nrate = 100.0");
        let lower = settings("block_size = \"4KiB\"\nthreads = 2");
        assert_eq!(
            overlay(&upper, &lower).unwrap(),
            settings("block_size = \"8KiB\"\nrate = 100.0\nthreads = 2")
        );
        assert_eq!(conflicts(&upper, &lower).unwrap(), ["block_size"]);
        assert_eq!(conflicts(&lower, &lower).unwrap(), [""; 0]);
    }

    #[test]
    fn a_parameter_is_set_by_its_key() {
        let value = Value::String("sequential".to_owned());
        assert_eq!(
            with(&Settings::default(), "pattern", &value).unwrap(),
            settings("pattern = \"sequential\"")
        );
        let unknown = with(&Settings::default(), "pattren", &value).unwrap_err();
        assert!(unknown.contains("pattren"), "{unknown}");
    }
}
