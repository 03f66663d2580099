//! What a disk test reads and writes: test files of our own, files a user names, block devices.
//!
//! The rules of safety live here. A file in a directory is made by us without a name, so that not even a killed
//! run leaves anything behind. A file that is named is written only if it carries our marker or with `overwrite`. A
//! device is written only with `destroy` and its serial number, and never while anything uses it.

mod device;
mod error;
mod fill;
mod loop_status;
mod marker;
mod space;
mod survey;

use std::fs::File;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{SystemTime, UNIX_EPOCH};

use record::{CacheMode, Written};
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;

pub use error::TargetError;
pub use space::{Lack, lack as lack_of_space};
pub use survey::Survey;

use crate::job::Job;

/// How a trial opens the target.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub(crate) writes: bool,
    pub(crate) cache: CacheMode,
}

/// Part of a file that a trial uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Region {
    /// Index into the target's files.
    pub(crate) file: usize,
    /// First byte.
    pub(crate) begin: u64,
    /// Length, a multiple of the block size.
    pub(crate) bytes: u64,
}

/// A target that is ready to be used by trials.
#[derive(Debug)]
pub struct Target {
    paths: Vec<PathBuf>,
    /// Makes the content of this run differ from that of all others, which deduplicating storage may still hold.
    nonce: u64,
    files: Vec<TargetFile>,
    /// Whether nothing else is done with its files than to verify them.
    is_only_verified: bool,
}

/// One file or device of a target.
#[derive(Debug)]
struct TargetFile {
    path: PathBuf,
    /// None for a target that exists only for engines which touch none.
    file: Option<File>,
    /// First byte after the marker.
    begin: u64,
    /// Bytes from there to the end.
    bytes: u64,
    /// Number among the test files of its directory; 0 for named ones.
    number: u32,
    /// Whether its size follows `file_size`.
    sized_by_job: bool,
    written: FileWritten,
}

/// What is known of a file's content.
#[derive(Clone, Debug, PartialEq, Eq)]
enum FileWritten {
    ByUs,
    Never,
    /// To be asked of the file system.
    ByOthers,
    Device,
}

impl Target {
    /// Makes ready what the jobs need: checks everything, then makes and fills test files. `on_fill` is told bytes done
    /// and bytes to do.
    ///
    /// # Errors
    /// When a rule of safety forbids it, or the system does. Nothing is left behind.
    pub fn prepare(
        paths: &[PathBuf],
        jobs: &[Job],
        stop: &AtomicBool,
        on_fill: impl FnMut(u64, u64),
    ) -> Result<Self, TargetError> {
        let survey = Survey::of(paths, jobs)?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        fill::make(survey, paths, jobs, now.as_nanos() as u64, stop, on_fill)
    }

    /// A target of so many files for engines that touch none.
    #[must_use]
    pub fn imaginary(files: usize, bytes: u64) -> Self {
        let file = |number| TargetFile {
            path: PathBuf::from("nothing"),
            file: None,
            begin: 0,
            bytes,
            number,
            sized_by_job: true,
            written: FileWritten::Never,
        };
        Self {
            paths: vec![PathBuf::from("nothing")],
            nonce: 0,
            files: (0..files as u32).map(file).collect(),
            is_only_verified: false,
        }
    }

    /// The number by which the content of this run differs from others'.
    pub(crate) fn nonce(&self) -> u64 {
        self.nonce
    }

    /// The paths that were given.
    pub(crate) fn describe(&self) -> String {
        self.paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
    }

    /// Name of a file for messages.
    pub(crate) fn name(&self, file: usize) -> String {
        self.files[file].path.display().to_string()
    }

    /// The regions of the files that a job uses.
    ///
    /// # Errors
    /// When a file is too small for the region.
    pub(crate) fn regions(&self, job: &Job) -> Result<Vec<Region>, TargetError> {
        self.files
            .iter()
            .enumerate()
            .filter(|(_, file)| file.number < job.files)
            .map(|(index, file)| self.region(job, index, file))
            .collect()
    }

