//! A stored value taken apart into what can be compared one by one.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

/// A stored value as dotted paths and texts. What stands in a list is known by its name, or by its place.
pub type Leaves = BTreeMap<String, String>;

/// Takes a value apart, as it is stored, so that what is recorded one day is compared from then on.
#[must_use]
pub fn leaves(of: &impl Serialize) -> Leaves {
    let mut leaves = Leaves::new();
    walk("", &serde_json::to_value(of).unwrap_or_default(), &mut leaves);
    leaves
}

fn walk(path: &str, value: &Value, leaves: &mut Leaves) {
    let below = |name: &str| match (path, name) {
        ("", name) => name.to_owned(),
        // Whether a reading is known is told by its value.
        (path, "known") => path.to_owned(),
        (path, name) => format!("{path}.{name}"),
    };
    match value {
        Value::Object(members) => {
            members.iter().for_each(|(name, member)| walk(&below(name), member, leaves))
        }
        Value::Array(items) => {
            for (place, item) in items.iter().enumerate() {
                let name = item.get("name").and_then(Value::as_str);
                match (name, item.get("value")) {
                    (Some(name), Some(value)) => walk(&below(name), value, leaves),
                    (Some(name), None) => walk(&below(name), item, leaves),
                    _ => walk(&below(&(place + 1).to_string()), item, leaves),
                }
            }
        }
        Value::Null => {}
        Value::String(text) => drop(leaves.insert(path.to_owned(), text.clone())),
        other => drop(leaves.insert(path.to_owned(), other.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_stands_in_a_list_is_known_by_its_name_or_its_place() {
        let value = json!({
            "paths": ["/data", "/log"], "memory": {"known": 8}, "none": null,
            "settings": [{"name": "fsync", "value": "on"}, {"name": "pg", "cpus": 4}],
        });
        let found: Vec<(String, String)> = leaves(&value).into_iter().collect();
        let expected = [
            ("memory", "8"),
            ("paths.1", "/data"),
            ("paths.2", "/log"),
            ("settings.fsync", "on"),
            ("settings.pg.cpus", "4"),
            ("settings.pg.name", "pg"),
        ];
        assert_eq!(found, expected.map(|(path, text)| (path.to_owned(), text.to_owned())));
    }
}
