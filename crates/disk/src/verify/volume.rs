//! What verifying asks of files besides the load itself: to read once more, past what may have answered before, to cut a file off
//! and let it grow, and to forget what is cached.

use std::fs::File;
use std::io;

use rustix::fs::{Advice, FallocateFlags, Mode, OFlags};
use rustix::io::Errno;

use crate::buffer::{Buffers, Content};

/// Files as a verifying thread has them, apart from its engine.
pub(crate) trait Volume {
    /// Reads from a file again, directly where the file system can; bytes that were read.
    ///
    /// # Errors
    /// As the system says.
    fn read_again(&mut self, file: u32, offset: u64, into: &mut [u8]) -> io::Result<usize>;

    /// Gives a file this length; what is added is reserved and zero.
    ///
    /// # Errors
    /// As the system says.
    fn resize(&mut self, file: u32, bytes: u64) -> io::Result<()>;

    /// Makes all that was written durable, and lets the file cache forget it.
    ///
    /// # Errors
    /// When it cannot be made durable.
    fn forget_cached(&mut self) -> io::Result<()>;
}

/// Files of the system.
pub(crate) struct Files {
    files: Vec<File>,
    /// The same, to be read without the cache; those that cannot be are read with it.
    direct: Vec<File>,
    buffer: Buffers,
}

impl Files {
    /// Files that are open, to be read a page at a time.
    ///
    /// # Errors
    /// When a file cannot be opened again, or there is no memory.
    pub(crate) fn new(files: Vec<File>, page_bytes: u64) -> io::Result<Self> {
        let direct = files.iter().map(open_direct).collect::<io::Result<_>>()?;
        let content = Content { compressible: 0.0, duplicate: 0.0, seed: 0 };
        Ok(Self { files, direct, buffer: Buffers::new(1, page_bytes, true, false, content)? })
    }
}

fn open_direct(file: &File) -> io::Result<File> {
    use std::os::fd::AsRawFd;
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    let open = |flags| rustix::fs::open(&path, flags | OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
    let opened = open(OFlags::DIRECT).or_else(|_| open(OFlags::empty()))?;
    Ok(File::from(opened))
}

impl Volume for Files {
    fn read_again(&mut self, file: u32, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        let block = self.buffer.block(0, into.len());
        super::page::poison(block);
        let read = rustix::io::pread(&self.direct[file as usize], &mut *block, offset)?;
        into.copy_from_slice(block);
        Ok(read)
    }

    fn resize(&mut self, file: u32, bytes: u64) -> io::Result<()> {
        let file = &self.files[file as usize];
        let before = rustix::fs::fstat(file)?.st_size as u64;
        rustix::fs::ftruncate(file, bytes)?;
        if bytes > before {
            match rustix::fs::fallocate(file, FallocateFlags::empty(), before, bytes - before) {
                // Not every file system can reserve.
                Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn forget_cached(&mut self) -> io::Result<()> {
        for file in &self.files {
            rustix::fs::fdatasync(file)?;
            // Only advice.
            let _ = rustix::fs::fadvise(file, 0, None, Advice::DontNeed);
        }
        Ok(())
    }
}
