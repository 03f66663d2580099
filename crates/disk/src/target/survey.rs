//! A look at the target before anything is touched: what exists, what may be done to it, what is to be written.

use std::fs::{File, Metadata};
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use load::Size;
use rustix::fs::{Mode, OFlags};

use super::device;
use super::error::TargetError;
use super::marker::{DATA_BEGIN, Marker};
use super::space;
use crate::job::Job;
use crate::parameter;

/// What a run will find and do.
#[derive(Debug)]
pub struct Survey {
    pub(super) items: Vec<Item>,
    /// Sentences that a user should read before the start, such as what a device holds now.
    pub warnings: Vec<String>,
}

/// One path of the target.
#[derive(Debug)]
pub(super) enum Item {
    /// Test files to be made in a directory, which have no names.
    Directory { path: PathBuf, files: u32, file_bytes: u64 },
    /// A file to be made, or one of ours to be written again, which stays.
    Make { path: PathBuf, file_bytes: u64, is_new: bool },
    /// A file of ours that is complete.
    Ours { path: PathBuf, file: File, data_bytes: u64 },
    /// Somebody else's file. `new_bytes` are those of its holes that writes would fill; `overwrite` if it is to be
    /// filled.
    Foreign { path: PathBuf, file: File, bytes: u64, new_bytes: u64, overwrite: bool },
    /// A block device; `overwrite` if it is to be filled.
    Device { path: PathBuf, file: File, bytes: u64, overwrite: bool },
}

impl Survey {
    /// Looks at everything and touches nothing.
    ///
    /// # Errors
    /// When a path cannot be used as the jobs ask.
    pub fn of(paths: &[PathBuf], jobs: &[Job]) -> Result<Self, TargetError> {
        let mut survey = Self { items: Vec::new(), warnings: Vec::new() };
        let pools: Vec<_> = jobs.iter().find(|job| !job.pools.is_empty()).map_or_else(Vec::new, |job| {
            job.pools.iter().map(|pool| (pool.path.clone(), pool.size.map(|size| size.0))).collect()
        });
        let named =
            if pools.is_empty() { paths.iter().map(|path| (path.clone(), None)).collect() } else { pools };
        if !jobs.iter().any(Job::needs_files) {
            return Ok(survey);
        }
        if let Some(lacking) = jobs.iter().find_map(crate::lacking::lacking) {
            return Err(TargetError::machine(lacking));
        }
        check_distinct(&named)?;
        for (path, size) in &named {
            let (item, warnings) = look_at(path, *size, jobs)?;
            item.check_regions(jobs, *size)?;
            survey.items.push(item);
            survey.warnings.extend(warnings);
        }
        if jobs.iter().any(|job| job.destroy.is_some())
            && !survey.items.iter().any(|item| matches!(item, Item::Device { .. }))
        {
            return Err(TargetError::machine(
                "destroy needs a block device, but no path is one. Remove it".into(),
            ));
        }
        survey.check_space()?;
        survey.check_states(jobs, &named)?;
        Ok(survey)
    }

    /// Whether the test files vanish with the process. Named ones stay.
    #[must_use]
    pub fn leaves_nothing(&self) -> bool {
        self.items.iter().all(|item| !matches!(item, Item::Make { .. }))
    }

    /// Bytes that will be written to make test files ready.
    #[must_use]
    pub fn fill_bytes(&self, jobs: &[Job]) -> u64 {
        let filled = self.items.iter().map(Item::filled_bytes).fold(0, u64::saturating_add);
        // What is verified is laid out by the load.
        let laid_out = u32::from(jobs.iter().any(|job| job.verify.is_some()));
        filled.saturating_mul(fill_passes(jobs).max(laid_out).into())
    }

