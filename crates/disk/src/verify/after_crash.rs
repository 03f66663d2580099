//! After a crash: is there what was acknowledged as durable?
//!
//! The writes are made again from the journal's plan, so that of each page two versions are known: the last that was durable,
//! and the last that may have been sent. What lies between is right, also in parts; what is older is lost.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use record::Damage;
use record::verify::{FileMap, MAP_PARTS_MAX, Verified};

use super::evidence::{Evidence, Found, Spot};
use super::journal::{self, JournalError, Plan, Promised};
use super::page::Place;
use super::remote::Where;
use super::sight::{Expected, Sight, judge, see};
use super::stream::{PartShape, Step, WriteStream};

/// What stands on a medium after a crash.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct AfterCrash {
    /// Writes that were acknowledged as durable.
    pub durable_writes: u64,
    /// Pages that hold parts of writes that were in flight, which is no fault.
    pub torn_in_flight: u64,
    /// Pages that hold a write that was not acknowledged as durable, which is none either.
    pub newer: u64,
    /// Threads that had not written all of their pages once: nothing was promised of these.
    pub not_laid_out: u64,
    /// What was looked at, and what is wrong.
    pub verified: Verified,
}

/// Why it cannot be said what stands there.
#[derive(Debug, thiserror::Error)]
pub enum AfterCrashError {
    /// The journal cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// It is on another host.
    #[error("the journal is on {0}. Copy the file from there, and give the copy")]
    Away(String),
    /// Other files than the journal's.
    #[error("{given} files given, but the journal has {wanted}: {files}. Give these files in this order")]
    Files {
        /// Number of files that were named.
        given: usize,
        /// Number of the journal's.
        wanted: usize,
        /// The journal's.
        files: String,
    },
    /// A file cannot be opened.
    #[error("{path}: {error}")]
    Open {
        /// File.
        path: String,
        /// Why.
        error: io::Error,
    },
}

/// Looks at what a journal's run left in its files; those that are named stand for the journal's, in their order. Touches nothing.
///
/// # Errors
/// When the journal cannot be read, or a file cannot be opened. One that ends too soon, or cannot be read in places, is a finding.
pub fn after_crash(journal: &Path, files: &[PathBuf]) -> Result<AfterCrash, AfterCrashError> {
    if let Where::Host(host) = Where::of(journal) {
        return Err(AfterCrashError::Away(host.to_owned()));
    }
    let (plan, promised) = journal::read(journal)?;
    if files.len() != plan.files.len() {
        let names: Vec<String> = plan.files.iter().map(|path| path.display().to_string()).collect();
        let (given, wanted) = (files.len(), plan.files.len());
        return Err(AfterCrashError::Files { given, wanted, files: names.join(", ") });
    }
    let open = |path: &PathBuf| {
        let flags = rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::CLOEXEC;
        let opened = rustix::fs::open(path, flags, rustix::fs::Mode::empty()).map(File::from);
        opened
            .map_err(|error| AfterCrashError::Open { path: path.display().to_string(), error: error.into() })
    };
    let opened = files.iter().map(open).collect::<Result<Vec<File>, _>>()?;
    let names: Vec<String> = files.iter().map(|path| path.display().to_string()).collect();
    Ok(look(&plan, &promised, &names, |file, offset, into| {
        std::os::unix::fs::FileExt::read_at(&opened[file as usize], into, offset)
    }))
}

/// What one page must hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Versions {
    durable: u32,
    issued: u32,
}

/// Makes the writes of a thread again.
fn versions(plan: &Plan, thread: usize, promised: Promised) -> Vec<Vec<Versions>> {
    let parts = &plan.threads[thread];
    let shapes: Vec<PartShape> = parts.iter().map(|part| part.shape).collect();
    let laid_out = Versions { durable: 1, issued: 1 };
    let mut all: Vec<Vec<Versions>> =
        shapes.iter().map(|shape| vec![laid_out; shape.pages as usize]).collect();
    let mut stream = WriteStream::new(plan.shape(), &shapes, plan.seed, thread as u64);
    let mut number = 0;
    while number < promised.reserved.unwrap_or(0) {
        let Step::Write { part, first, pages, .. } = stream.next() else { continue };
        number += 1;
        for versions in &mut all[part][first as usize..(first + pages) as usize] {
            versions.issued += 1;
            if number <= promised.durable {
                versions.durable = versions.issued;
            }
        }
    }
    all
}

/// Looks at everything. `read` gives how many bytes of a file at an offset were read.
pub(super) fn look(
    plan: &Plan,
    promised: &[Promised],
    names: &[String],
    mut read: impl FnMut(u32, u64, &mut [u8]) -> io::Result<usize>,
) -> AfterCrash {
    let mut found = AfterCrash::default();
    let mut evidence = Evidence::default();
    for (thread, promised) in promised.iter().enumerate() {
        if promised.reserved.is_none() {
            found.not_laid_out += 1;
            continue;
        }
        found.durable_writes += promised.durable;
        for (part, versions) in plan.threads[thread].iter().zip(versions(plan, thread, *promised)) {
            let path = &names[part.file as usize];
            let mut looked = Looked { plan, part, path, found: &mut found, evidence: &mut evidence };
            looked.part(&versions, &mut read);
        }
    }
    let (damage, findings) = evidence.settle();
    found.verified.page_bytes = u64::from(plan.page_bytes);
    found.verified.checks_least = u64::from(found.verified.checked == found.verified.pages);
    found.verified.is_audited = found.not_laid_out == 0;
    (found.verified.damage, found.verified.findings) = (damage, findings);
    found
}

