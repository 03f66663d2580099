//! Makes test files and fills them, so that nothing is read that was never written.

use std::fs::File;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use ownership::{Directory, Made};
use record::CacheMode;
use rustix::fs::{FallocateFlags, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use super::error::TargetError;
use super::marker::{DATA_BEGIN, Marker};
use super::survey::{Item, Survey, fill_passes};
use super::{FileWritten, Target, TargetFile, reopen};
use crate::buffer::{Buffers, Content};
use crate::job::Job;
use crate::pattern::Random;

/// Bytes of one write of the fill.
const FILL_BLOCK_BYTES: u64 = 4 << 20;
/// Stream of random numbers for the fill's stamps; load threads use small ones.
const FILL_STREAM: u64 = 1 << 40;

/// Turns a survey into a target.
pub(super) fn make(
    survey: Survey,
    paths: &[PathBuf],
    jobs: &[Job],
    nonce: u64,
    stop: &AtomicBool,
    mut on_fill: impl FnMut(u64, u64),
) -> Result<Target, TargetError> {
    if !jobs.iter().any(Job::needs_files) {
        let files = jobs.iter().map(|job| job.files.max(job.pools.len() as u32)).max().unwrap_or(1);
        let bytes = jobs.iter().map(|job| job.file_bytes).max().unwrap_or(0);
        return Ok(Target { paths: paths.to_vec(), nonce, ..Target::imaginary(files as usize, bytes) });
    }
    let total_bytes = survey.fill_bytes(jobs);
    let mut filler =
        Filler { jobs, nonce, stop, on_fill: &mut on_fill, done_bytes: 0, total_bytes, files_made: 0 };
    let mut files = Vec::new();
    for item in survey.items {
        filler.add(item, &mut files)?;
    }
    let is_only_verified = jobs.iter().all(|job| job.verify.is_some());
    Ok(Target { paths: paths.to_vec(), nonce, files, is_only_verified })
}

struct Filler<'a> {
    jobs: &'a [Job],
    nonce: u64,
    stop: &'a AtomicBool,
    on_fill: &'a mut dyn FnMut(u64, u64),
    done_bytes: u64,
    total_bytes: u64,
    files_made: u64,
}

impl Filler<'_> {
    fn add(&mut self, item: Item, files: &mut Vec<TargetFile>) -> Result<(), TargetError> {
        let ready = |path, file, begin, bytes, written| TargetFile {
            path,
            file: Some(file),
            begin,
            bytes,
            number: 0,
            sized_by_job: false,
            written,
        };
        match item {
            Item::Directory { path, files: number, file_bytes } => {
                for number in 0..number {
                    files.push(self.temporary(&path, number, file_bytes)?);
                }
            }
            Item::Make { path, file_bytes, is_new } => files.push(self.named(path, file_bytes, is_new)?),
            Item::Ours { path, file, data_bytes } => {
                lock(&path, &file)?;
                files.push(ready(path, file, DATA_BEGIN, data_bytes, FileWritten::ByUs));
            }
            Item::Foreign { path, file, bytes, overwrite, .. } => {
                if self.jobs.iter().any(Job::writes) {
                    lock(&path, &file)?;
                }
                let written =
                    if overwrite { self.overwrite(&path, &file, 0, bytes)? } else { FileWritten::ByOthers };
                files.push(ready(path, file, 0, bytes, written));
            }
            Item::Device { path, file, bytes, overwrite } => {
                let written =
                    if overwrite { self.overwrite(&path, &file, 0, bytes)? } else { FileWritten::Device };
                files.push(ready(path, file, 0, bytes, written));
            }
        }
        Ok(())
    }

    /// A test file that has no name: it vanishes with the process, however that ends.
    fn temporary(&mut self, directory: &Path, number: u32, bytes: u64) -> Result<TargetFile, TargetError> {
        // A name for messages alone.
        let path = directory.join(format!("prony-{}-{number}.tmp", std::process::id()));
        let place = Directory::open(directory).map_err(|error| not_made(&path, &error))?;
        let file = place.unnamed().map_err(|error| not_made(&path, &error))?;
        let marked = Marker { data_bytes: bytes, filled: false }.write(&file);
        marked.map_err(|error| write_error(&path, error))?;
        let written = self.fill(&path, &file, bytes)?;
        Ok(TargetFile {
            path,
            file: Some(file),
            begin: DATA_BEGIN,
            bytes,
            number,
            sized_by_job: true,
            written,
        })
    }

    /// A test file that the user named and that stays. One that was just made is removed again if it cannot be filled.
    fn named(&mut self, path: PathBuf, bytes: u64, is_new: bool) -> Result<TargetFile, TargetError> {
        // A file that appeared since the survey, or vanished, is not the one that was judged.
        let (file, made) = if is_new {
            new_file(&path).map(|(file, made)| (file, Some(made)))?
        } else {
            (open_again(&path)?, None)
        };
        let result = lock(&path, &file).and_then(|()| {
            if made.is_none() && Marker::read(&file).is_none() {
                return Err(TargetError::usage(
                    &path,
                    "the file changed and is not a test file any more. Nothing was written",
                ));
            }
            let marker = Marker { data_bytes: bytes, filled: false };
            marker.write(&file).map_err(|error| write_error(&path, error))?;
            let written = self.fill(&path, &file, bytes)?;
            Marker { filled: written == FileWritten::ByUs, ..marker }
                .write(&file)
                .and_then(|()| rustix::fs::fsync(&file))
                .map_err(|error| write_error(&path, error))?;
            Ok(written)
        });
        match result {
            Ok(written) => Ok(TargetFile {
                path,
                file: Some(file),
                begin: DATA_BEGIN,
                bytes,
                number: 0,
                sized_by_job: false,
                written,
            }),
            Err(error) => {
                // What cannot be removed is left: its marker says whose it is.
                let _ = made.map(|made| made.remove());
                Err(error)
            }
        }
    }

    fn fill(&mut self, path: &Path, file: &File, bytes: u64) -> Result<FileWritten, TargetError> {
        let length = DATA_BEGIN + bytes;
        // Reserves the space, so that a full disk is found out at once. Not every file system can.
        match rustix::fs::fallocate(file, FallocateFlags::empty(), 0, length) {
            Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS) => {}
            Err(error) => return Err(write_error(path, error)),
        }
        rustix::fs::ftruncate(file, length).map_err(|error| write_error(path, error))?;
        if fill_passes(self.jobs) == 0 {
            return Ok(FileWritten::Never);
        }
        self.overwrite(path, file, DATA_BEGIN, bytes)
    }

    /// Writes all bytes from `begin` on, as often as the jobs ask for.
    fn overwrite(
        &mut self,
        path: &Path,
        file: &File,
        begin: u64,
        bytes: u64,
    ) -> Result<FileWritten, TargetError> {
        self.files_made += 1;
        let mut blocks =
            self.payload().map_err(|error| TargetError::system(path, "cannot allocate memory", &error))?;
        // Direct writes do not fill the file cache with what direct reads will not use.
        let direct = reopen(file, OFlags::WRONLY | OFlags::DIRECT | OFlags::CLOEXEC);
        let to = direct.as_ref().unwrap_or(file);
        for _ in 0..fill_passes(self.jobs) {
            let mut at = 0;
            while at < bytes {
                if self.stop.load(Ordering::Relaxed) {
                    return Err(TargetError::interrupted());
                }
                at += write_block(to, file, &mut blocks, begin + at, bytes - at)
                    .map_err(|error| write_error(path, error))?;
                (self.on_fill)(self.done_bytes + at, self.total_bytes);
            }
            self.done_bytes += bytes;
        }
        rustix::fs::fsync(file).map_err(|error| write_error(path, error))?;
        Ok(FileWritten::ByUs)
    }

    /// The fill's content is that of the jobs: what compresses in their writes compresses in what they read.
    fn payload(&self) -> std::io::Result<Buffers> {
        let most = |share: fn(&Job) -> f64| self.jobs.iter().map(share).fold(0.0, f64::max);
        let seed = self.jobs.first().map_or(0, |job| job.seed);
        let content = Content {
            compressible: most(|job| job.compressible),
            duplicate: most(|job| job.duplicate),
            seed: Random::new(seed ^ self.nonce, FILL_STREAM + self.files_made).next(),
        };
        Buffers::new(1, FILL_BLOCK_BYTES, false, true, content)
    }
}

