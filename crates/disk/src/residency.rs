//! How much of a file the page cache holds. It reads nothing of the file and changes nothing in the cache.
#![expect(unsafe_code, reason = "mapping a file, and mincore(2): no safe function exists")]

use std::fs::File;
use std::io;
use std::ptr::null_mut;

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// So much of a file is mapped at once: a bound on addresses and on the answer of the kernel.
const WINDOW_BYTES: u64 = 256 << 20;

/// Bytes of a file that are in the page cache, in whole pages but for the last. Of a file that this user may neither own nor write, Linux
/// says that all of it is there (mincore(2)).
///
/// # Errors
/// The file cannot be mapped, as a directory or a pipe cannot.
pub fn cached_bytes(file: &File) -> io::Result<u64> {
    let length = file.metadata()?.len();
    let page = rustix::param::page_size() as u64;
    let mut cached = 0;
    for begin in (0..length).step_by(WINDOW_BYTES as usize) {
        let window = WINDOW_BYTES.min(length - begin);
        for number in cached_pages(file, begin, window)? {
            let at = begin + number * page;
            cached += page.min(length - at);
        }
    }
    Ok(cached)
}

/// The pages of a part of a file that are in the page cache, by their numbers in it.
fn cached_pages(file: &File, begin: u64, length: u64) -> io::Result<impl Iterator<Item = u64>> {
    let pages = length.div_ceil(rustix::param::page_size() as u64);
    let mut answers = vec![0_u8; pages as usize];
    // SAFETY: the kernel chooses an address that nothing else has, and nothing reads or writes there.
    let address =
        unsafe { mmap(null_mut(), length as usize, ProtFlags::READ, MapFlags::SHARED, file, begin)? };
    // SAFETY: the range is the mapping that was just made, and `answers` has a byte for each of its pages.
    let asked = unsafe { libc::mincore(address, length as usize, answers.as_mut_ptr()) };
    let asked = if asked == 0 { Ok(()) } else { Err(io::Error::last_os_error()) };
    // SAFETY: the mapping was made above, and nobody else knows its address.
    unsafe { munmap(address, length as usize)? };
    asked?;
    Ok((0_u64..).zip(answers).filter(|(_, answer)| answer & 1 == 1).map(|(number, _)| number))
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};

    use super::*;

    /// Of a file of `length` bytes in this directory, what is cached when it was written, forgotten, and read in part.
    fn seen(directory: &std::path::Path, length: usize, read: usize) -> [u64; 3] {
        let mut file = tempfile::tempfile_in(directory).unwrap();
        file.write_all(&vec![7; length]).unwrap();
        file.sync_all().unwrap();
        let written = cached_bytes(&file).unwrap();
        rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed).unwrap();
        let forgotten = cached_bytes(&file).unwrap();
        std::io::Seek::rewind(&mut file).unwrap();
        // Nothing is read ahead.
        rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::Random).unwrap();
        file.read_exact(&mut vec![0; read]).unwrap();
        [written, forgotten, cached_bytes(&file).unwrap()]
    }

    #[test]
    fn what_was_written_is_cached_until_the_kernel_forgets_it() {
        let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let page = rustix::param::page_size();
        let length = 3 * page + 17;
        let [written, forgotten, read] = seen(here, length, page);
        assert_eq!((written, forgotten), (length as u64, 0));
        assert!(read >= page as u64 && read <= length as u64, "{read}");
        assert_eq!(cached_bytes(&tempfile::tempfile_in(here).unwrap()).unwrap(), 0, "an empty file");
    }

    /// A file in memory has no other place: the kernel cannot forget it.
    #[test]
    fn what_lies_in_memory_stays_there() {
        let memory = std::path::Path::new("/dev/shm");
        if !memory.is_dir() {
            eprintln!("not run: there is no /dev/shm");
            return;
        }
        assert_eq!(seen(memory, 70_000, 1), [70_000; 3]);
    }
}
