//! io_uring: many I/Os in flight from one thread, one system call for a batch.
//!
//! The ring is made on the thread that uses it. Features that an older kernel lacks are given up one by one, and the
//! run says which it got. Kernel versions in the comments are those that introduced a feature.
#![expect(unsafe_code, reason = "buffers are handed to the kernel by address")]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use io_uring::{IoUring, opcode, squeue, types};
use load::{Clock, MonotonicClock};
use record::BufferUse;

use super::{Completion, Engine, Kind, Operation, Wait};
use crate::buffer::Buffers;
use crate::error::TrialError;

/// How a ring is to be made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    pub(crate) registered_buffers: bool,
    pub(crate) poll: bool,
    pub(crate) kernel_submission: bool,
}

/// What the kernel granted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Granted {
    pub(crate) features: Vec<String>,
    pub(crate) buffers: BufferUse,
}

/// Sets of ring flags, best first. A kernel refuses with EINVAL what it does not know.
const FLAG_SETS: [&[&str]; 4] = [
    // 6.6, 6.1, 6.0, 5.19
    &["SINGLE_ISSUER", "DEFER_TASKRUN", "COOP_TASKRUN", "CQSIZE", "NO_SQARRAY"],
    &["SINGLE_ISSUER", "DEFER_TASKRUN", "COOP_TASKRUN", "CQSIZE"],
    &["COOP_TASKRUN", "CQSIZE"],
    &[],
];

/// The same for a ring whose submissions a kernel thread takes: it runs completions itself.
const FLAG_SETS_KERNEL_SUBMISSION: [&[&str]; 3] =
    [&["SINGLE_ISSUER", "CQSIZE", "NO_SQARRAY"], &["CQSIZE"], &[]];

/// How long the kernel's submission thread spins without work, in milliseconds.
const KERNEL_SUBMISSION_IDLE_MS: u32 = 1_000;

/// An io_uring with the thread's buffers and files.
pub(crate) struct Uring {
    ring: IoUring,
    clock: MonotonicClock,
    buffers: Buffers,
    /// Kept open while the ring refers to them.
    files: Vec<File>,
    files_registered: bool,
    buffers_registered: bool,
    pushed: usize,
    in_flight: usize,
}

impl Uring {
    /// Makes a ring for as many I/Os as there are buffers' slots.
    ///
    /// # Errors
    /// ENOSYS or EPERM where io_uring is not permitted, and whatever else the kernel says.
    pub(crate) fn new(buffers: Buffers, files: Vec<File>, options: Options) -> io::Result<(Self, Granted)> {
        let (ring, mut features) = build(buffers.slots() as u32, options)?;
        let buffer_use = register_buffers(&ring, &buffers, options.registered_buffers);
        let descriptors: Vec<_> = files.iter().map(AsRawFd::as_raw_fd).collect();
        let files_registered = ring.submitter().register_files(&descriptors).is_ok();
        if files_registered {
            features.push("registered files".to_owned());
        }
        // 5.18: saves looking the ring up in each call.
        if ring.submitter().register_ring_fd().is_ok() {
            features.push("registered ring".to_owned());
        }
        let uring = Self {
            ring,
            clock: MonotonicClock::starting_now(),
            buffers,
            files,
            files_registered,
            buffers_registered: buffer_use == BufferUse::Registered,
            pushed: 0,
            in_flight: 0,
        };
        Ok((uring, Granted { features, buffers: buffer_use }))
    }

    #[inline]
    fn entry(&self, operation: &Operation) -> squeue::Entry {
        let Operation { slot, kind, offset, bytes, memory_at, .. } = *operation;
        let memory = self.buffers.pointer(memory_at);
        // The crate's file types share no public trait, hence a macro where a function would do.
        macro_rules! entry {
            ($file:expr) => {
                match (kind, self.buffers_registered) {
                    (Kind::Read, true) => {
                        opcode::ReadFixed::new($file, memory, bytes, slot as u16).offset(offset).build()
                    }
                    (Kind::Read, false) => opcode::Read::new($file, memory, bytes).offset(offset).build(),
                    (Kind::Write, true) => {
                        opcode::WriteFixed::new($file, memory, bytes, slot as u16).offset(offset).build()
                    }
                    (Kind::Write, false) => opcode::Write::new($file, memory, bytes).offset(offset).build(),
                    (Kind::Flush, _) => opcode::Fsync::new($file).flags(types::FsyncFlags::DATASYNC).build(),
                }
            };
        }
        let entry = if self.files_registered {
            entry!(types::Fixed(operation.file))
        } else {
            entry!(types::Fd(self.files[operation.file as usize].as_raw_fd()))
        };
        entry.user_data(u64::from(slot))
    }

    /// One system call: hands over what was pushed and waits.
    #[inline]
    fn enter(&mut self, wait: Wait) -> io::Result<()> {
        let submitter = self.ring.submitter();
        let result = match wait {
            Wait::No => submitter.submit(),
            Wait::One => submitter.submit_and_wait(1),
            Wait::Until(until_ns) => {
                let left_ns = until_ns.saturating_sub(self.clock.now_ns());
                let time = types::Timespec::new()
                    .sec(left_ns / 1_000_000_000)
                    .nsec((left_ns % 1_000_000_000) as u32);
                let arguments = types::SubmitArgs::new().timespec(&time);
                submitter.submit_with_args(1, &arguments)
            }
        };
        match result {
            Ok(_) => Ok(()),
            // The time came first, a signal did, or the kernel is short of memory for a moment: the caller comes
            // back, and what was not submitted is still in the queue.
            Err(error)
                if matches!(
                    error.raw_os_error(),
                    Some(libc::ETIME | libc::EINTR | libc::EAGAIN | libc::EBUSY)
                ) =>
            {
                Ok(())
            }
            Err(error) => Err(error),
        }
    }
}

