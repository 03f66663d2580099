//! What is looked at before anything else of a study: whether its lists are such as can be gone through, and whether what will
//! be stored of it holds a password.

use record::{holds_password, without_password};
use toml::Value;

use crate::mistake::{Place, StudyError, mistake};
use crate::study::Study;
use crate::target::{Database, Target};

/// Most of what a study lists. More would be read and compared for minutes, and run for years.
const AXES_MAX: usize = 100;
const LEVELS_MAX: usize = 10_000;
const CONFIGURATIONS_MAX: usize = 10_000;
const THRESHOLDS_MAX: usize = 1_000;
const DATABASES_MAX: u64 = 1_000;
/// Longest title or name, and longest name of a file: they stand in tables and in each trial's record.
const NAME_BYTES_MAX: usize = 1_000;

/// What is listed so often that nothing else of the study is looked at.
pub(crate) fn too_many(study: &Study) -> Vec<StudyError> {
    let own = study.configuration.iter().flat_map(|configuration| &configuration.axis);
    let levels = study.axis.iter().chain(own).map(|axis| axis.levels.len().max(axis.names.len()));
    let listed = [
        ("axis", "axes", study.axis.len(), AXES_MAX),
        ("axis.levels", "levels of an axis", levels.max().unwrap_or(0), LEVELS_MAX),
        ("configuration", "configurations", study.configuration.len(), CONFIGURATIONS_MAX),
        ("thresholds", "thresholds", study.thresholds.len(), THRESHOLDS_MAX),
    ];
    let many = listed.into_iter().filter(|&(.., number, most)| number > most);
    many.map(|(place, what, number, most)| {
        mistake(place, format!("{number} {what} exceed the limit of {most}. Give fewer, or split the study"))
    })
    .collect()
}

/// Names and titles that are too long to stand in a table. What else is in them is shown as it may be.
pub(crate) fn names(study: &Study) -> Vec<StudyError> {
    let configurations = study.configuration.iter();
    let own = configurations.clone().flat_map(|configuration| &configuration.axis);
    let axes = study.axis.iter().chain(own);
    let titles = [("title", &study.title), ("slug", &study.slug)].map(|(key, name)| (Place::from(key), name));
    let of_configurations = configurations.map(|own| (Place::from("configuration.name"), &own.name));
    let of_levels = axes.flat_map(|axis| axis.names.iter().map(|name| (Place::Axis(axis.key.clone()), name)));
    let names = titles.into_iter().chain(of_configurations).chain(of_levels);
    names.filter_map(|(place, name)| Some(mistake(place, too_long(name)?))).collect()
}

fn too_long(name: &str) -> Option<String> {
    let begin: String = name.chars().take(20).collect();
    let problem =
        format!("`{begin}…` has {} bytes, more than {NAME_BYTES_MAX}. Give a shorter one", name.len());
    (name.len() > NAME_BYTES_MAX).then_some(problem)
}

/// So many databases that one trial would use that they are not even listed.
pub(crate) fn too_many_databases(target: &Target) -> Option<StudyError> {
    let count = |database: &Database| u64::from(database.count.unwrap_or(1));
    let databases = target.database.iter().map(count).fold(0, u64::saturating_add);
    let problem = format!(
        "{databases} databases of one target exceed the limit of {DATABASES_MAX}. Give fewer, or split the \
         study"
    );
    (databases > DATABASES_MAX).then(|| mistake("target.database", problem))
}

/// Texts that hold the password of an address, in what is stored of a study. Addresses of targets keep theirs to themselves,
/// and axes are looked at each by itself.
pub(crate) fn passwords(study: &Study) -> Vec<StudyError> {
    // What cannot be stored is told when it is to be.
    let Ok(Value::Table(stored)) = Value::try_from(study) else { return Vec::new() };
    let mut places = Vec::new();
    for (key, value) in stored.iter().filter(|(key, _)| *key != "axis") {
        places_of_passwords(value, &without_password(key), &mut places);
    }
    let problem = "contains an address with a password, but is stored and shown. Give the password in \
         PGPASSWORD or MYSQL_PWD";
    places.into_iter().map(|place| mistake(place, problem)).collect()
}

fn places_of_passwords(value: &Value, place: &str, places: &mut Vec<String>) {
    match value {
        Value::String(text) if holds_password(text) => places.push(place.to_owned()),
        Value::Table(table) => table.iter().filter(|(key, _)| *key != "axis").for_each(|(key, value)| {
            if holds_password(key) {
                places.push(place.to_owned());
            }
            places_of_passwords(value, &format!("{place}.{}", without_password(key)), places);
        }),
        Value::Array(values) => values.iter().enumerate().for_each(|(index, value)| {
            places_of_passwords(value, &format!("{place}[{}]", index + 1), places);
        }),
        _ => {}
    }
}
