//! `prony compare`: results directories side by side.

use report::{Compare, CompareOutcome};

use crate::arguments;
use crate::exit::{Exit, Failure};
use crate::session;

pub(crate) fn run(compare: &arguments::Compare) -> Result<Exit, Failure> {
    let mut studies = Vec::new();
    for directory in &compare.directories {
        studies.push((directory.display().to_string(), results::read(directory).map_err(Failure::usage)?));
    }
    let sides: Vec<_> = studies.iter().map(|(name, study)| (name.clone(), study)).collect();
    let compared = Compare::of(&sides);
    let text = if compare.json { compared.json() } else { compared.text(session::terminal_width()) };
    session::print(|out| out.write_all(text.as_bytes()))?;
    Ok(match compared.outcome() {
        CompareOutcome::Judged => Exit::Pass,
        CompareOutcome::Descriptive | CompareOutcome::Refused | CompareOutcome::NothingShared => {
            Exit::Inconclusive
        }
    })
}
