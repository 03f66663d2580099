//! Layers of settings: flags over a study file over a profile.
//!
//! Layers are laid over each other as tables of what was given, key by key, so that a parameter needs to be declared
//! only once, beside the engine that uses it.

use load::Workload;
use toml::{Table, Value};

/// `upper` where it gives a parameter, else `lower`.
///
/// # Errors
/// When the tables cannot be read as settings again, which names the key.
pub(crate) fn overlay<W: Workload>(upper: Option<&W>, lower: Option<&W>) -> Result<W, String> {
    let mut laid = Table::new();
    for layer in [lower, upper].into_iter().flatten() {
        laid.extend(table(layer)?);
    }
    read(laid)
}

/// The parameters that both layers give, with values that differ.
///
/// # Errors
/// When settings cannot be written as a table.
pub(crate) fn conflicts<W: Workload>(upper: &W, lower: Option<&W>) -> Result<Vec<String>, String> {
    let lower = lower.map_or_else(|| Ok(Table::new()), table)?;
    let differs = |(key, value): &(String, Value)| lower.get(key).is_some_and(|other| other != value);
    Ok(table(upper)?.into_iter().filter(differs).map(|(key, _)| key).collect())
}

/// Settings with one parameter set to a value of a study file.
///
/// # Errors
/// When there is no such parameter, or it cannot have this value.
pub(crate) fn with<W: Workload>(settings: &W, key: &str, value: &Value) -> Result<W, String> {
    let mut table = table(settings)?;
    table.insert(key.to_owned(), value.clone());
    read(table)
}

/// The value of one parameter, if given.
pub(crate) fn value<W: Workload>(settings: &W, key: &str) -> Option<Value> {
    table(settings).ok()?.remove(key)
}

/// Settings without one parameter.
pub(crate) fn without<W: Workload>(settings: &W, key: &str) -> Result<W, String> {
    let mut table = table(settings)?;
    table.remove(key);
    read(table)
}

/// Parameters as a table of what was given.
pub(crate) fn table<W: Workload>(settings: &W) -> Result<Table, String> {
    Table::try_from(settings).map_err(|error| error.to_string())
}

fn read<W: Workload>(table: Table) -> Result<W, String> {
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
            overlay(Some(&upper), Some(&lower)).unwrap(),
            settings("block_size = \"8KiB\"\nrate = 100.0\nthreads = 2")
        );
        assert_eq!(conflicts(&upper, Some(&lower)).unwrap(), ["block_size"]);
        assert_eq!(conflicts(&lower, Some(&lower)).unwrap(), [""; 0]);
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
