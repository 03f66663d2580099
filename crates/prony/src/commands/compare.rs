//! `prony compare`: results directories side by side.

use report::{Compare, CompareOutcome};

use crate::arguments;
use crate::exit::{Exit, Failure};
use crate::terminal;

pub(crate) fn run(compare: &arguments::Compare) -> Result<Exit, Failure> {
    let mut studies = Vec::new();
    for directory in &compare.directories {
        studies.push((directory.display().to_string(), results::read(directory).map_err(Failure::usage)?));
    }
    let sides: Vec<_> = studies.iter().map(|(name, study)| (name.clone(), study)).collect();
    let compared = Compare::of(&sides, compare.smallest, compare.between);
    if compare.json {
        terminal::print_json(&compared.json())?;
    } else {
        terminal::print(&compared.text(terminal::width()))?;
    }
    Ok(match compared.outcome() {
        CompareOutcome::Judged => Exit::Pass,
        CompareOutcome::Descriptive | CompareOutcome::Refused | CompareOutcome::NothingShared => {
            Exit::Inconclusive
        }
    })
}