    /// Refuses to verify more pages than there is memory to know the states of.
    fn check_states(&self, jobs: &[Job], named: &[(PathBuf, Option<u64>)]) -> Result<(), TargetError> {
        for job in jobs.iter().filter(|job| job.verify.is_some()) {
            let region = |(item, (_, size)): (&Item, &(PathBuf, Option<u64>))| {
                let bytes = super::usable_region(job, item.file(job).1, *size).unwrap_or(0);
                item.files().saturating_mul(bytes)
            };
            let bytes = self.items.iter().zip(named).map(region).fold(0, u64::saturating_add);
            if let Some(lack) = crate::memory::lack_of_states(job, bytes / job.block_bytes) {
                return Err(TargetError::machine(lack));
            }
        }
        Ok(())
    }

    /// Refuses what would leave less free than is kept. Paths on one file system are added up.
    fn check_space(&self) -> Result<(), TargetError> {
        let mut needed: Vec<(u64, u64)> = Vec::new();
        for item in &self.items {
            let (Some(directory), bytes) = (item.directory(), item.new_bytes()) else { continue };
            let error = |error| TargetError::system(directory, "cannot read its free space", &error);
            let device = rustix::fs::stat(directory).map_err(error)?.st_dev;
            let position = needed.iter().position(|&(other, _)| other == device).unwrap_or_else(|| {
                needed.push((device, 0));
                needed.len() - 1
            });
            needed[position].1 = needed[position].1.saturating_add(bytes);
            if let Some(lack) = space::lack(directory, needed[position].1)? {
                return Err(TargetError::usage(
                    directory,
                    format!(
                        "not enough space for test files: {lack}. Use smaller files ({}), fewer of them, \
                         or another directory",
                        crate::parameter("file_size")
                    ),
                ));
            }
        }
        Ok(())
    }
}

/// The same file twice would be loaded twice as hard as was asked for.
fn check_distinct(named: &[(PathBuf, Option<u64>)]) -> Result<(), TargetError> {
    let identity = |path: &PathBuf| rustix::fs::stat(path).ok().map(|stat| (stat.st_dev, stat.st_ino));
    for (position, (path, _)) in named.iter().enumerate() {
        let same = |(other, _): &&(PathBuf, Option<u64>)| {
            other == path || (identity(path).is_some() && identity(other) == identity(path))
        };
        if let Some((other, _)) = named[..position].iter().find(same) {
            let other = other.display();
            return Err(TargetError::usage(path, format!("the same as {other}. Give it once")));
        }
    }
    Ok(())
}

impl Item {
    /// Refuses regions that do not fit, before anything is made.
    fn check_regions(&self, jobs: &[Job], pool_bytes: Option<u64>) -> Result<(), TargetError> {
        for job in jobs {
            let (path, file_bytes) = self.file(job);
            super::usable_region(job, file_bytes, pool_bytes)
                .ok_or_else(|| TargetError::region(path, file_bytes, job))?;
        }
        Ok(())
    }

    /// The path, and the length of a file there.
    fn file(&self, job: &Job) -> (&Path, u64) {
        match self {
            Self::Directory { path, .. } => (path, job.file_bytes),
            Self::Make { path, file_bytes, .. } => (path, *file_bytes),
            Self::Ours { path, data_bytes: bytes, .. }
            | Self::Foreign { path, bytes, .. }
            | Self::Device { path, bytes, .. } => (path, *bytes),
        }
    }

    fn files(&self) -> u64 {
        if let Self::Directory { files, .. } = self { u64::from(*files) } else { 1 }
    }

    /// Bytes that one pass of the fill writes.
    fn filled_bytes(&self) -> u64 {
        match self {
            Self::Device { bytes, overwrite: true, .. } | Self::Foreign { bytes, overwrite: true, .. } => {
                *bytes
            }
            Self::Foreign { .. } => 0,
            _ => self.new_bytes(),
        }
    }

    /// Bytes of free space that are used up.
    fn new_bytes(&self) -> u64 {
        match self {
            Self::Directory { files, file_bytes, .. } => u64::from(*files).saturating_mul(*file_bytes),
            Self::Make { file_bytes, .. } => *file_bytes,
            Self::Foreign { new_bytes, .. } => *new_bytes,
            Self::Ours { .. } | Self::Device { .. } => 0,
        }
    }