/// Writes one block of the fill; what a direct write cannot take (the odd end of a file) goes through the cache.
fn write_block(direct: &File, cached: &File, blocks: &mut Buffers, at: u64, left: u64) -> Result<u64, Errno> {
    let length = left.min(FILL_BLOCK_BYTES) as usize;
    let payload = blocks.payload_at(0);
    let block = blocks.block(payload, length);
    let written = match rustix::io::pwrite(direct, &*block, at) {
        Err(Errno::INVAL) => rustix::io::pwrite(cached, &*block, at)?,
        other => other?,
    };
    if written == 0 { Err(Errno::IO) } else { Ok(written as u64) }
}

/// A file that this process makes, in a directory that it holds.
fn new_file(path: &Path) -> Result<(File, Made), TargetError> {
    Directory::of(path)
        .and_then(|(directory, name)| directory.create_private(&name))
        .map_err(|error| not_made(path, &error))
}

/// A test file of ours, to be written again.
fn open_again(path: &Path) -> Result<File, TargetError> {
    rustix::fs::open(path, OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())
        .map(File::from)
        .map_err(|error| TargetError::open(path, error, CacheMode::Buffered))
}

fn not_made(path: &Path, error: &std::io::Error) -> TargetError {
    match Errno::from_io_error(error) {
        Some(error) => TargetError::open(path, error, CacheMode::Buffered),
        None => TargetError::system(path, "cannot create it", error),
    }
}

fn lock(path: &Path, file: &File) -> Result<(), TargetError> {
    rustix::fs::flock(file.as_fd(), FlockOperation::NonBlockingLockExclusive).map_err(|_| {
        TargetError::usage(path, "another prony uses this file. Wait for it to end, or give another file")
    })
}

pub(super) fn write_error(path: &Path, error: Errno) -> TargetError {
    match error {
        Errno::NOSPC | Errno::DQUOT => TargetError::system(
            path,
            "cannot write the test file",
            &format!(
                "no space left on the file system. Use smaller files ({}) or another directory",
                crate::parameter("file_size")
            ),
        ),
        Errno::FBIG => TargetError::system(
            path,
            "cannot write the test file",
            &format!(
                "the file would exceed the size limit. Raise the limit (`ulimit -f`), use smaller files \
                 ({}) or another directory",
                crate::parameter("file_size")
            ),
        ),
        other => TargetError::system(path, "cannot write the test file", &std::io::Error::from(other)),
    }
}
