//! `kill -9` of prony in its first second, while it makes, replaces or takes up a database.
//!
//! The next command for the same name must end as a good run does. Kills that come when the command has ended already are not
//! counted: another moment is drawn.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use anyhow::{Result, ensure};

use super::lab::Lab;
use super::process::{Started, run};
use super::server::{Kind, Server};
use super::tally::Tally;

const FIRST: Duration = Duration::from_secs(1);
/// Longer than any of these commands takes on a slow machine.
const LIMIT: Duration = Duration::from_secs(120);
/// Moments that are drawn for one that meets a running command.
const DRAWN_MAX: u32 = 30;

const HISTORIAN: &str = "historian --rate 100 --warm-up 0s --duration 300ms --screens 0";
const LOAD: &str = "orders load --size 1MB";

/// Server or file, and what was there at the beginning.
struct Target<'a> {
    lab: &'a Lab,
    server: Option<Server>,
    url: String,
    before: BTreeSet<String>,
}

pub(super) fn historian(lab: &Lab, kind: Option<Kind>) -> Result<Tally> {
    let target = Target::new(lab, kind)?;
    let replace = format!("{HISTORIAN} --replace");
    let tally = target.cases(&replace, &[&replace, &format!("{HISTORIAN} --reuse")])?;
    target.ends_clean(tally, &replace, |_| Ok(()))
}

pub(super) fn load(lab: &Lab, kind: Option<Kind>) -> Result<Tally> {
    let target = Target::new(lab, kind)?;
    let replace = format!("{LOAD} --replace");
    let tally = target.cases(&replace, &[&replace])?;
    // A loaded store stays: it is taken away as its user would.
    target.ends_clean(tally, &replace, |target| target.remove("prony_orders"))
}

impl<'a> Target<'a> {
    fn new(lab: &'a Lab, kind: Option<Kind>) -> Result<Self> {
        let server = kind.map(Server::start).transpose()?;
        let directory = lab.fresh("work")?;
        let url = match &server {
            Some(server) => server.url(),
            None => format!("sqlite:{}", directory.join("first.db").display()),
        };
        let mut target = Self { lab, server, url, before: BTreeSet::new() };
        target.before = target.stands()?;
        Ok(target)
    }

    /// Databases of the server, or files beside that of SQLite.
    fn stands(&self) -> Result<BTreeSet<String>> {
        match &self.server {
            Some(server) => server.databases(),
            None => {
                let names = std::fs::read_dir(self.directory())?.flatten();
                let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
                Ok(names.filter(|name| name != "prony-results").collect())
            }
        }
    }

    fn directory(&self) -> std::path::PathBuf {
        self.lab.place().join("work")
    }

    fn command(&self, words: &str) -> std::process::Command {
        let mut command = self.lab.prony(words, &self.directory());
        command.args(["--target", &self.url]);
        command
    }

    /// Kills `begun`, then lets one of `next` run, in turn.
    fn cases(&self, begun: &str, next: &[&str]) -> Result<Tally> {
        let good: Vec<i32> = next.iter().map(|words| self.good_code(words)).collect::<Result<_>>()?;
        let mut tally = Tally::default();
        let mut number = 0;
        while tally.tried() < self.lab.cases() {
            ensure!(
                number < self.lab.cases().saturating_mul(DRAWN_MAX),
                "`{begun}` ends before it can be killed"
            );
            let moment = self.lab.random(number).moment(FIRST);
            number += 1;
            let mut started = Started::new(self.command(begun))?;
            if !started.runs_until(moment)? {
                continue;
            }
            started.kill()?;
            let turn = tally.tried() as usize % next.len();
            let mut found = run(self.command(next[turn]), LIMIT)?.unlike(good[turn]);
            if !found.is_empty() {
                let stands = self.stands()?;
                found.add(format!("new there: {:?}", stands.difference(&self.before).collect::<Vec<_>>()));
                let again = run(self.command(next[turn]), LIMIT)?;
                found.add(format!("the same once more: exit code {:?}", again.code()));
                self.clear()?;
            }
            let case = format!("case {number}: `{begun}` killed after {moment:?}, then `{}`", next[turn]);
            tally.count(&case, found);
            clear_results(&self.directory())?;
        }
        Ok(tally)
    }

    /// The exit code of a run that nobody disturbs.
    fn good_code(&self, words: &str) -> Result<i32> {
        let ended = run(self.command(words), LIMIT)?;
        let code = ended.code().filter(|code| matches!(code, 0 | 4));
        ensure!(code.is_some(), "undisturbed: {}", ended.shown());
        Ok(code.unwrap_or_default())
    }

    /// One more command, and the last removal: then nothing may be left. A case of its own.
    fn ends_clean(
        &self,
        mut tally: Tally,
        last: &str,
        remove: impl FnOnce(&Self) -> Result<()>,
    ) -> Result<Tally> {
        let ended = run(self.command(last), LIMIT)?;
        let mut found = ended.faults();
        remove(self)?;
        let stands = self.stands()?;
        let left: Vec<&String> = stands.difference(&self.before).collect();
        found.check(left.is_empty(), || format!("left over: {left:?}"));
        let gone: Vec<&String> = self.before.difference(&stands).collect();
        found.check(gone.is_empty(), || format!("gone: {gone:?}"));
        tally.count(&format!("what is left at the end, after `{last}`"), found);
        Ok(tally)
    }

    /// Removes the one of this name, or the file.
    fn remove(&self, name: &str) -> Result<()> {
        match &self.server {
            Some(server) => server.drop_database(name),
            None => Ok(std::fs::remove_file(self.directory().join("first.db"))?),
        }
    }

    /// Everything that was not there before, so that one failure is not taken for many.
    fn clear(&self) -> Result<()> {
        if let Some(server) = &self.server {
            return server.drop_new(&self.before);
        }
        for name in self.stands()?.difference(&self.before) {
            std::fs::remove_file(self.directory().join(name))?;
        }
        Ok(())
    }
}

fn clear_results(directory: &Path) -> Result<()> {
    let results = directory.join("prony-results");
    if results.exists() {
        std::fs::remove_dir_all(results)?;
    }
    Ok(())
}
