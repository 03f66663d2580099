//! A stored target in its one full form, so that two spellings of the same thing are the same.
//!
//! Records hold a target as a study file spells it, as briefly as it can be read. What a study file once could say otherwise
//! stands in older records as it was written then.

use serde_json::{Map, Value};

use crate::Setup;
use crate::set_up_database::place;

/// A target with its databases by number, each with its address as `at`. They are stored as briefly as they can be read: one
/// of which nothing but the place is said as its address alone, and one that is alone without a list. The keys of the older
/// spelling, `url` and `store`, are those of today.
#[must_use]
pub fn in_full(target: &Value) -> Value {
    let mut target = target.clone();
    let Some(keys) = target.as_object_mut() else { return target };
    let of_url = keys.remove("url").map(|url| with_name(at(url), keys.remove("database")));
    let listed = keys.remove("database").into_iter().chain(keys.remove("store")).flat_map(one_or_many);
    let mut databases: Vec<Value> = of_url.into_iter().chain(listed.map(database)).collect();
    for key in ["existing", "keep"] {
        let Some(said) = keys.remove(key) else { continue };
        for database in databases.iter_mut().filter_map(Value::as_object_mut) {
            database.entry(key).or_insert_with(|| said.clone());
        }
    }
    if !databases.is_empty() {
        let numbered =
            databases.into_iter().zip(1..).map(|(one, number): (_, u32)| (number.to_string(), one));
        keys.insert("database".to_owned(), numbered.collect());
    }
    target
}

/// The name of an axis over a target, and a level of it, as they are called today: `database` of the older `url`, and the
/// address alone of a database of which nothing else is said. The names of other axes stay, and so do their levels.
#[must_use]
pub fn axis_in_full(name: &str, level: &str) -> (String, String) {
    if !["url", "store", "database", "at"].contains(&name) {
        return (name.to_owned(), level.to_owned());
    }
    let inside = level.trim().strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    let alone = inside.and_then(|inside| inside.split_once('=')).filter(|(key, _)| key.trim() == "at");
    let quoted = alone.and_then(|(_, value)| {
        let value = value.trim();
        let quote = value.chars().next().filter(|quote| ['"', '\''].contains(quote))?;
        value.strip_prefix(quote)?.strip_suffix(quote).filter(|inside| !inside.contains(quote))
    });
    ("database".to_owned(), quoted.unwrap_or(level).to_owned())
}

/// What was loaded, as a setup tells it: the paths as one text, or the address of each database with its name. Empty where
/// nothing outside this process was.
#[must_use]
pub fn loaded(setup: &Setup) -> Vec<String> {
    let stored = serde_json::to_value(setup).unwrap_or_default();
    let text = |value: &Value| value.as_str().map(str::to_owned);
    if let Some(path) = stored.get("path") {
        let is_touched = !matches!(stored["engine"].as_str(), Some("null" | "simulated"));
        return is_touched.then(|| text(path)).flatten().into_iter().collect();
    }
    match (stored.get("target"), stored.get("targets").and_then(Value::as_array)) {
        (Some(one), _) => text(one).into_iter().collect(),
        (None, Some(several)) => several.iter().filter_map(|one| text(one.get("target")?)).collect(),
        (None, None) => Vec::new(),
    }
}

/// What a target asks for and the setup of its trial denies; none where they agree, or cannot be compared.
pub(crate) fn contradiction(target: &Value, setup: &Setup) -> Option<String> {
    let full = in_full(target);
    let loaded = loaded(setup);
    // A target may have both, for trials of several workloads.
    let (asked, agree) = if setup.databases().is_empty() {
        let paths: Vec<&str> = full.get("paths")?.as_array()?.iter().filter_map(Value::as_str).collect();
        let asked = vec![paths.join(", ")];
        let agree = asked == loaded;
        (asked, agree)
    } else {
        let databases = full.get("database")?.as_object()?.values();
        let asked: Vec<String> =
            databases.map(|one| one.get("at")?.as_str().map(str::to_owned)).collect::<Option<_>>()?;
        let agree = places(&asked)? == places(&loaded)?;
        (asked, agree)
    };
    (!loaded.is_empty() && !agree).then(|| {
        format!("its target is {}, but its setup names {}", asked.join(" and "), loaded.join(" and "))
    })
}