    fn directory(&self) -> Option<&Path> {
        match self {
            Self::Directory { path, .. } => Some(path),
            Self::Make { path, .. } | Self::Foreign { path, .. } => Some(parent_of(path)),
            Self::Ours { .. } | Self::Device { .. } => None,
        }
    }
}

/// Files are filled once for all trials: as often as the one that asks for most, unless one asks for unwritten files. What is verified
/// asks for nothing: it is laid out by the load.
pub(super) fn fill_passes(jobs: &[Job]) -> u32 {
    let passes = jobs.iter().filter(|job| job.verify.is_none()).map(|job| job.fill_passes);
    if passes.clone().min() == Some(0) { 0 } else { passes.max().unwrap_or(0) }
}

fn parent_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn look_at(path: &Path, size: Option<u64>, jobs: &[Job]) -> Result<(Item, Vec<String>), TargetError> {
    let metadata = match std::fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return missing(path, size, jobs).map(|item| (item, Vec::new()));
        }
        Err(error) => return Err(TargetError::system(path, "cannot inspect it", &error)),
    };
    if metadata.is_dir() {
        check_writable(path)?;
        let files = jobs.iter().map(|job| job.files).max().unwrap_or(1);
        let file_bytes = jobs.iter().map(|job| job.file_bytes).max().unwrap_or(0);
        Ok((Item::Directory { path: path.to_owned(), files, file_bytes }, Vec::new()))
    } else if metadata.is_file() {
        let (item, bytes) = existing(path, size, jobs)?;
        Ok((item, used_as_it_is(path, bytes, jobs).into_iter().collect()))
    } else if metadata.file_type().is_block_device() {
        block_device(path, jobs)
    } else {
        Err(TargetError::usage(path, "not a directory, a regular file or a block device. Give one of these"))
    }
}

/// A file that exists keeps its size, whatever size was asked for.
fn used_as_it_is(path: &Path, bytes: u64, jobs: &[Job]) -> Option<String> {
    let asked = jobs.iter().map(|job| job.file_bytes).max()?;
    let differs =
        bytes != asked && bytes != DATA_BEGIN + asked && jobs.iter().all(|job| job.pools.is_empty());
    differs.then(|| format!("the size of {} is not changed: {} bytes", path.display(), bytes))
}

fn missing(path: &Path, size: Option<u64>, jobs: &[Job]) -> Result<Item, TargetError> {
    if !jobs.iter().any(|job| job.create) {
        return Err(TargetError::usage(path, "does not exist. Give a directory for test files"));
    }
    let parent = parent_of(path);
    if !parent.is_dir() {
        return Err(TargetError::usage(
            path,
            format!("the directory {} does not exist. Create it first", parent.display()),
        ));
    }
    check_writable(parent)?;
    if path.is_symlink() {
        return Err(TargetError::usage(path, "a link to a file that does not exist. Give that file"));
    }
    let file_bytes = size.or_else(|| jobs.iter().map(|job| job.file_bytes).max()).unwrap_or(0);
    Ok(Item::Make { path: path.to_owned(), file_bytes, is_new: true })
}

/// What may be done with a file that exists, and its length.
fn existing(path: &Path, size: Option<u64>, jobs: &[Job]) -> Result<(Item, u64), TargetError> {
    let writes = jobs.iter().any(Job::writes);
    // What is judged is what was opened, whatever gets its name meanwhile.
    let file = open_existing(path, writes)?;
    let looked_at = |error| TargetError::system(path, "cannot inspect it", &error);
    let metadata = file.metadata().map_err(looked_at)?;
    if !metadata.is_file() {
        return Err(TargetError::usage(path, "stopped being a regular file during the check"));
    }
    if writes {
        refuse_used(path, &file)?;
    }
    Ok((judged(path, file, &metadata, size, jobs)?, metadata.len()))
}

