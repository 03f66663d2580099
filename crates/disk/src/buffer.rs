//! Memory for I/Os: one block a slot to read into, and a payload a slot to write from.
//!
//! A payload is random, so that nothing compresses, and carries a stamp of its own in every 4 KiB, so that nothing
//! deduplicates; both can be turned down by a share. A slot's memory belongs to the kernel while its I/O is in
//! flight: callers touch a slot only between its completion and its next push.
#![expect(unsafe_code, reason = "memory that the kernel reads and writes while we hold no reference to it")]

use std::io;
use std::ptr::NonNull;

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

use crate::pattern::Random;

/// Granularity at which storage compares and compresses blocks, and of page alignment.
const CHUNK_BYTES: usize = 4096;
/// Room by which a payload's begin rotates within a slot, so that successive blocks differ in every byte.
const ROTATION_CHUNKS: usize = 16;
/// Size from which huge pages pay.
const HUGE_PAGE_BYTES: usize = 2 << 20;

/// What payloads look like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Content {
    /// Compressible share of each block, 0–1.
    pub(crate) compressible: f64,
    /// Share of duplicate blocks, 0–1.
    pub(crate) duplicate: f64,
    /// Seed; threads of one test use different ones.
    pub(crate) seed: u64,
}

/// Bytes of a slot for the block that is read, and for the payload that is written.
fn rooms(block_bytes: usize, reads: bool, writes: bool) -> [usize; 2] {
    let block = block_bytes.next_multiple_of(CHUNK_BYTES);
    [if reads { block } else { 0 }, if writes { block + ROTATION_CHUNKS * CHUNK_BYTES } else { 0 }]
}

/// The memory of all slots of one thread.
#[derive(Debug)]
pub(crate) struct Buffers {
    memory: Memory,
    slots: usize,
    slot_bytes: usize,
    /// Begin of the payload area within a slot.
    payload_at: usize,
    block_bytes: usize,
    content: Content,
    random: Random,
    stamped: u64,
}

impl Buffers {
    /// Memory for so many slots.
    ///
    /// # Errors
    /// When the memory cannot be had.
    pub(crate) fn new(
        slots: u32,
        block_bytes: u64,
        reads: bool,
        writes: bool,
        content: Content,
    ) -> io::Result<Self> {
        let bytes = Self::bytes(slots, block_bytes, reads, writes)
            .ok_or_else(|| io::Error::from(io::ErrorKind::OutOfMemory))?;
        let block_bytes = block_bytes as usize;
        let [payload_at, payload_room] = rooms(block_bytes, reads, writes);
        let slot_bytes = payload_at + payload_room;
        let slots = slots as usize;
        let mut buffers = Self {
            memory: Memory::new(bytes)?,
            slots,
            slot_bytes,
            payload_at,
            block_bytes,
            content,
            random: Random::new(content.seed, 1),
            stamped: 0,
        };
        if writes {
            buffers.fill_payloads();
        }
        Ok(buffers)
    }

    /// Bytes that so many slots take; none if there cannot be as much.
    pub(crate) fn bytes(slots: u32, block_bytes: u64, reads: bool, writes: bool) -> Option<usize> {
        let [block, payload] = rooms(block_bytes as usize, reads, writes);
        (slots as usize).checked_mul(block + payload).filter(|&bytes| bytes <= isize::MAX as usize)
    }

    /// All payload areas hold the same bytes, which makes a duplicate block the same from every slot.
    fn fill_payloads(&mut self) {
        let keep = ((1.0 - self.content.compressible) * CHUNK_BYTES as f64) as usize;
        let (payload_at, slot_bytes) = (self.payload_at, self.slot_bytes);
        let random_seed = Random::new(0x70_72_6f_6e_79, 0);
        for slot in 0..self.slots {
            let mut random = random_seed.clone();
            let begin = slot * slot_bytes + payload_at;
            let payload = self.memory.slice(begin, slot_bytes - payload_at);
            for chunk in payload.chunks_mut(CHUNK_BYTES) {
                let (random_part, zero_part) = chunk.split_at_mut(keep.min(chunk.len()));
                for word in random_part.chunks_mut(8) {
                    word.copy_from_slice(&random.next().to_le_bytes()[..word.len()]);
                }
                zero_part.fill(0);
            }
        }
    }

    /// Number of slots.
    pub(crate) fn slots(&self) -> usize {
        self.slots
    }

    /// The block that a slot reads into, as an offset into the memory.
    #[inline]
    pub(crate) fn read_at(&self, slot: u32) -> usize {
        slot as usize * self.slot_bytes
    }

    /// Makes the next payload of a slot and gives its offset into the memory.
    #[inline]
    pub(crate) fn payload_at(&mut self, slot: u32) -> usize {
        let area = slot as usize * self.slot_bytes + self.payload_at;
        self.stamped += 1;
        let is_duplicate = self.content.duplicate > 0.0 && self.random.unit() < self.content.duplicate;
        let (rotation, stamp) = if is_duplicate {
            (0, [0; 2])
        } else {
            // Never zero in the first word, unlike a duplicate's stamp.
            (self.stamped as usize % ROTATION_CHUNKS, [self.content.seed | 1, self.stamped])
        };
        let begin = area + rotation * CHUNK_BYTES;
        self.stamp(begin, stamp);
        begin
    }

    #[inline]
    fn stamp(&mut self, begin: usize, stamp: [u64; 2]) {
        let mut bytes = [0; 24];
        bytes[..8].copy_from_slice(&stamp[0].to_le_bytes());
        bytes[8..16].copy_from_slice(&stamp[1].to_le_bytes());
        let block = self.memory.slice(begin, self.block_bytes);
        for (number, chunk) in block.chunks_mut(CHUNK_BYTES).enumerate() {
            bytes[16..]
                .copy_from_slice(&(number as u64 & u64::from(stamp[0] != 0).wrapping_neg()).to_le_bytes());
            chunk[..24].copy_from_slice(&bytes);
        }
    }

