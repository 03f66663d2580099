//! What is looked at before anything else of a study: whether its lists are such as can be gone through, and whether what will
//! be stored of it holds a password.

use record::{holds_password, without_password};
use toml::Value;

use crate::mistake::{StudyError, mistake};
use crate::study::Study;
use crate::target::Database;

/// Most of what a study lists. More would be read and compared for minutes, and run for years.
const AXES_MAX: usize = 100;
const LEVELS_MAX: usize = 10_000;
const CONFIGURATIONS_MAX: usize = 10_000;
const THRESHOLDS_MAX: usize = 1_000;
const DATABASES_MAX: usize = 1_000;

/// What is listed so often that nothing else of the study is looked at.
pub(crate) fn too_many(study: &Study) -> Vec<StudyError> {
    let own = study.configuration.iter().flat_map(|configuration| &configuration.axis);
    let levels = study.axis.iter().chain(own).map(|axis| axis.levels.len().max(axis.names.len()));
    let targets = study.configuration.iter().map(|configuration| &configuration.target);
    let count = |database: &Database| database.count.unwrap_or(1) as usize;
    let databases = targets.chain([&study.target]).map(|target| target.database.iter().map(count).sum());
    let listed = [
        ("axis", "axes", study.axis.len(), AXES_MAX),
        ("axis.levels", "levels of an axis", levels.max().unwrap_or(0), LEVELS_MAX),
        ("configuration", "configurations", study.configuration.len(), CONFIGURATIONS_MAX),
        ("thresholds", "thresholds", study.thresholds.len(), THRESHOLDS_MAX),
        ("target.database", "databases of a target", databases.max().unwrap_or(0), DATABASES_MAX),
    ];
    let many = listed.into_iter().filter(|&(.., number, most)| number > most);
    many.map(|(place, what, number, most)| {
        mistake(place, format!("{number} {what} are more than {most}: give fewer, or several studies"))
    })
    .collect()
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
    let problem = "holds an address with a password, and is stored and shown: give the password in PGPASSWORD or MYSQL_PWD";
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
