//! `prony study`: study files, and the studies that are ready to run.

use std::path::Path;

use anyhow::anyhow;
use load::Size;
use record::Lines;
use study::{ReadyStudy, Study, StudyFile};
use workload::given_file;

use crate::arguments::{Format, GivenStudy, PlanStudy, ResumeStudy, RunStudy, ShowStudy};
use crate::commands::plan as plans;
use crate::documents::Documents;
use crate::exit::{Exit, Failure};
use crate::{laboratory, session, terminal};

pub(crate) fn run(run: &RunStudy) -> Result<Exit, Failure> {
    session::run(&study(&run.given, false)?, &run.output)
}

pub(crate) fn plan(plan: &PlanStudy) -> Result<Exit, Failure> {
    let mut study = study(&plan.given, true)?;
    study.noise = plan.noise.or(study.noise);
    plans::print(&study, plan.gain, Format { json: plan.json, csv: false, details: false })
}

pub(crate) fn resume(resume: &ResumeStudy) -> Result<Exit, Failure> {
    let documents = Documents::of(&resume.documents, None, resume.format.prints())?;
    session::resume(&resume.among.find(&resume.directory)?, resume.format, &documents)
}

/// A line a study: its name and what it answers.
pub(crate) fn list() -> Result<Exit, Failure> {
    let width = ReadyStudy::all().map(|study| study.name.len()).max().unwrap_or(0);
    let lines = ReadyStudy::all().map(|study| format!("{:<width$}  {}", study.name, study.answers()));
    let remark = "To print a study: prony study show NAME (--page explains it). For a quick run: prony \
         study run NAME --quick";
    terminal::print(&Lines::each(lines.chain([String::new(), remark.to_owned()])))?;
    Ok(Exit::Pass)
}

pub(crate) fn show(show: &ShowStudy) -> Result<Exit, Failure> {
    let study = ReadyStudy::named(&show.name).ok_or_else(|| Failure::usage(unknown(&show.name)))?;
    let text = if show.page {
        study.page.ok_or_else(|| {
            Failure::usage(anyhow!("{0} has no page. To print its file: prony study show {0}", study.name))
        })?
    } else {
        study.file
    };
    terminal::print_file(text.as_bytes())?;
    Ok(Exit::Pass)
}

/// The study that the arguments name, as they change it.
fn study(given: &GivenStudy, is_planned: bool) -> Result<Study, Failure> {
    let path = Path::new(&given.study);
    let (name, text) = match ReadyStudy::named(&given.study) {
        // A file of this name is what is meant: ready studies can be adapted.
        Some(ready) if !path.is_file() => (ready.name.to_owned(), ready.file.to_owned()),
        _ => (stem(path), read(path)?),
    };
    let mut set: Vec<(String, toml::Value)> =
        given.set.iter().map(|(key, value)| (key.clone(), value_of(value))).collect();
    set.extend(given.blocks.map(|blocks| ("blocks".to_owned(), i64::from(blocks).into())));
    set.extend(given.smallest.map(|smallest| ("smallest".to_owned(), smallest.to_string().into())));
    set.extend(given.accept_single.then(|| ("accept_single".to_owned(), true.into())));
    set.extend(given.stop.as_ref().map(|stop| ("stop".to_owned(), stop.as_str().into())));
    let lab = given.place.iter().find(|(name, _)| name == laboratory::PLACE);
    let lab = lab.map(|(_, directory)| laboratory::given(directory, is_planned)).transpose()?;
    let file = StudyFile {
        name: &name,
        text: &text,
        quick: given.quick,
        places: given.place.iter().filter(|(name, _)| name != laboratory::PLACE).cloned().collect(),
        lab,
        set,
    };
    let study = file.study().map_err(|mut mistakes| {
        for mistake in &mut mistakes {
            // They have flags of their own, which are laid last.
            match mistake.place.as_str() {
                "--set blocks" if given.blocks.is_some() => "--blocks".clone_into(&mut mistake.place),
                "--set stop" if given.stop.is_some() => "--stop".clone_into(&mut mistake.place),
                _ => {}
            }
        }
        Failure::mistakes(mistakes.iter().map(|mistake| format!("{}: {mistake}", given.study)).collect())
    })?;
    if let Some(array) = &study.expect {
        array
            .parse::<report::Array>()
            .map_err(|error| Failure::usage(anyhow!("{}: expect: {error}", given.study)))?;
    }
    Ok(study)
}

fn stem(path: &Path) -> String {
    path.file_stem().map_or_else(|| "study".to_owned(), |stem| stem.to_string_lossy().into_owned())
}

/// More than any study that could be run.
const STUDY_BYTES_MAX: Size = Size(16 << 20);

fn read(path: &Path) -> Result<String, Failure> {
    let name = path.display().to_string();
    given_file::read_text(path, STUDY_BYTES_MAX).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound if !name.contains(['/', '.']) => Failure::usage(unknown(&name)),
        _ => Failure::usage(anyhow!("cannot read the study {name}: {error}")),
    })
}

/// Likeness from which on a name is suggested: that of a slip or two in it.
const LIKELY: f64 = 0.85;

fn unknown(name: &str) -> anyhow::Error {
    let likeness = |study: &ReadyStudy| strsim::jaro_winkler(study.name, name);
    let nearest = ReadyStudy::all().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    let nearest = nearest.filter(|study| likeness(study) >= LIKELY);
    let meant = nearest.map_or_else(String::new, |study| format!(" Did you mean {}?", study.name));
    anyhow!("no file or ready study is named {name}.{meant} To list all: prony study list")
}

/// A value as a study file would spell it; what is none there is a text, so that `5s` needs no quotes.
fn value_of(text: &str) -> toml::Value {
    let document = format!("value = {text}");
    let table = document.parse::<toml::Table>().ok().filter(|table| table.len() == 1);
    let value = table.and_then(|mut table| table.remove("value"));
    value.unwrap_or_else(|| text.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_likely_name_is_suggested() {
        for (given, meant) in [
            ("hds-flush-row", Some("hds-flush-rows")),
            ("hds-flush_rows", Some("hds-flush-rows")),
            ("sqlio-swep", Some("sqlio-sweep")),
            ("nope", None),
            ("x", None),
            ("mystudy", None),
        ] {
            let error = unknown(given).to_string();
            let suggested = meant.map(|meant| format!(" Did you mean {meant}? "));
            match suggested {
                Some(suggested) => assert!(error.contains(&suggested), "{error}"),
                None => assert!(!error.contains("Did you mean"), "{error}"),
            }
            assert!(error.ends_with("prony study list"), "{error}");
        }
    }

    #[test]
    fn a_value_needs_no_quotes() {
        assert_eq!(value_of("5s"), "5s".into());
        assert_eq!(value_of("\"5s\""), "5s".into());
        assert_eq!(value_of("40"), 40.into());
        assert_eq!(value_of("true"), true.into());
        assert_eq!(value_of("[1, 2]"), toml::Value::Array(vec![1.into(), 2.into()]));
        assert_eq!(value_of("1\nb = 3"), "1\nb = 3".into(), "one value only");
    }
}