    /// The memory at an offset that [`Buffers::read_at`] or [`Buffers::payload_at`] gave, for a synchronous I/O.
    pub(crate) fn block(&mut self, at: usize, bytes: usize) -> &mut [u8] {
        self.memory.slice(at, bytes)
    }

    /// The same for the kernel.
    #[inline]
    pub(crate) fn pointer(&self, at: usize) -> *mut u8 {
        debug_assert!(at < self.memory.bytes);
        // SAFETY: the offset lies inside the mapping, as all offsets of this type do.
        unsafe { self.memory.begin.as_ptr().add(at) }
    }

    /// Never gives the memory back: for an engine whose I/Os may still be in flight when it is gone.
    pub(crate) fn leak(&mut self) {
        self.memory.leaked = true;
    }

    /// Begin and length of a slot's memory, for registration with a ring.
    pub(crate) fn slot_memory(&self, slot: usize) -> (*mut u8, usize) {
        (self.pointer(slot * self.slot_bytes), self.slot_bytes)
    }
}

/// An anonymous mapping, page aligned.
#[derive(Debug)]
struct Memory {
    begin: NonNull<u8>,
    bytes: usize,
    leaked: bool,
}

impl Memory {
    fn new(bytes: usize) -> io::Result<Self> {
        let bytes = bytes.max(1).next_multiple_of(CHUNK_BYTES);
        // SAFETY: a new anonymous mapping at an address of the kernel's choice aliases nothing.
        let begin = unsafe {
            mmap_anonymous(std::ptr::null_mut(), bytes, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE)
        }?;
        if bytes >= HUGE_PAGE_BYTES {
            // SAFETY: the range is the mapping just made. Only advice: without huge pages it works as well.
            let _ = unsafe { madvise(begin, bytes, Advice::LinuxHugepage) };
        }
        let begin = NonNull::new(begin.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { begin, bytes, leaked: false })
    }

    #[inline]
    fn slice(&mut self, at: usize, bytes: usize) -> &mut [u8] {
        assert!(at <= self.bytes && bytes <= self.bytes - at, "{at} + {bytes} of {}", self.bytes);
        // SAFETY: the range is inside the mapping, which is zeroed by the kernel and lives as long as `self`; the
        // exclusive borrow keeps other references away, and callers leave slots in flight alone.
        unsafe { std::slice::from_raw_parts_mut(self.begin.as_ptr().add(at), bytes) }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.leaked {
            return;
        }
        // SAFETY: the mapping was made with this address and length, and nothing refers to it any more.
        let _ = unsafe { munmap(self.begin.as_ptr().cast(), self.bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn payloads(content: Content, block_bytes: u64, number: usize) -> Vec<Vec<u8>> {
        let mut buffers = Buffers::new(2, block_bytes, true, true, content).unwrap();
        (0..number)
            .map(|i| {
                let at = buffers.payload_at(i as u32 % 2);
                buffers.block(at, block_bytes as usize).to_vec()
            })
            .collect()
    }

    fn distinct_chunks(payloads: &[Vec<u8>]) -> usize {
        payloads.iter().flat_map(|payload| payload.chunks(CHUNK_BYTES)).collect::<HashSet<_>>().len()
    }

    const PLAIN: Content = Content { compressible: 0.0, duplicate: 0.0, seed: 5 };

    #[test]
    fn no_chunk_repeats_by_default() {
        let payloads = payloads(PLAIN, 64 << 10, 500);
        assert_eq!(distinct_chunks(&payloads), 500 * 16);
    }

    #[test]
    fn threads_of_other_seeds_write_other_chunks() {
        let mut both = payloads(PLAIN, 4096, 100);
        both.extend(payloads(Content { seed: 6, ..PLAIN }, 4096, 100));
        assert_eq!(distinct_chunks(&both), 200);
    }

    #[test]
    fn the_duplicate_share_repeats_whole_blocks() {
        let payloads = payloads(Content { duplicate: 0.5, ..PLAIN }, 8192, 1000);
        let duplicates = 1000 - payloads.iter().collect::<HashSet<_>>().len();
        assert!((450..550).contains(&duplicates), "{duplicates}");
    }

    #[test]
    fn the_compressible_share_is_zero() {
        let payloads = payloads(Content { compressible: 0.75, ..PLAIN }, 4096, 10);
        for payload in payloads {
            let zeros = payload.iter().filter(|&&byte| byte == 0).count();
            assert!((3060..3110).contains(&zeros), "{zeros} of 4096");
        }
    }

    #[test]
    fn incompressible_bytes_are_uniform() {
        let bytes: Vec<u8> = payloads(PLAIN, 1 << 20, 1).concat();
        let mut counts = [0.0f64; 256];
        bytes.iter().for_each(|&byte| counts[usize::from(byte)] += 1.0);
        let entropy: f64 =
            counts.iter().map(|count| count / bytes.len() as f64).map(|share| -share * share.log2()).sum();
        assert!(entropy > 7.98, "{entropy} bits a byte");
    }

    #[test]
    fn reads_and_payloads_of_a_slot_do_not_overlap() {
        let mut buffers = Buffers::new(3, 512, true, true, PLAIN).unwrap();
        for slot in 0..3 {
            let payload = buffers.payload_at(slot);
            let before = buffers.block(payload, 512).to_vec();
            let read_at = buffers.read_at(slot);
            buffers.block(read_at, 512).fill(0xff);
            assert_eq!(buffers.block(payload, 512), before);
        }
    }
}