    fn region(&self, job: &Job, index: usize, file: &TargetFile) -> Result<Region, TargetError> {
        let pool_bytes = job.pools.get(index).and_then(|pool| pool.size).map(|size| size.0);
        let own_bytes = if file.sized_by_job { file.bytes.min(job.file_bytes) } else { file.bytes };
        let bytes = usable_region(job, own_bytes, pool_bytes)
            .ok_or_else(|| TargetError::region(&file.path, own_bytes, job))?;
        Ok(Region { file: index, begin: file.begin + job.offset_bytes, bytes })
    }

    /// Number of files that a job uses.
    pub(crate) fn files_of(&self, job: &Job) -> u32 {
        self.files.iter().filter(|file| file.number < job.files).count() as u32
    }

    /// Bytes of all files that a job uses.
    pub(crate) fn file_bytes(&self, job: &Job) -> u64 {
        self.files
            .iter()
            .filter(|file| file.number < job.files)
            .map(|file| if file.sized_by_job { file.bytes.min(job.file_bytes) } else { file.bytes })
            .sum()
    }

    /// Opens a file for one thread of a trial.
    ///
    /// # Errors
    /// When the file system cannot do what the caches ask for.
    pub(crate) fn open(&self, index: usize, access: Access) -> Result<File, TargetError> {
        let file = &self.files[index];
        let Some(descriptor) = &file.file else { return Err(TargetError::imaginary()) };
        let mut flags = if access.writes { OFlags::RDWR } else { OFlags::RDONLY } | OFlags::CLOEXEC;
        flags.set(OFlags::DIRECT, !access.cache.uses_file_cache());
        flags.set(OFlags::DSYNC, access.writes && access.cache.writes_through());
        reopen(descriptor, flags).map_err(|error| TargetError::reopen(&file.path, error, access.cache))
    }

    /// The files, by paths that name them from everywhere.
    ///
    /// # Errors
    /// When one has no name, and is gone with this process.
    pub(crate) fn lasting_paths(&self) -> Result<Vec<PathBuf>, TargetError> {
        let lasting = |file: &TargetFile| {
            let links =
                file.file.as_ref().and_then(|file| rustix::fs::fstat(file).ok()).map(|stat| stat.st_nlink);
            if links == Some(0) {
                return Err(TargetError::unnamed(&file.path));
            }
            std::path::absolute(&file.path).map_err(|error| {
                TargetError::system(&file.path, "cannot determine its absolute path", &error)
            })
        };
        self.files.iter().map(lasting).collect()
    }

    /// Whether a region ends where its file of ours ends, which may then be cut off and grow; not where others read the file, which would
    /// then read what was never written.
    pub(crate) fn ends_file(&self, region: Region) -> bool {
        let file = &self.files[region.file];
        let is_ours = matches!(file.written, FileWritten::ByUs | FileWritten::Never);
        let length =
            file.file.as_ref().and_then(|file| rustix::fs::fstat(file).ok()).map(|stat| stat.st_size as u64);
        self.is_only_verified && is_ours && length == Some(region.begin + region.bytes)
    }

    /// Reads one block of each file as the job would, so that what the device cannot do is told before the load.
    ///
    /// # Errors
    /// When the block size or offset does not suit direct I/O on this file system or device.
    pub(crate) fn probe(&self, job: &Job) -> Result<(), TargetError> {
        if job.cache.uses_file_cache() || !job.needs_files() {
            return Ok(());
        }
        let content = crate::buffer::Content { compressible: 0.0, duplicate: 0.0, seed: 0 };
        for region in self.regions(job)? {
            let path = &self.files[region.file].path;
            let file = self.open(region.file, Access { writes: job.writes(), cache: job.cache })?;
            let mut buffer = crate::buffer::Buffers::new(1, job.block_bytes, true, false, content)
                .map_err(|error| TargetError::system(path, "cannot allocate memory for one block", &error))?;
            let block = buffer.block(0, job.block_bytes as usize);
            // Any other fault is the trial's to meet and to record.
            if rustix::io::pread(&file, block, region.begin) == Err(Errno::INVAL) {
                return Err(TargetError::alignment(path, job));
            }
        }
        Ok(())
    }

