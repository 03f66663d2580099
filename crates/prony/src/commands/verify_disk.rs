//! `prony verify`: does this storage keep what it acknowledged?

use std::path::Path;

use anyhow::anyhow;
use disk::{AfterCrash, JournalServer, ServedJournal, Settings, VerifyProfile};
use load::{Size, Span};
use record::Lines;
use study::Study;
use workload::given_file;

use super::disk::check_paths;
use super::measuring::Asks;
use crate::arguments::{Output, Verify};
use crate::exit::{Exit, Failure};
use crate::{interrupt, session, sqliosim_disk, terminal};

impl Asks for Verify {
    fn run(&self, output: &Output) -> Result<Exit, Failure> {
        match &self.serve_journal {
            Some(address) => serve_journal(self, address),
            None if self.after_crash => after_crash(self, output),
            None => session::run(&self.study()?, output),
        }
    }

    fn study(&self) -> Result<Study, Failure> {
        let unmeasured =
            [("--after-crash", self.after_crash), ("--serve-journal", self.serve_journal.is_some())];
        if let Some((option, _)) = unmeasured.iter().find(|(_, is_given)| *is_given) {
            return Err(Failure::usage(anyhow!(
                "{option} measures nothing and has no plan. Run it without \
                 plan"
            )));
        }
        check_paths(&self.paths, &self.settings)?;
        if self.flush_honesty {
            return flush_honesty(self);
        }
        let mut study = Study::of_disk(self.paths.clone());
        study.title = "Verify".to_owned();
        study.slug = "verify".to_owned();
        study.narrow(&defaults(self.profile)).map_err(Failure::usage)?;
        if let Some(path) = &self.sqliosim_config {
            let asked = sqliosim_disk::Asked { profile: self.profile, settings: &self.settings };
            study.narrow(&taken_over(path, asked)?).map_err(Failure::usage)?;
        }
        study
            .narrow(&Settings { verify: Some(self.profile), ..self.settings.clone() })
            .map_err(Failure::usage)?;
        self.must.of(&mut study)?;
        Ok(study)
    }
}

/// The profile that measures flushes; nothing is verified in it.
fn flush_honesty(verify: &Verify) -> Result<Study, Failure> {
    let mut study = super::profile("flush", false)?;
    study.title = "Flush honesty".to_owned();
    study.target.paths.clone_from(&verify.paths);
    study.narrow(&verify.settings).map_err(Failure::usage)?;
    verify.must.of(&mut study)?;
    Ok(study)
}

/// As long as it takes to see something: five minutes, or half of one.
fn defaults(profile: VerifyProfile) -> Settings {
    let (duration, file_size) = match profile {
        VerifyProfile::Sqliosim | VerifyProfile::Log | VerifyProfile::Checkpoint => {
            (Span::seconds(300), Size::mib(1024))
        }
        VerifyProfile::Quick => (Span::seconds(30), Size::mib(128)),
    };
    Settings {
        verify: Some(profile),
        duration: Some(duration),
        warm_up: Some(Span::ZERO),
        file_size: Some(file_size),
        ..Settings::default()
    }
}

/// Most bytes of a configuration file.
const CONFIGURATION_BYTES_MAX: Size = Size::mib(1);

/// What a configuration file of SQLIOSim's asks for; each of its options is told.
fn taken_over(path: &Path, asked: sqliosim_disk::Asked<'_>) -> Result<Settings, Failure> {
    let place = path.display();
    let failed = |problem: String| Failure::usage(anyhow!("{place}: {problem}"));
    let text = given_file::read(path, CONFIGURATION_BYTES_MAX).map_err(|error| failed(error.to_string()))?;
    if let Some(utf16) = given_file::Utf16::of(&text) {
        return Err(failed(format!("the file is {utf16}")));
    }
    // Windows writes such files in its own code page; names are not taken over.
    let mapped = sqliosim_disk::read(&String::from_utf8_lossy(&text), asked).map_err(|mistakes| {
        Failure::mistakes(mistakes.into_iter().map(|mistake| format!("{place}: {mistake}")).collect())
    })?;
    mapped.told.iter().for_each(|line| announce!("{place}: {line}"));
    Ok(mapped.settings)
}

/// Keeps the journal of a run elsewhere, until it ends.
fn serve_journal(verify: &Verify, address: &str) -> Result<Exit, Failure> {
    let [file] = verify.paths.as_slice() else {
        return Err(Failure::usage(anyhow!("--serve-journal writes one file. Give one PATH")));
    };
    let stop = interrupt::flag_on_signal()?;
    let server = JournalServer::bind(address)
        .map_err(|error| Failure::usage(anyhow!("cannot listen at {address}: {error}. Give ADDRESS:PORT")))?;
    tell!("receiving the journal of one run at {} (press Ctrl-C to stop)", server.address());
    let served = server.serve(file, &stop, &mut |line| tell!("{line}")).map_err(Failure::runtime)?;
    let file = file.display();
    match served {
        ServedJournal::NoRun => tell!("no run connected, so {file} was not created"),
        ServedJournal::Run { promises, end } => tell!("{file} contains {promises} entries: {end}"),
    }
    Ok(Exit::Pass)
}

/// Tells what a run left that ended with a crash.
fn after_crash(verify: &Verify, output: &Output) -> Result<Exit, Failure> {
    let journal = verify.settings.journal.as_deref();
    let journal = journal.ok_or_else(|| {
        Failure::usage(anyhow!("--after-crash needs the journal of that run. Add --journal FILE"))
    })?;
    let found = disk::after_crash(journal, &verify.paths).map_err(Failure::usage)?;
    if output.format.json {
        let text = serde_json::to_string_pretty(&found).map_err(Failure::runtime)?;
        terminal::print_json(&(text + "\n"))?;
    } else {
        terminal::print(&Lines::each(told(&found)))?;
    }
    Ok(if found.verified.is_faulty() { Exit::Runtime } else { Exit::Pass })
}

/// Sentences, and each finding with all that is known of it.
fn told(found: &AfterCrash) -> Vec<String> {
    let findings = found.verified.findings.iter().flat_map(|finding| {
        let lines = finding
            .lines()
            .into_iter()
            .filter(|line| !line.starts_with("found ") && !line.starts_with("again "));
        std::iter::once(String::new()).chain(lines)
    });
    found.sentences().into_iter().chain(findings).collect()
}