/// A file that other devices stand on is not written, whatever its name and whosever it is.
fn refuse_used(path: &Path, file: &File) -> Result<(), TargetError> {
    let users = device::system()
        .users_of_file(file)
        .map_err(|error| TargetError::system(path, "cannot check what uses it", &error))?;
    if users.is_empty() {
        return Ok(());
    }
    let users = users.join(", ");
    Err(TargetError::usage(path, format!("in use: {users}. Detach it, or give another file")))
}

fn judged(
    path: &Path,
    file: File,
    metadata: &Metadata,
    size: Option<u64>,
    jobs: &[Job],
) -> Result<Item, TargetError> {
    let writes = jobs.iter().any(Job::writes);
    let path = path.to_owned();
    match Marker::read(&file) {
        // A file of ours was cut off while it was filled, is to be larger or to be preconditioned: it is written again.
        Some(marker)
            if !marker.filled
                || (writes && fill_passes(jobs) > 1)
                || size.is_some_and(|size| size > marker.data_bytes) =>
        {
            let file_bytes = size.unwrap_or(0).max(marker.data_bytes);
            Ok(Item::Make { path, file_bytes, is_new: false })
        }
        Some(marker) if metadata.len() == DATA_BEGIN + marker.data_bytes => {
            Ok(Item::Ours { path, file, data_bytes: marker.data_bytes })
        }
        Some(marker) => Err(TargetError::usage(
            &path,
            format!(
                "its marker says that it contains {} of data, but its size is {} bytes. Delete the file, and create it again with {}",
                Size(marker.data_bytes),
                metadata.len(),
                parameter("create").of(true)
            ),
        )),
        None if writes && !jobs.iter().any(|job| job.overwrite) => Err(TargetError::usage(
            &path,
            format!(
                "already exists and was not created by prony. Give another file or a directory, or add {} \
                 to overwrite it",
                parameter("overwrite").of(true)
            ),
        )),
        None if size.is_some_and(|size| size > metadata.len()) => Err(TargetError::usage(
            &path,
            format!("has only {} bytes and was not created by prony. Use a smaller size", metadata.len()),
        )),
        None => Ok(foreign(path, file, metadata.len(), jobs)),
    }
}

/// A file of somebody else's.
fn foreign(path: PathBuf, file: File, bytes: u64, jobs: &[Job]) -> Item {
    let writes = jobs.iter().any(Job::writes);
    let whole = super::Region { file: 0, begin: 0, bytes };
    let new_bytes = if writes { super::holes_in(&file, whole) } else { 0 };
    Item::Foreign { path, file, bytes, new_bytes, overwrite: writes && fill_passes(jobs) > 1 }
}

/// A directory that takes no files is told before the plan, not after it.
fn check_writable(directory: &Path) -> Result<(), TargetError> {
    rustix::fs::access(directory, rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK)
        .map_err(|error| TargetError::open(directory, error, record::CacheMode::Buffered))
}

fn open_existing(path: &Path, writes: bool) -> Result<File, TargetError> {
    // What became a FIFO since it was looked at is not waited for.
    let access = if writes { OFlags::RDWR } else { OFlags::RDONLY };
    rustix::fs::open(path, access | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())
        .map(File::from)
        .map_err(|error| TargetError::open(path, error, record::CacheMode::Buffered))
}

fn block_device(path: &Path, jobs: &[Job]) -> Result<(Item, Vec<String>), TargetError> {
    let writes = jobs.iter().any(Job::writes);
    let (file, warnings) = if writes {
        let destroy = jobs.iter().find_map(|job| job.destroy.as_deref());
        device::open_to_destroy(path, destroy)?
    } else {
        (open_existing(path, false)?, Vec::new())
    };
    let bytes = rustix::fs::seek(file.as_fd(), rustix::fs::SeekFrom::End(0))
        .map_err(|error| TargetError::system(path, "cannot read its size", &error))?;
    // A device is large: it is written over only where that was asked for, not by default.
    let overwrite = writes && fill_passes(jobs) > 1;
    Ok((Item::Device { path: path.to_owned(), file, bytes, overwrite }, warnings))
}
