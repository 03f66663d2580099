//! The stored forms of a trial and their versions: the newest is written, all are read.
//!
//! Format 1 named the workload in a text that was added late, had a field for each workload's outcome, and held nothing of the
//! target but what the setup told.

use std::collections::BTreeMap;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::{
    DiskOutcome, HistorianOutcome, Offered, OrdersOutcome, Outcome, Sample, SearchStep, Setup, State,
    TrialRecord, Workload, historian, target,
};

/// Version of the stored forms that this build writes. It reads this one and all before it.
pub const FORMAT_VERSION: u32 = 2;

impl Serialize for TrialRecord {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(&Self { format: FORMAT_VERSION, ..self.clone() }, serializer)
    }
}

impl<'de> Deserialize<'de> for TrialRecord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let record = match value.get("format").and_then(Value::as_u64) {
            Some(1) => of_format_1(value),
            Some(2) => Self::deserialize(value).map_err(|error| error.to_string()).and_then(of_format_2),
            _ => Err(match value.get("format") {
                Some(format) => format!("its format is {format}, and this prony reads 1 to {FORMAT_VERSION}"),
                None => "it does not say what format it is of".to_owned(),
            }),
        };
        record.and_then(agreed).map_err(D::Error::custom)
    }
}

/// Names that format 1 did not have.
const OF_FORMAT_2: [&str; 4] = ["main", "outcome", "target", "placed"];

fn of_format_1(value: Value) -> Result<TrialRecord, String> {
    if let Some(newer) = OF_FORMAT_2.iter().find(|name| value.get(**name).is_some()) {
        return Err(format!("its format is 1, which had no `{newer}`"));
    }
    Format1::deserialize(value).map_err(|error| error.to_string()).and_then(TrialRecord::try_from)
}

/// The record, if its target is one, and the one that was set up.
fn of_format_2(record: TrialRecord) -> Result<TrialRecord, String> {
    // One that was of format 1 has none.
    if !record.target.is_object() && !record.target.is_null() {
        return Err(format!("its target is {} and no table", record.target));
    }
    match record.setup.as_ref().and_then(|setup| target::contradiction(&record.target, setup)) {
        Some(contradiction) => Err(contradiction),
        None => Ok(record),
    }
}

/// The record, if it has what it says to have come to: setup and outcome, those of its workload.
fn agreed(record: TrialRecord) -> Result<TrialRecord, String> {
    if matches!(record.state, State::Complete | State::Invalid) {
        let has = [("setup", record.setup.is_some()), ("outcome", record.outcome.is_some())];
        if let Some((lacks, _)) = has.into_iter().find(|(_, has)| !has) {
            return Err(format!("it was measured to its end and has no {lacks}"));
        }
    }
    let setup = record.setup.as_ref().map(|setup| ("setup", setup.workload()));
    let outcome = record.outcome.as_ref().map(|outcome| ("outcome", outcome.workload()));
    match setup.into_iter().chain(outcome).find(|(_, of)| *of != record.workload) {
        Some((what, of)) => {
            Err(format!("its workload is {}, and its {what} is that of {of}", record.workload))
        }
        None => Ok(record),
    }
}

/// `trial.json` as it was.
#[derive(Deserialize)]
struct Format1 {
    number: u32,
    name: String,
    block: u32,
    #[serde(default)]
    levels: BTreeMap<String, String>,
    #[serde(default)]
    configuration: String,
    #[serde(default)]
    aa: bool,
    state: State,
    reason: Option<String>,
    #[serde(default)]
    notes: Vec<String>,
    started: Option<String>,
    parameters: Value,
    setup: Option<Setup>,
    #[serde(default)]
    unsent: u64,
    offered: Option<Offered>,
    historian: Option<HistorianOutcome>,
    orders: Option<OrdersOutcome>,
    workload: Option<Workload>,
    search: Option<SearchStep>,
}

impl Format1 {
    /// Whatever says it; a step of a search was one of a historian before records named their workload.
    fn workload(&self) -> Result<Workload, String> {
        let setup = self.setup.as_ref().map(Setup::workload);
        let search = self.search.as_ref().map(|_| Workload::Historian);
        let named = self.workload.or(setup).or(search);
        named.ok_or_else(|| "it does not say what workload it is of".to_owned())
    }
}

impl TryFrom<Format1> for TrialRecord {
    type Error = String;