/// The files or servers of addresses, each once, whatever their order, which names of databases decide; none if one of them is the name of a server, which no setup has. Of several databases of one
/// server a target may say only how many there are.
fn places(addresses: &[String]) -> Option<Vec<String>> {
    let mut places: Vec<String> = addresses.iter().map(|address| place(address)).collect::<Option<_>>()?;
    places.sort_unstable();
    places.dedup();
    Some(places)
}

fn one_or_many(value: Value) -> Vec<Value> {
    match value {
        Value::Array(several) => several,
        one => vec![one],
    }
}

/// A database as a table. One of the older spelling had its address as `url`, and its name as `database`.
fn database(written: Value) -> Value {
    match written {
        Value::Object(mut keys) => {
            for (older, now) in [("url", "at"), ("database", "name")] {
                if let Some(value) = keys.remove(older) {
                    keys.insert(now.to_owned(), value);
                }
            }
            Value::Object(keys)
        }
        place => at(place),
    }
}

fn at(place: Value) -> Value {
    Value::Object(Map::from_iter([("at".to_owned(), place)]))
}

fn with_name(mut database: Value, name: Option<Value>) -> Value {
    if let (Some(keys), Some(name)) = (database.as_object_mut(), name) {
        keys.insert("name".to_owned(), name);
    }
    database
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn spellings_of_one_target_are_one() {
        let full = json!({"database": {"1": {"at": "sqlite:/a"}}});
        for brief in [
            json!({"database": "sqlite:/a"}),
            json!({"database": {"at": "sqlite:/a"}}),
            json!({"database": ["sqlite:/a"]}),
            json!({"database": [{"at": "sqlite:/a"}]}),
            json!({"url": "sqlite:/a"}),
            json!({"store": [{"url": "sqlite:/a"}]}),
        ] {
            assert_eq!(in_full(&brief), full, "{brief}");
        }
        let named = json!({"database": {"1": {"at": "postgres://h", "name": "x", "keep": true}}});
        assert_eq!(in_full(&json!({"url": "postgres://h", "database": "x", "keep": true})), named);
        let (paths, other) = (json!({"paths": ["/a"]}), json!(7));
        assert_eq!((in_full(&paths), in_full(&other)), (paths, other), "what has no database stays");
    }

    #[test]
    fn a_server_is_the_same_whoever_logs_in_to_what() {
        let set_up = "postgres://historian@db-1:5432/plant";
        for asked in
            ["postgres://db-1", "postgresql://x@DB-1/y?sslmode=require", "postgres://?host=db-1", set_up]
        {
            assert_eq!(place(asked), place(set_up), "{asked}");
        }
        for other in
            ["postgres://db-2", "postgres://db-1:5433", "mysql://db-1:5432", "postgres://?host=/run/db-1"]
        {
            assert!(place(other).is_some() && place(other) != place(set_up), "{other}");
        }
        assert_eq!(place("mysql://a@/?socket=%2Frun%2Fdb"), place("mariadb://?socket=/run/db"));
        assert_eq!((place("postgres://[::1]"), place("db1")), (Some("postgres://[::1]:5432".into()), None));
        let twice = ["postgres://h/a_1".to_owned(), "postgres://h/a_2".to_owned()];
        assert_eq!(places(&twice), places(&["postgres://h".to_owned()]), "a count of databases");
        let (one, two) = ("postgres://a/x".to_owned(), "mysql://b/y".to_owned());
        assert_eq!(places(&[one.clone(), two.clone()]), places(&[two, one]), "in whatever order");
    }

    #[test]
    fn an_axis_over_databases_has_one_name_and_one_spelling_of_its_levels() {
        let full = ("database".to_owned(), "sqlite:/a".to_owned());
        for (name, level) in [
            ("url", "sqlite:/a"),
            ("at", "sqlite:/a"),
            ("database", "sqlite:/a"),
            ("database", "{ at = \"sqlite:/a\" }"),
            ("database", "{at='sqlite:/a'}"),
        ] {
            assert_eq!(axis_in_full(name, level), full, "{name} {level}");
        }
        let more = "{ at = \"sqlite:/a\", keep = true }";
        assert_eq!(axis_in_full("database", more).1, more);
        assert_eq!(axis_in_full("memory", "{ at = \"8\" }"), ("memory".into(), "{ at = \"8\" }".into()));
    }
}