/// A part that is looked at.
struct Looked<'a> {
    plan: &'a Plan,
    part: &'a journal::PlannedPart,
    path: &'a str,
    found: &'a mut AfterCrash,
    evidence: &'a mut Evidence,
}

impl Looked<'_> {
    fn part(
        &mut self,
        versions: &[Versions],
        read: &mut impl FnMut(u32, u64, &mut [u8]) -> io::Result<usize>,
    ) {
        let page_bytes = self.plan.page_bytes as usize;
        let buckets = MAP_PARTS_MAX.min(versions.len());
        let mut map = FileMap {
            path: self.path.to_owned(),
            first: self.part.first,
            pages: versions.len() as u64,
            checked: 0,
            damaged: vec![0; buckets],
            checks: vec![1.0; buckets],
        };
        let mut block = vec![0; page_bytes];
        for (at, versions) in versions.iter().enumerate() {
            let page = self.part.first + at as u64;
            let offset = self.part.begin + page * page_bytes as u64;
            let answer = read_whole(read, self.part.file, offset, &mut block);
            let is_sound = self.page(page, offset, *versions, &block, answer);
            map.checked += 1;
            map.damaged[at * buckets / map.pages as usize] += u64::from(!is_sound);
        }
        let verified = &mut self.found.verified;
        verified.pages += map.pages;
        verified.checked += map.checked;
        verified.read += map.pages;
        verified.map.push(map);
    }

    /// Whether a page is what it may be.
    fn page(
        &mut self,
        page: u64,
        offset: u64,
        versions: Versions,
        block: &[u8],
        answer: io::Result<usize>,
    ) -> bool {
        let bytes = self.plan.page_bytes;
        let spot = Spot { path: self.path.to_owned(), offset, page, bytes, at_ns: 0 };
        match answer {
            Ok(read) if read == block.len() => {}
            Ok(read) => {
                let detail = format!("the file ends after only {read} bytes of this page");
                self.evidence.io(Damage::NotRead, spot, detail);
                return false;
            }
            Err(error) => {
                self.evidence.io(Damage::Failed, spot, format!("read of {bytes} bytes: {error}"));
                return false;
            }
        }
        let (floor, issued) = (u64::from(versions.durable), u64::from(versions.issued));
        let place = Place { run: self.plan.run().unwrap_or_default(), file: self.part.file, page };
        let expected = Expected { place, floor, issued, zero: false, may_be_torn: issued > floor };
        let sight = see(block, &expected);
        match sight {
            Sight::MayBeTorn(_) => self.found.torn_in_flight += 1,
            Sight::Right(Some(version)) if version > floor => self.found.newer += 1,
            _ => {}
        }
        let Some(damage) = judge(&sight, &[]) else { return true };
        let other = match &sight {
            Sight::Elsewhere { place, version } => {
                Some(format!("it contains page {} of file {}, version {version}", place.page, place.file + 1))
            }
            _ => None,
        };
        self.evidence.page(spot, &Found { damage, block, expected, sight: &sight, recovered: false, other });
        false
    }
}

/// Reads until a block is full or there is no more.
fn read_whole(
    read: &mut impl FnMut(u32, u64, &mut [u8]) -> io::Result<usize>,
    file: u32,
    offset: u64,
    block: &mut [u8],
) -> io::Result<usize> {
    let mut have = 0;
    while have < block.len() {
        match read(file, offset + have as u64, &mut block[have..]) {
            Ok(0) => break,
            Ok(bytes) => have += bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(have)
}

impl AfterCrash {
    /// `131,072 pages looked at: all 12,345 writes that were acknowledged as durable are there; …`.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let verified = &self.verified;
        let lost: u64 = lost(&verified.damage);
        let mut sentences = vec![match verified.fault() {
            None if verified.pages == 0 => {
                "no pages were checked: when the run ended, no write had been acknowledged as durable"
                    .to_owned()
            }
            None => format!(
                "{} pages checked: all {} writes that were acknowledged as durable are present",
                verified.pages, self.durable_writes
            ),
            Some(fault) => format!(
                "{} pages checked, {} writes acknowledged as durable: {fault}{}",
                verified.pages,
                self.durable_writes,
                if lost > 0 { ". Acknowledged data is lost" } else { "" }
            ),
        }];
        let torn = format!("{} contain parts of a write in flight, which is allowed", self.torn_in_flight);
        sentences.extend((self.torn_in_flight > 0).then_some(torn));
        let newer =
            format!("{} contain a write not yet acknowledged as durable, which is allowed", self.newer);
        sentences.extend((self.newer > 0).then_some(newer));
        let early = format!(
            "{} threads ended before each of their pages was written once, so these pages cannot be checked",
            self.not_laid_out
        );
        sentences.extend((self.not_laid_out > 0).then_some(early));
        sentences
    }
}

/// Pages that do not hold what was acknowledged, in whatever way.
fn lost(damage: &BTreeMap<Damage, u64>) -> u64 {
    damage.iter().filter(|(damage, _)| **damage != Damage::Failed).map(|(_, count)| count).sum()
}