    fn try_from(record: Format1) -> Result<Self, String> {
        let workload = record.workload()?;
        // A disk's outcome was told by the fields of the record alone, and only once its load had ended.
        let disk = (workload == Workload::Disk && record.setup.is_some() && ended(record.state)).then_some(
            Outcome::Disk(DiskOutcome { unsent: record.unsent, offered: record.offered, verified: None }),
        );
        let outcome = match (record.historian, record.orders) {
            (Some(_), Some(_)) => return Err("it holds the outcomes of a historian and of orders".to_owned()),
            (Some(outcome), None) => Some(Outcome::Historian(Box::new(outcome))),
            (None, Some(outcome)) => Some(Outcome::Orders(Box::new(outcome))),
            (None, None) => disk,
        };
        let marks = outcome.as_ref().map(|outcome| outcome.marks(record.setup.as_ref())).unwrap_or_default();
        Ok(Self {
            format: 1,
            workload,
            main: workload.main(),
            number: record.number,
            name: record.name,
            block: record.block,
            levels: record.levels,
            configuration: record.configuration,
            aa: record.aa,
            state: record.state,
            reason: record.reason,
            notes: record.notes,
            started: record.started,
            parameters: record.parameters,
            planned_s: None,
            target: Value::Null,
            placed: Vec::new(),
            servers: Vec::new(),
            setup: record.setup,
            marks,
            faults: Vec::new(),
            clusters: Vec::new(),
            outcome,
            search: record.search,
        })
    }
}

fn ended(state: State) -> bool {
    matches!(state, State::Complete | State::Invalid | State::Aborted | State::Failed)
}

/// Makes samples of a record that was read from format 1 into those of today: rows that were read stood where bytes stand.
pub(crate) fn rows_apart(workload: Workload, samples: &mut [Sample]) {
    if workload != Workload::Historian {
        return;
    }
    for sample in samples {
        for kind in [historian::TREND, historian::LATEST] {
            if let Some(read) = sample.operations.get_mut(kind) {
                read.rows += std::mem::take(&mut read.bytes);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of_format_1(stored: &mut Value) {
        stored["format"] = 1.into();
        OF_FORMAT_2.iter().for_each(|name| drop(stored.as_object_mut().unwrap().remove(*name)));
    }

    fn read(change: impl FnOnce(&mut Value)) -> Result<TrialRecord, String> {
        let mut stored = json!({
            "format": 2, "workload": "disk", "main": {"all_but": ["flush"]}, "number": 1, "name": "x", "block": 1,
            "state": "failed", "parameters": {}, "outcome": {"workload": "disk", "unsent": 7},
        });
        change(&mut stored);
        serde_json::from_value(stored).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_not_known_or_contradicts_itself_is_an_error_and_never_a_disk() {
        assert_eq!(read(|_| ()).unwrap().unsent(), 7);
        let unknown = read(|stored| stored["workload"] = "weather".into()).unwrap_err();
        assert!(unknown.contains("unknown variant `weather`"), "{unknown}");
        let other = read(|stored| stored["workload"] = "orders".into()).unwrap_err();
        assert_eq!(other, "its workload is orders, and its outcome is that of disk");
        let silent = read(|stored| drop(stored.as_object_mut().unwrap().remove("workload"))).unwrap_err();
        assert!(silent.contains("missing field `workload`"), "{silent}");
        let old = read(|stored| {
            of_format_1(stored);
            stored.as_object_mut().unwrap().remove("workload");
        });
        assert_eq!(old.unwrap_err(), "it does not say what workload it is of");
        let unknown = read(|stored| {
            of_format_1(stored);
            stored["workload"] = "weather".into();
        });
        assert!(unknown.unwrap_err().contains("unknown variant `weather`"));
    }

    #[test]
    fn a_record_of_format_1_is_written_as_the_newest() {
        let old = read(of_format_1).unwrap();
        assert_eq!(old.format, 1);
        let written = serde_json::to_value(&old).unwrap();
        assert_eq!(written["format"], FORMAT_VERSION);
        assert_eq!(serde_json::from_value::<TrialRecord>(written).unwrap().main, Workload::Disk.main());
    }

    /// A trial without its outcome was reported as if nothing had been lost, and one of another format as one of today's.
    #[test]
    fn a_record_that_lacks_or_denies_what_it_says_is_an_error() {
        let told = |change: &dyn Fn(&mut Value)| read(change).unwrap_err();
        for state in ["complete", "invalid"] {
            let lacks = told(&|stored| stored["state"] = state.into());
            assert_eq!(lacks, "it was measured to its end and has no setup");
        }
        assert_eq!(
            told(&|stored| stored["format"] = 3.into()),
            "its format is 3, and this prony reads 1 to 2"
        );
        assert_eq!(
            told(&|stored| stored["format"] = "2".into()),
            "its format is \"2\", and this prony reads 1 to 2"
        );
        assert_eq!(told(&|stored| stored["format"] = 1.into()), "its format is 1, which had no `main`");
        assert_eq!(told(&|stored| stored["target"] = "/data".into()), "its target is \"/data\" and no table");
        assert!(read(|stored| stored["target"] = json!({"paths": ["/data"]})).is_ok());
    }
}