    /// Whether the device behind every file can be polled for completions.
    ///
    /// # Errors
    /// Names the file whose device cannot.
    pub(crate) fn check_polling(&self, job: &Job) -> Result<(), TargetError> {
        for file in self.files.iter().filter(|_| job.poll && job.needs_files()) {
            let can = file.file.as_ref().is_some_and(|file| device::can_be_polled(file.as_fd()));
            if !can {
                return Err(TargetError::polling(&file.path));
            }
        }
        Ok(())
    }

    /// Lets the file cache forget the files, so that a buffered trial begins cold. Only advice to the kernel.
    pub(crate) fn forget_cached(&self) {
        for file in self.files.iter().filter_map(|file| file.file.as_ref()) {
            let _ = rustix::fs::fdatasync(file);
            let _ = rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::DontNeed);
        }
    }

    /// Whether what a job reads was written before.
    pub(crate) fn written(&self, job: &Job) -> Written {
        if !job.reads() || !job.needs_files() {
            return Written::NotRead;
        }
        // It writes all that it reads before it begins.
        if job.verify.is_some() {
            return Written::ByUs;
        }
        let Ok(regions) = self.regions(job) else {
            return Written::Unknown { reason: "the region is unknown".to_owned() };
        };
        let mut holes_bytes = 0;
        let mut others = None;
        for region in regions {
            let file = &self.files[region.file];
            match file.written {
                FileWritten::ByUs => {}
                FileWritten::Never => holes_bytes += region.bytes,
                FileWritten::Device => {
                    let reason = "a block device does not report which blocks have been written".to_owned();
                    others = Some(Written::Unknown { reason });
                }
                FileWritten::ByOthers => {
                    others = others.or(Some(Written::AllocatedByOthers));
                    holes_bytes += file.file.as_ref().map_or(0, |file| holes_in(file, region));
                }
            }
        }
        if holes_bytes > 0 { Written::Holes { bytes: holes_bytes } } else { others.unwrap_or(Written::ByUs) }
    }
}

/// Length of the region that a job uses of a file of so many bytes, in whole blocks; none if it does not fit.
fn usable_region(job: &Job, file_bytes: u64, pool_bytes: Option<u64>) -> Option<u64> {
    let usable = pool_bytes.unwrap_or(file_bytes).min(file_bytes).saturating_sub(job.offset_bytes);
    let wanted = job.region_bytes.unwrap_or(usable);
    let bytes = wanted - wanted % job.block_bytes;
    (wanted <= usable && bytes > 0).then_some(bytes)
}

/// Bytes of data in a file or device; of a file of ours without the marker. None if it cannot be looked at.
#[must_use]
pub fn data_bytes(path: &Path) -> Option<u64> {
    // What is opened for its size is not waited for.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let kind = FileType::from_raw_mode(rustix::fs::stat(path).ok()?.st_mode);
    matches!(kind, FileType::RegularFile | FileType::BlockDevice).then_some(())?;
    let file = rustix::fs::open(path, flags, Mode::empty()).map(File::from).ok()?;
    match marker::Marker::read(&file) {
        Some(marker) => Some(marker.data_bytes),
        None => rustix::fs::seek(&file, rustix::fs::SeekFrom::End(0)).ok(),
    }
}

/// Bytes of a region that the file system reports as holes or as allocated but never written.
fn holes_in(file: &File, region: Region) -> u64 {
    use rustix::fs::{SeekFrom, seek};
    let end = region.begin + region.bytes;
    let mut at = region.begin;
    let mut data_bytes = 0;
    while at < end {
        // ENXIO: no data from here to the end.
        let Ok(data) = seek(file, SeekFrom::Data(at)) else { break };
        let hole = seek(file, SeekFrom::Hole(data)).unwrap_or(end);
        data_bytes += hole.min(end).saturating_sub(data.min(end));
        at = hole.max(at + 1);
    }
    region.bytes - data_bytes.min(region.bytes)
}

/// Opens an open file again with other flags; works for files without names too.
fn reopen(file: &File, flags: OFlags) -> rustix::io::Result<File> {
    use std::os::fd::AsRawFd;
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    rustix::fs::open(path, flags, Mode::empty()).map(File::from)
}

#[cfg(test)]
mod tests;