impl Drop for Uring {
    /// A ring that is closed gives back its files and pages some time later, and until then the file system cannot be
    /// unmounted; what is unregistered is given back at once. If that fails, closing does it.
    fn drop(&mut self) {
        if self.in_flight > 0 {
            // The kernel may still write into this memory after an engine that failed is gone.
            self.buffers.leak();
            return;
        }
        let submitter = self.ring.submitter();
        if self.files_registered {
            let _ = submitter.unregister_files();
        }
        if self.buffers_registered {
            let _ = submitter.unregister_buffers();
        }
    }
}

impl Engine for Uring {
    type Clock = MonotonicClock;

    fn start(&mut self, clock: MonotonicClock) -> MonotonicClock {
        self.clock = clock;
        self.clock
    }

    fn buffers(&mut self) -> &mut Buffers {
        &mut self.buffers
    }

    #[inline]
    fn push(&mut self, operation: Operation) {
        let entry = self.entry(&operation);
        // SAFETY: the slot's memory and the files live as long as the ring, and the slot is left alone until its
        // completion is reaped.
        let pushed = unsafe { self.ring.submission().push(&entry) };
        assert!(pushed.is_ok(), "the queue has an entry for each slot");
        self.pushed += 1;
        self.in_flight += 1;
    }

    #[inline]
    fn exchange(&mut self, wait: Wait, completions: &mut Vec<Completion>) -> io::Result<()> {
        if self.pushed > 0 || wait != Wait::No {
            self.enter(wait)?;
            self.pushed = 0;
        }
        for entry in self.ring.completion() {
            self.in_flight -= 1;
            completions.push(Completion { slot: entry.user_data() as u32, result: entry.result() });
        }
        Ok(())
    }
}

/// Why a ring cannot be had here, if so.
///
/// # Errors
/// What the kernel says: ENOSYS where it has no io_uring, EPERM where it is not permitted.
pub(crate) fn probe() -> io::Result<()> {
    let options = Options { registered_buffers: false, poll: false, kernel_submission: false };
    build(1, options).map(drop)
}

/// The message where a ring cannot be had and nothing else was permitted.
pub(crate) fn refused(error: &io::Error) -> TrialError {
    TrialError::Engine(format!(
        "cannot create an io_uring: {error}. Allow it (a seccomp profile or the sysctl \
         kernel.io_uring_disabled may forbid it), or use {} with one outstanding I/O per thread",
        crate::parameter("engine").of("psync")
    ))
}

/// A ring with the best set of flags that the kernel takes, and their names.
fn build(slots: u32, options: Options) -> io::Result<(IoUring, Vec<String>)> {
    let sets: &[&[&str]] = if options.kernel_submission { &FLAG_SETS_KERNEL_SUBMISSION } else { &FLAG_SETS };
    let mut refusal = io::Error::from_raw_os_error(libc::EINVAL);
    for flags in sets {
        match build_with(slots, options, flags) {
            // Waiting with a time limit; without it an open loop would have to spin.
            Ok(ring) if !ring.params().is_feature_ext_arg() => {
                return Err(io::Error::new(io::ErrorKind::Unsupported, "the kernel is older than 5.11"));
            }
            Ok(ring) => {
                let mut features: Vec<String> = flags.iter().map(|&flag| flag.to_owned()).collect();
                features.extend(options.poll.then(|| "IOPOLL".to_owned()));
                features.extend(options.kernel_submission.then(|| "SQPOLL".to_owned()));
                return Ok((ring, features));
            }
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => refusal = error,
            Err(error) => return Err(error),
        }
    }
    Err(refusal)
}

fn build_with(slots: u32, options: Options, flags: &[&str]) -> io::Result<IoUring> {
    let entries = slots.next_power_of_two();
    let mut builder = IoUring::builder();
    for &flag in flags {
        match flag {
            "SINGLE_ISSUER" => builder.setup_single_issuer(),
            "DEFER_TASKRUN" => builder.setup_defer_taskrun(),
            "COOP_TASKRUN" => builder.setup_coop_taskrun(),
            "CQSIZE" => builder.setup_cqsize(entries * 2),
            "NO_SQARRAY" => builder.setup_no_sqarray(),
            other => unreachable!("no ring flag is called {other}"),
        };
    }
    if options.poll {
        builder.setup_iopoll();
    }
    if options.kernel_submission {
        builder.setup_sqpoll(KERNEL_SUBMISSION_IDLE_MS);
    }
    builder.build(entries)
}

/// Registers every slot's memory, or says why not.
fn register_buffers(ring: &IoUring, buffers: &Buffers, wanted: bool) -> BufferUse {
    if !wanted {
        return BufferUse::NotAsked;
    }
    let memory: Vec<libc::iovec> = (0..buffers.slots())
        .map(|slot| {
            let (begin, bytes) = buffers.slot_memory(slot);
            libc::iovec { iov_base: begin.cast(), iov_len: bytes }
        })
        .collect();
    // SAFETY: the memory is mapped for as long as the buffers live, which the engine keeps together with the ring.
    match unsafe { ring.submitter().register_buffers(&memory) } {
        Ok(()) => BufferUse::Registered,
        Err(error) if error.raw_os_error() == Some(libc::ENOMEM) => {
            BufferUse::Refused("the limit of locked memory (ulimit -l) is too low".to_owned())
        }
        Err(error) => BufferUse::Refused(error.to_string()),
    }
}
